"""voxherd phantom liver: the same bytes for any number of ranks, and equal to independent computations."""
import filecmp
import json
import os
import shutil
import sys
import tempfile
import unittest

try:
    import nibabel
    import numpy as np
    from scipy.integrate import cumulative_trapezoid
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import files_below, run

PARAMETERS = ("kl", "ka", "kp", "tau_a", "tau_p")
SMALL = ["--size", "24x24x4"]


def concentration(fine, times, kl, ka, kp, tau_a, tau_p):
    """The model's integral by brute force: the trapezoid rule in steps of 2 ms over inputs from a table."""
    t = np.arange(0, times[-1] + 0.002, 0.002)
    inflow = sum(k / 6000 * np.interp(t - tau, fine[:, 0], fine[:, i], left=0)
                 for i, k, tau in ((1, ka, tau_a), (2, kp, tau_p)))
    rate = kl / 6000
    c = np.exp(-rate * t) * cumulative_trapezoid(inflow * np.exp(rate * t), t, initial=0)
    return np.interp(times, t, c)


def spoiled_echo(flip_deg, tr_s, rate):
    a, e = np.radians(flip_deg), np.exp(-tr_s * rate)
    return np.sin(a) * (1 - e) / (1 - np.cos(a) * e)


class LiverPhantom(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make(self, name, *options, ranks=1, threads=1):
        run("phantom", "liver", "--out", self.path(name), "--threads", str(threads), *options, ranks=ranks)

    def image(self, *names):
        return nibabel.load(self.path(*names)).get_fdata()

    def settings(self, name):
        with open(self.path(name, "phantom.json")) as file:
            return json.load(file)

    def expect_same_files(self, a, b):
        names = files_below(self.path(a))
        self.assertEqual(names, files_below(self.path(b)))
        different = filecmp.cmpfiles(self.path(a), self.path(b), names, shallow=False)[1:]
        self.assertEqual(different, ([], []))

    def sample_of_liver(self, name, count):
        """Some liver voxels of every region: indices and parameters."""
        regions = self.image(name, "truth", "regions.nii.gz").astype(int)
        random = np.random.default_rng(3)
        chosen = []
        for region in range(1, 7):
            there = np.argwhere(regions == region)
            self.assertGreater(len(there), 0)
            chosen += [tuple(v) for v in there[random.permutation(len(there))[:count]]]
        truth = {p: self.image(name, "truth", f"{p}.nii.gz") for p in (*PARAMETERS, "T1")}
        return chosen, truth

    def test_any_number_of_ranks_and_threads_gives_the_same_bytes(self):
        self.make("one")
        self.make("two", ranks=2)
        self.make("three", ranks=3, threads=2)
        self.expect_same_files("one", "two")
        self.expect_same_files("one", "three")

    def test_any_number_of_ranks_gives_the_same_compressed_integers(self):
        options = ["--gz", "--type", "int16", "--size", "64x64x16"]  # 6 MB: several gzip members
        self.make("one", *options)
        self.make("three", *options, ranks=3)
        self.expect_same_files("one", "three")
        self.make("plain", "--size", "64x64x16")
        packed = nibabel.load(self.path("one", "dce.nii.gz"))
        self.assertEqual(packed.get_data_dtype(), np.int16)
        step = packed.dataobj.slope
        plain = self.image("plain", "dce.nii")
        np.testing.assert_allclose(packed.get_fdata(), plain, rtol=0, atol=0.501 * step)
        self.assertLess(plain.max(), 32767 * step)
        self.assertLess(step, 0.2 * self.settings("one")["noise_deviation"])

    def test_spoiled_echoes_without_noise_follow_from_the_truth_maps(self):
        self.make("p", "--noise", "none", "--tr", "4", "--flip-angle", "12", "--relaxivity", "3.9")
        fine = np.loadtxt(self.path("p", "truth", "inputs.csv"), delimiter=",", skiprows=1)
        times = np.loadtxt(self.path("p", "times.txt"))
        np.testing.assert_allclose(times, 2.37 * np.arange(48), rtol=1e-9)
        data, vfa = self.image("p", "dce.nii"), self.image("p", "vfa.nii")
        self.assertEqual(data.shape, (32, 32, 8, 48))
        chosen, truth = self.sample_of_liver("p", 5)
        for v in chosen:
            c = concentration(fine, times, *(truth[p][v] for p in PARAMETERS))
            rate = 1 / truth["T1"][v]
            ratio = spoiled_echo(12, 0.004, rate + 3.9 * c) / spoiled_echo(12, 0.004, rate)
            np.testing.assert_allclose(data[v], data[v][0] * ratio, rtol=2e-6)
            angles = np.array([spoiled_echo(a, 0.004, rate) for a in (2, 5, 10, 15)])
            np.testing.assert_allclose(vfa[v] / vfa[v][0], angles / angles[0], rtol=1e-6)

    def test_other_signals_without_noise_follow_from_the_truth_maps(self):
        for kind in ("linear", "ct", "concentration"):
            self.make(kind, "--noise", "none", "--signal", kind, "--inputs", "sampled")
            fine = np.loadtxt(self.path(kind, "truth", "inputs.csv"), delimiter=",", skiprows=1)
            self.assertEqual(len(fine), 48)
            self.assertFalse(os.path.exists(self.path(kind, "vfa.nii")))
            times, data = np.loadtxt(self.path(kind, "times.txt")), self.image(kind, "dce.nii")
            chosen, truth = self.sample_of_liver(kind, 2)
            for v in chosen:
                c = concentration(fine, times, *(truth[p][v] for p in PARAMETERS))
                expected = {"linear": data[v][0] * (1 + 4.5 * truth["T1"][v] * c), "ct": 60 + c, "concentration": c}
                np.testing.assert_allclose(data[v], expected[kind], rtol=2e-6, atol=5e-6)
        self.assertAlmostEqual(self.image("ct", "dce.nii").max(), 40 + 300, delta=10)

    def test_input_curves_are_those_of_the_reference(self):
        path = os.path.join(os.environ.get("VOXHERD_DATA", ""), "perfusion_reference", "inputs_base_1s.csv")
        if not os.path.exists(path):
            self.skipTest(f"{path} does not exist")
        self.make("p", *SMALL, "--frames", "121", "--spacing", "1")
        ours = np.loadtxt(self.path("p", "curves.csv"), delimiter=",", skiprows=1)
        theirs = np.loadtxt(path, delimiter=",", skiprows=1)
        np.testing.assert_allclose(ours[:, :2], theirs[:, :2], atol=1e-9)
        np.testing.assert_allclose(ours[:, 2], theirs[:, 2], atol=1e-4)  # the reference's convolution has steps of 10 ms

    def test_vessels_contain_the_input_curves_and_regions_have_the_properties_of_their_names(self):
        self.make("p", "--noise", "none", "--signal", "concentration")
        data = self.image("p", "dce.nii")
        curves = np.loadtxt(self.path("p", "curves.csv"), delimiter=",", skiprows=1)
        for column, voi in ((1, "aorta"), (2, "portal")):
            inside = self.image("p", f"{voi}.nii.gz") > 0
            self.assertEqual(inside.sum(), self.settings("p")["voxels"][voi])
            np.testing.assert_allclose(data[inside], np.tile(curves[:, column], (inside.sum(), 1)), rtol=1e-6)
        liver = self.image("p", "liver.nii.gz") > 0
        regions = self.image("p", "truth", "regions.nii.gz").astype(int)
        self.assertEqual(liver.sum(), 800)
        np.testing.assert_array_equal(regions > 0, liver)
        ka, kp, kl = (self.image("p", "truth", f"{n}.nii.gz") for n in ("ka", "kp", "kl"))
        with open(self.path("p", "truth", "regions.tsv")) as file:
            label = {line.split("\t")[1].strip(): int(line.split("\t")[0]) for line in list(file)[1:]}
        tumour, cirrhotic = regions == label["tumour"], regions == label["cirrhotic"]
        healthy = liver & ~tumour & ~cirrhotic
        self.assertLess(kp[tumour].max(), 10)
        self.assertGreater(ka[tumour].min(), 50)
        self.assertGreater(100 / kp[cirrhotic].mean(), 100 / kp[healthy].mean())
        self.assertGreater((6000 / kl[cirrhotic]).mean(), 30)  # s; healthy: about 15
        self.assertLess((6000 / kl[healthy]).mean(), 20)
        self.assertEqual(data[~(self.image("p", "truth", "T1.nii.gz") > 0)].max(), 0)

    def test_noise_has_the_requested_ratio_and_depends_on_the_seed(self):
        for name, *options in (("clean", "--noise", "none"), ("gaussian", "--noise", "gaussian", "--cnr", "20"),
                               ("rician", "--noise", "rician", "--cnr", "20"),
                               ("again", "--noise", "gaussian", "--cnr", "20"),
                               ("other", "--noise", "gaussian", "--cnr", "20", "--random-seed", "2")):
            self.make(name, *options)
        liver = self.image("clean", "liver.nii.gz") > 0
        clean = self.image("clean", "dce.nii")
        deviation = self.settings("gaussian")["noise_deviation"]
        noise = self.image("gaussian", "dce.nii")[liver] - clean[liver]
        self.assertAlmostEqual(noise.std() / deviation, 1, delta=0.02)  # 38,400 samples: 0.4 %
        self.assertAlmostEqual(noise.mean() / deviation, 0, delta=0.03)
        rise = clean[liver].max(axis=1) - clean[liver][:, 0]
        self.assertTrue(0.5 < np.median(rise) / (20 * deviation) < 2)
        rician = self.image("rician", "dce.nii")[liver]
        np.testing.assert_allclose((rician ** 2 - clean[liver] ** 2).mean(), 2 * deviation ** 2, rtol=0.2)
        self.assertTrue(filecmp.cmp(self.path("gaussian", "dce.nii"), self.path("again", "dce.nii"), shallow=False))
        self.assertFalse(filecmp.cmp(self.path("gaussian", "dce.nii"), self.path("other", "dce.nii"), shallow=False))

    def test_score_of_the_truth_itself_is_zero_error(self):
        self.make("p")
        done = run("phantom", "score", self.path("p", "truth"), "--truth", self.path("p"), "--json", self.path("s.json"))
        self.assertIn("all: 800 voxels\n", done.stdout)
        with open(self.path("s.json")) as file:
            regions = json.load(file)["regions"]
        self.assertEqual([r["name"] for r in regions], ["right posterior", "right anterior", "left medial",
                                                        "left lateral", "cirrhotic", "tumour", "all"])
        self.assertEqual(sum(r["voxels"] for r in regions[:-1]), regions[-1]["voxels"])
        for region in regions:
            self.assertEqual(region["not_fitted"], 0)
            for quantity in (*PARAMETERS, "arterial_fraction", "distribution_volume", "mean_transit_time"):
                score = region[quantity]
                if (region["name"], quantity) == ("tumour", "tau_p"):
                    self.assertEqual(score, {"voxels": 0})  # no portal flow, so no delay of it
                    continue
                self.assertEqual({k: v for k, v in score.items() if k != "voxels"}, {
                    "bias": 0, "median_absolute_error": 0, "percentile5_error": 0, "percentile95_error": 0})

    def test_score_of_maps_is_their_error(self):
        self.make("p")
        os.mkdir(self.path("maps"))
        for name in PARAMETERS:
            image = nibabel.load(self.path("p", "truth", f"{name}.nii.gz"))
            values = image.get_fdata(dtype=np.float32)
            if name == "ka":
                values = np.where(values > 0, values + 2, 0)
            nibabel.save(nibabel.Nifti1Image(values, image.affine), self.path("maps", f"{name}.nii.gz"))
            sd = np.full(values.shape, 1.5 if name == "ka" else 0, np.float32)
            nibabel.save(nibabel.Nifti1Image(sd, image.affine), self.path("maps", f"sd_{name}.nii.gz"))
        run("phantom", "score", self.path("maps"), "--truth", self.path("p"), "--json", self.path("s.json"))
        with open(self.path("s.json")) as file:
            score = json.load(file)["regions"][-1]
        self.assertAlmostEqual(score["ka"]["bias"], 2, places=4)
        self.assertAlmostEqual(score["ka"]["median_absolute_error"], 2, places=4)
        self.assertEqual(score["ka"]["within_two_deviations"], 1)
        self.assertEqual(score["kp"]["voxels_with_deviation"], 0)
        self.assertEqual(score["kp"]["bias"], 0)
        self.assertGreater(score["arterial_fraction"]["bias"], 0)

    def fit(self, name, *options, ranks=1):
        p = self.path(name)
        run("perfusion", "--dynamic", f"{p}/dce.nii", "--times", f"{p}/times.txt", "--mask", f"{p}/liver.nii.gz",
            "--out", self.path(f"{name}.h5"), "--backend", "cpu", "--quiet", *options, ranks=ranks)
        run("phantom", "score", self.path(f"{name}.h5"), "--truth", p, "--json", self.path("s.json"))
        with open(self.path("s.json")) as file:
            return json.load(file)["regions"]

    def test_a_fit_recovers_the_truth_if_its_model_is_exact(self):
        self.make("p", "--inputs", "sampled", "--signal", "concentration", "--noise", "none")
        for region in self.fit("p", "--curves", self.path("p", "curves.csv")):
            self.assertEqual(region["not_fitted"], 0)
            for quantity, largest in (("kl", 0.01), ("ka", 0.001), ("kp", 0.001), ("tau_a", 0.001), ("tau_p", 0.001)):
                if region[quantity]["voxels"] > 0:
                    self.assertLess(abs(region[quantity]["percentile5_error"]), largest)
                    self.assertLess(abs(region[quantity]["percentile95_error"]), largest)

    def test_sampling_at_the_frames_has_the_documented_error(self):
        self.make("p", "--signal", "concentration", "--noise", "none")
        whole = self.fit("p", "--curves", self.path("p", "curves.csv"))[-1]
        for quantity, output in (("ka", 0.40), ("kp", 0.37), ("kl", 1.7), ("tau_a", 0.076), ("tau_p", 0.13)):
            self.assertAlmostEqual(whole[quantity]["median_absolute_error"] / output, 1, delta=0.05)

    def test_a_fit_of_noisy_signals_estimates_its_error(self):
        self.make("p", "--size", "64x64x12", "--inputs", "sampled", "--signal", "concentration")
        whole = self.fit("p", "--curves", self.path("p", "curves.csv"), ranks=2)[-1]
        for quantity in PARAMETERS:
            score = whole[quantity]  # 95.4 % of normal errors; 0.3 % is one standard deviation for this number of voxels
            self.assertGreater(score["free_voxels_with_deviation"], 4000)
            self.assertAlmostEqual(score["free_within_two_deviations"], 0.9545, delta=0.012, msg=quantity)
            self.assertGreater(score["within_two_deviations"], 0.85, quantity)

    def test_spoiled_echoes_are_fitted_from_masks_and_flip_angles(self):
        self.make("p", "--noise", "none")
        p = self.path("p")
        whole = self.fit("p", "--arterial-voi", f"{p}/aorta.nii.gz", "--portal-voi", f"{p}/portal.nii.gz", "--signal",
                         "spgr", "--tr", "3.5", "--flip-angle", "15", "--relaxivity", "4.5", "--vfa", f"{p}/vfa.nii",
                         "--vfa-flip-angles", "2,5,10,15")[-1]
        for quantity, output in (("ka", 0.40), ("kp", 0.37), ("kl", 1.7)):  # no more than sampling only
            self.assertAlmostEqual(whole[quantity]["median_absolute_error"] / output, 1, delta=0.1)

    def test_scores_of_unrelated_files_are_rejected(self):
        self.make("p", *SMALL)
        self.make("q")
        run("phantom", "dwi", "--out", self.path("dwi"), "--size", "10x10x10", "--threads", "1")
        done = run("phantom", "score", self.path("q", "truth"), "--truth", self.path("p"), expect=65)
        self.assertIn("has 32 x 32 x 8 voxels, expected 24 x 24 x 4", done.stderr)
        done = run("phantom", "score", self.path("dwi", "truth"), "--truth", self.path("p"), expect=66)
        self.assertIn("contains no map ka", done.stderr)
        d = self.path("dwi")
        run("tensor", "--dwi", f"{d}/data.nii", "--bvals", f"{d}/bvals", "--bvecs", f"{d}/bvecs", "--mask",
            f"{d}/nodif_brain_mask.nii.gz", "--out", self.path("t.h5"), "--backend", "cpu", "--quiet")
        done = run("phantom", "score", self.path("t.h5"), "--truth", self.path("p"), expect=65)
        self.assertIn("is a result of tensor, expected one of perfusion", done.stderr)
        done = run("phantom", "score", self.path("t.h5"), "--truth", self.path("nowhere"), expect=66)
        self.assertIn("nowhere: not a folder", done.stderr)

    def test_a_phantom_is_overwritten_only_on_request(self):
        self.make("p", *SMALL)
        before = os.path.getmtime(self.path("p", "dce.nii"))
        done = run("phantom", "liver", "--out", self.path("p"), *SMALL, expect=2)
        self.assertIn("--overwrite", done.stderr)
        self.assertEqual(os.path.getmtime(self.path("p", "dce.nii")), before)
        self.make("p", *SMALL, "--overwrite", "--signal", "ct", "--gz")
        self.assertFalse(os.path.exists(self.path("p", "dce.nii")))  # no file of the previous phantom remains
        self.assertFalse(os.path.exists(self.path("p", "vfa.nii")))

    def test_invalid_options_are_named(self):
        for words, expected in [(["--preset", "huge"], "--preset huge: expected one of toy, clinical, paper"),
                                (["--size", "3x4"], "--size 3x4"), (["--size", "3x3x1"], "use a larger --size"),
                                (["--frames", "7"], "--frames 7"), (["--spacing", "11"], "--spacing 11"),
                                (["--frames", "8"], "expected at least 30 s"),
                                (["--signal", "spin"], "--signal spin"), (["--tr", "0"], "--tr 0"),
                                (["--flip-angle", "91"], "--flip-angle 91"),
                                (["--vfa-flip-angles", "5"], "--vfa-flip-angles 5"),
                                (["--vfa-flip-angles", "5,x"], "--vfa-flip-angles 5,x"),
                                (["--signal", "ct", "--tr", "3"], "--tr has no meaning"),
                                (["--signal", "ct", "--relaxivity", "3"], "--relaxivity has no meaning"),
                                (["--signal", "ct", "--noise", "rician"], "--noise rician: expected gaussian or none"),
                                (["--relaxivity", "0"], "--relaxivity 0"), (["--inputs", "smooth"], "--inputs smooth"),
                                (["--cnr", "0"], "--cnr 0"), (["--type", "int8"], "--type int8"),
                                (["--noise", "pink"], "--noise pink"), (["--voxel-size", "0"], "--voxel-size 0"),
                                (["--b0", "3"], "--b0 has no meaning for phantom liver")]:
            done = run("phantom", "liver", "--out", self.path("p"), *words, expect=2)
            self.assertIn(expected, done.stderr)
        self.assertFalse(os.path.exists(self.path("p")))
        done = run("phantom", "dwi", "--out", self.path("p"), "--cnr", "20", expect=2)
        self.assertIn("--cnr has no meaning for phantom dwi", done.stderr)


if __name__ == "__main__":
    unittest.main()
