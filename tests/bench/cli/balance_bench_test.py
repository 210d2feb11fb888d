"""The load-balance study: its arithmetic, and a small study on two ranks."""
import csv
import glob
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
import balance  # noqa: E402
import bound  # noqa: E402
import masks  # noqa: E402

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
VOXHERD = os.environ.get("VOXHERD", "")


def batch(rank, items, compute, write_end, lane=0):
    return {"rank": rank, "lane": lane, "items": items, "compute_begin": compute[0], "compute_end": compute[1],
            "write_end": write_end}


class Arithmetic(unittest.TestCase):
    def test_ideal_time_is_all_items_over_the_sum_of_the_ranks_speeds(self):
        # 100 items/s and 50 items/s: 300 items take 2 s; they took 4.
        found = balance.account([batch(0, 200, (0, 2), 2.5), batch(1, 100, (0, 2), 4)], 2)
        self.assertAlmostEqual(found["ideal_s"], 2)
        self.assertAlmostEqual(found["loss_percent"], 100)
        self.assertEqual((found["items"], found["end_s"], found["first_idle_s"]), (300, 4, 2.5))
        self.assertEqual((found["least_items"], found["most_items"]), (100, 200))

    def test_overlapping_batches_of_two_lanes_count_once(self):
        found = balance.account([batch(0, 100, (0, 2), 2), batch(0, 100, (1, 2), 2, lane=1)], 1)
        self.assertAlmostEqual(found["ideal_s"], 2)
        self.assertAlmostEqual(found["loss_percent"], 0)

    def test_a_rank_without_a_batch_is_idle_from_the_start(self):
        found = balance.account([batch(0, 100, (0, 2), 2)], 2)
        self.assertEqual((found["first_idle_s"], found["least_items"]), (0, 0))

    def test_ranks_are_bound_to_separate_cores(self):
        cores = sorted(os.sched_getaffinity(0))
        self.assertEqual(bound.cores_of(0, 1), cores[:1])
        self.assertEqual(bound.cores_of(1, 1), [cores[1 % len(cores)]])
        self.assertEqual(len(bound.cores_of(1, 2)), 2)


class Study(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.access(VOXHERD, os.X_OK) or not shutil.which("mpirun"):
            raise unittest.SkipTest("needs mpirun, and voxherd as named by VOXHERD")
        cls.folder = tempfile.mkdtemp(prefix="voxherd_balance_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.charts = os.path.join(cls.folder, "charts")
        cls.words = [sys.executable, SCALING, "balance", os.path.dirname(VOXHERD), cls.folder, "--backend", "cpu", "--ranks", "2",
                     "--quick", *(["--charts", cls.charts] if HAS_MATPLOTLIB else [])]
        done = subprocess.run(cls.words, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.output = done.stdout

    def rows(self):
        with open(os.path.join(self.folder, "balance.csv"), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_every_schedule_on_every_mask_with_and_without_a_burden_has_a_row(self):
        found = [(r["mask"], r["burden"], r["way"]) for r in self.rows()]
        self.assertEqual(found, [(m, b, w) for m in balance.MASKS for b in balance.BURDENS for w in balance.WAYS if w != "mixed"])
        self.assertEqual(len([line for line in self.output.splitlines() if line.startswith(("| even", "| corner"))]), len(found))

    def test_the_corner_mask_is_part_of_the_mask_with_fewer_voxels_in_higher_slices(self):
        corner, = glob.glob(os.path.join(self.folder, "inputs", "*", "corner.nii.gz"))
        header, kept = masks.image(corner)
        _, whole = masks.image(corner.replace("corner", "nodif_brain_mask"))
        self.assertEqual({r["items"] for r in self.rows() if r["mask"] == "corner"}, {str(sum(map(bool, kept)))})
        self.assertEqual({r["items"] for r in self.rows() if r["mask"] == "even"}, {str(sum(map(bool, whole)))})
        self.assertTrue(all(inside for inside, keep in zip(whole, kept) if keep))
        nx, ny, nz = masks.size_of(header)
        slices = [sum(map(bool, kept[z * nx * ny:(z + 1) * nx * ny])) for z in range(nz)]
        self.assertEqual(slices[nz - 1], 0)
        self.assertGreater(max(slices[:nz // 2]), max(slices[nz // 2:]))

    def test_static_voxels_are_dealt_evenly(self):
        for row in self.rows():
            if row["way"] == "static-voxels":
                least, most = int(row["least_items"]), int(row["most_items"])
                self.assertLessEqual(most - least, -(-int(row["items"]) // 16) + 16)

    def test_no_run_ends_before_its_ideal_time(self):
        for row in self.rows():
            self.assertGreater(float(row["loss_percent"]), -1e-6, row)

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs python3-matplotlib")
    def test_timelines_are_svg(self):
        names = glob.glob(os.path.join(self.charts, "*.svg"))
        self.assertEqual(len(names), len(self.rows()))
        for name in names:
            self.assertTrue(ElementTree.parse(name).getroot().tag.endswith("svg"))

    def test_existing_measurements_are_not_repeated(self):
        before = self.rows()
        done = subprocess.run(self.words, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.rows(), before)

    def test_no_process_is_left_running(self):
        loops = subprocess.run(["pgrep", "-f", "sched_setaffinity.*while True"], capture_output=True, text=True).stdout.split()
        own = [pid for pid in loops if os.path.exists(f"/proc/{pid}") and os.readlink(f"/proc/{pid}/cwd") == os.getcwd()]
        self.assertEqual(own, [])


if __name__ == "__main__":
    unittest.main()
