"""FSL's chain of scripts that fits one slice after another: bedpostx_preproc.sh, bedpostx_single_slice.sh for each slice,
bedpostx_postproc.sh, as TRACULA calls them."""
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

from program import files_below, run

CHAIN = ["--nf=2", "--fudge=1", "--bi=200", "--nj=500", "--se=10", "--model=1", "--cnonlinear"]
FLAGS = ["-n", "2", "-b", "200", "-j", "500", "-s", "10", "-model", "1"]
SIZE = (9, 8, 7)
EMPTY = (0, 6)


class Slices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_slices_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("shims", cls.path("bin"))
        run("phantom", "dwi", "--out", cls.path("scan"), "--size", "9x8x7", "--directions", "32", "--threads", "1")
        cls.data = nibabel.load(cls.path("scan", "data.nii"))
        mask = np.asarray(nibabel.load(cls.path("scan", "nodif_brain_mask.nii.gz")).dataobj).copy()
        mask[:, :, list(EMPTY)] = 0
        cls.mask = nibabel.Nifti1Image(mask, cls.data.affine)
        nibabel.save(cls.mask, cls.path("scan", "nodif_brain_mask.nii.gz"))
        nibabel.save(nibabel.Nifti1Image(np.asarray(cls.data.dataobj)[..., 0], cls.data.affine), cls.path("scan", "nodif.nii.gz"))
        shutil.copytree(cls.path("scan"), cls.path("whole"))
        run("bedpostx", cls.path("whole"), *FLAGS, "--quiet")

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def call(self, program, *words, expect=0, **variables):
        done = subprocess.run([self.path("bin", program), *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, **variables})
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stderr

    def fit(self, subject, slices=range(SIZE[2]), **variables):
        self.call("bedpostx_preproc.sh", subject, **variables)
        for k in slices:
            self.call("bedpostx_single_slice.sh", subject, k, *CHAIN, **variables)

    def copy(self, name):
        shutil.copytree(self.path("scan"), self.path(name))
        return self.path(name)

    def image(self, *names):
        return nibabel.load(self.path(*names)).get_fdata()

    def expect_like_bedpostx(self, folder, ending=".nii.gz"):
        """The random numbers of a slice are others than those of its voxels in the complete image."""
        inside = np.asarray(self.mask.dataobj) > 0
        mean = [self.image(f, f"mean_f1samples{e}") for f, e in (("whole.bedpostX", ".nii.gz"), (folder, ending))]
        self.assertGreater(np.corrcoef(mean[0][inside], mean[1][inside])[0, 1], 0.98)
        self.assertFalse(mean[1][~inside].any())
        sharp = inside & (self.image("whole.bedpostX", "dyads1_dispersion.nii.gz") < 0.02)
        self.assertGreater(sharp.sum(), 20)
        dyads = [self.image(f, f"dyads1{e}")[sharp] for f, e in (("whole.bedpostX", ".nii.gz"), (folder, ending))]
        angles = np.degrees(np.arccos(np.clip(abs((dyads[0] * dyads[1]).sum(1)), 0, 1)))
        self.assertLess(np.median(angles), 1)

    def test_the_slices_of_a_mask_in_another_order_are_those_of_the_series(self):
        subject = self.copy("other_order")
        inside = np.asarray(self.mask.dataobj) > 0
        inside[:4, :, 2] = False  # else it is its own mirror image
        mask = nibabel.Nifti1Image(inside.astype(np.uint8), self.mask.affine)
        nibabel.save(mask.as_reoriented([[0, -1], [1, 1], [2, -1]]), os.path.join(subject, "nodif_brain_mask.nii.gz"))
        self.fit(subject)
        slices = [self.image("other_order", f"nodif_brain_mask_slice_{k:04}.nii.gz")[..., 0] for k in range(SIZE[2])]
        np.testing.assert_array_equal(np.stack(slices, axis=2) > 0, inside)
        self.call("bedpostx_postproc.sh", subject)
        fraction = nibabel.load(self.path("other_order.bedpostX", "mean_f1samples.nii.gz"))
        np.testing.assert_allclose(fraction.affine, self.data.affine)
        np.testing.assert_array_equal(fraction.get_fdata() > 0, inside)

    def test_the_chain_gives_the_folder_of_one_bedpostx_also_where_slices_are_empty(self):
        subject = self.copy("chain")
        self.fit(subject)
        slices = files_below(self.path("chain.bedpostX", "diff_slices"))
        for k in range(SIZE[2]):
            self.assertIn(f"data_slice_{k:04}/th1samples.nii.gz", slices)
            th = nibabel.load(self.path("chain.bedpostX", "diff_slices", f"data_slice_{k:04}", "th1samples.nii.gz"))
            self.assertEqual(th.shape, (*SIZE[:2], 1, 50))
            self.assertEqual(bool(th.get_fdata().any()), k not in EMPTY)
        self.call("bedpostx_postproc.sh", subject)
        self.expect_like_bedpostx("chain.bedpostX")
        expected = [name for name in files_below(self.path("whole.bedpostX"))]
        self.assertEqual(files_below(self.path("chain.bedpostX")), expected)
        for name in expected:
            if not name.endswith(".nii.gz"):
                continue
            one, other = nibabel.load(self.path("whole.bedpostX", name)), nibabel.load(self.path("chain.bedpostX", name))
            self.assertEqual(one.shape, other.shape, name)
            np.testing.assert_allclose(one.affine, other.affine, atol=1e-5, err_msg=name)
        self.assertEqual([name for name in os.listdir(subject) if "_slice_" in name], [])
        self.assertEqual(np.asarray(nibabel.load(self.path("chain.bedpostX", "nodif_brain_mask.nii.gz")).dataobj).sum(),
                         np.asarray(self.mask.dataobj).sum())

    def test_a_slice_lies_where_it_is_in_the_image(self):
        subject = self.copy("place")
        self.call("bedpostx_preproc.sh", subject)
        for k in (0, 3, 6):
            piece = nibabel.load(f"{subject}/data_slice_{k:04}.nii.gz")
            self.assertTrue(np.array_equal(piece.get_fdata()[:, :, 0], np.asarray(self.data.dataobj)[:, :, k]))
            where = self.data.affine.copy()
            where[:3, 3] += k * where[:3, 2]
            np.testing.assert_allclose(piece.get_sform(), where, atol=1e-4)
            np.testing.assert_allclose(piece.get_qform(), where, atol=1e-3)
            self.assertEqual([int(piece.header[c]) for c in ("sform_code", "qform_code")],
                             [int(self.data.header[c]) for c in ("sform_code", "qform_code")])

    def test_obeys_FSLOUTPUTTYPE(self):
        subject = self.copy("plain")
        self.fit(subject, FSLOUTPUTTYPE="NIFTI")
        self.call("bedpostx_postproc.sh", subject, FSLOUTPUTTYPE="NIFTI")
        made = [name for name in files_below(self.path("plain.bedpostX")) if ".nii" in name]
        self.assertEqual([name for name in made if name.endswith(".gz")], ["nodif_brain_mask.nii.gz"])  # a copy
        self.expect_like_bedpostx("plain.bedpostX", ".nii")

    def test_a_missing_slice_and_other_options_are_refused(self):
        subject = self.copy("gap")
        self.fit(subject, slices=range(SIZE[2] - 1))
        self.assertIn("data_slice_0006/voxherd.h5: no such file", self.call("bedpostx_postproc.sh", subject, expect=66))
        self.call("bedpostx_single_slice.sh", subject, 6, *[word.replace("--nj=500", "--nj=600") for word in CHAIN])
        self.assertIn("jumps: 600 in the file, 500 now", self.call("bedpostx_postproc.sh", subject, expect=65))
        self.assertTrue(os.path.isdir(self.path("gap.bedpostX", "diff_slices")))
        self.assertIn("SLICE is a number", self.call("bedpostx_single_slice.sh", subject, "--nf=2", expect=2))


if __name__ == "__main__":
    unittest.main()
