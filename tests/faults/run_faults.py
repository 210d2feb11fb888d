"""Short runs of every analysis, each with one fault at a random moment, then resumed and compared with the undisturbed
result; or, with --inputs, commands with bad inputs, outputs and requests. Nothing is lost, nothing is wrong, nothing
hangs, nothing crashes.

The seed determines every choice. Exit status: 1 if a fault did harm, otherwise 77 if a kind of fault was skipped."""
import argparse
import collections
import csv
import functools
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import helper_folders  # noqa: F401, adds the folders of the other modules

from cases import HARMLESS, VERDICTS
from changed_commands import make_two_shells
from commands import Inputs
from kinds import kinds
from mesh_inputs import make_meshes
from result_inputs import make_results
from studies import STUDIES, Studies
from viewer_requests import Viewer

INSIDE = "VOXHERD_FAULTS_INSIDE"


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--count", type=int, default=28, help="number of faults")
    p.add_argument("--seed", type=int, help="of the choices; a random one that is printed if it is missing")
    p.add_argument("--first", type=int, default=0, help="number of the first fault, to repeat one of them")
    p.add_argument("--inputs", action="store_true", help="bad inputs instead of faults of runs")
    p.add_argument("--minutes", type=float, default=1e9, help="begin no fault after this time")
    p.add_argument("--kinds", help="only these kinds of faults, separated by commas")
    p.add_argument("--analyses", help="only these analyses, separated by commas")
    p.add_argument("--report", help="a line for each fault (CSV)")
    p.add_argument("--program", default=os.environ.get("VOXHERD", "build/voxherd"))
    p.add_argument("--tools", default=os.environ.get("VOXHERD_TEST_TOOLS", "build/tests"), help="folder with file_faults.so and device_faults")
    return p.parse_args()


class Setup:
    """What cases share, made when the first one needs it."""

    def __init__(self, options, analyses, folder):
        self.program, self.tools, self.analyses, self.folder = os.path.abspath(options.program), options.tools, analyses, folder
        self.running = None
        self.written = {}  # files of undisturbed exports, by the words of their commands

    @functools.cached_property
    def studies(self):
        return Studies(self.program, self.folder)

    @functools.cached_property
    def inputs(self):
        inputs = Inputs(self.program, self.folder)
        make_meshes(inputs)
        make_results(inputs)
        make_two_shells(inputs)
        return inputs

    def viewer(self):
        if self.running is None or not self.running.is_running():
            self.running = Viewer(self.inputs)
        return self.running

    def end(self):
        """Exit status of the viewer."""
        return 0 if self.running is None else self.running.end()


def enter_namespace():
    """Runs this program again where its mounts are invisible to others and end with it; False if it may not."""
    if INSIDE in os.environ:
        return os.environ[INSIDE] == "yes"
    unshare = shutil.which("unshare")
    may_mount = os.geteuid() == 0 and unshare and os.system("unshare --mount true 2>/dev/null") == 0
    os.environ[INSIDE] = "yes" if may_mount else "no"
    words = [sys.executable, "-u", *sys.argv]
    if may_mount:
        os.execv(unshare, [unshare, "--mount", *words])
    return False


def choose_kinds(all_kinds, names, may_mount):
    """Kinds to use, and the names of those that are skipped."""
    chosen = [k for k in all_kinds if not names or k.name in names.split(",")]
    if not chosen:
        sys.exit(f"run_faults.py: error: --kinds {names}: expected names from {', '.join(k.name for k in all_kinds)}")
    return [k for k in chosen if may_mount or not k.root], [k.name for k in chosen if k.root and not may_mount]


def choose_analyses(names):
    chosen = [study for study in STUDIES if not names or study.name in names.split(",")]
    if not chosen:
        sys.exit(f"run_faults.py: error: --analyses {names}: expected names from {', '.join(s.name for s in STUDIES)}")
    return chosen


def print_table(cases):
    print(f"\n{'kind':<20}{'faults':>8}" + "".join(f"{v:>9}" for v in VERDICTS))
    rows = collections.defaultdict(collections.Counter)
    for case in cases:
        rows[case.fault.name][case.verdict] += 1
        rows["all"][case.verdict] += 1
    for name in [*(n for n in rows if n != "all"), *(["all"] if cases else [])]:
        print(f"{name:<20}{sum(rows[name].values()):>8}" + "".join(f"{rows[name][v]:>9}" for v in VERDICTS))
    moments = [case.fraction for case in cases if hasattr(case, "fraction")]
    if len(moments) > 1:
        quartiles = statistics.quantiles(moments, n=4)
        late = sum(case.was_late for case in cases)
        print("moments, as fractions of the run: quartiles " + ", ".join(f"{q:.2f}" for q in quartiles)
              + f"; {late} came after the end")


def write_report(path, cases):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, ["number", "kind", "analysis", "ranks", "resumed on", "fraction", "late", "status", "seconds",
                                       "verdict", "detail"])
        writer.writeheader()
        writer.writerows(case.row() for case in cases)


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # after which the jobs are ended
    may_mount = enter_namespace()
    chosen, skipped = choose_kinds(kinds(options.inputs), options.kinds, may_mount)
    analyses = choose_analyses(options.analyses)
    seed = int.from_bytes(os.urandom(4), "little") if options.seed is None else options.seed
    print(f"seed {seed}")
    began, cases = time.monotonic(), []
    with tempfile.TemporaryDirectory(prefix="voxherd_faults_") as folder:
        setup = Setup(options, analyses, folder)
        for number in range(options.first, options.first + options.count):
            if time.monotonic() - began > 60 * options.minutes:
                break
            case = chosen[number % len(chosen)].new_case(number, random.Random(f"{seed} {number}"), setup)
            case.run()
            print(case)
            cases.append(case)
            if options.report:
                write_report(options.report, cases)
        ended = setup.end()
    print_table(cases)
    if ended != 0:
        sys.exit(f"run_faults.py: error: the viewer ended with {ended}")
    for name in skipped:
        print(f"skipped: {name}: needs root and mount namespaces", file=sys.stderr)
    if not cases or any(case.verdict not in HARMLESS for case in cases):
        return 1
    return 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
