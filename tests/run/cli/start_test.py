"""A job of which a rank never starts MPI, or dies before it does, ends within a limit with one message."""
import os
import subprocess
import unittest

from toy_jobs import TOY, ToyJobs, digest

# Rank $1 does $2 instead of starting the program.
SCRIPT = 'if [ "$OMPI_COMM_WORLD_RANK" = "$1" ]; then eval "$2"; fi; shift 2; exec "$@"'
LIMIT = {**os.environ, "VOXHERD_START_SECONDS": "2"}


class Starts(ToyJobs):
    def start(self, rank, what, out):
        words = ["mpirun", "--oversubscribe", "-n", "3", "sh", "-c", SCRIPT, "sh", str(rank), what, TOY, "toy", "--quiet",
                 "--threads", "1", "--out", out]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, env=LIMIT)
        return done.returncode, [line for line in done.stderr.splitlines() if line.startswith("voxherd: error:")]

    def test_a_rank_that_does_not_start_mpi_ends_the_job_with_one_message(self):
        for rank in (0, 2):
            for what in ("exec sleep 1000", "kill -STOP $$"):
                with self.subTest(rank=rank, what=what):
                    out = self.path("never.h5")
                    rc, messages = self.start(rank, what, out)
                    self.assertEqual(rc, 75, messages)
                    self.assertEqual(len(messages), 1, messages)
                    self.assertIn("MPI has not started after 2 s", messages[0])
                    self.assertEqual(os.listdir(self.folder), [])

    def test_a_rank_that_is_killed_before_mpi_starts_ends_the_job(self):
        rc, messages = self.start(1, "kill -KILL $$", self.path("never.h5"))
        self.assertIn(rc, (75, 137), messages)

    def test_the_limit_does_not_count_for_the_computation(self):
        out = self.path("slow.h5")
        words = [TOY, "toy", "--quiet", "--batch", "400", "--slowest-ms", "2000", "--out", out]  # about 8 s
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120,
                              env={**os.environ, "VOXHERD_START_SECONDS": "5"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(digest(out), self.reference())


if __name__ == "__main__":
    unittest.main()
