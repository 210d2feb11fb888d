#!/usr/bin/env python3
"""Draws docs/images/track.png, tracts and a network of a brain: track.py VOXHERD SCAN MASK LABELS FOLDER [PICTURE.png].

SCAN: NAME.nii.gz with NAME.bval and NAME.bvec beside it; in the document the brain of dcm_qa_philips (BSD-2-Clause,
github.com/neurolabusc/dcm_qa_philips). LABELS: the 116 regions of AAL on its grid, odd numbers on the left up to 108.
Commands whose results are in FOLDER are not repeated. Needs nibabel, h5py and matplotlib.
"""
import os
import subprocess
import sys

import h5py
import matplotlib
import nibabel
import numpy

matplotlib.use("Agg")
from matplotlib import pyplot

BACKGROUND, INK, FAINT = "#0b1020", "#e8ecf6", "#7f8aa8"
LEFT_MOTOR, RIGHT_MOTOR = 1, 2  # the precentral gyri
# The medulla of this brain: a box of voxels (x, y, z).
STEM = numpy.s_[56:74, 50:66, 14:16]
CORONAL, SAGITTAL = 60, 72  # slices behind the tracts


def write_masks(labels, folder):
    image = nibabel.load(labels)
    regions = numpy.asarray(image.dataobj).astype(int)
    stem = numpy.zeros(regions.shape, bool)
    stem[STEM] = True
    motor = (regions == LEFT_MOTOR) | (regions == RIGHT_MOTOR)
    for name, mask in ("left", regions == LEFT_MOTOR), ("right", regions == RIGHT_MOTOR), ("motor", motor), ("stem", stem):
        nibabel.save(nibabel.Nifti1Image(mask.astype(numpy.uint8), image.affine), os.path.join(folder, name + ".nii.gz"))


def compute(voxherd, scan, mask, labels, folder):
    def run(name, command, *options):
        if not os.path.exists(os.path.join(folder, name)):
            subprocess.run([voxherd, command, *options, "--out", name], cwd=folder, check=True)

    stem = scan.removesuffix(".nii.gz")
    series = ("--dwi", scan, "--bvals", stem + ".bval", "--bvecs", stem + ".bvec", "--mask", mask)
    write_masks(labels, folder)
    run("tensor.h5", "tensor", *series)
    results = [os.path.join(folder, name + ".h5") for name in ("callosal", "corticospinal", "network")]
    if all(os.path.exists(path) for path in results):
        return
    run("fibres.h5", "ballstick", *series, "--fibres", "2")
    track = ("track", "--samples", "fibres.h5", "--loop-check", "on")
    run("callosal.h5", *track, "--seed-image", "left.nii.gz", "--include", "right.nii.gz")
    run("corticospinal.h5", *track, "--seed-image", "motor.nii.gz", "--include", "stem.nii.gz")
    run("network.h5", *track, "--connectome", labels, "--samples-per-seed", "1000")


def read(folder, result, name):
    with h5py.File(os.path.join(folder, result + ".h5"), "r") as f:
        return f[name][()]


def density(folder, tract):
    """The share of the accepted streamlines that visit each voxel (z, y, x)."""
    return read(folder, tract, "maps/density") / read(folder, tract, "streamlines/waytotal")


def draw_tracts(axes, folder, behind, view, aspect):
    axes.imshow(behind, origin="lower", cmap="gray", vmin=0, vmax=1.1, aspect=aspect)
    for tract, colours in ("callosal", "autumn"), ("corticospinal", "cool"):
        share = density(folder, tract).max(axis=view)
        shown = numpy.ma.masked_less(share, 0.005)
        axes.imshow(numpy.ma.log10(shown), origin="lower", cmap=colours, vmin=-2.3, vmax=0, alpha=0.85, aspect=aspect)
    inside = numpy.argwhere(behind > 0)
    (y0, x0), (y1, x1) = inside.min(axis=0), inside.max(axis=0)
    axes.set(xlim=(x0 - 2, x1 + 2), ylim=(y0 - 2, y1 + 2))
    axes.axis("off")


def draw_network(axes, folder, figure):
    count, labels = (read(folder, "network", "connectome/" + name) for name in ("count", "labels"))
    hemisphere = numpy.where(labels > 108, 2, (labels + 1) % 2)  # left, right, vermis
    order = numpy.lexsort((labels, hemisphere))
    both = (count + count.T)[order][:, order]
    picture = axes.imshow(numpy.ma.log10(numpy.ma.masked_less(both, 1)), cmap="viridis", interpolation="nearest")
    ends = numpy.cumsum(numpy.bincount(hemisphere.astype(int)))[:-1] - 0.5
    for end in ends:
        axes.axhline(end, color=FAINT, linewidth=0.6)
        axes.axvline(end, color=FAINT, linewidth=0.6)
    axes.set_xticks([ends[0] / 2, ends.sum() / 2], ["left", "right"])
    axes.set_yticks([ends[0] / 2, ends.sum() / 2], ["left", "right"], rotation=90, va="center")
    axes.tick_params(colors=FAINT, labelsize=9, length=0)
    axes.set_facecolor(BACKGROUND)
    bar = figure.colorbar(picture, ax=axes, fraction=0.046, pad=0.03)
    bar.set_label("streamlines between two regions (power of 10)", color=FAINT, fontsize=9)
    bar.ax.tick_params(colors=FAINT, labelsize=8, length=2)
    bar.outline.set_visible(False)


def draw(folder, picture):
    fa = read(folder, "tensor", "maps/FA")
    with h5py.File(os.path.join(folder, "tensor.h5"), "r") as f:
        size = numpy.linalg.norm(f["image"].attrs["voxel_to_world"][:3, :3], axis=0)
    figure, axes = pyplot.subplots(1, 3, figsize=(15, 5.2), facecolor=BACKGROUND, width_ratios=(1, 1.2, 1.15))
    # The image is stored from right to left: radiological.
    draw_tracts(axes[0], folder, fa[:, CORONAL], 1, size[2] / size[0])
    draw_tracts(axes[1], folder, fa[:, :, SAGITTAL], 2, size[2] / size[1])
    draw_network(axes[2], folder, figure)
    for axis, title in zip(axes, ("From the front", "From the side", "Network of 116 regions")):
        axis.set_title(title, color=INK, fontsize=13, loc="left", pad=8)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(picture, dpi=75, facecolor=BACKGROUND, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    program, series, mask, labels, folder = (os.path.abspath(path) for path in sys.argv[1:6])
    os.makedirs(folder, exist_ok=True)
    compute(program, series, mask, labels, folder)
    here = os.path.dirname(os.path.abspath(__file__))
    draw(folder, sys.argv[6] if len(sys.argv) == 7 else os.path.join(here, "track.png"))
