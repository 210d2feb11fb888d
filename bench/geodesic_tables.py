#!/usr/bin/env python3
"""Markdown tables and charts of the geodesic benchmarks, compared with the results of van Aart et al. 2011:

    python3 bench/geodesic_tables.py [--charts FOLDER] field.json brain.json threads.json accuracy.csv ... > tables.md

Each .json file is written by geodesic_bench, geodesic_brain_bench, geodesic_field_bench or threads_bench with
--benchmark_out=FILE, on a CPU or a GPU; each .csv file is printed by geodesic_accuracy_bench. With --charts, the
figures are written to FOLDER as SVG."""
import os

from figures import line_chart
from geodesic_accuracy_tables import print_accuracy
from tables import merged, number, paths_and_folder, print_runs, print_table, rate, ratio, read

# van Aart et al., Int. J. Biomed. Imaging 2011:698908: 2,048 fibres of 4,096 steps (GTX 260); 1,024 to 4,096 fibres in a
# brain of 128x128x30 voxels (GTX 470; four CPU cores, the best of up to 64 threads); preparation of a million voxels (GTX 260).
PAPER_MS, PAPER_STEPS_PER_S = 165, 50.8e6
PAPER_BRAIN_MS = {"gpu": {1024: 87, 2048: 93, 3072: 107, 4096: 139},
                  "threads4": {1024: 1403, 2048: 2788, 3072: 4185, 4096: 5571}}
PAPER_PREPARATION_MS = 50
# Goals of the project in steps per second: one H200, one CPU core.
GPU_GOALS = {"hamiltonian/trilinear": 1.3e10, "christoffel/trilinear": 3e9, "christoffel/texture": 3e9,
             "hamiltonian/bspline": 2e9}
CPU_GOALS = {"hamiltonian/trilinear": 12e6}
PAPER_GOAL_MS, BRAIN_GOAL, THREADS_GOAL = 7, 60, 90  # the last two in per cent
RULES = ("euler", "rk2-frozen", "rk2", "rk4")
LABELS = {"cpu": "CPU", "cuda": "GPU"}


def list_names(by_backend, prefix):
    """The rest of the names that begin with the prefix, in the order of the files."""
    every = [name[len(prefix):] for results in by_backend.values() for name in results if name.startswith(prefix)]
    return list(dict.fromkeys(every))


def per_cent(a, b):
    part = ratio(a, b)
    return None if part is None else 100 * part


def run_value(results, name, what):
    """A counter of the run, or its median time for "ms"."""
    result = results.get(name, {})
    return result.get("ms") if what == "ms" else result.get("run", {}).get(what)


def list_schemes(by_backend, prefix):
    return list(dict.fromkeys("/".join(n.split("/")[:2]) for n in list_names(by_backend, prefix)))


def print_field(by_backend):
    prefix = "geodesic/speed/"
    schemes = list_schemes(by_backend, prefix)
    if not schemes:
        return
    print("## The paper's field\n\nFibres of equal length, none of which ends early; midpoint rule (RK2), 65,536 "
          "fibres on a GPU, 1,024 on one CPU core; steps per second.\n")
    rows = []
    for scheme in schemes:
        row = [scheme]
        for backend, goals in (("cpu", CPU_GOALS), ("cuda", GPU_GOALS)):
            speed, goal = rate(by_backend[backend], f"{prefix}{scheme}/rk2"), goals.get(scheme)
            row += [number(speed), number(goal), number(per_cent(speed, goal))]
        rows.append(row)
    print_table(["scheme", "CPU", "goal", "reached %", "GPU", "goal", "reached %"], rows)


def print_paper_case(by_backend):
    prefix = "geodesic/paper_2048/"
    names = list_names({"cuda": by_backend["cuda"]}, prefix)
    if not names:
        return
    print("## The paper's benchmark: 2,048 fibres of 4,096 steps in 1024x64x64 voxels\n\nGoal: below "
          f"{PAPER_GOAL_MS} ms.\n")
    rows = [["van Aart 2011: Christoffel, texture, RK2 frozen, GTX 260", str(PAPER_MS), number(PAPER_STEPS_PER_S), "1"]]
    for name in names:
        full, results = prefix + name, by_backend["cuda"]
        rows.append([name, number(run_value(results, full, "ms")), number(rate(results, full)),
                     number(ratio(rate(results, full), PAPER_STEPS_PER_S))])
    print_table(["scheme", "ms", "steps/s", "times the paper's rate"], rows)


def print_bytes(by_backend):
    """Table 1 of the paper: 768 bytes per step for any integrator, 165.1 and 165.3 ms."""
    names = [n for n in list_names(by_backend, "geodesic/speed/") if n.split("/")[-1] in RULES]
    if not names:
        return
    print("## Bytes read against time (Table 1)\n\nBytes of the field that a step of the scheme reads: 8 voxels (B-spline: "
          "64) per evaluation, of 32 bytes (Christoffel: 96). GB/s: bytes times steps per second, mostly from caches. "
          "ns per step of the complete device. The paper: 768 bytes per step, GTX 260, "
          f"{number(1e9 / PAPER_STEPS_PER_S)} ns per step, {number(768 * PAPER_STEPS_PER_S / 1e9)} GB/s.\n")
    rows = []
    for name in names:
        full = "geodesic/speed/" + name
        each = next((b for b in (run_value(r, full, "bytes_per_step") for r in by_backend.values()) if b), None)
        row = [name, number(each)]
        for results in by_backend.values():
            speed = rate(results, full)
            row += [number(ratio(1e9, speed)), number(None if None in (each, speed) else each * speed / 1e9)]
        rows.append(row)
    print_table(["scheme", "bytes per step", "CPU ns/step", "GB/s", "GPU ns/step", "GB/s"], rows)


def print_rules(by_backend):
    prefix = "geodesic/speed/"
    schemes = list_schemes(by_backend, prefix)
    if not schemes:
        return
    print("## Integrators\n\nTime per step relative to Euler. The paper: Euler 165.3 ms, RK2 (frozen) 165.1 ms, a ratio of "
          "1.00.\n")
    rows = []
    for backend, results in by_backend.items():
        for scheme in schemes:
            euler = rate(results, f"{prefix}{scheme}/euler")
            if euler is not None:
                rows.append([f"{scheme}, {LABELS[backend]}", number(euler)] +
                            [number(ratio(euler, rate(results, f"{prefix}{scheme}/{r}"))) for r in RULES])
    print_table(["scheme", "Euler steps/s", *RULES], rows)


def print_by_step(by_backend, folder):
    prefix = "geodesic/by_step/"
    names = list_names(by_backend, prefix)
    if not names:
        return
    steps = sorted({float(n.split("/h")[-1]) for n in names})
    print("## Time against step size (Figure 6)\n\n2,048 fibres of one length, ms.\n")
    rows, series = [], {}
    for backend, results in by_backend.items():
        for scheme in list_schemes({backend: results}, prefix):
            times = [run_value(results, f"{prefix}{scheme}/rk2/h{h:g}", "ms") for h in steps]
            label = f"{scheme}, {LABELS[backend]}"
            rows.append([label, *map(number, times)])
            points = [(h, ms) for h, ms in zip(steps, times) if ms]
            if points:
                series[label] = (points, points)
    print_table(["scheme", *(f"step {h:g}" for h in steps)], rows)
    save_chart(folder, "step_size", "Time against step size", "step, voxels", "ms", series)


def print_brain(by_backend):
    prefix = "geodesic/brain/"
    names = list_names(by_backend, prefix)
    if not any(rate(results, prefix + n) for n in names for results in by_backend.values()):
        return
    print("## A brain, with fibres that end at different times\n\nSeeds x directions; a single direction is the principal "
          "eigenvector. Steps taken per second; share: of the same scheme's rate in the paper's field, on a GPU with as many "
          f"fibres (goal: {BRAIN_GOAL} %); degenerate: rays that ended because their step or energy was invalid.\n")
    rows = []
    for name in names:
        row = [name]
        for backend, results in by_backend.items():
            speed, fibres = rate(results, prefix + name), run_value(results, prefix + name, "fibres")
            field = "geodesic/speed/" + "/".join(name.split("/")[:3])
            alike = backend == "cpu" or run_value(results, field, "fibres") == fibres
            row += [number(ratio(run_value(results, prefix + name, "steps"), fibres)), number(speed),
                    number(per_cent(speed, rate(results, field)) if alike else None),
                    number(per_cent(run_value(results, prefix + name, "ended_by_numbers"), fibres), 2)]
        rows.append(row)
    print_table(["scheme", *(f"{label} {head}" if head == "steps/s" else head for label in LABELS.values()
                             for head in ("steps per fibre", "steps/s", "share %", "degenerate %"))], rows)


def device_label(name):
    n = name.removeprefix("threads")
    return "GPU" if name == "gpu" else f"{n} CPU thread" + ("" if n == "1" else "s")


def print_seeds(by_backend, folder):
    prefix = "geodesic/seeds/"
    together = {**by_backend["cpu"], **by_backend["cuda"]}
    names = [n.split("/") for n in together if n.startswith(prefix) and rate(together, n)]
    if not names:
        return
    counts = sorted({int(n[-1]) for n in names})
    for what, words in (("scores", "scores"), ("points", "scores and all points")):
        lines = list(dict.fromkeys((n[-2], "/".join(n[2:4])) for n in names if n[4] == what))
        if not lines:
            continue
        print(f"## Seeds in a brain (Table 3, Figure 7): {words}\n\nOne direction each, complete call from and to host memory, "
              "ms. The paper's brain has 128x128x30 voxels, this one 128x128x60.\n")
        rows = [[f"van Aart 2011, {label}", *(number(PAPER_BRAIN_MS[on].get(count)) for count in counts)]
                for on, label in (("gpu", "GTX 470"), ("threads4", "four CPU cores"))]
        series = {}
        for on, scheme in lines:
            times = [run_value(together, f"{prefix}{scheme}/{what}/{on}/{c}", "ms") for c in counts]
            rows.append([f"{scheme}, {device_label(on)}", *map(number, times)])
            points = [(c, ms) for c, ms in zip(counts, times) if ms]
            if scheme == "hamiltonian/trilinear":
                series[device_label(on)] = (points, points)
        print_table(["scheme and device", *(f"{c} seeds" for c in counts)], rows)
        save_chart(folder, f"seeds_{what}", f"{words}: Hamiltonian, trilinear", "seeds", "ms", series)


def print_threads(by_backend):
    prefix = "geodesic/by_cores/"
    rates = {int(n): rate(by_backend["cpu"], prefix + n) for n in list_names(by_backend, prefix)}
    if not rates:
        return
    print("## CPU threads\n\nHamiltonian, trilinear, RK2; the same work per thread. Efficiency: steps per second over N "
          f"times those of one thread (goal: {THREADS_GOAL} %).\n")
    one = rates.get(1)
    print_table(["threads", "steps/s", "efficiency %"],
                [[str(n), number(rates[n]), number(per_cent(rates[n], None if one is None else n * one))]
                 for n in sorted(rates)])


def print_preparation(by_backend):
    prefix = "geodesic_field/"
    names = list_names(by_backend, prefix)
    if not names:
        return
    print("## Preparation of a field, ms per million voxels\n\nWork: time on the device, without allocation and copies. The paper: "
          f"{PAPER_PREPARATION_MS} ms (GTX 260).\n")
    rows = []
    for name in names:
        row = [name]
        for results in by_backend.values():
            run = results.get(prefix + name, {}).get("run", {})
            millions = ratio(run.get("voxels"), 1e6)
            row += [number(ratio(run_value(results, prefix + name, "ms"), millions)),
                    number(ratio(None if "device_time" not in run else 1e3 * run["device_time"], millions))]
        rows.append(row)
    print_table(["field", "CPU call", "CPU work", "GPU call", "GPU work"], rows)


def save_chart(folder, name, title, x_label, y_label, series):
    if folder and series:
        line_chart(os.path.join(folder, name + ".svg"), title, x_label, y_label, series)
        print(f"![{title}]({name}.svg)\n")


def print_all(paths, folder):
    files = [read(path) for path in paths if not path.endswith(".csv")]
    by_backend = merged(files)
    if files:
        print_runs(files)
    for print_some in (print_field, print_paper_case, print_bytes, print_rules):
        print_some(by_backend)
    print_by_step(by_backend, folder)
    print_brain(by_backend)
    print_seeds(by_backend, folder)
    print_threads(by_backend)
    print_preparation(by_backend)
    print_accuracy([path for path in paths if path.endswith(".csv")], folder)


if __name__ == "__main__":
    print_all(*paths_and_folder(__doc__))
