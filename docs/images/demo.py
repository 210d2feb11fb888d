#!/usr/bin/env python3
"""Draws docs/images/demo.png from the results of script/demo: demo.py DEMO_OUT [PICTURE.png].

Needs numpy, h5py, nibabel and matplotlib. The picture in the README shows the same commands on larger phantoms, plus
`voxherd tensor` for the FA behind the sticks:

    voxherd phantom dwi --preset toy --size 48x48x28 --voxel-size 1.04 --fibres 2 --out DEMO_OUT/phantom
    voxherd phantom liver --preset clinical --out DEMO_OUT/liver
    voxherd tensor ... --out DEMO_OUT/tensor.h5
"""
import os
import sys

import h5py
import matplotlib
import nibabel
import numpy

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.collections import LineCollection

BACKGROUND, INK, FAINT = "#0b1020", "#e8ecf6", "#7f8aa8"


def open_result(folder, name):
    return h5py.File(os.path.join(folder, name), "r")


def draw_title(axes, title, subtitle):
    x = axes.get_position(original=True).x0
    axes.figure.text(x, 0.93, title, color=INK, fontsize=14, weight="bold", va="bottom")
    axes.figure.text(x, 0.885, subtitle, color=FAINT, fontsize=9.5, va="bottom")


def richest_slice(fraction_1, fraction_2):
    return int(numpy.argmax((fraction_1 >= 0.15).sum(axis=(1, 2)) + 2 * (fraction_2 >= 0.15).sum(axis=(1, 2))))


def draw_orientations(axes, folder):
    """Sticks of both fibres in one slice, coloured by direction, over FA (or the sum of fractions without tensors)."""
    with open_result(folder, "fibres.h5") as f:
        maps = {name: f["maps"][name][()] for name in ("dyads1", "dyads2", "mean_f1", "mean_f2", "mean_fsum")}
        # FSL's frame: components along the image axes, x negated where the matrix has a positive determinant.
        x_sign = -1 if numpy.linalg.det(f["image"].attrs["voxel_to_world"][:3, :3]) > 0 else 1
    z = richest_slice(maps["mean_f1"], maps["mean_f2"])
    behind, name = maps["mean_fsum"], "sum of fibre fractions"
    if os.path.exists(os.path.join(folder, "tensor.h5")):
        with open_result(folder, "tensor.h5") as f:
            behind, name = f["maps/FA"][()], "FA"
    behind = numpy.where(maps["mean_fsum"] > 0, behind, numpy.nan)
    axes.imshow(behind[z], origin="lower", cmap="gray", vmin=0, vmax=1.25, interpolation="nearest")
    for fibre, threshold in ((1, 0.12), (2, 0.08)):
        fraction, direction = maps[f"mean_f{fibre}"][z], maps[f"dyads{fibre}"][z]
        y, x = numpy.nonzero(fraction >= threshold)
        d = direction[y, x]
        half = d[:, :2] * (x_sign, 1) * (0.25 + 0.35 * numpy.clip(fraction[y, x], 0, 0.7) / 0.7)[:, None]
        center = numpy.column_stack([x, y])
        colour = numpy.abs(d) / numpy.abs(d).max(axis=1, keepdims=True)
        axes.add_collection(LineCollection(numpy.stack([center - half, center + half], axis=1),
                                           colors=0.15 + 0.85 * colour, linewidths=1.15, capstyle="round"))
    inside = numpy.argwhere(maps["mean_fsum"][z] > 0)
    (y0, x0), (y1, x1) = inside.min(axis=0), inside.max(axis=0)
    axes.set(xlim=(x0 - 1, x1 + 1), ylim=(y0 - 1, y1 + 1))
    draw_title(axes, "Fibre orientations", f"ballstick: two fibres per voxel, over {name} (low where they cross)")


def rotation(azimuth, elevation):
    """Rows: right, up and towards the viewer, in world axes."""
    a, e = numpy.radians([azimuth, elevation])
    right = numpy.array([numpy.cos(a), numpy.sin(a), 0])
    towards = numpy.array([numpy.sin(a) * numpy.cos(e), -numpy.cos(a) * numpy.cos(e), numpy.sin(e)])
    return numpy.stack([right, numpy.cross(towards, right), towards])


def draw_regions(axes, folder, view):
    """The ends of the bundles: their voxels and labels."""
    image = nibabel.load(os.path.join(folder, "phantom", "truth", "ends.nii.gz"))
    labels = numpy.asarray(image.dataobj)
    for label in range(7, 15):
        voxels = nibabel.affines.apply_affine(image.affine, numpy.argwhere(labels == label)) @ view.T
        axes.plot(voxels[:, 0], voxels[:, 1], "o", color="#9fd8ff", markersize=2.2, alpha=0.5, markeredgewidth=0,
                  zorder=1)
        place = voxels[:, :2].mean(axis=0)
        away = place / numpy.linalg.norm(place)
        axes.text(*(place + 3.4 * away), str(label), color=INK, fontsize=10, ha="center", va="center", zorder=5)


def draw_mask(axes, folder, view):
    image = nibabel.load(os.path.join(folder, "phantom", "nodif_brain_mask.nii.gz"))
    points = nibabel.affines.apply_affine(image.affine, numpy.argwhere(numpy.asarray(image.dataobj) > 0)) @ view.T
    counts, x, y = numpy.histogram2d(points[:, 0], points[:, 1], bins=36)
    x, y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
    axes.contourf(x, y, counts.T / counts.max(), levels=8, cmap="bone", alpha=0.13)


def draw_connections(axes, folder, figure):
    """The best geodesic of each pair of ends in 3D, coloured by measure, the best ones in front."""
    with open_result(folder, "connections.h5") as f:
        offset, position = f["points/offset"][()], f["points/position"][()]
        measure, regions = f["samples/measure"][()], f["samples/regions"][()]
    best = {}  # of each pair, either way
    for i in numpy.argsort(measure):
        best[tuple(sorted(regions[i]))] = i
    view = rotation(azimuth=24, elevation=48)
    draw_mask(axes, folder, view)
    norm = matplotlib.colors.Normalize(min(measure[i] for i in best.values()), 1)
    colours = pyplot.get_cmap("inferno")
    segments, depths, paint, widths = [], [], [], []
    for i in best.values():
        points = position[offset[i]:offset[i + 1]] @ view.T
        if len(points) < 2:
            continue
        share = float(norm(measure[i]))
        for start, end in zip(points[:-1], points[1:]):
            depth = (start[2] + end[2]) / 2 + 1000 * (share > 0.85)
            segments += [(start[:2], end[:2])] * 2
            depths += [depth - 4, depth]
            paint += [matplotlib.colors.to_rgba(BACKGROUND, 0.75), colours(0.18 + 0.78 * share ** 1.5)]
            widths += [2.2 + 3.2 * share, 0.8 + 2.4 * share ** 2]
    order = numpy.argsort(depths, kind="stable")
    axes.add_collection(LineCollection([segments[i] for i in order], colors=[paint[i] for i in order],
                                       linewidths=[widths[i] for i in order], capstyle="round"))
    draw_regions(axes, folder, view)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.margins(0.06)
    shown = matplotlib.colors.ListedColormap([colours(0.18 + 0.78 * s ** 1.5) for s in numpy.linspace(0, 1, 256)])
    bar = figure.colorbar(matplotlib.cm.ScalarMappable(norm, shown), cax=axes.inset_axes([0.2, -0.045, 0.6, 0.025]),
                          orientation="horizontal")
    bar.set_label("measure (1: along the fibres throughout)", color=FAINT, fontsize=9)
    bar.ax.tick_params(colors=FAINT, labelsize=8, length=2)
    bar.outline.set_visible(False)
    draw_title(axes, "Ranked connections", "geodesic: best path between ends; true: 7-8, 9-10, 11-12, 13-14")


def draw_perfusion(axes, folder, figure):
    """Portal perfusion of one slice over the mean of the series."""
    with open_result(folder, "perfusion.h5") as f:
        portal, status = f["maps/kp"][()], f["maps/status"][()]
    series = numpy.asarray(nibabel.load(os.path.join(folder, "liver", "dce.nii")).dataobj).mean(axis=3).T
    liver = numpy.asarray(nibabel.load(os.path.join(folder, "liver", "liver.nii.gz")).dataobj).T > 0
    # The slice that shows most: much liver, and many of its voxels with little portal flow.
    tumours, area = (liver & (portal < 30)).sum(axis=(1, 2)), liver.sum(axis=(1, 2))
    z = int(numpy.argmax(numpy.where(area > 0.5 * area.max(), tumours + 0.02 * area, 0)))
    picture_slice = numpy.where(series[z] > 0.25 * numpy.percentile(series[z], 99), series[z], numpy.nan)
    axes.imshow(picture_slice, origin="lower", cmap="gray", vmin=0, vmax=1.15 * numpy.nanpercentile(picture_slice, 99))
    shown = numpy.where(liver & (status == 0), portal, numpy.nan)[z]
    picture = axes.imshow(shown, origin="lower", cmap="viridis", vmin=0, vmax=numpy.nanpercentile(shown, 99))
    body = numpy.argwhere(numpy.isfinite(picture_slice))
    (y0, x0), (y1, x1) = body.min(axis=0), body.max(axis=0)
    axes.set(xlim=(x0 - 1, x1 + 1), ylim=(y0 - 1, y1 + 1))
    bar = figure.colorbar(picture, cax=axes.inset_axes([1.02, 0.08, 0.025, 0.84]))
    bar.set_label("portal perfusion (ml/100 g/min)", color=FAINT, fontsize=8)
    bar.ax.tick_params(colors=FAINT, labelsize=8, length=2)
    bar.outline.set_visible(False)


def draw_curves(axes, folder):
    with open_result(folder, "perfusion.h5") as f:
        curves = {name: f["curves"][name][()] for name in ("time", "arterial", "portal", "tissue", "tissue_fit")}
    t = curves["time"]
    axes.plot(t, 0.1 * curves["arterial"], color="#ff6b6b", linewidth=1.1, label="artery × 0.1")
    axes.plot(t, 0.1 * curves["portal"], color="#6ba8ff", linewidth=1.1, label="portal vein × 0.1")
    axes.plot(t, curves["tissue"], "o", color=INK, markersize=2.6, label="liver, measured")
    axes.plot(t, curves["tissue_fit"], color="#5fd38d", linewidth=1.8, label="liver, fitted")
    axes.set_xlabel("time (s)", color=FAINT, fontsize=9, labelpad=1)
    axes.set_ylabel("concentration (mM)", color=FAINT, fontsize=9)
    axes.tick_params(colors=FAINT, labelsize=8, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(FAINT)
    axes.set_facecolor(BACKGROUND)
    axes.set(xlim=(0, t[-1]), ylim=(0, None))
    axes.legend(frameon=False, fontsize=8, labelcolor=INK, loc="upper right", handlelength=1.4)


def draw(folder, picture):
    figure = pyplot.figure(figsize=(15, 5.6), facecolor=BACKGROUND)
    orientations = figure.add_axes([0.012, 0.03, 0.30, 0.83])
    connections = figure.add_axes([0.338, 0.11, 0.32, 0.74])
    perfusion = figure.add_axes([0.69, 0.42, 0.255, 0.43])
    curves = figure.add_axes([0.715, 0.09, 0.265, 0.28])
    for axes in (orientations, connections, perfusion):
        axes.axis("off")
    draw_orientations(orientations, folder)
    draw_connections(connections, folder, figure)
    draw_perfusion(perfusion, folder, figure)
    perfusion.set_anchor("W")
    draw_title(perfusion, "Liver perfusion", "perfusion: two tumours with little portal flow; mean curve, fit")
    draw_curves(curves, folder)
    figure.savefig(picture, dpi=100, facecolor=BACKGROUND, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: demo.py DEMO_OUT [PICTURE.png]")
    draw(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else os.path.join(os.path.dirname(__file__), "demo.png"))
