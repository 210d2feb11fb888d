"""voxherd noddi and what stands in for cuDIMOT: ranks, resume, exports, report, errors."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import VOXHERD, run

SIM = os.path.join(os.environ["VOXHERD_DATA"], "noddi_reference", "sim")
if not os.path.isdir(SIM):
    print(f"skipped: no data in {os.environ['VOXHERD_DATA']}")
    sys.exit(77)


def read(path):
    with h5py.File(path) as file:
        return {f"{group}/{name}": data[()] for group in ("maps", "samples") for name, data in file.get(group, {}).items()}


class Noddi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_noddi_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def series(self, keep=lambda b: True):
        """The simulated series with some of its volumes, 200 voxels, in a folder as of FSL."""
        b = np.loadtxt(f"{SIM}/bvals")
        volumes = [i for i in range(len(b)) if keep(b[i])]
        os.makedirs(self.path("subject"), exist_ok=True)
        image = nibabel.load(f"{SIM}/dwi_snr30.nii.gz")
        nibabel.save(nibabel.Nifti1Image(image.get_fdata(dtype=np.float32)[:, :, :1, volumes], image.affine),
                     self.path("subject", "data.nii.gz"))
        mask = np.ones((20, 10, 1), np.uint8)
        mask[0, 0, 0] = 0
        nibabel.save(nibabel.Nifti1Image(mask, image.affine), self.path("subject", "nodif_brain_mask.nii.gz"))
        np.savetxt(self.path("subject", "bvals"), b[None, volumes])
        np.savetxt(self.path("subject", "bvecs"), np.loadtxt(f"{SIM}/bvecs")[:, volumes])
        return ["--dwi", self.path("subject", "data.nii.gz"), "--bvals", self.path("subject", "bvals"),
                "--bvecs", self.path("subject", "bvecs"), "--mask", self.path("subject", "nodif_brain_mask.nii.gz"),
                "--backend", "cpu"]

    def fit(self, name, words, *more, ranks=1, expect=0):
        done = run("noddi", *words, "--out", self.path(name), *more, ranks=ranks, expect=expect)
        return done.stderr if expect else read(self.path(name))

    def expect_same(self, one, other):
        self.assertEqual(one.keys(), other.keys())
        for name in one:
            self.assertEqual(one[name].tobytes(), other[name].tobytes(), name)

    def test_any_number_of_ranks_and_a_restart_give_the_same_bytes(self):
        words = [*self.series(), "--samples", "4", "--burn-in", "4000", "--sample-every", "5", "--batch", "16", "--threads", "1"]
        alone = self.fit("alone.h5", words)
        self.assertIn("samples/NDI_samples", alone)
        self.expect_same(alone, self.fit("two.h5", words, ranks=2))
        job = subprocess.Popen([VOXHERD, "noddi", *words, "--out", self.path("stopped.h5")], stderr=subprocess.DEVNULL)
        while job.poll() is None and not os.path.exists(self.path("stopped.h5.part")):
            time.sleep(0.01)
        job.terminate()
        self.assertIn(job.wait(), (0, 75))
        if not os.path.exists(self.path("stopped.h5")):
            run("noddi", *words, "--out", self.path("stopped.h5"), "--resume")
        self.expect_same(alone, read(self.path("stopped.h5")))

    def test_any_number_of_ranks_gives_the_same_bytes_with_a_bingham_distribution(self):
        words = [*self.series(), "--model", "bingham", "--samples", "4", "--burn-in", "20", "--batch", "16", "--threads", "1"]
        alone = self.fit("alone.h5", words)
        self.assertIn("samples/psi_samples", alone)
        self.expect_same(alone, self.fit("two.h5", words, ranks=2))

    def test_a_bingham_distribution_has_a_fan(self):
        words = [*self.series(), "--model", "bingham"]
        maps = {name.split("/")[-1]: values for name, values in self.fit("a.h5", words).items()}
        self.assertEqual(set(maps), {"NDI", "FWF", "tf", "kappa", "beta", "beta_fraction", "ODI", "ODIs", "ODIp", "DA", "direction",
                                     "fanning_direction", "S0", "residual", "status"})
        inside = maps["S0"] > 0
        kappa, beta = maps["kappa"][inside].astype(float), maps["beta"][inside].astype(float)
        np.testing.assert_allclose(maps["ODIs"][inside], 2 / np.pi * np.arctan(1 / kappa), rtol=1e-4)
        np.testing.assert_allclose(maps["ODIp"][inside], 2 / np.pi * np.arctan2(1, kappa - beta), rtol=1e-3)
        np.testing.assert_allclose(maps["DA"][inside], 2 / np.pi * np.arctan2(beta, kappa - beta), atol=1e-3)
        self.assertLess(np.abs((maps["direction"] * maps["fanning_direction"]).sum(-1)).max(), 1e-5)
        watson = self.fit("watson.h5", self.series())
        better = maps["residual"][inside] <= watson["maps/residual"][inside] * (1 + 1e-4)
        self.assertGreater(better.mean(), 0.98)
        self.assertIn("maps/dot", self.fit("b.h5", words, "--dot"))
        run("report", self.path("a.h5"), "--out", self.path("a.html"))
        with open(self.path("a.html"), encoding="utf-8") as file:
            self.assertIn("Tariq", file.read())

    def test_outputs_follow_the_options(self):
        words = self.series()
        plain = self.fit("plain.h5", words)
        names = {name.split("/")[-1] for name in plain}
        self.assertEqual(names, {"NDI", "ODI", "FWF", "tf", "kappa", "direction", "S0", "residual", "status"})
        full = self.fit("full.h5", words, "--noise", "rician", "--dot", "--samples", "3", "--burn-in", "10")
        names = {name.split("/")[-1] for name in full} - names
        self.assertEqual(names, {"dot", "sigma", "NDI_SD", "ODI_SD", "FWF_SD", "kappa_SD", "S0_SD", "dot_SD", "sigma_SD",
                                 "direction_dispersion", "acceptance", "NDI_samples", "ODI_samples", "FWF_samples",
                                 "S0_samples", "dot_samples", "kappa_samples", "th_samples", "ph_samples"})
        inside = plain["maps/S0"] > 0
        self.assertEqual(inside.sum(), 199)
        for name, values in plain.items():
            self.assertFalse(np.any(values[~inside]), name)

    def test_a_dry_run_of_a_long_chain_computes_a_part_of_it(self):
        words = self.series()
        ballstick = [*words[:words.index("--backend")], "--fibres", "3", "--jumps", "10000000", "--sample-every", "100000"]
        for command, more in (("noddi", [*words, "--samples", "100000"]), ("noddi", [*words, "--model", "bingham", "--samples", "100000"]),
                              ("ballstick", ballstick)):
            done = run(command, *more, "--dry-run", "--out", self.path("dry.h5"))
            self.assertRegex(done.stdout, r"time .* \([\d.e-]+ % of \d+ voxels took ")
            script = run("slurm", command, *more, "--out", self.path("dry.h5")).stdout
            self.assertRegex(script, r"Estimate of \w+: 199 voxels")
        done = run("noddi", *words, "--dry-run", "--out", self.path("dry.h5"))
        self.assertNotIn("% of", done.stdout)
        self.assertIn("iterations, expected at most", run("noddi", *words, "--samples", "100000", "--sample-every", "10000000", "--out",
                                                          self.path("no.h5"), expect=2).stderr)

    def test_a_series_that_does_not_determine_the_model_is_refused(self):
        self.assertIn("1 shell with diffusion weighting, expected at least 2",
                      self.fit("a.h5", self.series(lambda b: b < 1500), expect=65))
        self.assertIn("the lowest b is 1000", self.fit("a.h5", self.series(lambda b: b > 500), expect=65))
        words = self.series()
        self.assertIn("expected at most", self.fit("a.h5", self.with_high_b(words), expect=65))
        self.assertIn("--d-par 1.7: expected 0.0001 to 0.004 mm2/s", self.fit("a.h5", words, "--d-par", "1.7", expect=2))

    def test_deviations_of_gradients_change_the_series_that_is_fitted(self):
        words = self.series()
        turn, longer = np.radians(20), 1.03
        matrix = longer * np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
        image = nibabel.load(self.path("subject", "data.nii.gz"))
        deviation = np.broadcast_to((matrix - np.eye(3)).T.ravel(), (*image.shape[:3], 9)).astype(np.float32)
        nibabel.save(nibabel.Nifti1Image(deviation, image.affine), self.path("grad_dev.nii.gz"))
        corrected = self.fit("a.h5", words, "--grad-dev", self.path("grad_dev.nii.gz"))
        np.savetxt(self.path("subject", "bvals"), np.loadtxt(self.path("subject", "bvals"))[None] * longer**2, fmt="%.9g")
        np.savetxt(self.path("subject", "bvecs"), matrix @ np.loadtxt(self.path("subject", "bvecs")) / longer, fmt="%.9g")
        expected = self.fit("b.h5", words)
        for name in ("NDI", "FWF", "ODI"):
            np.testing.assert_allclose(corrected[f"maps/{name}"], expected[f"maps/{name}"], atol=2e-3)
        self.assertGreater(np.abs(self.fit("c.h5", self.series())["maps/NDI"] - expected["maps/NDI"]).max(), 0.02)

    def with_high_b(self, words):
        b = np.loadtxt(self.path("subject", "bvals"))
        np.savetxt(self.path("subject", "high"), (b * 4)[None])
        at = words.index("--bvals") + 1
        return [*words[:at], self.path("subject", "high"), *words[at + 1:]]

    def test_low_b_values_are_warned_of(self):
        done = run("noddi", *self.series(lambda b: b < 2500), "--out", self.path("a.h5"))
        self.assertNotIn("below 2000", done.stderr)
        b = np.loadtxt(self.path("subject", "bvals"))
        np.savetxt(self.path("subject", "bvals"), (b * 0.7)[None])
        done = run("noddi", *self.series_words(), "--out", self.path("b.h5"))
        self.assertIn("the highest b is 1400 s/mm2; NDI and FWF are hardly distinguished below 2000", done.stderr)

    def series_words(self):
        return ["--dwi", self.path("subject", "data.nii.gz"), "--bvals", self.path("subject", "bvals"),
                "--bvecs", self.path("subject", "bvecs"), "--backend", "cpu"]

    def test_exports_have_the_names_of_other_programs(self):
        self.fit("a.h5", self.series(), "--samples", "3", "--burn-in", "10")
        run("export", self.path("a.h5"), "--to", "ukb-noddi", self.path("ukb"))
        self.assertEqual(sorted(os.listdir(self.path("ukb"))), ["NODDI_ICVF.nii.gz", "NODDI_ISOVF.nii.gz", "NODDI_OD.nii.gz"])
        run("export", self.path("a.h5"), "--to", "bids", "--subject", "1", self.path("bids"))
        names = os.listdir(self.path("bids", "sub-1", "dwi"))
        for parameter in ("icvf", "od", "isovf", "direction", "tf", "rmse", "icvf_desc-modulated", "od_desc-modulated", "icvf_desc-std"):
            self.assertIn(f"sub-1_model-noddi_param-{parameter}_dwimap.nii.gz", names)

        def image(*path):
            return nibabel.load(self.path(*path)).get_fdata()

        base = "bids/sub-1/dwi/sub-1_model-noddi_param-"
        np.testing.assert_allclose(image(f"{base}icvf_desc-modulated_dwimap.nii.gz"),
                                   image(f"{base}icvf_dwimap.nii.gz") * image(f"{base}tf_dwimap.nii.gz"), rtol=1e-6)
        other = run("export", self.tensor(), "--to", "cudimot", self.path("none"), expect=65)
        self.assertIn("expected one of noddi", other.stderr)

    def tensor(self):
        run("tensor", *self.series_words(), "--out", self.path("tensor.h5"))
        return self.path("tensor.h5")

    def test_the_report_has_weighted_means(self):
        maps = self.fit("a.h5", self.series())
        run("report", self.path("a.h5"), "--out", self.path("a.html"))
        with open(self.path("a.json"), encoding="utf-8") as file:
            means = json.load(file)["means"]["NDI"]
        inside = maps["maps/S0"] > 0
        ndi, tf = (maps[f"maps/{name}"][inside].astype(float) for name in ("NDI", "tf"))
        self.assertAlmostEqual(means["mean"], ndi.mean(), places=5)
        self.assertAlmostEqual(means["weighted_by_tissue"], (ndi * tf).sum() / tf.sum(), places=5)

    def test_the_report_has_weighted_means_of_regions(self):
        words = self.series()
        image = nibabel.load(self.path("subject", "data.nii.gz"))
        labels = np.zeros(image.shape[:3], np.uint8)
        labels[:8], labels[12:] = 3, 7
        nibabel.save(nibabel.Nifti1Image(labels, image.affine), self.path("regions.nii.gz"))
        with open(self.path("names.txt"), "w", encoding="utf-8") as file:
            file.write("3\tleft\n7\tright\n")
        for model in ("watson", "bingham"):
            options = "--model", model, "--regions", self.path("regions.nii.gz"), "--region-names", self.path("names.txt")
            maps = self.fit(f"{model}.h5", words, *options)
            run("report", self.path(f"{model}.h5"), "--out", self.path(f"{model}.html"))
            with open(self.path(f"{model}.json"), encoding="utf-8") as file:
                regions = json.load(file)["regions"]
            self.assertEqual([region["name"] for region in regions], ["left", "right"])
            for region in regions:
                inside = (labels.T == region["label"]) & (maps["maps/S0"] > 0)
                self.assertEqual(region["voxels"], inside.sum())
                for name in ("NDI", "ODI"):
                    values, tf = (maps[f"maps/{m}"][inside].astype(float) for m in (name, "tf"))
                    self.assertAlmostEqual(region[name], (values * tf).sum() / tf.sum(), places=5)
        run("export", self.path("watson.h5"), "--to", "csv", self.path("csv"))
        for command, more, name in (("tensor", (), "FA"), ("ballstick", ("--fibres", "1", "--jumps", "10", "--sample-every", "5"), "mean_f1")):
            run(command, *words, *more, "--regions", self.path("regions.nii.gz"), "--region-names", self.path("names.txt"), "--out",
                self.path(f"{command}.h5"))
            run("export", self.path(f"{command}.h5"), "--to", "csv", self.path(command))
            with open(self.path(command, "regions.csv"), encoding="utf-8") as file:
                table = file.read()
            self.assertIn(name, table)
            self.assertIn("left", table)
        labels[:] = 0
        nibabel.save(nibabel.Nifti1Image(labels, image.affine), self.path("regions.nii.gz"))
        self.fit("none.h5", words, "--regions", self.path("regions.nii.gz"), expect=65)

    def test_the_viewer_shows_signal_and_fit_of_a_voxel(self):
        self.expect_shown()

    def test_the_viewer_shows_the_fit_of_a_bingham_distribution(self):
        self.expect_shown("--model", "bingham")

    def expect_shown(self, *options):
        try:
            from view_jobs import Viewer
        except SystemExit:
            self.skipTest("voxherd was built without the viewer")
        with h5py.File(self.result_of_series(*options)) as file, Viewer(self.path("a.h5")) as viewer:
            state = viewer.state()
            self.assertEqual(state["details"]["voxel"], "orientations")
            affine = file["image"].attrs["voxel_to_world"].reshape(4, 4)
            on_page = np.array(state["grid"]["affine"]).reshape(4, 4)
            nx, ny, _ = state["grid"]["size"]
            for place in ((3, 4, 0), (12, 7, 0)):
                x, y, z, _ = np.rint(np.linalg.inv(on_page) @ affine @ [*place, 1]).astype(int)
                shown = json.loads(viewer.get(f"/api/voxel/{x + nx * (y + ny * z)}"))
                residual = np.sqrt(np.mean((np.array(shown["signal"]) - np.array(shown["fit"])) ** 2))
                stored = {name: float(file[f"maps/{name}"][place[2], place[1], place[0]]) for name in ("residual", "NDI", "tf")}
                self.assertAlmostEqual(residual / stored["residual"], 1, places=4)
                self.assertAlmostEqual(shown["fibres"][0]["fraction"], stored["NDI"] * stored["tf"], places=5)

    def result_of_series(self, *options):
        self.fit("a.h5", self.series(), *options)
        return self.path("a.h5")

    def test_cuDIMOTs_pipeline_is_replaced(self):
        self.series()
        os.symlink(VOXHERD, self.path("Pipeline_NODDI_Watson.sh"))
        subprocess.run([self.path("Pipeline_NODDI_Watson.sh"), self.path("subject"), "--runMCMC", "-b", "20", "-j", "30", "-s", "10",
                        "--rician", "-Q", "queue", "--backend", "cpu"], check=True, capture_output=True)
        out = self.path("subject.NODDI_Watson")
        names = set(os.listdir(out))
        for name in ("mean_fintra", "mean_fiso", "mean_kappa", "OD", "dyads1", "fintra_samples", "fiso_samples", "kappa_samples",
                     "th_samples", "ph_samples"):
            self.assertIn(f"{name}.nii.gz", names)
        samples = nibabel.load(os.path.join(out, "fintra_samples.nii.gz")).get_fdata()
        self.assertEqual(samples.shape, (20, 10, 1, 3))
        np.testing.assert_allclose(samples.mean(-1), nibabel.load(os.path.join(out, "mean_fintra.nii.gz")).get_fdata(), atol=1e-6)
        refused = run("cudimot", self.path("subject"), "--BIC_AIC", expect=2)
        self.assertIn("--BIC_AIC", refused.stderr)
        missing = run("cudimot", self.path("nobody"), expect=66)
        self.assertIn("no such folder", missing.stderr)

    def test_cuDIMOTs_pipeline_with_a_bingham_distribution_is_replaced(self):
        self.series()
        os.symlink(VOXHERD, self.path("Pipeline_NODDI_Bingham.sh"))
        subprocess.run([self.path("Pipeline_NODDI_Bingham.sh"), self.path("subject"), "--runMCMC", "-b", "20", "-j", "30", "-s", "10",
                        "--backend", "cpu"], check=True, capture_output=True)
        out = self.path("subject.NODDI_Bingham")
        names = set(os.listdir(out))
        for name in ("mean_fintra", "mean_fiso", "mean_kappa", "mean_beta", "ODIp", "ODIs", "ODItot", "DA", "dyads1", "fanningDir", "fintra_samples",
                     "fiso_samples", "kappa_samples", "beta_samples", "th_samples", "ph_samples", "psi_samples"):
            self.assertIn(f"{name}.nii.gz", names)

        def image(name):
            return nibabel.load(os.path.join(out, f"{name}.nii.gz")).get_fdata()

        th, ph, psi = image("th_samples"), image("ph_samples"), image("psi_samples")  # cuDIMOT's fan
        fan = np.stack([-np.cos(psi) * np.sin(ph) - np.cos(th) * np.cos(ph) * np.sin(psi),
                        np.cos(ph) * np.cos(psi) - np.cos(th) * np.sin(ph) * np.sin(psi), np.sin(th) * np.sin(psi)], -1)
        inside = image("nodif_brain_mask") > 0
        dyads = np.einsum("...si,...sj->...ij", fan, fan)[inside]
        mean = np.linalg.eigh(dyads)[1][..., -1]
        cosine = np.abs((mean * image("fanningDir")[inside]).sum(-1))
        self.assertGreater(np.median(cosine), 0.9999)
        run("export", os.path.join(out, "voxherd.h5"), "--to", "bids", "--subject", "1", self.path("bids"))
        names = os.listdir(self.path("bids", "sub-1", "dwi"))
        for parameter in ("icvf", "od", "odp", "ods", "da", "beta", "fanningdirection"):
            self.assertIn(f"sub-1_model-noddi_param-{parameter}_dwimap.nii.gz", names)

    def test_without_sampling_the_pipeline_writes_the_best_fit(self):
        self.series()
        run("cudimot", self.path("subject"), "--backend", "cpu")
        run("cudimot", self.path("subject"), "--backend", "cpu")  # again
        names = os.listdir(self.path("subject.NODDI_Watson"))
        self.assertIn("mean_fintra.nii.gz", names)
        self.assertFalse([name for name in names if "samples" in name])


if __name__ == "__main__":
    unittest.main()
