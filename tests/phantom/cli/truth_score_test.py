"""voxherd phantom score: networks from text files, calibration of a posterior from a model's own data."""
import json
import os
import shutil
import tempfile
import unittest

from program import run

CROSSING = {"fiber_geometries": {"a": {"control_points": [-12, 0, 0, 12, 0, 0], "radius": 5},
                                 "b": {"control_points": [0, -12, 0, 0, 12, 0], "radius": 5}}}


class TruthScore(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def score(self, result, *options, **more):
        done = run("phantom", "score", result, "--truth", self.path("p"), "--json", self.path("s.json"), "--overwrite", *options, **more)
        if more.get("expect", 0):
            return done
        with open(self.path("s.json"), encoding="utf-8") as file:
            return json.load(file)

    def make_bundles(self):
        run("phantom", "dwi", "--geometry", self.write("g.txt", json.dumps(CROSSING)), "--out", self.path("p"), "--threads", "1")

    def test_network_from_a_text_file(self):
        self.make_bundles()
        matrix = self.write("m.csv", "0,9,1,0\n9,0,0,0\n1,0,0,3\n0,0,3,0\n")
        found = self.score(matrix)
        self.assertEqual((found["valid"], found["invalid"], found["first_valid"], found["auc"]), (2, 1, 2, 1))
        self.assertEqual(self.score(matrix, "--best", "smallest")["first_valid"], 0)
        self.assertIn("square matrix", self.score(self.write("n.csv", "1,2\n"), expect=65).stderr)

    def test_truth_without_bundles_has_no_network(self):
        run("phantom", "dwi", "--size", "6x6x4", "--out", self.path("p"), "--threads", "1")
        self.assertIn("bundles.json", self.score(self.write("m.csv", "0 1\n1 0\n"), expect=66).stderr)

    def test_posterior_of_the_models_own_data_is_calibrated(self):
        run("phantom", "dwi", "--crossings", "90", "--fibres", "1", "--size", "16x16x4", "--noise", "gaussian", "--bvalues", "3000",
            "--directions", "64", "--b0", "4", "--out", self.path("p"), "--threads", "1")
        p = self.path("p")
        run("ballstick", "--dwi", f"{p}/data.nii", "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs", "--mask",
            f"{p}/nodif_brain_mask.nii.gz", "--model", "1", "--fibres", "1", "--out", self.path("b.h5"), "--backend", "cpu",
            "--threads", "1", "--quiet")
        found = self.score(self.path("b.h5"))
        self.assertEqual(found["detection"]["all"]["voxels"], 1024)
        self.assertGreater(found["detection"]["all"]["successes"], 1000)
        calibration = found["calibration"]
        self.assertEqual(calibration["samples"], 50)
        # 1,024 voxels: a standard error of 1.1 %.
        for name in ("single_cone90", "single_fraction"):
            self.assertEqual(calibration[name]["voxels"], 1024)
            self.assertAlmostEqual(calibration[name]["within"], calibration[name]["expected"], delta=0.04)


if __name__ == "__main__":
    unittest.main()
