"""Wang & Cao 2012, Table 4 on complete livers: differences between the maps of GPUs and CPUs over all voxels."""
import array
import csv
import math
import os
import shutil
import subprocess
import sys

import nifti

NAME = "wang-cao-livers"
CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../configs/perfusion-wangcao2012.cfg")
# Slices of the preset's 66 for about as many voxels of liver as the paper's patients have (576,556, 663,980, 638,728).
LIVERS = {"patient 1": 60, "patient 2": 69, "patient 3": 66}
MAPS = ("kl", "ka", "kp", "tau_a", "tau_p")


def run(words, log):
    with open(log, "a", encoding="utf-8") as file:
        return subprocess.run(words, stdout=file, stderr=subprocess.STDOUT).returncode == 0


def fit(args, liver, backend):
    """Maps of the liver, in a folder; the name of the log if the program failed."""
    out, maps, log = (f"{liver}-{backend}{end}" for end in (".h5", "-maps", ".log"))
    program = os.path.join(args.build, "voxherd")
    shutil.rmtree(maps, ignore_errors=True)
    good = run([program, "perfusion", "--config", CONFIG, "--dynamic", f"{liver}/dce.nii", "--times", f"{liver}/times.txt",
                "--mask", f"{liver}/liver.nii.gz", "--curves", f"{liver}/curves.csv", "--relaxivity", "4.5", "--t1-map",
                f"{liver}/truth/T1.nii.gz", "--backend", backend, "--threads", str(args.threads), "--overwrite",
                "--out", out], log)
    good = good and run([program, "export", out, "--to", "nifti", maps, "--overwrite"], log)
    return {name: nifti.read(os.path.join(maps, name + ".nii.gz"))[4] for name in MAPS} if good else log


def differences(first, second, inside):
    """Voxels, mean and standard deviation of |a - b|, the largest, and the number of different floats."""
    found = array.array("d", (abs(a - b) for a, b, i in zip(first, second, inside) if i))
    mean = math.fsum(found) / len(found)
    variance = math.fsum((d - mean) ** 2 for d in found) / len(found)
    return len(found), mean, math.sqrt(variance), max(found), sum(d != 0 for d in found)


def make_liver(args, liver, slices, seed):
    """Signals that are linear in R1, as the paper assumes. The folder is complete, or not there."""
    if os.path.isdir(liver):
        return True
    size = f"32x32x{slices // 8}" if args.quick else f"320x320x{slices}"
    shutil.rmtree(liver + ".part", ignore_errors=True)
    made = run([os.path.join(args.build, "voxherd"), "phantom", "liver", "--preset", "paper", "--size", size, "--signal",
                "linear", "--type", "int16", "--random-seed", str(seed), "--threads", str(args.threads), "--out", liver + ".part"],
               liver + ".log")
    if made:
        os.replace(liver + ".part", liver)
    return made


def measure(args, backends):
    path, folder = os.path.join(args.folder, NAME + ".csv"), os.path.join(args.folder, NAME)
    if os.path.exists(path):
        return True
    if len(backends) < 2 and not args.quick:
        print(f"{NAME}: skipped, needs a GPU", file=sys.stderr)
        return True
    first, second = (backends * 2)[:2]
    os.makedirs(folder, exist_ok=True)
    rows = []
    for seed, (name, slices) in enumerate(LIVERS.items(), 1):
        liver = os.path.join(folder, name.replace(" ", "-"))
        made = make_liver(args, liver, slices, seed)
        maps = [fit(args, liver, backend) for backend in (first, second)] if made else [liver + ".log"]
        wrong = [log for log in maps if isinstance(log, str)]
        if wrong:
            print(f"{NAME}: failed, see {wrong[0]}", file=sys.stderr)
            return False
        inside = nifti.read(f"{liver}/liver.nii.gz")[4]
        for what in MAPS:
            rows.append([name, what, f"{second} - {first}", *(f"{x:.4g}" if isinstance(x, float) else x
                                                              for x in differences(maps[0][what], maps[1][what], inside))])
        shutil.rmtree(liver)  # 650 MB each
        print(f"{NAME}: {name}, {rows[-1][3]} voxels", flush=True)
    with open(path + ".part", "w", encoding="utf-8", newline="") as file:
        columns = ("liver", "map", "difference", "voxels", "mean_absolute", "sd_absolute", "largest", "different_voxels")
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    os.replace(path + ".part", path)
    return True
