#!/usr/bin/env python3
"""Markdown tables and charts of convolution by FFT, direct sum and recursion, compared with Wang & Cao 2012:

    python3 bench/perfusion_convolution_tables.py [--charts FOLDER] cpu.json gpu.json ... > tables.md

Each file is written by perfusion_convolution_bench with --benchmark_out=FILE. With --charts, SVG files are written
to FOLDER."""
from geodesic_tables import list_names, run_value, save_chart
from tables import merged, number, paths_and_folder, print_runs, print_table, rate, ratio, read

# Wang & Cao, Phys Med Biol 57:5601, 2012: reduction of time by the Block-FFT compared with CUFFT; root mean square
# error of a round trip.
PAPER_SAVES, PAPER_RMSE = "40 to 60", "2.3e-14"
METHODS = (("block_fft", "Block-FFT"), ("direct", "direct sum"), ("recursion", "recursion"))
# Devices that compute costs: backend, last part of the benchmark's name, title, file of the chart.
PLACES = (("cpu", "threads1", "one core, one voxel per lane", "convolution_core"),
          ("cpu", "threads1/one_voxel", "one core, one voxel at a time", "convolution_core_one_voxel"),
          ("cuda", "gpu", "GPU", "convolution_gpu"))


def benchmark_name(group, method, frames, where):
    return f"perfusion_convolution/{group}/{method}/{frames}/{where}"


def list_frames(by_backend, group):
    return sorted({int(n.split("/")[1]) for n in list_names(by_backend, f"perfusion_convolution/{group}/")})


def seconds(results, name, unit):
    """Time of one curve or cost, by the device's own clock if available."""
    device, count = run_value(results, name, "device_time"), run_value(results, name, unit + "s")
    return ratio(1, rate(results, name)) if device is None else ratio(device, count)


def scaled(value, factor):
    return None if value is None else factor * value


def scientific(value):
    return "" if value is None else f"{value:.1e}"


def print_convolutions(by_backend):
    """Transform, product and inverse transform of curves in GPU memory."""
    rows = []
    for frames in list_frames(by_backend, "convolve"):
        names = {method: benchmark_name("convolve", method, frames, "gpu") for method in ("block_fft", "cufft", "direct", "recursion")}
        ns = {method: scaled(seconds(by_backend["cuda"], name, "curve"), 1e9) for method, name in names.items()}
        saved = None if None in (ns["block_fft"], ns["cufft"]) else 100 * (1 - ns["block_fft"] / ns["cufft"])
        errors = [run_value(by_backend["cuda"], names[method], "round_trip_rmse") for method in ("block_fft", "cufft")]
        rows.append([str(frames), *(number(ns[method]) for method in names), number(ratio(ns["cufft"], ns["block_fft"])),
                     number(saved), *map(scientific, errors)])
    if rows:
        print("## Convolution only, on a GPU\n\nTime per curve, ns, by the GPU's clock; many curves at once. cuFFT: two "
              "batched calls and a kernel for the product; padding and planning are not counted. "
              f"The paper's Block-FFT takes {PAPER_SAVES} % less time than CUFFT; RMSE of its round trip {PAPER_RMSE}.\n")
        print_table(["frames", "Block-FFT", "cuFFT", "direct sum", "recursion", "cuFFT / Block-FFT",
                     "less time than cuFFT %", "RMSE Block-FFT", "RMSE cuFFT"], rows)


def print_costs(by_backend, folder):
    """A cost as computed by a fit: delays, convolution, sum of squares."""
    for backend, where, title, file in PLACES:
        series, rows = {label: ([], []) for _, label in METHODS}, []
        for frames in list_frames(by_backend, "cost"):
            us = [scaled(seconds(by_backend[backend], benchmark_name("cost", method, frames, where), "cost"), 1e6)
                  for method, _ in METHODS]
            for (_, label), value in zip(METHODS, us):
                if value is not None:
                    series[label][0].append((frames, value))
                    series[label][1].append((frames, value))
            rows.append([str(frames), *(number(value) for value in us), number(ratio(us[0], us[1])),
                         number(ratio(us[0], us[2]))])
        series = {label: points for label, points in series.items() if points[0]}
        if not series:
            continue
        print(f"## Cost of one trial: {title}\n\nTime in µs of: inputs at their delays, convolution, sum of squares.\n")
        print_table(["frames", *(label for _, label in METHODS), "Block-FFT / direct", "Block-FFT / recursion"], rows)
        save_chart(folder, file, f"Cost of one trial, {title}", "frames", "µs", series)


def print_all(paths, folder):
    files = [read(path) for path in paths]
    by_backend = merged(files)
    print_runs(files)
    print_convolutions(by_backend)
    print_costs(by_backend, folder)


if __name__ == "__main__":
    print_all(*paths_and_folder(__doc__))
