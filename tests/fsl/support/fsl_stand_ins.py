#!/usr/bin/python3
"""Stand-ins for the programs of FSL that pipelines call around ours: each does only what the replayed scripts need, with
nothing but Python. Called by a link, this script is the program of that name."""
import math
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../bench/papers"))
import nifti  # noqa: E402

NAMES = ["bc", "fsl_abspath", "fslmaths", "fslstats", "fsl_sub", "imcp", "immv", "imrm", "imtest", "zeropad"]


def install(folder):
    """An installation of FSL with these programs."""
    os.makedirs(os.path.join(folder, "bin"))
    for name in NAMES:
        os.symlink(os.path.abspath(__file__), os.path.join(folder, "bin", name))
    return folder


def find(name):
    return next((name + ending for ending in ("", ".nii.gz", ".nii") if os.path.isfile(name + ending)), None)


def with_ending(name):
    return name if name.endswith((".nii", ".nii.gz")) else name + ".nii.gz"


def fslmaths(words):
    header, size, slope, intercept, values = nifti.read(find(words[0]))
    assert (slope, intercept) == (1, 0)
    words = [word for word in words if word != "-range"]  # of the display
    if words[-2:-1] == ["-odt"]:
        words = words[:-2]
    for operation, operand in zip(words[1:-1:2], words[2:-1:2]):
        if operation == "-div" and not find(operand):
            number = float(operand)
            values = [v / number for v in values]
            continue
        other = nifti.read(find(operand))[4]
        if operation == "-mas":
            values = [v if o > 0 else 0 for v, o in zip(values, other)]
        elif operation == "-add":
            values = [v + o for v, o in zip(values, other)]
        else:
            sys.exit(f"fslmaths {operation}: not in this stand-in")
    nifti.write(with_ending(words[-1]), header, size, values)


def fslstats(words):
    assert words[1:] == ["-V"], words
    header, _, _, _, values = nifti.read(find(words[0]))
    voxels = len(values) - sum(v == 0 for v in values)
    print(voxels, voxels * abs(struct.unpack_from("<f", header, 80)[0]) ** 3)


def fsl_sub(words):
    """Runs the command, or each line of the file of -t, at once. Prints a job's number."""
    with_value = {"-T", "-l", "-N", "-j", "-q", "-R", "-t"}
    at, tasks = 0, None
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--has_queues":
            print("No")
            return
        if words[at] == "-t":
            tasks = words[at + 1]
        at += 2 if words[at] in with_value else 1
    commands = open(tasks).read().splitlines() if tasks else [" ".join(words[at:])]
    for command in commands:
        if subprocess.run(command, shell=True, stdout=sys.stderr).returncode != 0:
            sys.exit(f"fsl_sub: failed: {command}")
    print(4711)


def main(name, words):
    if name == "imtest":
        print(1 if words and find(words[0]) else 0)
    elif name in ("imcp", "immv"):
        source = find(words[0])
        to = os.path.join(words[1], os.path.basename(words[0])) if os.path.isdir(words[1]) else words[1]
        (shutil.copy if name == "imcp" else shutil.move)(source, with_ending(to) if source.endswith(".gz") else to + ".nii")
    elif name == "imrm":
        for word in filter(find, words):
            os.remove(find(word))
    elif name == "fsl_abspath":
        print(os.path.abspath(words[0]))
    elif name == "zeropad":
        print(words[0].zfill(int(words[1])))
    elif name == "bc":
        scale = None
        for line in sys.stdin.read().replace(";", "\n").splitlines():
            if line.startswith("scale"):
                scale = int(line.split("=")[1])
            elif line.strip():
                total = sum(math.prod(float(n) for n in part.split("*")) for part in line.split("/ 1")[0].split("+"))
                print(int(total) if scale == 0 or total == int(total) else total)
    else:
        {"fslmaths": fslmaths, "fslstats": fslstats, "fsl_sub": fsl_sub}[name](words)


if __name__ == "__main__":
    main(os.path.basename(sys.argv[0]), sys.argv[1:])
