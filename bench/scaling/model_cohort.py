"""Many subjects on many GPUs: a job array, or one job after the other, on one file system."""
import dataclasses

from model_events import simulation
from model_job import shared_pipe, start_team
from model_predict import best_batch, cluster_machine, plan_of, start_and_end, work_seconds

WAYS = ("a GPU each", "a node each", "all GPUs, one after another")


@dataclasses.dataclass(frozen=True)
class cohort:
    """`busy`: GPU time that computing takes over GPU time from the first start to the last end."""
    way: str
    gpus: int
    subjects: int
    batch_items: int
    wall: float
    busy: float
    limit: str


def ranks_of(way, gpus, site):
    return {WAYS[0]: 1, WAYS[1]: min(gpus, site["gpus_per_node"]), WAYS[2]: gpus}[way]


def makespan(m, found, site, subjects, slots, ranks, plan):
    """Seconds from the first job's start to the last one's end; `slots` jobs at a time, started one after the other."""
    sim = simulation()
    file_system = shared_pipe(sim, m.file_system_rate)
    factors = found.factors(plan)
    alone = work_seconds(m, found, ranks, plan)
    moved = found.items * (m.input_bytes_per_item + m.output_bytes_per_item)
    # Jobs that want less than half of the file system, all together, do not meet there.
    meet = 0 < m.file_system_rate < 2 * min(slots, subjects) * moved / alone
    before, after = start_and_end(found, site, ranks)
    waiting, ends = [subjects], []

    def slot(number):
        yield sim.sleep(number / site["job_starts_per_s"])
        while waiting[0] > 0:
            waiting[0] -= 1
            yield sim.sleep(before)
            if meet:
                yield lambda resume: start_team(sim, m, ranks, plan, factors, file_system, lambda team: resume())
            else:
                yield sim.sleep(alone)
            yield sim.sleep(after)
            ends.append(sim.now)
            yield sim.sleep(site["job_gap_s"])

    for number in range(min(slots, subjects)):
        sim.begin(slot(number))
    sim.run()
    assert len(ends) == subjects
    return max(ends)


def predict_cohort(found, site, subjects, gpus, way):
    ranks = ranks_of(way, gpus, site)
    m = cluster_machine(found, site, ranks)
    # A GPU each: the program's own plan is as good as any.
    slots, batch_items = gpus // ranks, 0 if ranks == 1 else best_batch(found, site, ranks)
    plan = plan_of(found, site, batch_items)
    alone = work_seconds(m, found, ranks, plan)
    m = dataclasses.replace(m, dealing="in order")  # of thousands of jobs; playing the rule by speed takes too long
    if slots == 1:
        wall = subjects * (sum(start_and_end(found, site, ranks)) + alone) + (subjects - 1) * site["job_gap_s"]
    else:
        wall = makespan(m, found, site, subjects, slots, ranks, plan)
    computing = subjects * found.items / found.device.rate
    return cohort(way, gpus, subjects, batch_items, wall, computing / (gpus * wall),
                  limit_of(m, found, site, subjects, slots, ranks, alone))


def limit_of(m, found, site, subjects, slots, ranks, alone):
    """What costs most of the time that is not computing. All in s of the cohort's wall time; `alone`: the work of one."""
    rounds, used = -(-subjects // slots), min(slots, subjects)
    moved = subjects * found.items * (m.input_bytes_per_item + m.output_bytes_per_item)
    ideal = subjects * found.items / (found.device.rate * slots * ranks)
    costs = {"start, end and gaps of jobs": rounds * sum(start_and_end(found, site, ranks)) + (rounds - 1) * site["job_gap_s"],
             "starting the jobs": (used - 1) / site["job_starts_per_s"],
             "file system": moved / m.file_system_rate - ideal,
             "more GPUs than jobs, and a last round not full": rounds * alone - subjects * alone / slots,
             "one subject on so many ranks": rounds * (alone - found.items / (found.device.rate * ranks))}
    name = max(costs, key=costs.get)
    return f"{name} ({max(0.0, costs[name]):.0f} s)"
