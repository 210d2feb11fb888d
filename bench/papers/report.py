"""Writes the tables of docs/papers from the results of `measure`: FOLDER/*.csv, one row per point of a figure.

`python3 docs/papers/tables.py plot` draws them."""
import csv
import glob
import json
import os
import re
import sys

COLUMNS = ("device", "series", "x", "value")
REPEATS, LIVERS = "hernandez-repeats.csv", "wang-cao-livers.csv"
# Units of work: the counters are UNITs and UNITs_per_s.
UNITS = ("voxel", "step", "pair", "curve", "cost")
# van Aart 2011, ms: 2048 fibres of 4096 steps on a GTX 260; Table 3, seeds in a brain.
PAPER_MS_2048 = 165
PAPER_BRAIN_MS = {"gpu": {1024: 87, 2048: 93, 3072: 107, 4096: 139},
                  "threads4": {1024: 1403, 2048: 2788, 3072: 4185, 4096: 5571}}
# Wang & Cao 2012, ms per voxel: Table 2 by frames (GPU, one core); voxels in flight at 128 frames.
PAPER_MS = {32: (0.30, 10.36), 48: (0.25, 10.7), 64: (0.61, 19.76), 128: (1.31, 39.11), 256: (2.94, 82.48),
            320: (3.39, 99.98), 448: (4.31, 136.71)}
PAPER_IN_FLIGHT_MS = {1: 32.06, 10: 3.22, 50: 2.17, 100: 1.97, 1000: 1.40, 5000: 1.32, 10000: 1.31}
# Table 5, minutes of a patient's voxels: 1, 2, 3 GPUs, one core.
PATIENT, PAPER_PATIENT = 638728, (2.73, 1.50, 0.98, 116.35)
# Jeong 2007, Table 1, ms: GeForce 8800 GTX, and sweeping with Godunov's and Lax-Friedrichs' Hamiltonian on a CPU.
PAPER_SOLVES = {"const/64": (1000, 54000, 142000), "helix/10000": (1500, 76000, 220000)}


def per_unit(unit):
    """ms per unit of work."""
    return lambda run: run["real_time"] / run[unit + "s"]


def milliseconds(run):
    return run["real_time"]


def device_milliseconds(run):
    return 1e3 * run.get("device_time", run["real_time"] / 1e3)


def curve_nanoseconds(run):
    return 1e6 * device_milliseconds(run) / run["curves"]


def rate(run):
    return next(run[unit + "s_per_s"] for unit in UNITS if unit + "s_per_s" in run)


class figure:
    """A benchmark's name gives the series and x by the groups of `pattern`; `series` is used if it has no such group."""
    def __init__(self, name, title, x, y, pattern, value, paper=(), series=""):
        self.name, self.title, self.x, self.y, self.value, self.paper, self.series = name, title, x, y, value, paper, series
        self.pattern = re.compile(pattern + r"(/threads(?P<threads>\d+)|/gpu)?/real_time$")


def list_figures():
    voxel = per_unit("voxel")
    table2 = [(device, "paper", frames, ms[k]) for k, device in enumerate(("C2050", "one core, X5650"))
              for frames, ms in PAPER_MS.items() if frames != 48]
    in_flight = [("C2050", "paper", voxels, ms) for voxels, ms in PAPER_IN_FLIGHT_MS.items()]
    seeds = [(device, "paper", n, ms) for key, device in (("gpu", "GTX 470"), ("threads4", "four cores, best of all threads"))
             for n, ms in PAPER_BRAIN_MS[key].items()]
    *gpus, core = PAPER_PATIENT
    patient = [("C2050", "paper/one_liver", n, PATIENT / (60 * minutes)) for n, minutes in enumerate(gpus, 1)]
    patient.append(("cores", "paper, X5650/one_liver", 1, PATIENT / (60 * core)))
    solves = [(device, "paper, " + scheme, volume, ms[k]) for volume, ms in PAPER_SOLVES.items()
              for k, (device, scheme) in enumerate((("8800 GTX", "godunov27"), ("one core", "sweeping/godunov"),
                                                    ("one core", "sweeping/lax_friedrichs")))]
    volumes = "(const/64|helix/100|helix/10000|brain/1|philips/1)"
    return [
        figure("hernandez-2013-grid", "Time against measurements and fibres (Fig. 9, Table 3)", "measurements K", "ms per voxel",
               r"ballstick/grid/K(?P<x>\d+)_(?P<series>L\d)", voxel),
        figure("hernandez-2013-voxels-by-K", "Fit and chain against voxels (Fig. 7, 8)", "voxels", "ms per voxel",
               r"ballstick/by_voxels_(?P<series>K\d+)/(?P<x>\d+)", voxel),
        figure("hernandez-2013-fit-by-K", "Least-squares fit against voxels (Fig. 7)", "voxels", "ms per voxel",
               r"ballstick/by_voxels_(?P<series>K\d+)/(?P<x>\d+)/fit", voxel),
        figure("hernandez-2013-iterations-by-K", "Fit and chain against burn-in (Fig. 7, 8)", "burn-in jumps", "ms per voxel",
               r"ballstick/by_burn_in_(?P<series>K\d+)/(?P<x>\d+)", voxel),
        figure("hernandez-2013-fibres-by-devices", "N GPUs against N cores (Fig. 10, Table 4)", "GPUs or cores", "voxels per s",
               r"ballstick/fibres_by_(?:cores|devices)/(?P<series>L\d)/(?P<x>\d+)", rate),
        figure("hernandez-2013-by-devices", "N GPUs against N cores", "GPUs or cores", "voxels per s",
               r"ballstick/by_(?:cores|devices)/(?P<x>\d+)", rate, series="K137_L3"),
        figure("jeong-2007-solves", "One solve (Table 1)", "volume", "ms",
               rf"connect/(?:solve/(?P<x>{volumes})/(?P<series>\w+)/repeatable|(?P<series2>sweeping)/(?P<x2>{volumes})/(?P<scheme>\w+))",
               device_milliseconds, solves),
        figure("jeong-2007-example2-error", "Example 2, ratio 10,000: arrival over length after a quarter turn", "volume",
               "arrival time over length", r"connect/(?:solve/(?P<x>helix/10000)/(?P<series>\w+)/repeatable|(?P<series2>sweeping)/(?P<x2>helix/10000)/(?P<scheme>\w+))",
               lambda run: run.get("over_length_quarter_turn")),
        figure("van-aart-2011-steps", "Time against step size (Fig. 6)", "step, voxels", "ms",
               r"geodesic/by_step/(?P<series>\w+/\w+)/rk2/h(?P<x>[\d.]+)", milliseconds),
        figure("van-aart-2011-bytes-per-step", "Bytes read per step, the same instructions (Table 1)", "bytes per step", "ns per step",
               r"geodesic/bytes/(?P<series>\w+/\d+)/(?P<x>\d+)", lambda run: 1e6 * run["real_time"] / run["steps"],
               [("GTX 260", "paper/2048", 768, 1e6 * PAPER_MS_2048 / (2048 * 4096))]),
        figure("van-aart-2011-callosum", "Seeds in the corpus callosum, random directions (Table 3, Fig. 7)", "seeds", "ms",
               r"geodesic/callosum/(?P<series>\w+/\w+/\w+)(?:/threads(?P<threads_of_x>\d+)|/gpu)/(?P<x>\d+)", milliseconds, seeds),
        figure("wang-cao-2012-frames-by-device", "Time against frames (Table 2)", "frames", "ms per voxel",
               r"perfusion/by_frames/(?P<series>[\w-]+)/(?P<x>\d+)/\d+", voxel, table2),
        figure("wang-cao-2012-voxels-by-device", "Time against voxels in flight (Table 2)", "voxels", "ms per voxel",
               r"perfusion/by_voxels/(?P<series>[\w-]+)/128/(?P<x>\d+)", voxel, in_flight),
        figure("wang-cao-2012-by-devices", "N GPUs against N cores (Table 5)", "GPUs or cores", "voxels per s",
               r"perfusion/by_(?:cores|devices)/(?P<series>[\w-]+/\w+)/(?P<x>\d+)", rate, patient),
        figure("wang-cao-2012-convolution-frames", "Convolution against frames (Fig. 5, left)", "frames", "ns per curve",
               r"perfusion_convolution/convolve/(?P<series>\w+)/(?P<x>\d+)", curve_nanoseconds),
        figure("wang-cao-2012-convolution-curves", "Convolution against curves (Fig. 5, right)", "curves", "ns per curve",
               r"perfusion_convolution/by_curves/(?P<series>\w+)/(?P<x>\d+)", curve_nanoseconds),
    ]


def add_arguments(parser):
    parser.add_argument("folder", metavar="RESULTS", help="the folder of `measure`")
    parser.add_argument("out", metavar="FOLDER", help="for the tables, for example docs/papers")
    parser.add_argument("--machine", metavar="TEXT", default="", help="names the machine in the tables' heads")


def read_runs(folder):
    """[(context, benchmark)] of all results; says which are wrong."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*@*.json"))):
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        for run in result["benchmarks"]:
            if run.get("error_occurred"):
                print(f"{os.path.basename(path)}: {run['name']}: {run['error_message']}", file=sys.stderr)
            elif run.get("run_type", "iteration") == "iteration":
                found.append((result["context"], run))
    return found


def device_of(context, groups, name):
    if context["backend"] == "cuda":
        return "GPUs" if "by_devices" in name else "one GPU"
    if "by_cores" in name:
        return "cores"
    threads = int(groups.get("threads_of_x") or groups.get("threads") or context["threads"])
    return "one core" if threads == 1 else f"{threads} threads"


def rows_of(what, runs):
    rows = []
    for context, run in runs:
        found = what.pattern.match(run["name"])
        value = what.value(run) if found else None
        if value is None:
            continue
        groups = found.groupdict()
        series = what.series or groups.get("series") or f"{groups['series2']}/{groups['scheme']}"
        rows.append((device_of(context, groups, run["name"]), series, groups.get("x") or groups["x2"], f"{value:.4g}"))
    return rows and sorted(rows, key=lambda row: (*row[:2], float(row[2]) if re.fullmatch(r"[\d.]+", row[2]) else 0)) + [
        (*row[:3], f"{row[3]:.4g}") for row in what.paper]


def write(path, title, head, columns, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("".join(f"# {line}\n" for line in (title, *head)))
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    print(path)


def histogram(values, parts=30):
    """[(left edge, width, count)] between the smallest and the largest value."""
    low, high = min(values), max(values)
    width = (high - low) / parts or 1.0
    counts = [0] * parts
    for v in values:
        counts[min(int((v - low) / width), parts - 1)] += 1
    return [(low + i * width, width, n) for i, n in enumerate(counts)]


def histogram_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    backends = sorted({row["backend"] for row in table})
    rows = []
    for tissue in dict.fromkeys(row["tissue"] for row in table):
        for name in list(table[0])[3:]:
            values = {b: [float(r[name]) for r in table if (r["backend"], r["tissue"]) == (b, tissue)] for b in backends}
            parts = histogram([v for some in values.values() for v in some])
            for left, width, _ in parts:
                inside = {b: sum(left <= v < left + width or (v == left + width == parts[-1][0] + width) for v in some)
                          for b, some in values.items()}
                rows += [(b, f"{tissue}, {name}", f"{left + width / 2:.6g}", inside[b]) for b in backends]
    return rows


def main(args):
    with open(os.path.join(args.folder, "machine.json"), encoding="utf-8") as file:
        machine = json.load(file)
    if machine["quick"]:
        sys.exit(f"error: {args.folder} was measured with --quick; its times mean nothing")
    runs = read_runs(args.folder)
    complete = [name for name in (REPEATS, LIVERS) if os.path.exists(os.path.join(args.folder, name))]
    if not runs and not complete:
        sys.exit(f"error: {args.folder} has no results; run `python3 bench/papers measure BUILD {args.folder}`")
    os.makedirs(args.out, exist_ok=True)
    names = args.machine or ", ".join(dict.fromkeys(context["machine"] for context, _ in runs))
    head = (f"machine: {names}; {machine['cores']} cores, {machine['gpus']} GPU{'' if machine['gpus'] == 1 else 's'}", f"date: {machine['date']}",
            "command: python3 bench/papers measure BUILD FOLDER; report FOLDER docs/papers")
    for what in list_figures():
        rows = rows_of(what, runs)
        if rows:
            write(os.path.join(args.out, what.name + ".csv"), what.title, (*head, f"x: {what.x}", f"y: {what.y}"), COLUMNS, rows)
    repeats, livers = (os.path.join(args.folder, name) for name in (REPEATS, LIVERS))
    if REPEATS in complete:
        write(os.path.join(args.out, "hernandez-2013-repeats.csv"), "Distributions of 1,000 repeats in three voxels of a brain",
              (*head, "x: estimate", "y: repeats", "panels: series"), COLUMNS, histogram_rows(repeats))
    if LIVERS in complete:
        with open(livers, encoding="utf-8", newline="") as file:
            table = list(csv.reader(file))
        write(os.path.join(args.out, "wang-cao-2012-livers.csv"), "Differences over complete livers (Table 4)", head, table[0], table[1:])
    return 0
