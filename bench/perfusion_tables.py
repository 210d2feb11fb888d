#!/usr/bin/env python3
"""Markdown tables and charts of the liver perfusion benchmarks, compared with the results of Wang & Cao 2012:

    python3 bench/perfusion_tables.py [--charts FOLDER] cpu.json gpu.json cnr.csv path.csv runs.csv ... > tables.md

A .json file is written by perfusion_bench with --benchmark_out=FILE. A .csv file is printed by
perfusion_accuracy_bench (cnr, path, differences) or is the runs.csv of bench/scaling; the columns identify the kind.
With --charts, SVG files are written to FOLDER."""
import csv
import math

from geodesic_tables import list_names, run_value, per_cent, save_chart
from tables import merged, number, paths_and_folder, print_runs, print_table, rate, ratio, read

# Wang & Cao, Phys Med Biol 57:5601, 2012. Table 2, ms per voxel, 10,000 voxels: Tesla C2050, one core of an X5650; for
# its patients' 48 frames from Table 5 (minutes for 576,556 to 663,980 voxels).
PAPER_MS = {32: (0.30, 10.36), 48: (0.25, 10.7), 64: (0.61, 19.76), 128: (1.31, 39.11), 256: (2.94, 82.48),
            320: (3.39, 99.98), 448: (4.31, 136.71)}
PAPER_IN_FLIGHT_MS = {1: 32.06, 10: 3.22, 50: 2.17, 100: 1.97, 1000: 1.40, 5000: 1.32, 10000: 1.31}  # 128 frames
# Table 1, by its formulas: operations of a convolution by FFT of twice the frames, and by direct sum.
PAPER_OPERATIONS = {32: (5472, 1024), 48: (8320, 2304), 64: (12480, 4096), 128: (28032, 16384), 256: (56960, 65536),
                    320: (74496, 102400), 448: (115712, 200704)}
PAPER_ROWS = {16: 3, 32: 2, 64: 2, 128: 2, 256: 4, 320: 5, 448: 7, 48: 3}  # q of the paper's q x p tables
# Table 3, mean and standard deviation of kl, ka, kp by contrast-to-noise ratio; the same on GPU, CPU and in Matlab.
PAPER_CNR = {math.inf: (400, 0, 20, 0, 100, 0), 100: (400.1, 7.1, 19.6, 1.3, 100.4, 1.6),
             90: (399.7, 13.2, 19.5, 1.8, 99.2, 3.0), 80: (398.3, 19.1, 19.5, 2.5, 100.0, 4.6),
             70: (398.2, 25.7, 19.1, 2.9, 100.4, 6.5),
             60: (399.1, 29.4, 19.4, 3.5, 100.3, 7.5), 50: (398.9, 32.6, 19.2, 3.9, 99.1, 8.3),
             40: (398.9, 40.7, 19.3, 4.3, 99.9, 10.6), 30: (400.0, 49.2, 19.2, 5.0, 101.0, 12.3),
             20: (401.9, 54.4, 19.3, 5.2, 101.3, 13.7), 10: (398.4, 59.3, 19.4, 5.5, 99.7, 15.6)}
# Table 5, minutes: 1, 2, 3 GPUs, one CPU core.
PAPER_PATIENTS = {576556: (2.31, 1.27, 0.83, 103.01), 663980: (2.63, 1.44, 0.95, 117.08),
                  638728: (2.73, 1.50, 0.98, 116.35)}
# Goals of this project: voxels per second at 48 frames on one H200 and on one core; ms of the device for a liver.
GOALS = {"simplex": (1e7, 12000), "simplex-paper": (1e7, 12000), "lm": (8e7, 60000), "lm-float": (1.2e8, 60000)}
COMMAND_GOAL_S = 1.5
PATIENT, PATIENT_GOALS_MS = 638728, {"simplex": 65, "simplex-paper": 65, "lm": 8, "lm-float": 8}
# Operations (a fused one counts as one) per frame and evaluation, counted in kernels/perfusion; evaluations per
# iteration; lanes of a multiprocessor. The final evaluation of a fit takes 49 more operations per frame.
OPERATIONS = {"simplex-paper": (8, 1.6, 64), "simplex": (10, 1.6, 64), "lm": (46, 1, 64), "lm-dictionary": (46, 1, 64),
              "simplex-paper-float": (8, 1.6, 128), "simplex-float": (10, 1.6, 128), "lm-float": (46, 1, 128)}
JUDGING = 49
LIVERS = {"alike": "the paper's liver at a CNR of 50", "various": "livers that differ from voxel to voxel at a CNR of 30"}
SHOWN = ("simplex-paper", "simplex-paper-fft", "lm", "paper")  # in the chart
ONE_CORE, GPU = ("cpu", "threads1"), ("cuda", "gpu")
LABELS = {ONE_CORE: "one core", GPU: "GPU"}


def find_runs(by_backend, group, where):
    """{(method, frames, voxels): name of the benchmark} in the order of the files."""
    found = {}
    for name in list_names({where[0]: by_backend[where[0]]}, f"perfusion/{group}/"):
        method, frames, voxels, device = name.split("/")
        if device == where[1]:
            found[method, int(frames), int(voxels)] = f"perfusion/{group}/{name}"
    return found


def device_seconds(by_backend, where, name):
    """The time of the work on the device if it was measured, otherwise the time of the call."""
    results = by_backend[where[0]]
    device, ms = run_value(results, name, "device_time"), run_value(results, name, "ms")
    return device if device is not None else ratio(ms, 1e3)


def ms_per_voxel(by_backend, where, name):
    return ratio(run_value(by_backend[where[0]], name, "ms"), run_value(by_backend[where[0]], name, "voxels"))


def ordered(values):
    return list(dict.fromkeys(values))


def block_fft_operations(frames):
    """The paper's q x p algorithm for one convolution with a known transform: both transforms and the product."""
    q = PAPER_ROWS[frames]
    p = frames // q
    one_way = 4 * q * p * (q + 1) + 6 * p * (q + 1) + 5 * p * math.log2(p) * (q + 1)
    return 2 * one_way + 6 * p * (q + 1)


def print_operations():
    print("## Operations of a convolution (Table 1)\n\nReal operations, a fused one counts as two; the paper's by its "
          "formulas. Block FFT: counted from the algorithm, transform, product, inverse transform. "
          "Sum: over the previous frames. Recursion: three weights for each of two inputs and the step, both inputs "
          "convolved together.\n")
    rows = []
    for frames in sorted(PAPER_MS):
        fft, direct = PAPER_OPERATIONS[frames]
        rows.append([str(frames), number(fft), number(direct), number(block_fft_operations(frames)),
                     number(frames * (frames + 1)), number(13 * frames)])
    print_table(["frames", "paper, FFT", "paper, sum", "block FFT", "sum", "recursion, exact"], rows)


def print_frames(by_backend, folder):
    """Table 2."""
    series = {}
    for where, paper in ((GPU, 0), (ONE_CORE, 1)):
        runs = find_runs(by_backend, "by_frames", where)
        if not runs:
            continue
        methods, all_frames = ordered(m for m, *_ in runs), sorted({f for _, f, _ in runs})
        who = ("Tesla C2050", "one core, X5650")[paper]
        print(f"## Time per voxel against frames, {LABELS[where]} (Table 2)\n\nms per voxel of the complete call, from "
              f"concentrations in host memory to maps in host memory; the paper: {who}, 10,000 voxels (48 frames: 60,000 "
              "voxels of patients).\n")
        rows = []
        for frames in all_frames:
            times = [next((ms_per_voxel(by_backend, where, name) for (m, f, _), name in runs.items()
                           if (m, f) == (method, frames)), None) for method in methods]
            rows.append([str(frames), number(PAPER_MS[frames][paper]), *map(number, times)])
            for method, ms in zip(methods, times):
                if ms:
                    series.setdefault(f"{method}, {LABELS[where]}", []).append((frames, ms))
        print_table(["frames", "paper", *methods], rows)
        series[f"paper, {who}"] = [(f, ms[paper]) for f, ms in sorted(PAPER_MS.items())]
    shown = {k: (v, v) for k, v in series.items() if k.split(",")[0] in SHOWN}
    save_chart(folder, "perfusion_frames", "Time per voxel against frames", "frames", "ms per voxel", shown)


def print_in_flight(by_backend):
    """The second half of Table 2."""
    every = {where: find_runs(by_backend, "by_voxels", where) for where in (GPU, ONE_CORE)}
    if not any(every.values()):
        return
    columns = [(where, method) for where in (GPU, ONE_CORE) for method in ordered(m for m, *_ in every[where])]
    print("## Voxels in flight (Table 2)\n\nms per voxel of the complete call at 128 frames.\n")
    rows = []
    for voxels in sorted({v for runs in every.values() for *_, v in runs}):
        names = [every[where].get((method, 128, voxels)) for where, method in columns]
        rows.append([f"{voxels:,}", number(PAPER_IN_FLIGHT_MS.get(voxels)),
                     *(number(n and ms_per_voxel(by_backend, where, n)) for (where, _), n in zip(columns, names))])
    print_table(["voxels", "paper, C2050", *(f"{method}, {LABELS[where]}" for where, method in columns)], rows)


def floor_seconds(method, frames, voxels, iterations):
    if method not in OPERATIONS or iterations is None:
        return None
    operations, evaluations, lanes = OPERATIONS[method]
    return voxels * frames * (iterations * evaluations * operations + JUDGING) / (132 * lanes * 1.98e9)


def print_rates(by_backend):
    for group, title in (("rate", "the paper's liver"), ("physiology", "livers that differ from voxel to voxel")):
        rows = []
        for where in (GPU, ONE_CORE):
            for (method, frames, voxels), name in find_runs(by_backend, group, where).items():
                rows.append(rate_row(by_backend, where, group, method, frames, voxels, name))
        rows = [row for row in rows if row]
        if not rows:
            continue
        print(f"## Rates: {title}\n\nVoxels per second: of the complete call, and of the device. Over floor: the "
              "device's time over that of the evaluations' operations at 132 x 64 per clock (single precision: 128) of 1.98 "
              "GHz. Iterations, and per cent of the voxels that end at a bound, at the maximum number of iterations, and at "
              "a cost not above that of the truth.\n")
        print_table(["device", "method", "frames", "voxels", "voxels/s", "device, voxels/s", "goal", "over floor",
                     "iterations", "at a bound %", "max iterations %", "found %"], rows)


def rate_row(by_backend, where, group, method, frames, voxels, name):
    results = by_backend[where[0]]
    seconds = device_seconds(by_backend, where, name)
    if seconds is None:
        return None
    get = lambda what: run_value(results, name, what)
    goal = GOALS.get(method, (None, None))[where != GPU] if (group, frames) == ("rate", 48) else None
    floor = floor_seconds(method, frames, voxels, get("mean_iterations")) if where == GPU else None
    return [LABELS[where], method, str(frames), number(voxels), number(rate(results, name)), number(voxels / seconds),
            number(goal), number(ratio(seconds, floor)), number(get("mean_iterations")), number(get("at_bound_percent")),
            number(get("max_iterations_percent")), number(get("found_percent"))]


def print_threads(by_backend):
    rates = {}
    for name in list_names({"cpu": by_backend["cpu"]}, "perfusion/rate/"):
        method, frames, _, device = name.split("/")
        threads = int(device.removeprefix("threads"))
        rates.setdefault((method, frames), {})[threads] = rate(by_backend["cpu"], f"perfusion/rate/{name}")
    rows = []
    for (method, frames), by_threads in rates.items():
        if len(by_threads) > 1:
            one = by_threads.get(1)
            rows += [[method, frames, str(n), number(by_threads[n]), number(per_cent(by_threads[n], one and n * one))]
                     for n in sorted(by_threads)]
    if rows:
        print("## CPU threads\n\nThe same work per thread. Efficiency: voxels per second over N times those of one thread.\n")
        print_table(["method", "frames", "threads", "voxels/s", "efficiency %"], rows)


def fastest_commands(rows):
    """{(backend, solver, voxels, ranks): the fastest run} of complete commands on one problem, from the rows of
    runs.csv."""
    fastest = {}
    for row in sorted(rows, key=lambda r: -float(r["wall_s"])):
        if (row["study"], row["analysis"]) == ("strong", "perfusion"):
            solver = row["problem"].removeprefix("perfusion-")
            fastest[row["backend"], solver, int(row["items"]), int(row["ranks"])] = row
    return dict(sorted(fastest.items(), key=lambda item: (item[0][0] != "cuda", item[0][1:])))


def print_patients(by_backend, rows_of_runs):
    """Table 5."""
    runs, commands = find_runs(by_backend, "patient", GPU), fastest_commands(rows_of_runs)
    if not runs and not commands:
        return
    print("## Patients (Table 5)\n\n48 frames of 2.37 s, seconds. The paper: fits by 1, 2 and 3 C2050 and by one core. "
          "Kernels: time on the device. Command: `voxherd perfusion` from NIfTI on disk to maps on disk, including start and end "
          "of all processes; the time that ranks computed is as reported by the program.\n")
    rows = []
    for voxels, (*gpus, core) in PAPER_PATIENTS.items():
        rows += [[f"{voxels:,}", "paper, GPUs", str(n), number(60 * minutes), "", ""] for n, minutes in enumerate(gpus, 1)]
        rows.append([f"{voxels:,}", "paper, one core", "1", number(60 * core), "", ""])
        for (method, _, count), name in runs.items():
            if count == voxels:
                goal = PATIENT_GOALS_MS.get(method) if voxels == PATIENT else None
                rows.append([f"{voxels:,}", f"kernels, {method}", "1", number(device_seconds(by_backend, GPU, name)),
                             number(ratio(goal, 1e3)), ""])
    for (backend, solver, voxels, ranks), run in commands.items():
        wall, one = float(run["wall_s"]), commands.get((backend, solver, voxels, 1))
        share = per_cent(one and float(one["wall_s"]), ranks * wall)
        goal = COMMAND_GOAL_S if (backend, voxels, ranks) == ("cuda", PATIENT, 1) else None
        rows.append([f"{voxels:,}", f"command, {solver}" + (", cores" if backend == "cpu" else ""), str(ranks), number(wall),
                     number(goal), f"{number(float(run['busy_s']) / ranks)} computing, {number(share)} % of ideal"])
    print_table(["voxels", "what", "devices", "s", "goal", ""], rows)


def plus_minus(mean, sd):
    """Without noise the only deviation is the rounding of the sum."""
    return f"{float(mean):.4g}" + (f" ± {float(sd):.3g}" if float(sd) > 1e-9 else "")


def print_cnr(table):
    """Table 3."""
    for method, inputs in ordered((r["method"], r["inputs"]) for r in table):
        chosen = [r for r in table if (r["method"], r["inputs"]) == (method, inputs)]
        print(f"## Repeated fits (Table 3): {method}, {inputs} inputs\n\nMean ± standard deviation of "
              f"{chosen[0]['repeats']} fits, ml/100 g/min and s; bound: the Cramer-Rao bound of the standard deviation, "
              "clean inputs. Noise of the inputs: sampled for each fit, or once, at ratios of 150 (artery) and 100 "
              "(portal vein).\n")
        rows = []
        for r in chosen:
            cnr = float(r["cnr"])
            paper = PAPER_CNR.get(cnr)
            row = ["∞" if math.isinf(cnr) else f"{cnr:g}"]
            for i, name in enumerate(("kl", "ka", "kp")):
                row += [plus_minus(*paper[2 * i:2 * i + 2]) if paper else "", plus_minus(r[name + "_mean"], r[name + "_sd"]),
                        f"{float(r[name + '_least_sd']):.2g}"]
            row += [plus_minus(r[name + "_mean"], r[name + "_sd"]) for name in ("tau_a", "tau_p")]
            rows.append(row)
        heads = [head for name in ("kl", "ka", "kp") for head in (f"paper {name}", name, "bound")]
        print_table(["CNR", *heads, "tau_a", "tau_p"], rows)


def print_path(table, folder):
    """Figure 6."""
    for voxel in ordered(r["voxel"] for r in table):
        series, rows = {}, []
        for method, device in ordered((r["method"], r["device"]) for r in table if r["voxel"] == voxel):
            points = [(int(r["iteration"]), float(r["cost"])) for r in table
                      if (r["voxel"], r["method"], r["device"]) == (voxel, method, device)]
            series[f"{method}, {device}"] = points
            rows.append([method, device, str(points[-1][0]), f"{points[-1][1]:.6e}",
                         path_difference(series, method, points)])
        print(f"## Cost against iteration (Figure 6): {voxel}\n\nLargest relative difference from the double-precision "
              "reference at any common iteration.\n")
        print_table(["method", "device", "iterations", "last cost, mM²", "difference"], rows)
        shown = {k: ([p for p in v if p[1] > 0],) * 2 for k, v in series.items()}
        name = "perfusion_path_" + voxel.replace(" ", "_").replace("-", "_").lower()
        save_chart(folder, name, f"Cost against iteration, {voxel}", "iteration", "sum of squares, mM²", shown)


def path_difference(series, method, points):
    reference = dict(series.get(f"{method}, reference", []))
    differences = [abs(cost / reference[i] - 1) for i, cost in points if reference.get(i)]
    return f"{max(differences):.1e}" if differences else ""


def print_differences(table):
    """Table 4."""
    for livers, one, other in ordered((r["livers"], r["one"], r["other"]) for r in table):
        chosen = [r for r in table if (r["livers"], r["one"], r["other"]) == (livers, one, other)]
        print(f"## Differences of maps (Table 4): {one} minus {other}, {livers}\n\n{chosen[0]['voxels']} voxels of 48 "
              f"frames, {LIVERS[livers]}; {chosen[0]['same_iterations_percent']} % of the voxels needed the same number of iterations. The "
              "paper's GPU and CPU: about 1e-7 in the mean, standard deviation 1e-6 to 1e-5.\n")
        print_table(["map", "mean", "sd", "median absolute", "99 % below"],
                    [[r["map"], r["mean"], r["sd"], r["median_absolute"], r["p99_absolute"]] for r in chosen])


def read_csv(paths):
    """Rows by kind of file, identified by a column."""
    kinds = {"cnr": [], "iteration": [], "one": [], "wall_s": []}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            kind = next(k for k in kinds if k in reader.fieldnames)
            kinds[kind] += list(reader)
    return kinds


def print_all(paths, folder):
    reports = [read(path) for path in paths if path.endswith(".json")]
    by_backend, tables = merged(reports), read_csv(path for path in paths if path.endswith(".csv"))
    if reports:
        print_runs(reports)
        print_operations()
    print_frames(by_backend, folder)
    print_in_flight(by_backend)
    print_rates(by_backend)
    print_threads(by_backend)
    print_patients(by_backend, tables["wall_s"])
    print_cnr(tables["cnr"])
    print_differences(tables["one"])
    print_path(tables["iteration"], folder)


if __name__ == "__main__":
    print_all(*paths_and_folder(__doc__))
