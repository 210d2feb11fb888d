#!/usr/bin/python3
"""Stand-ins for the programs of FSL that pipelines call around ours: each does only what the replayed scripts need.
Called by a link, this script is the program of that name."""
import os
import subprocess
import sys

NAMES = ["bc", "fsl_abspath", "fslmaths", "fslstats", "fsl_sub", "imcp", "imtest", "zeropad"]


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
    import nibabel
    first = nibabel.load(find(words[0]))
    values = first.get_fdata()
    for operation, operand in zip(words[1:-1:2], words[2:-1:2]):
        other = nibabel.load(find(operand)).get_fdata() if find(operand) else float(operand)
        if operation == "-mas":
            values = values * (other > 0)
        elif operation == "-add":
            values = values + other
        elif operation == "-div":
            values = values / other
        else:
            sys.exit(f"fslmaths {operation}: not in this stand-in")
    nibabel.save(nibabel.Nifti1Image(values.astype("float32"), first.affine), with_ending(words[-1]))


def fslstats(words):
    import nibabel
    image = nibabel.load(find(words[0]))
    assert words[1:] == ["-V"], words
    voxels = int((image.get_fdata() != 0).sum())
    print(voxels, voxels * float(abs(image.header.get_zooms()[0] ** 3)))


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
    elif name == "imcp":
        source = find(words[0])
        to = os.path.join(words[1], os.path.basename(words[0])) if os.path.isdir(words[1]) else words[1]
        fslmaths([source, "-add", "0", to])
    elif name == "fsl_abspath":
        print(os.path.abspath(words[0]))
    elif name == "zeropad":
        print(words[0].zfill(int(words[1])))
    elif name == "bc":
        for line in sys.stdin.read().replace(";", "\n").splitlines():
            if line.strip() and not line.startswith("scale"):
                print(f"{sum(float(n) for n in line.split('+')):g}" if "+" in line else line.strip())
    else:
        {"fslmaths": fslmaths, "fslstats": fslstats, "fsl_sub": fsl_sub}[name](words)


if __name__ == "__main__":
    main(os.path.basename(sys.argv[0]), sys.argv[1:])
