"""Predictions of schedule_bench: within bounds that hold for any schedule, and near the ideal where the dealer's tests say so."""
import csv
import os
import subprocess
import tempfile
import unittest

PROGRAM = os.path.join(os.path.dirname(os.environ["VOXHERD"]), "bench", "schedule_bench")


@unittest.skipUnless(os.access(PROGRAM, os.X_OK), "built without benchmarks")
class Schedule(unittest.TestCase):
    def predictions(self, *options):
        with tempfile.NamedTemporaryFile(suffix=".csv") as table:
            done = subprocess.run([PROGRAM, "--csv", table.name, *options], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(table.name, encoding="utf-8") as file:
                rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
        self.assertEqual(len(done.stdout.splitlines()), len(rows) + 1)
        return rows

    def test_one_rank_takes_the_ideal_time_and_several_nearly_so(self):
        one, *several = self.predictions("--ranks", "1,2,4,8")
        self.assertAlmostEqual(one["predicted_s"], 900416 / 60000, places=5)
        for row in several:
            self.assertAlmostEqual(row["ideal_s"], 900416 / 60000 / row["ranks"], places=5)
            self.assertGreaterEqual(row["predicted_s"], row["ideal_s"])
            self.assertGreater(row["efficiency"], 0.98)
            self.assertGreater(row["balance"], 0.98)

    def test_a_slow_rank_costs_only_its_share(self):
        [row] = self.predictions("--speeds", "60000,60000,60000,30000")
        self.assertAlmostEqual(row["ideal_s"], 900416 / 210000, places=5)
        self.assertGreater(row["efficiency"], 0.97)

    def test_more_ranks_than_batches_are_bounded_by_the_largest_batch(self):
        [row] = self.predictions("--items", "1000", "--largest", "500", "--last", "500", "--ranks", "8", "--items-per-second", "100")
        self.assertEqual(row["batches"], 2)
        self.assertAlmostEqual(row["predicted_s"], 5, places=5)

    def test_invalid_options_are_rejected(self):
        for options in (("--items", "0"), ("--speeds", "1,x"), ("--speeds", "1,-2"), ("--nonsense",)):
            done = subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, options)
            self.assertIn("schedule_bench: error:", done.stderr)


if __name__ == "__main__":
    unittest.main()
