"""A pipe in place of a file is refused at once, by every command that reads files: nobody may ever write to it."""
import os
import subprocess
import unittest

from toy_jobs import VOXHERD, ToyJobs, run

MISSING = 66


class Pipes(ToyJobs):
    def test_a_pipe_is_no_input(self):
        pipe, result = self.path("pipe"), self.path("o.h5")
        os.mkfifo(pipe)
        self.assertEqual(run(1, result)[0], 0)
        subprocess.run([VOXHERD, "phantom", "dwi", "--size", "6x5x4", "--out", self.path("p")], check=True, timeout=60)
        for words in (["info", pipe], ["verify", pipe], ["report", pipe], ["view", pipe], ["compare", pipe, result],
                      ["compare", result, pipe], ["export", "--to", "nifti", pipe, self.path("folder")], ["cohort", pipe],
                      ["phantom", "score", pipe, "--truth", self.path("p")], ["view", result, "--scene", pipe],
                      ["tensor", "--dwi", pipe, "--bvals", pipe, "--bvecs", pipe, "--out", self.path("t.h5")],
                      ["track", "--samples", pipe, "--seed-image", pipe, "--out", self.path("t.h5")]):
            with self.subTest(words=words):
                done = subprocess.run([VOXHERD, *words], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, MISSING, done.stderr)
                self.assertIn("regular file", done.stderr)

    def test_a_removed_current_folder_is_named(self):
        gone = self.path("gone")
        os.mkdir(gone)
        words = ["sh", "-c", 'cd "$0" && rmdir "$0" && "$@"', gone, os.path.abspath(VOXHERD)]
        for command, status in ((["info", "o.h5"], MISSING), (["--version"], 0)):
            os.makedirs(gone, exist_ok=True)
            done = subprocess.run([*words, *command], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual("the current folder: No such file or directory; change to" in done.stderr, status != 0)


if __name__ == "__main__":
    unittest.main()
