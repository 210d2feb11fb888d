"""Line charts as SVG text, with logarithmic axes unless another is asked for; Python's standard library alone."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 520, 80, 230, 40, 60
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")


class log_axis:
    """Whole decades around the values, or 1-2-5 ends where they span less than one; pixels from `begin` to `end`."""

    def __init__(self, values, begin, end):
        marks = [m * 10.0 ** e for e in range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
                 for m in (1, 2, 5)]
        self.low = max(m for m in marks if m <= min(values) * 1.0001)
        self.high = min([m for m in marks if m >= max(values) * 0.9999 and m > self.low] or [marks[-1] * 2])
        self.begin, self.end = begin, end
        within = [m for m in marks if self.low <= m <= self.high]
        decades = [m for m in within if abs(math.log10(m) - round(math.log10(m))) < 1e-9]
        self.ticks = decades if len(decades) > 2 else within

    def pixel(self, value):
        part = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return self.begin + part * (self.end - self.begin)


class named_axis(log_axis):
    """Logarithmic, with ticks at the values themselves: 1, 2, 4, ... ranks."""

    def __init__(self, values, begin, end):
        self.ticks = sorted(set(values))
        self.low, self.high = self.ticks[0], self.ticks[-1] if len(self.ticks) > 1 else 2 * self.ticks[0]
        self.begin, self.end = begin, end


class linear_axis:
    """From 0 to a round number above the largest value."""

    def __init__(self, values, begin, end):
        step = 10.0 ** math.floor(math.log10(max(values)))
        step = next(s for s in (step / 5, step / 2, step, 2 * step) if max(values) / s <= 6.5)
        self.ticks = [i * step for i in range(math.ceil(max(values) / step - 1e-9) + 1)]
        self.begin, self.end = begin, end

    def pixel(self, value):
        return self.begin + value / self.ticks[-1] * (self.end - self.begin)


def tick_label(value):
    return f"{value:g}" if value == 0 or 0.001 <= value < 10000 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def text(x, y, words, **more):
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def frame(x, y, title, x_label, y_label):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [text(LEFT, TOP - 15, title, font_size=15),
             text((LEFT + right) / 2, HEIGHT - 15, x_label, text_anchor="middle"),
             text(20, (TOP + bottom) / 2, y_label, text_anchor="middle",
                  transform=f"rotate(-90 20 {(TOP + bottom) / 2:.0f})")]
    for tick in x.ticks:
        parts += [line(x.pixel(tick), TOP, x.pixel(tick), bottom, "#dddddd"),
                  text(x.pixel(tick), bottom + 18, tick_label(tick), text_anchor="middle")]
    for tick in y.ticks:
        parts += [line(LEFT, y.pixel(tick), right, y.pixel(tick), "#dddddd"),
                  text(LEFT - 8, y.pixel(tick) + 4, tick_label(tick), text_anchor="end")]
    return parts


def series_parts(x, y, points, lines, colour, dashed=False):
    """`lines`: the points that are joined, in this order."""
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    joined = " ".join(f"{x.pixel(a):.1f},{y.pixel(b):.1f}" for a, b in lines)
    return [f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'] + [
        f'<circle cx="{x.pixel(a):.1f}" cy="{y.pixel(b):.1f}" r="3" fill="{colour}"/>' for a, b in points]


def document(parts, height=HEIGHT):
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
            f'font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def chart(title, x_label, y_label, series, x_axis=log_axis, y_axis=log_axis):
    """SVG text. `series`: {name: (points, joined points)}, all numbers above 0."""
    every = [point for points, _ in series.values() for point in points]
    x = x_axis([p[0] for p in every], LEFT, WIDTH - RIGHT)
    y = y_axis([p[1] for p in every], HEIGHT - BOTTOM, TOP)
    parts = frame(x, y, title, x_label, y_label)
    for i, (name, (points, joined)) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        parts += series_parts(x, y, points, joined, colour, i >= len(COLOURS))
        at = TOP + 10 + 20 * i
        parts += [f'<circle cx="{WIDTH - RIGHT + 18}" cy="{at}" r="4" fill="{colour}"/>',
                  text(WIDTH - RIGHT + 28, at + 4, name)]
    return document(parts)
