"""Predictions: one subject on many GPUs, and which batch size suits them."""
import dataclasses
import json
import math
import os

from model_job import saved_by_term, simulate_work
from model_plan import even_plan, program_plan
from model_validate import machine_of

FIXED = "start and end"


def read_site(path=None):
    """Values of cluster.json, without what says where they come from."""
    with open(path or os.path.join(os.path.dirname(os.path.abspath(__file__)), "cluster.json"), encoding="utf-8") as file:
        return {key: entry["value"] for key, entry in json.load(file).items() if key != "about"}


# Beyond this the rule by speed is dealt in order: all devices are alike, and playing the rule takes too long.
MOST_PLAYED_BY_SPEED = 64


def cluster_machine(found, site, ranks):
    dealing = "by speed" if ranks <= MOST_PLAYED_BY_SPEED else "in order"
    found = dataclasses.replace(found, costs=dataclasses.replace(found.costs, dealing=site["dealing_s"]))
    return machine_of(found, dealing=dealing, ranks_per_node=site["gpus_per_node"], node_rate=site["node_rate"],
                      file_system_rate=site["file_system_rate"], input_bytes_per_item=site["input_bytes_per_item"],
                      output_bytes_per_item=site["output_bytes_per_item"])


def start_and_end(found, site, ranks):
    """(s before the batches, s after them) of a command on so many ranks."""
    on_node = min(ranks, site["gpus_per_node"])
    nodes = math.ceil(ranks / site["gpus_per_node"])
    start = (found.launch + sum(found.before.values()) + site["start_per_rank_of_node_s"] * (on_node - 1) +
             site["start_per_doubling_of_nodes_s"] * math.log2(nodes) + site["file_per_rank_s"] * (ranks - 1))
    return start, sum(found.after.values()) + site["end_per_rank_of_node_s"] * (on_node - 1)


@dataclasses.dataclass(frozen=True)
class prediction:
    """One subject. Seconds; `batch_items` 0: the program's own plan, whose batches fall in size. `saved`: {term: what it
    costs}. `extrapolated`: with batches smaller than any that was measured."""
    gpus: int
    batch_items: int
    batches: int
    wall: float
    work: float
    ideal: float
    saved: dict
    extrapolated: bool

    def largest_term(self):
        return max(self.saved, key=self.saved.get)


def plan_of(found, site, batch_items):
    """`batch_items` 0: the program's own."""
    if batch_items == 0:
        return program_plan(found.items, site["last_items_per_batch"])
    return even_plan(found.items, batch_items)


def candidates(items, ranks, least, largest):
    """Batch sizes worth trying: 1 to 64 batches a rank (4 where ranks are many), none outside of what was measured: in
    smaller ones a chain's own latency would show, which no run has told."""
    most = 64 if ranks <= 64 else 4
    sizes = {math.ceil(items / (ranks * k)) for k in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64) if k <= most}
    return sorted({min(largest, max(least, s)) for s in sizes})


def work_seconds(m, found, ranks, plan):
    return simulate_work(m, ranks, plan, found.factors(plan)).seconds


def best_batch(found, site, ranks):
    """0, the program's own plan, where no other is shorter by 0.5 % of its work; else the largest of the even batches within
    0.5 % of the shortest."""
    m = cluster_machine(found, site, ranks)
    sizes = candidates(found.items, ranks, min(found.batch_sizes), max(found.batch_sizes))
    seconds = {size: work_seconds(m, found, ranks, plan_of(found, site, size)) for size in [*sizes, 0]}
    least = min(seconds.values())
    return 0 if seconds[0] <= 1.005 * least else max(size for size, s in seconds.items() if s <= 1.005 * least)


def predict(found, site, ranks, batch_items):
    m = cluster_machine(found, site, ranks)
    plan = plan_of(found, site, batch_items)
    work, ideal, saved = saved_by_term(m, ranks, plan, found.factors(plan))
    fixed = sum(start_and_end(found, site, ranks))
    return prediction(ranks, batch_items, len(plan), work + fixed, work, ideal, {FIXED: fixed, **saved},
                      min(plan[:-1] or plan) < min(found.batch_sizes))
