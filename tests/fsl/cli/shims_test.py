"""voxherd shims makes links that replace FSL's programs, in a folder of their own or in a copy of FSL made of links."""
import os
import shutil
import subprocess
import tempfile
import unittest

from program import VOXHERD, run

NAMES = ["Pipeline_NODDI_Bingham.sh", "Pipeline_NODDI_Watson.sh", "bedpostx", "bedpostx_datacheck", "bedpostx_gpu", "bedpostx_postproc.sh", "bedpostx_postproc_gpu.sh", "bedpostx_preproc.sh",
         "bedpostx_single_slice.sh", "dtifit", "probtrackx2",
         "probtrackx2_gpu", "split_parts_gpu", "xfibres", "xfibres_gpu"]


class Shims(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_shims_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make_fsl(self):
        os.makedirs(self.path("fsl", "bin"))
        os.makedirs(self.path("fsl", "data", "standard"))
        for name in ("fslmaths", "probtrackx2", "probtrackx2_gpu10.2", "bedpostx"):
            with open(self.path("fsl", "bin", name), "w") as file:
                file.write(f"#!/bin/sh\necho \"FSL's {name}\"\n")
            os.chmod(self.path("fsl", "bin", name), 0o755)

    def test_each_name_is_the_command_that_replaces_the_program(self):
        run("shims", self.path("bin"))
        self.assertEqual(sorted(os.listdir(self.path("bin"))), NAMES)
        for name in NAMES:
            done = subprocess.run([self.path("bin", name), "--help"], capture_output=True, text=True)
            own = name.replace("bedpostx_postproc.sh", "join_slices").removesuffix(".sh").removesuffix("_gpu").replace("bedpostx_postproc", "join_parts").replace("bedpostx_preproc", "split_slices").replace("bedpostx_single_slice", "fit_slice").replace("bedpostx_datacheck", "datacheck").replace("Pipeline_NODDI_Watson", "cudimot").replace("Pipeline_NODDI_Bingham", "cudimot")
            self.assertEqual((done.returncode, done.stdout), (0, ""), name)
            self.assertTrue(done.stderr.startswith(f"voxherd {own}: "), done.stderr[:80])

    def test_a_version_may_follow_the_name(self):
        names = {"probtrackx2_gpu10.2": "probtrackx2", "bedpostx_gpu11": "bedpostx", "bedpostx_datacheck9.1": "datacheck"}
        run("shims", self.path("bin"), *(word for name in names for word in ("--name", name)))
        for name, own in names.items():
            done = subprocess.run([self.path("bin", name), "--help"], capture_output=True, text=True)
            self.assertTrue(done.stderr.startswith(f"voxherd {own}: "), done.stderr[:80])
        self.assertIn("fslmaths", run("shims", self.path("other"), "--name", "fslmaths", expect=2).stderr)

    def test_a_copy_of_FSL_keeps_its_other_programs(self):
        self.make_fsl()
        run("shims", self.path("copy"), "--fsldir", self.path("fsl"))
        self.assertTrue(os.path.isdir(self.path("copy", "data", "standard")))
        self.assertEqual(sorted(os.listdir(self.path("copy", "bin"))), sorted([*NAMES, "fslmaths", "probtrackx2_gpu10.2"]))
        self.assertEqual(subprocess.check_output([self.path("copy", "bin", "fslmaths")], text=True), "FSL's fslmaths\n")
        for name in (*NAMES, "probtrackx2_gpu10.2"):
            self.assertEqual(os.path.realpath(self.path("copy", "bin", name)), os.path.realpath(VOXHERD))
        self.assertEqual(sorted(os.listdir(self.path("fsl", "bin"))),
                         ["bedpostx", "fslmaths", "probtrackx2", "probtrackx2_gpu10.2"])
        self.assertFalse(os.path.islink(self.path("fsl", "bin", "bedpostx")))

    def test_replaces_nothing_and_may_be_repeated(self):
        os.makedirs(self.path("bin"))
        with open(self.path("bin", "probtrackx2"), "w") as file:
            file.write("mine")
        refused = run("shims", self.path("bin"), expect=2)
        self.assertIn("bin/probtrackx2 exists", refused.stderr)
        self.assertEqual(os.listdir(self.path("bin")), ["probtrackx2"])
        os.remove(self.path("bin", "probtrackx2"))
        for _ in range(2):
            run("shims", self.path("bin"))
        self.assertEqual(sorted(os.listdir(self.path("bin"))), NAMES)

    def test_follows_a_program_that_has_moved(self):
        """As after an update into another folder, or after the old folder was removed."""
        self.make_fsl()
        for number in (1, 2):
            os.makedirs(self.path(f"version{number}"))
            shutil.copy(VOXHERD, self.path(f"version{number}", "voxherd"))
        for words in ([self.path("bin")], [self.path("copy"), "--fsldir", self.path("fsl")]):
            for number in (1, 2):
                subprocess.run([self.path(f"version{number}", "voxherd"), "shims", *words], check=True, capture_output=True)
        shutil.rmtree(self.path("version2"))
        for words in ([self.path("bin")], [self.path("copy"), "--fsldir", self.path("fsl")]):
            subprocess.run([self.path("version1", "voxherd"), "shims", *words], check=True, capture_output=True)
        for folder in (self.path("bin"), self.path("copy", "bin")):
            self.assertEqual({os.path.realpath(os.path.join(folder, name)) for name in NAMES}, {os.path.realpath(self.path("version1", "voxherd"))})
        self.assertEqual(os.readlink(self.path("copy", "bin", "fslmaths")), self.path("fsl", "bin", "fslmaths"))

    def test_links_to_other_programs_are_kept(self):
        os.makedirs(self.path("bin"))
        for target in (self.path("another"), "/bin/true"):
            os.symlink(target, self.path("bin", "probtrackx2"))
            self.assertIn("bin/probtrackx2 exists", run("shims", self.path("bin"), expect=2).stderr)
            self.assertEqual(os.readlink(self.path("bin", "probtrackx2")), target)
            os.remove(self.path("bin", "probtrackx2"))

    def test_refuses_a_folder_inside_of_FSL_and_one_that_is_not_FSL(self):
        self.make_fsl()
        self.assertIn("lies in it", run("shims", self.path("fsl", "x"), "--fsldir", self.path("fsl"), expect=2).stderr)
        self.assertIn("no folder bin", run("shims", self.path("x"), "--fsldir", self.folder, expect=66).stderr)
        self.assertFalse(os.path.exists(self.path("fsl", "x")))


if __name__ == "__main__":
    unittest.main()
