#!/usr/bin/env python3
"""Print a CSV file of this folder as an aligned table, or plot the figures.

    python3 docs/papers/tables.py print docs/papers/hernandez-2013-measurements.csv
    python3 docs/papers/tables.py plot [--format png] FOLDER [FIGURE ...]
    python3 docs/papers/tables.py list

A CSV file begins with lines "# ..." (title, machine, date, command). A file of bench/papers has the columns
device,series,x,value and lines "# x: " and "# y: ", and is a figure by itself. Plotting needs matplotlib.
"""
import argparse
import csv
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
STUDY = "scaling/"


def read(path):
    """Header lines without "# ", column names, rows."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().splitlines()
    header = [line[2:] for line in lines if line.startswith("#")]
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    return header, rows[0], rows[1:]


def records(name):
    _, columns, rows = read(os.path.join(HERE, name + ".csv"))
    return [dict(zip(columns, row)) for row in rows]


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def print_table(path):
    header, columns, rows = read(path)
    for line in header:
        print(line)
    print()
    widths = [max(map(len, column)) for column in zip(columns, *rows)]
    numeric = [all(is_number(cell) for cell in column if cell) for column in zip(*rows)]
    for row in (columns, *rows):
        cells = [cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(row, widths, numeric)]
        print("  ".join(cells).rstrip())


def points(rows, x, y):
    return [(float(row[x]), float(row[y])) for row in rows if is_number(row[x]) and is_number(row[y])]


def columns_of(name, x, columns):
    """One series per column: {label: [(x, y)]}."""
    rows = records(name)
    return {label: points(rows, x, column) for column, label in columns.items()}


def groups_of(name, x, y, *keys, where=lambda row: True):
    """One series per value of the key columns."""
    series = {}
    for row in filter(where, records(name)):
        series.setdefault(", ".join(row[key] for key in keys), []).extend(points([row], x, y))
    return {label: found for label, found in series.items() if found}


def transposed(name, prefix, *keys, where=lambda row: True):
    """One series per row; x is the number in the names of the columns PREFIX..."""
    series = {}
    for row in filter(where, records(name)):
        cells = [(c[len(prefix):].split("_")[0], v) for c, v in row.items() if c.startswith(prefix)]
        series[", ".join(row[key] for key in keys)] = [(float(x), float(y)) for x, y in cells if is_number(y)]
    return series


def with_sd(name, method):
    rows = [row for row in records(name) if row["method"] == method and row["cnr"] != "inf"]
    return {f"{label} {what}": [(float(r["cnr"]), float(r[column])) for r in rows]
            for what in ("kl", "ka", "kp")
            for label, column in (("here", f"{what}_sd"), ("paper", f"paper_{what}_sd"), ("bound", f"{what}_least_sd"))}


CPU_GPU = {"cpu_ms_per_voxel": "one core", "gpu_ms_per_voxel": "H200"}

# Figure: title, x label, y label, function that returns {label: [(x, y)]}; last the line width if not the usual one.
LINES = {
    "hernandez-2013-measurements": (
        "Time against measurements", "measurements K", "ms per voxel",
        lambda: columns_of("hernandez-2013-measurements", "measurements", CPU_GPU)),
    "hernandez-2013-voxels": (
        "Time against voxels", "voxels", "ms per voxel",
        lambda: columns_of("hernandez-2013-voxels", "voxels", CPU_GPU)),
    "hernandez-2013-iterations": (
        "Time against burn-in", "burn-in jumps", "ms per voxel",
        lambda: columns_of("hernandez-2013-iterations", "burn_in", CPU_GPU)),
    "hernandez-2013-fibres": (
        "Time against fibres", "fibres", "ms per voxel",
        lambda: columns_of("hernandez-2013-fibres", "fibres", CPU_GPU)),
    "van-aart-2011-step-size": (
        "Time against step size (Fig. 6)", "step, voxels", "ms",
        lambda: transposed("van-aart-2011-step-size", "ms_step_", "scheme")),
    "van-aart-2011-seeds": (
        "Seeds in, scores out (Table 3)", "seeds", "ms",
        lambda: transposed("van-aart-2011-seeds", "ms_", "device",
                           where=lambda row: (row["output"], row["scheme"]) == ("scores", "hamiltonian/trilinear")
                           or row["output"].startswith("paper"))),
    "van-aart-2011-accuracy-pullback": (
        "Accuracy against cost: pullback", "microseconds per ray", "median error of the end, mm",
        lambda: groups_of("van-aart-2011-accuracy-points", "us_per_ray", "median_error_mm", "scheme",
                          where=lambda row: row["field"] == "pullback"), 0),
    "van-aart-2011-accuracy-half-space": (
        "Accuracy against cost: half space", "microseconds per ray", "median error of the end, mm",
        lambda: groups_of("van-aart-2011-accuracy-points", "us_per_ray", "median_error_mm", "scheme",
                          where=lambda row: row["field"] == "half space"), 0),
    "jeong-2007-error-const": (
        "Error against time: constant tensor", "ms", "relative L1 error",
        lambda: groups_of("jeong-2007-error", "ms", "relative_l1_error", "scheme",
                          where=lambda row: row["field"] == "const")),
    "jeong-2007-error-tilted": (
        "Error against time: tilted tensor", "ms", "relative L1 error",
        lambda: groups_of("jeong-2007-error", "ms", "relative_l1_error", "scheme",
                          where=lambda row: row["field"] == "tilted")),
    "jeong-2007-error-half-space": (
        "Error against time: hyperbolic half space", "ms", "relative L1 error",
        lambda: groups_of("jeong-2007-error", "ms", "relative_l1_error", "scheme",
                          where=lambda row: row["field"] == "half_space")),
    "wang-cao-2012-frames": (
        "Time against frames (Table 2)", "frames", "ms per voxel",
        lambda: columns_of("wang-cao-2012-frames", "frames", {
            "paper_c2050": "paper, C2050", "simplex_paper": "simplex, paper's scheme",
            "simplex_paper_fft": "the same by Block-FFT", "lm": "Levenberg-Marquardt"})),
    "wang-cao-2012-voxels": (
        "Time against voxels in flight (Table 2)", "voxels", "ms per voxel",
        lambda: columns_of("wang-cao-2012-voxels", "voxels", {
            "paper_c2050": "paper, C2050", "simplex_paper": "simplex, paper's scheme",
            "simplex_paper_fft": "the same by Block-FFT", "lm": "Levenberg-Marquardt"})),
    "wang-cao-2012-convolution": (
        "Convolution alone on a GPU (Fig. 5)", "frames", "ns per curve",
        lambda: columns_of("wang-cao-2012-convolution", "frames", {
            "block_fft_ns": "Block-FFT", "cufft_ns": "cuFFT", "direct_ns": "direct sum", "recursion_ns": "recursion"})),
    "wang-cao-2012-trial": (
        "Cost of one trial on a GPU", "frames", "microseconds",
        lambda: columns_of("wang-cao-2012-trial", "frames", {
            "block_fft_us": "Block-FFT", "direct_us": "direct sum", "recursion_us": "recursion"})),
    "wang-cao-2012-cnr": (
        "Standard deviation against contrast-to-noise ratio (Table 3)", "contrast-to-noise ratio", "ml/100 g/min",
        lambda: with_sd("wang-cao-2012-cnr", "simplex-paper")),
    "wang-cao-2012-path": (
        "Cost against iteration (Fig. 6)", "iteration", "sum of squares, mM²",
        lambda: groups_of("wang-cao-2012-path-points", "iteration", "cost_mM2", "voxel", "method")),
    "scaling-cpu-speed-up": (
        "Strong scaling on CPU cores", "ranks", "times one rank",
        lambda: {**groups_of(STUDY + "cpu-runs", "ranks", "speed_up", "problem"), "ideal": [(1, 1), (16, 16)]}),
}

COLOURS = {"launch": "#999999", "start": "#56b4e9", "reading": "#e69f00", "computing": "#009e73", "writing": "#d55e00",
           "waiting": "#dddddd", "end": "#cc79a7"}


def plot_lines(axes, title, x_label, y_label, series, width=1.2):
    for label, found in series().items():
        axes.plot(*zip(*found), marker="o", markersize=3, linewidth=width, label=label)
    axes.set(title=title, xlabel=x_label, ylabel=y_label, xscale="log", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def plot_phases(axes):
    rows = records(STUDY + "gpu-phases")
    names = [f"{row['problem']}, {row['ranks']}" for row in rows]
    left = [0.0] * len(rows)
    for phase, colour in COLOURS.items():
        widths = [max(0.0, float(row[phase])) for row in rows]
        axes.barh(names, widths, left=left, color=colour, label=phase)
        left = [a + b for a, b in zip(left, widths)]
    axes.invert_yaxis()
    axes.set(title="Where the time went, one and two GPUs", xlabel="% of the wall time")
    axes.legend(fontsize=7, ncol=7, loc="upper center", bbox_to_anchor=(0.4, -0.12))


def plot_timeline(axes, name, title):
    for row in records(STUDY + name):
        y = int(row["rank"])
        for key, what, offset in (("read", "reading", 0.25), ("compute", "computing", 0.0), ("write", "writing", 0.25)):
            begin, end = float(row[key + "_begin_s"]), float(row[key + "_end_s"])
            axes.broken_barh([(begin, end - begin)], (y - 0.25 + offset * 1.2, 0.25), color=COLOURS[what],
                             edgecolor="white", linewidth=0.2)
    axes.set(title=title, xlabel="s", yticks=[0, 1], yticklabels=["rank 0", "rank 1"])


BARS = {
    "scaling-gpu-phases": plot_phases,
    "scaling-timeline": lambda axes: plot_timeline(axes, "timeline-ballstick-m2", "Ball & stick, model 2, two GPUs"),
    "scaling-balance-static": lambda axes: plot_timeline(
        axes, "timeline-balance-static", "One GPU slowed down, voxels dealt in advance"),
    "scaling-balance-dynamic": lambda axes: plot_timeline(
        axes, "timeline-balance-dynamic", "One GPU slowed down, voxels dealt by speed"),
}


POINTS = ["device", "series", "x", "value"]  # columns of bench/papers


def point_files():
    """{figure: path} of the tables of bench/papers."""
    paths = sorted(glob.glob(os.path.join(HERE, "*.csv")))
    return {os.path.basename(path)[:-4]: path for path in paths if read(path)[1] == POINTS}


def plot_points(plt, path):
    """A line for each device and series; with "# panels: series" in the head, a histogram for each series."""
    header, _, rows = read(path)
    about = dict(line.split(": ", 1) for line in header if ": " in line)
    panels = list(dict.fromkeys(row[1] for row in rows)) if about.get("panels") == "series" else [None]
    columns = min(4, len(panels))
    figure, every = plt.subplots(-(-len(panels) // columns), columns, squeeze=False,
                                 figsize=(8, 5) if len(panels) == 1 else (4 * columns, 3 * -(-len(panels) // columns)))
    for axes, panel in zip(every.flat, panels):
        lines = {}
        for device, series, x, value in rows:
            if panel in (None, series):
                label = device if panel else f"{series}, {device}"
                lines.setdefault(label, []).append((float(x) if is_number(x) else x, float(value)))
        for label, found in lines.items():
            style = {"drawstyle": "steps-mid"} if panel else {"marker": "o", "markersize": 3}
            axes.plot(*zip(*found), linewidth=1.2, label=label, **style)
        axes.set(title=panel or header[0], xlabel=about["x"], ylabel=about["y"])
        if panel is None and all(y > 0 for found in lines.values() for _, y in found):
            axes.set_yscale("log")
            if all(is_number(row[2]) for row in rows):
                axes.set_xscale("log")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=6)
    figure.tight_layout()
    return figure


def pyplot():
    try:
        import matplotlib
    except ImportError:
        sys.exit("error: plotting needs matplotlib; install python3-matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as loaded
    return loaded


def plot(folder, figures, kind):
    plt = pyplot()
    os.makedirs(folder, exist_ok=True)
    measured = point_files()
    for name in figures or (*LINES, *BARS, *measured):
        if name in measured:
            figure = plot_points(plt, measured[name])
        else:
            figure, axes = plt.subplots(figsize=(8, 5))
            if name in LINES:
                plot_lines(axes, *LINES[name])
            else:
                BARS[name](axes)
        path = os.path.join(folder, f"{name}.{kind}")
        figure.savefig(path, bbox_inches="tight")
        plt.close(figure)
        print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    printing = commands.add_parser("print", help="print CSV files as aligned tables")
    printing.add_argument("files", nargs="+", metavar="FILE.csv")
    plotting = commands.add_parser("plot", help="write the figures to FOLDER")
    plotting.add_argument("folder", metavar="FOLDER")
    plotting.add_argument("figures", nargs="*", metavar="FIGURE", help="all figures if not given")
    plotting.add_argument("--format", choices=("svg", "png"), default="svg")
    commands.add_parser("list", help="list the figures")
    args = parser.parse_args()
    if args.command == "print":
        for path in args.files:
            print_table(path)
    elif args.command == "list":
        print("\n".join((*LINES, *BARS, *point_files())))
    else:
        unknown = set(args.figures) - {*LINES, *BARS, *point_files()}
        if unknown:
            parser.error(f"unknown figure: {', '.join(sorted(unknown))}; `list` prints all")
        plot(args.folder, args.figures, args.format)


if __name__ == "__main__":
    main()
