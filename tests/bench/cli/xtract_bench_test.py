"""bench/xtract.py runs XTRACT's script on a phantom, checks its tracts and prints the times."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCRIPT = os.path.join(ROOT, "bench", "xtract.py")
FOLDER = os.path.join(os.environ.get("VOXHERD_DATA", ""), "pipelines", "xtract")
if not os.path.isfile(os.path.join(FOLDER, "xtract")):
    print(f"skipped: no {FOLDER}/xtract")
    sys.exit(77)

spec = importlib.util.spec_from_file_location("xtract_bench", SCRIPT)
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)


class Xtract(unittest.TestCase):
    def test_there_are_42_tracts_with_seeds_and_targets(self):
        tracts = bench.protocols()
        self.assertEqual(len(tracts), 42)
        self.assertTrue(all({"seed", "target1"} <= set(masks) for masks, _ in tracts.values()))
        self.assertEqual({mark for _, mark in tracts.values()}, {"", "invert", "wayorder"})

    def test_runs_the_script_needs_only_python_and_prints_times(self):
        work = tempfile.mkdtemp(prefix="voxherd_xtract_")
        self.addCleanup(shutil.rmtree, work)
        command = [sys.executable, "-IS", SCRIPT, os.path.dirname(os.environ["VOXHERD"]), work, "--preset", "toy", "--phantom",
                   "--fibres 2", "--bedpostx", "-n 2 -b 200 -j 200 -s 10 -model 1", "--samples", "20", "--tracts", "7", "--scripts",
                   FOLDER]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^bedpostx_gpu: [\d.]+ s\nxtract: ([\d.]+) s, of which 8 calls of probtrackx2_gpu took ([\d.]+) s "
                         r"\(longest [\d.]+ s\); 7 tracts, \d+ streamlines arrived\nvoxherd track --tracts protocols: [\d.]+ s\n"
                         r"voxherd track --tracts standard_protocols: [\d.]+ s\n$")
        whole, tracker = map(float, re.findall(r"(?:xtract:|probtrackx2_gpu took) ([\d.]+) s", done.stdout))
        self.assertLess(tracker, whole)
        with open(os.path.join(work, "xtract", "tracts", "bundle1_1", "waytotal"), "w") as file:
            file.write("0")
        study = bench.Study(type("args", (), {"build": "", "work": work}))
        with self.assertRaisesRegex(SystemExit, "bundle1_1: 0 streamlines arrived"):
            study.check(dict(list(bench.protocols().items())[:1]))


if __name__ == "__main__":
    unittest.main()
