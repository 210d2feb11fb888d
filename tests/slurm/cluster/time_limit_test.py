"""The time limit: SLURM sends a signal before it, the ranks exit with 75, and the script requeues the job, which
resumes without user action until the result is complete."""
import contextlib
import os
import re
import signal
import unittest

from cluster import wait_until
from cluster_jobs import SCRIPTS, ClusterJobs, read, study, summary

MINUTE = ("--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1", "--time=1")
# The signal is sent this long (s) before the limit, or up to a minute earlier, according to the manual.
BEFORE = 10


def was_signalled(pid):
    """True if SIGUSR1 is pending for a stopped process. SLURM resumes the processes that srun started, which may
    have ended already."""
    masks = re.findall(r"(?m)^(?:SigPnd|ShdPnd):\s*(\w+)$", read(f"/proc/{pid}/status"))
    return not masks or any(int(mask, 16) >> (signal.SIGUSR1 - 1) & 1 for mask in masks)


def thaw(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


class TimeLimit(ClusterJobs):
    def begin(self, starter):
        target = "B:" if starter == "mpirun" else ""
        result = study(f"{starter}.h5")
        return result, self.submit(SCRIPTS[starter], study("subject"), result,
                                   options=(*MINUTE, f"--signal={target}USR1@{BEFORE}"))

    def freeze(self, job, result):
        """Stops the ranks when some batches are done and some are not, so that no machine finishes before a limit of
        one minute."""
        self.wait_for_batches(result, 4)
        ranks = [pid for _, pid in self.ranks(job)]
        self.assertEqual(len(ranks), 2)
        for pid in ranks:
            os.kill(pid, signal.SIGSTOP)
        return ranks

    def test_a_job_that_reaches_its_limit_is_requeued_and_completes(self):
        jobs = {starter: self.begin(starter) for starter in SCRIPTS}
        frozen = [pid for result, job in jobs.values() for pid in self.freeze(job, result)]
        wait_until("a signal to every rank", lambda: all(map(was_signalled, frozen)), seconds=120)
        for pid in frozen:
            thaw(pid)
        for starter, (result, job) in jobs.items():
            with self.subTest(starter):
                self.assertEqual(self.wait_for_end(job), "COMPLETED", self.job_output(job))
                self.assertGreaterEqual(int(self.fields(job)["Restarts"]), 1, self.job_output(job))
                self.assert_complete_and_identical(result, job)
                self.assertGreaterEqual(summary(result)["resumed_batches"], 4)


if __name__ == "__main__":
    unittest.main()
