#!/usr/bin/env python3
"""Markdown tables from the benchmarks' JSON files: python3 bench/tables.py cpu.json gpu.json ... > tables.md

Each file is written by a program of this folder with --benchmark_out=FILE. There is one column group per backend;
ratios compare one GPU with one CPU core (a file made with --threads 1), and N GPUs with N cores."""
import json
import os
import statistics
import sys

# Seconds per voxel of FSL's xfibres on one core; voxels/s of FSL's xfibres_gpu, complete run, on one H200.
XFIBRES_S = {"K69_L2_m1_1000": 0.080, "K137_L2_m1_1000": 0.150, "K137_L3_m1_1000": 0.281, "K137_L3_m2_1000": 0.433}
XFIBRES_GPU = {"K137_L3_m1_1000": 4706, "K137_L2_m1_1000": 6771, "K69_L2_m1_1000": 9790, "K288_L3_m2_3000": 1219}

FIGURES = {
    "by_K": ("measurements K", "K"),
    "by_voxels": ("voxels", "voxels"),
    "by_burn_in": ("iterations (burn-in; 1250 more are sampled)", "burn-in"),
    "by_fibres": ("number of fibres", "fibres"),
}


# Units of work: the counters are UNITs and UNITs_per_s.
UNITS = ("voxel", "step", "pair", "curve", "cost")


def read(path):
    """The file's context and {name: {"rate": units/s, "ms": of a run, "run": the first repetition} or {"error":
    message}}."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    runs = {}
    for run in report["benchmarks"]:
        if run.get("run_type", "iteration") == "iteration":
            runs.setdefault(run["name"].split("/real_time")[0], []).append(run)
    results = {}
    for name, repeats in runs.items():
        errors = [r["error_message"] for r in repeats if r.get("error_occurred")]
        unit = next((u for u in UNITS if f"{u}s_per_s" in repeats[0]), None)
        results[name] = {"error": errors[0]} if errors else {
            "rate": statistics.median(r[f"{unit}s_per_s"] for r in repeats),
            "ms": statistics.median(r["real_time"] for r in repeats), "run": repeats[0]}
    return report["context"], results


def names_threads(name):
    return "by_cores/" in name or "/threads" in name


def merged(files):
    """{backend: results}; later files override earlier ones."""
    by_backend = {"cpu": {}, "cuda": {}}
    for context, results in files:
        if context["backend"] == "cpu" and context["threads"] != "1" and not all(map(names_threads, results)):
            sys.exit(f"error: {context['command']}: {context['threads']} threads; the tables compare one core, use --threads 1")
        by_backend[context["backend"]].update(results)
    return by_backend


def rate(results, name):
    return results.get(name, {}).get("rate")


def number(value, digits=3):
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.{digits}g}"


def ratio(a, b):
    return None if a is None or b is None else a / b


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def describe_threads(context, results):
    cores = dict.fromkeys(name.split("/")[-1] for name in results if "/by_cores/" in name)
    return ", ".join(cores) or (context["threads"] if context["backend"] == "cpu" else "")


def print_runs(files):
    print("## Runs\n")
    print_table(["machine", "backend", "threads", "date", "command"],
                [[c["machine"], c["backend"], describe_threads(c, results), c["date"], f"`{c['command']}`".replace("|", "\\|")]
                 for c, results in files])
    for context, results in files:
        for name, result in results.items():
            if "error" in result:
                what = "was skipped" if result["error"].startswith("no data") else "is wrong"
                print(f"**{name} ({context['backend']}) {what}: {result['error']}**\n")


def parts(results, name):
    """ms per voxel of the complete call and of the fit, and the fit's time in per cent of the chain's."""
    total, fit = (ratio(1000, rate(results, n)) for n in (name, name + "/fit"))
    share = None if total is None or fit is None else 100 * fit / (total - fit)
    return total, fit, share


def list_names(by_backend, group):
    """Last parts of the group's names, in the order of the files."""
    prefix = f"ballstick/{group}/"
    names = [n[len(prefix):] for results in by_backend.values() for n in results if n.startswith(prefix)]
    return list(dict.fromkeys(n for n in names if "/" not in n))


def print_speed(by_backend):
    names = list_names(by_backend, "speed")
    if not names:
        return
    print("## Speed\n\nKn: measurements; Ln: fibres; mn: model; last part: the burn-in, before 1250 sampled jumps.\n")
    rows = []
    for name in names:
        full = "ballstick/speed/" + name
        cpu_ms, _, cpu_share = parts(by_backend["cpu"], full)
        gpu = rate(by_backend["cuda"], full)
        peer_ms, peer_gpu = ratio(XFIBRES_S.get(name), 1e-3), XFIBRES_GPU.get(name)
        rows.append([name, number(cpu_ms), number(cpu_share), number(peer_ms), number(ratio(peer_ms, cpu_ms)),
                     number(gpu), number(parts(by_backend["cuda"], full)[2]), number(peer_gpu),
                     number(ratio(gpu, peer_gpu))])
    print_table(["case", "CPU ms/voxel", "fit / MCMC %", "xfibres ms/voxel", "speed-up", "GPU voxels/s",
                 "fit / MCMC %", "xfibres_gpu voxels/s", "speed-up"], rows)


def print_figure(by_backend, group):
    title, head = FIGURES[group]
    names = sorted(list_names(by_backend, group), key=int)
    if not names:
        return
    print(f"## Time against {title}\n")
    heads, rows = [head], [[name] for name in names]
    for backend, label in (("cpu", "CPU"), ("cuda", "GPU")):
        heads += [f"{label} {what}" for what in ("ms/voxel", "fit ms/voxel", "voxels/s")]
        for row, name in zip(rows, names):
            full = f"ballstick/{group}/{name}"
            total, fit, _ = parts(by_backend[backend], full)
            row += [number(total), number(fit), number(rate(by_backend[backend], full))]
    if group != "by_voxels":
        heads.append("GPU / CPU")
        for row, name in zip(rows, names):
            full = f"ballstick/{group}/{name}"
            row.append(number(ratio(rate(by_backend["cuda"], full), rate(by_backend["cpu"], full))))
    print_table(heads, rows)


def print_scaling(by_backend):
    cores, devices = ({int(n): rate(by_backend[b], f"ballstick/{group}/{n}") for n in list_names(by_backend, group)}
                      for b, group in (("cpu", "by_cores"), ("cuda", "by_devices")))
    if not cores and not devices:
        return
    print("## N GPUs compared with N cores\n\nEfficiency: voxels/s over N times those of one.\n")
    rows = []
    for n in sorted({*cores, *devices}):
        row = [str(n)]
        for rates in (cores, devices):
            one = rates.get(1)
            row += [number(rates.get(n)), number(ratio(rates.get(n), None if one is None else one * n / 100))]
        rows.append(row + [number(ratio(devices.get(n), cores.get(n)))])
    print_table(["N", "CPU voxels/s", "efficiency %", "GPU voxels/s", "efficiency %", "GPU / CPU"], rows)


def print_tensor(by_backend):
    names = list(dict.fromkeys(n for r in by_backend.values() for n in r if n.startswith("tensor/")))
    if not names:
        return
    print("## Tensor\n")
    print_table(["case", "CPU voxels/s", "GPU voxels/s", "GPU / CPU"],
                [[n, number(rate(by_backend["cpu"], n)), number(rate(by_backend["cuda"], n)),
                  number(ratio(rate(by_backend["cuda"], n), rate(by_backend["cpu"], n)))] for n in names])


def paths_and_folder(usage):
    """Files named on the command line, and the folder after --charts, which is created if necessary; None without
    --charts."""
    paths, folder = sys.argv[1:], None
    if paths[:1] == ["--charts"] and len(paths) > 1:
        folder, paths = paths[1], paths[2:]
        os.makedirs(folder, exist_ok=True)
    if not paths or paths[0].startswith("-"):
        sys.exit(usage)
    return paths, folder


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    files = [read(path) for path in sys.argv[1:]]
    by_backend = merged(files)
    print_runs(files)
    print_speed(by_backend)
    for group in FIGURES:
        print_figure(by_backend, group)
    print_scaling(by_backend)
    print_tensor(by_backend)


if __name__ == "__main__":
    main()
