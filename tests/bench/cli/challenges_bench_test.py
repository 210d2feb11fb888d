"""bench/challenges.py: scores of challenges, from files in their formats; bench/truth_peers.py: agreement of two scans."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import nibabel
    import numpy as np
except ImportError:
    print("skipped: needs numpy, nibabel and h5py")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import challenges
import truth
import truth_peers

VOXHERD = os.environ["VOXHERD"]


class Challenges(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def call(self, *words):
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def bench(self, *words):
        return self.call(sys.executable, os.path.join(ROOT, "bench", "challenges.py"), *words)

    def write_image(self, name, values):
        nibabel.save(nibabel.Nifti1Image(values, np.eye(4)), self.path(name))
        return self.path(name)

    def test_bundles_between_ends_and_the_correlation_of_their_network(self):
        with open(self.path("tiny.txt"), "w", encoding="utf-8") as file:
            json.dump(truth.TINY, file)
        data, fibres = self.path("data"), self.path("fibres.h5")
        self.call(VOXHERD, "phantom", "dwi", "--geometry", self.path("tiny.txt"), "--directions", "12", "--bvalues", "2000", "--out", data)
        self.call(VOXHERD, "ballstick", "--dwi", f"{data}/data.nii", "--bvals", f"{data}/bvals", "--bvecs", f"{data}/bvecs", "--mask",
                  f"{data}/white_matter.nii.gz", "--burn-in", "50", "--jumps", "100", "--sample-every", "5", "--out", fibres, "--quiet")
        image = nibabel.load(f"{data}/truth/ends.nii.gz")
        labels = np.asarray(image.dataobj)
        os.makedirs(self.path("ends"))
        for number, name in enumerate(("a", "b")):
            for end, label in (("head", 2 * number + 1), ("tail", 2 * number + 2)):
                part = nibabel.Nifti1Image((labels == label).astype(np.uint8), image.affine)
                nibabel.save(part, self.path("ends", f"{name}_{end}.nii.gz"))
        shown = self.bench("ismrm2015", VOXHERD, "--samples", fibres, "--ends", self.path("ends"), "--out", self.path("out"),
                           "--samples-per-seed", "10")
        self.assertIn("valid bundles 2 of 2", shown)
        np.testing.assert_array_equal(np.asarray(nibabel.load(self.path("out", "truth", "ends.nii.gz")).dataobj), labels)
        with h5py.File(self.path("out", "network.h5")) as file:
            count = file["connectome/count"][()].astype(float).reshape(4, 4)
        strengths = np.array([[0, 9, 1, 2], [9, 0, 0, 3], [1, 0, 0, 7], [2, 3, 7, 0]], float)
        np.savetxt(self.path("truth.txt"), strengths)
        pairs = np.triu_indices(4, 1)
        r = np.corrcoef((count + count.T)[pairs], strengths[pairs])[0, 1]
        self.assertIn(f"voxherd r {r:.3f}\n", self.bench("disco", self.path("out", "network.h5"), "--truth", self.path("truth.txt")))

    def test_true_positives_at_rates_of_false_ones(self):
        density = np.zeros((10, 4, 1), np.float32)
        tracer = np.zeros_like(density)
        tracer[:5] = 1
        density[:3] = 8  # 60 % of the tracer, nothing else
        density[3] = density[5] = 2  # then as many right as wrong ones: 80 and 20 %
        within = np.ones_like(density)
        shown = self.bench("irontract", self.write_image("d.nii", density), "--tracer", self.write_image("t.nii", tracer), "--within",
                           self.write_image("w.nii", within))
        for rate, found in ((0.05, 0.65), (0.1, 0.7), (0.2, 0.8), (0.3, 0.825)):
            self.assertIn(f"true positive rate {found:.3f} at a false positive rate of {rate}\n", shown)
        injection = np.zeros_like(density)
        injection[0] = 1
        self.assertEqual(challenges.true_rates(density, tracer > 0, injection == 0)[0.2], 0.75)

    def test_agreement_of_two_acquisitions(self):
        """Three voxels: the same fibre reversed; 30 degrees apart; the same second fibre, which is the strongest one."""
        half = np.sqrt(0.75)
        fibres = {"first": ([[1, 0, 0], [1, 0, 0], [0, 1, 0]], [0.6, 0.6, 0.2], [[0, 1, 0], [0, 1, 0], [0, 0, 1]], [0.01, 0.01, 0.3]),
                  "second": ([[-1, 0, 0], [half, 0.5, 0], [0, 0, 1]], [0.6, 0.6, 0.4], [[0, 1, 0], [0, 1, 0], [0, 0, 1]], [0.01, 0.1, 0.01])}
        for name, (d1, f1, d2, f2) in fibres.items():
            truth_peers.write_fibres(self.path(name), np.array([d1, d2], float).transpose(1, 0, 2)[:, None, None],
                                     np.array([f1, f2]).T[:, None, None], np.eye(4))
        found = truth_peers.agree(self.path("first"), self.path("second"), 0.05, np.ones((3, 1, 1), bool))
        self.assertEqual(found["voxels"], 3)
        self.assertAlmostEqual(found["median_degrees"], 0)
        self.assertAlmostEqual(found["within10"], 200 / 3)
        self.assertAlmostEqual(found["same_number"], 100 / 3)
        self.assertAlmostEqual(found["mean_number"], (4 / 3 + 4 / 3) / 2)


if __name__ == "__main__":
    unittest.main()
