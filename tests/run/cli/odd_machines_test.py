"""Machines on which something is not as usual: a node without the shared file system, a clock that is set during the run,
a file system without free inodes."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import VOXHERD, files_below, run

CLOCK = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "clock_jump.so")
if not os.path.exists(CLOCK) or not shutil.which("mpirun"):
    print("skipped: needs mpirun, and clock_jump.so in the folder named by VOXHERD_TEST_TOOLS")
    sys.exit(77)

MISSING, DISK, SKIPPED = 66, 74, 77
SECONDS = 60
# In namespaces of its own, so that the mount ends with it.
FEW_INODES = """mount -t tmpfs -o size=64m,nr_inodes="$2" tmpfs "$1" || exit 77
shift 2; "$@"; status=$?; ls -A "$0" >&2; exit $status"""


class OddMachines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="voxherd_odd_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.phantom = os.path.join(self.folder, "phantom")
        run("phantom", "dwi", "--preset", "toy", "--out", self.phantom)

    def words(self, out, dwi="data.nii"):
        p = self.phantom
        return ["tensor", "--dwi", dwi, "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs", "--mask",
                f"{p}/nodif_brain_mask.nii.gz", "--batch", "100", "--threads", "1", "--quiet", "--out", out]

    def test_an_input_that_one_rank_does_not_see_is_named_once(self):
        results = os.path.join(self.folder, "results")
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(results)
        os.mkdir(elsewhere)
        words = [VOXHERD, *self.words(os.path.join(results, "out.h5"))]
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", *words, ":", "-wdir", elsewhere, "-n", "1", *words],
                              capture_output=True, text=True, timeout=SECONDS, cwd=self.phantom)
        self.assertEqual(done.returncode, MISSING, done.stderr)
        errors = [line for line in done.stderr.splitlines() if line.startswith("voxherd: error:")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn("data.nii", errors[0])
        self.assertEqual(files_below(results), [])

    def test_a_clock_that_goes_back_by_a_day_changes_nothing(self):
        results = [os.path.join(self.folder, name) for name in ("usual.h5", "jumped.h5")]
        for ranks in (1, 3):
            for out, environment in zip(results, ({}, {"LD_PRELOAD": CLOCK})):
                words = [VOXHERD, *self.words(out, f"{self.phantom}/data.nii"), "--overwrite"]
                launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
                done = subprocess.run([*launch, "env", *(f"{k}={v}" for k, v in environment.items()), *words],
                                      capture_output=True, text=True, timeout=SECONDS)
                self.assertEqual(done.returncode, 0, done.stderr)
            run("compare", *results)
            run("verify", results[1])
            printed = run("info", results[1]).stdout
            self.assertRegex(printed, r"\nrun +\d+\.\d s on")  # no negative time

    def test_a_file_system_without_free_inodes_ends_with_status_74(self):
        place = os.path.join(self.folder, "results")
        os.mkdir(place)
        ends = set()
        for inodes in range(1, 6):  # one is the folder's own
            words = [VOXHERD, *self.words(os.path.join(place, "out.h5"), f"{self.phantom}/data.nii")]
            done = subprocess.run(["unshare", "--mount", "sh", "-c", FEW_INODES, place, place, str(inodes), *words],
                                  capture_output=True, text=True, timeout=SECONDS)
            if done.returncode == SKIPPED or "unshare failed" in done.stderr:
                self.skipTest("needs root: a file system with a limit of inodes")
            errors = [line for line in done.stderr.splitlines() if line.startswith("voxherd: error:")]
            self.assertIn(done.returncode, (0, DISK), done.stderr)
            self.assertEqual(len(errors), int(done.returncode == DISK), done.stderr)
            left = [line for line in done.stderr.splitlines() if line.startswith("out.h5")]
            self.assertEqual(left, ["out.h5"] if done.returncode == 0 else [], done.stderr)
            ends.add(done.returncode)
        self.assertEqual(ends, {0, DISK})


if __name__ == "__main__":
    unittest.main()
