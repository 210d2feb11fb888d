"""Which rank gets which batch: mpi/run/dealer.cpp, line by line, and dealing in the plan's order."""
import bisect
import collections

MOST_ENDS = 12
LATEST, LATEST_IF_SLOW, USUAL_IF_SLOW = 0.9, 0.5, 0.25
SLOW_BESIDE_MEAN, AS_EARLY = 0.5, 1.05
UNMEASURED_SHARE, LARGE_BESIDE_SHARE, MOST_UNMEASURED = 1 / 24, 1 / 4, 2
MOST_REFUSALS = 8


class in_order:
    """The next batch of the plan to whoever asks."""

    def __init__(self, plan):
        self.pending, self.waiting = collections.deque(range(len(plan))), []

    def ask(self, rank):
        self.waiting.append(rank)

    def done(self, rank, number, now):
        pass

    def has_waiting(self):
        return bool(self.waiting)

    def answers(self, now):
        found = [(r, self.pending.popleft() if self.pending else None) for r in self.waiting]
        self.waiting = []
        return found


class worker:
    def __init__(self):
        self.unfinished, self.items_unfinished = [], 0.0
        self.changed_at = self.measured_from = 0.0
        self.ends, self.items_ended = collections.deque(), 0.0


class dealer:
    """By measured speed: see mpi/run/dealer.hpp. All ranks are believed equally fast before they are measured."""

    def __init__(self, plan, ranks):
        self.plan, self.pending = plan, list(range(len(plan)))
        self.items_pending = float(sum(plan))
        self.falling = all(b <= a for a, b in zip(plan, plan[1:]))
        self.workers, self.waiting = [worker() for _ in range(ranks)], []

    def ask(self, rank):
        self.waiting.append(rank)

    def has_waiting(self):
        return bool(self.waiting)

    def done(self, rank, number, now):
        w = self.workers[rank]
        if number not in w.unfinished:
            return
        w.unfinished.remove(number)
        w.items_unfinished -= self.plan[number]
        w.items_ended += self.plan[number]
        w.changed_at = now
        w.ends.append([now, self.plan[number]])
        if len(w.ends) > MOST_ENDS:
            w.measured_from, items = w.ends.popleft()
            w.items_ended -= items

    def grant(self, w, number, now):
        if not w.unfinished:
            idle = now - w.changed_at if w.ends else now
            w.measured_from += idle
            for end in w.ends:
                end[0] += idle
            w.changed_at = now
        w.unfinished.append(number)
        w.items_unfinished += self.plan[number]

    def look(self, now):
        """([speed], [rest], their sums)."""
        speed = [w.items_ended / max(1e-9, w.ends[-1][0] - w.measured_from) if w.ends else 0.0 for w in self.workers]
        measured = sum(1 for w in self.workers if w.ends)
        unit = sum(speed) / measured if measured else 1.0
        rest = []
        for r, w in enumerate(self.workers):
            if not w.ends:
                speed[r] = unit
            left = w.items_unfinished
            if w.unfinished and measured:
                since = max(1e-9, now - w.changed_at)
                speed[r] = min(speed[r], left / since)
                left = max(0.0, left - speed[r] * since)
            rest.append(left)
        return speed, rest, sum(speed), sum(rest)

    def smallest(self):
        return len(self.pending) - 1 if self.falling else 0

    def items_of(self, place):
        return self.plan[self.pending[place]]

    def first_of_at_most(self, items):
        if not self.falling:
            return 0 if self.items_of(0) <= items else len(self.pending)
        return bisect.bisect_left(self.pending, -items, key=lambda number: -self.plan[number])

    def slow(self, rank, o):
        return o[0][rank] < SLOW_BESIDE_MEAN * o[2] / len(self.workers)

    def first_to_end(self, rank, items, o):
        speed, rest = o[:2]
        own = (rest[rank] + items) / speed[rank]
        return all(own <= AS_EARLY * (rest[r] + items) / speed[r] for r in range(len(self.workers)) if r != rank)

    def choose_unmeasured(self, rank, o):
        speed, _, all_speed, all_rest = o
        own, share = self.workers[rank], self.items_pending * speed[rank] / all_speed
        least = self.items_of(self.smallest())
        if self.slow(rank, o):
            if own.unfinished:
                return None
            others_end = (self.items_pending + all_rest) / (all_speed - speed[rank])
            fits = least <= LATEST_IF_SLOW * others_end * speed[rank]
            return self.smallest() if fits or self.first_to_end(rank, least, o) else None
        if len(own.unfinished) >= MOST_UNMEASURED:
            return None
        if self.items_of(0) >= LARGE_BESIDE_SHARE * share:
            return 0
        place = self.first_of_at_most(UNMEASURED_SHARE * share)
        return place if place < len(self.pending) else self.smallest()

    def choose(self, rank, o):
        if len(self.workers) == 1:
            return 0
        if not self.workers[rank].ends:
            return self.choose_unmeasured(rank, o)
        speed, rest, all_speed, all_rest = o
        least, is_slow = self.items_of(self.smallest()), self.slow(rank, o)
        if is_slow and rest[rank] > least:
            return None
        others_end = (self.items_pending + all_rest - rest[rank]) / (all_speed - speed[rank])
        place = self.first_of_at_most((USUAL_IF_SLOW if is_slow else LATEST) * others_end * speed[rank] - rest[rank])
        if place == 0 or self.first_to_end(rank, self.items_of(0), o):
            return 0
        if place < len(self.pending):
            return place
        if is_slow and rest[rank] + least <= LATEST_IF_SLOW * others_end * speed[rank]:
            return self.smallest()
        return self.smallest() if self.first_to_end(rank, least, o) else None

    def answers(self, now):
        found, granted = [], bool(self.waiting)
        while granted and self.pending and self.waiting:
            granted, refusals = False, 0
            o = self.look(now)
            least = self.items_of(self.smallest())
            self.waiting.sort(key=lambda r: (o[1][r] + least) / o[0][r])
            for i, r in enumerate(self.waiting):
                place = self.choose(r, o) if refusals < MOST_REFUSALS else None
                if place is None:
                    refusals += bool(self.workers[r].ends)
                    continue
                number = self.pending.pop(place)
                self.items_pending -= self.plan[number]
                self.grant(self.workers[r], number, now)
                found.append((r, number))
                del self.waiting[i]
                granted = True
                break
        if not self.pending:
            found += [(r, None) for r in self.waiting]
            self.waiting = []
        return found
