"""The scripts that make tables of the benchmarks' files: rates, shares and the paper's figures where they belong."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

BENCH = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "bench")

ACCURACY = """field,scheme,integrator,step_mm,median_miss_mm,p95_miss_mm,median_error_mm,p95_error_mm,p95_drift,steps_per_s,rays_per_s
half space,hamiltonian bspline,rk2,1,1e-3,1e-3,2.000e-03,1e-3,1e-3,1e6,5.0000e+04
half space,hamiltonian bspline,rk2,0.5,1e-5,1e-5,4.000e-05,1e-3,1e-3,1e6,2.5000e+04
half space,hamiltonian bspline,euler,1,1e-3,1e-3,5.000e-01,1e-3,1e-3,2e6,9.0000e+04
half space,christoffel trilinear,rk2,1,1e-3,1e-3,1.700e-02,1e-3,1e-3,1e6,8.0000e+04
half space,christoffel trilinear,euler,1,inf,inf,inf,inf,inf,1e6,9.0000e+04
"""


def run_of(name, unit, amount, ms, **more):
    return {"name": name + "/real_time", "run_type": "iteration", "real_time": ms, "time_unit": "ms", unit + "s": amount,
            unit + "s_per_s": 1e3 * amount / ms, **more}


def wrong(name, why):
    return {"name": name + "/real_time", "run_type": "iteration", "error_occurred": True, "error_message": why}


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file_of(self, backend, runs, threads="1"):
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
        """Cells of the row that begins with `first` below the heading."""
        lines = text.split(f"## {heading}", 1)[1].split("\n## ", 1)[0].splitlines()
        found = [cells(line) for line in lines if line.startswith("|") and cells(line)[0] == first]
        self.assertEqual(len(found), 1, f"{heading}: {first}: {lines}")
        return found[0]


class Geodesic(Tables):
    def setUp(self):
        super().setUp()
        scheme = "hamiltonian/trilinear"
        gpu = [run_of(f"geodesic/speed/{scheme}/{rule}", "step", 1e8, ms, fibres=65536, bytes_per_step=each)
               for rule, ms, each in (("euler", 5, 256), ("rk2", 10, 512))]
        gpu += [run_of(f"geodesic/paper_2048/{scheme}/rk2", "step", 8388608, 3.3),
                run_of(f"geodesic/by_step/{scheme}/rk2/h0.05", "step", 4e6, 8),
                run_of(f"geodesic/by_step/{scheme}/rk2/h0.5", "step", 4e5, 0.8),
                run_of(f"geodesic/brain/{scheme}/rk2/1024x64", "step", 13107200, 1.6384, fibres=65536,
                       ended_by_numbers=655.36),
                run_of(f"geodesic/brain/{scheme}/rk2/16384x64", "step", 2e8, 20, fibres=1048576),
                run_of("geodesic_field/tensor", "voxel", 2e6, 9, device_time=0.001)]
        gpu += [run_of(f"geodesic/seeds/{scheme}/scores/gpu/{n}", "step", 250 * n, n / 4096) for n in (1024, 4096)]
        cpu = [run_of(f"geodesic/seeds/{scheme}/scores/threads4/{n}", "step", 250 * n, n / 256) for n in (1024, 4096)]
        cpu += [run_of(f"geodesic/by_cores/{n}", "step", 1e6 * n, ms) for n, ms in ((1, 100), (2, 125))]
        self.files = [self.file_of("cuda", gpu), self.file_of("cpu", cpu, threads="16")]

    def test_speeds_stand_beside_goals_and_the_papers_figures(self):
        text = self.tables("geodesic_tables.py", *self.files)
        self.assertEqual(self.row(text, "The paper's field", "hamiltonian/trilinear")[4:],
                         ["10,000,000,000", "13,000,000,000", "76.9"])
        self.assertEqual(self.row(text, "The paper's benchmark", "hamiltonian/trilinear/rk2")[1], "3.3")
        self.assertEqual(self.row(text, "Bytes read", "hamiltonian/trilinear/rk2")[1:], ["512", "", "", "0.1", "5,120"])
        self.assertEqual(self.row(text, "Integrators", "hamiltonian/trilinear, GPU")[2:], ["1", "", "2", ""])
        self.assertEqual(self.row(text, "Time against step", "hamiltonian/trilinear, GPU")[1:], ["8", "0.8"])
        self.assertEqual(self.row(text, "Preparation", "tensor")[1:], ["", "", "4.5", "0.5"])

    def test_a_brains_share_is_of_the_field_with_as_many_fibres(self):
        text = self.tables("geodesic_tables.py", *self.files)
        self.assertEqual(self.row(text, "A brain", "hamiltonian/trilinear/rk2/1024x64")[5:],
                         ["200", "8,000,000,000", "80", "1"])
        self.assertEqual(self.row(text, "A brain", "hamiltonian/trilinear/rk2/16384x64")[7], "")

    def test_seeds_and_threads(self):
        text = self.tables("geodesic_tables.py", *self.files)
        self.assertEqual(self.row(text, "Seeds in a brain", "hamiltonian/trilinear, GPU")[1:], ["0.25", "1"])
        self.assertEqual(self.row(text, "Seeds in a brain", "hamiltonian/trilinear, 4 CPU threads")[1:], ["4", "16"])
        self.assertEqual(self.row(text, "Seeds in a brain", "van Aart 2011, four CPU cores")[1:], ["", "5,571"])
        self.assertEqual(self.row(text, "CPU threads", "2")[1:], ["16,000,000", "80"])

    def test_charts_are_xml_with_a_line_for_each_series(self):
        charts, accuracy = os.path.join(self.folder, "charts"), os.path.join(self.folder, "accuracy.csv")
        with open(accuracy, "w", encoding="utf-8") as file:
            file.write(ACCURACY)
        text = self.tables("geodesic_tables.py", "--charts", charts, *self.files, accuracy)
        lines = {}
        for name in os.listdir(charts):
            self.assertIn(f"({name})", text)
            lines[name] = len(ElementTree.parse(os.path.join(charts, name)).findall("{*}polyline"))
        self.assertEqual(lines, {"step_size.svg": 1, "seeds_scores.svg": 2, "accuracy_half_space.svg": 2})

    def test_accuracy_names_the_fastest_setting_that_is_good_enough(self):
        accuracy = os.path.join(self.folder, "accuracy.csv")
        with open(accuracy, "w", encoding="utf-8") as file:
            file.write(ACCURACY)
        text = self.tables("geodesic_tables.py", accuracy)
        fast, exact = "50,000 (rk2, 1 mm)", "25,000 (rk2, 0.5 mm)"
        self.assertEqual(self.row(text, "Accuracy", "hamiltonian bspline")[1:], [fast, fast, exact, exact, "4.0e-05"])
        self.assertEqual(self.row(text, "Accuracy", "christoffel trilinear")[1:],
                         ["80,000 (rk2, 1 mm)", *["not reached"] * 3, "1.7e-02"])

    def test_what_is_wrong_or_skipped_says_so(self):
        path = self.file_of("cuda", [wrong("geodesic/brain/a/b/rk2/1x1", "no data: VOXHERD_DATA is not set"),
                                     wrong("geodesic/speed/a/b/rk2", "median error 1 voxels")])
        text = self.tables("geodesic_tables.py", path)
        self.assertIn("**geodesic/brain/a/b/rk2/1x1 (cuda) was skipped: no data", text)
        self.assertIn("**geodesic/speed/a/b/rk2 (cuda) is wrong: median error", text)

    def test_one_core_means_one(self):
        path = self.file_of("cpu", [run_of("geodesic/speed/a/b/rk2", "step", 1, 1)], threads="4")
        self.assertIn("4 threads", self.tables("geodesic_tables.py", path, status=1))


class Eikonal(Tables):
    def solve(self, volume, scheme, mode, where, ms, group="solve", voxels=262144, **more):
        return run_of(f"eikonal/{group}/{volume}/{scheme}/{mode}/{where}", "voxel", voxels, ms, **more)

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
        cpu += [run_of("eikonal/paths/brain/16/selling1/repeatable/threads1", "step", 5e4, 50)]
        self.files = [self.file_of("cuda", gpu), self.file_of("cpu", cpu)]

    def test_the_papers_table_stands_beside_every_scheme(self):
        text = self.tables("eikonal_tables.py", *self.files)
        self.assertEqual(self.row(text, "The paper's Table 1", "selling1, repeatable")[1:],
                         ["270", "300", "200", "0.5", "0.7", "2,000", "L1 2.6 %, fibre x1.02"])
        self.assertEqual(self.row(text, "The paper's Table 1", "godunov27, repeatable")[1:],
                         ["", "", "", "1", "1.2", "1,000", ""])

    def test_goals_ratios_and_floors(self):
        floors = os.path.join(self.folder, "floors.csv")
        with open(floors, "w", encoding="utf-8") as file:
            file.write("volume,scheme,mode,bytes_ms,instructions_ms\nconst/64,godunov27,repeatable,0.1,0.25\n")
        lines = self.tables("eikonal_tables.py", *self.files, floors).split("## Goals", 1)[1].splitlines()
        rows = [cells(line) for line in lines if line.startswith("| const/64")]
        self.assertEqual(rows[0], ["const/64", "selling1", "repeatable", "0.5", "0.6", "1", "", "", "", ""])
        self.assertEqual(rows[1], ["const/64", "godunov27", "repeatable", "1", "", "2", "3", "0.1", "0.25", "4"])

    def test_work_is_of_the_device_and_of_a_front(self):
        text = self.tables("eikonal_tables.py", *self.files)
        self.assertEqual(self.row(text, "Work of a solve", "brain/16")[3:7], ["GPU", "8", "0.5", "400"])

    def test_error_against_time_has_its_order_and_a_chart(self):
        charts = os.path.join(self.folder, "charts")
        text = self.tables("eikonal_tables.py", "--charts", charts, *self.files)
        self.assertEqual(self.row(text, "Error against time: pullback, one core", "selling1")[1:],
                         ["30", "4.00e-02", "", "", "300", "2.00e-02", "1", ""])
        self.assertEqual(os.listdir(charts), ["eikonal_pullback_threads1.svg"])
        lines = ElementTree.parse(os.path.join(charts, "eikonal_pullback_threads1.svg")).findall("{*}polyline")
        self.assertEqual(len(lines), 1)

    def test_threads_parts_and_ranks(self):
        ranks = []
        for n, seconds in ((1, 8.0), (2, 5.0)):
            ranks.append(os.path.join(self.folder, f"ranks_{n}.json"))
            with open(ranks[-1], "w", encoding="utf-8") as file:
                json.dump({"rank_count": n, "preparation_seconds": 1, "arrivals_seconds": seconds,
                           "evaluation_seconds": 0.5}, file)
        text = self.tables("eikonal_tables.py", *self.files, *ranks)
        threads = text.split("## CPU threads", 1)[1].split("\n## ", 1)[0]
        self.assertEqual([cells(line)[3:] for line in threads.splitlines() if line.startswith("| const")],
                         [["1", "270", "100"], ["2", "150", "90"]])
        self.assertEqual(self.row(text, "Paths between all regions", "brain/16")[2:], ["50", "", "1,000,000", ""])
        self.assertEqual(self.row(text, "Ranks", "2")[1:], ["1", "5", "0.5", "80"])


class PerfusionConvolution(Tables):
    def setUp(self):
        super().setUp()
        prefix = "perfusion_convolution"
        gpu = [run_of(f"{prefix}/alone/{way}/128/gpu", "curve", 10000, 1, device_time=ns * 1e-5, round_trip_rmse=error)
               for way, ns, error in (("block_fft", 2, 3e-16), ("cufft", 5, 4e-16), ("recursion", 1, 0))]
        gpu += [run_of(f"{prefix}/cost/block_fft/{n}/gpu", "cost", 1e6, 9, device_time=n * 1e-5) for n in (48, 128)]
        cpu = [run_of(f"{prefix}/cost/{way}/{n}/threads1", "cost", 2000, ms)
               for way, n, ms in (("block_fft", 48, 2), ("direct", 48, 1), ("recursion", 48, 0.1),
                                  ("block_fft", 128, 6), ("direct", 128, 8), ("recursion", 128, 0.3))]
        cpu += [wrong(f"{prefix}/cost/direct/48/threads1/one_voxel", "relative error 1")]
        self.files = [self.file_of("cuda", gpu), self.file_of("cpu", cpu)]

    def test_cufft_stands_beside_the_block_fft(self):
        text = self.tables("perfusion_convolution_tables.py", *self.files)
        self.assertEqual(self.row(text, "Convolution alone", "128")[1:],
                         ["2", "5", "", "1", "2.5", "60", "3.0e-16", "4.0e-16"])

    def test_costs_are_of_one_trial(self):
        text = self.tables("perfusion_convolution_tables.py", *self.files)
        self.assertEqual(self.row(text, "Cost of one trial: one core, a voxel a lane", "48")[1:],
                         ["1", "0.5", "0.05", "2", "20"])
        self.assertEqual(self.row(text, "Cost of one trial: GPU", "128")[1:], ["0.00128", "", "", "", ""])
        self.assertNotIn("one voxel at a time", text)
        self.assertIn("is wrong: relative error 1", text)

    def test_charts_have_a_line_for_each_way(self):
        charts = os.path.join(self.folder, "charts")
        text = self.tables("perfusion_convolution_tables.py", "--charts", charts, *self.files)
        lines = {}
        for name in os.listdir(charts):
            self.assertIn(f"({name})", text)
            lines[name] = len(ElementTree.parse(os.path.join(charts, name)).findall("{*}polyline"))
        self.assertEqual(lines, {"convolution_core.svg": 3, "convolution_gpu.svg": 1})


class BallAndStick(Tables):
    def test_a_gpu_stands_beside_one_core_and_xfibres(self):
        name = "ballstick/speed/K137_L3_m1_1000"
        files = [self.file_of("cpu", [run_of(name, "voxel", 100, 2000), run_of(name + "/fit", "voxel", 100, 400),
                                      run_of("geodesic/by_cores/1", "step", 1, 1)]),
                 self.file_of("cuda", [run_of(name, "voxel", 10000, 1000)])]
        text = self.tables("tables.py", *files)
        self.assertEqual(self.row(text, "Speed", "K137_L3_m1_1000"),
                         ["K137_L3_m1_1000", "20", "25", "281", "14.1", "10,000", "", "4,706", "2.12"])


if __name__ == "__main__":
    unittest.main()
