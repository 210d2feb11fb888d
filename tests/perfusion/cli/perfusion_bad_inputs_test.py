"""Errors in perfusion's options and inputs are reported in one line, with the right status, before anything is
written."""
import gzip
import os
import unittest

import numpy as np
from perfusion_jobs import SIZE, PerfusionJobs, write_nifti

USAGE, BAD_DATA, MISSING = 2, 65, 66
SPGR = ("--signal", "spgr", "--relaxivity", "4", "--tr", "4", "--flip-angle", "20")


class BadInputs(PerfusionJobs):
    def given(self, **files):
        """The study's options with files replaced or (None) removed; keys are option names with _ for -."""
        words = dict(zip(self.study.words()[::2], self.study.words()[1::2]))
        for name, value in files.items():
            option = "--" + name.replace("_", "-")
            if value is None:
                words.pop(option, None)
            else:
                words[option] = value
        return [word for pair in words.items() for word in pair]

    def image(self, name, values, **how):
        return write_nifti(self.path(name), values, **how)

    def text(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    # The series and its frames

    def test_a_missing_series_time_or_input_is_requested(self):
        self.assert_rejected(USAGE, "--dynamic FILE ... is missing", scan=self.given(dynamic=None))
        self.assert_rejected(USAGE, "(--times FILE | --spacing S) is missing", scan=self.given(times=None))
        self.assert_rejected(USAGE, "--times and --spacing exclude each other", "--spacing", "2")
        self.assert_rejected(USAGE, "(--arterial-voi FILE | --arterial-curve FILE) is missing", scan=self.given(arterial_voi=None))
        self.assert_rejected(USAGE, "(with --model dual) is missing", scan=self.given(portal_voi=None))
        self.assert_rejected(USAGE, "--arterial-voi and --curves exclude each other", "--curves", self.study.path("inputs.csv"))
        self.assert_rejected(USAGE, "--arterial-voi and --arterial-curve exclude each other", "--arterial-curve", "x")
        self.assert_rejected(USAGE, "--portal-voi has no meaning without --model dual", "--model", "arterial")

    def test_missing_files_are_named(self):
        for option in ("dynamic", "times", "mask", "arterial_voi", "portal_voi"):
            self.assert_rejected(MISSING, "nowhere.nii", scan=self.given(**{option: self.path("nowhere.nii")}))

    def test_a_sidecar_that_is_deep_large_or_no_object_is_rejected(self):
        for text, expected in (("[" * 1000 + "]" * 1000, "too many levels"), ("{\"FrameTimesStart\": [0", "not a JSON object"),
                               (" " * (65 << 20), "expected a text file of at most")):
            sidecar = self.text("times.json", text)
            with self.subTest(expected):
                rc, output = self.launch(self.path("never.h5"), scan=self.given(times=sidecar))
                self.assertEqual((rc, output.count("voxherd: error:")), (BAD_DATA, 1), output)
                self.assertIn(expected, output)
                self.assertEqual(os.listdir(self.folder), ["times.json"])

    def test_a_series_of_too_few_frames_is_rejected(self):
        few = self.image("few.nii", self.study.concentration[..., :5])
        self.assert_rejected(BAD_DATA, "has 5 frames, expected a series of at least 6", scan=self.given(dynamic=few))

    def test_frames_in_the_shells_order_of_names_are_rejected(self):
        names = sorted(self.image(f"dyn_{i}.nii", self.study.concentration[..., i]) for i in range(12))
        rest = self.given(dynamic=None)
        self.assert_rejected(USAGE, "is before", scan=["--dynamic", *names, *rest])
        empty = self.text("list.txt", "\n\n")
        self.assert_rejected(BAD_DATA, "has no names", scan=self.given(dynamic=empty))

    def test_frames_of_different_sizes_are_rejected(self):
        one, other = self.image("a.nii", np.ones(SIZE)), self.image("b.nii", np.ones((6, 5, 3)))
        self.assert_rejected(BAD_DATA, "has 6 x 5 x 3 voxels, expected 6 x 5 x 4", scan=["--dynamic", *[one] * 6, other,
                                                                                *self.given(dynamic=None)])

    def test_times_that_do_not_match_the_frames_are_rejected(self):
        save = self.study.save_times
        times = self.study.times
        self.assert_rejected(BAD_DATA, "has 47 numbers in 47 rows, expected 48", scan=self.given(times=save("few.txt", times[:47])))
        swapped = times.copy()
        swapped[[7, 8]] = swapped[[8, 7]]
        self.assert_rejected(BAD_DATA, "line 9: frame 8 is at 16.59 s, not after frame 7 at 18.96 s",
                     scan=self.given(times=save("swapped.txt", swapped)))
        same = times.copy()
        same[3] = same[2]
        self.assert_rejected(BAD_DATA, "times must increase", scan=self.given(times=save("same.txt", same)))
        self.assert_rejected(BAD_DATA, "expected a number", scan=self.given(times=self.text("word.txt", "0\n2\nabout 4\n")))

    def test_times_that_cannot_be_seconds_are_rejected(self):
        save, times = self.study.save_times, self.study.times
        for factor, hours in ((1000, "30.94"), (1e298, "3.094e+296")):
            self.assert_rejected(BAD_DATA, f"ms.txt: the frames take {hours} hours, expected at most 6; give times in seconds",
                                 scan=self.given(times=save("ms.txt", times * factor)))
        self.assert_rejected(BAD_DATA, "--spacing: the frames take", "--spacing", "3000", scan=self.given(times=None))

        self.assert_rejected(BAD_DATA, "min.txt: frames are 0.0395 s apart on average, expected at least 0.1 s; give times in "
                             "seconds, not in minutes", scan=self.given(times=save("min.txt", times / 60)))

    def test_times_in_other_units_are_a_warning_that_names_them(self):
        for factor, unit in ((1 / 12, "minutes"), (30, "milliseconds")):
            rc, output = self.launch(self.path("out.h5"), "--overwrite",
                                     scan=self.given(times=self.study.save_times("unit.txt", self.study.times * factor)))
            self.assertEqual(rc, 0, output)
            self.assertIn(f"are the times in {unit}? expected seconds", output)

    def test_times_of_a_clock_are_rejected_also_in_a_sidecar(self):
        seconds = 43200 + 600 + self.study.times
        clock = seconds // 3600 * 10000 + seconds % 3600 // 60 * 100 + seconds % 60
        sidecar = self.text("times.json", '{"VolumeTiming": [' + ", ".join(f"{t:.2f}" for t in clock) + "]}")
        for times in (self.study.save_times("clock.txt", clock), sidecar):
            self.assert_rejected(BAD_DATA, "the times look like clock times (HHMMSS", scan=self.given(times=times))

    def test_a_single_long_gap_between_frames_is_a_warning(self):
        times = self.study.times + np.where(self.study.times > 60, 20, 0)
        rc, output = self.launch(self.path("out.h5"), scan=self.given(times=self.study.save_times("gap.txt", times)))
        self.assertEqual(rc, 0, output)
        self.assertIn("frames 25 and 26 are 22.37 s apart, more than 5 times as far as their neighbours", output)

    def test_an_impossible_t1_of_blood_is_a_warning(self):
        t1 = self.image("t1.nii", np.full(SIZE, 0.66))
        signal = self.image("signal.nii", 150 + 40 * self.study.concentration)
        rc, output = self.launch(self.path("out.h5"), *SPGR, "--t1-map", t1, scan=self.given(dynamic=signal))
        self.assertEqual(rc, 0, output)
        self.assertIn("the arterial VOI: T1 of blood before the agent is 0.66 s, expected 1 to 2.7 s", output)
        self.assertNotIn("the mask: T1", output)

    def test_a_repetition_time_of_seconds_is_refused_with_its_unit(self):
        self.assert_rejected(USAGE, "--tr is in ms; for 3.5 ms give --tr 3.5", *SPGR[:4], "--tr", "3500", *SPGR[6:], "--t1", "0.6",
                             "--t1-blood", "1.4")
        self.assert_rejected(USAGE, "--vfa-tr is in ms; for 5 ms give --vfa-tr 5", *SPGR, "--vfa", "v.nii", "--vfa-flip-angles",
                             "2,10,20", "--vfa-tr", "5000")

    def test_peaks_that_blood_never_has_are_a_warning(self):
        signal = self.image("signal.nii", 150 + 200 * self.study.concentration)
        for options, expected in ((("--signal", "ct"), "HU above its baseline, expected at most 800 in blood; is the series MR?"),
                                  (("--signal", "linear", "--relaxivity", "100", "--t1", "0.6", "--t1-blood", "1.4"),
                                   "mM, expected 0.5 to 20 mM; are --relaxivity 100 /s/mM")):
            rc, output = self.launch(self.path("out.h5"), "--overwrite", *options, scan=self.given(dynamic=signal))
            self.assertEqual(rc, 0, output)
            self.assertIn(expected, output)
        self.assertNotIn("expected 0.5 to 20 mM", self.launch(self.path("out.h5"), "--overwrite")[1])

    def test_a_bound_of_the_mean_curve_is_named_with_its_value(self):
        rc, output = self.launch(self.path("out.h5"), "--bounds", "tau_p=0:0.5,kl=1:4000")
        self.assertEqual(rc, 0, output)
        self.assertIn("the fit of the mean curve ends at tau_p = 0.5 s, its upper bound (--bounds changes bounds", output)

    def test_a_raw_signal_needs_the_option_that_says_so(self):
        signal = self.image("signal.nii", 150 + 40 * self.study.concentration)
        self.assert_rejected(USAGE, "if the series is a signal, give --signal", scan=self.given(dynamic=signal))
        rc, output = self.launch(self.path("out.h5"), "--signal", "concentration", scan=self.given(dynamic=signal))
        self.assertEqual(rc, 0, output)

    def test_missing_frames_cannot_be_skipped_or_used_as_a_baseline(self):
        self.assert_rejected(USAGE, "frame 48, but the series has frames 0 to 47", "--skip-frames", "40-48")
        self.assert_rejected(USAGE, 'found "4-2"', "--skip-frames", "4-2")
        self.assert_rejected(USAGE, "expected frames counted from 0", "--skip-frames", "x")
        self.assert_rejected(BAD_DATA, "4 of 48 frames are fitted, for 5 parameters", "--skip-frames", "4-47")
        ct = ("--signal", "ct")
        self.assert_rejected(USAGE, "the series has frames 0 to 47", *ct, "--baseline", "0,48")
        self.assert_rejected(USAGE, "expected the first and the last frame", *ct, "--baseline", "5")
        self.assert_rejected(USAGE, "expected the first and the last frame", *ct, "--baseline", "5,2")
        self.assert_rejected(BAD_DATA, "all of these frames are skipped", *ct, "--baseline", "1,2", "--skip-frames", "0-3")
        self.assert_rejected(USAGE, "--baseline has no meaning without --signal linear or spgr or ct", "--baseline", "0,3")

    def test_a_curve_that_rises_immediately_has_no_baseline(self):
        late = self.image("late.nii", self.study.concentration[..., 9:])
        times = self.study.save_times("late.txt", self.study.times[9:])
        self.assert_rejected(BAD_DATA, "rises from the first frame", "--signal", "ct", scan=self.given(dynamic=late, times=times))

    # Masks and VOIs

    def test_the_sizes_of_mask_and_series_are_reported_if_they_differ(self):
        other = self.image("other.nii", np.ones((6, 5, 3)))
        for option in ("mask", "arterial_voi", "portal_voi"):
            self.assert_rejected(BAD_DATA, "has 6 x 5 x 3 voxels, expected 6 x 5 x 4", scan=self.given(**{option: other}))

    def test_empty_masks_are_rejected(self):
        empty = self.image("empty.nii", np.zeros(SIZE))
        for option in ("mask", "arterial_voi", "portal_voi"):
            self.assert_rejected(BAD_DATA, "empty.nii: 0 of 120 voxels are above 0", scan=self.given(**{option: empty}))

    def test_a_damaged_compressed_image_is_rejected_although_it_is_long_enough(self):
        def damaged(name):
            image = self.image(name, np.ones(SIZE))
            with open(image, "rb") as file:
                packed = bytearray(gzip.compress(file.read() + bytes(8)))
            packed[-8] ^= 1
            with open(image, "wb") as file:
                file.write(packed)
            return image

        for option in ("mask", "arterial_voi", "portal_voi"):
            self.assert_rejected(BAD_DATA, f"{option}.nii: the gzip stream is damaged", scan=self.given(**{option: damaged(option + ".nii")}))
        self.assert_rejected(BAD_DATA, "t1.nii: the gzip stream is damaged", *SPGR, "--t1-map", damaged("t1.nii"))

    def test_a_voi_of_several_labels_is_rejected_unless_some_are_chosen(self):
        both = self.image("vessels.nii", 1.0 * self.study.artery + 2.0 * self.study.vein)
        vois = {"arterial_voi": both, "portal_voi": both}
        self.assert_rejected(BAD_DATA, "vessels.nii: has 2 labels (1, 2), expected a mask of one vessel; --arterial-labels chooses",
                             scan=self.given(**vois))
        self.assert_rejected(BAD_DATA, "--portal-labels chooses", "--arterial-labels", "1", scan=self.given(**vois))
        self.assert_rejected(BAD_DATA, "--portal-labels 3: ", "--arterial-labels", "1", "--portal-labels", "3", scan=self.given(**vois))
        self.assert_rejected(BAD_DATA, "it contains 1, 2", "--arterial-labels", "1", "--portal-labels", "3", scan=self.given(**vois))
        self.assert_rejected(USAGE, "--arterial-labels has no meaning without --arterial-voi", "--arterial-labels", "1",
                             scan=self.study.words(vois=False))

    def test_vois_that_share_voxels_are_rejected(self):
        wide = self.image("wide.nii", self.study.artery | self.study.vein)
        expected = "3 of {} voxels of the arterial VOI are also in the portal VOI"
        self.assert_rejected(BAD_DATA, expected.format(3), scan=self.given(portal_voi=self.study.path("artery.nii")))
        self.assert_rejected(BAD_DATA, expected.format(6), scan=self.given(arterial_voi=wide))
        both = self.image("vessels.nii", 1.0 * self.study.artery + 2.0 * self.study.vein)
        self.assert_rejected(BAD_DATA, expected.format(3), "--arterial-labels", "1", "--portal-labels", "1-2",
                             scan=self.given(arterial_voi=both, portal_voi=both))

    def test_a_voi_outside_the_image_is_rejected(self):
        away = self.image("away.nii", self.study.artery, origin_mm=(500, 0, 0))
        self.assert_rejected(BAD_DATA, "expected less than half a voxel", scan=self.given(arterial_voi=away))

    def test_a_voi_with_invalid_values_is_rejected(self):
        series = self.study.concentration.copy()
        series[self.study.vein, 9] = np.nan
        self.assert_rejected(BAD_DATA, "the portal VOI: none of its 3 voxels has a number in every frame",
                     scan=self.given(dynamic=self.image("nan.nii", series)))

    def test_a_voi_that_the_agent_never_reaches_is_rejected(self):
        series = self.study.concentration.copy()
        series[self.study.artery] = -1
        self.assert_rejected(BAD_DATA, "the arterial curve has no value above 0",
                     scan=self.given(dynamic=self.image("blank.nii", series)))

    # Curves

    def test_invalid_tables_of_curves_are_rejected(self):
        def refuse(expected, text):
            self.assert_rejected(BAD_DATA, expected, scan=self.given(arterial_voi=None, portal_voi=None, curves=self.text("c.csv", text)))

        refuse("has 2 columns, expected at least 3", "t,a\n0,0\n200,1\n")
        refuse("has 1 row of numbers", "t,a,p\n0,0,0\n")
        refuse("line 4: 10 s is not after 20 s", "t,a,p\n0,0,0\n20,1,1\n10,2,2\n")
        refuse("expected at least the frames' 0 to 111.39 s", "t,a,p\n0,0,0\n60,1,1\n")
        refuse("found \"x\", expected a number", "t,a,p\n0,0,0\n60,x,1\n")
        refuse("line 3: found 60 nan, expected numbers", "t,a,p\n0,0,0\n60,nan,1\n120,1,1\n")

    def test_the_same_curve_for_both_inputs_is_rejected(self):
        table = self.text("c.csv", "".join(f"{t},{a}\n" for t, a in zip(self.study.times, self.study.arterial)))
        self.assert_rejected(BAD_DATA, "c.csv: the arterial and the portal curve are the same",
                             scan=self.given(arterial_voi=None, portal_voi=None, arterial_curve=table, portal_curve=table))

    # Signal and T1

    def test_options_required_by_the_signal_type_are_requested(self):
        self.assert_rejected(USAGE, "--signal mri: expected one of concentration, linear, spgr, ct", "--signal", "mri")
        self.assert_rejected(USAGE, "also needs --relaxivity", "--signal", "linear")
        self.assert_rejected(USAGE, "also needs --relaxivity, r1 of the contrast agent in /s/mM; --tr, the repetition time of the series in ms; "
                             "--flip-angle, that of the series in degrees; --t1, --t1-map or --vfa", "--signal", "spgr")
        self.assert_rejected(USAGE, "also needs --tr", "--signal", "spgr", "--relaxivity", "4")
        self.assert_rejected(USAGE, "also needs --flip-angle", *SPGR[:6])
        self.assert_rejected(USAGE, "also needs --t1, --t1-map or --vfa", *SPGR)
        self.assert_rejected(USAGE, "2 of --t1, --t1-map, --vfa given", *SPGR, "--t1", "0.6", "--t1-map", "x.nii")
        self.assert_rejected(USAGE, "--t1-blood is missing", *SPGR, "--t1", "0.6")
        self.assert_rejected(USAGE, "--relaxivity has no meaning without --signal linear or spgr", "--signal", "ct", "--relaxivity", "4")
        self.assert_rejected(USAGE, "--tr has no meaning with --signal linear", "--signal", "linear", "--relaxivity", "4", "--tr", "4",
                     "--t1", "0.6", "--t1-blood", "1.4")
        self.assert_rejected(USAGE, "--t1 0.001: expected 0.01 to 10", *SPGR, "--t1", "0.001")
        self.assert_rejected(USAGE, "--flip-angle 200: expected 0.1 to 90", *SPGR[:6], "--flip-angle", "200")

    def test_flip_angles_that_do_not_match_their_images_are_rejected(self):
        vfa = self.image("vfa.nii", np.ones((*SIZE, 3)))
        self.assert_rejected(USAGE, "also needs --vfa-flip-angles", *SPGR, "--vfa", vfa)
        self.assert_rejected(BAD_DATA, "has 3 volumes, but --vfa-flip-angles 2 angles", *SPGR, "--vfa", vfa, "--vfa-flip-angles", "2,10")
        self.assert_rejected(USAGE, "all are equal", *SPGR, "--vfa", vfa, "--vfa-flip-angles", "5,5,5")
        self.assert_rejected(USAGE, "1 angles, expected 2 to 16", *SPGR, "--vfa", vfa, "--vfa-flip-angles", "5")
        self.assert_rejected(USAGE, "120 degrees, expected 0.1 to 90", *SPGR, "--vfa", vfa, "--vfa-flip-angles", "5,10,120")
        self.assert_rejected(USAGE, "expected numbers separated by commas", *SPGR, "--vfa", vfa, "--vfa-flip-angles", "5;10")

    def test_a_t1_map_that_is_missing_or_in_a_wrong_unit_is_rejected(self):
        nothing = self.image("zero_t1.nii", np.zeros(SIZE))
        self.assert_rejected(BAD_DATA, "zero_t1.nii: T1 is above 0 in none of", *SPGR, "--t1-map", nothing)
        milliseconds = self.image("ms.nii", np.full(SIZE, 800.0))
        self.assert_rejected(BAD_DATA, "--t1-map-unit ms", *SPGR, "--t1-map", milliseconds)
        other = self.image("small.nii", np.ones((6, 5, 3)))
        self.assert_rejected(BAD_DATA, "has 6 x 5 x 3 voxels, expected 6 x 5 x 4", *SPGR, "--t1-map", other)

    # The fit

    def test_fit_options_out_of_range_are_rejected(self):
        self.assert_rejected(USAGE, "--solver bfgs: expected one of lm, simplex, varpro, linear", "--solver", "bfgs")
        self.assert_rejected(USAGE, "--starts 9: expected 0 to 8", "--starts", "9")
        self.assert_rejected(USAGE, "--haematocrit 1: expected 0 to 0.9", "--haematocrit", "1")
        self.assert_rejected(USAGE, "--density 3: expected 0.5 to 2", "--density", "3")
        self.assert_rejected(USAGE, "--iterations 0: expected 1 to 100000", "--iterations", "0")
        self.assert_rejected(USAGE, 'found "Ktrans", expected all, or some of kl, ka', "--maps", "ka,Ktrans")

    def test_invalid_lists_of_parameters_are_rejected(self):
        self.assert_rejected(USAGE, 'found "kx=1", expected NAME=VALUE of kl, ka, kp', "--fix", "kx=1")
        self.assert_rejected(USAGE, 'found "ka", expected NAME=VALUE', "--fix", "ka")
        self.assert_rejected(USAGE, "ka is given twice", "--start", "ka=1,ka=2")
        self.assert_rejected(USAGE, 'found "ka=1", expected NAME=MIN:MAX', "--bounds", "ka=1")
        self.assert_rejected(USAGE, "expected the smaller value first", "--bounds", "ka=5:1")
        self.assert_rejected(USAGE, "expected 0 or more ml/100 g/min", "--bounds", "ka=-5:100")
        self.assert_rejected(USAGE, "--start kl=5000: expected 1 to 4000 ml/100g/min, its bounds", "--start", "kl=5000")
        self.assert_rejected(USAGE, "all parameters are fixed", "--fix", "kl=1,ka=1,kp=1,tau_a=0,tau_p=0")

    def test_meaningless_combinations_are_rejected(self):
        self.assert_rejected(USAGE, "--tolerance has no meaning without --solver simplex", "--tolerance", "1e-6")
        self.assert_rejected(USAGE, "--bounded has no meaning without --solver lm or simplex", "--solver", "varpro", "--bounded", "no")
        self.assert_rejected(USAGE, "--bounds has no meaning without bounds", "--solver", "simplex", "--bounds", "ka=0:1")
        self.assert_rejected(USAGE, "--delay-window has no meaning without --delays two-stage", "--delay-window", "1")
        self.assert_rejected(USAGE, "all delays are fixed", "--delays", "two-stage", "--fix", "tau_a=0,tau_p=0")
        self.assert_rejected(USAGE, "--solver linear does not fit delays", "--solver", "linear")
        self.assert_rejected(USAGE, "--starts has no meaning with --solver linear", "--solver", "linear", "--delays", "zero",
                     "--starts", "2")
        self.assert_rejected(USAGE, "only the simplex takes another convolution", "--convolution", "block-fft")
        self.assert_rejected(USAGE, "paper's discretisation needs evenly spaced frames", "--solver", "simplex", "--discretisation",
                     "paper", scan=self.given(times=self.study.save_times("uneven.txt", self.study.times ** 1.1)))

    def test_an_existing_result_and_its_curves_are_not_overwritten(self):
        self.fit()
        with open(self.path("out.curves.csv"), encoding="utf-8") as file:
            before = file.read()
        rc, output = self.launch(self.path("out.h5"), "--haematocrit", "0.4")
        self.assertEqual(rc, USAGE, output)
        with open(self.path("out.curves.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), before)

    def test_several_ranks_report_an_error_in_headers_or_signals_once(self):
        series = self.study.concentration.copy()
        series[self.study.vein, 9] = np.nan
        nan = self.image("nan.nii.gz", series)
        empty = self.image("empty.nii", np.zeros(SIZE))
        for files, options, status, words in (({"mask": empty}, (), BAD_DATA, "0 of 120 voxels"),
                                              ({"dynamic": nan}, (), BAD_DATA, "the portal VOI: none of its 3 voxels"),
                                              ({}, ("--convolution", "direct"), USAGE, "only the simplex"),
                                              ({}, ("--fix", "x"), USAGE, "expected NAME=VALUE")):
            rc, output = self.launch(self.path("never.h5"), *options, scan=self.given(**files), ranks=3)
            self.assertEqual(rc, status, output)
            self.assertEqual(output.count("voxherd: error:"), 1, output)
            self.assertIn(words, output)

    def test_a_dry_run_writes_nothing(self):
        rc, output = self.launch(self.path("never.h5"), "--dry-run")
        self.assertEqual(rc, 0, output)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
