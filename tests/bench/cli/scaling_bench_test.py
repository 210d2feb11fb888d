"""The scaling study: its arithmetic, and a small study on 1 and 2 ranks with rows, checks of results, tables and
charts."""
import csv
import glob
import gzip
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCALING = os.path.join(ROOT, "bench", "scaling")
sys.path[:0] = [SCALING, os.path.dirname(SCALING)]
import bars  # noqa: E402
import phases  # noqa: E402
import report  # noqa: E402
import runs  # noqa: E402

from result_files import changed_values  # noqa: E402

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
VOXHERD = os.environ.get("VOXHERD", "")
ORDER = ("asked", "read_begin", "read_end", "compute_begin", "compute_end", "write_begin", "write_end")


def scaling(*words, status=0):
    done = subprocess.run([sys.executable, SCALING, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, f"{words}: exit {done.returncode}, expected {status}\n{done.stdout}{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def batch(rank, read, compute, write, lane=0):
    return {"rank": rank, "lane": lane, "items": 10, "asked": read[0],
            **{f"{what}_{end}": t for what, at in (("read", read), ("compute", compute), ("write", write))
               for end, t in zip(("begin", "end"), at)}}


class Arithmetic(unittest.TestCase):
    def test_steps_have_separate_stages(self):
        names = ["MPI started", "GPU chosen", "a: buffers made", "a: result named", "b: buffers made", "b: result named"]
        stages = [{"name": name, "ended_seconds": i} for i, name in enumerate(names)]
        self.assertEqual(phases.steps_of(stages), [("a", {"buffers made": 2, "result named": 3}),
                                                   ("b", {"buffers made": 4, "result named": 5})])
        self.assertEqual(phases.steps_of(stages[:2]), [("", {"MPI started": 0, "GPU chosen": 1})])

    def test_overlapping_lanes_count_once_and_only_idle_time_is_reading_or_writing(self):
        batches = [batch(0, (0, 1), (1, 4), (4, 5)), batch(0, (1, 2), (2, 6), (6, 8), lane=1), batch(1, (0, 3), (3, 4), (4, 9))]
        self.assertEqual(phases.busy_seconds(batches), {0: 5, 1: 1})
        # Rank 0 reads for 1 s while idle and writes for 2 s while idle, rank 1 reads for 3 s and writes for 5 s.
        self.assertEqual(phases.idle_seconds(batches, 2), (2, 3.5))

    def test_phases_add_up(self):
        ends = {"MPI started": 1, "buffers made": 2, "input awaited": 5, "batches computed": 15, "result named": 16}
        batches = [batch(0, (0, 1), (1, 4), (4, 5)), batch(1, (0, 3), (3, 4), (4, 9))]
        found = phases.step_phases(ends, 0, batches, 2)
        self.assertEqual({name: found[name] for name in phases.PHASES[1:]},
                         {"start": 2, "reading": 5, "computing": 2, "writing": 3, "waiting": 3, "end": 1})
        self.assertEqual((found["work"], found["busy"], found["awaited"]), (10, 4, 3))

    def test_a_timeline_has_a_row_for_each_lane_and_one_for_files(self):
        batches = [batch(0, (0, 1), (1, 4), (4, 5)), batch(0, (1, 2), (2, 6), (6, 8), lane=1), batch(1, (0, 3), (3, 4), (4, 9))]
        self.assertEqual(bars.rows_of(batches), {(0, None): 0, (0, 0): 1, (0, 1): 2, (1, None): 3, (1, 0): 4})
        drawn = [(row, begin, end) for row, begin, end, _ in bars.bars_of(batches)]
        self.assertEqual(drawn[:6], [(0, 0, 1), (1, 1, 4), (0, 4, 5), (0, 1, 2), (2, 2, 6), (0, 6, 8)])
        self.assertEqual(len(drawn), 9)

    def test_neighbouring_batches_of_a_lane_differ_in_shade(self):
        batches = [batch(0, (0, 1), (t, t + 1), (4, 5)) for t in range(1, 4)]
        shades = [colour for row, _, _, colour in bars.bars_of(batches) if row == 1]
        self.assertNotEqual(shades[0], shades[1])
        self.assertEqual(shades[0], shades[2])

    def test_efficiency_is_computed_from_items(self):
        made = []
        for ranks, items, wall, work, busy in ((1, 100, 10, 8, 8), (2, 300, 20, 12, 24)):
            run = object.__new__(report.measured)
            run.ranks, run.items, run.wall, run.work, run.busy = ranks, items, wall, work, busy
            made.append(run)
        one, two = made
        self.assertEqual([two.efficiency(one, what) for what in ("wall", "work", "busy")], [0.75, 1.0, 1.0])

    def test_launchers_have_the_expected_arguments(self):
        self.assertEqual(runs.launcher("v", options=("--map-by", "core")).words(2, 0), ("mpirun", "-n", "2", "--map-by", "core"))
        self.assertEqual(runs.launcher("v", "srun", ("--exact",)).words(2, 4),
                         ("srun", "--mpi=pmix", "-n", "2", "-c", "4", "--exact"))


@unittest.skipUnless(VOXHERD and shutil.which("mpirun"), "needs mpirun, and the program in VOXHERD")
class Study(unittest.TestCase):
    """One small study that all tests use."""
    strong = ("ballstick-m1", "ballstick-slices", "ballstick-gz", "geodesic", "perfusion-lm")

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_scaling_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.words = ("measure", os.path.dirname(VOXHERD), cls.folder, "--quick", "--backend", "cpu", "--ranks", "1,2")
        cls.output = scaling(*cls.words, "--problems", ",".join(cls.strong), "--study", "strong", "--repeats", "1")
        cls.output += scaling(*cls.words, "--problems", "tensor", "--study", "weak", "--repeats", "2")

    def rows(self, **wanted):
        return [row for row in runs.read_runs(self.folder) if all(row[key] == value for key, value in wanted.items())]

    def test_every_run_has_a_row_in_the_order_of_the_columns(self):
        with open(os.path.join(self.folder, "runs.csv"), encoding="utf-8") as file:
            self.assertEqual(next(csv.reader(file)), list(runs.COLUMNS))
        found = [(r["study"], r["problem"], r["ranks"], r["repeat"]) for r in self.rows()]
        self.assertEqual(found, [("strong", problem, n, "1") for problem in self.strong for n in "12"] +
                         [("weak", "tensor", n, repeat) for n in "12" for repeat in "12"])
        self.assertEqual({(r["partition"], r["schedule"], r["threads_per_rank"]) for r in self.rows(problem="ballstick-slices")},
                         {("slices", "dynamic", "1")})
        items = {(r["problem"], r["ranks"]): int(r["items"]) for r in self.rows()}
        self.assertEqual(items["ballstick-m1", "2"], items["ballstick-gz", "1"])
        self.assertEqual((items["tensor", "1"], items["tensor", "2"], items["perfusion-lm", "2"]), (752, 1536, 800))

    def test_phases_add_up_to_the_wall_time(self):
        for row in self.rows():
            seconds = {key: float(row[key]) for key in row if key.endswith("_s")}
            self.assertAlmostEqual(sum(seconds[key] for key in ("launch_s", "start_s", "work_s", "end_s")), seconds["wall_s"], 4)
            found = phases.of_row(self.folder, row)
            self.assertAlmostEqual(sum(found[name] for name in phases.PHASES), seconds["wall_s"], 4)
            # the start of rank 0 is known to within 10 ms
            self.assertGreater(min(found[name] for name in phases.PHASES), -0.02, row)

    def test_busy_time_is_the_programs_and_the_trace_has_every_item_once_and_in_order(self):
        for row in self.rows():
            summary = phases.read_summary(os.path.join(self.folder, row["json"]))
            traces = phases.traces_of(phases.trace_path(self.folder, row), phases.steps_of(summary["stages"]))
            # The program counts from when a batch is passed to a thread until it is returned.
            share = sum(phases.busy_seconds(traces[-1]).values()) / summary["all"]["computing_seconds"]
            self.assertTrue(0.5 < share < 1.001, f"{row['trace']}: {share}")
            self.assertEqual(sum(b["items"] for b in traces[-1]), summary["all"]["items"])
            for batches in traces:
                self.assertEqual(sorted(b["batch"] for b in batches), list(range(len(batches))))
                for b in batches:
                    times = [b[name] for name in ORDER]
                    self.assertEqual(times, sorted(times), f"{row['trace']}: {b}")
            if row["ranks"] == "2":
                self.assertEqual({b["rank"] for b in traces[0]}, {0, 1}, row["trace"])

    def test_each_slice_is_a_batch(self):
        for row in self.rows(problem="ballstick-slices"):
            self.assertEqual(len(phases.read_trace(phases.trace_path(self.folder, row))), 10)  # two of the 12 are empty

    def test_compressed_input_is_the_same_series(self):
        packed, = glob.glob(os.path.join(self.folder, "inputs", "*", "data.nii.gz"))
        with gzip.open(packed) as file, open(packed[:-3], "rb") as plain:
            self.assertEqual(file.read(), plain.read())

    def test_existing_measurements_are_not_repeated(self):
        before = self.rows()
        self.assertEqual(scaling(*self.words, "--problems", "ballstick-m1", "--study", "strong", "--repeats", "1"), "")
        self.assertEqual(self.rows(), before)

    def test_a_wrong_result_is_rejected(self):
        copy = tempfile.mkdtemp(dir=self.folder)
        for name in ("results", "inputs"):
            shutil.copytree(os.path.join(self.folder, name), os.path.join(copy, name))
        for path in glob.glob(os.path.join(copy, "results", "*-tensor-cpu.h5")):
            with changed_values(path) as first:
                first["maps/MD"][5, 10, 10] *= 1 + 1e-6
        output = scaling("measure", self.words[1], copy, *self.words[3:], "--problems", "tensor", "--study", "weak", "--repeats", "1",
                       status=1)
        for n in "12":
            self.assertIn(f"error: tensor, weak, {n} ranks: the result is not that of", output)
        self.assertFalse(os.path.exists(os.path.join(copy, "runs.csv")))

    def test_report_has_tables(self):
        text = scaling("report", self.folder)
        walls = [float(self.rows(problem="geodesic", ranks=n)[0]["wall_s"]) for n in "12"]
        row = next(line for line in text.split("### Strong", 1)[1].splitlines() if line.startswith("| geodesic | 2 |"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        self.assertEqual((cells[5], cells[7]), (f"{walls[0] / walls[1]:.3g}", f"{50 * walls[0] / walls[1]:.3g}"))
        weak = text.split("### Weak", 1)[1]
        self.assertEqual(len([line for line in weak.split("### Phases")[0].splitlines() if line.startswith("| tensor")]), 2)
        for line in text.split("### Phases", 1)[1].splitlines():
            if line.startswith("| ballstick-m1"):
                shares = [float(cell) for cell in line.strip("|").split("|")[2:]]
                self.assertAlmostEqual(sum(shares), 100, delta=1)

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs python3-matplotlib")
    def test_report_has_charts(self):
        charts = os.path.join(self.folder, "charts")
        text = scaling("report", self.folder, "--charts", charts)
        names = os.listdir(charts)
        self.assertEqual(len([name for name in names if name.endswith("_timeline.svg")]), len(self.strong))
        for name in names:
            self.assertIn(f"({name})", text)
            self.assertTrue(ElementTree.parse(os.path.join(charts, name)).getroot().tag.endswith("svg"))

    def test_impossible_requests_are_reported(self):
        other = os.path.join(self.folder, "other")
        self.assertIn("nonsense: expected one of ballstick-m1", scaling(*self.words, "--problems", "nonsense", status=2))
        self.assertIn("size: expected one of nx, ny, slices", scaling(*self.words, "--set", "size=3", status=2))
        self.assertIn("does not exist", scaling("measure", self.folder, other, status=1))
        self.assertIn("machine.json does not exist", scaling("report", self.folder + "/inputs", status=1))


if __name__ == "__main__":
    unittest.main()
