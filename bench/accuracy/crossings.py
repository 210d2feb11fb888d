#!/usr/bin/env python3
"""How well ball & stick finds crossing fibres, against angle, noise, b-values, directions and signal model.

    python3 bench/accuracy/crossings.py build/cuda/voxherd --backend cuda --out FOLDER

Makes phantoms (`voxherd phantom dwi --crossings`) with one block of slices per angle, fits them with `voxherd ballstick`,
and writes FOLDER/crossings.csv (one line per model, protocol, signal-to-noise ratio and angle) and FOLDER/crossings.md.
Needs only Python's standard library. No MPI launcher is used; --jobs programs run at a time.

The fibres of a voxel are paired with the estimated ones of mean fraction 0.05 or more, one to one, so that the sum of
the angles is smallest. A fibre is recalled if its partner is within --tolerance degrees.
"""
import argparse
import array
import concurrent.futures
import csv
import gzip
import itertools
import math
import os
import statistics
import struct
import subprocess
import sys
import tempfile

MIN_FRACTION = 0.05
FITTED_FIBRES = 3
COLUMNS = ["model", "bvalues", "directions", "snr", "fibres", "degrees", "voxels", "recall_percent", "complete_percent",
           "false_percent", "median_error_degrees", "mean_error_degrees", "p95_error_degrees"]


def numbers(text):
    return [float(n) for n in text.split(",")]


def protocol(text):
    """1000,2000:30,60 -> ("1000,2000", "30,60"): shells in s/mm2 and the directions of each."""
    b_values, colon, directions = text.partition(":")
    if not colon or len(b_values.split(",")) != len(directions.split(",")):
        raise argparse.ArgumentTypeError(f"{text}: expected as many numbers of directions as b-values, e.g. 1000,2000:30,30")
    return b_values, directions


def parse_arguments(words):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program", help="path of voxherd")
    p.add_argument("--out", required=True, help="folder for crossings.csv and crossings.md")
    p.add_argument("--backend", default="auto")
    p.add_argument("--angles", type=numbers, default=numbers("20,30,40,50,60,70,80,90"), help="degrees")
    p.add_argument("--snr", type=numbers, default=numbers("10,20,30,50"))
    p.add_argument("--protocols", type=protocol, nargs="+", default=[
        protocol(text) for text in ("1000:32", "1000:64", "2000:64", "3000:64", "1000,2000,3000:30,30,30",
                                    "1000,2000,3000:90,90,90")])
    p.add_argument("--models", type=lambda text: text.split(","), default=["1", "2", "3"])
    p.add_argument("--fibres", type=int, default=2, choices=(2, 3), help="true fibres of every voxel")
    p.add_argument("--side", type=int, default=20, help="an angle has SIDE x SIDE voxels")
    p.add_argument("--tolerance", type=float, default=15, help="degrees")
    p.add_argument("--jobs", type=int, default=4, help="programs at a time")
    p.add_argument("--threads", type=int, default=0, help="CPU threads of a program")
    p.add_argument("--ballstick", nargs="*", default=[], metavar="WORD",
                   help="more options of voxherd ballstick, without dashes: burn-in 500 jumps 500")
    return p.parse_args(words)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr}")


def read_image(path):
    """One tuple of components per voxel, x fastest."""
    with gzip.open(path) as file:
        data = file.read()
    size = struct.unpack_from("<8h", data, 40)
    kind, first = struct.unpack_from("<h", data, 70)[0], int(struct.unpack_from("<f", data, 108)[0])
    if kind != 16:
        sys.exit(f"{path}: number type {kind}, expected 16 (float32)")
    values = array.array("f", data[first:])
    if sys.byteorder == "big":
        values.byteswap()
    voxels = size[1] * size[2] * size[3]
    return list(zip(*(values[at:at + voxels] for at in range(0, len(values), voxels))))


def read_fibres(folder, fraction_name, count):
    """Of each voxel: the directions of its fibres."""
    found = [(read_image(os.path.join(folder, f"dyads{j + 1}.nii.gz")),
              read_image(os.path.join(folder, f"{fraction_name.format(j + 1)}.nii.gz"))) for j in range(count)]
    return [[directions[v] for directions, fractions in found if fractions[v][0] >= MIN_FRACTION]
            for v in range(len(found[0][0]))]


def degrees_between(a, b):
    size = math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))
    return math.degrees(math.acos(min(1, abs(sum(x * y for x, y in zip(a, b))) / size))) if size > 0 else 90


def pair_fibres(truth, estimate):
    """The angle of each pair, for the pairing with the smallest sum."""
    few, many = sorted((truth, estimate), key=len)
    best = min(([degrees_between(a, b) for a, b in zip(few, chosen)] for chosen in itertools.permutations(many, len(few))),
               key=sum)
    return best


def score_block(truth, estimate, tolerance):
    true_fibres = sum(map(len, truth))
    recalled, complete, spurious = [], 0, 0
    for fibres, found in zip(truth, estimate):
        close = [angle for angle in pair_fibres(fibres, found) if angle <= tolerance]
        recalled += close
        complete += len(close) == len(fibres)
        spurious += len(found) - len(close)
    recalled.sort()
    text = lambda value: f"{value:.2f}" if recalled else ""
    return {"voxels": len(truth), "recall_percent": f"{100 * len(recalled) / true_fibres:.1f}",
            "complete_percent": f"{100 * complete / len(truth):.1f}",
            "false_percent": f"{100 * spurious / true_fibres:.1f}",
            "median_error_degrees": text(statistics.median(recalled) if recalled else 0),
            "mean_error_degrees": text(statistics.fmean(recalled) if recalled else 0),
            "p95_error_degrees": text(recalled[int(0.95 * (len(recalled) - 1) + 0.5)] if recalled else 0)}


def make_phantom(a, folder, b_values, directions, snr):
    run(a.program, "phantom", "dwi", "--out", folder, "--size", f"{a.side}x{a.side}x{len(a.angles)}", "--crossings",
        ",".join(f"{x:g}" for x in a.angles), "--fibres", str(a.fibres), "--bvalues", b_values, "--directions", directions,
        "--b0", str(max(1, sum(map(int, directions.split(","))) // 10)), "--snr", f"{snr:g}", "--threads", "1")


def measure(a, folder, b_values, directions, snr):
    """The lines of one phantom: every model, every angle."""
    make_phantom(a, folder, b_values, directions, snr)
    truth = read_fibres(os.path.join(folder, "truth"), "f{}", a.fibres)
    per_angle = a.side * a.side
    more = [word if word.replace(".", "").isdigit() else f"--{word}" for word in a.ballstick]
    lines = []
    for model in a.models:
        result = os.path.join(folder, f"model{model}.h5")
        run(a.program, "ballstick", "--dwi", f"{folder}/data.nii", "--bvals", f"{folder}/bvals", "--bvecs",
            f"{folder}/bvecs", "--mask", f"{folder}/nodif_brain_mask.nii.gz", "--fibres", str(FITTED_FIBRES), "--model",
            model, "--backend", a.backend, "--threads", str(a.threads), "--quiet", "--out", result, *more)
        run(a.program, "export", result, "--to", "nifti", f"{folder}/model{model}")
        estimate = read_fibres(f"{folder}/model{model}", "mean_f{}", FITTED_FIBRES)
        os.remove(result)
        for i, angle in enumerate(a.angles):
            block = slice(i * per_angle, (i + 1) * per_angle)
            lines.append({"model": model, "bvalues": b_values.replace(",", " "),
                          "directions": directions.replace(",", " "), "snr": f"{snr:g}", "fibres": a.fibres,
                          "degrees": f"{angle:g}", **score_block(truth[block], estimate[block], a.tolerance)})
    return lines


def measure_all(a):
    conditions = list(itertools.product(a.protocols, a.snr))
    lines = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        jobs = [pool.submit(measure, a, os.path.join(folder, str(i)), *shells, snr)
                for i, (shells, snr) in enumerate(conditions)]
        for done, job in enumerate(jobs, 1):
            lines += job.result()
            print(f"{done} of {len(jobs)} phantoms", flush=True)
    return lines


def write_csv(lines, path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def markdown(lines, a):
    """A table per model: a row for each protocol and ratio, a column for each angle."""
    angles = [f"{angle:g}" for angle in a.angles]
    text = (f"Voxels in which all {a.fibres} fibres are found within {a.tolerance:g}° (%), and median error of the fibres "
            f"found (degrees); {a.side * a.side} voxels each.\n")
    for model in a.models:
        text += f"\nModel {model}:\n\n| b (s/mm²) | directions | SNR | " + " | ".join(f"{x}°" for x in angles) + " |\n"
        text += "|" + "---|" * (3 + len(angles)) + "\n"
        rows = {}
        for line in lines:
            if line["model"] == model:
                rows.setdefault((line["bvalues"], line["directions"], line["snr"]), {})[line["degrees"]] = line
        for key, row in rows.items():
            cells = [f"{float(row[x]['complete_percent']):.0f}, {row[x]['median_error_degrees'] or '-'}" for x in angles]
            text += f"| {' | '.join(key)} | {' | '.join(cells)} |\n"
    return text


def main(words):
    a = parse_arguments(words)
    os.makedirs(a.out, exist_ok=True)
    lines = measure_all(a)
    write_csv(lines, os.path.join(a.out, "crossings.csv"))
    with open(os.path.join(a.out, "crossings.md"), "w", encoding="utf-8") as file:
        file.write(markdown(lines, a))


if __name__ == "__main__":
    main(sys.argv[1:])
