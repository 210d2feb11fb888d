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


def services(run, model):
    """[(batch, s it had the device)] in the order they were begun."""
    times = by_begin(run)
    return list(zip(times, service_seconds(model, [t["compute_begin"] for t in times], [t["compute_end"] for t in times])))


def settling(run, lanes):
    """Batches at a GPU's beginning whose times tell little of them alone: they warm it up, and wait for each other."""
    return 0 if run.backend != "cuda" else min(2 * lanes + 1, len(run.times) // 2)


def tail_seconds(runs, lanes):
    """From the last but one to the last batch's end: the tail of the one that none came after."""
    if lanes == 1:
        return 0.0  # no other is ever begun meanwhile: part of the overhead
    ends = [sorted(t["compute_end"] for t in r.times)[-2:] for r in runs if len(r.times) > 1]
    return statistics.median(b - a for a, b in ends) if ends else 0.0


def device_of(runs, lanes, latency, tail):
    """Overhead, rate and warming up that go with a latency and a tail."""
    probe = device_model(latency, 1.0, 0.0, tail)
    points = [(t["items"], s) for r in runs for t, s in services(r, probe)[settling(r, lanes):]]
    overhead, slope = line_through(points)
    found = dataclasses.replace(probe, rate=1 / max(slope, 1e-15), overhead_s=overhead)
    late = [sum(s - found.seconds(t["items"]) for t, s in services(r, found)[:settling(r, lanes)]) for r in runs]
    return dataclasses.replace(found, warm_up_s=max(0.0, statistics.median(late)))


def lateness(measured, work):
    """Root mean square of how much later or earlier the k-th batch to end ends in the model, over the run's seconds."""
    ends = [sorted(t["compute_end"] for t in times) for times in (measured.times, work.times)]
    return math.sqrt(statistics.fmean((a - b) ** 2 for a, b in zip(*ends))) / measured.work


def fit_device(runs, lanes, measured):
    """Of the latencies tried, with a tail and without, that by which batches end when they did, the model's one rank
    playing the runs of one rank."""
    shortest = min(t["compute_end"] - t["compute_begin"] for r in runs for t in r.times)

    def error(model):
        return sum(lateness(r, simulate_work(machine(model, lanes, measured), 1, r.plan())) for r in runs)

    # With one lane, latency and overhead are the same.
    latencies = [part / 20 * shortest for part in range(20)] if lanes > 1 else [0.0]
    tails = sorted({0.0, tail_seconds(runs, lanes)})
    return min((device_of(runs, lanes, latency, tail) for tail in tails for latency in latencies), key=error)


def profile_of(model, runs, lanes):
    """((items up to here, factor of the batch), ...) along the list of items: what a batch's items cost, of what items cost
    in the mean; means over runs of one plan. 1 for batches while a GPU settles: what they cost themselves is not seen."""
    factors = [0.0] * len(runs[0].plan())
    for r in runs:
        for number, (t, s) in enumerate(services(r, model)):
            usual = model.seconds(t["items"])
            factors[t["batch"]] += (1.0 if number < settling(r, lanes) else s / usual) / len(runs)
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
    profiles = tuple((plan, profile_of(model, same, lanes)) for plan, same in plans.items())
    return calibration(model, lanes, measured, profiles, median_stages(runs, lambda r: r.before_work()),
                       median_stages(runs, lambda r: r.after_work()), statistics.median(r.launch for r in runs),
                       sum(runs[0].plan()), len(runs), tuple(sorted({n for r in runs for n in r.usual_and_smallest()})))
