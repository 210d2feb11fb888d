#!/usr/bin/env python3
"""A dense connectome of a phantom, as QuNex computes it: surfaces and volumes in standard space as seeds, warps, one file for
Workbench.

    python3 bench/dense.py build/cuda WORK --preset hcp

Makes a phantom and fits it with bedpostx_gpu; a standard grid of 2 mm with warps to and from it; two cortical surfaces and 19
volumes on it, 91,282 seeds in all; and runs probtrackx2_gpu with the options of QuNex's run_matrix1.sh and run_matrix3.sh, then
`voxherd export --to cifti`. Prints the time and the largest memory of each part. Checks that seeds have streamlines and that the
number of rows is right. Needs only Python's standard library.
"""
import argparse
import array
import base64
import math
import os
import resource
import shlex
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "papers"), os.path.join(HERE, "scaling")]
import inputs  # noqa: E402
import nifti  # noqa: E402
from standard_space import Standard  # noqa: E402

STRUCTURES = [f"{name}_{side}" for name in ("ACCUMBENS", "AMYGDALA", "CAUDATE", "CEREBELLUM", "DIENCEPHALON_VENTRAL", "HIPPOCAMPUS",
                                            "PALLIDUM", "PUTAMEN", "THALAMUS") for side in ("LEFT", "RIGHT")] + ["BRAIN_STEM"]
EXITS = [name for name in STRUCTURES if name != "BRAIN_STEM" and not name.startswith("DIENCEPHALON")]
BRAIN_SIZE = {"hcp": 0.7775}  # diameter of the phantom's brain as a fraction of the image's; else 0.9


def geodesic_sphere(frequency):
    """Vertices on a unit sphere and triangles: an icosahedron whose edges have `frequency` parts; 10 frequency^2 + 2 vertices."""
    golden = (1 + math.sqrt(5)) / 2
    corners = [(x, y, 0) for x in (-1, 1) for y in (-golden, golden)]
    corners = corners + [(0, x, y) for x, y, _ in corners] + [(y, 0, x) for x, y, _ in corners]
    near = lambda a, b: abs(sum((p - q) ** 2 for p, q in zip(corners[a], corners[b])) - 4) < 1e-9  # noqa: E731
    faces = [(a, b, c) for a in range(12) for b in range(a + 1, 12) for c in range(b + 1, 12) if near(a, b) and near(b, c) and near(a, c)]
    number, vertices, triangles = {}, [], []

    def vertex(face, i, j):
        weights = {corner: weight for corner, weight in zip(face, (frequency - i - j, i, j)) if weight}
        key = tuple(sorted(weights.items()))
        if key not in number:
            point = [sum(corners[corner][d] * weight for corner, weight in key) for d in range(3)]
            length = math.sqrt(sum(x * x for x in point))
            number[key] = len(vertices)
            vertices.append([x / length for x in point])
        return number[key]

    for face in faces:
        for i in range(frequency):
            for j in range(frequency - i):
                triangles.append((vertex(face, i, j), vertex(face, i + 1, j), vertex(face, i, j + 1)))
                if i + j + 1 < frequency:
                    triangles.append((vertex(face, i + 1, j), vertex(face, i + 1, j + 1), vertex(face, i, j + 1)))
    return vertices, triangles


def write_surface(path, points, triangles, values, structure):
    """GIFTI with a value for each vertex."""
    def block(intent, kind, numbers, columns):
        size = len(numbers) // columns
        dims = f'Dim0="{size}"' + (f' Dim1="{columns}"' if columns > 1 else "")
        meta = f"<MetaData><MD><Name>AnatomicalStructurePrimary</Name><Value>{structure}</Value></MD></MetaData>"
        space = ("<CoordinateSystemTransformMatrix><DataSpace>NIFTI_XFORM_UNKNOWN</DataSpace><TransformedSpace>NIFTI_XFORM_UNKNOWN"
                 "</TransformedSpace><MatrixData>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</MatrixData></CoordinateSystemTransformMatrix>")
        return (f'<DataArray Intent="NIFTI_INTENT_{intent}" DataType="NIFTI_TYPE_{kind}" ArrayIndexingOrder="RowMajorOrder" '
                f'Dimensionality="{2 if columns > 1 else 1}" {dims} Encoding="Base64Binary" Endian="LittleEndian" '
                f'ExternalFileName="" ExternalFileOffset="">{meta}{space if intent == "POINTSET" else ""}'
                f"<Data>{base64.b64encode(numbers.tobytes()).decode()}</Data></DataArray>")

    with open(path, "w", encoding="ascii") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<GIFTI Version="1.0" NumberOfDataArrays="3"><MetaData/><LabelTable/>'
                   + block("POINTSET", "FLOAT32", array.array("f", [x for point in points for x in point]), 3)
                   + block("TRIANGLE", "INT32", array.array("i", [n for corner in triangles for n in corner]), 3)
                   + block("SHAPE", "FLOAT32", array.array("f", values), 1) + "</GIFTI>\n")


class Study:
    def __init__(self, args):
        self.args, self.work = args, os.path.abspath(args.work)
        self.program = os.path.abspath(os.path.join(args.build, "voxherd"))

    def path(self, *names):
        return os.path.join(self.work, *names)

    def run(self, name, *words):
        """Prints the seconds and the largest memory of a command."""
        begin = time.monotonic()
        with open(self.path(name + ".log"), "w", encoding="utf-8") as log:
            process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"error: {name}: status {os.waitstatus_to_exitcode(status)}, see {log.name}")
        print(f"{name}: {time.monotonic() - begin:.1f} s, {used.ru_maxrss / 2 ** 20:.2f} GiB", flush=True)

    def scan(self):
        if not os.path.exists(self.path("scan", "truth", "ends.nii.gz")):
            self.run("phantom", self.program, "phantom", "dwi", "--preset", self.args.preset, "--out", self.path("scan"),
                     *shlex.split(self.args.phantom))
        if not os.path.exists(self.path("scan.bedpostX", "xfms", "eye.mat")):
            self.run("bedpostx", self.program, "bedpostx", self.path("scan"), *shlex.split(self.args.bedpostx))

    def write_surfaces(self):
        sphere, triangles = geodesic_sphere(self.args.frequency)
        left_out = round(len(sphere) * 0.08605)  # the medial wall: 2,796 of 32,492 vertices in HCP's left surface
        total = 0
        for side, sign in (("L", -1), ("R", 1)):
            medial = set(sorted(range(len(sphere)), key=lambda v: sign * sphere[v][0])[:left_out - (20 if side == "R" else 0)])
            values = [0 if v in medial else 1 for v in range(len(sphere))]
            total += sum(values)
            for name, size in (("white", 1.0), ("pial", 1.06)):
                points = [self.standard.world([sign * 0.45 + 0.4 * size * x, 0.72 * size * y, 0.72 * size * z]) for x, y, z in sphere]
                write_surface(self.path(f"{name}.{side}.surf.gii"), points, triangles, values if name == "white" else [1] * len(sphere),
                              "CortexLeft" if side == "L" else "CortexRight")
        return total

    def write_inputs(self):
        """Returns the number of seeds."""
        brain_size = BRAIN_SIZE.get(self.args.preset, 0.9)
        self.standard = standard = Standard(self.path("scan.bedpostX", "nodif_brain_mask.nii.gz"), brain_size)
        from_centre = sorted(standard.radii())
        brain = [v for radius, v in from_centre if radius < 1]
        standard.write_mask(self.path("reference.nii.gz"), brain)
        standard.write_warps(self.path("to_scan.nii.gz"), self.path("to_standard.nii.gz"))
        surfaces = self.write_surfaces()
        deep = sorted(brain[:round(31870 * (self.args.frequency / 57) ** 2)])
        for i, name in enumerate(STRUCTURES):
            standard.write_mask(self.path(f"CIFTI_STRUCTURE_{name}.nii.gz"),
                                deep[i * len(deep) // len(STRUCTURES):(i + 1) * len(deep) // len(STRUCTURES)])
        white = [self.path(f"white.{side}.surf.gii") for side in "LR"]
        volume = lambda name: self.path(f"CIFTI_STRUCTURE_{name}")  # noqa: E731
        for name, entries in (("seeds", white + [volume(s) for s in STRUCTURES]),
                              ("stop", [self.path(f"pial.{side}.surf.gii") for side in "LR"]),
                              ("wtstop", [volume(s) for s in EXITS] + white)):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("".join(entry + "\n" for entry in entries))
        return surfaces + len(deep)

    def probtrackx2(self, name, *words):
        """With the options of QuNex's scripts."""
        self.run(name, self.program, "probtrackx2", "--loopcheck", "--forcedir", "--fibthresh=0.01", "--cthr=0.2", "--sampvox=2",
                 "--randfib=1", "--nsteps=2000", "--steplength=0.5", "--samples=" + self.path("scan.bedpostX", "merged"),
                 "--mask=" + self.path("scan.bedpostX", "nodif_brain_mask"), "--meshspace=caret", "--seedref=" + self.path("reference"),
                 "--xfm=" + self.path("to_scan"), "--invxfm=" + self.path("to_standard"), "--stop=" + self.path("stop"),
                 "--wtstop=" + self.path("wtstop"), "--waypoints=" + self.path("reference"), "--dir=" + self.path(name), *words)

    def costs(self):
        """As many streamlines of 1,000 seeds without masks, through warps, and with the surfaces as targets."""
        fibres, on_standard = self.path("scan", "truth", "fibres.nii.gz"), self.path("standard_fibres.nii.gz")
        _, size, _, _, samples = nifti.read(fibres)
        nifti.write(on_standard, self.standard.header, self.standard.size, self.standard.labels(size, samples), nifti.UINT8)
        here = ("--seed-image", inputs.chosen(fibres, 1000))
        surfaces = [self.path(f"{name}.{side}.surf.gii") for name in ("white", "pial") for side in "LR"]
        for name, words in (("plain", here), ("surfaces", (*here, "--targets", *surfaces)),
                            ("warps", ("--seed-image", inputs.chosen(on_standard, 1000), "--transform", self.path("to_scan.nii.gz"),
                                       "--inverse-transform", self.path("to_standard.nii.gz")))):
            result = self.path(f"costs_{name}.h5")
            if os.path.exists(result):
                os.remove(result)
            self.run("costs_" + name, self.program, "track", "--samples", self.path("scan.bedpostX", "voxherd.h5"), "--samples-per-seed",
                     str(self.args.costs), "--out", result, *words)

    def measure(self):
        seeds = self.write_inputs()
        if self.args.costs > 0:
            self.costs()
        print(f"{seeds} seeds", flush=True)
        self.probtrackx2("matrix1", "--seed=" + self.path("seeds"), "--forcefirststep", "--omatrix1",
                         f"--nsamples={self.args.samples}", *shlex.split(self.args.words))
        self.run("cifti", self.program, "export", self.path("matrix1", "voxherd_matrix1.h5"), "--to", "cifti", "--overwrite",
                 self.path("Conn1.dconn.nii"))
        if self.args.matrix3 > 0:
            self.probtrackx2("matrix3", "--seed=" + self.path("reference"), "--omatrix3", "--target3=" + self.path("seeds"),
                             f"--nsamples={self.args.matrix3}", *shlex.split(self.args.words))
        with open(self.path("Conn1.dconn.nii"), "rb") as file:
            dims = struct.unpack_from("<8q", file.read(540), 16)
        if dims[5] != dims[6] or dims[5] < seeds * 0.9:
            sys.exit(f"error: the dense connectome has {dims[5]} x {dims[6]} values, expected about {seeds} squared")
        print(f"dense connectome: {dims[5]} x {dims[6]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", help="folder with voxherd, for example build/cuda")
    parser.add_argument("work", metavar="WORK", help="folder to work in; a phantom that is fitted there is used again")
    parser.add_argument("--preset", default="hcp", help="of voxherd phantom dwi (hcp)")
    parser.add_argument("--phantom", default="", metavar="WORDS", help="further options of voxherd phantom dwi")
    parser.add_argument("--bedpostx", default="-n 3", metavar="WORDS", help="options of bedpostx (-n 3)")
    parser.add_argument("--frequency", type=int, default=57, metavar="N",
                        help="parts of an edge of the icosahedron: 10 N^2 + 2 vertices per surface (57: 32,492 as in HCP)")
    parser.add_argument("--samples", type=int, default=10000, metavar="N", help="streamlines per seed of matrix 1 (10000)")
    parser.add_argument("--matrix3", type=int, default=0, metavar="N", help="streamlines per seed of matrix 3; 0: without it (0)")
    parser.add_argument("--costs", type=int, default=0, metavar="N",
                        help="streamlines per seed to measure what warps and surfaces cost; 0: not (0)")
    parser.add_argument("--words", default="", metavar="WORDS", help="further options of voxherd probtrackx2")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    study = Study(args)
    study.scan()
    study.measure()


if __name__ == "__main__":
    main()
