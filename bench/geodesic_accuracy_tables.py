"""Accuracy against cost, from the CSV that geodesic_accuracy_bench prints. Used by geodesic_tables.py."""
import csv
import math
import os

from figures import line_chart
from tables import number, print_table

# Median errors (mm, over a curve of length 20) for which the table shows the fastest setting.
TARGET_ERRORS_MM = (1e-1, 1e-2, 1e-3, 1e-4)


def read_accuracy(path):
    """{field: {scheme: [{"error", "rays_per_s", "how"}]}}; rows without a finite error are skipped."""
    fields = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            error, rays = float(row["median_error_mm"]), float(row["rays_per_s"])
            if math.isfinite(error) and error > 0 and math.isfinite(rays) and rays > 0:
                fields.setdefault(row["field"], {}).setdefault(row["scheme"], []).append(
                    {"error": error, "rays_per_s": rays, "how": f"{row['integrator']}, {float(row['step_mm']):g} mm"})
    return fields


def fastest(rows, error):
    good = [r for r in rows if r["error"] <= error]
    return max(good, key=lambda r: r["rays_per_s"]) if good else None


def cell(row):
    return "not reached" if row is None else f"{number(row['rays_per_s'])} ({row['how']})"


def front(rows):
    """(microseconds per ray, error) of the settings that no other setting of the scheme beats in both; fastest
    first."""
    kept = []
    for row in sorted(rows, key=lambda r: (-r["rays_per_s"], r["error"])):
        if not kept or row["error"] < kept[-1][1]:
            kept.append((1e6 / row["rays_per_s"], row["error"]))
    return kept


def write_chart(folder, name, field, schemes):
    series = {scheme: ([(1e6 / r["rays_per_s"], r["error"]) for r in rows], front(rows)) for scheme, rows in schemes.items()}
    path = os.path.join(folder, f"{name}_{field.replace(' ', '_')}.svg")
    line_chart(path, f"{field}: accuracy against cost", "microseconds per ray of the device", "median error of the end, mm",
               series)
    return path


def print_accuracy(paths, folder):
    """Prints a table per file and field, and writes charts if there is a folder for them."""
    for path in paths:
        name = os.path.splitext(os.path.basename(path))[0]
        for field, schemes in read_accuracy(path).items():
            print(f"## Accuracy against cost: {field} ({name})\n\nRays per second of the fastest integrator and step (in "
                  "brackets) whose median error at the end does not exceed that of the column.\n")
            print_table(["scheme", *(f"{e:g} mm" for e in TARGET_ERRORS_MM), "best median error, mm"],
                        [[scheme, *(cell(fastest(rows, e)) for e in TARGET_ERRORS_MM), f"{min(r['error'] for r in rows):.1e}"]
                         for scheme, rows in schemes.items()])
            if folder:
                print(f"![{field}: accuracy against cost]({os.path.basename(write_chart(folder, name, field, schemes))})\n")
