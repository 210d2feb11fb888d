"""A job of which a rank never starts MPI, or dies before it does, ends within a limit with one message."""
import os
import signal
import subprocess
import unittest

from toy_jobs import TOY, ToyJobs, digest, mpirun, remaining_output, toy_words

# Rank $1 does $2 instead of starting the program.
SCRIPT = 'if [ "$OMPI_COMM_WORLD_RANK" = "$1" ]; then eval "$2"; fi; shift 2; exec "$@"'
LIMIT = {**os.environ, "VOXHERD_START_SECONDS": "2"}


class Starts(ToyJobs):
    def start(self, rank, what, out):
        """The status, or that of SIGKILL where mpirun deadlocked after its ranks had ended; and the messages."""
        words = mpirun(3, "sh", "-c", SCRIPT, "sh", rank, what, *toy_words(out))
        job = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=LIMIT)
        messages = [line for line in remaining_output(job).splitlines() if line.startswith("voxherd: error:")]
        return job.returncode, messages

    def test_a_rank_that_does_not_start_mpi_ends_the_job_with_one_message(self):
        for rank in (0, 2):
            for what in ("exec sleep 1000", "kill -STOP $$"):
                with self.subTest(rank=rank, what=what):
                    out = self.path("never.h5")
                    rc, messages = self.start(rank, what, out)
                    self.assertIn(rc, (75, -signal.SIGKILL), messages)
                    self.assertEqual(len(messages), 1, messages)
                    self.assertIn("MPI has not started after 2 s", messages[0])
                    self.assertEqual(os.listdir(self.folder), [])

    def test_a_rank_that_is_killed_before_mpi_starts_ends_the_job(self):
        rc, messages = self.start(1, "kill -KILL $$", self.path("never.h5"))
        self.assertIn(rc, (75, 137, -signal.SIGKILL), messages)

    def test_the_limit_does_not_count_for_the_computation(self):
        out = self.path("slow.h5")
        words = mpirun(2, *toy_words(out, "--batch", 400, "--slowest-ms", 4000))  # about 8 s
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120,
                              env={**os.environ, "VOXHERD_START_SECONDS": "5"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(digest(out), self.reference())


if __name__ == "__main__":
    unittest.main()
