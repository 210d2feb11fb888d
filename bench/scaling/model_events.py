"""The clock of the simulation, and pipes whose bandwidth is shared: all that the model's parts stand on."""
import heapq
import itertools


class simulation:
    """Runs actions in the order of their times; those of one time in the order they were asked for."""

    def __init__(self):
        self.now = 0.0
        self._heap, self._order = [], itertools.count()

    def at(self, time, action, *words):
        heapq.heappush(self._heap, (time, next(self._order), action, words))

    def after(self, seconds, action, *words):
        self.at(self.now + seconds, action, *words)

    def begin(self, process):
        """`process`: a generator that yields what it waits for: a function given what to call when the wait is over."""

        def resume():
            try:
                wait = next(process)
            except StopIteration:
                return
            wait(resume)

        self.after(0, resume)

    def sleep(self, seconds):
        return lambda resume: self.after(seconds, resume)

    def run(self):
        while self._heap:
            self.now, _, action, words = heapq.heappop(self._heap)
            action(*words)


class pipe:
    """What is under way shares `rate` (units a second) evenly: a node's memory, a file system."""

    def __init__(self, sim, rate):
        self.sim, self.rate = sim, rate
        self.moved = 0.0  # units each flow has moved since the beginning
        self._flows, self._order, self._since, self._timer = [], itertools.count(), 0.0, 0

    def send(self, amount, done):
        self._advance()
        heapq.heappush(self._flows, (self.moved + amount, next(self._order), done))
        self._set_timer()

    def _advance(self):
        if self._flows:
            self.moved += (self.sim.now - self._since) * self.rate / len(self._flows)
        self._since = self.sim.now

    def _set_timer(self):
        self._timer += 1
        if self._flows:
            left = max(0.0, self._flows[0][0] - self.moved)
            self.sim.after(left * len(self._flows) / self.rate, self._finish, self._timer)

    def _finish(self, timer):
        if timer != self._timer:
            return  # others came in between
        self._advance()
        end, _, done = heapq.heappop(self._flows)
        self.moved = max(self.moved, end)
        self._set_timer()
        done()


def all_of(waits):
    """Over when every one of `waits` is."""

    def wait(resume):
        left = [len(waits)]

        def one_done():
            left[0] -= 1
            if left[0] == 0:
                resume()

        for each in waits:
            each(one_done)

    return wait
