"""Every analysis of a diffusion series warns if other directions than those of the table fit it clearly better."""
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import VOXHERD, run

WARNING = "the directions do not fit the image"
DATA = os.environ.get("VOXHERD_DATA", "")
ANALYSES = {
    "tensor": [],
    "ballstick": ["--fibres", "1", "--burn-in", "2", "--jumps", "4", "--sample-every", "2"],
    "noddi": [],
    "geodesic": ["--seed-points", "SEEDS", "--form", "streamline"],
}


class Directions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_directions_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.scan = cls.path("scan")
        run("phantom", "dwi", "--size", "40x40x20", "--bvalues", "1000,2000", "--directions", "16", "--b0", "2", "--threads", "1",
            "--out", cls.scan)
        with open(f"{cls.scan}/data.nii", "rb") as plain, gzip.open(cls.path("data.nii.gz"), "wb", 1) as packed:
            shutil.copyfileobj(plain, packed)
        right = numpy.loadtxt(f"{cls.scan}/bvecs")
        numpy.savetxt(cls.path("mirrored"), right * [[-1], [1], [1]])
        numpy.savetxt(cls.path("swapped"), right[[1, 0, 2]])  # also in a part of the slices clearly wrong
        with open(cls.path("seeds"), "w", encoding="utf-8") as file:
            file.write("1 1 1\n")

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def log(self, analysis, bvecs, *words, series=None):
        """What an analysis of the phantom prints."""
        more = [self.path("seeds") if word == "SEEDS" else word for word in ANALYSES[analysis]]
        mask = [] if "--mask" in words else ["--mask", f"{self.scan}/nodif_brain_mask.nii.gz"]
        out = self.path(f"{self.id()}{len(os.listdir(self.folder))}.h5")
        done = subprocess.run([VOXHERD, analysis, "--dwi", series or f"{self.scan}/data.nii", "--bvals", f"{self.scan}/bvals", "--bvecs", bvecs,
                               *mask, "--threads", "1", "--backend", "cpu", "--out", out, *more, *words],
                              capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_a_mirrored_table_is_found_in_every_analysis(self):
        for analysis in ANALYSES:
            with self.subTest(analysis):
                self.assertNotIn(WARNING, self.log(analysis, f"{self.scan}/bvecs"))
                log = self.log(analysis, self.path("mirrored"))
                self.assertEqual(log.count(WARNING), 1, log)
                self.assertRegex(log, r"mirrored: the directions .* [xy] negated(, as if read along the world axes)?; correct the table")

    def test_a_compressed_series_gives_the_same_warning_also_in_stages(self):
        plain = [line for line in self.log("tensor", self.path("swapped")).splitlines() if WARNING in line]
        for words in ([], ["--host-memory", "0.0018", "--batch", "2048"]):
            log = self.log("tensor", self.path("swapped"), *words, series=self.path("data.nii.gz"))
            found = [line for line in log.splitlines() if WARNING in line]
            self.assertEqual(len(found), 1, log)
            if not words:
                self.assertEqual(found, plain)

    def test_only_the_shells_that_are_used_are_looked_at(self):
        self.assertIn(WARNING, self.log("tensor", self.path("mirrored"), "--shells", "0,2000"))

    def test_a_real_scan_fits_its_table_and_no_mirrored_one(self):
        name = os.path.join(DATA, "philips_32dir_b1000", "1201_DT_HIGH_32DIR_SENSE")
        if not os.path.exists(f"{name}.nii.gz"):
            self.skipTest("no brain scan (VOXHERD_DATA)")
        mask = os.path.join(DATA, "philips_32dir_b1000", "ref_mrtrix3", "brain_mask.nii.gz")
        right = numpy.loadtxt(f"{name}.bvec")
        for axis, change in ((None, [1, 1, 1]), ("x", [-1, 1, 1]), ("y", [1, -1, 1]), ("z", [1, 1, -1])):
            with self.subTest(axis):
                numpy.savetxt(self.path("real"), right * numpy.array(change)[:, None])
                done = subprocess.run([VOXHERD, "tensor", "--dwi", f"{name}.nii.gz", "--bvals", f"{name}.bval", "--bvecs", self.path("real"),
                                       "--mask", mask, "--threads", "1", "--out", self.path(f"real_{axis}.h5")],
                                      capture_output=True, text=True, timeout=240)
                self.assertEqual(done.returncode, 0, done.stderr)
                if axis is None:
                    self.assertNotIn(WARNING, done.stderr)
                else:
                    self.assertIn(f"with {axis} negated", done.stderr)


if __name__ == "__main__":
    unittest.main()
