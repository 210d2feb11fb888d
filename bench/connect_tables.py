#!/usr/bin/env python3
"""Markdown tables and charts of the Hamilton-Jacobi benchmarks, compared with the results of Jeong et al. 2007:

    python3 bench/connect_tables.py [--charts FOLDER] cpu.json gpu.json connect_1.json connect_2.json floors.csv ... > tables.md

A .json file is written by connect_bench with --benchmark_out=FILE, or by voxherd connect with --json, as
bench/scaling does (runs/strong-connect-*.json, of which the fastest counts). A .csv file with the columns
volume,scheme,mode,bytes_ms, instructions_ms contains floors: the time a GPU needs at its full rate for the bytes and
for the instructions of a solve, from a profiler. With --charts, SVG files are written to FOLDER."""
import csv
import json
import math

from geodesic_tables import list_names, run_value, per_cent, save_chart
from tables import merged, number, paths_and_folder, print_runs, print_table, rate, ratio, read

# Jeong, Fletcher, Tao, Whitaker, IEEE TVCG 13(6), 2007, Table 1, seconds: GeForce 8800 GTX; fast sweeping with
# Godunov's and with the Lax-Friedrichs Hamiltonian on a CPU. Then HamiltonFastMarching, one core, stencils included.
PAPER = (("Example 1: constant tensor, 64^3", ("const/64",), 1, 54, 142, 0.66),
         ("Example 2: helix, 64^3", ("helix/10000", "helix/100"), 1.5, 76, 220, 1.0),
         ("Example 3: brain, 196,000 of 256x256x100; here a folded sheet made by formula", ("brain/1",), 2.8, 301, None, None))
# Volumes of the paper; only their times are compared with the paper's.
PAPER_VOLUMES = ("const/64", "helix/10000")
AGD_MS = 109  # agd, GTX-1080-class card: its own 201^3 Riemannian case
# Time goals of this project, ms: selling, first order, repeatable, on one H200.
GOALS_MS = {"const/64": 0.6, "helix/100": 1, "brain/1": 1.4, "pullback/201": 9, "brain/100": 40}
# Maximum ratios to selling, first order, repeatable.
GOAL_RATIOS = {("selling1", "in_place"): 0.7, ("godunov27", "repeatable"): 3, ("selling2", "repeatable"): 2}
RANKS_GOAL = 90  # per cent of ideal scaling
SCHEMES = ("selling1", "selling2", "godunov27", "hl26")
MODES = ("repeatable", "in_place")
ONE_CORE, GPU = ("cpu", "threads1"), ("cuda", "gpu")
ERRORS = ("relative_L1", "over_exact_along_fibre", "over_length_quarter_turn")


def benchmark_name(group, volume, scheme, mode, where):
    return f"connect/{group}/{volume}/{scheme}/{mode}/{where[1]}"


def list_volumes(by_backend, group):
    return list(dict.fromkeys("/".join(n.split("/")[:2]) for n in list_names(by_backend, f"connect/{group}/")))


def counter(by_backend, where, name, what):
    return run_value(by_backend[where[0]], name, what)


def wall_ms(by_backend, where, name):
    return counter(by_backend, where, name, "ms")


def device_ms(by_backend, where, name):
    """The time of the work on the device if it was measured, otherwise the time of the call."""
    seconds = counter(by_backend, where, name, "device_time")
    return wall_ms(by_backend, where, name) if seconds is None else 1e3 * seconds


def read_floors(paths):
    floors = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                floors[row["volume"], row["scheme"], row["mode"]] = (float(row["bytes_ms"]), float(row["instructions_ms"]))
    return floors


def print_paper(by_backend):
    """The paper's Table 1 with all schemes."""
    if not any(v in list_volumes(by_backend, "solve") for _, volumes, *_ in PAPER for v in volumes):
        return
    print("## The paper's Table 1\n\nOne solve, ms; GPU: time of the kernels. Godunov27 is the paper's scheme except for the last "
          "part of its validity test (docs/design/connect.md). The helix has a ratio "
          "of eigenvalues of 10,000 in the paper; rows say their ratio. Only volumes that are the paper's are compared "
          "with its times. "
          "HamiltonFastMarching (HFM): ratio 100, including stencils; voxherd's stencils are part of the set-up.\n")
    rows = []
    for title, volumes, gpu_s, sweeping_s, friedrichs_s, hfm_s in PAPER:
        rows.append([f"**{title}**"] + [""] * 7)
        for label, seconds, on in (("paper, 8800 GTX", gpu_s, "gpu"), ("paper, CPU, Godunov, sweeping", sweeping_s, "cpu"),
                                   ("paper, CPU, Lax-Friedrichs, sweeping", friedrichs_s, "cpu"), ("HFM, one core", hfm_s, "cpu")):
            if seconds is not None:
                ms = number(1e3 * seconds)
                rows.append([label, ms if on == "cpu" else "", "", "", ms if on == "gpu" else "", "", "", ""])
        for volume in volumes:
            for scheme in SCHEMES:
                for mode in MODES:
                    rows += paper_row(by_backend, volume, scheme, mode, gpu_s, sweeping_s)
    print_table(["", "one core", "with set-up", "times the paper's CPU", "GPU", "complete call", "times the paper's GPU", "error"], rows)


def paper_row(by_backend, volume, scheme, mode, gpu_s, sweeping_s):
    core, gpu = (benchmark_name("solve", volume, scheme, mode, where) for where in (ONE_CORE, GPU))
    core_ms, gpu_ms = wall_ms(by_backend, ONE_CORE, core), device_ms(by_backend, GPU, gpu)
    if core_ms is None and gpu_ms is None:
        return []
    label = f"{scheme}, {mode}" + (f", ratio {volume.split('/')[1]}" if volume.startswith("helix") else "")
    set_up_ms = wall_ms(by_backend, ONE_CORE, benchmark_name("set_up", volume, scheme, "repeatable", ONE_CORE))
    total_ms = None if None in (core_ms, set_up_ms) else core_ms + set_up_ms
    times_cpu, times_gpu = (number(ratio(1e3 * paper_s, ms)) if volume in PAPER_VOLUMES else ""
                            for paper_s, ms in ((sweeping_s, core_ms), (gpu_s, gpu_ms)))
    return [[label, number(core_ms), number(total_ms), times_cpu, number(gpu_ms),
             number(wall_ms(by_backend, GPU, gpu)), times_gpu,
             error_words(by_backend, gpu, core)]]


def error_words(by_backend, gpu, core):
    words = []
    for what in ERRORS:
        values = [counter(by_backend, *at, what) for at in ((GPU, gpu), (ONE_CORE, core))]
        value = next((v for v in values if v is not None), None)
        if value is not None:
            words.append({"relative_L1": f"L1 {100 * value:.2g} %", "over_exact_along_fibre": f"fibre x{value:.3g}",
                          "over_length_quarter_turn": f"quarter turn x{value:.3g}"}[what])
    return ", ".join(words)


def print_goals(by_backend, floors):
    rows = []
    for volume in list_volumes(by_backend, "solve"):
        base = device_ms(by_backend, GPU, benchmark_name("solve", volume, "selling1", "repeatable", GPU))
        for scheme in SCHEMES:
            for mode in MODES:
                ms = device_ms(by_backend, GPU, benchmark_name("solve", volume, scheme, mode, GPU))
                if ms is None:
                    continue
                first = (scheme, mode) == ("selling1", "repeatable")
                goal = GOALS_MS.get(volume) if first else None
                bytes_ms, instructions_ms = floors.get((volume, scheme, mode), (None, None))
                rows.append([volume, scheme, mode, number(ms), number(goal), number(ratio(ms, base)),
                             number(GOAL_RATIOS.get((scheme, mode))), number(bytes_ms), number(instructions_ms),
                             number(ratio(ms, max(filter(None, (bytes_ms, instructions_ms)), default=None)))])
    if not rows:
        return
    print("## Goals and floors, GPU\n\nGPU time in ms for all fronts of a volume (the number after brain/). Ratio: to selling in "
          "first order with repeatable bytes. Floors: time for the solve's bytes and instructions at the GPU's full rate; "
          f"the last column is the time over the larger floor. A public solver, agd: {AGD_MS} ms for 201^3 voxels on a GTX-1080-class card.\n")
    print_table(["volume", "scheme", "mode", "ms", "goal", "ratio", "goal", "floor: bytes", "floor: instructions",
                 "over floor"], rows)


def print_work(by_backend):
    rows = []
    for volume in list_volumes(by_backend, "solve"):
        for scheme in SCHEMES:
            for mode in MODES:
                for where in (ONE_CORE, GPU):
                    rows += work_row(by_backend, volume, scheme, mode, where)
    if not rows:
        return
    print("## Work of a solve\n\nms and millions of voxels per second: time on the device. Cells: 64 for each visit of a "
          "block, divided by the number of voxels.\n")
    print_table(["volume", "scheme", "mode", "device", "ms", "ms per front", "Mvoxels/s", "rounds", "visits per block",
                 "cells per voxel"], rows)


def work_row(by_backend, volume, scheme, mode, where):
    name = benchmark_name("solve", volume, scheme, mode, where)
    ms = device_ms(by_backend, where, name)
    if ms is None:
        return []
    get = lambda what: counter(by_backend, where, name, what)
    return [[volume, scheme, mode, "GPU" if where == GPU else "one core", number(ms), number(ratio(ms, get("fronts"))),
             number(ratio(get("voxels"), 1e3 * ms)), number(get("rounds")), number(get("visits_per_block")),
             number(get("cells_visited_per_voxel"))]]


def print_sizes(by_backend, folder):
    """Error against time for each scheme and size."""
    kinds = list(dict.fromkeys(v.split("/")[0] for v in list_volumes(by_backend, "by_size")))
    for where in (ONE_CORE, GPU):
        for kind in kinds:
            print_size(by_backend, folder, kind, where)


def print_size(by_backend, folder, kind, where):
    sides = sorted(int(v.split("/")[1]) for v in list_volumes(by_backend, "by_size") if v.startswith(kind + "/"))
    rows, series = [], {}
    for scheme in SCHEMES:
        names = [benchmark_name("by_size", f"{kind}/{side}", scheme, "repeatable", where) for side in sides]
        times = [device_ms(by_backend, where, n) for n in names]
        errors = [counter(by_backend, where, n, "relative_L1") for n in names]
        along = [counter(by_backend, where, n, "over_exact_along_fibre") for n in names]
        if not any(times):
            continue
        row = [scheme]
        for i, (ms, error, fibre) in enumerate(zip(times, errors, along)):
            before = errors[i - 1] if i else None
            order = None if None in (before, error) else math.log(before / error) / math.log(sides[i] / sides[i - 1])
            row += [number(ms), "" if error is None else f"{error:.2e}", number(order, 2), number(fibre, 4)]
        rows.append(row)
        points = [(ms, e) for ms, e in zip(times, errors) if ms and e]
        if points:
            series[scheme] = (points, points)
    if not rows:
        return
    device = "GPU" if where == GPU else "one core"
    print(f"## Error against time: {kind}, {device}\n\nRelative L1 error over all voxels, started from exact values in a ball that "
          "is the same fraction of every size; order: log2 of the error ratio when the voxel size is halved; fibre: arrival "
          "time over the exact one at the far end of the fibre.\n")
    print_table(["scheme", *(f"{side}^3 {head}" for side in sides for head in ("ms", "error", "order", "fibre"))], rows)
    save_chart(folder, f"connect_{kind}_{where[1]}", f"{kind}, {device}: error against time", "ms", "relative L1 error", series)


def print_threads(by_backend):
    rows = []
    for volume in list_volumes(by_backend, "solve"):
        for scheme in SCHEMES:
            for mode in MODES:
                prefix = f"connect/solve/{volume}/{scheme}/{mode}/threads"
                times = {int(n): run_value(by_backend["cpu"], prefix + n, "ms") for n in list_names(by_backend, prefix)}
                if len(times) > 1:
                    one = times.get(1)
                    rows += [[volume, scheme, mode, str(n), number(times[n]),
                              number(per_cent(one, None if times[n] is None else n * times[n]))] for n in sorted(times)]
    if rows:
        print("## CPU threads\n\nThe same problem with different numbers of threads. Efficiency: time of one thread over N times the time of N.\n")
        print_table(["volume", "scheme", "mode", "threads", "ms", "efficiency %"], rows)


def print_parts(by_backend):
    """Steps before and after a solve."""
    for group, title in (("set_up", "Set-up: from tensors in host memory to a solver, ms"),
                         ("region_costs", "Costs of all fronts in all regions, to host memory, ms"),
                         ("paths", "Paths between all regions, scored, ms")):
        rows = []
        for volume in list_volumes(by_backend, group):
            for scheme in SCHEMES:
                times = [wall_ms(by_backend, where, benchmark_name(group, volume, scheme, "repeatable", where))
                         for where in (ONE_CORE, GPU)]
                if any(times):
                    rates = [rate(by_backend[where[0]], benchmark_name(group, volume, scheme, "repeatable", where))
                             for where in (ONE_CORE, GPU)]
                    rows.append([volume, scheme, *map(number, times), *map(number, rates)])
        if rows:
            unit = {"set_up": "voxels", "region_costs": "pairs", "paths": "steps"}[group]
            print(f"## {title}\n")
            print_table(["volume", "scheme", "one core", "GPU", f"one core, {unit}/s", f"GPU, {unit}/s"], rows)


def print_ranks(summaries):
    """Runs of voxherd connect."""
    if not summaries:
        return
    print("## Ranks\n\nConnectome of the brain with 1,000 regions. Arrivals: fronts from all regions, their costs and "
          "paths, wall time; preparation: tensors to solvers; evaluation: matrices and maps. Efficiency: of the arrivals, "
          f"100 % for ideal scaling (goal: {RANKS_GOAL} %).\n")
    by_count = {s["rank_count"]: s for s in sorted(summaries, key=lambda s: -s.get("arrivals_seconds", math.inf))}
    one = by_count.get(1, {}).get("arrivals_seconds")
    rows = []
    for n in sorted(by_count):
        seconds = [by_count[n].get(f"{part}_seconds") for part in ("preparation", "arrivals", "evaluation")]
        rows.append([str(n), *map(number, seconds), number(per_cent(one, None if seconds[1] is None else n * seconds[1]))])
    print_table(["ranks", "preparation s", "arrivals s", "evaluation s", "efficiency %"], rows)


def print_all(paths, folder):
    reports, summaries = [], []
    for path in paths:
        if path.endswith(".json"):
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
            if "rank_count" in content:
                summaries.append(content)
            else:
                reports.append(read(path))
    by_backend = merged(reports)
    if reports:
        print_runs(reports)
    print_paper(by_backend)
    print_goals(by_backend, read_floors(p for p in paths if p.endswith(".csv")))
    print_work(by_backend)
    print_sizes(by_backend, folder)
    print_threads(by_backend)
    print_parts(by_backend)
    print_ranks(summaries)


if __name__ == "__main__":
    print_all(*paths_and_folder(__doc__))
