"""voxherd tensor compared with MRtrix3's dwi2tensor for the same scans, and with a phantom's truth."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VOXHERD = os.environ["VOXHERD"]
CROP = os.path.join(os.environ["VOXHERD_DATA"], "mrtrix3_test_data", "nii")
BRAIN = os.path.join(os.environ["VOXHERD_DATA"], "philips_32dir_b1000")
if not os.path.isdir(CROP) or not os.path.isdir(BRAIN):
    print(f"skipped: no data in {os.environ['VOXHERD_DATA']}")
    sys.exit(77)


def run(*words, expect=0, ranks=1):
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*launch, VOXHERD, *words], capture_output=True, text=True)
    assert done.returncode == expect, f"{words}: exit {done.returncode}, expected {expect}\n{done.stderr}"
    return done


def image(*path):
    return nibabel.load(os.path.join(*path)).get_fdata()


def from_scanner_axes(mrtrix, affine):
    """D11 D22 D33 D12 D13 D23 along the scanner's axes -> 3x3 along FSL's bvec axes: the voxel axes, with x reversed
    if the matrix has a positive determinant."""
    axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    if np.linalg.det(axes) > 0:
        axes = axes * [-1, 1, 1]
    d = np.moveaxis(np.asarray(mrtrix), -1, 0)
    world = np.stack([np.stack([d[0], d[3], d[4]], -1), np.stack([d[3], d[1], d[5]], -1),
                      np.stack([d[4], d[5], d[2]], -1)], -1)
    return axes.T @ world @ axes


class Maps:
    """Maps of a result file, indexed as in nibabel: x, y, z[, component]."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.maps = {name: np.moveaxis(data[()], [0, 2], [2, 0]) for name, data in file["maps"].items()}

    def __getitem__(self, name):
        return self.maps[name]

    def tensor(self):
        t = self.maps["tensor"].astype(float)
        return t[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(t.shape[:3] + (3, 3))


class AgainstMrtrixOnACrop(unittest.TestCase):
    """6x8x9 voxels of a real brain, 8 b=0 volumes and 60 directions at b=3000. MRtrix3's own test data."""

    def fit(self, *options, ranks=1):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "tensor.h5")
            run("tensor", "--dwi", f"{CROP}/dwi.nii.gz", "--bvals", f"{CROP}/dwi.bval", "--bvecs", f"{CROP}/dwi.bvec",
                "--mask", f"{CROP}/mask.nii.gz", "--out", out, "--backend", "cpu", "--quiet", *options,
                ranks=ranks)
            return Maps(out)

    def expect_tensors(self, maps, name, tolerance=1e-5):
        inside = image(CROP, "mask.nii.gz") > 0
        affine = nibabel.load(f"{CROP}/dwi.nii.gz").affine
        expected = from_scanner_axes(image(CROP, f"dwi2tensor_{name}.nii.gz"), affine)[inside]
        error = np.abs(maps.tensor()[inside] - expected).max(axis=(1, 2))
        size = np.abs(expected).max(axis=(1, 2))
        self.assertLess((error / size).max(), tolerance)

    def test_iterated_fit_with_mask_agrees_with_mrtrix(self):
        self.expect_tensors(self.fit(), "out_mask")

    def test_any_number_of_iterations_agrees_with_mrtrix(self):
        for iterations in "234":
            self.expect_tensors(self.fit("--iterations", iterations), f"out_it{iterations}")

    def test_weighted_fit_agrees_with_mrtrix(self):
        self.expect_tensors(self.fit("--fit", "wls"), "out_it0")

    def test_ordinary_fit_agrees_with_mrtrix(self):
        self.expect_tensors(self.fit("--fit", "ols"), "out_ols_it0")

    def test_signal_without_weighting_agrees_with_mrtrixs_b0(self):
        inside = image(CROP, "mask.nii.gz") > 0
        expected = image(CROP, "dwi2tensor_out_b0.nii.gz")[inside]
        np.testing.assert_allclose(self.fit()["S0"][inside], expected, rtol=1e-6)

    def test_maps_follow_from_the_tensor(self):
        maps = self.fit()
        inside = image(CROP, "mask.nii.gz") > 0
        values, vectors = np.linalg.eigh(maps.tensor()[inside])
        size = np.abs(values).max(axis=1)
        for place, name in enumerate(["L3", "L2", "L1"]):
            self.assertLess((np.abs(maps[name][inside] - values[:, place]) / size).max(), 1e-6)
        along = np.abs(np.sum(maps["V1"][inside] * vectors[:, :, 2], axis=1))
        clear = values[:, 2] - values[:, 1] > 0.05 * size
        self.assertGreater(clear.sum(), 100)
        self.assertGreater(along[clear].min(), 1 - 1e-6)
        mean = values.mean(axis=1)
        anisotropy = np.sqrt(1.5 * ((values - mean[:, None]) ** 2).sum(1) / (values ** 2).sum(1))
        np.testing.assert_allclose(maps["FA"][inside], anisotropy, atol=1e-5)
        np.testing.assert_allclose(maps["MD"][inside], mean, atol=1e-9)
        np.testing.assert_allclose(maps["RD"][inside], values[:, :2].mean(axis=1), atol=1e-9)
        np.testing.assert_array_equal(maps["AD"], maps["L1"])
        for name in maps.maps:
            self.assertFalse(np.any(maps[name][~inside]), name)


    def test_any_number_of_ranks_and_any_batch_size_gives_the_same_bytes(self):
        expected = self.fit("--threads", "1").maps
        for ranks, batch in [(2, "10"), (3, "7"), (5, "100")]:
            maps = self.fit("--threads", "1", "--batch", batch, ranks=ranks).maps
            for name in expected:
                self.assertEqual(maps[name].tobytes(), expected[name].tobytes(), f"{name}, {ranks} ranks")


class AgainstMrtrixOnABrain(unittest.TestCase):
    """128x128x60 voxels, one b=0 and 32 directions at b=1000: a Philips scan with noise and artefacts."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "tensor.h5")
            series = os.path.join(BRAIN, "1201_DT_HIGH_32DIR_SENSE")
            done = run("tensor", "--dwi", series + ".nii.gz", "--bvals", series + ".bval", "--bvecs", series + ".bvec",
                       "--mask", f"{BRAIN}/ref_mrtrix3/brain_mask.nii.gz", "--out", out, "--backend", "cpu")
            cls.log = done.stdout + done.stderr
            cls.info = run("info", out).stdout
            cls.maps = Maps(out)
        cls.white = image(BRAIN, "ref_mrtrix3", "wm_mask_fa025.nii.gz") > 0
        cls.inside = image(BRAIN, "ref_mrtrix3", "brain_mask.nii.gz") > 0

    def test_info_counts_only_voxels_of_the_mask(self):
        self.assertIn("190251 of 190506 voxels fitted", self.info)

    def test_anisotropy_in_white_matter_agrees(self):
        ours, theirs = self.maps["FA"][self.white], image(BRAIN, "ref_mrtrix3", "fa.nii.gz")[self.white]
        self.assertEqual(len(ours), 61106)
        self.assertGreaterEqual(np.corrcoef(ours, theirs)[0, 1], 0.9995)
        self.assertLessEqual(np.abs(ours - theirs).mean(), 0.0025)

    def test_mean_diffusivity_in_white_matter_agrees(self):
        theirs = image(BRAIN, "ref_mrtrix3", "md.nii.gz")[self.white]
        self.assertLess(np.abs(self.maps["MD"][self.white] / theirs - 1).mean(), 1e-4)

    def test_tensors_in_white_matter_agree(self):
        path = os.path.join(BRAIN, "ref_mrtrix3", "dt_wls_iter2.nii.gz")
        expected = from_scanner_axes(image(path)[self.white], nibabel.load(path).affine)
        error = np.linalg.norm(self.maps.tensor()[self.white] - expected, axis=(1, 2))
        size = np.linalg.norm(expected, axis=(1, 2))
        self.assertLess(np.percentile(error / size, 99), 1e-4)

    def test_negative_mean_diffusivities_are_flagged_and_kept(self):
        flagged = self.maps["status"] == 10
        np.testing.assert_array_equal(flagged, self.maps["MD"] < 0)
        self.assertEqual(flagged.sum(), 251)
        line = f"251 of {self.inside.sum()} voxels: negative mean diffusivity, not physical (status 10); " \
               "their outputs are kept as fitted"
        self.assertIn(line, self.log)
        self.assertIn(f"status     {line}", self.info)
        theirs = image(BRAIN, "ref_mrtrix3", "md.nii.gz")[flagged]
        self.assertLess(np.median(np.abs(self.maps["MD"][flagged] / theirs - 1)), 1e-3)

    def test_unfitted_voxels_are_counted_and_zero(self):
        status = self.maps["status"]
        self.assertIn(f"{(self.inside & (status == 0)).sum()} of {self.inside.sum()} voxels fitted", self.log)
        failed = (status != 0) & (status != 10) & self.inside
        self.assertLess(failed.sum(), 20)
        for name in ["FA", "S0", "tensor", "residual"]:
            self.assertFalse(np.any(self.maps[name][failed]), name)


class Shells(unittest.TestCase):
    """A phantom with shells of 1000 and 2000 s/mm2, and a copy without the higher one."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        run("phantom", "dwi", "--size", "20x20x12", "--bvalues", "1000,2000", "--directions", "12,9", "--b0", "2", "--out", cls.path("p"))
        series = nibabel.load(cls.path("p/data.nii"))
        cls.b, g = np.loadtxt(cls.path("p/bvals")).ravel(), np.loadtxt(cls.path("p/bvecs"))
        cls.low = cls.b < 1500
        nibabel.save(nibabel.Nifti1Image(np.asarray(series.dataobj)[..., cls.low], series.affine), cls.path("low.nii"))
        nibabel.save(nibabel.Nifti1Image(np.asarray(series.dataobj), series.affine), cls.path("all.nii.gz"))
        np.savetxt(cls.path("low.bvals"), cls.b[None, cls.low], fmt="%g")
        np.savetxt(cls.path("low.bvecs"), g[:, cls.low])

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def fit(self, name, dwi, bvals, *options, expect=0, ranks=1):
        return run("tensor", "--dwi", self.path(dwi), "--bvals", self.path(bvals), "--bvecs", self.path(bvals.replace("bvals", "bvecs")),
                   "--mask", self.path("p/nodif_brain_mask.nii.gz"), "--backend", "cpu", "--threads", "1", "--out", self.path(name),
                   "--overwrite", *options, expect=expect, ranks=ranks).stderr

    def test_give_the_tensors_of_a_series_without_the_other_volumes(self):
        self.assertNotIn("describes the signal", self.fit("low.h5", "low.nii", "low.bvals"))
        expected = Maps(self.path("low.h5"))
        for name, ranks in (("p/data.nii", 1), ("p/data.nii", 3), ("all.nii.gz", 2)):
            log = self.fit("chosen.h5", name, "p/bvals", "--shells", "0,1000", ranks=ranks)
            self.assertIn(f"--shells 0,1000: {self.low.sum()} of {len(self.b)} volumes are used, {(~self.low).sum()} left out", log)
            self.assertNotIn("describes the signal", log)
            chosen = Maps(self.path("chosen.h5"))
            for output in ("tensor", "FA", "S0", "residual", "status"):
                np.testing.assert_array_equal(chosen[output], expected[output], err_msg=output)
        with h5py.File(self.path("chosen.h5")) as file:
            np.testing.assert_array_equal(file["inputs/bvals"][()], self.b[self.low])
            self.assertEqual(json.loads(file.attrs["configuration"])["shells"], [0, 1000])
        run("report", self.path("chosen.h5"), "--overwrite")
        with open(self.path("chosen.report.html"), encoding="utf-8") as page:
            self.assertIn("Volumes that are not within 100 s/mm2 of b = 0, 1000 s/mm2 were left out. The remaining series had", page.read())

    def test_of_high_b_values_are_a_warning_in_the_log_and_the_report(self):
        log = self.fit("all.h5", "p/data.nii", "p/bvals")
        expected = "b is up to 2000 s/mm2, but the tensor describes the signal up to about 1500"
        self.assertIn(expected, log)
        self.assertIn("--shells leaves them out, e.g. --shells 0,1000 (this series has 0, 1000, 2000)", log)
        run("report", self.path("all.h5"), "--overwrite")
        with open(self.path("all.report.json"), encoding="utf-8") as file:
            self.assertIn(expected, " ".join(json.load(file)["warnings"]))

    def test_that_are_missing_or_too_few_are_refused(self):
        for status, words, list_of in ((65, "no volume of", "0,1500"), (65, "(within 100); it has 0, 1000, 2000", "0,3000"),
                                       (65, "the gradients of --shells do not determine a tensor", "1000"),
                                       (2, '--shells 0,x: found "x", expected b-values', "0,x"), (2, "--shells", "0,-5")):
            self.assertIn(words, self.fit("never.h5", "p/data.nii", "p/bvals", f"--shells={list_of}", expect=status))


class LargeGrid(unittest.TestCase):
    def test_with_few_voxels_the_log_tells_how_large_the_result_is(self):
        with tempfile.TemporaryDirectory() as folder:
            inside = np.zeros((64, 64, 64), np.uint8)
            inside[30:33, 30, 30] = 1
            nibabel.save(nibabel.Nifti1Image(inside, np.eye(4)), f"{folder}/mask.nii")
            signal = np.exp(-np.array([0, 1, 1, 1, 1, 1, 1])) * np.array([100, 99, 98, 97, 96, 95, 94])
            nibabel.save(nibabel.Nifti1Image((inside[..., None] * signal).astype(np.uint8), np.eye(4)), f"{folder}/data.nii")
            np.savetxt(f"{folder}/bvals", [[0] + 6 * [1000]], fmt="%d")
            s = np.sqrt(0.5)
            np.savetxt(f"{folder}/bvecs", np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [s, s, 0], [s, 0, s], [0, s, s]]).T)
            done = run("tensor", "--dwi", f"{folder}/data.nii", "--bvals", f"{folder}/bvals", "--bvecs", f"{folder}/bvecs", "--mask",
                       f"{folder}/mask.nii", "--backend", "cpu", "--out", f"{folder}/out.h5")
            self.assertRegex(done.stderr, r"writing 2\d(\.\d)? MB: its maps have values in all 262144 voxels of the grid, for 3 that are computed")


class InvalidOptions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "tensor.h5")

    def refuse(self, status, words, *options, bvecs=f"{CROP}/dwi.bvec"):
        done = run("tensor", "--dwi", f"{CROP}/dwi.nii.gz", "--bvals", f"{CROP}/dwi.bval", "--bvecs", bvecs,
                   "--mask", f"{CROP}/mask.nii.gz", "--out", self.out, "--backend", "cpu", *options, expect=status)
        self.assertIn(words, done.stderr)
        self.assertFalse(os.path.exists(self.out))

    def test_fewer_than_six_directions_are_rejected(self):
        bvecs = np.loadtxt(f"{CROP}/dwi.bvec")
        weighted = np.flatnonzero(np.loadtxt(f"{CROP}/dwi.bval") > 0)
        for place, volume in enumerate(weighted):
            bvecs[:, volume] = bvecs[:, weighted[place % 5]]
        path = os.path.join(self.folder.name, "bvecs")
        np.savetxt(path, bvecs)
        self.refuse(65, "do not determine a tensor", bvecs=path)

    def test_an_unknown_fit_is_rejected(self):
        self.refuse(2, "--fit nlls", "--fit", "nlls")

    def test_iterations_of_a_fit_without_iterations_are_rejected(self):
        self.refuse(2, "--iterations has no meaning", "--fit", "ols", "--iterations", "3")
        self.refuse(2, "--iterations 0", "--iterations", "0")


if __name__ == "__main__":
    unittest.main()
