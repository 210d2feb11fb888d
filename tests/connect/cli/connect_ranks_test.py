"""voxherd connect on any number of ranks, killed, stopped and resumed: the same bytes."""
import os
import signal
import subprocess
import time
import unittest
import unittest.mock

import numpy as np
from connect_jobs import ConnectJobs, Maps
from kill_and_resume import KillAndResume
from toy_jobs import VOXHERD, digest, rank_processes, stores_from_the_start, voxherd, wait_for_batches

USAGE = 2
PROGRAM = "voxherd"


class Ranks(ConnectJobs):
    def test_any_number_of_ranks_and_any_batch_gives_the_same_bytes(self):
        for options in (self.end_regions(1, 2), ("--connectome", self.ends)):
            expected = None
            for ranks, more in ((1, ()), (2, ()), (3, ("--batch", "5")), (5, ("--schedule", "static"))):
                names = [self.path(f"{n}.h5") for n in ("out", "paths", "arrivals")]
                rc, output = self.launch(names[0], *options, "--overwrite", "--paths", names[1], "--arrivals", names[2],
                                       *more, ranks=ranks)
                self.assertEqual(rc, 0, output)
                digests = [digest(name) for name in names]
                expected = expected or digests
                self.assertEqual(digests, expected, f"{ranks} ranks")

    def test_arrival_times_that_are_not_kept_stored_late_or_not_at_all_give_the_same_bytes(self):
        for n, options in enumerate((self.end_regions(1, 2), ("--connectome", self.ends))):
            kept = self.path(f"kept{n}.h5")
            rc, output = self.launch(kept, *options, "--arrivals", self.path(f"arrivals{n}.h5"))
            self.assertEqual(rc, 0, output)
            for ranks, seconds in ((1, "10"), (2, "10"), (3, "0"), (2, "0.001")):
                out = self.path(f"out{n}.h5")
                with unittest.mock.patch.dict(os.environ, VOXHERD_UNSTORED_SECONDS=seconds):
                    rc, output = self.launch(out, *options, "--overwrite", "--batch", "1", ranks=ranks)
                self.assertEqual(rc, 0, output)
                self.assertEqual(digest(out), digest(kept), f"{ranks} ranks, {seconds} s")
                self.assertEqual([name for name in self.remaining_files() if name.startswith(f"out{n}.h5.")], [])

    def test_kept_arrival_times_are_used_again(self):
        options = ("--connectome", self.ends, "--arrivals", self.path("arrivals.h5"))
        expected = digest(self.make("all.h5", *options))
        os.remove(self.path("all.h5"))
        before = os.stat(self.path("arrivals.h5"))
        for ranks in (1, 3):
            rc, output = self.launch(self.path(f"again{ranks}.h5"), *options, "--resume", ranks=ranks)
            self.assertEqual(rc, 0, output)
            self.assertEqual(digest(self.path(f"again{ranks}.h5")), expected)
        self.assertEqual(os.stat(self.path("arrivals.h5")).st_mtime_ns, before.st_mtime_ns)

    def test_every_scheme_gives_the_same_bytes_on_two_ranks(self):
        for scheme in (("selling", "--order", "1"), ("hl26",), ("godunov27",)):
            one, two = (self.make(f"{scheme[0]}{n}.h5", "--connectome", self.ends, "--scheme", *scheme, ranks=n)
                        for n in (1, 2))
            self.assertEqual(digest(one), digest(two))
            self.assertTrue(np.isfinite(Maps(one).connectome["cost"]).all(), scheme)

    def test_gain_compares_costs_with_those_of_equal_speeds(self):
        one, three = (self.make(f"gain{n}.h5", "--connectome", self.ends, "--gain", ranks=n) for n in (1, 3))
        self.assertEqual(digest(one), digest(three))
        isotropic = Maps(self.make("isotropic.h5", "--connectome", self.ends, "--max-ratio", "1")).connectome
        plain, found = Maps(self.make("plain.h5", "--connectome", self.ends)).connectome, Maps(one).connectome
        np.testing.assert_array_equal(found["cost"], plain["cost"])
        np.testing.assert_array_equal(found["isotropic_cost"], isotropic["cost"])
        both = lambda costs: costs + costs.T
        ratio = np.zeros(found["cost"].shape)
        pairs = ~np.eye(len(ratio), dtype=bool)
        ratio[pairs] = both(found["isotropic_cost"])[pairs] / both(found["cost"])[pairs]
        best = ratio.max(1)
        np.testing.assert_allclose(found["gain"], ratio / np.maximum(best[:, None], best[None]), rtol=1e-6)
        self.assertEqual(self.launch(self.path("ends.h5"), *self.end_regions(1, 2), "--gain")[0], USAGE)


class KilledRuns(KillAndResume, ConnectJobs):
    """On a phantom large enough for each step to be caught at work."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.toy = os.path.join(cls.shared, "large")
        subprocess.run([VOXHERD, "phantom", "dwi", "--preset", "toy", "--size", "40x40x24", "--threads", "1", "--out",
                        cls.toy], check=True, capture_output=True, timeout=120)
        cls.ends = os.path.join(cls.toy, "truth", "ends.nii.gz")
        cls.expected = None

    def options(self, out):
        return ("--connectome", self.ends, "--scheme", "hl26", "--paths", out + ".fibres", "--resume")

    def reference(self):
        if not self.expected:
            start = time.time()
            out = self.path("reference.h5")
            rc, output = self.launch(out, *self.options(out))
            self.assertEqual(rc, 0, output)
            type(self).expected = (digest(out), digest(out + ".fibres"))
            type(self).seconds = time.time() - start
        return self.expected

    def resume_and_compare(self, out, ranks):
        rc, output = self.launch(out, *self.options(out), ranks=ranks)
        self.assertEqual(rc, 0, output)
        self.assertEqual((digest(out), digest(out + ".fibres")), self.reference())
        for name in (out, out + ".fibres"):
            self.assertEqual(voxherd("verify", name)[0], 0)
        self.assertFalse(os.path.exists(out + ".arrivals"))

    def test_kill_9_at_any_time_then_another_rank_count_gives_the_same_bytes(self):
        self.reference()
        self.kill_at_random_times(lambda ranks, out: self.begin(ranks, out, *self.options(out)),
                                  self.resume_and_compare, self.seconds)

    @stores_from_the_start()
    def test_kill_9_at_any_time_of_a_run_that_stores_its_arrival_times_gives_the_same_bytes(self):
        self.test_kill_9_at_any_time_then_another_rank_count_gives_the_same_bytes()

    @stores_from_the_start()
    def test_sigterm_in_each_step_ends_with_status_75_and_is_resumed(self):
        out = self.path("stopped.h5")
        # Batches small enough that many are left when the signal arrives. The last step has none: rank 0 writes its maps.
        for name in (out + ".arrivals", out + ".fibres"):
            job = self.begin(2, out, *self.options(out), "--batch", "1")
            wait_for_batches(name, 2)
            os.kill(rank_processes(job, PROGRAM)[1], signal.SIGTERM)
            output = job.communicate(timeout=120)[1]
            self.assertEqual(job.returncode, 75, output)
            self.assertEqual(output.count("--resume"), 1, output)
            self.assertEqual(voxherd("verify", name + ".part")[0], 0)
        self.resume_and_compare(out, 3)

    def test_a_different_study_is_not_resumed(self):
        out = self.path("other.h5")
        rc, output = self.launch(out, *self.options(out))
        self.assertEqual(rc, 0, output)
        rc, output = self.launch(out, *self.options(out), "--alpha", "2")
        self.assertEqual(rc, USAGE, output)
        self.assertIn("alpha: 3.0 in the file, 2.0 now", output)
        rc, output = self.launch(out, *self.options(out))
        self.assertEqual(rc, 0, output)
        self.assertIn("is already complete", output)


if __name__ == "__main__":
    unittest.main()
