"""Ranks: the talking thread of mpi/run/work_loop.cpp and the queue of mpi/run/batch_queue.cpp, line by line, in simulated time."""
import collections
import dataclasses
import math

from model_events import all_of

# mpi/run/work_loop.cpp, mpi/run/batch_queue.cpp
FROM_SOURCE = {"between_messages_s": 500e-6, "between_signals_s": 20e-3, "between_second_thoughts_s": 5e-3}


@dataclasses.dataclass(frozen=True)
class costs:
    """Seconds. read and write: (of a batch, of an item)."""
    read: tuple = (0.0, 0.0)
    write: tuple = (0.0, 0.0)
    wake: float = 0.0  # from a signal between threads to the one woken
    message_latency: float = 0.0
    message_service: float = 0.0  # of the thread that receives one
    dealing: float = 0.0  # rank 0, for each rank: to choose whom to give what
    between_messages: float = FROM_SOURCE["between_messages_s"]
    between_signals: float = FROM_SOURCE["between_signals_s"]

    def reading(self, items):
        return self.read[0] + self.read[1] * items

    def writing(self, items):
        return self.write[0] + self.write[1] * items


class rank:
    """One rank. `team`: all ranks of the run, rank 0 first. `move(kind, rank, items)`: what else than the rank's own
    seconds a batch's reading or writing waits for: list of waits."""

    def __init__(self, sim, number, team, plan, factors, device, lanes, costs_, move, dealer=None):
        self.sim, self.number, self.team, self.plan, self.factors = sim, number, team, plan, factors
        self.device, self.costs, self.move = device, costs_, move
        self.dealer = dealer if number == 0 else None
        self.own = None  # batches that are this rank's from the beginning, where they are dealt in advance
        self.free_slots, self.idle_lanes = max(1, lanes) + 2, list(range(max(1, lanes)))
        self.waiting, self.finished, self.granted = collections.deque(), collections.deque(), collections.deque()
        self.arrived, self.inbox = collections.deque(), collections.deque()
        self.answered_at, self.thinking = 0.0, 0.0
        self.asked = self.exhausted = self.left = self.done = self.changed = False
        self.ranks_left = self.batches_done = 0
        self.wanted_since, self.sleeping, self.times, self.in_flight = None, None, [], 0
        self.ended_at = math.nan

    # work_loop::run
    def run(self):
        while not self.done:
            yield from self.poll()
            loaded = yield from self.load_next()
            wrote = False if loaded else (yield from self.write_next())
            self.leave_if_idle()
            if loaded or wrote or self.done:
                continue
            yield self.wait_for_change
        self.ended_at = self.sim.now

    # lane_pool::wait_for_change. Turns in which nothing can happen are not played.
    def wait_for_change(self, resume):
        if self.changed:
            self.changed = False
            return self.sim.after(0, resume)
        talks = len(self.team) > 1 and (self.number == 0 or self.asked or self.left)
        period = self.costs.between_messages if talks else self.costs.between_signals
        self.sleeping = (resume, self.sim.now, period)
        if self.granted or self.inbox or self.arrived:
            self.wake_at(self.sim.now + period)
        elif self.dealer is not None and self.dealer.has_waiting():
            again = self.answered_at + FROM_SOURCE["between_second_thoughts_s"] - self.sim.now
            self.wake_at(self.sim.now + (math.floor(max(0.0, again) / period) + 1) * period)

    def wake_at(self, time):
        asleep = self.sleeping

        def wake():
            if self.sleeping is asleep:
                self.sleeping, self.changed = None, False
                asleep[0]()

        self.sim.at(time, wake)

    def message_came(self):
        if self.sleeping is not None:
            _, since, period = self.sleeping
            turns = math.ceil((self.sim.now - since) / period) or 1
            self.wake_at(since + turns * period)

    def change(self):
        self.changed = True
        if self.sleeping is not None:
            self.wake_at(self.sim.now + self.costs.wake)

    # batch_queue
    def send(self, to, kind, value=0):
        self.sim.after(self.costs.message_latency, self.team[to].receive, self.number, kind, value)

    def receive(self, *note):
        self.arrived.append(note)
        self.message_came()

    # Open MPI looks for messages that have arrived in an MPI_Iprobe that finds none: only the next one tells of them.
    def poll(self):
        while self.inbox:
            sender, kind, value = self.inbox.popleft()
            if self.costs.message_service > 0:
                yield self.sim.sleep(self.costs.message_service)
            if kind == "wants batch":
                self.dealer.ask(sender)
                self.answer_waiting()
            elif kind == "has done":
                self.count_done(sender, value)
            elif kind == "has left":
                self.count_left()
            elif kind in ("grants", "nothing left"):
                self.take_answer(value)
            elif kind == "all have left":
                self.done = True
        self.inbox, self.arrived = self.arrived, collections.deque()
        if self.dealer is not None and self.dealer.has_waiting():
            if self.sim.now - self.answered_at > FROM_SOURCE["between_second_thoughts_s"]:
                self.answer_waiting()
        if self.thinking > 0:
            seconds, self.thinking = self.thinking, 0.0
            yield self.sim.sleep(seconds)

    def answer_waiting(self):
        self.answered_at = self.sim.now
        self.thinking += self.costs.dealing * len(self.team)
        for to, number in self.dealer.answers(self.sim.now):
            if to == 0:
                self.take_answer(number)
            else:
                self.send(to, "nothing left" if number is None else "grants", number)

    def take_answer(self, number):
        self.asked = False
        if number is None:
            self.exhausted = True
        else:
            self.granted.append(number)

    def count_done(self, sender, number):
        self.batches_done += 1
        if self.dealer is None:
            return
        self.dealer.done(sender, number, self.sim.now)
        if self.dealer.has_waiting():
            self.answer_waiting()

    def ask(self):
        if self.asked or self.exhausted:
            return
        if self.own is not None:
            self.take_answer(self.own.popleft() if self.own else None)
            return
        self.asked = True
        if self.number != 0:
            self.send(0, "wants batch")
            return
        self.dealer.ask(0)
        self.answer_waiting()

    def leave_if_idle(self):
        if not self.exhausted or self.in_flight > 0 or self.granted or self.left:
            return
        self.left = True
        if self.number == 0:
            self.count_left()
        else:
            self.send(0, "has left")

    def count_left(self):
        self.ranks_left += 1
        if self.ranks_left < len(self.team):
            return
        self.done = True
        for r in range(1, len(self.team)):
            self.send(r, "all have left")

    # work_loop::load_next, write_next
    def load_next(self):
        if self.free_slots == 0 or self.waiting:
            return False
        if self.wanted_since is None:
            self.wanted_since = self.sim.now
        if not self.granted:
            self.ask()
            return False
        number = self.granted.popleft()
        self.free_slots -= 1
        self.in_flight += 1
        items = self.plan[number]
        t = {"batch": number, "items": items, "rank": self.number, "asked": self.wanted_since,
             "read_begin": self.sim.now}
        self.wanted_since = None
        yield from self.transfer("read", self.costs.reading(items), items)
        t["read_end"] = self.sim.now
        self.waiting.append(t)
        self.sim.after(self.costs.wake, self.drive)
        return True

    def write_next(self):
        if not self.finished:
            return False
        t = self.finished.popleft()
        t["write_begin"] = self.sim.now
        yield from self.transfer("write", self.costs.writing(t["items"]), t["items"])
        t["write_end"] = self.sim.now
        self.times.append(t)
        self.free_slots += 1
        self.in_flight -= 1
        if self.number == 0:
            self.count_done(0, t["batch"])
        else:
            self.send(0, "has done", t["batch"])
        return True

    def transfer(self, kind, own_seconds, items):
        waits = self.move(kind, self, items)
        own = self.sim.sleep(own_seconds)
        yield all_of([own, *waits]) if waits else own

    # lane_pool::drive
    def drive(self):
        if not self.waiting or not self.idle_lanes:
            return
        t = self.waiting.popleft()
        t["lane"] = self.idle_lanes.pop(0)
        t["compute_begin"] = self.sim.now
        self.change()
        self.device.run(t["items"], self.factors[t["batch"]], lambda: self.computed(t))

    def computed(self, t):
        t["compute_end"] = self.sim.now
        self.finished.append(t)
        self.idle_lanes.append(t["lane"])
        self.change()
        self.drive()
