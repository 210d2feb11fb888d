"""voxherd xfibres, and FSL's chain split_parts_gpu, xfibres_gpu for each part, bedpostx_postproc_gpu.sh."""
import os
import re
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

from program import VOXHERD, files_below, run

CHAIN = ["--nf=2", "--fudge=1", "--bi=40", "--nj=50", "--se=10", "--model=1", "--cnonlinear"]


class Xfibres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_xfibres_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.subject = os.path.join(cls.folder, "subject")
        run("phantom", "dwi", "--out", cls.subject, "--size", "9x8x7", "--directions", "12", "--threads", "1")
        run("shims", os.path.join(cls.folder, "bin"))
        run("bedpostx", cls.subject, "-n", "2", "-b", "40", "-j", "50", "-s", "10", "-model", "1", "--quiet")
        cls.voxels = int((nibabel.load(f"{cls.subject}/nodif_brain_mask.nii.gz").get_fdata() > 0).sum())

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def call(self, program, *words, expect=0):
        done = subprocess.run([self.path("bin", program), *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def prepare(self, name, parts):
        """What UK Biobank's script does before the parts."""
        out = self.path(f"{name}.bedpostX")
        os.makedirs(f"{out}/diff_parts")
        for file in ("bvals", "bvecs", "nodif_brain_mask.nii.gz"):
            shutil.copy(f"{self.subject}/{file}", out)
        self.call("split_parts_gpu", f"{self.subject}/data", f"{self.subject}/nodif_brain_mask",
                  f"{self.subject}/bvals", f"{self.subject}/bvecs", "NULL", 0, parts, out)
        return out

    def fit_part(self, out, part, parts, chain=CHAIN, expect=0):
        return self.call("xfibres_gpu", f"--data={out}/data_{part}", f"--mask={out}/nodif_brain_mask", "-b",
                         f"{out}/bvals", "-r", f"{out}/bvecs", "--forcedir",
                         f"--logdir={out}/diff_parts/data_part_{part:04}", *chain, self.subject, part, parts, self.voxels,
                         expect=expect)

    def join(self, out, parts, chain=CHAIN, expect=0):
        return self.call("bedpostx_postproc_gpu.sh", f"--data={self.subject}/data", f"--mask={out}/nodif_brain_mask",
                         "-b", f"{out}/bvals", "-r", f"{out}/bvecs", "--forcedir", f"--logdir={out}/diff_parts", *chain,
                         self.voxels, parts, self.subject, "/fsl", expect=expect)

    def expect_the_folder_of_one_bedpostx(self, out):
        one = self.path("subject.bedpostX")
        names = [name for name in files_below(one) if name.endswith((".nii.gz", "eye.mat")) and "mask" not in name]
        self.assertGreater(len(names), 20)
        for name in names:
            with open(f"{one}/{name}", "rb") as a, open(f"{out}/{name}", "rb") as b:
                self.assertEqual(a.read(), b.read(), name)
        self.assertIn("same", run("compare", f"{one}/voxherd.h5", f"{out}/voxherd.h5").stdout)

    def test_parts_give_the_bytes_of_one_bedpostx_however_many_there_are(self):
        for parts in (1, 4):
            with self.subTest(parts=parts):
                out = self.prepare(f"split{parts}", parts)
                for part in reversed(range(parts)):
                    self.fit_part(out, part, parts)
                self.join(out, parts)
                self.expect_the_folder_of_one_bedpostx(out)
                self.assertEqual(files_below(f"{out}/diff_parts"), [])

    def test_there_may_be_more_parts_than_voxels(self):
        mask = nibabel.load(f"{self.subject}/nodif_brain_mask.nii.gz")
        inside = np.asarray(mask.dataobj).copy()
        kept = np.argwhere(inside > 0)[[5, 50]]
        inside[:] = 0
        inside[tuple(kept.T)] = 1
        out = self.prepare("tiny", 5)
        nibabel.save(nibabel.Nifti1Image(inside, mask.affine), f"{out}/nodif_brain_mask.nii.gz")
        sizes = []
        for part in range(5):
            self.fit_part(out, part, 5)
            said = run("info", f"{out}/diff_parts/data_part_{part:04}/voxherd.h5", "--verbose").stdout
            sizes.append(int(re.search(r"part.*?voxels\W+(\d+)", said, re.DOTALL)[1]))
        self.assertEqual(sizes, [1, 1, 0, 0, 0])
        self.join(out, 5)
        one, joined = (nibabel.load(f"{folder}/merged_ph1samples.nii.gz").get_fdata()
                       for folder in (self.path("subject.bedpostX"), out))
        self.assertTrue(np.array_equal(joined[inside > 0], one[inside > 0]))
        self.assertFalse(joined[inside == 0].any())

    def test_a_missing_part_and_other_options_are_refused_and_nothing_is_written(self):
        out = self.prepare("wrong", 2)
        self.fit_part(out, 0, 2)
        self.assertIn("data_part_0001", self.join(out, 2, expect=66))
        self.fit_part(out, 1, 2)
        other = [word.replace("--nj=50", "--nj=60") for word in CHAIN]
        self.assertIn("jumps: 50 in the file, 60 now", self.join(out, 2, other, expect=65))
        self.assertIn("expected the", self.join(out, 1, expect=65))
        self.assertFalse(os.path.exists(f"{out}/voxherd.h5"))
        self.assertFalse(os.path.exists(f"{out}/xfms"))
        self.join(out, 2)
        self.expect_the_folder_of_one_bedpostx(out)

    def test_called_again_it_is_complete_and_writes_missing_images(self):
        out = self.prepare("again", 2)
        for part in range(2):
            self.fit_part(out, part, 2)
        self.join(out, 2)
        os.remove(f"{out}/merged_th1samples.nii.gz")
        self.join(out, 2)
        self.expect_the_folder_of_one_bedpostx(out)
        other = [word.replace("--nj=50", "--nj=60") for word in CHAIN]
        self.assertIn("jumps: 50 in the file, 60 now", self.join(out, 2, other, expect=2))

    def test_parts_with_other_inputs_than_those_of_the_command_are_refused(self):
        mask = nibabel.load(f"{self.subject}/nodif_brain_mask.nii.gz")
        deviation = np.zeros((*mask.shape, 9), np.float32)
        deviation[..., 0] = 0.05
        nibabel.save(nibabel.Nifti1Image(deviation, mask.affine), self.path("dev.nii.gz"))
        with_deviation = [*CHAIN, "--gradnonlin=" + self.path("dev")]
        out = self.prepare("mixed", 2)
        self.fit_part(out, 0, 2)
        self.fit_part(out, 1, 2, with_deviation)
        for chain in (CHAIN, with_deviation):
            self.assertIn("inputs.grad_dev", self.join(out, 2, chain, expect=65))
        self.fit_part(out, 1, 2, ["--overwrite", *CHAIN])
        self.assertIn("inputs.grad_dev", self.join(out, 2, with_deviation, expect=65))
        shutil.copy(f"{out}/bvals", self.path("bvals"))
        with open(f"{out}/bvals") as file:
            bvals = file.read()
        with open(f"{out}/bvals", "w") as file:
            file.write(bvals.replace("1000", "990"))
        self.assertIn("inputs.bvals", self.join(out, 2, expect=65))
        shutil.copy(self.path("bvals"), f"{out}/bvals")
        self.assertFalse(os.path.exists(f"{out}/voxherd.h5"))
        self.join(out, 2)
        self.expect_the_folder_of_one_bedpostx(out)

    def test_parts_with_gradient_deviation_are_joined_and_named(self):
        mask = nibabel.load(f"{self.subject}/nodif_brain_mask.nii.gz")
        nibabel.save(nibabel.Nifti1Image(np.full((*mask.shape, 9), 0.01, np.float32), mask.affine), self.path("all.nii.gz"))
        chain, out = [*CHAIN, "--gradnonlin=" + self.path("all")], self.prepare("deviated", 2)
        for part in range(2):
            self.fit_part(out, part, 2, chain)
        self.join(out, 2, chain)
        self.assertIn("all.nii.gz", run("info", "--verbose", f"{out}/voxherd.h5").stdout)

    def test_alone_it_writes_the_files_that_nipype_expects(self):
        out = self.path("alone")
        self.call("xfibres", f"--data={self.subject}/data.nii", f"--mask={self.subject}/nodif_brain_mask.nii.gz",
                  f"--bvecs={self.subject}/bvecs", f"--bvals={self.subject}/bvals", f"--logdir={out}", *CHAIN)
        for name in ("dyads1", "dyads2", "th1samples", "ph2samples", "f1samples", "mean_f2samples", "mean_dsamples",
                     "mean_S0samples"):
            self.assertTrue(os.path.exists(f"{out}/{name}.nii.gz"), name)
        merged = nibabel.load(self.path("subject.bedpostX", "merged_th1samples.nii.gz")).get_fdata()
        self.assertTrue(np.array_equal(nibabel.load(f"{out}/th1samples.nii.gz").get_fdata(), merged))

    def test_a_dry_run_and_an_error_leave_no_folder(self):
        words = "-k", f"{self.subject}/data", "-m", f"{self.subject}/nodif_brain_mask", "-r", f"{self.subject}/bvecs", "-b", f"{self.subject}/bvals"
        self.call("xfibres", *words, "--ld=" + self.path("new", "dry", ""), "--dry-run")
        self.call("xfibres", *words[:-1], self.path("missing"), "--ld=" + self.path("new", "dry"), expect=66)
        self.assertFalse(os.path.exists(self.path("new")))
        os.mkdir(self.path("kept"))
        self.call("xfibres", *words, "--ld=" + self.path("kept"), "--forcedir", "--dry-run")
        self.assertEqual(os.listdir(self.path("kept")), [])

    def test_has_the_defaults_of_xfibres(self):
        self.call("xfibres", "-k", f"{self.subject}/data", "-m", f"{self.subject}/nodif_brain_mask", "-r",
                  f"{self.subject}/bvecs", "-b", f"{self.subject}/bvals", "--ld=" + self.path("d"), "--bi=10", "--nj=10",
                  "--se=10")
        described = run("info", "--verbose", self.path("d", "voxherd.h5")).stdout
        self.assertRegex(described, r"fibres\W+1\b")
        self.assertRegex(described, r"model\W+1\b")
        self.assertFalse(os.path.exists(self.path("d", "dyads2.nii.gz")))


if __name__ == "__main__":
    unittest.main()
