"""A test file that has a failed case fails, whatever else was skipped in it."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SUPPORT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "support")
CASES = {
    "passes": "def test_passes(self): pass",
    "skips": "def test_skips(self): self.skipTest('on purpose')",
    "fails": "def test_fails(self): self.fail('on purpose')",
    "breaks": "def test_breaks(self): raise OSError('on purpose')",
}


class PythonFiles(unittest.TestCase):
    def status(self, *cases, prefix=""):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "some_test.py")
        body = "".join(f"    {CASES[name]}\n" for name in cases)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"import sys, unittest\n{prefix}\nclass Cases(unittest.TestCase):\n    nothing = 0\n{body}")
        done = subprocess.run([sys.executable, os.path.join(SUPPORT, "run_cases.py"), path], capture_output=True, timeout=60)
        return done.returncode

    def test_a_failed_case_fails_the_file_even_if_another_is_skipped(self):
        self.assertEqual(self.status("passes", "fails"), 1)
        self.assertEqual(self.status("skips", "fails"), 1)
        self.assertEqual(self.status("passes", "skips", "breaks"), 1)

    def test_a_skipped_case_shows_the_file_as_skipped_if_none_failed(self):
        self.assertEqual(self.status("passes"), 0)
        self.assertEqual(self.status("passes", "skips"), 77)
        self.assertEqual(self.status("passes", prefix="sys.exit(77)"), 77)
        self.assertEqual(self.status("passes", prefix="def setUpModule(): raise unittest.SkipTest('on purpose')"), 77)

    def test_a_file_without_cases_fails(self):
        self.assertEqual(self.status(), 1)


class RankPrograms(unittest.TestCase):
    def status(self, *cases):
        program = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "rank_outcomes")
        names = ":".join(f"Outcome.{name}" for name in cases)
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", program, f"--gtest_filter={names}"],
                              capture_output=True, timeout=120)
        return done.returncode

    def test_a_failure_on_one_rank_fails_the_program_even_if_another_case_is_skipped(self):
        self.assertEqual(self.status("FailsOnTheLastRank"), 1)
        self.assertEqual(self.status("Skips", "FailsOnTheLastRank"), 1)

    def test_the_program_is_skipped_only_if_every_case_was_skipped_on_every_rank(self):
        self.assertEqual(self.status("Skips"), 77)
        self.assertEqual(self.status("SkipsOnTheFirstRank"), 0)
        self.assertEqual(self.status("Skips", "Passes"), 0)

    def test_a_program_without_cases_fails(self):
        self.assertEqual(self.status("Missing"), 1)


if __name__ == "__main__":
    unittest.main()
