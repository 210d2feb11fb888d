"""What runs of the program left: rows of runs.csv with their stages and traces, or JSON files and traces alone."""
import csv
import dataclasses
import glob
import json
import os
import re
import statistics

TIMES = ("asked", "read_begin", "read_end", "compute_begin", "compute_end", "write_begin", "write_end")
# Parts of a file's name that say how a run was made, not what of: n2, 2gpus, b4096, r3.
RUN_WORD = re.compile(r"^(n|np|ranks?|gpus?|cpu|b|batch|r|rep|repeat)?=?\d+(x\d+)?(gpus?|ranks?)?$|^slices$", re.IGNORECASE)


@dataclasses.dataclass
class one_run:
    """Seconds; `stages`: {name: what it took}, in order, before and after the batches; `times`: the trace's rows."""
    name: str
    problem: str
    backend: str
    ranks: int
    threads: str
    schedule: str
    study: str
    wall: float
    launch: float
    stages: dict
    work: float
    times: list

    def before_work(self):
        names = list(self.stages)
        return {n: self.stages[n] for n in names[:names.index(WORK)]}

    def after_work(self):
        names = list(self.stages)
        return {n: self.stages[n] for n in names[names.index(WORK) + 1:]}

    def batch_items(self):
        """The size that most batches have."""
        return statistics.mode(t["items"] for t in self.times)

    def usual_and_smallest(self):
        """Sizes of batches; the last one of a plan, a rest, does not count."""
        plan = self.plan()
        return self.batch_items(), min(plan[:-1] or plan)

    def plan(self):
        return [t["items"] for t in sorted(self.times, key=lambda t: t["batch"])]

    def lanes(self):
        return 1 + max(t["lane"] for t in self.times)

    def group(self):
        return (self.problem, self.backend, self.threads, sum(t["items"] for t in self.times))


BATCH_SIZE = re.compile(r"@batch=\d+")  # `measure --set batch=N`
WORK = "batches computed"
STUDIES = ("strong",)  # of runs.csv: weak scaling has another problem for each number of ranks


def read_times(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{key: float(value) if key in TIMES else int(value) for key, value in row.items()}
                for row in csv.DictReader(file)]


def stage_seconds(summary):
    """{stage: seconds it took}; None for a command of several steps, which the model does not know."""
    stages, before = {}, 0.0
    for stage in summary["stages"]:
        if ": " in stage["name"] or stage["name"] in stages:
            return None
        stages[stage["name"]] = stage["ended_seconds"] - before
        before = stage["ended_seconds"]
    return stages if WORK in stages else None


def run_of(name, summary, times, row):
    stages = stage_seconds(summary)
    if stages is None or not times:
        return None
    inside = sum(stages.values())
    wall = float(row.get("wall_s") or summary.get("wall_s") or inside)
    backend = row.get("backend") or ("cuda" if summary["all"]["peak_device_bytes"] > 0 else "cpu")
    problem = BATCH_SIZE.sub("", row.get("problem") or "") or problem_in(name)
    return one_run(name, problem, backend, summary["rank_count"],
                   row.get("threads_per_rank", ""), row.get("schedule", "dynamic"), row.get("study", ""), wall,
                   wall - inside, stages, stages[WORK], times)


def problem_in(name):
    words = [w for w in re.split(r"[-_.]", name) if not RUN_WORD.match(w)]
    return "-".join(words) or "run"


def read_folder(folder):
    """Runs of FOLDER/runs.csv; where there is none, one for each NAME.json with its NAME.trace.csv. NAME.wall, where it is
    there, holds the command's wall time in s."""
    rows = []
    table = os.path.join(folder, "runs.csv")
    if os.path.exists(table):
        with open(table, encoding="utf-8", newline="") as file:
            rows = [(row["json"], row["trace"], row) for row in csv.DictReader(file) if row["study"] in STUDIES]
    else:
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            base = path[:-len(".json")]
            if os.path.exists(base + ".trace.csv"):
                wall = open(base + ".wall", encoding="utf-8").read() if os.path.exists(base + ".wall") else ""
                rows.append((os.path.basename(path), os.path.basename(base) + ".trace.csv", {"wall_s": wall.strip()}))
    runs = []
    for summary, trace, row in rows:
        with open(os.path.join(folder, summary), encoding="utf-8") as file:
            data = json.load(file)
        found = run_of(os.path.basename(summary)[:-len(".json")], data, read_times(os.path.join(folder, trace)), row)
        if found is not None:
            runs.append(found)
    return runs
