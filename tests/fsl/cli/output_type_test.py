"""FSLOUTPUTTYPE names the type of the images that FSL's programs write."""
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

from program import VOXHERD, files_below, run

TYPES = {"NIFTI_GZ": (".nii.gz", nibabel.Nifti1Image), "NIFTI": (".nii", nibabel.Nifti1Image),
         "NIFTI2_GZ": (".nii.gz", nibabel.Nifti2Image), "NIFTI2": (".nii", nibabel.Nifti2Image)}


class OutputType(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_output_type_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("shims", cls.path("bin"))
        run("phantom", "dwi", "--out", cls.path("scan"), "--size", "7x6x5", "--directions", "12", "--threads", "1")
        for name, words in cls.commands("GZ").items():
            cls.call(words, FSLOUTPUTTYPE="")  # as without the variable

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def call(cls, words, expect=0, **variables):
        done = subprocess.run([cls.path("bin", words[0]), *words[1:]], capture_output=True, text=True, cwd=cls.folder,
                              env={**os.environ, **variables})
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout + done.stderr

    @classmethod
    def commands(cls, name):
        """Each makes a folder; in this order."""
        scan = ["-m", "scan/nodif_brain_mask", "-r", "scan/bvecs", "-b", "scan/bvals"]
        chain = ["-n", "1", "--bi=10", "-j", "20", "-s", "10", "-model", "1"]
        shutil.copytree(cls.path("scan"), cls.path(name), dirs_exist_ok=True)
        os.makedirs(cls.path("dti_" + name), exist_ok=True)
        return {f"{name}.bedpostX": ["bedpostx", name, *chain],
                f"xfibres_{name}": ["xfibres", "-k", "scan/data", *scan, *chain, f"--logdir=xfibres_{name}"],
                f"dti_{name}": ["dtifit", "-k", "scan/data", *scan, "-o", f"dti_{name}/d", "--sse", "--save_tensor"],
                f"track_{name}": ["probtrackx2", "-s", f"{name}.bedpostX/merged", "-m", f"{name}.bedpostX/nodif_brain_mask", "-x",
                                  f"{name}.bedpostX/nodif_brain_mask", "-P", "2", "--opd", "--omatrix2", "--target2=scan/nodif_brain_mask",
                                  "--os2t", "--targetmasks=scan/nodif_brain_mask", f"--dir=track_{name}"]}

    def images(self, folder):
        return [name for name in files_below(self.path(folder)) if ".nii" in name]

    def test_every_program_writes_the_type_with_the_same_values(self):
        for kind, (ending, form) in TYPES.items():
            for folder, words in self.commands(kind).items():
                with self.subTest(kind=kind, program=words[0]):
                    self.call(words, FSLOUTPUTTYPE=kind)
                    first = folder.replace(kind, "GZ")
                    images = self.images(folder)
                    self.assertEqual(images, [name.replace(".nii.gz", ending) for name in self.images(first)])
                    self.assertGreater(len(images), 2)
                    for name in images:
                        one = nibabel.load(self.path(folder, name))
                        self.assertIs(type(one), form, name)
                        other = nibabel.load(self.path(first, name.removesuffix(ending) + ".nii.gz"))
                        self.assertTrue(np.array_equal(one.get_fdata(), other.get_fdata(), equal_nan=True), name)

    def test_no_image_of_the_other_ending_is_left(self):
        words = self.commands("twice")["twice.bedpostX"]
        self.call(words, FSLOUTPUTTYPE="NIFTI_GZ")
        before = self.images("twice.bedpostX")
        self.call([*words, "--overwrite"], FSLOUTPUTTYPE="NIFTI")
        self.assertEqual(self.images("twice.bedpostX"), [name.removesuffix(".gz") for name in before])

    def test_dtifit_keeps_an_image_of_either_ending_that_it_has_not_written(self):
        os.makedirs(self.path("dti_kept"))
        with open(self.path("dti_kept", "d_FA.nii"), "w") as file:
            file.write("mine")
        self.assertIn("d_FA.nii exists", self.call(self.commands("kept")["dti_kept"], expect=2, FSLOUTPUTTYPE="NIFTI_GZ"))

    def test_types_of_two_files_are_refused_before_anything_is_computed(self):
        for words in self.commands("pair").values():
            with self.subTest(program=words[0]):
                said = self.call(words, expect=2, FSLOUTPUTTYPE="NIFTI_PAIR")
                self.assertIn("FSLOUTPUTTYPE=NIFTI_PAIR: expected NIFTI_GZ, NIFTI, NIFTI2_GZ or NIFTI2", said)
        self.assertFalse(os.path.exists(self.path("track_pair")))

    def test_the_samples_are_still_read_from_the_result_behind_them(self):
        commands = self.commands("again")
        self.call(commands["again.bedpostX"], FSLOUTPUTTYPE="NIFTI")
        done = subprocess.run([VOXHERD, *commands["track_again"]], capture_output=True, text=True, cwd=self.folder)
        self.assertIn("merged_th1samples.nii and the others were exported", done.stderr)


if __name__ == "__main__":
    unittest.main()
