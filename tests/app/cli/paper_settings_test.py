"""Configurations and phantoms that carry a paper's name have the settings in docs/papers/settings.csv, and use them."""
import csv
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VOXHERD = os.environ["VOXHERD"]
CONFIGS = os.path.join(ROOT, "configs")
PAPERS = sorted(name for name in os.listdir(CONFIGS) if re.fullmatch(r"\w+-[a-z]+\d{4}\.cfg", name))
UNKNOWN = ("not stated", "not known")


def voxherd(*words):
    done = subprocess.run([VOXHERD, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def read_table():
    """{subject: {setting: row}}"""
    with open(os.path.join(ROOT, "docs", "papers", "settings.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    table = {}
    for row in rows:
        assert row["setting"] not in table.setdefault(row["subject"], {}), row
        table[row["subject"]][row["setting"]] = row
    return table


def read_config(name):
    with open(os.path.join(CONFIGS, name), encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in (line.split("=", 1) for line in lines)}


class PaperSettings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.table = read_table()
        voxherd("phantom", "dwi", "--preset", "toy", "--size", "16x16x10", "--threads", "1", "--out", cls.path("toy"))

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def expect_settings(self, subject, settings):
        for setting, row in self.table[subject].items():
            with self.subTest(f"{subject}: {setting}"):
                try:
                    self.assertAlmostEqual(float(settings[setting]), float(row["here"]))
                except (TypeError, ValueError):
                    self.assertEqual(str(settings[setting]), row["here"])

    def test_every_paper_has_a_configuration_with_all_settings_in_the_table(self):
        self.assertEqual(len(PAPERS), 4)
        self.assertEqual(sorted(subject for subject in self.table if subject.endswith(".cfg")), PAPERS)
        for name in PAPERS:
            settings = read_config(name)
            self.assertEqual(set(settings), set(self.table[name]), name)
            self.expect_settings(name, settings)

    def test_every_difference_from_a_paper_has_a_reason(self):
        for subject, rows in self.table.items():
            for setting, row in rows.items():
                with self.subTest(f"{subject}: {setting}"):
                    self.assertTrue(row["paper"])
                    self.assertEqual(bool(row["why"]), row["paper"] != row["here"] or row["paper"] in UNKNOWN)

    def test_presets_have_the_papers_protocol(self):
        for preset in ("paper-hires", "clinical"):
            out = self.path(preset)
            voxherd("phantom", "dwi", "--preset", preset, "--size", "12x12x6", "--b0", "1", "--directions", "6",
                    "--threads", "1", "--out", out)
            with open(os.path.join(out, "phantom.json"), encoding="utf-8") as file:
                self.expect_settings(f"phantom dwi {preset}", json.load(file))

    def test_the_livers_preset_has_the_papers_protocol(self):
        # The preset's own size has 300 million samples; numbers of voxels are in proportion to the size.
        size, full = (80, 80, 33), (320, 320, 66)
        voxherd("phantom", "liver", "--preset", "paper", "--size", "x".join(map(str, size)), "--type", "int16",
                "--threads", "2", "--out", self.path("liver"))
        with open(self.path("liver/phantom.json"), encoding="utf-8") as file:
            made = json.load(file)
        larger = 1
        for few, many in zip(size, full):
            larger *= many // few
        rows = self.table["phantom liver paper"]
        settings = {name: made[name] for name in ("tr_ms", "frames", "spacing_s", "inputs")}
        settings["flip_angle_deg"] = made["flip_angle_deg"]
        settings["in_plane_voxels"] = full[0]
        settings["field_of_view_mm"] = full[0] * made["voxel_size_mm"][0]
        for tissue in ("liver", "aorta", "portal"):
            settings[tissue + "_voxels"] = rows[tissue + "_voxels"]["here"]
            self.assertAlmostEqual(made["voxels"][tissue] * larger, float(settings[tissue + "_voxels"]), delta=larger)
        self.expect_settings("phantom liver paper", settings)

    def test_options_replace_the_protocol_of_the_livers_preset(self):
        for words, tr, flip in (((), 4.48, 20), (("--tr", "5", "--flip-angle", "12"), 5, 12)):
            out = self.path("small liver")
            voxherd("phantom", "liver", "--preset", "paper", "--size", "24x24x8", "--threads", "1", "--overwrite",
                    "--out", out, *words)
            with open(os.path.join(out, "phantom.json"), encoding="utf-8") as file:
                made = json.load(file)
            self.assertAlmostEqual(made["tr_ms"], tr)
            self.assertAlmostEqual(made["flip_angle_deg"], flip)

    def run_config(self, name, *words):
        """Runs the configuration on the toy phantom; returns the log and the stored configuration."""
        toy, out = self.path("toy"), self.path(name + ".h5")
        log = voxherd(name.split("-")[0], "--config", os.path.join(CONFIGS, name), "--dwi", f"{toy}/data.nii", "--bvals",
                      f"{toy}/bvals", "--bvecs", f"{toy}/bvecs", "--backend", "cpu", "--threads", "1", "--out", out, *words)
        return log, voxherd("info", "--verbose", out)

    def test_jeongs_costs_are_those_without_a_clamp(self):
        words = ("--mask", self.path("toy/nodif_brain_mask.nii.gz"), "--connectome", self.path("toy/truth/ends.nii.gz"))
        costs = []
        for more in ((), ("--max-ratio", "100", "--overwrite"), ("--max-ratio", "10000", "--overwrite")):
            log, _ = self.run_config("connect-jeong2007.cfg", *words, *more)
            costs.append(re.search(r"cost (\S+) to (\S+)", log).groups())
        self.assertNotEqual(costs[0], costs[1])
        self.assertEqual(costs[0], costs[2])

    def test_the_settings_reach_the_analysis(self):
        seeds = ("--seed-image", self.path("toy/truth/ends.nii.gz"), "--directions", "4")
        ends = ("--connectome", self.path("toy/truth/ends.nii.gz"))
        for name, words in (("geodesic-vanaart2011.cfg", seeds), ("connect-jeong2007.cfg", ends)):
            _, described = self.run_config(name, *words, "--overwrite")
            stored = json.JSONDecoder().raw_decode(described[described.index("{"):])[0]
            stored = {key: ("yes" if value else "no") if isinstance(value, bool) else value
                      for key, value in stored.items()}
            self.expect_settings(name, stored)


if __name__ == "__main__":
    unittest.main()
