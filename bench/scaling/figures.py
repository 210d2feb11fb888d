"""Line charts with matplotlib; axes are logarithmic by default."""
import os
import sys


def pyplot():
    """Loads matplotlib only when a chart is written, so that tables need only Python."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("error: charts need matplotlib; install python3-matplotlib")
    matplotlib.use("Agg")
    # Equal data give equal SVG files.
    matplotlib.rcParams["svg.hashsalt"] = "voxherd"
    from matplotlib import pyplot as loaded
    return loaded


def save(figure, path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None} if path.endswith(".svg") else None)
    pyplot().close(figure)


def set_ticks(axis, ticks):
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def line_chart(path, title, x_label, y_label, series, y_scale="log", x_ticks=None, y_ticks=None):
    """`series`: {name: (points, joined points)}; values on logarithmic axes must be positive. Each series is an SVG
    group with the id "series NAME"."""
    figure, axes = pyplot().subplots(figsize=(8.6, 5.2))
    for i, (name, (points, joined)) in enumerate(series.items()):
        colour = f"C{i % 10}"
        axes.plot(*zip(*joined), color=colour, linestyle="--" if i >= 10 else "-", gid=f"series {name}")
        axes.plot(*zip(*points), color=colour, linestyle="", marker="o", markersize=4, label=name)
    axes.set(title=title, xlabel=x_label, ylabel=y_label, xscale="log", yscale=y_scale)
    if y_scale == "linear":
        axes.set_ylim(bottom=0)
    for axis, ticks in ((axes.xaxis, x_ticks), (axes.yaxis, y_ticks)):
        if ticks:
            set_ticks(axis, ticks)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    save(figure, path)
