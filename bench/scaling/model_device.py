"""A device that computes batches: what a batch takes alone, and how those that overlap share the device."""
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class device_model:
    """A batch has the device for overhead_s + items / rate, one batch after the other, from latency_s after it was begun.
    Its last `tail_s` (small kernels, copies back) takes none of the device's time; but where another batch is begun before
    the tail is over, the tail waits behind it. `warm_up_s`: what a device's first batch takes longer."""
    latency_s: float
    rate: float  # items/s
    overhead_s: float = 0.0
    tail_s: float = 0.0
    warm_up_s: float = 0.0

    def seconds(self, items, factor=1.0, first=False):
        """`factor`: what these items cost, of what items cost in the mean."""
        return factor * (self.overhead_s + items / self.rate) + (self.warm_up_s if first else 0.0)


class device:
    """`speed`: of this one, 1 as measured."""

    def __init__(self, sim, model, speed=1.0):
        self.sim, self.model, self.speed = sim, model, speed
        self.free_at, self.begun = 0.0, 0
        self.tails = []  # of batches that have had the device: [number, what to call]

    def run(self, items, factor, done):
        # The latency is every batch's, so they come to the device in the order they were begun.
        ready = max(self.sim.now + self.model.latency_s, self.free_at)
        self.free_at = ready + self.model.seconds(items, factor, self.begun == 0) / self.speed
        self.begun += 1
        waiting, self.tails = self.tails, []
        self.sim.at(self.free_at, self.through, self.begun, done, waiting)

    def through(self, number, done, waiting):
        """A batch that has had the device: the tails behind it end, its own begins."""
        for _, call in waiting:
            call()
        if self.model.tail_s <= 0:
            return done()
        tail = (number, done)
        if self.begun > number:  # the next one is there already
            return self.sim.at(self.free_at, done)
        self.tails.append(tail)
        self.sim.after(self.model.tail_s / self.speed, self.end_tail, tail)

    def end_tail(self, tail):
        if tail in self.tails:
            self.tails.remove(tail)
            tail[1]()


def device_ends(begins, ends, tail_s):
    """When each batch was through with the device, as its neighbours tell, in the order they were begun: where it was begun
    before the one before had ended, that one's tail waited for it."""
    if tail_s <= 0:
        return list(ends)
    return [before if begin < before else end - tail_s for begin, end, before in zip(begins, ends, [-math.inf, *ends])]


def service_seconds(model, begins, ends):
    """How long each batch had the device."""
    seconds, before = [], -math.inf
    for begin, through in zip(begins, device_ends(begins, ends, model.tail_s)):
        seconds.append(max(0.0, through - max(before, begin + model.latency_s)))
        before = max(before, through)
    return seconds
