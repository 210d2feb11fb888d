"""voxherd dtifit takes the options of FSL's dtifit and writes its images: against numpy, dipy and MRtrix3."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import VOXHERD, run

IMAGES = ["FA", "L1", "L2", "L3", "MD", "MO", "S0", "V1", "V2", "V3"]
TENSOR = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]


def numpy_fit(data, bvals, bvecs, weights=None):
    """Least squares of ln S = ln S0 - b g^T D g in every voxel, without weights ordinary ones: S0, D, the sum of squared errors,
    the predicted signals."""
    design = np.column_stack([np.ones(len(bvals))] + [-bvals * bvecs[i] * bvecs[j] * (1 if i == j else 2) for i, j in TENSOR])
    logs = np.log(data.reshape(-1, len(bvals)).astype(float)).T
    if weights is None:
        solution, _, _, _ = np.linalg.lstsq(design, logs, rcond=None)
    else:
        roots = np.sqrt(weights.reshape(-1, len(bvals)))
        solution = np.column_stack([np.linalg.lstsq(design * root[:, None], voxel * root, rcond=None)[0]
                                    for root, voxel in zip(roots, logs.T)])
    tensor = np.zeros((logs.shape[1], 3, 3))
    for n, (i, j) in enumerate(TENSOR):
        tensor[:, i, j] = tensor[:, j, i] = solution[n + 1]
    return np.exp(solution[0]), tensor, ((design @ solution - logs) ** 2).sum(axis=0), np.exp((design @ solution).T)


def fit_as_dtifit(signal, bvals, bvecs):
    """FSL's algorithm for one voxel: a sample without a logarithm counts as 1 in a first fit; in the second, samples are at least
    1 % of the first fit's S0, or of the largest sample where that S0 is below the mean. S0, D, the sum of squared errors."""
    design = np.column_stack([np.ones(len(bvals))] + [-bvals * bvecs[i] * bvecs[j] * (1 if i == j else 2) for i, j in TENSOR])
    inverse = np.linalg.pinv(design)
    first = (inverse @ np.log(np.where(signal > 0, signal, 1)))[0]
    S0 = np.exp(first) if first < 23 else np.abs(signal).max()
    if S0 < signal.mean():
        S0 = np.abs(signal).max()
    logs = np.log(np.maximum(signal, 0.01 * S0))
    solution = inverse @ logs
    return np.exp(solution[0]), solution[1:], ((design @ solution - logs) ** 2).sum()


class Phantom(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_dtifit_")
        self.addCleanup(shutil.rmtree, self.folder)
        self.subject = os.path.join(self.folder, "subject")
        run("phantom", "dwi", "--out", self.subject, "--size", "9x8x7", "--directions", "30", "--threads", "1")
        self.files = [f"--data={self.subject}/data", f"--mask={self.subject}/nodif_brain_mask",
                      f"--bvecs={self.subject}/bvecs", f"--bvals={self.subject}/bvals"]

    def dtifit(self, *words, expect=0, program=(VOXHERD, "dtifit")):
        done = subprocess.run([*program, *self.files, *words], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def raise_low_samples(self):
        """Above 1 % of S0, up to which dtifit raises them, as FSL's does, and others do not."""
        image = nibabel.load(f"{self.subject}/data.nii")
        data = np.array(image.dataobj, dtype=np.float32)
        data = np.maximum(data, 0.02 * data.max(axis=3, keepdims=True))
        nibabel.save(nibabel.Nifti1Image(data, image.affine, image.header), f"{self.subject}/data.nii")

    def image(self, name, base="dti"):
        return nibabel.load(os.path.join(self.folder, f"{base}_{name}.nii.gz")).get_fdata()

    def written(self, base="dti"):
        return sorted(n[len(base) + 1:-len(".nii.gz")] for n in os.listdir(self.folder)
                      if n.startswith(base + "_") and n.endswith(".nii.gz"))


class Dtifit(Phantom):
    def test_writes_the_images_of_FSL(self):
        self.dtifit("--out=dti")
        self.assertEqual(self.written(), IMAGES)
        series = nibabel.load(f"{self.subject}/data.nii")
        for name in IMAGES:
            image = nibabel.load(f"{self.folder}/dti_{name}.nii.gz")
            self.assertEqual(image.shape, series.shape[:3] + ((3,) if name[0] == "V" else ()), name)
            self.assertTrue(np.allclose(image.affine, series.affine), name)
            self.assertEqual(image.get_data_dtype(), np.float32, name)

    def test_the_first_volume_of_a_mask_counts_as_in_FSL(self):
        """nipype's pipelines give the masked series as the mask."""
        self.dtifit("--out=dti")
        series, mask = nibabel.load(f"{self.subject}/data.nii"), nibabel.load(f"{self.subject}/nodif_brain_mask.nii.gz").get_fdata()
        masked = series.get_fdata() * (mask > 0)[..., None]
        masked[..., 1:] += 1
        nibabel.save(nibabel.Nifti1Image(masked.astype(np.float32), series.affine), f"{self.folder}/masked.nii.gz")
        self.files[1] = f"--mask={self.folder}/masked"
        done = self.dtifit("--out=other")
        self.assertIn("the first volume is read as a mask", done.stderr)
        for name in IMAGES:
            np.testing.assert_array_equal(self.image(name, "other"), self.image(name), name)

    def test_is_an_ordinary_least_squares_fit_as_numpy_computes_it(self):
        self.raise_low_samples()
        self.dtifit("-o", "dti", "--sse", "--save_tensor")
        inside = nibabel.load(f"{self.subject}/nodif_brain_mask.nii.gz").get_fdata() > 0
        S0, tensor, sse, _ = numpy_fit(nibabel.load(f"{self.subject}/data.nii").get_fdata()[inside],
                                    np.loadtxt(f"{self.subject}/bvals"), np.loadtxt(f"{self.subject}/bvecs"))
        values, vectors = np.linalg.eigh(tensor)
        L3, L2, L1 = values.T
        mean = values.mean(axis=1)
        size = np.linalg.norm(values, axis=1)
        spread = values - mean[:, None]
        expected = {"S0": S0, "L1": L1, "L2": L2, "L3": L3, "MD": mean, "sse": sse,
                    "FA": np.sqrt(1.5) * np.linalg.norm(spread, axis=1) / size,
                    "MO": 3 * np.sqrt(6) * spread.prod(axis=1) / np.linalg.norm(spread, axis=1) ** 3}
        for name, value in expected.items():
            tolerance = 2e-3 if name == "MO" else 2e-5  # from eigenvalues in float, divided by their differences
            error = np.abs(self.image(name)[inside] - value).max() / np.abs(value).max()
            self.assertLess(error, tolerance, name)
        stored = self.image("tensor")[inside]
        for n, (i, j) in enumerate(TENSOR):
            self.assertLess(np.abs(stored[:, n] - tensor[:, i, j]).max(), 2e-5 * np.abs(tensor).max())
        along = np.abs((self.image("V1")[inside] * vectors[:, :, 2]).sum(axis=1))
        self.assertGreater(along[L1 - L2 > 1e-5].min(), 1 - 1e-5)

    def test_treats_zero_negative_and_small_samples_as_FSL(self):
        image = nibabel.load(f"{self.subject}/data.nii")
        data = np.asarray(image.dataobj).astype(np.float32)
        voxels = np.argwhere(nibabel.load(f"{self.subject}/nodif_brain_mask.nii.gz").get_fdata() > 0)[::3]
        draw = np.random.default_rng(5)
        volumes = data.shape[3]
        for n, voxel in enumerate(map(tuple, voxels)):
            low = draw.choice(volumes, 1 + n % 5, replace=False)
            data[voxel][low] = [0, -3, 1e-5 * data[voxel].max(), 0.009 * data[voxel].max(), -0.02 * data[voxel].max()][n % 5]
        few, b0 = tuple(voxels[7]), 0
        data[few] = 0
        data[few][[b0, 5, 9, 11]] = [800, 300, 200, 250]  # fewer than the unknowns
        nibabel.save(nibabel.Nifti1Image(data, image.affine), f"{self.folder}/low.nii.gz")
        self.files[0] = "--data=low"
        self.dtifit("-o", "dti", "--sse", "--save_tensor")
        bvals, bvecs = np.loadtxt(f"{self.subject}/bvals"), np.loadtxt(f"{self.subject}/bvecs")
        found = {name: self.image(name) for name in ("S0", "tensor", "sse")}
        for voxel in map(tuple, voxels):
            S0, tensor, sse = fit_as_dtifit(data[voxel].astype(float), bvals, bvecs)
            self.assertLess(abs(found["S0"][voxel] - S0), 1e-5 * S0)
            self.assertLess(np.abs(found["tensor"][voxel] - tensor).max(), 2e-5 * np.abs(tensor).max())
            self.assertLess(abs(found["sse"][voxel] - sse), 1e-4 * sse)

    def test_weights_the_fit_for_wls_and_refuses_kurtosis(self):
        self.dtifit("--out=ols")
        self.dtifit("--out=wls", "--wls", "-V")
        self.assertGreater(np.abs(self.image("FA", "ols") - self.image("FA", "wls")).max(), 0)
        self.assertIn("kurtosis", self.dtifit("--out=k", "--kurt", expect=2).stderr)
        self.assertEqual(self.written("k"), [])

    def test_repeats_the_images_of_the_same_fit_and_replaces_none_that_it_has_not_made(self):
        self.dtifit("--out=dti")
        before = self.image("FA")
        os.remove(f"{self.folder}/dti_FA.nii.gz")
        self.dtifit("--out=dti")
        self.assertTrue(np.array_equal(self.image("FA"), before))
        shutil.copy(f"{self.subject}/data.nii", f"{self.folder}/other_MD.nii.gz")
        refused = self.dtifit("--out=other", expect=2)
        self.assertIn("other_MD.nii.gz", refused.stderr)
        self.assertEqual(self.written("other"), ["MD"])

    def test_a_series_whose_lowest_b_is_above_50_is_fitted_with_a_warning(self):
        """7 T scans of the HCP have b = 55 to 65 instead of 0. FSL has no threshold; voxherd tensor has an option."""
        bvals = np.loadtxt(f"{self.subject}/bvals")
        np.savetxt(f"{self.subject}/bvals", [np.where(bvals == 0, 60, bvals)], fmt="%g")
        bvecs = np.loadtxt(f"{self.subject}/bvecs")
        bvecs[0, bvals == 0] = 1
        np.savetxt(f"{self.subject}/bvecs", bvecs)
        self.assertIn("S0 is extrapolated", self.dtifit("--out=dti").stderr)
        words = ["--dwi", f"{self.subject}/data.nii", "--bvals", f"{self.subject}/bvals", "--bvecs",
                 f"{self.subject}/bvecs", "--mask", f"{self.subject}/nodif_brain_mask.nii.gz"]
        self.assertIn("--b0-threshold", run("tensor", *words, "--out", f"{self.folder}/t.h5", expect=65).stderr)
        run("tensor", *words, "--b0-threshold", "65", "--out", f"{self.folder}/t.h5")
        done = run("ballstick", *words, "--burn-in", "10", "--jumps", "10", "--sample-every", "10", "--model", "1", "--out",
                   f"{self.folder}/b.h5")
        self.assertIn("S0 is extrapolated", done.stderr)

    def test_answers_to_the_name_dtifit(self):
        os.symlink(os.path.realpath(VOXHERD), f"{self.folder}/dtifit")
        self.dtifit("--out=dti", program=[f"{self.folder}/dtifit"])
        self.assertEqual(self.written(), IMAGES)


class OtherPrograms(Phantom):
    """The same scan with noise, fitted by dipy and MRtrix3."""

    def setUp(self):
        super().setUp()
        self.raise_low_samples()
        self.inside = nibabel.load(f"{self.subject}/nodif_brain_mask.nii.gz").get_fdata() > 0
        self.dtifit("--out=ols")
        self.dtifit("--out=wls", "--wls")

    def dipy(self, method):
        from dipy.core.gradients import gradient_table
        from dipy.reconst.dti import TensorModel
        gradients = gradient_table(np.loadtxt(f"{self.subject}/bvals"), bvecs=np.loadtxt(f"{self.subject}/bvecs"), b0_threshold=50)
        fit = TensorModel(gradients, fit_method=method).fit(nibabel.load(f"{self.subject}/data.nii").get_fdata()[self.inside])
        return {"FA": fit.fa, "MD": fit.md, "L1": fit.evals[:, 0], "L2": fit.evals[:, 1], "L3": fit.evals[:, 2],
                "V1": fit.evecs[:, :, 0]}

    def mrtrix(self, *words):
        folder = tempfile.mkdtemp(dir=self.folder)
        subprocess.run(["dwi2tensor", "-quiet", f"{self.subject}/data.nii", "-fslgrad", f"{self.subject}/bvecs",
                        f"{self.subject}/bvals", *words, f"{folder}/tensor.nii"], check=True)
        subprocess.run(["tensor2metric", "-quiet", f"{folder}/tensor.nii", "-fa", f"{folder}/FA.nii", "-adc", f"{folder}/MD.nii",
                        "-num", "1,2,3", "-value", f"{folder}/L.nii", "-modulate", "none"], check=True)
        subprocess.run(["tensor2metric", "-quiet", f"{folder}/tensor.nii", "-num", "1", "-vector", f"{folder}/V1.nii",
                        "-modulate", "none"], check=True)
        maps = {name: nibabel.load(f"{folder}/{name}.nii").get_fdata()[self.inside] for name in ("FA", "MD", "L", "V1")}
        maps.update(zip(("L1", "L2", "L3"), maps.pop("L").T))
        # MRtrix's vectors have scanner axes, FSL's the axes of the image, with x reversed if that is right-handed.
        affine = nibabel.load(f"{self.subject}/data.nii").affine[:3, :3]
        axes = affine / np.linalg.norm(affine, axis=0)
        maps["V1"] = maps["V1"] @ axes * [-1 if np.linalg.det(axes) > 0 else 1, 1, 1]
        return maps

    def largest_difference(self, base, maps):
        """Of all maps, relative to the largest value of each; of V1 one minus the cosine where L1 and L2 differ by 5 %."""
        found = {name: self.image(name, base)[self.inside] for name in maps}
        differences = [np.abs(found[name] - maps[name]).max() / np.abs(maps[name]).max() for name in maps if name != "V1"]
        sharp = maps["L1"] > 1.05 * maps["L2"]
        self.assertGreater(sharp.sum(), len(sharp) / 2)
        cosines = np.abs((found["V1"] * maps["V1"]).sum(axis=1))[sharp]
        return max(*differences, 1 - cosines.min())

    @unittest.skipUnless(importlib.util.find_spec("dipy"), "no dipy")
    def test_ols_is_that_of_dipy(self):
        self.assertLess(self.largest_difference("ols", self.dipy("OLS")), 2e-5)

    @unittest.skipUnless(shutil.which("dwi2tensor"), "no MRtrix3")
    def test_both_fits_are_those_of_mrtrix(self):
        self.assertLess(self.largest_difference("ols", self.mrtrix("-ols", "-iter", "0")), 2e-5)
        self.assertLess(self.largest_difference("wls", self.mrtrix("-iter", "0")), 2e-5)

    @unittest.skipUnless(importlib.util.find_spec("dipy"), "no dipy")
    def test_wls_of_dipy_differs_because_its_weights_are_predicted_instead_of_measured_signals(self):
        data = nibabel.load(f"{self.subject}/data.nii").get_fdata()[self.inside]
        scan = [data, np.loadtxt(f"{self.subject}/bvals"), np.loadtxt(f"{self.subject}/bvecs")]
        predicted = numpy_fit(*scan)[3]
        dipy = self.dipy("WLS")["MD"]
        ours = self.image("MD", "wls")[self.inside]
        for found, weights, differs in ((ours, data ** 2, False), (dipy, predicted ** 2, False), (ours, predicted ** 2, True)):
            expected = np.trace(numpy_fit(*scan, weights)[1], axis1=1, axis2=2) / 3
            self.assertEqual(np.abs(found - expected).max() / expected.max() > 2e-5, differs)


if __name__ == "__main__":
    unittest.main()
