"""bedpostx_datacheck prints what FSL's script does: scripts look for its words on standard output and for an empty standard
error."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from program import run


class Datacheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_datacheck_")
        self.addCleanup(shutil.rmtree, self.folder)
        run("shims", self.path("bin"))
        run("phantom", "dwi", "--out", self.path("scan"), "--size", "9x8x7", "--directions", "12", "--bvalues", "1000", "--threads",
            "1")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def check(self, folder="scan", expect=0):
        done = subprocess.run([self.path("bin", "bedpostx_datacheck"), folder], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (expect, ""))
        return done.stdout

    def read(self, name):
        with open(self.path("scan", name)) as file:
            return file.read()

    def write(self, name, text):
        with open(self.path("scan", name), "w") as file:
            file.write(text)

    def test_prints_headers_and_counts_of_a_folder_that_is_right(self):
        volumes = len(self.read("bvals").split())
        said = self.check()
        self.assertRegex(said, r"^scan/data\ndata_type\t[A-Z0-9]+\ndim1\t\t9\ndim2\t\t8\ndim3\t\t7\ndim4\t\t%d\ndatatype\t\d+\n" % volumes)
        self.assertIn("scan/nodif_brain_mask\ndata_type\tFLOAT32\n", said)
        counts = re.findall(r" num (lines|words) in scan/(bvals|bvecs) \n(\d+)\n", said)
        self.assertEqual(counts, [("lines", "bvals", "1"), ("words", "bvals", str(volumes)), ("lines", "bvecs", "3"),
                                  ("words", "bvecs", str(3 * volumes))])
        self.assertTrue(said.endswith(f"{3 * volumes}\n"), said)

    def test_names_what_does_not_exist(self):
        for name in ("data.nii", "nodif_brain_mask.nii.gz", "bvecs"):
            os.rename(self.path("scan", name), self.path("kept"))
            self.assertIn(f"scan/{name.split('.')[0]} does not exist\n", self.check())
            os.rename(self.path("kept"), self.path("scan", name))
        self.assertEqual(self.check("nobody").count("does not exist"), 4)
        self.assertIn("SUBJECT_DIR is missing", subprocess.run([self.path("bin", "bedpostx_datacheck")], capture_output=True,
                                                               text=True).stderr)

    def test_names_sizes_that_do_not_match(self):
        bvals, bvecs = self.read("bvals").split(), self.read("bvecs")
        for text, problem in ((" ".join(bvals[1:]), "number of elements in bvals is not equal to number of vols in data"),
                              ("\n".join([" ".join(bvals)] * 2), "bvals is not 1xN or Nx1 format")):
            self.write("bvals", text + "\n")
            self.assertIn(problem, self.check())
        self.write("bvals", "\n\n".join(bvals) + "\n\n")
        self.assertTrue(self.check().endswith(f"{3 * len(bvals)}\n"))  # a column, blank lines: no problem
        for text, problem in ((bvecs.splitlines()[0], "bvecs is not 3xN or Nx3 format"),
                              ("1 0 0\n0 1 0\n", "number of vectors in bvecs is not equal to number of vols in data"),
                              ("1 0 0\n0 1 0\n", "bvecs and bvals are incompatible")):
            self.write("bvecs", text)
            self.assertIn(problem, self.check())
        self.write("bvecs", bvecs)
        run("phantom", "dwi", "--out", self.path("other"), "--size", "5x8x7", "--directions", "12", "--threads", "1")
        shutil.copy(self.path("other", "nodif_brain_mask.nii.gz"), self.path("scan"))
        self.assertIn("data dimensions do not match mask dimensions", self.check())


if __name__ == "__main__":
    unittest.main()
