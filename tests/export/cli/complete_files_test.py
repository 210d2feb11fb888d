"""Exported files are complete or not there, whatever ends the export, and a link in their place stays what it leads to."""
import os
import shutil
import tempfile
import unittest

from program import files_below, read_bytes, run, run_on_full_disk

DISK = 74


class Complete(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_complete_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.phantom, fibres = cls.path("p"), cls.path("f.h5")
        run("phantom", "dwi", "--preset", "toy", "--fibres", "1", "--threads", "1", "--out", cls.phantom)
        run("ballstick", "--dwi", f"{cls.phantom}/data.nii", "--bvals", f"{cls.phantom}/bvals", "--bvecs", f"{cls.phantom}/bvecs", "--mask",
            f"{cls.phantom}/nodif_brain_mask.nii.gz", "--fibres", "1", "--burn-in", "10", "--jumps", "10", "--sample-every", "5", "--threads", "1", "--out", fibres)
        cls.matrix = cls.path("m.h5")
        run("track", "--samples", fibres, "--seed-image", f"{cls.phantom}/truth/ends.nii.gz", "--samples-per-seed", "20", "--lengths", "--threads", "1",
            "--matrix1", cls.matrix, "--out", cls.path("t.h5"))
        run("export", cls.matrix, "--to", "dot", cls.path("good"))
        cls.good = {name: read_bytes(cls.path("good", name)) for name in files_below(cls.path("good"))}
        assert "fdt_matrix1_lengths.dot" in cls.good

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def export_to_full_disk(self, folder, *options):
        done = run_on_full_disk("export", self.matrix, "--to", "dot", folder, *options, largest_bytes=1024)
        self.assertEqual(done.returncode, DISK, done.stderr)
        self.assertRegex(done.stderr, "fdt_matrix1.dot: cannot be written: File too large")

    def test_a_write_error_leaves_no_part_of_a_matrix(self):
        folder = self.path("new")
        self.export_to_full_disk(folder)
        self.assertEqual(files_below(folder), [])

    def test_a_write_error_keeps_the_files_of_before(self):
        folder = self.path("old")
        shutil.copytree(self.path("good"), folder)
        self.export_to_full_disk(folder, "--overwrite")
        self.assertEqual({name: read_bytes(folder, name) for name in files_below(folder)}, self.good)

    def test_links_in_the_place_of_a_matrix_are_replaced_and_not_followed(self):
        folder, precious = self.path("links"), self.path("precious")
        os.makedirs(folder)
        with open(precious, "w") as file:
            file.write("the user's")
        for name in self.good:
            os.symlink("../precious" if name != "fdt_matrix1.dot" else "../nothing", os.path.join(folder, name))
        self.assertIn("exists; choose another path", run("export", self.matrix, "--to", "dot", folder, expect=2).stderr)
        run("export", self.matrix, "--to", "dot", folder, "--overwrite")
        self.assertEqual({name: read_bytes(folder, name) for name in files_below(folder)}, self.good)
        self.assertFalse([name for name in self.good if os.path.islink(os.path.join(folder, name))])
        self.assertEqual(read_bytes(precious), b"the user's")
        self.assertFalse(os.path.lexists(self.path("nothing")))

    def test_slices_are_copied_beside_links_and_not_into_them(self):
        subject, precious = self.path("subject"), self.path("bvals_of_before")
        os.makedirs(subject + ".bedpostX")
        for source, name in (("data.nii", "data.nii"), ("bvals", "bvals"), ("bvecs", "bvecs"), ("nodif_brain_mask.nii.gz", "nodif_brain_mask.nii.gz")):
            os.makedirs(subject, exist_ok=True)
            shutil.copy(os.path.join(self.phantom, source), os.path.join(subject, name))
        with open(precious, "w") as file:
            file.write("the user's")
        os.symlink(precious, os.path.join(subject + ".bedpostX", "bvals"))
        run("split_slices", subject)
        self.assertEqual(read_bytes(os.path.join(subject + ".bedpostX", "bvals")), read_bytes(os.path.join(self.phantom, "bvals")))
        self.assertEqual(read_bytes(precious), b"the user's")


if __name__ == "__main__":
    unittest.main()
