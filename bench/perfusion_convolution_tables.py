#!/usr/bin/env python3
"""Markdown tables and charts of convolving by FFT, direct sum and recursion, beside what Wang & Cao 2012 say:

    python3 bench/perfusion_convolution_tables.py [--charts FOLDER] cpu.json gpu.json ... > tables.md

Each file is what perfusion_convolution_bench wrote with --benchmark_out=FILE. With --charts, SVG files go to FOLDER.
"""
from geodesic_tables import names_of, of_run, save_chart
from tables import merged, number, paths_and_folder, print_runs, print_table, rate, ratio, read

# Wang & Cao, Phys Med Biol 57:5601, 2012: time of the Block-FFT against CUFFT's; root mean square error of a round trip.
PAPER_SAVES, PAPER_RMSE = "40 to 60", "2.3e-14"
WAYS = (("block_fft", "Block-FFT"), ("direct", "direct sum"), ("recursion", "recursion"))
# Where costs are computed: backend, end of the benchmark's name, title, file of the chart.
PLACES = (("cpu", "threads1", "one core, a voxel a lane", "convolution_core"),
          ("cpu", "threads1/one_voxel", "one core, one voxel at a time", "convolution_core_one_voxel"),
          ("cuda", "gpu", "GPU", "convolution_gpu"))


def name_of(group, way, frames, where):
    return f"perfusion_convolution/{group}/{way}/{frames}/{where}"


def frames_of(by_backend, group):
    return sorted({int(n.split("/")[1]) for n in names_of(by_backend, f"perfusion_convolution/{group}/")})


def seconds(results, name, unit):
    """Of one curve or cost: by the device's own clock where there is one."""
    device, count = of_run(results, name, "device_time"), of_run(results, name, unit + "s")
    return ratio(1, rate(results, name)) if device is None else ratio(device, count)


def scaled(value, factor):
    return None if value is None else factor * value


def scientific(value):
    return "" if value is None else f"{value:.1e}"


def print_alone(by_backend):
    """Transform, product and transform back of curves that lie on a GPU."""
    rows = []
    for frames in frames_of(by_backend, "alone"):
        names = {way: name_of("alone", way, frames, "gpu") for way in ("block_fft", "cufft", "direct", "recursion")}
        ns = {way: scaled(seconds(by_backend["cuda"], name, "curve"), 1e9) for way, name in names.items()}
        saved = None if None in (ns["block_fft"], ns["cufft"]) else 100 * (1 - ns["block_fft"] / ns["cufft"])
        errors = [of_run(by_backend["cuda"], names[way], "round_trip_rmse") for way in ("block_fft", "cufft")]
        rows.append([str(frames), *(number(ns[way]) for way in names), number(ratio(ns["cufft"], ns["block_fft"])),
                     number(saved), *map(scientific, errors)])
    if rows:
        print("## Convolution alone on a GPU\n\nTime of one curve, ns, by the GPU's clock; many at once. cuFFT: two "
              "batched calls and a kernel for the product, rows padded with zeros beforehand, plans not counted. "
              f"The paper's Block-FFT takes {PAPER_SAVES} % less time than CUFFT; RMSE of its round trip {PAPER_RMSE}.\n")
        print_table(["frames", "Block-FFT", "cuFFT", "direct sum", "recursion", "cuFFT / Block-FFT",
                     "less time than cuFFT %", "RMSE Block-FFT", "RMSE cuFFT"], rows)


def print_costs(by_backend, folder):
    """A cost as a fit asks for it: delays, convolution, sum of squares."""
    for backend, where, title, file in PLACES:
        series, rows = {label: ([], []) for _, label in WAYS}, []
        for frames in frames_of(by_backend, "cost"):
            us = [scaled(seconds(by_backend[backend], name_of("cost", way, frames, where), "cost"), 1e6)
                  for way, _ in WAYS]
            for (_, label), value in zip(WAYS, us):
                if value is not None:
                    series[label][0].append((frames, value))
                    series[label][1].append((frames, value))
            rows.append([str(frames), *(number(value) for value in us), number(ratio(us[0], us[1])),
                         number(ratio(us[0], us[2]))])
        series = {label: points for label, points in series.items() if points[0]}
        if not series:
            continue
        print(f"## Cost of one trial: {title}\n\nµs: inputs at their delays, convolution, sum of squares.\n")
        print_table(["frames", *(label for _, label in WAYS), "Block-FFT / direct", "Block-FFT / recursion"], rows)
        save_chart(folder, file, f"Cost of one trial, {title}", "frames", "µs", series)


def print_all(paths, folder):
    files = [read(path) for path in paths]
    by_backend = merged(files)
    print_runs(files)
    print_alone(by_backend)
    print_costs(by_backend, folder)


if __name__ == "__main__":
    print_all(*paths_and_folder(__doc__))
