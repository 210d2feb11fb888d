"""Images that are compressed in several pieces: other programs read them, and errors and kills leave none that is incomplete."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import VOXHERD, files_below, read_bytes, run, run_on_full_disk

DISK = 74
SIZE = (70, 64, 60)  # a vector of float32 in each voxel takes four pieces of 1 MiB


class LargeFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_large_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        phantom, cls.result = cls.path("p"), cls.path("t.h5")
        run("phantom", "dwi", "--out", phantom, "--size", "x".join(map(str, SIZE)), "--directions", "6", "--threads", "2")
        run("tensor", "--dwi", f"{phantom}/data.nii", "--bvals", f"{phantom}/bvals", "--bvecs", f"{phantom}/bvecs", "--mask",
            f"{phantom}/nodif_brain_mask.nii.gz", "--backend", "cpu", "--out", cls.result)
        run("export", cls.result, "--to", "nifti", cls.path("one"), "--threads", "1")

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def test_any_number_of_threads_writes_the_same_bytes(self):
        for threads in ("2", "5", "0"):
            folder = self.path("by" + threads)
            run("export", self.result, "--to", "nifti", folder, "--threads", threads)
            self.assertEqual(files_below(folder), files_below(self.path("one")))
            for name in files_below(folder):
                self.assertEqual(read_bytes(folder, name), read_bytes(self.path("one", name)), name)

    def test_a_file_is_one_member_that_zlib_reads_to_its_end(self):
        inflater = zlib.decompressobj(wbits=31)
        plain = inflater.decompress(read_bytes(self.path("one", "V1.nii.gz")))
        self.assertTrue(inflater.eof)
        self.assertEqual(inflater.unused_data, b"")
        self.assertEqual(len(plain), 352 + 3 * 4 * np.prod(SIZE))

    def test_nibabel_reads_the_values(self):
        plain = nibabel.load(self.path("one", "V1.nii.gz")).get_fdata()
        fa = nibabel.load(self.path("one", "FA.nii.gz")).get_fdata()
        self.assertEqual(plain.shape, (*SIZE, 3))
        self.assertGreater(np.count_nonzero(fa), 1000)
        np.testing.assert_allclose(np.linalg.norm(plain, axis=-1)[fa > 0], 1, atol=1e-5)

    def test_gzip_mrtrix_and_igzip_read_it(self):
        image = self.path("one", "V1.nii.gz")
        subprocess.run(["gzip", "-t", image], check=True)
        if shutil.which("igzip"):
            subprocess.run(["igzip", "-t", image], check=True)
        if not shutil.which("mrconvert"):
            self.skipTest("mrtrix3 is not installed")
        plain = self.path("V1.nii")
        subprocess.run(["mrconvert", "-quiet", "-force", image, plain], check=True)
        np.testing.assert_array_equal(nibabel.load(plain).get_fdata(), nibabel.load(image).get_fdata())

    def test_a_full_disk_leaves_no_part_of_an_image(self):
        folder = self.path("full")
        done = run_on_full_disk("export", self.result, "--to", "nifti", folder, "--threads", "3", largest_bytes=300_000)
        self.assertEqual(done.returncode, DISK, done.stderr)
        self.assertRegex(done.stderr, r"\.nii\.gz: cannot be written: File too large")
        for name in files_below(folder):
            self.assertEqual(read_bytes(folder, name), read_bytes(self.path("one", name)), name)

    def test_a_killed_export_leaves_only_complete_images_under_their_names(self):
        for wait in (0.05, 0.1, 0.2, 0.3):
            folder = self.path(f"killed{wait}")
            export = subprocess.Popen([VOXHERD, "export", self.result, "--to", "nifti", folder, "--quiet", "--threads", "2"])
            time.sleep(wait)
            export.kill()
            export.wait()
            for name in files_below(folder):
                if name.endswith(".nii.gz"):
                    self.assertEqual(read_bytes(folder, name), read_bytes(self.path("one", name)), name)
            run("export", self.result, "--to", "nifti", folder, "--overwrite")
            self.assertEqual(files_below(folder), files_below(self.path("one")))


if __name__ == "__main__":
    unittest.main()
