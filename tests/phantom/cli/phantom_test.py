"""voxherd phantom dwi: same bytes for any number of ranks, readable by other programs, consistent with its truth maps."""
import filecmp
import json
import os
import shutil
import sys
import tempfile
import unittest

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import files_below, run


class Phantom(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make(self, name, *options, ranks=1):
        run("phantom", "dwi", "--out", self.path(name), "--threads", "1", *options, ranks=ranks)

    def image(self, *names):
        return nibabel.load(self.path(*names)).get_fdata()

    def expect_same_files(self, a, b):
        names = files_below(self.path(a))
        self.assertEqual(names, files_below(self.path(b)))
        different = filecmp.cmpfiles(self.path(a), self.path(b), names, shallow=False)[1:]
        self.assertEqual(different, ([], []))

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        self.make("one")
        self.make("two", ranks=2)
        self.make("three", ranks=3)
        self.expect_same_files("one", "two")
        self.expect_same_files("one", "three")

    def test_any_number_of_ranks_gives_the_same_compressed_bytes(self):
        options = ["--gz", "--size", "40x40x20"]  # 8 MB: several gzip members
        self.make("one", *options)
        self.make("three", *options, ranks=3)
        self.make("plain", "--size", "40x40x20")
        self.expect_same_files("one", "three")
        np.testing.assert_array_equal(self.image("one", "data.nii.gz"), self.image("plain", "data.nii"))

    def test_samples_without_noise_follow_from_the_truth_maps(self):
        self.make("p", "--noise", "none", "--preset", "clinical", "--size", "30x30x16", "--directions", "20")
        data, S0, d = self.image("p", "data.nii"), self.image("p", "truth", "S0.nii.gz"), self.image("p", "truth", "d.nii.gz")
        b, g = np.loadtxt(self.path("p", "bvals")), np.loadtxt(self.path("p", "bvecs"))
        self.assertEqual(data.shape, (30, 30, 16, 24))
        bd = d[..., None] * b
        ball, signal = np.ones(d.shape), np.zeros(data.shape)
        for j in "123":
            f = self.image("p", "truth", f"f{j}.nii.gz")
            cosine = self.image("p", "truth", f"dyads{j}.nii.gz") @ g
            signal += f[..., None] * np.exp(-bd * cosine ** 2)
            ball -= f
        expected = S0[..., None] * (signal + ball[..., None] * np.exp(-bd))
        np.testing.assert_allclose(data, expected, rtol=2e-6, atol=1e-3)
        inside = self.image("p", "nodif_brain_mask.nii.gz") > 0
        self.assertTrue(np.all(data[inside] > 0))
        self.assertFalse(np.any(data[~inside]))

    def test_each_bundle_has_two_separate_ends_of_white_matter(self):
        self.make("toy")
        self.make("fine", "--size", "50x44x30")
        for name, size in (("toy", (20, 20, 12)), ("fine", (50, 44, 30))):
            ends = self.image(name, "truth", "ends.nii.gz").astype(int)
            self.assertEqual(ends.shape, size)
            self.assertEqual(np.unique(ends).tolist(), list(range(15)))
            self.assertTrue((self.image(name, "truth", "fibres.nii.gz")[ends > 0] > 0).all())
            centre = {label: np.argwhere(ends == label).mean(0) / size - 0.5 for label in range(1, 15)}
            for first in range(1, 15, 2):
                self.assertGreater(np.linalg.norm(centre[first] - centre[first + 1]), 0.25)
            along = {1: 0, 3: 1, 5: 2, 7: 1, 9: 1, 11: 1, 13: 1}  # the axis along which each bundle ascends
            for first, axis in along.items():
                self.assertLess(centre[first][axis], centre[first + 1][axis])
            self.assertLess(centre[11][0], 0)  # the arc at lower x is on the right in the world
            self.assertGreater(centre[13][0], 0)

    def test_voxel_axes_are_the_frame_of_the_bvecs(self):
        self.make("p")
        affine = nibabel.load(self.path("p", "data.nii")).affine
        self.assertLess(np.linalg.det(affine), 0)  # FSL negates x only if this is positive
        np.testing.assert_allclose(affine @ [9.5, 9.5, 5.5, 1], [0, 0, 0, 1], atol=1e-4)

    def test_noise_has_the_requested_ratio(self):
        for kind in ["gaussian", "rician"]:
            self.make(kind, "--noise", kind, "--snr", "20", "--random-seed", "5")
        self.make("clean", "--noise", "none")
        inside = self.image("clean", "nodif_brain_mask.nii.gz") > 0
        clean = self.image("clean", "data.nii")[inside]
        noise = self.image("gaussian", "data.nii")[inside] - clean
        self.assertAlmostEqual(noise.std(), 800 / 20, delta=0.5)
        self.assertAlmostEqual(noise.mean(), 0, delta=0.5)
        rician = self.image("rician", "data.nii")[inside]
        self.assertGreaterEqual(rician.min(), 0)
        np.testing.assert_allclose((rician ** 2 - clean ** 2).mean(), 2 * 40 ** 2, rtol=0.05)

    def test_score_of_the_truth_itself_is_zero_error(self):
        self.make("p")
        done = run("phantom", "score", self.path("p", "truth"), "--truth", self.path("p"), "--json", self.path("s.json"))
        self.assertIn("1536 voxels compared; 0 false fibres", done.stdout)
        with open(self.path("s.json")) as file:
            score = json.load(file)
        self.assertEqual(score["all"]["missed"], 0)
        self.assertEqual(score["all"]["percentile95_degrees"], 0)
        self.assertEqual(score["all"]["mean_fraction_error"], 0)
        count = sum((self.image("p", "truth", f"f{j}.nii.gz") > 0).sum() for j in "123")
        self.assertEqual(score["all"]["fibres"], count)

    def test_tensor_finds_the_direction_of_single_fibres(self):
        self.make("p", "--fibres", "1", "--snr", "50")
        p = self.path("p")
        run("tensor", "--dwi", f"{p}/data.nii", "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs", "--mask",
            f"{p}/nodif_brain_mask.nii.gz", "--out", self.path("t.h5"), "--backend", "cpu", "--quiet")
        run("phantom", "score", self.path("t.h5"), "--truth", p, "--json", self.path("s.json"))
        with open(self.path("s.json")) as file:
            score = json.load(file)
        self.assertGreater(score["all"]["fibres"], 500)
        self.assertLess(score["all"]["median_degrees"], 1.5)
        self.assertLess(score["all"]["percentile95_degrees"], 4)

    def test_files_of_another_study_are_kept(self):
        os.mkdir(self.path("study"))
        for name in ("bvals", "phantom.json"):
            with open(self.path("study", name), "w", encoding="utf-8") as file:
                file.write("precious\n")
            done = run("phantom", "dwi", "--size", "6x5x4", "--out", self.path("study"), "--threads", "1", expect=2)
            self.assertIn(f"already contains {name}", done.stderr)
            with open(self.path("study", name), encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious\n")
            self.assertEqual(files_below(self.path("study")), [name])
            os.remove(self.path("study", name))

    def test_a_phantom_that_does_not_fit_leaves_nothing(self):
        self.assertIn("data.nii", run("phantom", "dwi", "--size", "4096x4096x4096", "--out", self.path("huge/one"), expect=74).stderr)
        self.assertFalse(os.path.exists(self.path("huge")))

    def test_a_phantom_is_only_overwritten_on_request(self):
        self.make("p")
        before = os.path.getmtime(self.path("p", "data.nii"))
        done = run("phantom", "dwi", "--out", self.path("p"), expect=2)
        self.assertIn("--overwrite", done.stderr)
        self.assertEqual(os.path.getmtime(self.path("p", "data.nii")), before)
        self.make("p", "--overwrite", "--random-seed", "2")

    def test_wrong_options_are_named(self):
        for words, expected in [(["--size", "3x4"], "--size 3x4"), (["--size", "0x4x4"], "--size 0x4x4"),
                                (["--preset", "huge"], "--preset huge"), (["--fibres", "4"], "--fibres 4"),
                                (["--snr", "0"], "--snr 0"), (["--noise", "pink"], "--noise pink"),
                                (["--bvalues", "1000,x"], "--bvalues 1000,x"),
                                (["--directions", "1,2,3"], "--directions 1,2,3")]:
            done = run("phantom", "dwi", "--out", self.path("p"), *words, expect=2)
            self.assertIn(expected, done.stderr)
        self.assertFalse(os.path.exists(self.path("p")))
        self.assertIn("expected one of dwi, liver, score", run("phantom", "brain", expect=2).stderr)

    def test_a_result_of_another_size_is_rejected(self):
        self.make("p")
        self.make("q", "--size", "10x10x10")
        done = run("phantom", "score", self.path("q", "truth"), "--truth", self.path("p"), expect=65)
        self.assertIn("has 10 x 10 x 10 voxels, expected 20 x 20 x 12", done.stderr)

    def test_a_result_or_truth_that_cannot_be_read_is_named(self):
        self.make("p")
        result = self.path("bad.h5")
        for content, status in ((None, 66), (b"not HDF5", 65)):
            if content is not None:
                with open(result, "wb") as file:
                    file.write(content)
            self.assertIn("bad.h5", run("phantom", "score", result, "--truth", self.path("p"), expect=status).stderr)
        self.assertIn("nowhere", run("phantom", "score", self.path("p", "truth"), "--truth", self.path("nowhere"), expect=66).stderr)


if __name__ == "__main__":
    unittest.main()
