"""voxherd perfusion gives the same bytes on any number of ranks, and when it is killed, stopped and resumed."""
import os
import signal
import time
import unittest

import numpy as np
from kill_and_resume import KillAndResume
from perfusion_jobs import PerfusionJobs, write_nifti
from toy_jobs import digest, rank_processes, voxherd, wait_for_batches

USAGE = 2
PROGRAM = "voxherd"


class Ranks(PerfusionJobs):
    def digests(self, out):
        with open(out.removesuffix(".h5") + ".curves.csv", "rb") as file:
            return digest(out), file.read()

    def test_any_number_of_ranks_and_any_batch_size_gives_the_same_bytes(self):
        noise = np.random.default_rng(3).normal(0, 0.02, self.study.concentration.shape)
        self.study.save("noisy.nii", self.study.concentration + noise)
        for options in ((), ("--delays", "two-stage", "--delay-window", "1"), ("--solver", "simplex", "--discretisation",
                                                                              "paper"), ("--precision", "float")):
            expected = None
            for ranks, more in ((1, ()), (2, ()), (3, ("--batch", "7")), (5, ("--schedule", "static", "--batch", "32"))):
                out = self.path("out.h5")
                rc, output = self.launch(out, "--overwrite", *options, *more, ranks=ranks, scan=self.study.words("noisy.nii"))
                self.assertEqual(rc, 0, output)
                expected = expected or self.digests(out)
                self.assertEqual(self.digests(out), expected, f"{ranks} ranks, {options}")

    def test_the_number_of_threads_does_not_change_the_result(self):
        one, two = self.path("one.h5"), self.path("two.h5")
        self.assertEqual(self.launch(one)[0], 0)
        self.assertEqual(self.launch(two, threads=2)[0], 0)
        self.assertEqual(digest(one), digest(two))


class KilledRuns(KillAndResume, PerfusionJobs):
    """On enough voxels, by a slow enough solver, for the run to be caught at work."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        s = cls.study
        tiles = (6, 6, 12)
        series = np.tile(s.concentration[..., 1:, :], (*tiles, 1))
        series += np.random.default_rng(4).normal(0, 0.02, series.shape)
        s.save("large.nii", series)
        s.save("large_mask.nii", np.ones(series.shape[:3]))
        cls.scan = ("--dynamic", s.path("large.nii"), "--times", s.path("times.txt"), "--mask", s.path("large_mask.nii"),
                    "--curves", s.path("inputs.csv"))
        cls.expected = None

    options = ("--solver", "simplex", "--discretisation", "paper", "--resume", "--batch", "400")

    def reference(self):
        if not self.expected:
            start = time.time()
            out = self.path("reference.h5")
            rc, output = self.launch(out, *self.options, scan=self.scan)
            self.assertEqual(rc, 0, output)
            type(self).expected, type(self).seconds = digest(out), time.time() - start
        return self.expected

    def resume_and_compare(self, out, ranks):
        rc, output = self.launch(out, *self.options, ranks=ranks, scan=self.scan)
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), self.reference())
        self.assertEqual(voxherd("verify", out)[0], 0)
        self.assertTrue(os.path.exists(out.removesuffix(".h5") + ".curves.csv"))

    def test_after_kill_9_at_any_time_another_rank_count_gives_the_same_bytes(self):
        self.reference()
        self.kill_at_random_times(lambda ranks, out: self.begin(ranks, out, *self.options, scan=self.scan),
                                  self.resume_and_compare, self.seconds)

    def test_sigterm_ends_with_status_75_and_the_run_is_resumed(self):
        out = self.path("stopped.h5")
        job = self.begin(2, out, *self.options, scan=self.scan)
        wait_for_batches(out, 2)
        os.kill(rank_processes(job, PROGRAM)[1], signal.SIGTERM)
        output = job.communicate(timeout=120)[1]
        self.assertEqual(job.returncode, 75, output)
        self.assertEqual(output.count("--resume"), 1, output)
        self.assertEqual(voxherd("verify", out + ".part")[0], 0)
        self.resume_and_compare(out, 3)

    def test_a_moved_list_of_images_is_the_same_study_and_a_changed_one_is_not(self):
        def words():
            frames = [self.path(f"{self.place}/{i:02}.nii") for i in range(48)]
            return ("--dynamic", *frames, *self.study.words(vois=False)[2:])

        self.place = "here"
        os.mkdir(self.path("here"))
        for i in range(48):
            write_nifti(self.path(f"here/{i:02}.nii"), self.study.concentration[..., i])
        out = self.path("list.h5")
        self.assertEqual(self.launch(out, scan=words())[0], 0)
        os.rename(self.path("here"), self.path("there"))
        self.place = "there"
        rc, output = self.launch(out, "--resume", scan=words())
        self.assertEqual(rc, 0, output)
        self.assertIn("is already complete", output)
        write_nifti(self.path("there/30.nii"), self.study.concentration[..., 30] + 0.001)
        rc, output = self.launch(out, "--resume", scan=words())
        self.assertEqual(rc, USAGE, output)
        self.assertIn("a different study", output)

    def test_a_different_study_is_not_resumed(self):
        out = self.path("other.h5")
        rc, output = self.launch(out, *self.options, scan=self.scan)
        self.assertEqual(rc, 0, output)
        rc, output = self.launch(out, *self.options, "--iterations", "50", scan=self.scan)
        self.assertEqual(rc, USAGE, output)
        self.assertIn("iterations: 600 in the file, 50 now", output)
        rc, output = self.launch(out, *self.options, scan=self.scan)
        self.assertEqual(rc, 0, output)
        self.assertIn("is already complete", output)


if __name__ == "__main__":
    unittest.main()
