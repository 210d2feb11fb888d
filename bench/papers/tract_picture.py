"""Pathways projected along the three axes, over slices of FA through their centres."""
import os

PLANES = ("sagittal", "coronal", "axial")


def oriented(volume, affine):
    """The image with its axes pointing right, to the front and up."""
    return volume[tuple(slice(None, None, -1 if affine[a, a] < 0 else 1) for a in range(3))]


def head(FA):
    """The slices of each axis in which the brain is."""
    import numpy
    return tuple(slice(int(found.min()), int(found.max()) + 1) for found in numpy.nonzero(FA > 0.1))


def draw_view(axes, FA, inside, axis, aspect):
    import numpy
    centre = int(round(numpy.argwhere(inside).mean(axis=0)[axis]))
    axes.imshow(numpy.take(FA, centre, axis).T, cmap="gray", origin="lower", vmin=0, vmax=0.9, aspect=aspect)
    shadow = inside.max(axis=axis).astype(float)
    axes.imshow(numpy.ma.masked_equal(shadow, 0).T, cmap="autumn", origin="lower", vmin=0, vmax=1.5, alpha=0.8, aspect=aspect)
    axes.set(xticks=[], yticks=[])


def draw(path, FA, affine, found):
    """`found`: {(tract, settings): pathway}, maps with x last."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from PIL import Image
    tracts, settings = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
    size = [abs(affine[a, a]) for a in range(3)]
    FA = oriented(FA, affine)
    part = head(FA)
    figure, every = pyplot.subplots(len(tracts), 3 * len(settings), squeeze=False,
                                 figsize=(1.9 * 3 * len(settings), 1.75 * len(tracts)))
    for row, tract in enumerate(tracts):
        for column, chosen in enumerate(settings):
            inside = oriented(found[tract, chosen].inside.transpose(2, 1, 0), affine)[part]
            for axis in range(3):
                across, up = (a for a in range(3) if a != axis)
                axes = every[row, 3 * column + axis]
                draw_view(axes, FA[part], inside, axis, size[up] / size[across])
                if row == 0:
                    axes.set_title(f"{chosen}\n{PLANES[axis]}", fontsize=7)
                if axis == 0 and column == 0:
                    axes.set_ylabel(tract.replace(" of the ", "\nof the "), fontsize=7)
    figure.subplots_adjust(0.05, 0.01, 0.99, 0.95, 0.02, 0.03)
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    figure.savefig(path, dpi=80)
    pyplot.close(figure)
    with Image.open(path) as drawn:
        drawn.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path)
