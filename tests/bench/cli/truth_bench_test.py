"""bench/truth.py: one command makes the scores, another one the tables of the page."""
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BENCH = os.path.join(ROOT, "bench", "truth.py")
KINDS = ("fibres", "crossings", "networks", "calibration")


class TruthBench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def bench(self, *words, expect=0):
        done = subprocess.run([sys.executable, BENCH, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def rows(self, name):
        with open(self.path(name), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def test_small_phantom_from_scan_to_tables(self):
        for _ in range(2):  # the second time replaces the rows
            self.bench("measure", os.environ["VOXHERD"], "--small", "--backend", "cpu", "--threads", "1", "--out", self.folder)
        self.assertEqual([r["tool"] for r in self.rows("truth-fibres.csv")], ["voxherd ballstick"])
        fibres = self.rows("truth-fibres.csv")[0]
        self.assertGreater(int(fibres["voxels"]), 200)
        self.assertLess(float(fibres["mean_degrees"]), 15)
        networks = self.rows("truth-networks.csv")
        self.assertEqual([r["tool"] for r in networks], 12 * ["voxherd track"] + 3 * ["voxherd connect"])
        self.assertEqual({(r["true_pairs"], r["pairs"], r["valid"]) for r in networks}, {("2", "6", "2")})
        page = self.path("page.md")
        with open(page, "w", encoding="utf-8") as file:
            for kind in KINDS:
                file.write(f"before\n<!-- generated: bench/truth.py {kind} -->\nold\n<!-- end -->\n")
        self.bench("report", self.folder, "--page", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("old", text)
        self.assertEqual(text.count("before"), len(KINDS))
        self.assertIn("| HARDI 30 | track, default, 100 per seed | 2 |", text)

    def test_missing_geometry_is_refused(self):
        done = self.bench("measure", "voxherd", "--geometry", self.path("nowhere"), "--out", self.folder, expect=2)
        self.assertIn("expected the folder examples of phantomas", done.stderr)

    def test_tables_of_the_page_are_those_of_the_results(self):
        page = self.path("page.md")
        shutil.copy(os.path.join(ROOT, "docs", "truth.md"), page)
        self.bench("report", os.path.join(ROOT, "docs", "papers"), "--page", page)
        with open(page, encoding="utf-8") as new, open(os.path.join(ROOT, "docs", "truth.md"), encoding="utf-8") as old:
            self.assertEqual(new.read(), old.read())


if __name__ == "__main__":
    unittest.main()
