"""Runs of voxherd connect on the toy phantom, and their results. Not a test itself."""
import json
import os
import subprocess

from geodesic_jobs import GeodesicJobs
from toy_jobs import VOXHERD, h5py, mpirun


class Maps:
    """Maps, constants and rows of a connect result."""

    def __init__(self, path):
        with h5py.File(path, "r") as f:
            self.maps = {name: f["maps"][name][()] for name in f["maps"]} if "maps" in f else {}
            self.samples = {name: f["samples"][name][()] for name in f["samples"]} if "samples" in f else {}
            self.pathway = {name: f["pathway"][name][()] for name in f["pathway"]} if "pathway" in f else {}
            self.connectome = {name: f["connectome"][name][()] for name in f["connectome"]} if "connectome" in f else {}
            self.voxel = f["items/voxel"][()]
            self.configuration = json.loads(f.attrs["configuration"])
            self.unit = {name: f["maps"][name].attrs["unit"].decode() for name in self.maps}

    def inside(self, name):
        """Values at the voxels of the mask, in their order."""
        return self.maps[name].ravel()[self.voxel]


class ConnectJobs(GeodesicJobs):
    """Provides a toy phantom in self.toy and a separate folder for each test."""

    def words(self, out, *options, scan=None):
        return ("connect", *(scan or self.scan()), "--backend", "cpu", "--threads", "1", "--out", out, *options)

    def end_regions(self, one, other):
        """Two labels of the phantom's ends as regions."""
        return ("--from", self.ends, "--from-labels", str(one), "--to", self.ends, "--to-labels", str(other))

    def begin(self, ranks, out, *options):
        return subprocess.Popen(mpirun(ranks, VOXHERD, *self.words(out, *options)), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def remaining_files(self):
        return sorted(os.listdir(self.folder))
