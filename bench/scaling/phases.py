"""The phases of a run, from the stages in its --json and from its --trace.

Stages are those of rank 0, in seconds since its start; times of a trace are in seconds after all ranks started to
compute. A command of several steps has stages "STEP: name" and one trace per step, FILE.STEP, except for the last
one, whose trace is FILE."""
import csv
import json
import os

# The phases of a run, in order; they add up to the wall time. `reading`, `writing` and `waiting` are means over ranks
# of the time in which the rank computed nothing.
PHASES = ("launch", "start", "reading", "computing", "writing", "waiting", "end")
TIMES = ("asked", "read_begin", "read_end", "compute_begin", "compute_end", "write_begin", "write_end")


def read_summary(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def steps_of(stages):
    """[(step's name, {stage: end in s})] in order; the name is "" in a command of one step."""
    steps = {}
    for stage in stages:
        step, _, name = stage["name"].rpartition(": ")
        steps.setdefault(step, {})[name] = stage["ended_seconds"]
    if len(steps) > 1:
        steps.pop("", None)  # start of MPI, before the first step
    return list(steps.items())


def read_trace(path):
    """A trace's batches: dictionaries of numbers."""
    with open(path, encoding="utf-8", newline="") as file:
        return [{key: float(value) if key in TIMES else int(value) for key, value in row.items()}
                for row in csv.DictReader(file)]


def traces_of(path, steps):
    """[batches] of each step, in the order of `steps`."""
    last = len(steps) - 1
    return [read_trace(path if i == last else f"{path}.{name}") for i, (name, _) in enumerate(steps)]


def union(intervals):
    """Sorted intervals, with overlapping ones merged."""
    joined = []
    for begin, end in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return joined


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def outside(intervals, taken):
    """Parts of the (merged) intervals that are not covered by the (merged) intervals `taken`."""
    left = []
    for begin, end in intervals:
        for a, b in taken:
            if b > begin and a < end:
                if a > begin:
                    left.append([begin, a])
                begin = max(begin, b)
        if begin < end:
            left.append([begin, end])
    return left


def by_rank(batches):
    ranks = {}
    for batch in batches:
        ranks.setdefault(batch["rank"], []).append(batch)
    return ranks


def busy_seconds(batches):
    """{rank: seconds in which it computed at least one batch}."""
    return {rank: length(union((b["compute_begin"], b["compute_end"]) for b in own))
            for rank, own in by_rank(batches).items()}


def idle_seconds(batches, ranks):
    """Seconds of reading and of writing while the rank computed nothing, averaged over all ranks."""
    reading = writing = 0.0
    for own in by_rank(batches).values():
        busy = union((b["compute_begin"], b["compute_end"]) for b in own)
        read = outside(union((b["read_begin"], b["read_end"]) for b in own), busy)
        written = outside(outside(union((b["write_begin"], b["write_end"]) for b in own), busy), union(read))
        reading, writing = reading + length(read), writing + length(written)
    return reading / ranks, writing / ranks


def end_of(ends):
    """A step that is collected in memory has no result."""
    return ends["result named"] if "result named" in ends else ends["step ended"]


def step_phases(ends, before, batches, ranks):
    """{phase: s} of one step that started at `before`; all except the launch, and also work_s and busy_s."""
    ready = ends["buffers made"]
    begun = ends.get("input awaited", ready)
    work = ends["batches computed"] - begun
    busy = sum(busy_seconds(batches).values())
    reading, writing = idle_seconds(batches, ranks)
    return {"start": ready - before, "reading": begun - ready + reading, "computing": busy / ranks, "writing": writing,
            "waiting": work - busy / ranks - reading - writing, "end": end_of(ends) - ends["batches computed"],
            "awaited": begun - ready, "work": work, "busy": busy}


def phases(summary, trace, wall_s):
    """{phase: s} of a run, and also "work", "busy" (sum over ranks), "awaited" (input, within reading) and "items"
    (streamlines, or those of the step that computed longest). `summary`: its --json; `trace`: the file's path."""
    steps = steps_of(summary["stages"])
    total = dict.fromkeys((*PHASES, "awaited", "work", "busy"), 0.0)
    before, most = 0.0, -1.0
    for (_, ends), batches in zip(steps, traces_of(trace, steps)):
        own = step_phases(ends, before, batches, summary["rank_count"])
        for name, seconds in own.items():
            total[name] += seconds
        if own["busy"] > most:
            most, total["items"] = own["busy"], sum(b["items"] for b in batches)
        before = end_of(ends)
    total["items"] = summary.get("streamlines", total["items"])  # track's groups grow with the run
    total["launch"] = wall_s - before
    return total


def trace_path(folder, row):
    return os.path.join(folder, row["trace"])


def of_row(folder, row):
    """Phases of a row of runs.csv."""
    return phases(read_summary(os.path.join(folder, row["json"])), trace_path(folder, row), float(row["wall_s"]))
