"""Bars of phases and timelines of ranks as SVG text."""
from phases import PHASES, by_rank
from svg_chart import LEFT, TOP, WIDTH, document, line, linear_axis, text, tick_label

NAMES = 190  # pixels for the names of bars
BAR, GAP = 16, 6
MOST_TOLD = 300  # batches of a timeline that say their times where a mouse points at them
COLOUR = dict(zip(PHASES, ("#999999", "#56b4e9", "#e69f00", "#009e73", "#d55e00", "#dddddd", "#cc79a7")))
LIGHTER = "#66c2a5"  # than computing's


def rectangle(x, y, width, height, colour, title=""):
    words = f"<title>{title}</title>" if title else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.3):.1f}" height="{height}" fill="{colour}">{words}</rect>'


def legend(names, colours, left):
    parts = []
    for i, name in enumerate(names):
        parts += [rectangle(left + 90 * i, TOP - 6, 10, 10, colours[name]), text(left + 90 * i + 14, TOP + 4, name)]
    return parts


def seconds_axis(longest, left, top, bottom):
    """The axis and its lines."""
    x = linear_axis([longest], left, WIDTH - 20)
    parts = [text((left + WIDTH - 20) / 2, bottom + 36, "s", text_anchor="middle")]
    for tick in x.ticks:
        parts += [line(x.pixel(tick), top, x.pixel(tick), bottom, "#dddddd"),
                  text(x.pixel(tick), bottom + 18, tick_label(round(tick, 9)), text_anchor="middle")]
    return x, parts


def phase_bars(title, bars):
    """`bars`: {name: {phase: share}}; shares are of 1, and below it each is a bar as long as all others."""
    top, parts = TOP + 20, [text(20, TOP - 20, title, font_size=15), *legend(PHASES, COLOUR, NAMES)]
    for i, (name, shares) in enumerate(bars.items()):
        at, y, scale = NAMES, top + i * (BAR + GAP), WIDTH - 20 - NAMES
        parts.append(text(NAMES - 8, y + 12, name, text_anchor="end"))
        for phase in PHASES:
            width = max(0.0, shares[phase]) * scale
            parts.append(rectangle(at, y, width, BAR, COLOUR[phase], f"{name}, {phase}: {100 * shares[phase]:.1f} %"))
            at += width
    return document(parts, top + len(bars) * (BAR + GAP) + 20)


def lanes_of(batches):
    return sorted({(b["rank"], b["lane"]) for b in batches})


def timeline(title, batches):
    """What each rank did when: a row for reading and writing, and one for each of its lanes computing. Neighbouring
    batches are told apart by their shade."""
    rows = [(rank, lane) for rank, own in sorted(by_rank(batches).items()) for lane in (None, *(l for _, l in lanes_of(own)))]
    height = max(3, min(14, 700 // len(rows)))
    top, bottom = TOP + 20, TOP + 20 + len(rows) * (height + 1)
    x, parts = seconds_axis(max(b["write_end"] for b in batches), LEFT, top, bottom)
    colours = {"reading": COLOUR["reading"], "computing": COLOUR["computing"], "writing": COLOUR["writing"]}
    parts += [text(20, TOP - 20, title, font_size=15), *legend(colours, colours, LEFT)]
    row_of = {row: top + i * (height + 1) for i, row in enumerate(rows)}
    for (rank, lane), y in row_of.items():
        if lane is None:
            parts.append(text(LEFT - 8, y + height, f"rank {rank}", text_anchor="end", font_size=min(12, height + 3)))
    shades = {}
    for b in sorted(batches, key=lambda b: b["compute_begin"]):
        own = (b["rank"], b["lane"])
        shades[own] = not shades.get(own, False)
        for what, key, y in (("reading", "read", row_of[b["rank"], None]), ("computing", "compute", row_of[own]),
                             ("writing", "write", row_of[b["rank"], None])):
            begin, end = b[key + "_begin"], b[key + "_end"]
            colour = LIGHTER if what == "computing" and not shades[own] else colours[what]
            told = f"batch {b['batch']}, {what}: {begin:.3f} to {end:.3f} s" if len(batches) <= MOST_TOLD else ""
            parts.append(rectangle(x.pixel(begin), y, x.pixel(end) - x.pixel(begin), height, colour, told))
    return document(parts, bottom + 50)
