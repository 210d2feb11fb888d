"""voxherd ballstick --fibre-odds: choices follow the gains of the log likelihood, any ranks give the same bytes, BIDS says what was done."""
import json
import os
import shutil
import tempfile
import unittest

import numpy as np
from result_files import digest, h5py
from toy_jobs import voxherd

USAGE = 2


class FibreOdds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.must("phantom", "dwi", "--size", "6x6x8", "--crossings", "60,90", "--fibres", "3", "--snr", "15", "--out", self.path("data"))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def must(self, *words, ranks=0):
        rc, _, error = voxherd(*words, ranks=ranks)
        self.assertEqual(rc, 0, error)

    def fit(self, name, *options, ranks=0):
        data = [word for o, file in (("dwi", "data.nii"), ("bvals", "bvals"), ("bvecs", "bvecs"))
                for word in (f"--{o}", self.path("data", file))]
        self.must("ballstick", *data, "--mask", self.path("data", "nodif_brain_mask.nii.gz"), "--threads", "1", "--backend", "cpu",
                  "--quiet", "--out", self.path(name), *options, ranks=ranks)
        return self.path(name)

    def maps(self, path):
        with h5py.File(path) as file:
            return {name: values[:] for name, values in file["VTKHDF/PointData"].items()}

    def test_fibres_are_those_that_gain_enough(self):
        found = self.maps(self.fit("five.h5", "--fibre-odds", "5"))
        gains = found["log_likelihood_gain"]
        self.assertEqual(gains.shape[-1], 2)
        gained = np.cumsum(np.concatenate([np.zeros_like(gains[..., :1]), gains - 5], axis=-1), axis=-1)
        number = 1 + np.argmax(gained, axis=-1)
        second, third = number >= 2, number >= 3
        self.assertTrue(0.1 < third.mean() < second.mean() + 1e-9)
        np.testing.assert_array_equal(found["mean_f2"] > 0, second)
        np.testing.assert_array_equal(found["mean_f3"] > 0, third)
        all_fibres = self.maps(self.fit("all.h5", "--fibre-odds", "-1000"))
        np.testing.assert_array_equal(all_fibres["log_likelihood_gain"], gains)
        plain = self.maps(self.fit("plain.h5", "--no-ard"))
        for name, values in plain.items():
            np.testing.assert_array_equal(all_fibres[name], values, name)

    def test_any_ranks_give_the_same_bytes(self):
        one = digest(self.fit("one.h5", "--fibre-odds", "5"))
        self.assertEqual(digest(self.fit("three.h5", "--fibre-odds", "5", ranks=3)), one)

    def test_bids_names_the_choice(self):
        self.must("export", self.fit("five.h5", "--fibre-odds", "5"), "--to", "bids", self.path("bids"), "--subject", "01")
        name = self.path("bids", "sub-01", "dwi", "sub-01_model-bs_param-vfsum_desc-mean_dwimap.json")
        with open(name, encoding="utf-8") as file:
            parameters = json.load(file)["Model"]["Parameters"]
        self.assertEqual((parameters["ARDFudgeFactor"], parameters["LogLikelihoodGainPerFiber"]), (0, 5))

    def test_configurations_may_be_combined_with_it(self):
        config = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "configs", "ballstick-quick.cfg")
        self.assertIn("log_likelihood_gain", self.maps(self.fit("quick.h5", "--config", config, "--fibres", "2", "--fibre-odds", "5")))

    def test_what_has_no_meaning_is_refused(self):
        for options, named in ((["--fibres", "1"], "--fibres of 2 or more"), (["--no-ard"], "exclude each other"),
                               (["--ard-weight", "2"], "replaces the relevance prior")):
            rc, _, error = voxherd("ballstick", "--dwi", "x", "--bvals", "x", "--bvecs", "x", "--out", self.path("x.h5"),
                                   "--fibre-odds", "5", *options)
            self.assertEqual(rc, USAGE, error)
            self.assertIn(named, error)


if __name__ == "__main__":
    unittest.main()
