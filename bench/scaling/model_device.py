"""A device that computes batches: what a batch takes alone, and how two that overlap share the device."""
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class device_model:
    """A batch first waits `latency_s` (launches, copies), which takes none of the device's time, then has the device for
    overhead_s + items / rate, one batch after the other. `warm_up_s`: what a device's first batches take longer, in order."""
    latency_s: float
    rate: float  # items/s
    overhead_s: float = 0.0
    warm_up_s: tuple = ()

    def seconds(self, items, factor, number):
        """`factor`: what these items cost, of what items cost in the mean; `number`: batches the device has had before."""
        more = self.warm_up_s[number] if number < len(self.warm_up_s) else 0.0
        return factor * (self.overhead_s + items / self.rate) + more


class device:
    """`speed`: of this one, 1 as measured."""

    def __init__(self, sim, model, speed=1.0):
        self.sim, self.model, self.speed = sim, model, speed
        self.free_at, self.begun = 0.0, 0

    def run(self, items, factor, done):
        # The latency is every batch's, so they come to the device in the order they were begun.
        ready = max(self.sim.now + self.model.latency_s, self.free_at)
        self.free_at = ready + self.model.seconds(items, factor, self.begun) / self.speed
        self.begun += 1
        self.sim.at(self.free_at, done)


def service_seconds(latency_s, begins, ends):
    """How long each batch had the device: from when it could have it to its end."""
    seconds, before = [], -math.inf
    for begin, end in zip(begins, ends):
        seconds.append(max(0.0, end - max(before, begin + latency_s)))
        before = max(before, end)
    return seconds
