#!/usr/bin/env python3
"""Draws docs/images/truth.png, a crossing region as each tool sees it and a network beside its truth:
truth.py VOXHERD GEOMETRY FOLDER [PICTURE.png].

GEOMETRY: isbi_challenge_2013.txt of github.com/ecaruyer/phantomas. Commands whose results are in FOLDER are not repeated. Needs
nibabel, h5py, matplotlib, MRtrix3 and DIPY.
"""
import json
import os
import subprocess
import sys

import h5py
import matplotlib
import nibabel
import numpy

matplotlib.use("Agg")
from matplotlib import collections, pyplot

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import truth_peers

BACKGROUND, INK, FAINT = "#0b1020", "#e8ecf6", "#7f8aa8"
SIDE = 16  # voxels of the region
LEAST = {"dyads": 0.05, "mrtrix": 0.1, "dipy": 0.5}  # fractions, peaks as tckgen takes them, share of the largest


def compute(voxherd, geometry, folder):
    def run(name, *words):
        if not os.path.exists(os.path.join(folder, name)):
            subprocess.run([voxherd, *words], cwd=folder, check=True)

    run("data/phantom.json", "phantom", "dwi", "--geometry", geometry, "--bvalues", "3000", "--directions", "64", "--b0", "4", "--snr",
        "30", "--out", "data")
    series = ("--dwi", "data/data.nii", "--bvals", "data/bvals", "--bvecs", "data/bvecs")
    run("fibres.h5", "ballstick", *series, "--mask", "data/white_matter.nii.gz", "--out", "fibres.h5")
    run("fsl", "export", "fibres.h5", "--to", "fsl", "fsl")
    run("network.h5", "track", "--samples", "fibres.h5", "--connectome", "data/truth/ends.nii.gz", "--loop-check", "on",
        "--samples-per-seed", "100", "--out", "network.h5")
    data = os.path.join(folder, "data")
    if not os.path.exists(os.path.join(data, "mrtrix")):
        truth_peers.mrtrix_fibres(data, 1)
    if not os.path.exists(os.path.join(data, "dipy")):
        truth_peers.dipy_fibres(data)


def read_fibres(folder, fraction, least):
    """Directions and whether they count: (x, y, z, fibre, 3) and (x, y, z, fibre)."""
    read = lambda name: numpy.asarray(nibabel.load(os.path.join(folder, name)).dataobj, dtype=float)
    numbers = [n for n in range(1, 5) if os.path.exists(os.path.join(folder, f"dyads{n}.nii.gz"))]
    directions = numpy.stack([read(f"dyads{n}.nii.gz") for n in numbers], axis=3)
    fractions = numpy.stack([read(fraction.format(n)) for n in numbers], axis=3)
    return directions, fractions > least


def find_region(counts, scored):
    """The slice and corner of the square with the most scored voxels of two or more fibres."""
    crossing = ((counts >= 2) & scored).astype(float)
    sums = numpy.cumsum(numpy.cumsum(numpy.pad(crossing, ((1, 0), (1, 0), (0, 0))), 0), 1)
    inside = sums[SIDE:, SIDE:] - sums[:-SIDE, SIDE:] - sums[SIDE:, :-SIDE] + sums[:-SIDE, :-SIDE]
    return numpy.unravel_index(numpy.argmax(inside), inside.shape)


def draw_fibres(axes, title, directions, counts, scored, at):
    x, y, z = at
    lines, colours = [], []
    for i in range(SIDE):
        for k in range(SIDE):
            if not scored[x + i, y + k, z]:
                continue
            for d in directions[x + i, y + k, z][counts[x + i, y + k, z]]:
                half = 0.48 * numpy.array([-d[0], d[1]])  # the file's x axis is reversed: dyads as FSL's
                lines.append([(i - half[0], k - half[1]), (i + half[0], k + half[1])])
                colours.append(numpy.clip(numpy.abs(d) * 1.1, 0, 1))
    axes.add_collection(collections.LineCollection(lines, colors=colours, linewidths=1.7))
    axes.set_xlim(-0.7, SIDE - 0.3), axes.set_ylim(-0.7, SIDE - 0.3)
    finish(axes, title)


def draw_network(axes, title, matrix):
    axes.imshow(numpy.log1p(matrix), cmap="magma", interpolation="nearest")
    finish(axes, title)


def finish(axes, title):
    axes.set_aspect("equal"), axes.set_xticks([]), axes.set_yticks([])
    axes.set_facecolor(BACKGROUND)
    axes.set_title(title, color=INK, fontsize=11)
    for side in axes.spines.values():
        side.set_color(FAINT)


def read_networks(folder):
    with h5py.File(os.path.join(folder, "network.h5"), "r") as file:
        labels = file["connectome/labels"][()].astype(int).ravel()
        count = file["connectome/count"][()].astype(float).reshape(len(labels), len(labels))
    with open(os.path.join(folder, "data", "truth", "bundles.json"), encoding="utf-8") as file:
        ends = [bundle["ends"] for bundle in json.load(file)["bundles"]]
    # Neighbours in the picture are the two ends of a bundle.
    order = [numpy.flatnonzero(labels == label)[0] for label in dict.fromkeys(sum(ends, []))]
    real = numpy.zeros_like(count)
    for first, second in ends:
        i, k = numpy.flatnonzero(labels == first)[0], numpy.flatnonzero(labels == second)[0]
        real[i, k] = real[k, i] = count.max()
    chosen = numpy.ix_(order, order)
    return real[chosen], (count + count.T)[chosen]


def main():
    voxherd, geometry, folder = (os.path.abspath(word) for word in sys.argv[1:4])
    picture = sys.argv[4] if len(sys.argv) > 4 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "truth.png")
    os.makedirs(folder, exist_ok=True)
    compute(voxherd, geometry, folder)
    data = os.path.join(folder, "data")
    scored = numpy.asarray(nibabel.load(os.path.join(data, "truth", "scored.nii.gz")).dataobj) > 0
    real = read_fibres(os.path.join(data, "truth"), "f{}.nii.gz", LEAST["dyads"])
    at = find_region(real[1].sum(axis=-1), scored)
    found = {"truth": real, "voxherd ballstick": read_fibres(os.path.join(folder, "fsl"), "mean_f{}samples.nii.gz", LEAST["dyads"]),
             "MRtrix3 csd, peaks above 0.1": read_fibres(os.path.join(data, "mrtrix"), "f{}.nii.gz", LEAST["mrtrix"]),
             "DIPY csd, above half of the largest": read_fibres(os.path.join(data, "dipy"), "f{}.nii.gz", LEAST["dipy"])}
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 8.4), facecolor=BACKGROUND)
    real_network, network = read_networks(folder)
    for place, (title, (directions, counts)) in zip(axes[:, :2].ravel(), found.items()):
        draw_fibres(place, title, directions, counts, scored, at)
    draw_network(axes[0, 2], "true pairs of bundles' ends", real_network)
    draw_network(axes[1, 2], "voxherd track (log of the count)", network)
    figure.tight_layout()
    figure.savefig(picture, dpi=110, facecolor=BACKGROUND)


if __name__ == "__main__":
    main()
