"""The model's tables (Markdown, CSV) and charts (SVG)."""
import csv

from svg_chart import chart
from tables import print_table


def write_rows(path, rows):
    if not rows:
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def size_text(batch_items):
    return f"{batch_items:,}" if batch_items else "falling"


def percent(value):
    return f"{100 * value:+.1f}"


def validation_rows(done):
    return [{"problem": c.problem, "backend": c.backend, "ranks": c.ranks, "batch_items": c.batch_items, "runs": c.repeats,
             "work_s": f"{c.work:.4f}", "work_model_s": f"{c.work_model:.4f}", "work_own_s": f"{c.work_own:.4f}",
             "wall_s": f"{c.wall:.4f}", "wall_model_s": f"{c.wall_model:.4f}", "scatter": f"{c.scatter:.4f}"} for c in done]


def print_validation(done, missing):
    print_table(["problem", "backend", "ranks", "items a batch", "runs", "work, s", "model", "%", "with own batch times, %",
                 "wall, s", "model", "%"],
                [[c.problem, c.backend, str(c.ranks), f"{c.batch_items:,}", str(c.repeats), f"{c.work:.3f}",
                  f"{c.work_model:.3f}", percent(c.work_error()), percent(c.work_own / c.work - 1), f"{c.wall:.2f}",
                  f"{c.wall_model:.2f}", percent(c.wall_error())] for c in done])
    for problem, backend, *_ in missing:
        print(f"{problem} ({backend}): no run of one rank to calibrate on\n")


def print_calibration(group, found):
    d, c = found.device, found.costs
    print(f"{group[0]}, {group[1]}, {found.runs} runs of one rank, {found.items:,} items, batches of "
          f"{', '.join(f'{n:,}' for n in found.batch_sizes)}: {d.rate:,.0f} items/s, {1e3 * d.overhead_s:.2f} ms more a batch, "
          f"latency {1e3 * d.latency_s:.1f} ms, tail {1e3 * d.tail_s:.1f} ms, warming up {1e3 * d.warm_up_s:.0f} ms; reading "
          f"{1e6 * c.read[1]:.2f} us an item, writing {1e6 * c.write[1]:.2f}; before the batches "
          f"{found.launch + sum(found.before.values()):.2f} s, after them {sum(found.after.values()):.2f} s.\n")


def prediction_rows(rows):
    return [{"gpus": p.gpus, "batch_items": p.batch_items, "batches": p.batches, "wall_s": f"{p.wall:.4f}",
             "work_s": f"{p.work:.4f}", "ideal_s": f"{p.ideal:.4f}", **{f"{t}_s": f"{s:.4f}" for t, s in p.saved.items()},
             "largest_term": p.largest_term(), "extrapolated": int(p.extrapolated)} for p in rows]


def print_predictions(rows):
    """Efficiency: against the shortest of one device's walls, or what the first row's would be of one."""
    one = min(p.wall * p.gpus for p in rows if p.gpus == min(q.gpus for q in rows))
    terms = list(rows[0].saved)
    print_table(["GPUs", "items a batch", "batches", "wall, s", "efficiency %", "work, s", "ideal work, s",
                 *(f"{t}, s" for t in terms), "largest"],
                [[f"{p.gpus:,}", size_text(p.batch_items) + "*" * p.extrapolated, f"{p.batches:,}", f"{p.wall:.2f}",
                  f"{100 * one / (p.gpus * p.wall):.3g}", f"{p.work:.3f}", f"{p.ideal:.3f}",
                  *(f"{p.saved[t]:.3f}" for t in terms), p.largest_term()] for p in rows])
    if any(p.extrapolated for p in rows):
        print("\\* smaller than any batch that was measured: the device's time is extrapolated.\n")


def prediction_charts(group, rows):
    best = {}
    for p in rows:
        best[p.gpus] = min(best.get(p.gpus, p), p, key=lambda q: q.wall)
    series = {name: [(n, of(p)) for n, p in sorted(best.items())] for name, of in (
        ("whole command", lambda p: p.wall), ("start and end", lambda p: p.wall - p.work), ("batches", lambda p: p.work),
        ("batches, ideal", lambda p: p.ideal))}
    return {"scaling_model_subject.svg": chart(f"One subject, {group[0]}: predicted", "GPUs", "s",
                                               {name: (points, points) for name, points in series.items()})}


def cohort_rows(rows):
    return [{"way": c.way, "gpus": c.gpus, "subjects": c.subjects, "batch_items": c.batch_items, "wall_s": f"{c.wall:.2f}",
             "busy": f"{c.busy:.4f}", "limit": c.limit} for c in rows]


def print_cohorts(rows):
    print_table(["GPUs", f"{rows[0].subjects:,} subjects: {'which have'}", "items a batch", "wall, s", "subjects/min", "computing %",
                 "largest loss"],
                [[f"{c.gpus:,}", c.way, size_text(c.batch_items), f"{c.wall:,.0f}", f"{60 * c.subjects / c.wall:,.0f}",
                  f"{100 * c.busy:.3g}", c.limit] for c in rows])


def cohort_charts(group, rows):
    series = {}
    for c in rows:
        series.setdefault(c.way, []).append((c.gpus, c.wall))
    return {"scaling_model_cohort.svg": chart(f"{rows[0].subjects:,} subjects, {group[0]}: predicted", "GPUs", "s",
                                              {name: (points, points) for name, points in series.items()})}
