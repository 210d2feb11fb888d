"""bench/dense.py computes a dense connectome of a phantom from surfaces and volumes through warps, checks it and prints times."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCRIPT = os.path.join(ROOT, "bench", "dense.py")


class Dense(unittest.TestCase):
    def test_a_small_phantom(self):
        with tempfile.TemporaryDirectory(prefix="voxherd_dense_") as work:
            done = subprocess.run([sys.executable, SCRIPT, os.path.dirname(os.environ["VOXHERD"]), work, "--preset", "toy", "--bedpostx",
                                   "-n 1 -b 50 -j 100 -s 10", "--frequency", "5", "--samples", "5", "--matrix3", "2", "--costs", "5"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            seeds = int(re.search(r"(\d+) seeds", done.stdout)[1])
            self.assertRegex(done.stdout, r"matrix1: [\d.]+ s, [\d.]+ GiB")
            self.assertRegex(done.stdout, r"matrix3: [\d.]+ s")
            self.assertEqual(re.findall(r"costs_(\w+): [\d.]+ s", done.stdout), ["plain", "surfaces", "warps"])
            size = int(re.search(r"dense connectome: (\d+) x \1", done.stdout)[1])
            self.assertGreaterEqual(seeds, size)
            self.assertGreater(size, 0.9 * seeds)


if __name__ == "__main__":
    unittest.main()
