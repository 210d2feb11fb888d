"""BIDS data sets made from the phantom, and `voxherd bids` on them. Not a test itself."""
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

from program import VOXHERD, files_below, run

BRIEF = ["--nprocs", "1", "--more", "--backend cpu", "--ballstick-options",
         "--fibres 2 --burn-in 60 --jumps 60 --sample-every 6", "--track-options", "--samples-per-seed 20"]


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def read_json(*path):
    return json.loads(read(*path))


def read_table(*path):
    """The rows of a table as dictionaries."""
    lines = [line.split("\t") for line in read(*path).decode().splitlines()]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


class BidsJobs(unittest.TestCase):
    """A folder with data sets; subclasses make them in setUpClass."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_bids_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def phantom(cls, seed=1):
        """A small series, its mask and its regions."""
        out = cls.path(f"phantom{seed}")
        if not os.path.exists(out):
            run("phantom", "dwi", "--size", "11x9x7", "--directions", "16", "--random-seed", str(seed), "--gz", "--threads", "1",
                "--out", out)
        return out

    @classmethod
    def write(cls, name, text):
        os.makedirs(os.path.dirname(cls.path(name)), exist_ok=True)
        with open(cls.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    @classmethod
    def copy(cls, source, target):
        os.makedirs(os.path.dirname(cls.path(target)), exist_ok=True)
        shutil.copy(source, cls.path(target))

    @classmethod
    def describe(cls, data_set, kind="raw"):
        description = {"Name": data_set, "BIDSVersion": "1.11.1", "DatasetType": kind, "License": "CC0",
                       "Authors": ["A", "B"], "GeneratedBy": [{"Name": "test"}]}
        cls.write(f"{data_set}/dataset_description.json", json.dumps(description))

    @classmethod
    def add_series(cls, stem, seed=1, gradients=None, desc=""):
        """STEM[desc]_dwi.nii.gz with its gradients, at STEM or at `gradients`."""
        phantom = cls.phantom(seed)
        cls.copy(f"{phantom}/data.nii.gz", f"{stem}{desc}_dwi.nii.gz")
        for ending in ("bval", "bvec"):
            cls.copy(f"{phantom}/{ending}s", f"{gradients or stem + desc + '_dwi'}.{ending}")

    @classmethod
    def add_mask(cls, stem, seed=1):
        cls.copy(f"{cls.phantom(seed)}/nodif_brain_mask.nii.gz", f"{stem}_desc-brain_mask.nii.gz")

    @classmethod
    def add_regions(cls, stem, seed=1):
        cls.copy(f"{cls.phantom(seed)}/truth/ends.nii.gz", f"{stem}_dseg.nii.gz")

    @classmethod
    def add_dynamic(cls, subject, places="perf", session="", **metadata):
        """SUBJECT's dynamic series, with masks of liver, artery and vein in the folder `places`."""
        from perfusion_jobs import Study  # not above: other tests work without its tools
        study = Study(cls.path(f"study_{subject}{session}"), [2.5 * i for i in range(60)], seed=len(subject + session))
        folder = f"{subject}/{session}/" if session else f"{subject}/"
        begin = os.path.basename(subject) + (f"_{session}" if session else "")
        cls.copy(study.path("series.nii"), f"{folder}perf/{begin}_dce.nii")
        for label, name in (("liver", "mask"), ("aorta", "artery"), ("portalvein", "vein")):
            cls.copy(study.path(name + ".nii"), f"{folder}{places}/{begin}_label-{label}_mask.nii")
        if metadata:
            cls.write(f"{folder}perf/{begin}_dce.json", json.dumps(metadata))
        return study

    @classmethod
    def truncate(cls, name):
        with open(cls.path(name), "r+b") as file:
            file.truncate(os.path.getsize(cls.path(name)) // 2)

    @classmethod
    def bids(cls, *words, expect=0, ranks=1):
        """`voxherd bids` in the folder; its standard error."""
        launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launch, VOXHERD, "bids", *words], capture_output=True, text=True, errors="surrogateescape",
                              cwd=cls.folder, timeout=120)
        assert done.returncode == expect, f"{words}: exit {done.returncode}, expected {expect}\n{done.stderr}"
        return done.stdout + done.stderr

    @classmethod
    def derivatives(cls, out):
        return [name for name in files_below(cls.path(out)) if name.startswith("sub-") and "/" in name]


def commands(log):
    """The options of each command that was run, by series."""
    found = {}
    for line in log.splitlines():
        if "voxherd: info: subject " in line:
            name, words = line.split("subject ", 1)[1].split(": ", 1)
            words = shlex.split(words)[2:]
            found[name] = {key: value for key, value in zip(words, words[1:]) if key.startswith("--")}
    return found


class Layouts(BidsJobs):
    def participant(self, data_set, *words, analysis="tensor", expect=0):
        self.count = getattr(self, "count", 0) + 1
        return self.bids(data_set, f"out{self.id()}{self.count}", "participant", "--analysis", analysis, "-w",
                         f"work{self.id()}{self.count}", *BRIEF, *words, expect=expect)

    def out(self):
        return files_below(self.path(f"out{self.id()}{self.count}"))
