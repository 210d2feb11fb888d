"""Scripts that make tables from benchmark results: rates, ratios and the papers' numbers are in the right cells."""
import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
BENCH = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), "bench")

ACCURACY = """field,scheme,integrator,step_mm,median_miss_mm,p95_miss_mm,median_error_mm,p95_error_mm,p95_drift,steps_per_s,rays_per_s
half space,hamiltonian bspline,rk2,1,1e-3,1e-3,2.000e-03,1e-3,1e-3,1e6,5.0000e+04
half space,hamiltonian bspline,rk2,0.5,1e-5,1e-5,4.000e-05,1e-3,1e-3,1e6,2.5000e+04
half space,hamiltonian bspline,euler,1,1e-3,1e-3,5.000e-01,1e-3,1e-3,2e6,9.0000e+04
half space,christoffel trilinear,rk2,1,1e-3,1e-3,1.700e-02,1e-3,1e-3,1e6,8.0000e+04
half space,christoffel trilinear,euler,1,inf,inf,inf,inf,inf,1e6,9.0000e+04
"""


def benchmark_run(name, unit, amount, ms, **more):
    return {"name": name + "/real_time", "run_type": "iteration", "real_time": ms, "time_unit": "ms", unit + "s": amount,
            unit + "s_per_s": 1e3 * amount / ms, **more}


def wrong(name, why):
    return {"name": name + "/real_time", "run_type": "iteration", "error_occurred": True, "error_message": why}


def series_in(path):
    """Names of a chart's lines."""
    ids = [group.get("id", "") for group in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g")]
    return [name.removeprefix("series ") for name in ids if name.startswith("series ")]


needs_matplotlib = unittest.skipUnless(HAS_MATPLOTLIB, "needs python3-matplotlib")


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def results_file(self, backend, runs, threads="1"):
        path = os.path.join(self.folder, f"{backend}_{len(os.listdir(self.folder))}.json")
        context = {"machine": "M", "backend": backend, "threads": threads, "date": "D", "command": "bench"}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"context": context, "benchmarks": runs}, file)
        return path

    def tables(self, script, *words, status=0):
        done = subprocess.run([sys.executable, os.path.join(BENCH, script), *words], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def row(self, text, heading, first):
        """Cells of the row that begins with `first` under the heading."""
        lines = text.split(f"## {heading}", 1)[1].split("\n## ", 1)[0].splitlines()
        found = [cells(line) for line in lines if line.startswith("|") and cells(line)[0] == first]
        self.assertEqual(len(found), 1, f"{heading}: {first}: {lines}")
        return found[0]


class Geodesic(Tables):
    def setUp(self):
        super().setUp()
        scheme = "hamiltonian/trilinear"
        gpu = [benchmark_run(f"geodesic/speed/{scheme}/{rule}", "step", 1e8, ms, fibres=65536, bytes_per_step=each)
               for rule, ms, each in (("euler", 5, 256), ("rk2", 10, 512))]
        gpu += [benchmark_run(f"geodesic/paper_2048/{scheme}/rk2", "step", 8388608, 3.3),
                benchmark_run(f"geodesic/by_step/{scheme}/rk2/h0.05", "step", 4e6, 8),
                benchmark_run(f"geodesic/by_step/{scheme}/rk2/h0.5", "step", 4e5, 0.8),
                benchmark_run(f"geodesic/brain/{scheme}/rk2/1024x64", "step", 13107200, 1.6384, fibres=65536,
                       ended_by_numbers=655.36),
                benchmark_run(f"geodesic/brain/{scheme}/rk2/16384x64", "step", 2e8, 20, fibres=1048576),
                benchmark_run("geodesic_field/tensor", "voxel", 2e6, 9, device_time=0.001)]
        gpu += [benchmark_run(f"geodesic/seeds/{scheme}/scores/gpu/{n}", "step", 250 * n, n / 4096) for n in (1024, 4096)]
        cpu = [benchmark_run(f"geodesic/seeds/{scheme}/scores/threads4/{n}", "step", 250 * n, n / 256) for n in (1024, 4096)]
        cpu += [benchmark_run(f"geodesic/by_cores/{n}", "step", 1e6 * n, ms) for n, ms in ((1, 100), (2, 125))]
        self.files = [self.results_file("cuda", gpu), self.results_file("cpu", cpu, threads="16")]

    def test_speeds_are_compared_with_goals_and_with_the_paper(self):
        text = self.tables("geodesic_tables.py", *self.files)
        self.assertEqual(self.row(text, "The paper's field", "hamiltonian/trilinear")[4:],
                         ["10,000,000,000", "13,000,000,000", "76.9"])
        self.assertEqual(self.row(text, "The paper's benchmark", "hamiltonian/trilinear/rk2")[1], "3.3")
        self.assertEqual(self.row(text, "Bytes read", "hamiltonian/trilinear/rk2")[1:], ["512", "", "", "0.1", "5,120"])
        self.assertEqual(self.row(text, "Integrators", "hamiltonian/trilinear, GPU")[2:], ["1", "", "2", ""])
        self.assertEqual(self.row(text, "Time against step", "hamiltonian/trilinear, GPU")[1:], ["8", "0.8"])
        self.assertEqual(self.row(text, "Preparation", "tensor")[1:], ["", "", "4.5", "0.5"])

    def test_a_brains_rate_is_compared_with_a_field_of_as_many_fibres(self):
        text = self.tables("geodesic_tables.py", *self.files)
        self.assertEqual(self.row(text, "A brain", "hamiltonian/trilinear/rk2/1024x64")[5:],
                         ["200", "8,000,000,000", "80", "1"])
        self.assertEqual(self.row(text, "A brain", "hamiltonian/trilinear/rk2/16384x64")[7], "")

    def test_seeds_and_threads_have_tables(self):
        text = self.tables("geodesic_tables.py", *self.files)
        self.assertEqual(self.row(text, "Seeds in a brain", "hamiltonian/trilinear, GPU")[1:], ["0.25", "1"])
        self.assertEqual(self.row(text, "Seeds in a brain", "hamiltonian/trilinear, 4 CPU threads")[1:], ["4", "16"])
        self.assertEqual(self.row(text, "Seeds in a brain", "van Aart 2011, four CPU cores")[1:], ["1,403", "5,571"])
        self.assertEqual(self.row(text, "CPU threads", "2")[1:], ["16,000,000", "80"])

    @needs_matplotlib
    def test_charts_have_a_line_for_each_series(self):
        charts, accuracy = os.path.join(self.folder, "charts"), os.path.join(self.folder, "accuracy.csv")
        with open(accuracy, "w", encoding="utf-8") as file:
            file.write(ACCURACY)
        text = self.tables("geodesic_tables.py", "--charts", charts, *self.files, accuracy)
        lines = {}
        for name in os.listdir(charts):
            self.assertIn(f"({name})", text)
            lines[name] = len(series_in(os.path.join(charts, name)))
        self.assertEqual(lines, {"step_size.svg": 1, "seeds_scores.svg": 2, "accuracy_half_space.svg": 2})

    def test_accuracy_table_names_the_fastest_setting_that_is_accurate_enough(self):
        accuracy = os.path.join(self.folder, "accuracy.csv")
        with open(accuracy, "w", encoding="utf-8") as file:
            file.write(ACCURACY)
        text = self.tables("geodesic_tables.py", accuracy)
        fast, exact = "50,000 (rk2, 1 mm)", "25,000 (rk2, 0.5 mm)"
        self.assertEqual(self.row(text, "Accuracy", "hamiltonian bspline")[1:], [fast, fast, exact, exact, "4.0e-05"])
        self.assertEqual(self.row(text, "Accuracy", "christoffel trilinear")[1:],
                         ["80,000 (rk2, 1 mm)", *["not reached"] * 3, "1.7e-02"])

    def test_wrong_and_skipped_benchmarks_are_reported(self):
        path = self.results_file("cuda", [wrong("geodesic/brain/a/b/rk2/1x1", "no data: VOXHERD_DATA is not set"),
                                     wrong("geodesic/speed/a/b/rk2", "median error 1 voxels")])
        text = self.tables("geodesic_tables.py", path)
        self.assertIn("**geodesic/brain/a/b/rk2/1x1 (cuda) was skipped: no data", text)
        self.assertIn("**geodesic/speed/a/b/rk2 (cuda) is wrong: median error", text)

    def test_a_core_table_rejects_runs_with_more_threads(self):
        path = self.results_file("cpu", [benchmark_run("geodesic/speed/a/b/rk2", "step", 1, 1)], threads="4")
        self.assertIn("4 threads", self.tables("geodesic_tables.py", path, status=1))


class Connect(Tables):
    def solve(self, volume, scheme, mode, where, ms, group="solve", voxels=262144, **more):
        return benchmark_run(f"connect/{group}/{volume}/{scheme}/{mode}/{where}", "voxel", voxels, ms, **more)

    def setUp(self):
        super().setUp()
        gpu = [self.solve("const/64", "selling1", "repeatable", "gpu", 0.7, device_time=0.5e-3, fronts=1, rounds=20,
                          visits_per_block=9, cells_visited_per_voxel=9, relative_L1=0.0256, over_exact_along_fibre=1.018),
               self.solve("const/64", "godunov27", "repeatable", "gpu", 1.2, device_time=1e-3, fronts=1),
               self.solve("brain/16", "selling1", "repeatable", "gpu", 9, voxels=3.2e6, device_time=8e-3, fronts=16)]
        cpu = [self.solve("const/64", "selling1", "repeatable", f"threads{n}", ms) for n, ms in ((1, 270), (2, 150))]
        cpu += [self.solve(f"pullback/{side}", "selling1", "repeatable", "threads1", ms, "by_size", relative_L1=error)
                for side, ms, error in ((32, 30, 0.04), (64, 300, 0.02))]
        cpu += [self.solve("const/64", "selling1", "repeatable", "threads1", 30, group="set_up")]
        cpu += [benchmark_run("connect/paths/brain/16/selling1/repeatable/threads1", "step", 5e4, 50)]
        self.files = [self.results_file("cuda", gpu), self.results_file("cpu", cpu)]

    def test_the_papers_times_are_compared_with_every_scheme(self):
        text = self.tables("connect_tables.py", *self.files)
        self.assertEqual(self.row(text, "The paper's Table 1", "selling1, repeatable")[1:],
                         ["270", "300", "200", "0.5", "0.7", "2,000", "L1 2.6 %, fibre x1.02"])
        self.assertEqual(self.row(text, "The paper's Table 1", "godunov27, repeatable")[1:],
                         ["", "", "", "1", "1.2", "1,000", ""])

    def test_goals_ratios_and_floors_are_shown(self):
        floors = os.path.join(self.folder, "floors.csv")
        with open(floors, "w", encoding="utf-8") as file:
            file.write("volume,scheme,mode,bytes_ms,instructions_ms\nconst/64,godunov27,repeatable,0.1,0.25\n")
        lines = self.tables("connect_tables.py", *self.files, floors).split("## Goals", 1)[1].splitlines()
        rows = [cells(line) for line in lines if line.startswith("| const/64")]
        self.assertEqual(rows[0], ["const/64", "selling1", "repeatable", "0.5", "0.6", "1", "", "", "", ""])
        self.assertEqual(rows[1], ["const/64", "godunov27", "repeatable", "1", "", "2", "3", "0.1", "0.25", "4"])

    def test_work_is_that_of_the_device_and_of_one_front(self):
        text = self.tables("connect_tables.py", *self.files)
        self.assertEqual(self.row(text, "Work of a solve", "brain/16")[3:7], ["GPU", "8", "0.5", "400"])

    @needs_matplotlib
    def test_error_against_time_has_its_order_and_a_chart(self):
        charts = os.path.join(self.folder, "charts")
        text = self.tables("connect_tables.py", "--charts", charts, *self.files)
        self.assertEqual(self.row(text, "Error against time: pullback, one core", "selling1")[1:],
                         ["30", "4.00e-02", "", "", "300", "2.00e-02", "1", ""])
        self.assertEqual(os.listdir(charts), ["connect_pullback_threads1.svg"])
        self.assertEqual(series_in(os.path.join(charts, "connect_pullback_threads1.svg")), ["selling1"])

    def test_threads_parts_and_ranks_have_tables(self):
        ranks = []
        for n, seconds in ((1, 8.0), (2, 5.0)):
            ranks.append(os.path.join(self.folder, f"ranks_{n}.json"))
            with open(ranks[-1], "w", encoding="utf-8") as file:
                json.dump({"rank_count": n, "preparation_seconds": 1, "arrivals_seconds": seconds,
                           "evaluation_seconds": 0.5}, file)
        text = self.tables("connect_tables.py", *self.files, *ranks)
        threads = text.split("## CPU threads", 1)[1].split("\n## ", 1)[0]
        self.assertEqual([cells(line)[3:] for line in threads.splitlines() if line.startswith("| const")],
                         [["1", "270", "100"], ["2", "150", "90"]])
        self.assertEqual(self.row(text, "Paths between all regions", "brain/16")[2:], ["50", "", "1,000,000", ""])
        self.assertEqual(self.row(text, "Ranks", "2")[1:], ["1", "5", "0.5", "80"])


class PerfusionConvolution(Tables):
    def setUp(self):
        super().setUp()
        prefix = "perfusion_convolution"
        gpu = [benchmark_run(f"{prefix}/convolve/{way}/128/gpu", "curve", 10000, 1, device_time=ns * 1e-5, round_trip_rmse=error)
               for way, ns, error in (("block_fft", 2, 3e-16), ("cufft", 5, 4e-16), ("recursion", 1, 0))]
        gpu += [benchmark_run(f"{prefix}/cost/block_fft/{n}/gpu", "cost", 1e6, 9, device_time=n * 1e-5) for n in (48, 128)]
        cpu = [benchmark_run(f"{prefix}/cost/{way}/{n}/threads1", "cost", 2000, ms)
               for way, n, ms in (("block_fft", 48, 2), ("direct", 48, 1), ("recursion", 48, 0.1),
                                  ("block_fft", 128, 6), ("direct", 128, 8), ("recursion", 128, 0.3))]
        cpu += [wrong(f"{prefix}/cost/direct/48/threads1/one_voxel", "relative error 1")]
        self.files = [self.results_file("cuda", gpu), self.results_file("cpu", cpu)]

    def test_cufft_is_compared_with_the_block_fft(self):
        text = self.tables("perfusion_convolution_tables.py", *self.files)
        self.assertEqual(self.row(text, "Convolution only", "128")[1:],
                         ["2", "5", "", "1", "2.5", "60", "3.0e-16", "4.0e-16"])

    def test_costs_are_those_of_one_trial(self):
        text = self.tables("perfusion_convolution_tables.py", *self.files)
        self.assertEqual(self.row(text, "Cost of one trial: one core, one voxel per lane", "48")[1:],
                         ["1", "0.5", "0.05", "2", "20"])
        self.assertEqual(self.row(text, "Cost of one trial: GPU", "128")[1:], ["0.00128", "", "", "", ""])
        self.assertNotIn("one voxel at a time", text)
        self.assertIn("is wrong: relative error 1", text)

    @needs_matplotlib
    def test_charts_have_a_line_for_each_method(self):
        charts = os.path.join(self.folder, "charts")
        text = self.tables("perfusion_convolution_tables.py", "--charts", charts, *self.files)
        lines = {}
        for name in os.listdir(charts):
            self.assertIn(f"({name})", text)
            lines[name] = len(series_in(os.path.join(charts, name)))
        self.assertEqual(lines, {"convolution_core.svg": 3, "convolution_gpu.svg": 1})


class Perfusion(Tables):
    def fit(self, group, method, frames, voxels, where, ms, **more):
        return benchmark_run(f"perfusion/{group}/{method}/{frames}/{voxels}/{where}", "voxel", voxels, ms, **more)

    def csv_file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def setUp(self):
        super().setUp()
        gpu = [self.fit("by_frames", "simplex-paper", frames, 10000, "gpu", ms) for frames, ms in ((48, 2), (128, 5))]
        gpu += [self.fit("by_voxels", "lm", 128, 10, "gpu", 0.5),
                self.fit("rate", "lm", 48, 1000000, "gpu", 20, device_time=0.01, mean_iterations=10, at_bound_percent=1,
                         max_iterations_percent=0, found_percent=99.9),
                self.fit("rate", "lm-float", 48, 1000000, "gpu", 20, device_time=5e-3),
                self.fit("patient", "simplex", 48, 638728, "gpu", 90, device_time=0.05)]
        cpu = [self.fit("by_frames", "simplex-paper", 48, 2048, "threads1", 204.8)]
        cpu += [self.fit("rate", "lm", 48, 8192 * n, f"threads{n}", ms) for n, ms in ((1, 100), (2, 125))]
        self.files = [self.results_file("cuda", gpu), self.results_file("cpu", cpu)]

    @needs_matplotlib
    def test_time_per_voxel_against_frames_is_compared_with_the_paper_and_drawn(self):
        charts = os.path.join(self.folder, "charts")
        text = self.tables("perfusion_tables.py", "--charts", charts, *self.files)
        self.assertEqual(self.row(text, "Time per voxel against frames, GPU", "128")[1:], ["1.31", "0.0005"])
        self.assertEqual(self.row(text, "Time per voxel against frames, one core", "48")[1:], ["10.7", "0.1"])
        self.assertEqual(os.listdir(charts), ["perfusion_frames.svg"])
        self.assertEqual(len(series_in(os.path.join(charts, "perfusion_frames.svg"))), 4)  # the paper's GPU and CPU, and voxherd's

    def test_voxels_in_flight_have_a_table(self):
        text = self.tables("perfusion_tables.py", *self.files)
        self.assertEqual(self.row(text, "Voxels in flight", "10")[1:], ["3.22", "0.05"])

    def test_rates_are_compared_with_goals_and_floors(self):
        lines = self.tables("perfusion_tables.py", *self.files).split("## Rates", 1)[1].split("\n## ")[0].splitlines()
        rows = [cells(line) for line in lines if line.startswith("| GPU") or line.startswith("| one core")]
        # 46 operations for each of 48 frames and 10 evaluations, plus 49 once: 1.46 ms of 10.
        self.assertEqual(rows[0], ["GPU", "lm", "48", "1,000,000", "50,000,000", "100,000,000", "80,000,000", "6.85", "10",
                                   "1", "0", "99.9"])
        self.assertEqual(rows[1][5:8], ["200,000,000", "120,000,000", ""])
        self.assertEqual(rows[2][:7], ["one core", "lm", "48", "8,192", "81,920", "81,920", "60,000"])

    def test_threads_and_operations_have_tables(self):
        text = self.tables("perfusion_tables.py", *self.files)
        threads = text.split("## CPU threads", 1)[1].split("\n## ", 1)[0]
        self.assertEqual([cells(line)[2:] for line in threads.splitlines() if line.startswith("| lm")],
                         [["1", "81,920", "100"], ["2", "131,072", "80"]])
        # 3 x 16: columns 768, twiddles 384, rows 1280, twice, and the product 384.
        self.assertEqual(self.row(text, "Operations of a convolution", "48")[1:], ["8,320", "2,304", "5,248", "2,352", "624"])
        self.assertEqual(self.row(text, "Operations of a convolution", "64")[1:3], ["12,480", "4,096"])

    def test_patients_are_timed_as_kernels_and_as_complete_commands(self):
        runs = [f"{study},perfusion-lm,perfusion,{backend},{ranks},638728,{wall},{busy}"
                for study, backend, ranks, wall, busy in (
                    ("strong", "cpu", 1, 12, 10), ("strong", "cuda", 1, 1.3, 0.03), ("strong", "cuda", 1, 1.2, 0.02),
                    ("strong", "cuda", 2, 0.8, 0.02), ("weak", "cuda", 2, 0.1, 0.02))]
        scaling = self.csv_file("runs.csv", "study,problem,analysis,backend,ranks,items,wall_s,busy_s\n" + "\n".join(runs))
        text = self.tables("perfusion_tables.py", *self.files, scaling).split("## Patients", 1)[1].split("\n## ")[0]
        rows = [cells(line)[1:] for line in text.splitlines() if line.startswith("| 638,728")]
        self.assertEqual(rows[:4], [["paper, GPUs", "1", "164", "", ""], ["paper, GPUs", "2", "90", "", ""],
                                    ["paper, GPUs", "3", "58.8", "", ""], ["paper, one core", "1", "6,981", "", ""]])
        self.assertEqual(rows[4], ["kernels, simplex", "1", "0.05", "0.065", ""])
        commands = [cells(line)[1:] for line in text.splitlines() if "command, lm |" in line]
        self.assertEqual(commands, [["command, lm", "1", "1.2", "1.5", "0.02 computing, 100 % of ideal"],
                                    ["command, lm", "2", "0.8", "", "0.01 computing, 75 % of ideal"]])
        self.assertIn("| 638,728 | command, lm, cores | 1 | 12 |  | 10 computing, 100 % of ideal |", text)

    def test_repeated_fits_are_compared_with_the_paper_and_the_minimum_deviations(self):
        names = ("kl", "ka", "kp", "tau_a", "tau_p")
        heads = ",".join(f"{n}_{what}" for n in names for what in ("mean", "sd", "least_sd"))
        values = "400.5,5.1,5.0,20.1,0.4,0.38,100.2,1.3,1.27,1.01,0.12,0.12,2.02,0.16,0.16"
        path = self.csv_file("cnr.csv", f"method,inputs,cnr,repeats,{heads}\nlm,clean,inf,10,{values}\nlm,clean,100,10,{values}\n")
        text = self.tables("perfusion_tables.py", path)
        self.assertEqual(self.row(text, "Repeated fits (Table 3): lm, clean inputs", "100")[1:7],
                         ["400.1 ± 7.1", "400.5 ± 5.1", "5", "19.6 ± 1.3", "20.1 ± 0.4", "0.38"])
        self.assertEqual(self.row(text, "Repeated fits (Table 3): lm, clean inputs", "∞")[10:], ["1.01 ± 0.12", "2.02 ± 0.16"])

    @needs_matplotlib
    def test_paths_show_their_difference_from_the_reference(self):
        charts = os.path.join(self.folder, "charts")
        rows = [f"noise-free,simplex-paper,{on},{i},{cost}" for on, costs in (("reference", (1, 0.5, 0.25)), ("CPU", (1, 0.5)))
                for i, cost in enumerate(costs, 1)]
        path = self.csv_file("path.csv", "voxel,method,device,iteration,cost\n" + "\n".join(rows) + "\n")
        text = self.tables("perfusion_tables.py", "--charts", charts, path).split("## Cost against iteration", 1)[1]
        self.assertIn("| simplex-paper | CPU | 2 | 5.000000e-01 | 0.0e+00 |", text)
        self.assertEqual(len(series_in(os.path.join(charts, "perfusion_path_noise_free.svg"))), 2)

    def test_differences_of_maps_have_a_table(self):
        path = self.csv_file("differences.csv", "livers,one,other,voxels,map,mean,sd,median_absolute,p99_absolute,"
                           'same_iterations_percent\nalike,"lm, GPU","lm, CPU",100,ka,1.0e-07,2.0e-06,1.0e-08,1.0e-05,98.00\n')
        text = self.tables("perfusion_tables.py", path)
        self.assertEqual(self.row(text, "Differences of maps (Table 4): lm, GPU minus lm, CPU, alike", "ka")[1:],
                         ["1.0e-07", "2.0e-06", "1.0e-08", "1.0e-05"])


class BallAndStick(Tables):
    def test_a_gpu_is_compared_with_one_core_and_with_xfibres(self):
        name = "ballstick/speed/K137_L3_m1_1000"
        files = [self.results_file("cpu", [benchmark_run(name, "voxel", 100, 2000), benchmark_run(name + "/fit", "voxel", 100, 400),
                                      benchmark_run("geodesic/by_cores/1", "step", 1, 1)]),
                 self.results_file("cuda", [benchmark_run(name, "voxel", 10000, 1000)])]
        text = self.tables("tables.py", *files)
        self.assertEqual(self.row(text, "Speed", "K137_L3_m1_1000"),
                         ["K137_L3_m1_1000", "20", "25", "281", "14.1", "10,000", "", "4,706", "2.12"])


class WithoutMatplotlib(Tables):
    def test_a_chart_names_the_missing_package(self):
        code = ("import sys; sys.modules['matplotlib'] = None; sys.path.insert(0, sys.argv[1]); import figures; "
                "figures.line_chart('x.svg', '', '', '', {})")
        done = subprocess.run([sys.executable, "-c", code, BENCH], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (1, "error: charts need matplotlib; install python3-matplotlib\n"))


class PaperTables(Tables):
    """docs/papers/tables.py with every CSV file in its folder."""
    script = os.path.join("..", "docs", "papers", "tables.py")

    def files(self):
        return sorted(glob.glob(os.path.join(BENCH, "..", "docs", "papers", "**", "*.csv"), recursive=True))

    def test_every_file_has_a_title_and_prints(self):
        self.assertGreater(len(self.files()), 40)
        for path in self.files():
            with open(path, encoding="utf-8") as file:
                self.assertTrue(file.readline().startswith("# "), path)
        self.tables(self.script, "print", *self.files())

    @needs_matplotlib
    def test_every_figure_is_written(self):
        names = self.tables(self.script, "list").split()
        self.tables(self.script, "plot", self.folder)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(name + ".svg" for name in names))


if __name__ == "__main__":
    unittest.main()
