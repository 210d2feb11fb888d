"""The time limit: SLURM signals before it, the ranks leave with 75, the script requeues its job, which goes on by itself
until the result is whole."""
import contextlib
import os
import re
import signal
import unittest

from cluster import wait_until
from cluster_jobs import SCRIPTS, ClusterJobs, read, study, summary

MINUTE = ("--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1", "--time=1")
# The signal comes this long (s) before the limit, or up to a minute sooner, as its manual says.
BEFORE = 10


def was_signalled(pid):
    """Whether SIGUSR1 waits for a frozen process. SLURM thaws those that srun started, which may be gone by now."""
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
        """Some batches are done, some are not, and so it stays: no machine is too fast for a limit of a minute."""
        self.wait_for_batches(result, 4)
        ranks = [pid for _, pid in self.ranks(job)]
        self.assertEqual(len(ranks), 2)
        for pid in ranks:
            os.kill(pid, signal.SIGSTOP)
        return ranks

    def test_a_job_that_meets_its_limit_comes_back_and_ends_by_itself(self):
        jobs = {starter: self.begin(starter) for starter in SCRIPTS}
        frozen = [pid for result, job in jobs.values() for pid in self.freeze(job, result)]
        wait_until("a signal to every rank", lambda: all(map(was_signalled, frozen)), seconds=120)
        for pid in frozen:
            thaw(pid)
        for starter, (result, job) in jobs.items():
            with self.subTest(starter):
                self.assertEqual(self.wait_for_end(job), "COMPLETED", self.said(job))
                self.assertGreaterEqual(int(self.fields(job)["Restarts"]), 1, self.said(job))
                self.assert_whole_and_same(result, job)
                self.assertGreaterEqual(summary(result)["resumed_batches"], 4)


if __name__ == "__main__":
    unittest.main()
