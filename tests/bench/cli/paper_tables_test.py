"""docs/papers/tables.py prints every file and draws every figure; a chart without matplotlib names the package."""
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=600)


class WithoutMatplotlib(unittest.TestCase):
    def test_a_chart_names_the_missing_package(self):
        code = ("import sys; sys.modules['matplotlib'] = None; sys.path.insert(0, sys.argv[1]); import figures; "
                "figures.line_chart('x.svg', '', '', '', {})")
        done = python("-c", code, os.path.join(ROOT, "bench", "scaling"))
        self.assertEqual((done.returncode, done.stderr), (1, "error: charts need matplotlib; install python3-matplotlib\n"))


class PaperTables(unittest.TestCase):
    """docs/papers/tables.py with every CSV file in its folder."""

    def tables(self, *words):
        done = python(os.path.join(ROOT, "docs", "papers", "tables.py"), *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def files(self):
        return sorted(glob.glob(os.path.join(ROOT, "docs", "papers", "**", "*.csv"), recursive=True))

    def test_every_file_has_a_title_and_prints(self):
        self.assertGreater(len(self.files()), 40)
        for path in self.files():
            with open(path, encoding="utf-8") as file:
                self.assertTrue(file.readline().startswith("# "), path)
        self.tables("print", *self.files())

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs python3-matplotlib")
    def test_every_figure_is_written(self):
        names = self.tables("list").split()
        with tempfile.TemporaryDirectory() as folder:
            self.tables("plot", folder)
            self.assertEqual(sorted(os.listdir(folder)), sorted(name + ".svg" for name in names))


if __name__ == "__main__":
    unittest.main()
