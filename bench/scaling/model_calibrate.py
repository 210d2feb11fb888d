"""The model's numbers from runs of one rank: batch times, reading, writing, the stages before and after the batches."""
import dataclasses
import itertools
import math
import statistics

from model_device import device_model, service_seconds
from model_job import machine, simulate_work
from model_rank import costs


@dataclasses.dataclass(frozen=True, eq=False)
class calibration:
    """What runs of one rank tell. `before`, `after`: {stage: s}; `profiles`: a (plan, profile_of()) of each plan."""
    device: device_model
    lanes: int
    costs: costs
    profiles: tuple
    before: dict
    after: dict
    launch: float
    items: int
    runs: int
    batch_sizes: tuple

    def factors(self, plan):
        """Factor of each batch of a plan, by the measured plan that is this one or has the nearest batch size."""
        want = math.log(statistics.mode(plan))
        _, profile = min(self.profiles, key=lambda p: (list(p[0]) != plan, abs(math.log(statistics.mode(p[0])) - want)))
        return factors_of(profile, plan)


def line_through(points):
    """(intercept, slope) of seconds over items by least squares, neither below 0."""
    x, y = (statistics.fmean(p[i] for p in points) for i in (0, 1))
    spread = sum((n - x) ** 2 for n, _ in points)
    slope = sum((n - x) * (s - y) for n, s in points) / spread if spread > 0 else y / x
    intercept = y - slope * x
    if slope < 0:
        return y, 0.0
    return (intercept, slope) if intercept > 0 else (0.0, y / x)


def by_begin(run):
    return sorted(run.times, key=lambda t: t["compute_begin"])


def services(run, latency_s):
    """[(batch, s it had the device)] in the order they were begun."""
    times = by_begin(run)
    seconds = service_seconds(latency_s, [t["compute_begin"] for t in times], [t["compute_end"] for t in times])
    return list(zip(times, seconds))


def warm_up(runs, first, latency, overhead, slope):
    """Medians over runs of what the first batches took longer."""
    extra = [[s - overhead - slope * t["items"] for t, s in services(r, latency)[:first]] for r in runs]
    return tuple(max(0.0, statistics.median(e)) for e in zip(*extra))


def device_of(runs, lanes, latency):
    """Overhead and rate that go with a latency. A GPU's first batches, one a lane, only tell what warming up takes."""
    first = lanes if runs[0].backend == "cuda" else 0
    points = [(t["items"], s) for r in runs for t, s in services(r, latency)[first:] or services(r, latency)]
    overhead, slope = line_through(points)
    return device_model(latency, 1 / max(slope, 1e-15), overhead, warm_up(runs, first, latency, overhead, slope))


def fit_device(runs, lanes, measured):
    """Of the latencies tried the one with which the model, one rank, takes as long for the runs as they did."""
    shortest = min(t["compute_end"] - t["compute_begin"] for r in runs for t in r.times)

    def error(model):
        return sum((simulate_work(machine(model, lanes, measured), 1, r.plan()).seconds / r.work - 1) ** 2 for r in runs)

    # With one lane, latency and overhead are the same.
    parts = range(20) if lanes > 1 else range(1)
    return min((device_of(runs, lanes, part / 20 * shortest) for part in parts), key=error)


def profile_of(model, runs):
    """((items up to here, factor of the batch), ...) along the list of items: what a batch's items cost, of what items cost
    in the mean; means over runs of one plan. 1 for batches that warmed a device up: what they cost themselves is not seen."""
    factors = [0.0] * len(runs[0].plan())
    for r in runs:
        for number, (t, s) in enumerate(services(r, model.latency_s)):
            warming = number < len(model.warm_up_s)
            factors[t["batch"]] += (1.0 if warming else s / model.seconds(t["items"], 1.0, number)) / len(runs)
    return tuple(zip(itertools.accumulate(runs[0].plan()), factors))


def factors_of(profile, plan):
    """Factor of each batch of a plan, items of a measured batch taken to cost the same."""
    scale, factors, first = profile[-1][0] / sum(plan), [], 0.0
    at = 0
    for end in (e * scale for e in itertools.accumulate(plan)):
        cost, begin = 0.0, first
        while begin < end - 1e-9 * end:
            while profile[at][0] <= begin:
                at += 1
            part = min(end, profile[at][0]) - begin
            cost += part * profile[at][1]
            begin += part
        factors.append(cost / (end - first))
        first = end
    return factors


def median_stages(runs, of):
    names = list(dict.fromkeys(name for r in runs for name in of(r)))
    return {name: statistics.median([of(r).get(name, 0.0) for r in runs]) for name in names}


def wake_seconds(times):
    """From a batch read to its being computed, or computed to written, where the one who does it was asleep: the shorter
    half's median, of the shorter of the two."""
    gaps = [sorted(t[b] - t[a] for t in times) for a, b in (("compute_end", "write_begin"), ("read_end", "compute_begin"))]
    return min(statistics.median(g[:max(1, len(g) // 2)]) for g in gaps)


def calibrate(runs, site):
    """From runs of one rank and one problem."""
    assert runs and all(r.ranks == 1 for r in runs)
    lanes = max(r.lanes() for r in runs)
    times = [t for r in runs for t in r.times]
    measured = costs(line_through([(t["items"], t["read_end"] - t["read_begin"]) for t in times]),
                     line_through([(t["items"], t["write_end"] - t["write_begin"]) for t in times]), wake_seconds(times),
                     site["message_latency_s"], site["message_service_s"])
    model = fit_device(runs, lanes, measured)
    plans = {}
    for r in runs:
        plans.setdefault(tuple(r.plan()), []).append(r)
    profiles = tuple((plan, profile_of(model, same)) for plan, same in plans.items())
    return calibration(model, lanes, measured, profiles, median_stages(runs, lambda r: r.before_work()),
                       median_stages(runs, lambda r: r.after_work()), statistics.median(r.launch for r in runs),
                       sum(runs[0].plan()), len(runs), tuple(sorted({r.batch_items() for r in runs})))
