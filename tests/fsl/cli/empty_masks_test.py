"""Under FSL's names an empty mask is a mask: nothing is fitted, started, reached, stopped or left out."""
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

from program import run

CHAIN = ["--nf=2", "--bi=20", "--nj=50", "--se=10", "--model=1"]


class EmptyMasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_empty_masks_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("shims", cls.path("bin"))
        run("phantom", "dwi", "--preset", "toy", "--fibres", "2", "--out", cls.path("scan"), "--threads", "1")
        run("bedpostx", cls.path("scan"), "-n", "2", "-b", "50", "-j", "50", "-s", "5", "-model", "1", "--quiet")
        ends = nibabel.load(cls.path("scan", "truth", "ends.nii.gz"))
        labels = np.asarray(ends.dataobj)
        for name, inside in [(f"r{k}", labels == k) for k in (7, 8, 9)] + [("empty", labels < 0)]:
            nibabel.save(nibabel.Nifti1Image(inside.astype(np.uint8), ends.affine), cls.path(name + ".nii.gz"))

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def call(self, program, *words, expect=0):
        done = subprocess.run([self.path("bin", program), *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def track(self, name, *words):
        return self.call("probtrackx2", "-s", "scan.bedpostX/merged", "-m", "scan.bedpostX/nodif_brain_mask", "--forcedir",
                         "-P", 20, "--dir=" + name, *words)

    def text(self, *names):
        with open(self.path(*names)) as file:
            return file.read()

    def image(self, *names):
        return nibabel.load(self.path(*names)).get_fdata()

    def write_list(self, name, *masks):
        with open(self.path(name), "w") as file:
            file.write("\n".join(masks) + "\n")
        return name

    def test_xfibres_writes_all_images_of_zeros(self):
        scan = [f"--data=scan/data", "-r", "scan/bvecs", "-b", "scan/bvals", "--forcedir", *CHAIN]
        self.call("xfibres", *scan, "--mask=empty", "--logdir=none")
        self.call("xfibres", *scan, "--mask=r7", "--logdir=some")
        self.assertEqual(sorted(os.listdir(self.path("none"))), sorted(os.listdir(self.path("some"))))
        for name in os.listdir(self.path("none")):
            if not name.endswith(".nii.gz"):
                continue
            one, other = nibabel.load(self.path("none", name)), nibabel.load(self.path("some", name))
            self.assertEqual(one.shape, other.shape, name)
            self.assertFalse(one.get_fdata().any(), name)
        run("verify", self.path("none", "voxherd.h5"))

    def test_xfibres_takes_a_compressed_series_and_deviations_with_it(self):
        data = nibabel.load(self.path("scan", "data.nii"))
        nibabel.save(data, self.path("data.nii.gz"))
        nibabel.save(nibabel.Nifti1Image(np.zeros((*data.shape[:3], 9), np.float32), data.affine), self.path("dev.nii.gz"))
        self.call("xfibres", "-k", "data", "-m", "empty", "-r", "scan/bvecs", "-b", "scan/bvals", "--gradnonlin=dev",
                  "--logdir=bent", *CHAIN)
        self.assertFalse(self.image("bent", "f1samples.nii.gz").any())

    def test_bedpostx_and_dtifit_write_zeros(self):
        shutil.copytree(self.path("scan"), self.path("none_inside"))
        shutil.copy(self.path("empty.nii.gz"), self.path("none_inside", "nodif_brain_mask.nii.gz"))
        self.call("bedpostx", "none_inside", "-n", 1, "-b", 20, "-j", 20, "-s", 2, "-model", 1)
        self.assertFalse(self.image("none_inside.bedpostX", "merged_th1samples.nii.gz").any())
        self.call("dtifit", "-k", "scan/data", "-m", "empty", "-r", "scan/bvecs", "-b", "scan/bvals", "-o", "dti", "--sse")
        for name in ("FA", "V1", "MO", "sse"):
            self.assertFalse(self.image(f"dti_{name}.nii.gz").any(), name)

    def test_empty_exclusion_and_stop_masks_change_nothing(self):
        self.track("plain", "-x", "r7", "--opd")
        for option in ("avoid", "stop", "wtstop"):
            with self.subTest(option=option):
                self.track(option, "-x", "r7", "--opd", f"--{option}=empty")
                self.assertEqual(self.text("plain", "waytotal"), self.text(option, "waytotal"))
                self.assertTrue(np.array_equal(self.image("plain", "fdt_paths.nii.gz"), self.image(option, "fdt_paths.nii.gz")))

    def test_an_empty_waypoint_is_never_passed(self):
        self.track("way", "-x", "r7", "--opd", "--waypoints=empty")
        self.assertEqual(self.text("way", "waytotal").split(), ["0"])
        self.assertFalse(self.image("way", "fdt_paths.nii.gz").any())

    def test_no_streamline_reaches_an_empty_target(self):
        self.track("targets", "-x", "r7", "--os2t", "--s2tastext", "--targetmasks=" + self.write_list("t", "empty", "r8"))
        self.assertFalse(self.image("targets", "seeds_to_empty.nii.gz").any())
        self.assertTrue(self.image("targets", "seeds_to_r8.nii.gz").any())
        table = np.loadtxt(self.path("targets", "matrix_seeds_to_all_targets"))
        self.assertFalse(table[:, 0].any())
        self.assertTrue(table[:, 1].any())

    def test_an_empty_seed_starts_nothing(self):
        done = self.track("seed", "-x", "empty", "--opd", "--omatrix1", "--os2t", "--targetmasks=r8")
        self.assertIn("there are no seeds", done.stdout)
        self.assertEqual(self.text("seed", "waytotal").split(), ["0"])
        for name in ("fdt_paths.nii.gz", "seeds_to_r8.nii.gz"):
            self.assertFalse(self.image("seed", name).any())
        self.assertEqual(self.text("seed", "fdt_matrix1.dot").split(), ["0", "0", "0"])

    def test_empty_masks_of_matrices_have_no_columns(self):
        self.track("matrices", "-x", "r7", "--omatrix2", "--target2=empty", "--omatrix3", "--target3=empty")
        self.assertEqual(self.text("matrices", "fdt_matrix2.dot").split()[1:], ["0", "0"])
        self.assertEqual(self.text("matrices", "fdt_matrix3.dot").split(), ["0", "0", "0"])

    def test_an_empty_region_of_a_network_is_a_row_and_a_column_of_zeros(self):
        self.track("all", "--network", "-x", self.write_list("three", "r7", "r8", "r9"), "--opd")
        self.track("one_empty", "--network", "-x", self.write_list("four", "r7", "empty", "r8", "r9"), "--opd")
        matrix, full = (np.loadtxt(self.path(name, "fdt_network_matrix")) for name in ("one_empty", "all"))
        self.assertEqual(matrix.shape, (4, 4))
        self.assertFalse(matrix[1].any() or matrix[:, 1].any())
        kept = matrix[np.ix_((0, 2, 3), (0, 2, 3))]
        self.assertGreater(full.sum(), 0)
        self.assertTrue(np.array_equal(kept, full))
        self.assertEqual(self.text("one_empty", "waytotal").split()[1], "0")

    def test_voxherds_own_commands_still_refuse_it(self):
        said = run("track", "--samples", self.path("scan.bedpostX"), "--seed-image", self.path("r7.nii.gz"), "--exclude",
                   self.path("empty.nii.gz"), "--out", self.path("own.h5"), expect=65).stderr
        self.assertIn("empty.nii.gz: 0 of ", said)
        said = run("tensor", "--dwi", self.path("scan", "data.nii"), "--bvals", self.path("scan", "bvals"), "--bvecs",
                   self.path("scan", "bvecs"), "--mask", self.path("empty.nii.gz"), "--out", self.path("own.h5"), expect=65).stderr
        self.assertIn("expected at least one", said)


if __name__ == "__main__":
    unittest.main()
