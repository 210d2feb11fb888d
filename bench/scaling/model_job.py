"""One command on some ranks: start, work, end; and which term would save how much."""
import collections
import dataclasses

from model_dealer import dealer, in_order
from model_device import device, device_model
from model_events import pipe, simulation
from model_rank import costs, rank


@dataclasses.dataclass(frozen=True)
class machine:
    """What the work runs on. Rates in bytes/s, 0: not a limit."""
    device: device_model
    lanes: int = 1
    costs: costs = costs()
    speeds: tuple = ()  # of each rank's device, 1 where not named
    ranks_per_node: int = 1
    node_rate: float = 0.0
    file_system_rate: float = 0.0
    input_bytes_per_item: float = 0.0
    output_bytes_per_item: float = 0.0
    dealing: str = "in order"  # "by speed" (mpi/run/dealer.cpp), "in order", "static" (batch i to rank i mod ranks')


@dataclasses.dataclass
class work:
    """What a simulated run of the batches left: `times` as --trace writes them."""
    seconds: float
    times: list
    ranks: int

    def computing(self):
        """Seconds in which a rank had a batch under way, over ranks."""
        return sum(busy_seconds([t for t in self.times if t["rank"] == r]) for r in {t["rank"] for t in self.times})


def busy_seconds(times):
    """Length of the union of the times' computing."""
    total, end = 0.0, float("-inf")
    for t in sorted(times, key=lambda t: t["compute_begin"]):
        total += max(0.0, t["compute_end"] - max(end, t["compute_begin"]))
        end = max(end, t["compute_end"])
    return total


def shared_pipe(sim, rate):
    return pipe(sim, rate) if rate > 0 else None


def start_team(sim, m, ranks, plan, factors, file_system, on_end):
    """Ranks that begin now; `on_end(team)` when rank 0 knows that all have left."""
    nodes = [shared_pipe(sim, m.node_rate) for _ in range((ranks + m.ranks_per_node - 1) // m.ranks_per_node)]

    def move(kind, r, items):
        amount = items * (m.input_bytes_per_item if kind == "read" else m.output_bytes_per_item)
        pipes = [p for p in (nodes[r.number // m.ranks_per_node], file_system) if p is not None and amount > 0]
        return [lambda resume, p=p: p.send(amount, resume) for p in pipes]

    def whole(r):
        yield from r.run()
        if r.number == 0:
            on_end(team)

    deal = {"by speed": lambda: dealer(plan, ranks), "in order": lambda: in_order(plan), "static": lambda: None}[m.dealing]()
    team = []
    for i in range(ranks):
        speed = m.speeds[i] if i < len(m.speeds) else 1.0
        team.append(rank(sim, i, team, plan, factors, device(sim, m.device, speed), m.lanes, m.costs, move, deal))
    for i, r in enumerate(team):
        if m.dealing == "static":
            r.own = collections.deque(range(i, len(plan), ranks))
        sim.begin(whole(r))
    return team


def simulate_work(m, ranks, plan, factors=None):
    """The batches of one command. `factors`: what the items of each batch cost, of what items cost in the mean; or None."""
    sim, ended = simulation(), []
    team = start_team(sim, m, ranks, plan, factors or [1.0] * len(plan), shared_pipe(sim, m.file_system_rate),
                      lambda team: ended.append(sim.now))
    sim.run()
    times = sorted((t for r in team for t in r.times), key=lambda t: t["compute_begin"])
    return work(ended[0], times, ranks)


def without(m, term):
    """The machine with one term taken off."""
    if term == "claims":
        free = dataclasses.replace(m.costs, message_latency=0.0, message_service=0.0, dealing=0.0, between_messages=1e-7,
                                   between_signals=1e-7, wake=0.0)
        return dataclasses.replace(m, costs=free)
    if term == "file system":
        still = dataclasses.replace(m.costs, read=(0.0, 0.0), write=(0.0, 0.0))
        return dataclasses.replace(m, node_rate=0.0, file_system_rate=0.0, costs=still)
    if term == "device":
        return dataclasses.replace(m, device=dataclasses.replace(m.device, latency_s=0.0, overhead_s=0.0, tail_s=0.0, warm_up_s=0.0))
    raise ValueError(term)


TERMS = ("claims", "file system", "device")


def saved_by_term(m, ranks, plan, factors=None):
    """{term: seconds the work would take less without it}. "granularity": what is left over the ideal, without all of
    them: batches cannot be halved, and the last ones do not end together."""
    whole = simulate_work(m, ranks, plan, factors).seconds
    saved = {term: whole - simulate_work(without(m, term), ranks, plan, factors).seconds for term in TERMS}
    bare = m
    for term in TERMS:
        bare = without(bare, term)
    speeds = [m.speeds[i] if i < len(m.speeds) else 1.0 for i in range(ranks)]
    ideal = sum(n * f for n, f in zip(plan, factors or [1.0] * len(plan))) / (m.device.rate * sum(speeds))
    saved["granularity"] = simulate_work(bare, ranks, plan, factors).seconds - ideal
    return whole, ideal, saved
