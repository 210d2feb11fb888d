"""What the model says of runs of several ranks, from runs of one rank alone, beside what was measured."""
import dataclasses
import statistics

from model_calibrate import calibrate, services
from model_job import machine, simulate_work


@dataclasses.dataclass(frozen=True)
class comparison:
    """Seconds. `scatter`: largest over smallest of the measured work, less 1. `work_own`: the model's with the run's own
    batch times in the place of one rank's: where it is right and work_model is not, devices ran at another speed."""
    problem: str
    backend: str
    ranks: int
    batch_items: int
    repeats: int
    work: float
    work_model: float
    wall: float
    wall_model: float
    scatter: float
    work_own: float

    def work_error(self):
        return self.work_model / self.work - 1

    def wall_error(self):
        return self.wall_model / self.wall - 1


def machine_of(found, **more):
    return machine(found.device, found.lanes, found.costs, **more)


def groups_of(runs, key):
    groups = {}
    for r in runs:
        groups.setdefault(key(r), []).append(r)
    return groups


def growth(runs, group, ranks, of):
    """{stage: s longer with so many ranks than with one}, medians over other problems of the backend: never the one that
    is predicted."""
    found = {}
    for other, own in groups_of([r for r in runs if r.group() != group and r.backend == group[1]], lambda r: r.group()).items():
        one, many = ([r for r in own if r.ranks == n] for n in (1, ranks))
        if not one or not many:
            continue
        for stage in of(one[0]):
            found.setdefault(stage, []).append(statistics.median(of(r).get(stage, 0.0) for r in many) -
                                               statistics.median(of(r).get(stage, 0.0) for r in one))
    return {stage: statistics.median(d) for stage, d in found.items()}


def outside_work(found, runs, group, ranks):
    """Seconds of the launch, the start and the end with so many ranks."""
    total = found.launch + sum(found.before.values()) + sum(found.after.values())
    for of in (lambda r: {"launch": r.launch}, lambda r: r.before_work(), lambda r: r.after_work()):
        total += sum(growth(runs, group, ranks, of).values())
    return total


def dealing_of(run):
    """Plans whose batches fall in size are dealt by speed; those of older programs were dealt in order."""
    if run.schedule == "static":
        return "static"
    plan = run.plan()
    return "by speed" if len(set(plan)) > 2 and plan == sorted(plan, reverse=True) else "in order"


def compare(runs, group, measured, site):
    """`measured`: repeats of one run of several ranks."""
    ones = [r for r in runs if r.group() == group and r.ranks == 1]
    first = measured[0]
    found = calibrate(ones, site)
    m = dataclasses.replace(machine_of(found), dealing=dealing_of(first))
    work = simulate_work(m, first.ranks, first.plan(), found.factors(first.plan())).seconds
    works = [r.work for r in measured]
    return comparison(first.problem, first.backend, first.ranks, first.batch_items(), len(measured),
                      statistics.median(works), work, statistics.median(r.wall for r in measured),
                      work + outside_work(found, runs, group, first.ranks), max(works) / min(works) - 1,
                      simulate_work(own_machine(m), first.ranks, first.plan(), own_factors(m, first)).seconds)


def own_machine(m):
    return dataclasses.replace(m, device=dataclasses.replace(m.device, warm_up_s=0.0))


def own_factors(m, run):
    """Of a run of several ranks: what its batches took over what batches of so many items take."""
    factors = {}
    for r in range(run.ranks):
        own = dataclasses.replace(run, times=[t for t in run.times if t["rank"] == r])
        for t, seconds in services(own, m.device):
            factors[t["batch"]] = seconds / m.device.seconds(t["items"])
    return [factors[b] for b in range(len(factors))]


def validate(runs, site):
    """Comparisons of all runs whose problem has runs of one rank; these themselves are among them (1 rank: how well the
    calibration describes what it was made from). And the groups that have none."""
    done, missing = [], []
    for group, own in groups_of(runs, lambda r: r.group()).items():
        if not any(r.ranks == 1 for r in own):
            missing.append(group)
            continue
        for _, same in sorted(groups_of(own, lambda r: (r.ranks, r.schedule, tuple(r.plan()))).items()):
            done.append(compare(runs, group, same, site))
    return done, missing
