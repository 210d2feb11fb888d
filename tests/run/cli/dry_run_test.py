"""A dry run can be stopped at any moment, and then has the status of a stopped run."""
import signal
import subprocess
import unittest

from toy_jobs import TOY, ToyJobs


def catches(pid, number):
    """Whether a process has a handler for a signal."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        caught = next(line for line in file if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


class DryRun(ToyJobs):
    def test_a_signal_ends_it_with_the_status_of_a_stopped_run(self):
        """The batch that it tries never ends."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with self.subTest(signal=number):
                job = subprocess.Popen([TOY, "toy", "--threads", "1", "--batch", "1000000", "--hang-at", "0", "--dry-run", "--out", self.path("o.h5")],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                while job.poll() is None:  # again: one that comes before the batch is only noted
                    if catches(job.pid, number):
                        job.send_signal(number)
                    try:
                        job.wait(.1)
                    except subprocess.TimeoutExpired:
                        pass
                output = job.communicate()[1]
                self.assertEqual(job.returncode, 75, output)
                self.assertIn("stopping on a signal", output)


if __name__ == "__main__":
    unittest.main()
