#!/usr/bin/env python3
"""XTRACT's own script on a phantom: 42 tracts in its native space, tracked by voxherd's probtrackx2_gpu; then the same tracts
by `voxherd track --tracts`, in native space and from masks of a standard grid, through warps.

    python3 bench/xtract.py build/cuda WORK --preset hcp --scripts FOLDER

FOLDER contains SPMIC-UoN/xtract's script `xtract` (default: VOXHERD_DATA/pipelines/xtract). Makes a phantom, fits it with
bedpostx_gpu, makes protocols from the ends of the phantom's bundles, runs the script, and checks that every tract has
arrived. Prints the time of each part. Needs only Python's standard library: small stand-ins replace the programs of FSL that the script calls around the tracker (fslmaths and
others), so that their time is not FSL's.
"""
import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(HERE, "papers"), os.path.join(ROOT, "tests", "fsl", "support")]
import fsl_stand_ins  # noqa: E402
import nifti  # noqa: E402
from standard_space import Standard  # noqa: E402

# Labels of both ends of bundles in the phantom's truth/ends. 5 and 6 are left out: that bundle exists only with three fibres
# in a voxel.
BUNDLES = ((1, 2), (3, 4), (7, 8), (9, 10), (11, 12), (13, 14))
TIMED = """#!/bin/sh
begin=$(date +%s.%N)
{program} "$@"
status=$?
echo "$begin $(date +%s.%N)" >> {times}
exit $status
"""


def protocols():
    """Name -> (masks, mark): seven tracts of each bundle, as XTRACT's protocols combine masks. A mask is a set of labels, with
    a share (number, of) of their voxels; no labels: all voxels."""
    tracts = {}
    for bundle, (a, b) in enumerate(BUNDLES, 1):
        others = [label for ends in BUNDLES if a not in ends for label in ends]
        for variant, (masks, mark) in enumerate((
                ({"seed": [a], "target1": [b]}, ""),
                ({"seed": [b], "target1": [a]}, ""),
                ({"seed": [a], "target1": [b]}, "invert"),
                ({"seed": ([a], 0, 2), "target1": [b], "exclude": others}, ""),
                ({"seed": ([b], 0, 2), "target1": [a], "exclude": others}, ""),
                ({"seed": ([a], 1, 2), "target1": [b], "stop": [b]}, ""),
                ({"seed": [b], "target1": [], "target2": [a]}, "wayorder")), 1):
            tracts[f"bundle{bundle}_{variant}"] = (masks, mark)
    return tracts


class Protocols:
    """Masks of a phantom's ends in XTRACT's folders."""

    def __init__(self, header, size, labels, folder):
        self.header, self.size = header, size
        self.folder, self.count = folder, len(labels)
        self.voxels = {}
        for voxel, label in enumerate(labels):
            if label:
                self.voxels.setdefault(int(label), []).append(voxel)

    def write(self, name, masks, mark):
        os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        for mask, labels in masks.items():
            labels, number, parts = labels if isinstance(labels, tuple) else (labels, 0, 1)
            inside = bytearray(b"" if labels else b"\1" * self.count) or bytearray(self.count)
            for label in labels:
                voxels = self.voxels[label]
                for voxel in voxels[number * len(voxels) // parts:(number + 1) * len(voxels) // parts]:
                    inside[voxel] = 1
            nifti.write(os.path.join(self.folder, name, mask + ".nii.gz"), self.header, self.size, inside, nifti.UINT8)
        if mark:
            with open(os.path.join(self.folder, name, mark), "w"):
                pass


class Study:
    def __init__(self, args):
        self.args, self.work = args, os.path.abspath(args.work)
        self.program = os.path.abspath(os.path.join(args.build, "voxherd"))
        self.folder = os.path.join(self.work, "fsl")

    def path(self, *names):
        return os.path.join(self.work, *names)

    def run(self, name, *words, **variables):
        """Seconds."""
        begin = time.monotonic()
        with open(self.path(name + ".log"), "w", encoding="utf-8") as log:
            done = subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **variables})
        if done.returncode != 0:
            sys.exit(f"error: {name}: status {done.returncode}, see {log.name}")
        return time.monotonic() - begin

    def install(self):
        """A folder that looks like FSL's: stand-ins, and our programs with a clock around the tracker."""
        shutil.rmtree(self.folder, ignore_errors=True)
        fsl_stand_ins.install(self.folder)
        self.run("shims", self.program, "shims", self.path("shims"))
        for name in ("probtrackx2", "probtrackx2_gpu"):
            timed = os.path.join(self.folder, "bin", name)
            with open(timed, "w", encoding="utf-8") as file:
                file.write(TIMED.format(program=shlex.quote(self.path("shims", name)), times=shlex.quote(self.path("times"))))
            os.chmod(timed, 0o755)

    def scan(self):
        done = self.path("scan.bedpostX", "xfms", "eye.mat")
        if not os.path.exists(self.path("scan", "truth", "ends.nii.gz")):
            self.run("phantom", self.program, "phantom", "dwi", "--preset", self.args.preset, "--out", self.path("scan"),
                     *shlex.split(self.args.phantom))
        if os.path.exists(done):
            print("bedpostx_gpu: already fitted")
        else:
            seconds = self.run("bedpostx", self.path("shims", "bedpostx_gpu"), self.path("scan"), *shlex.split(self.args.bedpostx))
            print(f"bedpostx_gpu: {seconds:.1f} s")

    def write_protocols(self):
        """In native space, and with their warps in standard space."""
        tracts = dict(list(protocols().items())[:self.args.tracts])
        header, size, _, _, samples = nifti.read(self.path("scan", "truth", "ends.nii.gz"))
        standard = Standard(self.path("scan.bedpostX", "nodif_brain_mask.nii.gz"))
        standard.write_warps(self.path("to_scan.nii.gz"), self.path("to_standard.nii.gz"))
        for masks in (Protocols(header, size, samples, self.path("protocols")),
                      Protocols(standard.header, standard.size, standard.labels(size, samples), self.path("standard_protocols"))):
            for name, (parts, mark) in tracts.items():
                masks.write(name, parts, mark)
        with open(self.path("structureList"), "w", encoding="utf-8") as file:
            file.writelines(f"{name} {self.args.samples / 1000:g}\n" for name in tracts)
        return tracts

    def check(self, tracts):
        """Every tract has a normalised density, and streamlines that arrived. Returns their number."""
        arrived = 0
        for name, (_, mark) in tracts.items():
            folder = self.path("xtract", "tracts", name)
            with open(os.path.join(folder, "sum_waytotal" if mark == "invert" else "waytotal"), encoding="utf-8") as file:
                number = float(file.read())
            density = nifti.read(os.path.join(folder, "densityNorm.nii.gz"))[4]
            if number < 1 or max(density) <= 0:
                sys.exit(f"error: {name}: {number:g} streamlines arrived, largest normalised density {max(density):g}")
            arrived += number
        return arrived

    def measure(self):
        tracts = self.write_protocols()
        for old in (self.path("xtract"), self.path("track.h5"), self.path("standard_track.h5")):
            shutil.rmtree(old) if os.path.isdir(old) else os.path.exists(old) and os.remove(old)
        with open(self.path("times"), "w"):
            pass
        script = os.path.join(self.args.scripts, "xtract")
        whole = self.run("xtract", sys.executable, script, "-bpx", self.path("scan.bedpostX"), "-out", self.path("xtract"),
                         "-species", "CUSTOM", "-p", self.path("protocols"), "-str", self.path("structureList"), "-in_native", "-gpu",
                         FSLDIR=self.folder, PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        arrived = self.check(tracts)
        with open(self.path("times"), encoding="utf-8") as file:
            calls = [float(end) - float(begin) for begin, end in (line.split() for line in file)]
        print(f"xtract: {whole:.1f} s, of which {len(calls)} calls of probtrackx2_gpu took {sum(calls):.1f} s "
              f"(longest {max(calls):.1f} s); {len(tracts)} tracts, {arrived:.0f} streamlines arrived")
        self.track("track", "protocols")
        self.track("standard_track", "standard_protocols", "--transform", self.path("to_scan.nii.gz"), "--inverse-transform",
                   self.path("to_standard.nii.gz"))

    def track(self, name, masks, *words):
        seconds = self.run(name, self.program, "track", "--config", os.path.join(ROOT, "configs", "track-xtract.cfg"), "--samples",
                           self.path("scan.bedpostX", "voxherd.h5"), "--tracts", self.path(masks), "--tract-samples",
                           str(self.args.samples), "--out", self.path(name + ".h5"), *words)
        print(f"voxherd track --tracts {masks}: {seconds:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", help="folder with voxherd, for example build/cuda")
    parser.add_argument("work", metavar="WORK", help="folder to work in; a phantom that is fitted there is used again")
    parser.add_argument("--preset", default="hcp", help="of voxherd phantom dwi (hcp)")
    parser.add_argument("--phantom", default="", metavar="WORDS", help="further options of voxherd phantom dwi")
    parser.add_argument("--bedpostx", default="-n 3", metavar="WORDS", help="options of bedpostx_gpu (-n 3)")
    parser.add_argument("--tracts", type=int, default=42, metavar="N", help="only the first N tracts (42)")
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="streamlines per seed voxel (1000)")
    parser.add_argument("--scripts", default=os.path.join(os.environ.get("VOXHERD_DATA", ""), "pipelines", "xtract"),
                        metavar="FOLDER", help="folder with XTRACT's script")
    args = parser.parse_args()
    if not os.path.isfile(os.path.join(args.scripts, "xtract")):
        parser.error(f"{args.scripts}: contains no script xtract; give --scripts")
    os.makedirs(args.work, exist_ok=True)
    study = Study(args)
    study.install()
    study.scan()
    study.measure()


if __name__ == "__main__":
    main()
