"""Runs of voxherd perfusion on small series with known flows, and their results. Not a test itself.

The series are made here by integrating the model in steps of 10 ms, independently of the program."""
import gzip
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

import numpy as np
from option_reader import refusal
from toy_jobs import VOXHERD, run_process, h5py, mpirun

SIZE = (6, 5, 4)  # voxels
MAPS = ("kl", "ka", "kp", "tau_a", "tau_p")


def write_nifti(path, values, side_mm=2.0, origin_mm=(-10.0, 5.0, 0.0)):
    """Writes an array indexed x, y, z[, frame] as float32 NIfTI-1; compressed if the name ends in .gz."""
    values = np.asarray(values, np.float32)
    shape = values.shape + (1,) * (4 - values.ndim)
    header = bytearray(348)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3 if values.ndim == 3 else 4, *shape, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 16, 32)
    struct.pack_into("<8f", header, 76, 1, side_mm, side_mm, side_mm, 1, 0, 0, 0)
    struct.pack_into("<3f", header, 108, 352, 1, 0)
    struct.pack_into("<B", header, 123, 2)
    struct.pack_into("<2h", header, 252, 0, 1)
    for row in range(3):
        matrix = [0.0] * 4
        matrix[row], matrix[3] = side_mm, origin_mm[row]
        struct.pack_into("<4f", header, 280 + 16 * row, *matrix)
    header[344:348] = b"n+1\0"
    data = bytes(header) + b"\0" * 4 + values.tobytes(order="F")
    with (gzip.open if path.endswith(".gz") else open)(path, "wb") as file:
        file.write(data)
    return path


def inputs_at(t):
    """Arterial and portal concentrations, mM, at times in s: a bolus that arrives at 12 s, and its response in the
    portal vein."""
    late = np.maximum(np.asarray(t, float) - 12, 0)
    arterial = 0.9 * late ** 2 * np.exp(-late / 3.5) + 0.9 * (1 - np.exp(-late / 8)) * np.exp(-late / 300)
    portal = 1.4 * (1 - np.exp(-(late / 14) ** 2)) * np.exp(-late / 150)
    return arterial, portal


def tissue(t, arterial, portal, flows):
    """The model's curve at times t for piecewise linear inputs; flows (n, 5) in ml/100g/min and s."""
    step = 0.01
    fine = np.arange(0, t[-1] + step, step) + t[0]
    kl, ka, kp, tau_a, tau_p = (np.asarray(flows, float) / [6000, 6000, 6000, 1, 1]).T
    shifted = [np.array([np.interp(fine - tau, t, curve, left=0) for tau in delays])
               for curve, delays in ((arterial, tau_a), (portal, tau_p))]
    inflow = ka[:, None] * shifted[0] + kp[:, None] * shifted[1]
    # Midpoints: the inflow is linear within a step except at its corners.
    middle, decayed = (inflow[:, 1:] + inflow[:, :-1]) / 2, np.exp(-kl * step)
    gain, c = (1 - decayed) / kl, np.zeros_like(inflow)
    for i in range(len(fine) - 1):
        c[:, i + 1] = decayed * c[:, i] + gain * middle[:, i]
    return np.array([np.interp(t, fine, one) for one in c])


class Study:
    """A series of SIZE voxels. The first plane contains the artery (y = 0) and the vein (y = 4), the others tissue."""

    def __init__(self, folder, times, seed=5):
        self.folder, self.times = folder, np.asarray(times, float)
        os.makedirs(folder)
        self.arterial, self.portal = inputs_at(self.times)
        chance = np.random.default_rng(seed)
        self.mask = np.zeros(SIZE, bool)
        self.mask[:, :, 1:] = True
        n = int(self.mask.sum())
        flows = np.column_stack([chance.uniform(250, 600, n), chance.uniform(15, 60, n), chance.uniform(50, 130, n),
                                 chance.uniform(0.5, 4, n), chance.uniform(0.3, 3, n)])
        self.truth = dict(zip(MAPS, flows.T))
        self.concentration = np.zeros((*SIZE, len(self.times)))
        self.concentration[self.mask] = tissue(self.times, self.arterial, self.portal, flows)
        self.artery, self.vein = np.zeros(SIZE, bool), np.zeros(SIZE, bool)
        self.artery[1:4, 0, 0] = self.vein[1:4, 4, 0] = True
        self.concentration[self.artery], self.concentration[self.vein] = self.arterial, self.portal
        for name, mask in (("mask", self.mask), ("artery", self.artery), ("vein", self.vein)):
            write_nifti(self.path(f"{name}.nii"), mask)
        self.save_times("times.txt", self.times)
        with open(self.path("inputs.csv"), "w", encoding="utf-8") as file:
            file.write("t_s,arterial,portal\n")
            for row in zip(self.times, self.arterial, self.portal):
                file.write("%.9g,%.9g,%.9g\n" % row)
        self.save("series.nii", self.concentration)

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, values):
        return write_nifti(self.path(name), values)

    def save_times(self, name, times):
        np.savetxt(self.path(name), times, fmt="%.9g")
        return self.path(name)

    def words(self, series="series.nii", vois=True, times="times.txt"):
        inputs = ("--arterial-voi", self.path("artery.nii"), "--portal-voi", self.path("vein.nii")) if vois else (
            "--curves", self.path("inputs.csv"))
        return ("--dynamic", self.path(series), "--times", self.path(times), "--mask", self.path("mask.nii"), *inputs)


class Maps:
    """A result's maps at the voxels of the mask, in the order of Study.truth, and its curves and configuration."""

    def __init__(self, path, mask):
        with h5py.File(path, "r") as f:
            grids = {name: np.moveaxis(f["maps"][name][()], [0, 2], [2, 0]) for name in f["maps"]}
            self.outside = {name: grid[~mask] for name, grid in grids.items()}
            self.maps = {name: grid[mask] for name, grid in grids.items()}
            self.unit = {name: f["maps"][name].attrs["unit"].decode() for name in grids}
            self.curves = {name: f["curves"][name][()] for name in f["curves"]}
            self.configuration = json.loads(f.attrs["configuration"])
            self.complete = f.attrs["complete"]

    def __getitem__(self, name):
        return self.maps[name]


class PerfusionJobs(unittest.TestCase):
    """Provides an evenly sampled series in self.study (48 frames, 2.37 s apart) and a separate folder for each test."""

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="voxherd_perfusion_")
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        cls.study = Study(os.path.join(cls.shared, "even"), 2.37 * np.arange(48))

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.shared)

    def path(self, name):
        return os.path.join(self.folder, name)

    def words(self, out, *options, scan=None, threads=1):
        return ("perfusion", *(scan if scan is not None else self.study.words()), "--backend", "cpu", "--threads",
                str(threads), "--out", out, *options)

    def launch(self, out, *options, ranks=1, scan=None, threads=1):
        """Exit status and output."""
        words = self.words(out, *options, scan=scan, threads=threads)
        rc, text, output = run_process(*mpirun(ranks, VOXHERD, *words)) if ranks > 1 else run_process(VOXHERD, *words)
        return rc, text + output

    def begin(self, ranks, out, *options, scan=None):
        return subprocess.Popen(mpirun(ranks, VOXHERD, *self.words(out, *options, scan=scan)), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def fit(self, *options, scan=None, ranks=1, name="out.h5"):
        """The maps of a complete result; the output is in self.output."""
        out = self.path(name)
        rc, self.output = self.launch(out, "--overwrite", *options, scan=scan, ranks=ranks)
        self.assertEqual(rc, 0, self.output)
        return Maps(out, self.study.mask)

    def assert_rejected(self, status, expected, *options, scan=None):
        """Asserts that there is one message that contains `expected`, this status, and no written file."""
        words = self.words(self.path("never.h5"), *options, scan=scan)
        rc, output = refusal(*words) or self.launch(self.path("never.h5"), *options, scan=scan)
        with self.subTest(expected):
            self.assertEqual(rc, status, output)
            errors = [line for line in output.splitlines() if line.startswith("voxherd: error:")]
            self.assertEqual(len(errors), 1, output)
            self.assertIn(expected, errors[0])
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("never")], [])

    def assert_truth(self, maps, rtol, truth=None):
        self.assertEqual(np.count_nonzero(maps["status"]), 0)
        for name in MAPS:
            expected = (truth or self.study.truth)[name]
            np.testing.assert_allclose(maps[name], expected, rtol=rtol, atol=rtol * np.abs(expected).max(), err_msg=name)
