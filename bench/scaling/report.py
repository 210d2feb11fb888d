"""Markdown tables and SVG charts from the FOLDERs of the other subcommands.

A FOLDER belongs to one machine: its runs.csv, machine.json and runs/. Of several runs the fastest counts."""
import json
import os
import sys

import bars
from figures import line_chart
from phases import PHASES, of_row, read_summary, steps_of, trace_path, traces_of
from runs import read_runs, run_error
from tables import number, print_table, ratio

TITLES = {"cuda": "GPUs", "cpu": "CPU cores"}
STUDIES = {"strong": "The same problem on more ranks.", "weak": "A problem that grows with the ranks."}


def add_arguments(parser):
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="folder written by measure")
    parser.add_argument("--charts", metavar="FOLDER", help="write SVG files there")


def unique(values):
    return list(dict.fromkeys(values))


def per_cent(part):
    return number(None if part is None else 100 * part)


class measured:
    """All runs of one problem on one number of ranks."""

    def __init__(self, folder, rows):
        self.row = min(rows, key=lambda r: float(r["wall_s"]))
        self.walls = sorted(float(r["wall_s"]) for r in rows)
        self.ranks, self.items = int(self.row["ranks"]), int(self.row["items"])
        self.wall, self.work, self.busy = (float(self.row[key]) for key in ("wall_s", "work_s", "busy_s"))
        self.folder, self.phases = folder, of_row(folder, self.row)

    def efficiency(self, one, what):
        """Items per rank and second, relative to `one`, the smallest number of ranks; `what`: wall, work (all ranks
        as long as the slowest) or busy (a sum over ranks)."""
        seconds = lambda run: getattr(run, what) * (1 if what == "busy" else run.ranks)
        return ratio(seconds(one) * self.items or None, seconds(self) * one.items or None)


def by_problem(folder, rows, study, backend):
    """{problem: [measured]}, smallest number of ranks first."""
    chosen = [r for r in rows if (r["study"], r["backend"]) == (study, backend)]
    return {problem: [measured(folder, [r for r in chosen if (r["problem"], int(r["ranks"])) == (problem, n)])
                      for n in sorted({int(r["ranks"]) for r in chosen if r["problem"] == problem})]
            for problem in unique(r["problem"] for r in chosen)}


def print_machine(folder):
    path = os.path.join(folder, "machine.json")
    if not os.path.exists(path):
        raise run_error(f"{path} does not exist; {folder} was not written by bench/scaling measure")
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    gpus = "; ".join(f"{found['gpus'].count(g)} x {g}" for g in unique(found["gpus"])) or "none"
    print_table(["machine", ""], [["CPU", f"{found['cpu']}, {found['cores']} cores ({found['processors']} processors)"],
                                  ["memory", found["memory"]], ["GPUs", gpus], ["kernel", found["kernel"]],
                                  ["MPI", found["mpi"]], ["program", found["program"]], ["date", found["date"]]])


def print_times(study, backend, problems):
    print(f"### {study.capitalize()} scaling, {TITLES[backend]}\n\n{STUDIES[study]} Wall: the complete command, including "
          "launcher and files, the fastest of all runs. Efficiency: items per rank and second, relative to the smallest number "
          "of ranks: for the complete command, for the batches (from the first one read to the last one written), and for "
          "computing only, without waiting.\n")
    rows = []
    for problem, runs in problems.items():
        for run in runs:
            one = runs[0]
            rows.append([problem, str(run.ranks), number(run.items), number(run.wall), " ".join(map(number, run.walls)),
                         number(run.ranks * run.efficiency(one, "wall")), number(run.items / run.wall),
                         *(per_cent(run.efficiency(one, what)) for what in ("wall", "work", "busy"))])
    print_table(["problem", "ranks", "items", "wall s", "all runs s", "speed-up", "items/s", "efficiency %", "of batches %",
                 "of computing %"], rows)


def print_phases(study, backend, problems):
    print(f"### Phases: {study} scaling, {TITLES[backend]}\n\nPer cent of the wall time. Launch: before the first "
          "rank's start and after its end; start: MPI, device, headers of the inputs, result file, and the time between the steps "
          "of a command; reading: waiting for the input while nothing is computed; writing: likewise; waiting: for batches or "
          "for other ranks; end: checksums, renaming. Means over ranks.\n")
    print_table(["problem", "ranks", *PHASES],
                [[problem, str(run.ranks), *(per_cent(run.phases[p] / run.wall) for p in PHASES)]
                 for problem, runs in problems.items() for run in runs])


def print_pairs(gpus, cores):
    """N GPUs compared with N cores."""
    rows = []
    for problem, runs in gpus.items():
        other = {run.ranks: run for name, each in cores.items() if name.split("@")[0] == problem.split("@")[0] for run in each}
        for run in runs:
            if run.ranks in other:
                core = other[run.ranks]
                rates = [run.items / run.wall, core.items / core.wall]
                computing = [r.items / r.busy * r.ranks for r in (run, core)]
                values = (run.items, core.items, *rates, ratio(*rates), ratio(*computing))
                rows.append([problem, str(run.ranks), *map(number, values)])
    if rows:
        print("### N GPUs compared with N cores\n\nItems per second of the complete command, and of computing "
              "only. If the problem for cores is smaller, the start of the program has a larger share of its time.\n")
        print_table(["problem", "N", "items, GPUs", "items, cores", "N GPUs, items/s", "N cores, items/s", "ratio",
                     "ratio of computing"], rows)


def save(folder, name, title, draw, *what, **how):
    """`draw` writes the file named by its first argument."""
    draw(os.path.join(folder, name + ".svg"), title, *what, **how)
    print(f"![{title}]({name}.svg)\n")


def line_series(problems, value):
    points = {problem: [(run.ranks, value(runs[0], run)) for run in runs]
              for problem, runs in problems.items() if len(runs) > 1}
    return {problem: (p, p) for problem, p in points.items()}


def save_scaling(folder, name, study, backend, problems):
    x_label = f"ranks ({TITLES[backend]})"
    speed_up = line_series(problems, lambda one, run: run.ranks * run.efficiency(one, "wall"))
    if not speed_up:
        return
    ideal = sorted({x for points, _ in speed_up.values() for x, _ in points})
    title = f"{study.capitalize()} scaling, {TITLES[backend]}"
    save(folder, f"{name}_speed_up", f"{title}: speed-up", line_chart, x_label, "times one rank",
         {**speed_up, "ideal": ([(n, n) for n in ideal],) * 2}, x_ticks=ideal, y_ticks=ideal)
    save(folder, f"{name}_efficiency", f"{title}: efficiency with all input and output", line_chart, x_label, "%",
         line_series(problems, lambda one, run: 100 * run.efficiency(one, "wall")), y_scale="linear", x_ticks=ideal)


def save_phases(folder, name, study, backend, problems):
    title = f"Phases: {study} scaling, {TITLES[backend]}"
    shares = {f"{problem}, {run.ranks}": {p: run.phases[p] / run.wall for p in PHASES}
              for problem, runs in problems.items() for run in runs}
    save(folder, f"{name}_phases", title, bars.phase_bars, shares)


def longest_trace(run):
    """Batches of the step that computed longest."""
    steps = steps_of(read_summary(os.path.join(run.folder, run.row["json"]))["stages"])
    return max(traces_of(trace_path(run.folder, run.row), steps),
               key=lambda batches: sum(b["compute_end"] - b["compute_begin"] for b in batches))


def save_timelines(folder, name, problems):
    for problem, runs in problems.items():
        title = f"{problem}, {runs[-1].ranks} ranks: what was done when"
        save(folder, f"{name}_{problem.replace('@', '_').replace('=', '')}_timeline", title, bars.timeline,
             longest_trace(runs[-1]))


def print_backend(folder, rows, backend, charts):
    """Tables and charts of both studies; {problem: [measured]} of strong scaling."""
    strong = {}
    for study in STUDIES:
        problems = by_problem(folder, rows, study, backend)
        if not problems:
            continue
        print_times(study, backend, problems)
        print_phases(study, backend, problems)
        if charts:
            name = f"scaling_{os.path.basename(os.path.abspath(folder))}_{backend}_{study}"
            save_scaling(charts, name, study, backend, problems)
            save_phases(charts, name, study, backend, problems)
        if study == "strong":
            strong = problems
            if charts:
                save_timelines(charts, name, problems)
    return strong


def print_folder(folder, charts):
    print(f"## {os.path.basename(os.path.abspath(folder))}\n")
    print_machine(folder)
    rows = read_runs(folder)
    strong = {backend: print_backend(folder, rows, backend, charts) for backend in TITLES}
    print_pairs(strong["cuda"], strong["cpu"])


def main(args):
    if args.charts:
        os.makedirs(args.charts, exist_ok=True)
    try:
        for folder in args.folders:
            print_folder(folder, args.charts)
    except (run_error, OSError, KeyError) as e:
        sys.exit(f"error: {e}")
    return 0
