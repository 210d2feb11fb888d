"""The methods of voxherd report state every setting that a result stores, its data, and the program that wrote it."""
import html
import json
import re
import shutil
import unittest

import nibabel
import numpy as np
from program import run
from report_pages import ReportJobs
from result_files import changed_tables, h5py

COMMANDS = {"tensor": "tensor", "ballstick": "ballstick", "pathway": "connect", "connectome": "connect", "geodesic": "geodesic",
            "perfusion": "perfusion", "track": "track", "network": "track", "surfaces": "track"}


def configuration_of(path):
    with h5py.File(path) as file:
        return json.loads(file.attrs["configuration"])


class Methods(ReportJobs):
    def methods(self, name, configuration=None):
        """The paragraph of a result, or of one that was computed with another configuration."""
        path = self.make(name)
        if configuration is not None:
            path = shutil.copy(path, self.path("changed.h5"))
            with changed_tables(path) as file:
                file.attrs["configuration"] = np.bytes_(json.dumps(configuration))
        page = self.path("methods.html")
        run("report", path, "--out", page, "--overwrite")
        with open(page, encoding="utf-8") as file:
            self.source = file.read()
        return html.unescape(re.search("<blockquote><p>(.*?)</p>", self.source, re.S)[1])

    def options(self, name):
        """Name and descriptor of each option that is not a file."""
        described = json.loads(run(COMMANDS[name], "--help=json").stdout)["inputs"]
        return {o["command-line-flag"][2:]: o for o in described if o["type"] != "File" and "command-line-flag" in o}

    def test_each_number_text_and_flag_that_is_stored_is_stated(self):
        for name in COMMANDS:
            with self.subTest(name):
                changed = configuration_of(self.make(name))
                expected = []
                for at, (option, described) in enumerate(self.options(name).items()):
                    if "value-choices" in described or isinstance(changed.get(option), dict):
                        continue
                    value = {"Flag": True, "Number": 7000 + at, "String": f"text{at}"}[described["type"]]
                    if isinstance(changed.get(option), list):
                        value = [7000 + at, 7900 + at]
                    changed[option] = value
                    expected.append(option if value is True else ", ".join(map(str, value)) if isinstance(value, list) else str(value))
                for at, values in enumerate(value for value in changed.values() if isinstance(value, dict)):
                    for leaf in (leaf for leaf, value in values.items() if not isinstance(value, bool)):
                        values[leaf] = 8000 + 10 * at + len(expected)
                        expected.append(str(values[leaf]))
                text = self.methods(name, changed)
                self.assertGreater(len(expected), 10)
                self.assertEqual([value for value in expected if not re.search(rf"(?<![\w-]){value}(?!\d)", text)], [])

    def test_each_word_that_is_stored_is_stated(self):
        for name in ("tensor", "ballstick", "pathway", "geodesic", "perfusion", "track"):
            with self.subTest(name):
                stored = configuration_of(self.make(name))
                before = self.methods(name)
                words = {option: o["value-choices"] for option, o in self.options(name).items() if "value-choices" in o}
                for option in words.keys() & stored.keys():
                    other = next(word for word in words[option] if word != stored[option])
                    changed = {**stored, option: not stored[option] if isinstance(stored[option], bool) else other}
                    self.assertNotEqual(self.methods(name, changed), before, option)

    def test_units_are_those_of_the_options_and_labels_in_sequence_are_brief(self):
        text = self.methods("geodesic", {**configuration_of(self.make("geodesic")), "seed-labels": [3, 7, 8, 9, 12]})
        self.assertIn("seed-labels 3, 7-9, 12;", text)
        self.assertRegex(text, r"max-length [\d.]+ mm;")

    def test_the_data_are_described_by_voxels_seeds_frames_and_names_of_files(self):
        mask = nibabel.load(f"{self.scan}/nodif_brain_mask.nii.gz")
        size = " × ".join(str(n) for n in mask.shape)
        text = self.methods("tensor")
        self.assertRegex(text, f"The image had {size} voxels of [0-9.× ]+ mm, of which {np.count_nonzero(mask.dataobj)} were")
        inside = np.count_nonzero(mask.dataobj)
        self.assertRegex(text, rf"Inputs: bvals bvals; bvecs bvecs; dwi data\.nii; mask nodif_brain_mask\.nii\.gz \({inside} voxels\)\.")
        text = self.methods("track")
        with h5py.File(self.make("track")) as file:
            seeds = int(file["streamlines/started"][()].item()) // 20
        self.assertIn(f"Streamlines started in {seeds} seed voxels.", text)
        ends = np.count_nonzero(np.asarray(nibabel.load(f"{self.scan}/truth/ends.nii.gz").dataobj) > 0)
        self.assertIn(f"seed-image ends.nii.gz ({ends} voxels)", text)
        times = np.loadtxt(self.path("liver", "times.txt"))
        self.assertIn(f"The series had {len(times)} frames from", self.methods("perfusion"))

    def test_the_program_is_named_with_its_commit_and_cited(self):
        program = run("--version").stdout.strip()
        self.assertIn("(commit ", program)
        for name in COMMANDS:
            self.assertIn(program, self.methods(name))
            self.assertIn(f"<li>{program}: analyses of brain and liver scans", self.source)


if __name__ == "__main__":
    unittest.main()
