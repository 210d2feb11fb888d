"""Hernandez 2013, 1,000 repeats: distributions of the estimates in three voxels of a brain, on CPUs and on GPUs.

Random numbers depend on a voxel's place in the image. So the repeats are one run on an image in which each of the three
voxels is repeated."""
import csv
import os
import shutil
import subprocess
import sys

import nifti

NAME = "hernandez-repeats"
CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../configs/ballstick-hernandez2013.cfg")
# philips_32dir_b1000, index from 0. FA of dt_wls_iter2: 0.75, 0.22, 0.12.
VOXELS = {"corpus callosum": (63, 50, 34), "centrum semiovale": (48, 60, 42), "grey matter": (38, 69, 43)}
MAPS = ("mean_f1", "mean_f2", "mean_d", "mean_S0")
WIDTH = 100  # of the image


def write_repeats(scan, repeats, folder):
    """The image, its mask and, last, the gradients."""
    header, size, slope, intercept, samples = nifti.read(scan + ".nii.gz")
    rows = repeats // WIDTH
    volume, plane = size[0] * size[1] * size[2], size[0] * size[1]
    values = []
    for k in range(size[3]):
        for x, y, z in VOXELS.values():
            values += [slope * samples[k * volume + z * plane + y * size[0] + x] + intercept] * (rows * WIDTH)
    nifti.write(os.path.join(folder, "repeats.nii"), header, (WIDTH, rows * len(VOXELS), 1, size[3]), values)
    nifti.write(os.path.join(folder, "mask.nii"), header, (WIDTH, rows * len(VOXELS), 1, 1), [1] * (rows * len(VOXELS) * WIDTH))
    for name in ("bval", "bvec"):
        shutil.copy(f"{scan}.{name}", os.path.join(folder, name + "s"))


def run(words, log):
    with open(log, "a", encoding="utf-8") as file:
        return subprocess.run(words, stdout=file, stderr=subprocess.STDOUT).returncode == 0


def estimate(args, folder, backend):
    """{map: values of all repeats of all voxels}; None if the program failed."""
    out, maps, log = (os.path.join(folder, backend + end) for end in (".h5", "-maps", ".log"))
    program = os.path.join(args.build, "voxherd")
    shutil.rmtree(maps, ignore_errors=True)
    short = ("--burn-in", "100", "--jumps", "100") if args.quick else ()
    if not run([program, "ballstick", "--config", CONFIG, "--dwi", os.path.join(folder, "repeats.nii"), "--bvals",
                os.path.join(folder, "bvals"), "--bvecs", os.path.join(folder, "bvecs"), "--mask", os.path.join(folder, "mask.nii"), "--backend", backend,
                "--threads", str(args.threads), "--overwrite", "--out", out, *short], log):
        return None
    if not run([program, "export", out, "--to", "nifti", maps, "--overwrite"], log):
        return None
    return {name: nifti.read(os.path.join(maps, name + ".nii.gz"))[4] for name in MAPS}


def measure(args, backends):
    folder, path = os.path.join(args.folder, NAME), os.path.join(args.folder, NAME + ".csv")
    if os.path.exists(path):
        return True
    repeats = 100 if args.quick else 1000
    # The image has 400 kB: made on another machine, it replaces the scan.
    if not os.path.exists(os.path.join(folder, "bvecs")):
        scan = os.path.join(args.data, "philips_32dir_b1000", "1201_DT_HIGH_32DIR_SENSE")
        if not os.path.exists(scan + ".nii.gz"):
            print(f"{NAME}: skipped, no {scan}.nii.gz; give --data", file=sys.stderr)
            return True
        os.makedirs(folder, exist_ok=True)
        write_repeats(scan, repeats, folder)
    rows = []
    for backend in backends:
        maps = estimate(args, folder, backend)
        if maps is None:
            print(f"{NAME}: failed, see {os.path.join(folder, backend)}.log", file=sys.stderr)
            return False
        for n, tissue in enumerate(VOXELS):
            for i in range(n * repeats, (n + 1) * repeats):
                rows.append([backend, tissue, i - n * repeats, *(f"{maps[name][i]:.6g}" for name in MAPS)])
    with open(path + ".part", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("backend", "tissue", "repeat", *MAPS), *rows])
    os.replace(path + ".part", path)
    print(f"{NAME}: {repeats} repeats on {', '.join(backends)}", flush=True)
    return True
