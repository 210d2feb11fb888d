"""Each bad input ends the program with one line that names the file, what was found and what was expected, the correct
exit status, and no output, on one rank and on three. Unusual but usable inputs give a warning and a result."""
import os
import stat
import subprocess
import sys
import unittest

import bad_inputs
from bad_image_cases import IMAGES, TRACKS
from bad_line_cases import LINES, PLACES, RESULTS
from bad_table_cases import GRADIENTS, PERFUSION, SETTINGS, SUBJECTS
from crafted_inputs import BAD_DATA, COMPLETE, DWI, MISSING, USAGE, only
from input_jobs import VOXHERD, Bad, run_case, run_cases
from reader_cases import ON_SEVERAL_RANKS, READERS
from result_files import digest
from usable_cases import OTHERS, USED

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "docs"))
import errors  # noqa: E402

# A mistake found by each part of the program that reads input or prepares the run.
THREE_RANKS = [
    *(IMAGES[name] for name in ("missing file", "truncated data", "gz checksum", "dim[0] 8", "empty mask")),
    *(GRADIENTS[name] for name in ("missing bvals", "ragged", "equal directions", "grad_dev of 8 volumes")),
    *(TRACKS[name] for name in ("seeds of another subject", "points outside", "fractional label")),
    *(PERFUSION[name] for name in ("times in ms", "short curves")),
    *(LINES[name] for name in ("unknown option", "missing option", "TR 0")),
    *(SETTINGS[name] for name in ("unknown setting", "binary config")), SUBJECTS["a subject twice"],
    *(RESULTS[name] for name in ("missing result", "result of another program")),
    *(PLACES[name] for name in ("existing result", "resume with other options", "another job", "no such folder")),
    *(READERS[name] for name in ON_SEVERAL_RANKS),
]
LANGUAGES = [{"LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8", "TZ": "Pacific/Chatham"}, {"LC_ALL": "no_SUCH", "TZ": "nonsense"}]


class BadInputs(unittest.TestCase):
    def check(self, name, case, outcome, ranks=1):
        with self.subTest(name, ranks=ranks, command=case.command):
            self.assertEqual(len(outcome.errors), 1, outcome.output)
            if ranks == 1:
                self.assertEqual(outcome.lines[-1], outcome.errors[0])
                self.assertEqual([line for line in outcome.lines if not line.startswith("voxherd: ")], [])
            # A long name is shown without its middle. Values of settings are reported as options.
            names = [case.file[-100:]] if case.option not in ("", "subject", "config") else []
            for word in names + case.words:
                self.assertIn(word, outcome.errors[0])
            self.assertEqual(outcome.status, case.status, outcome.errors[0])
            self.assertEqual(outcome.written, [])

    def test_one_line_and_the_right_status_and_no_file(self):
        outcomes = bad_inputs.run_all()
        for some in outcomes.values():
            for name, case, outcome in some:
                self.check(name, case, outcome)
        with open(errors.PAGE, encoding="utf-8") as page:
            self.assertEqual(page.read(), errors.page(outcomes), "run docs/errors.py to write the page again")

    def test_every_input_of_every_command(self):
        for name, case, outcome in run_cases(READERS):
            self.check(name, case, outcome)

    def test_three_ranks_print_one_line_too(self):
        for name, case, outcome in run_cases(dict(enumerate(THREE_RANKS)), ranks=3):
            self.check(name, case, outcome, ranks=3)

    def test_a_file_without_permission_to_read(self):
        def unreadable(path):
            with open(path, "wb") as file:
                file.write(DWI)
            os.chmod(path, 0)
            for folder in (os.path.dirname(path), os.path.join(os.path.dirname(path), "out")):
                os.makedirs(folder, exist_ok=True)
                os.chmod(folder, 0o777)

        case = Bad("dwi.nii", unreadable, MISSING, ["Permission denied", "check its permissions"])
        user = {"user": 65534, "group": 65534, "env": {**os.environ, "HOME": "/tmp"}} if os.geteuid() == 0 else {}
        if user and not os.stat(VOXHERD).st_mode & stat.S_IXOTH:
            self.skipTest("no other user may start the program")
        try:
            outcome = run_case(case, **user)
        except PermissionError as error:
            self.skipTest(f"cannot start the program as another user: {error}")
        self.check("permission", case, outcome)


class UsableInputs(unittest.TestCase):
    def check(self, name, case, outcome):
        with self.subTest(name):
            self.assertEqual(outcome.status, COMPLETE, outcome.output)
            self.assertEqual([path for path, *_ in outcome.written if path.endswith(".h5")], ["out/x.h5"])
            for word in case.words:
                self.assertEqual(sum(word in line for line in outcome.lines), 1, f"{word}\n{outcome.output}")
            if not case.words and case.command == "tensor":
                self.assertEqual([line for line in outcome.lines if "warn" in line], [])

    def test_they_are_accepted_with_a_warning(self):
        cases = {**USED, **OTHERS, "good inputs": Bad("dwi.nii", DWI, COMPLETE, [])}
        several = dict(list(cases.items())[::6])
        for name, case, outcome in [*run_cases({name: case for name, case in cases.items() if name not in several}),
                                    *run_cases(several, ranks=3)]:
            self.check(name, case, outcome)

    def test_more_ranks_than_voxels(self):
        case = Bad("mask.nii", only(3), COMPLETE, ["1 of 1 voxels fitted"])
        self.check("one voxel", case, run_case(case, ranks=5))

    def test_the_language_and_the_time_zone_do_not_matter(self):
        good, comma = b"0 0 1e3 1000.5 1000 1000 1000 1000", b"0 0 1e3 1000,5 1000 1000 1000 1000"
        maps = set()
        for language in LANGUAGES:
            environment = {**os.environ, **language}
            case = Bad("bvals", good, COMPLETE, [])
            outcome = run_case(case, env=environment, keep=lambda folder: digest(os.path.join(folder, "out", "x.h5")))
            self.check(language, case, outcome)
            maps.add(outcome.kept)
            self.assertIn("a decimal point", run_case(Bad("bvals", comma, BAD_DATA, []), env=environment).errors[0])
        self.assertEqual(len(maps), 1)

    def test_any_file_name_is_accepted(self):
        for name in ("dwi of subject 1.nii", "dwi\n.nii", "dwi \u00e9\u4e2d.nii", "dwi'\"$x.nii", "dwi\udcff.nii"):
            case = Bad(name, DWI, COMPLETE, [], option="dwi")
            self.check(ascii(name), case, run_case(case, ranks=2))

    def test_empty_values_are_not_missing_options(self):
        for command, options in (("tensor", ("mask", "grad-dev", "dwi", "json")), ("geodesic", ("targets", "seed-image")),
                                 ("perfusion", ("mask", "times")), ("phantom", ("out",)), ("cohort", ("template",))):
            for option in options:
                for words in (["--" + option, ""], ["--" + option + "="]):
                    done = subprocess.run([VOXHERD, command, *words], capture_output=True, text=True, timeout=120)
                    with self.subTest(command, words=words):
                        self.assertEqual(done.returncode, USAGE, done.stderr)
                        self.assertIn("--" + option, done.stderr)
                        self.assertIn("empty", done.stderr)


if __name__ == "__main__":
    unittest.main()
