"""Killed, interrupted or failed runs keep all finished batches, and --resume completes them."""
import json
import os
import random
import signal
import time
import unittest

from kill_and_resume import KillAndResume
from toy_jobs import (ToyJobs, begin, digest, kill_any, rank_processes, remaining_output, run, voxherd, wait_for_batches,
                      wait_for_ranks)

SLOW = ("--batch", 40, "--slowest-ms", 40)  # 64 batches, about 1.4 s of work


class KilledRuns(KillAndResume, ToyJobs):
    program = "toy_run"

    def resume_and_compare(self, out, ranks):
        if os.path.exists(out):
            self.assertEqual(digest(out), self.expected)
        rc, output = run(ranks, out, "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), self.expected)
        self.assertEqual(voxherd("verify", out)[0], 0)

    def test_kill_9_of_any_rank_at_any_time_then_another_rank_count_gives_the_same_bytes(self):
        self.expected = self.reference()
        self.kill_at_random_times(lambda ranks, out: begin(ranks, out, "--resume", *SLOW), self.resume_and_compare, 0.6,
                                  rank_counts=(1, 2, 3, 5), attempts=4, kills=3)

    def test_finished_batches_are_not_repeated(self):
        out = self.path("killed.h5")
        job = begin(2, out, *SLOW)
        wait_for_batches(out, 20)
        os.kill(rank_processes(job)[0], signal.SIGKILL)
        remaining_output(job)
        self.assertNotEqual(job.returncode, 0)
        table = self.path("times.json")
        rc, output = run(3, out, "--resume", "--json", table)
        self.assertEqual(rc, 0, output)
        with open(table) as f:
            self.assertGreaterEqual(json.load(f)["resumed_batches"], 20)


class Signals(ToyJobs):
    def test_a_signal_ends_the_wait_for_a_slow_rank(self):
        out = self.path("waiting.h5")
        # The last batch of the slow rank takes 3 s; the other rank is idle and waits for it.
        job = begin(2, out, "--batch", 400, "--slowest-ms", 300, "--slow-rank", 1)
        wait_for_batches(out, 5)
        os.kill(rank_processes(job)[0], signal.SIGTERM)
        output = job.communicate(timeout=60)[1]
        self.assertIn(job.returncode, (0, 75), output)
        rc, output = run(3, out, "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), self.reference())

    def stopped_by(self, number, ranks, to_mpirun=False):
        out = self.path("stopped.h5")
        job = begin(ranks, out, *SLOW)
        wait_for_batches(out, 5)
        os.kill(job.pid if to_mpirun else rank_processes(job)[-1], number)
        output = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, 75, output)
        self.assertEqual(output.count("--resume"), 1, output)
        self.assertEqual(voxherd("verify", out + ".part")[0], 0)
        rc, output = run(2, out, "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), self.reference())

    def test_sigterm_to_the_last_rank_stops_all_ranks_with_status_75(self):
        self.stopped_by(signal.SIGTERM, 3)

    def test_sigint_to_a_single_rank_stops_it_with_status_75(self):
        self.stopped_by(signal.SIGINT, 1)

    def test_sigusr1_forwarded_by_mpirun_stops_all_ranks_with_status_75(self):
        self.stopped_by(signal.SIGUSR1, 2, to_mpirun=True)


class Failures(ToyJobs):
    def test_a_failed_batch_ends_all_ranks_with_one_message_and_keeps_the_others(self):
        expected = self.reference()
        for ranks in (1, 3):
            out = self.path(f"broken{ranks}.h5")
            rc, output = run(ranks, out, "--break-at", 30, *SLOW)
            self.assertEqual(rc, 70, output)
            self.assertEqual(output.count("voxherd: error: the toy broke"), 1, output)
            rc, output = run(2, out, "--resume")
            self.assertEqual(rc, 0, output)
            self.assertEqual(digest(out), expected)

    def test_a_lost_device_has_its_own_exit_status_and_the_run_can_be_resumed(self):
        expected = self.reference()
        for ranks in (1, 3):
            out = self.path(f"lost{ranks}.h5")
            rc, output = run(ranks, out, "--break-at", 30, "--lose-device", *SLOW)
            self.assertEqual(rc, 71, output)
            self.assertEqual(output.count("voxherd: error: the toy lost its device"), 1, output)
            rc, output = run(2, out, "--resume")
            self.assertEqual(rc, 0, output)
            self.assertEqual(digest(out), expected)

    def test_a_failure_or_a_kill_ends_the_job_while_ranks_wait_for_a_slow_one(self):
        expected = self.reference()
        # There are few batches, and the slow rank keeps one for long: the others are idle and wait.
        slow = ("--batch", 400, "--slowest-ms", 100, "--slow-rank", 1)
        out = self.path("slow.h5")
        rc, output = run(3, out, "--break-at", 6, *slow)
        self.assertEqual(rc, 70, output)
        job = begin(3, out, "--resume", *slow)
        ranks = wait_for_ranks(job, 3)
        time.sleep(0.3)
        if ranks and job.poll() is None:
            kill_any(ranks[:1], random)
        remaining_output(job)
        rc, output = run(2, out, "--resume", *slow)
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), expected)

    def test_two_jobs_never_write_the_same_result(self):
        out = self.path("both.h5")
        first = begin(2, out, "--batch", 40, "--slowest-ms", 1000)
        wait_for_batches(out, 1)
        for option in ("--resume", "--overwrite"):
            rc, output = run(2, out, option)
            self.assertEqual(rc, 2, output)
            self.assertEqual(output.count("another job is writing it"), 1, output)
        os.kill(rank_processes(first)[0], signal.SIGTERM)
        output = first.communicate(timeout=60)[1]
        self.assertEqual(first.returncode, 75, output)

    def test_a_truncated_file_is_reported_as_unreadable(self):
        out = self.path("cut.h5")
        job = begin(2, out, *SLOW)
        wait_for_batches(out, 5)
        os.kill(rank_processes(job)[0], signal.SIGKILL)
        remaining_output(job)
        os.truncate(out + ".part", 5000)
        rc, output = run(2, out, "--resume")
        self.assertEqual(rc, 65, output)
        self.assertEqual(output.count("voxherd: error:"), 1, output)


if __name__ == "__main__":
    unittest.main()
