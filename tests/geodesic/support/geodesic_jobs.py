"""Runs of voxherd geodesic on the toy phantom, and their results. Not a test itself."""
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
from option_reader import refusal
from toy_jobs import VOXHERD, run_process, h5py, mpirun

ENDS = list(range(1, 15))  # labels of truth/ends.nii.gz: two for each of seven bundles


class Result:
    """Fibres of a result file."""

    def __init__(self, path):
        with h5py.File(path, "r") as f:
            self.offset = f["points/offset"][()].astype(int)
            self.position = f["points/position"][()].astype(float)
            self.points = {name: f["points"][name][()] for name in f["points"]}
            self.samples = {name: f["samples"][name][()] for name in f["samples"]}
            self.connectome = {name: f["connectome"][name][()] for name in f["connectome"]} if "connectome" in f else {}
            self.voxel = f["items/voxel"][()]
            self.complete = f.attrs["complete"]

    def __len__(self):
        return len(self.offset) - 1

    def __getitem__(self, i):
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self.position[self.offset[i]:self.offset[i + 1]]

    def pairs(self):
        """Each fibre's regions, the smaller label first."""
        return np.sort(self.samples["regions"], axis=1)


class GeodesicJobs(unittest.TestCase):
    """Provides a toy phantom in self.toy and a separate folder for each test."""

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="voxherd_geodesic_")
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        cls.toy = os.path.join(cls.shared, "toy")
        subprocess.run([VOXHERD, "phantom", "dwi", "--preset", "toy", "--threads", "1", "--out", cls.toy], check=True,
                       capture_output=True, timeout=60)
        cls.ends = os.path.join(cls.toy, "truth", "ends.nii.gz")

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.shared)

    def path(self, name):
        return os.path.join(self.folder, name)

    def scan(self, folder=None):
        folder = folder or self.toy
        return ("--dwi", f"{folder}/data.nii", "--bvals", f"{folder}/bvals", "--bvecs", f"{folder}/bvecs", "--mask",
                f"{folder}/nodif_brain_mask.nii.gz")

    def words(self, out, *options, scan=None):
        return ("geodesic", *(scan or self.scan()), "--backend", "cpu", "--threads", "1", "--out", out, *options)

    def begin(self, ranks, out, *options):
        return subprocess.Popen(mpirun(ranks, VOXHERD, *self.words(out, *options)), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def launch(self, out, *options, ranks=1, scan=None):
        """Exit status and output."""
        words = self.words(out, *options, scan=scan)
        rc, _, output = run_process(*mpirun(ranks, VOXHERD, *words)) if ranks > 1 else run_process(VOXHERD, *words)
        return rc, output

    def assert_rejected(self, status, expected, *options, scan=None, ranks=1):
        """Asserts that the options are rejected with this status and one message that contains `expected`, and that
        nothing is written."""
        words = self.words(self.path("never.h5"), *options, scan=scan)
        rc, output = (refusal(*words) if ranks == 1 else None) or self.launch(self.path("never.h5"), *options, scan=scan, ranks=ranks)
        with self.subTest(expected):
            self.assertEqual(rc, status, output)
            errors = [line for line in output.splitlines() if line.startswith("voxherd: error:")]
            self.assertEqual(len(errors), 1, output)
            self.assertIn(expected, errors[0])
            self.assertEqual(os.listdir(self.folder), [])

    def make(self, name, *options, ranks=1, scan=None):
        """The path of a complete result; asserts that the run leaves no other files."""
        out = self.path(name)
        rc, self.output = self.launch(out, *options, ranks=ranks, scan=scan)
        self.assertEqual(rc, 0, self.output)
        left = [other for other in os.listdir(self.folder) if other.startswith(name)]
        self.assertEqual(left, [name])
        return out
