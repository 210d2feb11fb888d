"""An input that is rewritten in place during a run: an error that names it, and no result that mixes two versions."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from program import VOXHERD, files_below, run

DISK, INTERRUPTED = 74, 75
LONG = ("--burn-in", "3000", "--jumps", "100", "--sample-every", "25")  # seconds, after the inputs have been read


class ChangedInputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.phantom = os.path.join(cls.scratch.name, "phantom")
        run("phantom", "dwi", "--preset", "toy", "--out", cls.phantom)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.scratch.name)
        self.results = os.path.join(self.folder, "results")
        os.mkdir(self.results)
        for name in ("data.nii", "bvals", "bvecs", "nodif_brain_mask.nii.gz"):
            shutil.copy(os.path.join(self.phantom, name), self.folder)

    def at(self, name):
        return os.path.join(self.folder, name)

    def begin(self, ranks=1, options=LONG):
        """A run that has read its inputs and has not finished."""
        launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        job = subprocess.Popen([*launch, VOXHERD, "ballstick", "--dwi", self.at("data.nii"), "--bvals", self.at("bvals"),
                                "--bvecs", self.at("bvecs"), "--mask", self.at("nodif_brain_mask.nii.gz"), "--backend", "cpu",
                                "--threads", "1", "--batch", "64", *options, "--out", os.path.join(self.results, "a.h5")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        deadline = time.monotonic() + 60
        while "a.h5.part" not in os.listdir(self.results):
            self.assertIsNone(job.poll(), "the run ended before its inputs were changed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return job

    def rewrite(self, name):
        """Replaces the second half of the file by other bytes; its size and its time stay the same."""
        path = self.at(name)
        times = os.stat(path)
        with open(path, "r+b") as file:
            file.seek(times.st_size // 2)
            rest = file.read()
            file.seek(times.st_size // 2)
            file.write(rest[::-1])
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def end(self, job):
        output = job.communicate(timeout=120)[1]
        return job.returncode, [line for line in output.splitlines() if line.startswith("voxherd: error:")], output

    def assert_refused(self, job, name):
        status, errors, output = self.end(job)
        self.assertEqual(status, DISK, output)
        self.assertEqual(len(errors), 1, output)
        self.assertIn(f"{self.at(name)}: was changed during the run", errors[0])
        self.assertIn("a.h5.part may contain both versions and was removed", errors[0])
        self.assertEqual(files_below(self.results), [])

    def test_a_rewritten_series_is_an_error_at_the_end(self):
        for ranks in (1, 3):
            job = self.begin(ranks, ("--burn-in", "1000", "--jumps", "25", "--sample-every", "25"))
            self.rewrite("data.nii")
            self.assert_refused(job, "data.nii")

    def test_a_stopped_run_leaves_nothing_that_could_be_resumed_with_the_restored_input(self):
        for name in ("data.nii", "bvals"):
            job = self.begin()
            self.rewrite(name)
            job.send_signal(signal.SIGTERM)
            self.assert_refused(job, name)
            self.rewrite(name)

    def test_a_touched_input_changes_nothing(self):
        job = self.begin()
        for name in ("data.nii", "bvals"):
            os.utime(self.at(name))
        job.send_signal(signal.SIGTERM)
        status, _, output = self.end(job)
        self.assertEqual(status, INTERRUPTED, output)
        self.assertEqual(files_below(self.results), ["a.h5.part"])


if __name__ == "__main__":
    unittest.main()
