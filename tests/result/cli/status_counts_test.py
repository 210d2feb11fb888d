"""`info` prints how many voxels have each status: as the run counted them, or from the map of an older result."""
import json
import os
import sys
import tempfile
import unittest

try:
    import h5py
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import run


class StatusCounts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="voxherd_counts_")
        cls.addClassCleanup(folder.cleanup)
        cls.phantom, cls.folder = os.path.join(folder.name, "phantom"), folder.name
        run("phantom", "dwi", "--preset", "toy", "--out", cls.phantom)
        cls.break_voxels()

    @classmethod
    def break_voxels(cls):
        """Five voxels of the mask without a signal, which are not fitted."""
        path = os.path.join(cls.phantom, "data.nii")
        series = nibabel.load(path)
        data = np.asarray(series.dataobj).copy()
        mask = nibabel.load(os.path.join(cls.phantom, "nodif_brain_mask.nii.gz")).get_fdata() > 0
        data[tuple(index[:5] for index in np.nonzero(mask))] = 0
        nibabel.save(nibabel.Nifti1Image(data, series.affine, series.header), os.path.join(cls.folder, "data.nii"))
        cls.voxels = int(mask.sum())

    def make(self, ranks):
        out = os.path.join(self.folder, f"{ranks}.h5")
        p = self.phantom
        done = run("tensor", "--dwi", os.path.join(self.folder, "data.nii"), "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs",
                   "--mask", f"{p}/nodif_brain_mask.nii.gz", "--batch", "100", "--overwrite", "--out", out,
                   ranks=ranks)
        return out, done.stderr

    def lines(self, path):
        """What `info` says about the status of the voxels."""
        return [line[11:] for line in run("info", path).stdout.splitlines() if line.startswith("status ")]

    def check_lines(self, path, log):
        lines = self.lines(path)
        self.assertEqual(lines[0], f"{self.voxels - 5} of {self.voxels} voxels fitted")
        self.assertEqual(len(lines), 2, lines)
        for line in lines:
            self.assertIn(line, log)

    def test_they_are_those_of_the_log_for_any_number_of_ranks(self):
        for ranks in (1, 3):
            self.check_lines(*self.make(ranks))

    def test_those_in_the_summary_are_used(self):
        out, _ = self.make(1)
        self.change_summary(out, lambda summary: summary["counts"].update({"0": 7}))
        self.assertEqual(self.lines(out)[0], f"7 of {self.voxels} voxels fitted")

    def test_without_them_the_map_is_read(self):
        out, log = self.make(1)
        self.change_summary(out, lambda summary: summary.pop("counts"))
        self.check_lines(out, log)

    def change_summary(self, path, change):
        with h5py.File(path, "r+") as f:
            stored = f["journal/summary"]
            summary = json.loads(stored[()])
            change(summary)
            stored[()] = json.dumps(summary).encode().ljust(stored.dtype.itemsize, b"\0")


if __name__ == "__main__":
    unittest.main()
