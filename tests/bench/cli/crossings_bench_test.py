"""bench/accuracy/crossings.py: pairs, recall and errors worked out by hand; a tiny measurement from phantom to table."""
import csv
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import unittest

VOXHERD = os.environ["VOXHERD"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCRIPT = os.path.join(ROOT, "bench", "accuracy", "crossings.py")

spec = importlib.util.spec_from_file_location("crossings", SCRIPT)
crossings = importlib.util.module_from_spec(spec)
spec.loader.exec_module(crossings)


def at(degrees):
    return (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0)


class Scores(unittest.TestCase):
    def test_fibres_are_paired_one_to_one_with_the_smallest_sum_of_angles(self):
        angles = crossings.pair_fibres([at(0), at(40)], [at(35), at(182), at(100)])
        self.assertEqual([round(a, 6) for a in angles], [2, 5])
        self.assertEqual([round(a, 6) for a in crossings.pair_fibres([at(0), at(40)], [at(30)])], [10])
        self.assertEqual(crossings.pair_fibres([at(0)], []), [])

    def test_recall_counts_partners_within_the_tolerance(self):
        truth = [[at(0), at(60)]] * 4
        estimate = [[at(2), at(61)], [at(4)], [at(30)], [at(0), at(64), at(90)]]
        line = crossings.score_block(truth, estimate, 15)
        # Angles 2 and 1, 4, none, 0 and 4: five of eight; two voxels are complete; one estimate is far, one is too much.
        expected = {"voxels": 4, "recall_percent": "62.5", "complete_percent": "50.0", "false_percent": "25.0",
                    "median_error_degrees": "2.00", "mean_error_degrees": "2.20", "p95_error_degrees": "4.00"}
        self.assertEqual(line, expected)


class Measurement(unittest.TestCase):
    def test_right_angles_are_found_and_twenty_degrees_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, SCRIPT, VOXHERD, "--backend", "cpu", "--threads", "1", "--out", folder,
                                   "--angles", "20,90", "--snr", "50", "--protocols", "2000:30", "--models", "1", "--side",
                                   "3", "--jobs", "1", "--ballstick", "burn-in", "500", "jumps", "300"],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(folder, "crossings.csv"), encoding="utf-8") as file:
                small, right = csv.DictReader(file)
            with open(os.path.join(folder, "crossings.md"), encoding="utf-8") as file:
                table = file.read()
        self.assertEqual((small["degrees"], right["degrees"], right["voxels"], right["snr"]), ("20", "90", "9", "50"))
        self.assertEqual(float(right["complete_percent"]), 100)
        self.assertLess(float(right["median_error_degrees"]), 5)
        self.assertLess(float(small["complete_percent"]), 100)
        self.assertIn("| 2000 | 30 | 50 | ", table)

    def test_a_failed_program_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, SCRIPT, VOXHERD, "--out", folder, "--snr", "-1", "--jobs", "1", "--models",
                                   "1", "--protocols", "1000:30"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--snr -1", done.stderr)


if __name__ == "__main__":
    unittest.main()
