"""voxherd connect --bootstrap: intervals of costs; any number of ranks, killed and resumed, errors."""
import os
import signal
import subprocess
import unittest

import numpy as np
from connect_jobs import ConnectJobs, Maps
from toy_jobs import VOXHERD, digest, remaining_output, rank_processes, stores_from_the_start, voxherd, wait_for_batches

USAGE = 2
COLUMNS = ("cost_low", "cost_high", "cost_mean", "cost_sd", "cost_replicates")


class BootstrapJobs(ConnectJobs):
    def two(self):
        return self.end_regions(1, 2)

    def all(self):
        return ("--connectome", self.ends, "--labels", "1,2,3,4,5")

    def phantom(self, name, *options):
        folder = self.path(name)
        subprocess.run([VOXHERD, "phantom", "dwi", "--preset", "toy", "--threads", "1", "--out", folder, *options],
                       check=True, capture_output=True, timeout=60)
        return folder


class Intervals(BootstrapJobs):
    def test_two_regions_have_the_percentiles_of_the_replicates_about_their_cost(self):
        p = Maps(self.make("two.h5", *self.two(), "--bootstrap", "60", "--interval", "80")).pathway
        costs = p["replicate_cost"].astype(float)
        self.assertEqual(costs.shape, (60,))
        self.assertEqual(len(set(costs)), 60)
        low, high = np.percentile(costs, [10, 90])
        np.testing.assert_allclose([p["cost_low"][0], p["cost_high"][0]], [low, high], rtol=1e-6)
        np.testing.assert_allclose([p["cost_mean"][0], p["cost_sd"][0]], [costs.mean(), costs.std(ddof=1)], rtol=1e-6)
        self.assertEqual(p["cost_replicates"][0], 60)
        self.assertLess(abs(p["cost"][0] - costs.mean()), 3 * costs.std())

    def test_a_connectome_has_an_interval_for_each_pair_and_is_otherwise_the_same(self):
        plain = Maps(self.make("plain.h5", *self.all())).connectome
        c = Maps(self.make("all.h5", *self.all(), "--bootstrap", "40")).connectome
        for name in plain:
            np.testing.assert_array_equal(plain[name], c[name])
        self.assertEqual(set(c) - set(plain), set(COLUMNS))
        apart = ~np.eye(5, dtype=bool)
        for name in COLUMNS:
            self.assertEqual(c[name].shape, (5, 5))
            self.assertTrue((c[name][~apart] == (40 if name == "cost_replicates" else 0)).all(), name)
        self.assertTrue((c["cost_replicates"] == 40).all())
        self.assertTrue((c["cost_low"] < c["cost_mean"])[apart].all())
        self.assertTrue((c["cost_mean"] < c["cost_high"])[apart].all())
        self.assertTrue((np.abs(c["cost"] - c["cost_mean"])[apart] < 4 * c["cost_sd"][apart]).all())

    def test_intervals_narrow_with_the_noise_down_to_the_misfit(self):
        # A stick and a ball are not a tensor even without noise; one fibre and one shell keep the misfit small.
        deviation = []
        for i, noise in enumerate((("--noise", "none"), ("--snr", "100"), ("--snr", "20"))):
            scan = self.scan(self.phantom(f"phantom{i}", *noise, "--fibres", "1", "--bvalues", "1000"))
            c = Maps(self.make(f"{i}.h5", *self.all(), "--bootstrap", "30", scan=scan)).connectome
            apart = ~np.eye(5, dtype=bool)
            deviation.append(np.median(c["cost_sd"][apart] / c["cost"][apart]))
        self.assertGreater(deviation[0], 0)
        self.assertLess(deviation[0], 0.7 * deviation[1])
        self.assertLess(deviation[1], 0.4 * deviation[2])

    def test_another_seed_gives_other_replicates_and_more_replicates_begin_with_the_same(self):
        costs = [Maps(self.make(f"{i}.h5", *self.two(), *options)).pathway["replicate_cost"]
                 for i, options in enumerate((("--bootstrap", "5"), ("--bootstrap", "8"),
                                              ("--bootstrap", "5", "--random-seed", "1")))]
        np.testing.assert_array_equal(costs[0], costs[1][:5])
        self.assertEqual(set(costs[0]) & set(costs[2]), set())


class Jobs(BootstrapJobs):
    def test_any_number_of_ranks_and_any_batch_gives_the_same_bytes(self):
        options = (*self.all(), "--bootstrap", "9")
        one = digest(self.make("1.h5", *options))
        for ranks, more in ((2, ()), (3, ("--batch", "2", "--schedule", "static"))):
            self.assertEqual(one, digest(self.make(f"{ranks}.h5", *options, *more, ranks=ranks)))

    def test_a_kill_in_the_bootstrap_loses_none_of_its_finished_replicates(self):
        options = (*self.all(), "--bootstrap", "150")
        expected = digest(self.make("reference.h5", *options))
        out = self.path("killed.h5")
        with stores_from_the_start():
            job = self.begin(2, out, "--resume", *options)
        wait_for_batches(out + ".bootstrap", 5)
        os.kill(rank_processes(job, "voxherd")[1], signal.SIGKILL)
        remaining_output(job, "voxherd")
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(voxherd("verify", out + ".bootstrap.part")[0], 0)
        for other in (("--random-seed", "1"), ("--interval", "90")):
            rc, output = self.launch(out, "--resume", *options, *other)
            self.assertEqual(rc, USAGE, output)
            self.assertIn(other[0][2:] + ":", output)
        rc, output = self.launch(out, "--resume", *options)
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), expected)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("killed")], ["killed.h5"])


class Errors(BootstrapJobs):
    def refuse(self, words, *options, scan=None):
        rc, output = self.launch(self.path("refused.h5"), *self.two(), *options, scan=scan)
        self.assertEqual(rc, USAGE, output)
        self.assertIn(words, output)
        self.assertEqual(os.listdir(self.folder), [])

    def test_meaningless_options_are_rejected(self):
        self.refuse("--interval has no meaning without --bootstrap", "--interval", "90")
        self.refuse("--random-seed has no meaning without --bootstrap", "--random-seed", "3")
        self.refuse("--bootstrap 10001: expected 0 to 10000", "--bootstrap", "10001")
        self.refuse("--interval 100: expected 1 to 99.9", "--bootstrap", "5", "--interval", "100")
        self.refuse("--bootstrap resamples the diffusion-weighted series", "--bootstrap", "5",
                    scan=("--tensor", "tensor.h5"))


if __name__ == "__main__":
    unittest.main()
