"""Bars of phases and timelines of ranks, written with matplotlib."""
from figures import pyplot, save
from phases import PHASES, by_rank

COLOURS = dict(zip(PHASES, ("#999999", "#56b4e9", "#e69f00", "#009e73", "#d55e00", "#dddddd", "#cc79a7")))
LIGHTER = "#66c2a5"  # than the row of computing
FILES = None  # the lane of reading and writing


def legend(axes, names):
    """Between the title and the axes."""
    handles = [pyplot().Rectangle((0, 0), 1, 1, color=COLOURS[name]) for name in names]
    axes.legend(handles, names, fontsize=8, ncol=len(names), loc="lower center", bbox_to_anchor=(0.5, 1.0),
                frameon=False)


def phase_bars(path, title, bars):
    """`bars`: {name: {phase: share}}; shares add up to 1."""
    figure, axes = pyplot().subplots(figsize=(8.6, 1.2 + 0.25 * len(bars)))
    names, left = list(bars), [0.0] * len(bars)
    for phase in PHASES:
        widths = [100 * max(0.0, shares[phase]) for shares in bars.values()]
        axes.barh(names, widths, left=left, color=COLOURS[phase])
        left = [a + b for a, b in zip(left, widths)]
    axes.invert_yaxis()
    axes.set_title(title, pad=24)
    axes.set_xlabel("% of the wall time")
    legend(axes, PHASES)
    save(figure, path)


def rows_of(batches):
    """{(rank, lane): row}: for each rank a row for its files, then one for each of its lanes."""
    lanes = sorted({(b["rank"], b["lane"]) for b in batches})
    order = [(rank, lane) for rank in sorted(by_rank(batches)) for lane in (FILES, *(l for r, l in lanes if r == rank))]
    return {key: row for row, key in enumerate(order)}


def bars_of(batches):
    """[(row, begin, end, colour)] of a timeline; neighbouring batches of a lane differ in shade."""
    rows, bars, shades = rows_of(batches), [], {}
    for b in sorted(batches, key=lambda b: b["compute_begin"]):
        lane = (b["rank"], b["lane"])
        shades[lane] = not shades.get(lane, False)
        computing = COLOURS["computing"] if shades[lane] else LIGHTER
        for key, row, colour in (("read", rows[b["rank"], FILES], COLOURS["reading"]),
                                 ("compute", rows[lane], computing),
                                 ("write", rows[b["rank"], FILES], COLOURS["writing"])):
            bars.append((row, b[key + "_begin"], b[key + "_end"], colour))
    return bars


def timeline(path, title, batches):
    """A timeline with two kinds of rows per rank: one for reading and writing, and one for each lane that computes."""
    rows = rows_of(batches)
    figure, axes = pyplot().subplots(figsize=(8.6, min(10, 1.5 + 0.25 * len(rows))))
    for row, begin, end, colour in bars_of(batches):
        axes.broken_barh([(begin, end - begin)], (row - 0.45, 0.9), color=colour)
    files = {rank: row for (rank, lane), row in rows.items() if lane is FILES}
    axes.set_yticks(list(files.values()), [f"rank {rank}" for rank in files])
    axes.invert_yaxis()
    axes.set_title(title, pad=24)
    axes.set_xlabel("s")
    legend(axes, ("reading", "computing", "writing"))
    save(figure, path)
