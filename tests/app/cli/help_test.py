"""Help in all formats, completion, and the generated tables of the documents."""
import functools
import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VOXHERD = os.environ["VOXHERD"]


@functools.cache
def call(*words):
    return subprocess.run([VOXHERD, *words], capture_output=True, text=True, check=True, timeout=60).stdout


COMMANDS = re.findall(r"^  (\w+) {2,}\w", call("--help"), re.MULTILINE)


class Text(unittest.TestCase):
    def test_help_fits_80_columns(self):
        self.assertGreaterEqual(len(COMMANDS), 13)
        for words in [["--help"], *[[name, "--help"] for name in COMMANDS]]:
            for line in call(*words).splitlines():
                with self.subTest(f"{words}: {line}"):
                    self.assertLessEqual(len(line.expandtabs()), 80)

    def test_help_shows_what_a_user_needs(self):
        for name in COMMANDS:
            if name == "probtrackx2":
                continue  # FSL's users look for all names of theirs
            shown = re.findall(r"^  --([\w-]+)", call(name, "--help").split("\nFSL's options")[0], re.MULTILINE)
            with self.subTest(f"{name}: {len(shown)} options"):
                self.assertLessEqual(len(shown), 44)

    def test_an_analysis_shows_its_own_options_before_those_of_every_run(self):
        text = call("tensor", "--help")
        headings = re.findall(r"^(\w.*):$", text, re.MULTILINE)
        self.assertEqual(headings, ["Input", "Fit", "Output", "Running", "Help", "Example"])

    def test_each_command_ends_with_an_example_that_parses(self):
        for name in COMMANDS:
            text = call(name, "--help").split("\nExample:\n")[1]
            lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
            self.assertTrue(any(line.startswith(f"voxherd {name}") for line in lines), name)
            with tempfile.TemporaryDirectory() as folder:
                for line in lines:
                    if not line.startswith("voxherd "):
                        continue
                    done = subprocess.run([VOXHERD, *shlex.split(line)[1:]], capture_output=True, text=True, cwd=folder, timeout=60)
                    if "built without the viewer" in done.stderr:
                        continue
                    # 66: the files of the example do not exist here; 2 would be a wrong option.
                    self.assertIn(done.returncode, (0, 66), line + done.stderr)

    def test_bedpostx_lists_the_flags_of_FSL(self):
        text = call("bedpostx", "--help")
        for line in ("-n,--nf,--nfibres\tlargest number of fibres in a voxel", "-g\tuse grad_dev"):
            self.assertIn(f"\n\t{line}", text)

    def test_probtrackx2_lists_the_options_of_FSL(self):
        text = call("probtrackx2", "--help")
        for line in ("-P,--nsamples\tnumber of streamlines per seed voxel", "-x,--seed\tmask of the seed voxels", "--randfib\tfibre of the first step"):
            self.assertIn(f"\n\t{line}", text)

    def test_an_unknown_option_is_answered_with_the_nearest(self):
        for typed, meant in (("--fibrse", "--fibres"), ("--jum", "--jumps")):
            done = subprocess.run([VOXHERD, "ballstick", typed, "2"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"did you mean {meant}?", done.stderr)

    def test_an_unknown_format_is_refused(self):
        done = subprocess.run([VOXHERD, "tensor", "--help=html"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected one of text, markdown, man, json", done.stderr)


class Formats(unittest.TestCase):
    def test_a_manual_page_has_every_option_and_no_troff_errors(self):
        for name in COMMANDS:
            page = call(name, "--help=man")
            for option in re.findall(r"^  --([\w-]+)", call(name, "--help"), re.MULTILINE):
                self.assertIn(".B \\-\\-" + option.replace("-", "\\-"), page)
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True, text=True,
                                      check=True, timeout=60)
                self.assertEqual(done.stderr, "", name)
                self.assertIn("SYNOPSIS", re.sub(".\b", "", done.stdout))  # bold is overstruck

    def test_a_manual_page_has_examples_before_the_options(self):
        page = call("tensor", "--help=man")
        headings = re.findall(r"^\.(SH|SS) (.*)$", page, re.MULTILINE)
        self.assertEqual([name for kind, name in headings if kind == "SH"],
                         ["NAME", "SYNOPSIS", "EXAMPLES", "OPTIONS", "SEE ALSO"])
        self.assertIn(("SS", '"Input"'), headings)
        if shutil.which("groff"):
            text = subprocess.run(["groff", "-man", "-Tascii", "-c", "-P-cbou"], input=page, capture_output=True, text=True, check=True,
                                  timeout=60).stdout
            self.assertIn("voxherd-tensor - diffusion", text)

    def test_the_manual_page_of_the_program_has_no_troff_errors(self):
        page = call("--help=man")
        self.assertIn(".BR voxherd\\-tensor (1)\n", page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True, text=True, check=True, timeout=60)
            self.assertEqual(done.stderr, "")

    def test_a_boutiques_descriptor_is_complete(self):
        for name in COMMANDS:
            descriptor = json.loads(call(name, "--help=json"))
            with self.subTest(name):
                for key in ("name", "description", "tool-version", "schema-version", "command-line", "inputs"):
                    self.assertIn(key, descriptor)
                self.assertEqual(descriptor["schema-version"], "0.5")
                ids = [i["id"] for i in descriptor["inputs"] + descriptor.get("output-files", [])]
                self.assertEqual(len(ids), len(set(ids)))
                for one in descriptor["inputs"]:
                    self.check_input(one, descriptor["command-line"])

    def check_input(self, one, line):
        self.assertRegex(one["id"], r"^\w+$")
        self.assertIn(one["type"], ("String", "File", "Flag", "Number"))
        self.assertIn(one["value-key"], line)
        if one["type"] == "Flag":
            self.assertIn("command-line-flag", one)
        # A launcher would put a default on the command line, also where the option does not apply.
        self.assertNotIn("default-value", one)

    def test_a_descriptor_tells_required_from_optional_inputs(self):
        inputs = {i["id"]: i for i in json.loads(call("tensor", "--help=json"))["inputs"]}
        self.assertFalse(inputs["dwi"]["optional"])
        self.assertFalse(inputs["out"]["optional"])
        self.assertTrue(inputs["mask"]["optional"])
        self.assertEqual(inputs["fit"]["value-choices"], ["ols", "wls", "iwls"])
        self.assertIn("default iwls", inputs["fit"]["description"])
        # The descriptor's types: a File must exist before the run.
        self.assertEqual([inputs[name]["type"] for name in ("dwi", "out")], ["File", "String"])

    def test_tables_of_the_documents_are_up_to_date(self):
        script = os.path.join(ROOT, "docs", "tables.py")
        done = subprocess.run([sys.executable, script, "--check", VOXHERD], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Completion(unittest.TestCase):
    def complete(self, *words):
        """What bash offers for the last word."""
        script = call("--completion", "bash") + """
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _voxherd; printf '%s\\n' "${COMPREPLY[@]}"
"""
        done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True,
                              timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands(self):
        self.assertEqual(self.complete("voxherd", "ten"), ["tensor"])
        self.assertEqual(self.complete("voxherd", "co"), ["connect", "compare", "cohort"])

    def test_bash_completes_options_of_the_command(self):
        self.assertEqual(self.complete("voxherd", "ballstick", "--fib"), ["--fibres", "--fibre-odds"])
        self.assertEqual(self.complete("voxherd", "tensor", "--fib"), [])

    def test_bash_completes_words(self):
        self.assertEqual(self.complete("voxherd", "tensor", "--fit", ""), ["ols", "wls", "iwls"])
        self.assertEqual(self.complete("voxherd", "tensor", "--fit", "w"), ["wls"])

    def test_bash_completes_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "data.nii.gz")
            open(path, "w", encoding="utf-8").close()
            self.assertEqual(self.complete("voxherd", "tensor", "--dwi", path[:-4]), [path])

    def test_zsh_completion_has_every_command_and_option(self):
        script = call("--completion", "zsh")
        self.assertTrue(script.startswith("#compdef voxherd\n"))
        for name in COMMANDS:
            self.assertIn(f"  {name})\n", script)
        self.assertIn("'--fit[", script)
        self.assertIn(":WORD:(ols wls iwls)'", script)
        if shutil.which("zsh"):
            done = subprocess.run(["zsh", "-n"], input=script, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stderr, "")


@unittest.skipUnless(shutil.which("zsh"), "SKIPPED: zsh is not installed")
class CompletionInZsh(unittest.TestCase):
    """Keys typed at a prompt of zsh."""

    def setUp(self):
        environment = dict(os.environ, TERM="dumb", HOME="/nonexistent", ZDOTDIR="/nonexistent")
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        self.terminal = terminal
        self.shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=end, stdout=end, stderr=end, env=environment,
                                      start_new_session=True)
        os.close(end)
        self.addCleanup(self.shell.wait)
        self.addCleanup(self.shell.kill)
        self.type(f"autoload -U compinit; compinit -u -D; source <({VOXHERD} --completion zsh); print rea''dy\n", "ready")

    def type(self, keys, expected):
        """Types, and waits until the terminal shows the text."""
        os.write(self.terminal, keys.encode())
        shown, end = "", time.monotonic() + 60
        while expected not in shown:
            self.assertLess(time.monotonic(), end, f"{expected!r} is not in {shown!r}")
            if select.select([self.terminal], [], [], 0.2)[0]:
                shown += os.read(self.terminal, 65536).decode(errors="replace")

    def test_commands_are_completed(self):
        self.type("voxherd ten\t", "voxherd tensor ")

    def test_options_are_completed(self):
        self.type("voxherd tensor --fi\t", "--fit ")

    def test_words_are_listed(self):
        self.type("voxherd tensor --fit \t", "iwls  ols   wls")

    def test_an_installed_file_completes_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "_voxherd"), "w", encoding="utf-8") as file:
                file.write(call("--completion", "zsh"))
            self.type(f"unfunction _voxherd; fpath=({folder} $fpath); compinit -u -D; print again rea''dy\n", "again ready")
            self.type("voxherd ten\t", "voxherd tensor ")


if __name__ == "__main__":
    unittest.main()
