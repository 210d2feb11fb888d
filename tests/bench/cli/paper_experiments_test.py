"""bench/papers: experiments exist in their programs, small ones run, and their tables have the values measured."""
import csv
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PAPERS = os.path.join(ROOT, "bench", "papers")
BUILD = os.path.dirname(os.environ["VOXHERD"])
DATA = os.environ.get("VOXHERD_DATA", "")
sys.path[:0] = [PAPERS, os.path.dirname(PAPERS)]
import experiments  # noqa: E402
import livers  # noqa: E402
import nifti  # noqa: E402
import report  # noqa: E402
import tracts  # noqa: E402

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def papers(*words, status=0):
    done = subprocess.run([sys.executable, PAPERS, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, f"{words}: exit {done.returncode}, expected {status}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def points(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(line for line in file if not line.startswith("#"))][1:]


class Papers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)


@unittest.skipUnless(os.path.isdir(os.path.join(BUILD, "bench")), "built without benchmarks")
class Measuring(Papers):
    def test_every_experiment_on_a_cpu_is_in_its_program(self):
        for what in experiments.list_experiments():
            if not {experiments.CORE, experiments.CORES} & set(what.places):
                continue
            with self.subTest(what.name):
                done = subprocess.run([os.path.join(BUILD, "bench", what.program), "--backend", "cpu", "--threads", "2",
                                       "--benchmark_list_tests", "--benchmark_filter=" + what.pattern],
                                      capture_output=True, text=True, timeout=60)
                names = [line for line in done.stdout.splitlines() if "/" in line]
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(names)

    def test_measures_only_what_is_missing(self):
        words = ("measure", BUILD, self.path("out"), "--quick", "--places", "cores", "--threads", "1", "--only",
                 "hernandez-devices,wang-cao-devices")
        said = papers(*words)
        for name in ("hernandez-devices", "hernandez-devices-fibres", "wang-cao-devices"):
            self.assertIn(name + "@cores", said)
        with open(self.path("out", "hernandez-devices@cores.json"), encoding="utf-8") as file:
            self.assertEqual([run["name"] for run in json.load(file)["benchmarks"]], ["ballstick/by_cores/1/real_time"])
        self.assertEqual(papers(*words), "")

    def test_reports_a_program_that_fails_and_keeps_no_result(self):
        os.makedirs(self.path("build", "bench"))
        for name in ("voxherd", "bench/threads_bench"):
            with open(self.path("build", name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho 'wrong answer'\nexit 1\n")
            os.chmod(self.path("build", name), 0o755)
        said = papers("measure", self.path("build"), self.path("out"), "--places", "cores", "--only", "hernandez-devices", status=1)
        self.assertIn("hernandez-devices@cores: failed: status 1", said)
        self.assertFalse(os.path.exists(self.path("out", "hernandez-devices@cores.json")))

    def test_needs_only_the_programs_of_the_chosen_experiments(self):
        os.makedirs(self.path("build", "bench"))
        os.symlink(os.path.join(BUILD, "bench", "threads_bench"), self.path("build", "bench", "threads_bench"))
        words = ("measure", self.path("build"), self.path("out"), "--quick", "--places", "cores", "--threads", "1", "--only")
        self.assertIn("hernandez-devices@cores", papers(*words, "hernandez-devices"))
        self.assertIn("bench/perfusion_bench does not exist", papers(*words, "wang-cao", status=1))
        self.assertIn("voxherd does not exist", papers(*words, "repeats", status=1))
        self.assertIn("no experiment has this", papers(*words, "nothing", status=1))

    def test_two_fits_of_a_liver_on_cpus_do_not_differ(self):
        papers("measure", BUILD, self.path("out"), "--quick", "--places", "cores", "--threads", "1", "--only", "livers")
        rows = points(self.path("out", "wang-cao-livers.csv"))
        self.assertEqual(len(rows), len(livers.LIVERS) * len(livers.MAPS))
        self.assertTrue(all(row[-1] == "0" and int(row[3]) > 600 for row in rows), rows)

    @unittest.skipUnless(os.path.isdir(os.path.join(DATA, "philips_32dir_b1000")), "no scan (VOXHERD_DATA)")
    def test_repeats_differ_and_their_mean_depends_on_the_tissue(self):
        papers("measure", BUILD, self.path("out"), "--quick", "--places", "cores", "--threads", "1", "--only", "repeats",
               "--data", DATA)
        rows = points(self.path("out", "hernandez-repeats.csv"))
        first = {tissue: [float(row[3]) for row in rows if row[1] == tissue] for tissue in ("corpus callosum", "grey matter")}
        self.assertEqual({len(values) for values in first.values()}, {100})
        self.assertGreater(len(set(first["corpus callosum"])), 90)
        self.assertGreater(sum(first["corpus callosum"]), 1.5 * sum(first["grey matter"]))
        # The folder replaces the scan on another machine, with the same values.
        os.remove(self.path("out", "hernandez-repeats.csv"))
        papers("measure", BUILD, self.path("out"), "--quick", "--places", "cores", "--threads", "1", "--only", "repeats",
               "--data", self.path("nothing"))
        self.assertEqual(points(self.path("out", "hernandez-repeats.csv")), rows)


class Reporting(Papers):
    def setUp(self):
        super().setUp()
        self.write("machine.json", {"cores": 16, "gpus": 2, "quick": False, "date": "2026-11-22"})

    def write(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(content, file)

    def result(self, name, backend, runs, threads="1"):
        context = {"machine": "M", "backend": backend, "threads": threads}
        self.write(name + ".json", {"context": context, "benchmarks": [
            {"name": benchmark + "/real_time", "run_type": "iteration", "real_time": ms, "time_unit": "ms", **more}
            for benchmark, ms, more in runs]})

    def test_a_table_has_the_points_of_all_devices_and_of_the_paper(self):
        self.result("a@core", "cpu", [("perfusion/by_frames/lm/48/64/threads1", 32, {"voxels": 64}),
                                      ("ballstick/grid/K64_L2", 480, {"voxels": 192})])
        self.result("b@gpu", "cuda", [("perfusion/by_frames/lm/48/10000/gpu", 5, {"voxels": 10000})])
        papers("report", self.folder, self.path("out"))
        rows = points(self.path("out", "wang-cao-2012-frames-by-device.csv"))
        self.assertIn(("one core", "lm", "48", "0.5"), rows)
        self.assertIn(("one GPU", "lm", "48", "0.0005"), rows)
        self.assertIn(("C2050", "paper", "128", "1.31"), rows)
        self.assertEqual(points(self.path("out", "hernandez-2013-grid.csv")), [("one core", "L2", "64", "2.5")])

    def test_gpus_and_cores_are_in_one_table_with_the_papers(self):
        self.result("a@cores", "cpu", [("perfusion/by_cores/lm/one_liver/2", 16, {"voxels": 32768, "voxels_per_s": 2e6})], "2")
        self.result("b@gpus", "cuda", [("perfusion/by_devices/lm/one_liver/2", 2, {"voxels": 638728, "voxels_per_s": 3e8}),
                                       ("ballstick/by_devices/4", 2, {"voxels": 64, "voxels_per_s": 1e6})])
        papers("report", self.folder, self.path("out"))
        rows = points(self.path("out", "wang-cao-2012-by-devices.csv"))
        self.assertIn(("cores", "lm/one_liver", "2", "2e+06"), rows)
        self.assertIn(("GPUs", "lm/one_liver", "2", "3e+08"), rows)
        self.assertIn(("C2050", "paper/one_liver", "2", "7097"), rows)
        self.assertEqual(points(self.path("out", "hernandez-2013-by-devices.csv")), [("GPUs", "K137_L3", "4", "1e+06")])

    def test_bytes_per_step_are_times_of_a_step(self):
        self.result("a@gpu", "cuda", [("geodesic/bytes/texture/2048/384", 4, {"steps": 2048 * 4096})])
        papers("report", self.folder, self.path("out"))
        self.assertEqual(points(self.path("out", "van-aart-2011-bytes-per-step.csv")),
                         [("one GPU", "texture/2048", "384", "0.4768"), ("GTX 260", "paper/2048", "768", "19.67")])

    def test_solves_are_timed_by_the_device_and_compared_only_with_the_papers_volumes(self):
        self.result("a@gpu", "cuda", [("connect/solve/helix/10000/hl26/repeatable/gpu", 9, {"device_time": 0.008, "over_length_quarter_turn": 7.5})])
        self.result("b@core", "cpu", [("connect/sweeping/const/64/godunov/threads1", 900, {})])
        papers("report", self.folder, self.path("out"))
        rows = points(self.path("out", "jeong-2007-solves.csv"))
        self.assertIn(("one GPU", "hl26", "helix/10000", "8"), rows)
        self.assertIn(("one core", "sweeping/godunov", "const/64", "900"), rows)
        self.assertIn(("8800 GTX", "paper, godunov27", "helix/10000", "1500"), rows)
        self.assertEqual({row[2] for row in rows if "paper" in row[1]}, {"const/64", "helix/10000"})
        self.assertEqual(points(self.path("out", "jeong-2007-example2-error.csv")), [("one GPU", "hl26", "helix/10000", "7.5")])

    def test_wrong_answers_and_quick_measurements_have_no_table(self):
        self.result("a@core", "cpu", [("ballstick/grid/K64_L2", 1, {"voxels": 1, "error_occurred": True, "error_message": "far off"}),
                                      ("ballstick/grid/K64_L3", 1, {"voxels": 1})])
        self.assertIn("far off", papers("report", self.folder, self.path("out")))
        self.assertEqual(points(self.path("out", "hernandez-2013-grid.csv")), [("one core", "L3", "64", "1")])
        self.write("machine.json", {"cores": 16, "gpus": 2, "quick": True, "date": "2026-11-22"})
        self.assertIn("--quick", papers("report", self.folder, self.path("out"), status=1))

    def test_histograms_count_every_repeat(self):
        with open(self.path("hernandez-repeats.csv"), "w", encoding="utf-8") as file:
            file.write("backend,tissue,repeat,mean_f1\n")
            file.writelines(f"{backend},grey matter,{i},{i / 100}\n" for backend in ("cpu", "cuda") for i in range(90))
        papers("report", self.folder, self.path("out"))  # also if nothing else was measured
        self.result("a@core", "cpu", [("ballstick/grid/K64_L2", 1, {"voxels": 1})])
        papers("report", self.folder, self.path("out"))
        rows = points(self.path("out", "hernandez-2013-repeats.csv"))
        for backend in ("cpu", "cuda"):
            self.assertEqual(sum(int(row[3]) for row in rows if row[0] == backend), 90)
        if HAS_MATPLOTLIB:
            self.plot()

    def plot(self):
        """docs/papers/tables.py draws every table of points that is in its folder."""
        with open(os.path.join(ROOT, "docs", "papers", "tables.py"), encoding="utf-8") as file:
            script = file.read()
        with open(self.path("out", "tables.py"), "w", encoding="utf-8") as file:
            file.write(script)
        done = subprocess.run([sys.executable, self.path("out", "tables.py"), "plot", self.path("charts"), "hernandez-2013-repeats",
                               "hernandez-2013-grid"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("charts"))), ["hernandez-2013-grid.svg", "hernandez-2013-repeats.svg"])


class Tracts(Papers):
    def test_the_table_has_the_papers_six_tracts_with_its_settings_and_the_defaults(self):
        rows = points(os.path.join(ROOT, "docs", "papers", "jeong-2007-tracts.csv"))
        self.assertEqual([row[:2] for row in rows], [(tract, settings) for tract in (*tracts.TRACTS, tracts.ARCUATE[0])
                                                     for settings in tracts.SETTINGS])
        self.assertEqual(len(tracts.TRACTS), 6)
        for row in rows:
            self.assertLess(float(row[6]), 20, row)  # gap, %
            self.assertAlmostEqual(float(row[9]), int(row[8]) * 7.65625 / 1000, delta=0.006)

    def test_a_region_is_a_label_or_a_point(self):
        scan = tracts.brain.__new__(tracts.brain)
        scan.labels = "labels.nii.gz"
        self.assertEqual(scan.region("--from", 7), ("--from", "labels.nii.gz", "--from-labels", "7"))
        self.assertEqual(scan.region("--to", "-6,1,2"), ("--to-point=-6,1,2",))

    @unittest.skipUnless(importlib.util.find_spec("h5py"), "no h5py")
    def test_only_fibres_that_join_both_regions_count(self):
        import h5py
        import numpy
        with h5py.File(self.path("fibres.h5"), "w") as file:
            fibres = file.create_group("VTKHDF")
            fibres["Offsets"] = [0, 2, 4, 7]
            fibres["Points"] = [[x, 0, 0] for x in (0, 1, 20, 21, 2, 2.2, 3)]
            fibres["CellData/regions"] = [[11, 85], [85, 85], [85, 11]]
            fibres["CellData/length_mm"] = [1.0, 5.0, 2.0]
        lengths, voxels = tracts.lengths_and_voxels(self.path("fibres.h5"), (11, 85), numpy.eye(4))
        self.assertEqual(list(lengths), [1, 2])
        self.assertEqual(voxels, {(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)})


class Arithmetic(Papers):
    def test_histogram_has_all_values(self):
        self.assertEqual([n for _, _, n in report.histogram([0, 1, 2, 3, 4], 5)], [1] * 5)
        self.assertEqual(sum(n for _, _, n in report.histogram([7, 7, 7])), 3)

    def test_differences_are_those_of_the_voxels_inside(self):
        count, mean, sd, largest, different = livers.differences([1, 5, 9, 0], [1, 7, 9, 4], [1, 1, 1, 0])
        self.assertEqual((count, largest, different), (3, 2, 1))
        self.assertAlmostEqual(mean, 2 / 3)
        self.assertAlmostEqual(sd, (8 / 9) ** 0.5)

    def test_images_are_read_as_written(self):
        header = bytearray(nifti.HEADER)
        nifti.write(self.path("a.nii"), header, (2, 3, 1, 2), [0.5 * i for i in range(12)])
        _, size, slope, intercept, samples = nifti.read(self.path("a.nii"))
        self.assertEqual((size, slope, intercept), ((2, 3, 1, 2), 1, 0))
        self.assertEqual(list(samples), [0.5 * i for i in range(12)])


if __name__ == "__main__":
    unittest.main()
