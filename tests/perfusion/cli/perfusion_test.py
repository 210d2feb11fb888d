"""voxherd perfusion from series with known flows: all signal types, curves, T1 and delays."""
import csv
import json
import os
import unittest

import numpy as np
from perfusion_jobs import MAPS, PerfusionJobs, Study, tissue, write_nifti
from toy_jobs import digest, h5py, voxherd

R1, TR_MS, FLIP = 4.5, 4.0, 20.0  # /s/mM, ms, degrees


def spoiled_echo(t1_s, flip_degrees=FLIP, tr_s=TR_MS / 1000, M0=900.0):
    e, a = np.exp(-tr_s / t1_s), np.radians(flip_degrees)
    return M0 * np.sin(a) * (1 - e) / (1 - e * np.cos(a))


def parker(t_s):
    """The arterial curve of Parker et al. 2006 (Magn Reson Med 56:993), mM."""
    t = np.asarray(t_s, float) / 60
    peaks = sum(a / (s * np.sqrt(2 * np.pi)) * np.exp(-(t - c) ** 2 / (2 * s * s)) for a, c, s in ((.809, .17046, .0563), (.330, .365, .132)))
    return np.where(t > 0, peaks + 1.05 * np.exp(-.1685 * t) / (1 + np.exp(-38.078 * (t - .483))), 0)


class Minima(PerfusionJobs):
    def test_long_delays_do_not_end_in_another_minimum(self):
        times, n = np.arange(128) * 120 / 128, 300
        fine = np.arange(0, 121, .05)
        gut = np.where(fine < 5, 0, np.exp(-(fine - 5) / 12))
        arterial = parker(fine - 10)
        curves = [np.interp(times, fine, c) for c in (arterial, np.convolve(arterial, gut / gut.sum())[:len(fine)])]
        chance = np.random.default_rng(1)
        flows = np.column_stack([*np.tile([400., 20., 100.], (n, 1)).T, chance.uniform(0, 15, n), chance.uniform(0, 10, n)])
        series = write_nifti(self.path("series.nii"), tissue(times, *curves, flows)[:, None, None])
        np.savetxt(self.path("times.txt"), times, fmt="%.9g")
        np.savetxt(self.path("curves.csv"), np.c_[times, *curves], fmt="%.9g", delimiter=",")
        scan = ("--dynamic", series, "--times", self.path("times.txt"), "--curves", self.path("curves.csv"))

        def missed(*options):
            """Voxels whose arterial flow is off by more than a quarter."""
            out = self.path("out.h5")
            rc, output = self.launch(out, "--overwrite", *options, scan=scan)
            self.assertEqual(rc, 0, output)
            with h5py.File(out, "r") as file:
                return np.count_nonzero(abs(file["maps/ka"][()] - 20) > 5)

        for solver in ("lm", "varpro"):
            self.assertGreater(missed("--solver", solver, "--starts", 1), n // 20)
            self.assertLessEqual(missed("--solver", solver), 1)


class Truth(PerfusionJobs):
    def test_parameters_and_derived_maps_are_recovered_without_noise(self):
        maps = self.fit()
        self.assert_truth(maps, 2e-3)
        t = self.study.truth
        np.testing.assert_allclose(maps["arterial_fraction"], t["ka"] / (t["ka"] + t["kp"]), rtol=5e-3)
        np.testing.assert_allclose(maps["total_perfusion"], t["ka"] + t["kp"], rtol=2e-3)
        np.testing.assert_allclose(maps["distribution_volume"], (t["ka"] + t["kp"]) / t["kl"], rtol=2e-3)
        np.testing.assert_allclose(maps["mean_transit_time"], 6000 / t["kl"], rtol=2e-3)
        self.assertGreater(maps["r_squared"].min(), 0.99999)
        for name, values in maps.outside.items():
            self.assertFalse(np.any(values), name)

    def test_maps_have_units(self):
        units = self.fit().unit
        self.assertEqual({units[n] for n in ("kl", "ka", "kp", "sd_kl", "total_perfusion")}, {"ml/100g/min"})
        self.assertEqual({units[n] for n in ("tau_a", "tau_p", "sd_tau_a", "mean_transit_time")}, {"s"})
        self.assertEqual(units["sum_of_squares"], "input^2")
        self.assertNotIn("t1_before", units)

    def test_a_table_of_curves_gives_the_result_of_vois_with_the_same_curves(self):
        by_voi, by_table = self.fit(), self.fit(scan=self.study.words(vois=False))
        for name in MAPS:
            np.testing.assert_allclose(by_table[name], by_voi[name], rtol=1e-4, atol=1e-4)

    def test_it_can_read_the_curves_it_writes(self):
        first = self.fit()
        words = self.study.words()[:6]
        again = self.fit(scan=(*words, "--curves", self.path("out.curves.csv")), name="again.h5")
        for name in MAPS:
            np.testing.assert_array_equal(again[name], first[name])

    def test_a_table_at_other_times_is_interpolated(self):
        fine = np.arange(0, 120, 0.5)
        arterial, portal = np.interp(fine, self.study.times, self.study.arterial), np.interp(
            fine, self.study.times, self.study.portal)
        for column, values in (("arterial", arterial), ("portal", portal)):
            np.savetxt(self.path(column), np.column_stack([fine, values]), delimiter=" ")
        words = self.study.words()[:6]
        maps = self.fit(scan=(*words, "--arterial-curve", self.path("arterial"), "--portal-curve", self.path("portal")))
        # Corners of the curve are up to half a step away from the finer times.
        np.testing.assert_allclose(maps.curves["portal"], self.study.portal, atol=0.02 * self.study.portal.max())
        self.assertLess(np.abs(maps["kl"] / self.study.truth["kl"] - 1).mean(), 0.05)

    def test_haematocrit_and_density_scale_flows(self):
        plain, plasma, dense = self.fit(), self.fit("--haematocrit", "0.4"), self.fit("--density", "1.05")
        for name in ("ka", "kp", "total_perfusion"):
            np.testing.assert_allclose(plasma[name], 0.6 * plain[name], rtol=1e-3)
            np.testing.assert_allclose(dense[name], plain[name] / 1.05, rtol=1e-3)
        np.testing.assert_allclose(plasma["kl"], plain["kl"], rtol=1e-3)
        np.testing.assert_allclose(dense["kl"], plain["kl"] / 1.05, rtol=1e-3)
        np.testing.assert_allclose(dense["distribution_volume"], plain["distribution_volume"], rtol=1e-3)
        np.testing.assert_allclose(plasma.curves["arterial"], self.study.arterial / 0.6, rtol=1e-5, atol=1e-7)

    def test_single_precision_agrees_to_a_thousandth(self):
        double, single = self.fit(), self.fit("--precision", "float")
        for name in ("kl", "ka", "kp"):
            np.testing.assert_allclose(single[name], double[name], rtol=5e-3)

    def test_the_papers_simplex_fits_the_papers_model(self):
        maps = self.fit("--solver", "simplex", "--discretisation", "paper")
        # The paper's sum is not the integral that made the curves: the estimated flows are lower by about kl T / 2.
        self.assertGreater(np.median(maps["r_squared"]), 0.995)
        self.assertLessEqual(maps["iterations"].max(), 601)
        self.assertEqual(np.count_nonzero(maps["at_bound"]), 0)

    def test_a_bounded_simplex_from_one_start_is_warned_about(self):
        for more, warned in (("--bounded yes", True), ("--bounded yes --starts 3", False), ("", False)):
            self.fit("--solver", "simplex", "--iterations", "1", *more.split())
            self.assertEqual(self.output.count("add --starts 3"), int(warned), self.output)


class Signals(PerfusionJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        s = cls.study
        s.t1 = np.full(s.mask.shape, 1.4)
        s.t1[s.mask] = np.random.default_rng(2).uniform(0.5, 0.8, int(s.mask.sum()))
        rate = 1 / s.t1[..., None] + R1 * s.concentration
        s.save("spgr.nii", spoiled_echo(1 / rate))
        s.save("linear.nii", 200 * rate * s.t1[..., None])
        s.save("ct.nii.gz", 40 + s.concentration)
        s.save("t1_ms.nii", 1000 * s.t1)
        s.save("vfa.nii", np.stack([spoiled_echo(s.t1, a, 0.005) for a in (2, 10, 20)], -1))

    def spgr(self, *options):
        return self.fit("--signal", "spgr", "--relaxivity", str(R1), "--tr", str(TR_MS), "--flip-angle", str(FLIP), *options,
                        scan=self.study.words("spgr.nii"))

    def test_spoiled_echoes_with_flip_angles_give_t1_and_flows(self):
        maps = self.spgr("--vfa", self.study.path("vfa.nii"), "--vfa-flip-angles", "2,10,20", "--vfa-tr", "5")
        np.testing.assert_allclose(maps["t1_before"], self.study.t1[self.study.mask], rtol=1e-3)
        np.testing.assert_allclose(maps.curves["arterial"], self.study.arterial, atol=2e-3 * self.study.arterial.max())
        self.assert_truth(maps, 0.01)
        self.assertEqual(maps.unit["sum_of_squares"], "mM^2")

    def test_flip_angles_in_separate_images_give_the_same_result(self):
        images = [self.study.save(f"fa{a}.nii", spoiled_echo(self.study.t1, a, 0.005)) for a in (2, 10, 20)]
        angles = ("--vfa-flip-angles", "2,10,20", "--vfa-tr", "5")
        one, many = self.spgr("--vfa", self.study.path("vfa.nii"), *angles), self.spgr("--vfa", *images, *angles)
        for name in MAPS:
            np.testing.assert_array_equal(many[name], one[name])

    def test_spoiled_echoes_use_a_t1_map_in_milliseconds(self):
        maps = self.spgr("--t1-map", self.study.path("t1_ms.nii"), "--t1-map-unit", "ms")
        np.testing.assert_allclose(maps["t1_before"], self.study.t1[self.study.mask], rtol=1e-5)
        self.assert_truth(maps, 0.01)

    def test_a_single_t1_is_used_for_all_voxels(self):
        maps = self.spgr("--t1", "0.65", "--t1-blood", "1.4")
        np.testing.assert_allclose(maps["t1_before"], 0.65, rtol=1e-6)
        np.testing.assert_allclose(maps.curves["portal"], self.study.portal, atol=2e-3 * self.study.portal.max())

    def test_a_t1_outside_its_range_has_a_status_and_moves_no_curve(self):
        s = self.study
        t1, voxels = s.t1.copy(), np.argwhere(s.mask)
        t1[tuple(np.argwhere(s.artery)[0])] = 15
        t1[tuple(np.argwhere(s.vein)[0])] = 9
        for voxel, outlier in zip(voxels[:4], (0.005, 10.5, 40, 1e6)):
            t1[tuple(voxel)] = outlier
        clean = self.spgr("--t1-map", s.save("t1.nii", s.t1))
        maps = self.spgr("--t1-map", s.save("outliers.nii", t1))
        self.assertEqual(list(maps["status"][:5]), [8, 8, 8, 8, 0])
        self.assertIn("4 of 90 voxels not fitted: T1 unknown or out of bounds (status 8)", self.output)
        self.assertIn("the arterial VOI: 1 of 3 voxels have no number in some frame, or no T1 from 0.01 to 10 s", self.output)
        for name in ("arterial", "portal"):
            np.testing.assert_allclose(maps.curves[name], clean.curves[name], rtol=1e-6)
        for name in ("ka", "kp"):
            np.testing.assert_allclose(maps[name][4:], clean[name][4:], rtol=1e-4)

    def test_a_given_t1_of_blood_makes_that_of_the_map_unnecessary_in_vois(self):
        s = self.study
        maps = self.spgr("--t1-map", s.save("liver_only.nii", np.where(s.mask, s.t1, 0)), "--t1-blood", "1.4")
        self.assert_truth(maps, 0.01)

    def test_first_frames_that_are_not_in_the_steady_state_are_noticed(self):
        s = self.study
        signal = spoiled_echo(1 / (1 / s.t1[..., None] + R1 * s.concentration))
        options = ("--signal", "spgr", "--relaxivity", str(R1), "--tr", str(TR_MS), "--flip-angle", str(FLIP), "--t1-map",
                   s.path("t1_ms.nii"), "--t1-map-unit", "ms")
        self.fit(*options, scan=s.words("spgr.nii"))
        self.assertNotIn("steady state", self.output)
        signal[..., 0] *= 1.3
        signal[..., 1] *= 1.1
        s.save("unsteady.nii", signal)
        self.fit(*options, scan=s.words("unsteady.nii"))
        self.assertIn("the mask is brighter in frame 0-1 than next", self.output)
        maps = self.fit(*options, "--skip-frames", "0-1", scan=s.words("unsteady.nii"))
        self.assertNotIn("steady state", self.output)
        self.assert_truth(maps, 0.01)

    def test_labels_choose_the_vessels_of_a_segmentation(self):
        s = self.study
        both = s.save("vessels.nii", 7.0 * s.artery + 2.0 * s.vein + 3.0 * s.mask)
        words = list(s.words())
        words[7] = words[9] = both
        chosen, separate = self.fit("--arterial-labels", "7", "--portal-labels", "2", scan=words), self.fit(name="two.h5")
        for name in MAPS:
            np.testing.assert_array_equal(chosen[name], separate[name])
        self.assertEqual(chosen.configuration["portal-labels"], [2])

    def test_signals_linear_in_R1_are_converted(self):
        maps = self.fit("--signal", "linear", "--relaxivity", str(R1), "--t1-map", self.study.path("t1_ms.nii"),
                        "--t1-map-unit", "ms", scan=self.study.words("linear.nii"))
        self.assert_truth(maps, 0.01)

    def test_hounsfield_units_are_measured_from_the_baseline(self):
        maps = self.fit("--signal", "ct", scan=self.study.words("ct.nii.gz"))
        self.assert_truth(maps, 0.01)
        np.testing.assert_allclose(maps["baseline_signal"], 40, rtol=1e-4)
        self.assertEqual(maps.unit["sum_of_squares"], "HU^2")

    def test_the_detected_baseline_is_reported_and_a_given_one_is_used(self):
        found = self.fit("--signal", "ct", scan=self.study.words("ct.nii.gz"))
        # The bolus arrives at 12 s: frame 5 is at 11.85 s.
        self.assertIn("baseline: frames 0 to 5", self.output)
        self.assertEqual(found.configuration["baseline"], [0, 5])
        given = self.fit("--signal", "ct", "--baseline", "1,3", scan=self.study.words("ct.nii.gz"))
        self.assertEqual(given.configuration["baseline"], [1, 3])

    def test_an_aorta_brightened_by_inflow_uses_the_portal_baseline(self):
        s = self.study
        signal = spoiled_echo(1 / (1 / s.t1[..., None] + R1 * s.concentration))
        signal[s.artery, :6] *= 1.9
        s.save("inflow.nii", signal)
        options = ("--signal", "spgr", "--relaxivity", str(R1), "--tr", str(TR_MS), "--flip-angle", str(FLIP), "--t1", "0.65",
                   "--t1-blood", "1.4")
        own = self.fit(*options, scan=s.words("inflow.nii"))
        self.assertIn("give --arterial-baseline portal", self.output)
        portal = self.fit(*options, "--arterial-baseline", "portal", scan=s.words("inflow.nii"))
        self.assertNotIn("blood mixes", self.output)
        self.assertLess(own.curves["arterial"].max(), 0.6 * s.arterial.max())
        np.testing.assert_allclose(portal.curves["arterial"][6:], s.arterial[6:], atol=0.01 * s.arterial.max())


class Regions(PerfusionJobs):
    def setUp(self):
        super().setUp()
        s = self.study
        self.labels = np.zeros(s.mask.shape, np.int32)
        self.labels[:2], self.labels[2:5], self.labels[0, 0, 0] = 3, 7, 9
        s.save("regions.nii", self.labels)
        self.names = s.path("names.txt")
        with open(self.names, "w", encoding="utf-8") as file:
            file.write("3 Left lobe\n7\tright, lower\n9 outside the mask\n")

    def test_have_the_quartiles_of_every_map_as_csv_and_in_the_report(self):
        maps = self.fit("--regions", self.study.path("regions.nii"), "--region-names", self.names, ranks=2)
        self.assertIn("1 of its 3 regions have no voxel in the mask", self.output)
        out, labels = self.path("out.h5"), self.labels[self.study.mask]
        self.assertEqual(voxherd("export", out, "--to", "csv", self.path("csv"))[0], 0)
        with open(self.path("csv/regions.csv"), encoding="utf-8", newline="") as file:
            rows = {(int(row["label"]), row["map"]): row for row in csv.DictReader(file)}
        self.assertEqual(voxherd("report", out)[0], 0)
        with open(self.path("out.report.json"), encoding="utf-8") as file:
            reported = {region["label"]: region for region in json.load(file)["regions"]}
        self.assertEqual({label: region["name"] for label, region in reported.items()}, {3: "Left lobe", 7: "right, lower"})
        floats = [name for name in maps.maps if maps[name].dtype == np.float32]
        self.assertEqual(set(rows), {(label, name) for label in (3, 7) for name in floats})
        for (label, name), row in rows.items():
            values = maps[name][(labels == label) & (maps["status"] == 0)].astype(float)
            self.assertEqual((row["name"], row["unit"], int(row["voxels"])), (reported[label]["name"], maps.unit[name], len(values)))
            for key, q in (("lower_quartile", 25), ("median", 50), ("upper_quartile", 75)):
                np.testing.assert_allclose([float(row[key]), reported[label][name][key]], np.percentile(values, q), rtol=1e-5)
        with open(self.path("out.report.html"), encoding="utf-8") as file:
            self.assertIn("Median and quartiles in each region", file.read())

    def test_outside_the_mask_are_refused(self):
        self.study.save("outside.nii", np.where(self.study.mask, 0, 1))
        for status, expected, options in ((65, "none of its regions has a voxel in the mask", ("--regions", self.study.path("outside.nii"))),
                                          (2, "--region-names has no meaning without --regions", ("--region-names", self.names))):
            self.assert_rejected(status, expected, *options)

    def test_without_regions_there_is_no_csv(self):
        self.fit()
        status, output = voxherd("export", self.path("out.h5"), "--to", "csv", self.path("csv"))[0::2]
        self.assertEqual(status, 65)
        self.assertIn("without a connectome or regions", output)


class Frames(PerfusionJobs):
    def test_one_image_per_frame_gives_the_same_bytes_as_one_image(self):
        self.fit(name="one.h5")
        names = [self.path(f"frame_{i:03}.nii{'.gz' if i % 2 else ''}") for i in range(48)]
        for i, name in enumerate(names):
            write_nifti(name, self.study.concentration[..., i])
        plain = [self.path(f"plain_{i:03}.nii") for i in range(48)]
        for i, name in enumerate(plain):
            write_nifti(name, self.study.concentration[..., i])
        listed = self.path("frames.txt")
        with open(listed, "w", encoding="utf-8") as file:
            file.writelines(os.path.basename(name) + "\n" for name in plain)
        rest = self.study.words()[2:]
        for images in (names, plain, [listed]):
            self.fit(scan=("--dynamic", *images, *rest), name="many.h5", ranks=2)
            self.assertEqual(digest(self.path("many.h5")), digest(self.path("one.h5")))

    def test_a_compressed_series_gives_the_same_bytes(self):
        self.fit(name="plain.h5")
        self.study.save("series.nii.gz", self.study.concentration)
        self.fit(scan=self.study.words("series.nii.gz"), name="compressed.h5", ranks=2)
        self.assertEqual(digest(self.path("plain.h5")), digest(self.path("compressed.h5")))

    def test_padded_frames_are_excluded_from_the_fit(self):
        padded = self.study.concentration.copy()
        padded[..., 42:] = 0
        self.study.save("padded.nii", padded)
        maps = self.fit(scan=self.study.words("padded.nii"))
        self.assertIn("frames 42-47 contain only zeros", self.output)
        self.assertEqual(list(np.flatnonzero(maps.curves["counted"] == 0)), [42, 43, 44, 45, 46, 47])
        self.assert_truth(maps, 5e-3)

    def test_a_corrupt_frame_is_detected_and_a_listed_one_is_skipped(self):
        broken = self.study.concentration.copy()
        broken[..., 40], broken[..., 44] = np.nan, 1000
        self.study.save("broken.nii", broken)
        maps = self.fit("--skip-frames", "44", scan=self.study.words("broken.nii"))
        self.assertIn("frames 40 contain only zeros", self.output)
        self.assertEqual(maps.configuration["skipped-frames"], "40, 44")
        # Inputs are interpolated linearly over the missing frames.
        self.assert_truth(maps, 5e-3)

    def test_uneven_times_are_reported_and_fitted(self):
        times = np.cumsum(np.concatenate([[0], np.full(25, 1.5), np.full(14, 3.0), np.full(8, 6.0)]))
        uneven = Study(os.path.join(self.folder, "uneven"), times)
        maps = self.fit(scan=uneven.words())
        self.assertIn("48 frames at uneven times", self.output)
        self.assert_truth(maps, 5e-3, uneven.truth)
        np.testing.assert_allclose(maps.curves["tissue_fit"], maps.curves["tissue"], atol=0.02)

    def test_a_spacing_replaces_a_file_of_times(self):
        by_file = self.fit()
        words = list(self.study.words())
        words[2:4] = ("--spacing", "2.37")
        by_spacing = self.fit(scan=words)
        for name in MAPS:
            np.testing.assert_allclose(by_spacing[name], by_file[name], rtol=1e-5, atol=1e-5)


class Parameters(PerfusionJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # With one kl and one pair of delays, the mean curve is also a curve of the model.
        s = cls.study
        flows = np.column_stack([s.truth[name] for name in MAPS])
        flows[:, 0], flows[:, 3], flows[:, 4] = 400, 2.2, 1.3
        alike = np.zeros_like(s.concentration)
        alike[s.mask] = tissue(s.times, s.arterial, s.portal, flows)
        alike[s.artery], alike[s.vein] = s.arterial, s.portal
        s.save("alike.nii", alike)

    def test_a_fixed_parameter_has_its_value_and_no_deviation(self):
        maps = self.fit("--fix", "tau_p=1.5,tau_a=2")
        for name, value in (("tau_p", 1.5), ("tau_a", 2)):
            np.testing.assert_array_equal(maps[name], np.float32(value))
            self.assertFalse(np.any(maps[f"sd_{name}"]))
        self.assertEqual(maps.configuration["fixed"]["tau_p"], True)

    def test_bounds_are_respected_and_reported(self):
        maps = self.fit("--bounds", "kl=1:400,ka=20:40")
        self.assertLessEqual(maps["kl"].max(), 400.001)
        self.assertGreaterEqual(maps["ka"].min(), 19.999)
        at_kl = maps["at_bound"] & 1 == 1
        self.assertGreater(at_kl.sum(), 10)
        np.testing.assert_allclose(maps["kl"][at_kl], 400, rtol=1e-6)
        self.assertIn("at a bound:", self.output)

    def test_delays_of_zero_are_fitted(self):
        maps = self.fit("--delays", "zero")
        self.assertFalse(np.any(maps["tau_a"]) or np.any(maps["tau_p"]))

    def test_two_stages_give_all_voxels_the_mean_curves_delays(self):
        maps = self.fit("--delays", "two-stage", scan=self.study.words("alike.nii"))
        for name, true in (("tau_a", 2.2), ("tau_p", 1.3)):
            found = maps.configuration["start"][name]
            self.assertAlmostEqual(found, true, delta=0.02)
            np.testing.assert_array_equal(maps[name], np.float32(found))
        for name in ("ka", "kp"):
            np.testing.assert_allclose(maps[name], self.study.truth[name], rtol=0.02)
        self.assertIn("delays of all voxels", self.output)

    def test_a_window_limits_how_much_delays_differ(self):
        # Delays of 0.5 to 4 s around the mean curve's of about 2 s.
        maps = self.fit("--delays", "two-stage", "--delay-window", "0.5")
        tau_a = maps.configuration["start"]["tau_a"]
        self.assertLessEqual(np.abs(maps["tau_a"] - tau_a).max(), 0.5 + 1e-5)
        self.assertGreater(np.ptp(maps["tau_a"]), 0.9)

    def test_delays_can_come_from_a_separate_region(self):
        roi = np.zeros(self.study.mask.shape)
        voxel = tuple(np.argwhere(self.study.mask)[10])
        roi[voxel] = 1
        self.study.save("roi.nii", roi)
        maps = self.fit("--delays", "two-stage", "--delay-roi", self.study.path("roi.nii"))
        for name in ("tau_a", "tau_p"):
            np.testing.assert_allclose(maps[name], self.study.truth[name][10], atol=0.01)

    def test_a_single_input_is_fitted(self):
        flows = [[400, 80, 0, 2, 0]]
        series = np.zeros_like(self.study.concentration)
        series[self.study.mask] = tissue(self.study.times, self.study.arterial, self.study.portal, flows)
        series[self.study.artery] = self.study.arterial
        self.study.save("one.nii", series)
        words = self.study.words("one.nii")[:8]
        maps = self.fit("--model", "arterial", scan=words)
        for name, value in (("kl", 400), ("ka", 80), ("tau_a", 2)):
            np.testing.assert_allclose(maps[name], value, rtol=2e-3)
        self.assertFalse(np.any(maps["kp"]) or np.any(maps["sd_kp"]))
        np.testing.assert_allclose(maps["arterial_fraction"], 1)


class Files(PerfusionJobs):
    def test_curves_are_written_next_to_the_result(self):
        maps = self.fit()
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.curves.csv", "out.h5"])
        with open(self.path("out.curves.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 48)
        for column, name in (("t_s", "time"), ("arterial", "arterial"), ("portal", "portal"), ("counted", "counted"),
                             ("tissue", "tissue"), ("tissue_fit", "tissue_fit")):
            np.testing.assert_array_equal([float(row[column]) for row in rows], maps.curves[name])
        np.testing.assert_allclose(maps.curves["tissue"], self.study.concentration[self.study.mask].mean(0), rtol=1e-5,
                                   atol=1e-7)
        np.testing.assert_allclose(maps.curves["tissue_fit"], maps.curves["tissue"], atol=0.02)

    def test_the_log_summarises_the_mask(self):
        maps = self.fit()
        self.assertIn("90 of 90 voxels fitted", self.output)
        first, median, third = np.sort(maps["ka"])[[22, 44, 66]]
        self.assertIn(f"of 90 voxels: ka {median:.4g} ({first:.4g} to {third:.4g})", self.output)

    def test_verify_and_export_accept_the_result(self):
        self.fit()
        self.assertEqual(voxherd("verify", self.path("out.h5"))[0], 0)
        rc, _, output = voxherd("export", self.path("out.h5"), "--to", "nifti", self.path("maps"))
        self.assertEqual(rc, 0, output)
        written = os.listdir(self.path("maps"))
        for name in (*MAPS, "arterial_fraction", "r_squared", "status"):
            self.assertTrue(any(file.startswith(f"{name}.nii") for file in written), written)

    def test_only_selected_maps_are_written_and_they_are_the_same(self):
        every, some = self.fit(), self.fit("--maps", "kp,mean_transit_time", name="some.h5")
        self.assertEqual(set(some.maps), {"kp", "mean_transit_time", "iterations", "exit_code", "at_bound", "status"})
        for name in some.maps:
            np.testing.assert_array_equal(some[name], every[name])

    def test_exchanged_inputs_are_detected(self):
        words = list(self.study.words())
        words[7], words[9] = words[9], words[7]
        self.fit(scan=words)
        self.assertIn("are the two swapped?", self.output)

    def test_equations_without_a_solution_have_a_status_with_every_solver(self):
        s = self.study
        with open(self.path("multiple.csv"), "w", encoding="utf-8") as file:
            for t, a in zip(s.times, s.arterial):
                file.write(f"{t:.9g},{a:.9g},{a / 2:.9g}\n")
        scan = (*s.words()[:6], "--curves", self.path("multiple.csv"))
        for solver in ("lm", "linear", "simplex", "varpro"):
            maps = self.fit("--solver", solver, "--delays", "zero", scan=scan)
            self.assertEqual(set(maps["status"]), {5}, solver)
            for name, values in maps.maps.items():
                self.assertEqual(bool(np.any(values)), name == "status", name)
            self.assertIn("90 of 90 voxels not fitted: equations have no solution (status 5)", self.output)
            self.assertIn("the portal curve is 0.5 times the arterial one in all frames", self.output)

    def test_voxels_that_cannot_be_fitted_are_counted_by_reason(self):
        series = self.study.concentration.copy()
        voxels = np.argwhere(self.study.mask)
        series[tuple(voxels[0])] = 0
        series[tuple(voxels[1])][7] = np.nan
        self.study.save("holes.nii", series)
        maps = self.fit(scan=self.study.words("holes.nii"))
        self.assertEqual(list(maps["status"][:3]), [1, 3, 0])
        for name, values in maps.maps.items():
            if name != "status":
                self.assertFalse(np.any(values[:2]), name)
        self.assertIn("88 of 90 voxels fitted", self.output)
        self.assertIn("all samples zero", self.output)


if __name__ == "__main__":
    unittest.main()
