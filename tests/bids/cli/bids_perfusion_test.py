"""voxherd bids on dynamic series: which files it finds by the filter, and maps with the names of OSIPI's lexicon."""
import gzip
import json
import os
import subprocess
import unittest

import numpy as np
import perfusion_jobs  # noqa: F401  # skips this test where its tools are missing
from bids_jobs import BidsJobs, read, read_json, read_table
from program import VOXHERD, files_below

FILTER = {"dynamic": {"suffix": "dce"}, "mask": {"label": "liver"}, "arterial": {"label": "aorta"},
          "portal": {"label": "portalvein"}}
TIMES = [2.5 * i for i in range(60)]
STEM = "sub-01/perf/sub-01_model-dualinput_param"
NAMES = ("Fb_desc-arterial", "Fb_desc-arterialStd", "Fb_desc-portal", "Fb_desc-portalStd", "Fb_desc-total", "MTT", "Ta",
         "Ta_desc-std", "Tp", "Tp_desc-std", "fa", "k_desc-outflow", "k_desc-outflowStd", "v_desc-distribution")


def read_image(path):
    """The values of a float32 NIfTI-1 image, x first."""
    with gzip.open(path) as file:
        data = file.read()
    shape = np.frombuffer(data, "<i2", 8, 40)
    return np.frombuffer(data, "<f4", -1, 352).reshape(shape[1:1 + shape[0]], order="F")


class Dynamic(BidsJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.describe("raw")
        cls.describe("masks", "derivative")
        cls.study = cls.add_dynamic("raw/sub-01", VolumeTiming=TIMES)
        cls.write("filter.json", json.dumps(FILTER))

    def perfusion(self, out, *words, options="--density 1", expect=0, chosen=FILTER, level="participant", ranks=1):
        self.write("filter.json", json.dumps(chosen))
        return self.bids("raw", out, level, "--analysis", "perfusion", "--bids-filter-file", "filter.json", "-w",
                         f"work_{out}", "--nprocs", "1", "--perfusion-options", options, "--more", "--backend cpu", *words,
                         expect=expect, ranks=ranks)

    def add(self, subject, **metadata):
        """A further subject of one test; the other tests do not see it."""
        self.addCleanup(subprocess.run, ["rm", "-r", self.path("raw", subject)], check=True)
        return self.add_dynamic(f"raw/{subject}", **metadata)


class Maps(Dynamic):
    def test_maps_have_the_names_codes_and_units_of_the_lexicon(self):
        self.perfusion("out")
        self.assertEqual(self.derivatives("out"), sorted(f"{STEM}-{name}_perfmap.{ending}" for name in NAMES
                                                         for ending in ("nii.gz", "json")))
        flow = read_json(self.path("out", f"{STEM}-Fb_desc-portal_perfmap.json"))
        self.assertEqual((flow["Quantity"], flow["QuantityCode"], flow["Units"]),
                         ("Blood flow", "Q.PH1.003", "mL/min/100mL"))
        for file in ("perf/sub-01_dce.nii", "perf/sub-01_dce.json", "perf/sub-01_label-liver_mask.nii",
                     "perf/sub-01_label-aorta_mask.nii", "perf/sub-01_label-portalvein_mask.nii"):
            self.assertIn(f"bids:raw:sub-01/{file}", flow["Sources"])
        self.assertIn("Materne R et al.", read(self.path("out/logs/CITATION.md")).decode())

    def test_values_are_those_of_the_result_in_the_units_of_the_lexicon(self):
        self.perfusion("dense", options="--density 1.05 --haematocrit 0.4")
        result = self.path("work_dense/sub-01/perf/sub-01_perfusion.h5")
        subprocess.run([VOXHERD, "export", result, "--to", "nifti", self.path("maps")], check=True, capture_output=True)
        for map, name, factor in (("kp", "Fp_desc-portal", 1.05), ("sd_ka", "Fp_desc-arterialStd", 1.05),
                                  ("kl", "k_desc-outflow", 1.05 / 6000), ("tau_a", "Ta", 1),
                                  ("distribution_volume", "v_desc-distribution", 100)):
            expected = read_image(self.path(f"maps/{map}.nii.gz"))
            self.assertGreater(expected.max(), 0)
            np.testing.assert_allclose(read_image(self.path("dense", f"{STEM}-{name}_perfmap.nii.gz")), factor * expected,
                                       rtol=2e-7)
        sidecar = read_json(self.path("dense", f"{STEM}-Fp_desc-total_perfmap.json"))
        self.assertEqual(sidecar["QuantityCode"], "Q.PH1.002")
        self.assertEqual(sidecar["Model"]["Parameters"]["Haematocrit"], 0.4)
        # kp of the truth is that of blood at 1 g/ml: in plasma 0.6 of it.
        kp = read_image(self.path("dense", f"{STEM}-Fp_desc-portal_perfmap.nii.gz"))[self.study.mask]
        np.testing.assert_allclose(kp, 0.6 * self.study.truth["kp"], rtol=5e-3)

    def test_export_writes_the_files_of_the_app_twice_with_the_same_bytes(self):
        self.perfusion("first")
        self.perfusion("second", ranks=2)
        result = self.path("work_first/sub-01/perf/sub-01_perfusion.h5")
        subprocess.run([VOXHERD, "export", result, "--to", "bids", "--subject", "01", self.path("third")], check=True,
                       capture_output=True)
        for out in ("second", "third"):
            self.assertEqual(self.derivatives(out), self.derivatives("first"))
            for name in self.derivatives("first"):
                self.assertEqual(read(self.path(out, name)), read(self.path("first", name)), name)

    def test_the_group_level_writes_a_table_of_dynamic_series(self):
        self.perfusion("group")
        self.perfusion("group", level="group")
        (row,) = read_table(self.path("group/group_perf.tsv"))
        self.assertEqual((row["series"], row["perfusion"]), ("sub-01", "complete"))
        self.assertAlmostEqual(float(row["perfusion_ka"]), np.median(self.study.truth["ka"]), delta=0.5)
        self.assertNotIn("group_dwi.tsv", files_below(self.path("group")))

    def test_diffusion_and_dynamic_series_are_computed_together(self):
        self.add_series("raw/sub-02/dwi/sub-02")
        self.addCleanup(subprocess.run, ["rm", "-r", self.path("raw/sub-02")], check=True)
        self.bids("raw", "both", "participant", "--analysis", "tensor,perfusion", "--bids-filter-file", "filter.json", "-w",
                  "work_both", "--nprocs", "1", "--more", "--backend cpu")
        kinds = {(name.split("/")[0], name.rsplit("_", 1)[1]) for name in self.derivatives("both")}
        self.assertEqual(kinds, {("sub-01", "perfmap.nii.gz"), ("sub-01", "perfmap.json"), ("sub-02", "dwimap.nii.gz"),
                                 ("sub-02", "dwimap.json")})


class Found(Dynamic):
    def words(self, log, subject="sub-01"):
        (line,) = [line for line in log.splitlines() if f"info: subject {subject}: " in line]
        words = line.split(": ", 3)[-1].split()
        return {key: value for key, value in zip(words, words[1:]) if key.startswith("--")}

    def test_times_come_from_the_sidecar_that_has_them(self):
        for number, metadata in enumerate(({"FrameTimesStart": TIMES}, {"RepetitionTime": 2.5})):
            subject = f"sub-1{number}"
            self.add(subject, **metadata)
            words = self.words(self.perfusion(f"times{number}", "--participant-label", subject), subject)
            self.assertEqual(words["--times"], self.path(f"raw/{subject}/perf/{subject}_dce.json"))
            self.assertEqual(read(self.path(f"times{number}", f"{subject}/perf/{subject}_model-dualinput_param-MTT_perfmap.nii.gz"))[:2],
                             b"\x1f\x8b")

    def test_times_are_inherited_from_a_folder_above(self):
        self.add("sub-20", FlipAngle=20)
        self.write("raw/dce.json", json.dumps({"VolumeTiming": TIMES}))
        self.addCleanup(os.remove, self.path("raw/dce.json"))
        words = self.words(self.perfusion("inherited", "--participant-label", "20"), "sub-20")
        self.assertEqual(words["--times"], self.path("raw/dce.json"))

    def test_masks_may_be_in_another_data_set_and_in_a_session(self):
        self.addCleanup(subprocess.run, ["rm", "-r", self.path("raw/sub-30")], check=True)
        self.add_dynamic("raw/sub-30", session="ses-a", VolumeTiming=TIMES)
        for label in ("liver", "aorta", "portalvein"):
            name = f"sub-30/ses-a/perf/sub-30_ses-a_label-{label}_mask.nii"
            os.makedirs(os.path.dirname(self.path("masks", name)), exist_ok=True)
            os.rename(self.path("raw", name), self.path("masks", name))
        words = self.words(self.perfusion("session", "-d", "masks", "--participant-label", "30"), "sub-30_ses-a")
        self.assertEqual(words["--portal-voi"], self.path("masks/sub-30/ses-a/perf/sub-30_ses-a_label-portalvein_mask.nii"))
        self.assertTrue(all(name.startswith("sub-30/ses-a/perf/sub-30_ses-a_model-") for name in self.derivatives("session")))

    def test_options_of_the_user_replace_files_and_sidecars(self):
        curves = self.study.path("inputs.csv")
        log = self.perfusion("own", options=f"--curves {curves} --spacing 2.5 --maps ka",
                             chosen={"dynamic": {"suffix": "dce"}, "mask": {"label": "liver"}})
        self.assertEqual({key for key in self.words(log) if key in ("--times", "--arterial-voi", "--portal-voi")}, set())
        self.assertEqual(len(self.derivatives("own")), 2)

    def test_numbers_of_spoiled_echoes_come_from_the_sidecars(self):
        self.add("sub-40", VolumeTiming=TIMES, RepetitionTimeExcitation=0.004, FlipAngle=20)
        for angle in (2, 10):
            self.copy(self.study.path("mask.nii"), f"raw/sub-40/anat/sub-40_flip-{angle}_VFA.nii")
            self.write(f"raw/sub-40/anat/sub-40_flip-{angle}_VFA.json",
                       json.dumps({"FlipAngle": angle, "RepetitionTimeExcitation": 0.005}))
        log = self.perfusion("echo", "--participant-label", "40", options="--signal spgr --relaxivity 4.5",
                             chosen={**FILTER, "VFA": {"datatype": "anat"}}, expect=65)
        words = self.words(log, "sub-40")
        self.assertEqual([words[name] for name in ("--tr", "--flip-angle", "--vfa-tr")], ["4", "20", "5"])
        self.assertEqual(words["--vfa-flip-angles"], "2,10")


    def add_flip_angles(self, subject, *sidecars, **metadata):
        """A dynamic series and one _VFA image for each sidecar."""
        self.add(subject, VolumeTiming=TIMES, FlipAngle=20, **metadata)
        for number, sidecar in enumerate(sidecars, 1):
            self.copy(self.study.path("mask.nii"), f"raw/{subject}/anat/{subject}_flip-{number}_VFA.nii")
            self.write(f"raw/{subject}/anat/{subject}_flip-{number}_VFA.json", json.dumps(sidecar))

    def echoes(self, subject, *words, expect=65):
        return self.perfusion("echo_" + subject, "--participant-label", subject, *words, expect=expect,
                              options="--signal spgr --relaxivity 4.5", chosen={**FILTER, "VFA": {"datatype": "anat"}})

    def test_each_image_has_the_repetition_time_of_its_own_sidecar_by_either_field(self):
        self.add_flip_angles("sub-60", {"FlipAngle": 10, "RepetitionTime": 0.005}, {"FlipAngle": 2, "RepetitionTimeExcitation": 0.005,
                                                                                    "RepetitionTime": 3}, RepetitionTime=0.004)
        words = self.words(self.echoes("sub-60"), "sub-60")
        self.assertEqual([words[name] for name in ("--tr", "--vfa-tr", "--vfa-flip-angles")], ["4", "5", "2,10"])

    def test_flip_angles_with_different_or_missing_repetition_times_are_refused(self):
        one = {"FlipAngle": 2, "RepetitionTimeExcitation": 0.005}
        for number, (other, expected) in enumerate((
                ({"FlipAngle": 10, "RepetitionTimeExcitation": 0.008}, "have repetition times of 5 and 8 ms"),
                ({"FlipAngle": 10}, "flip-2_VFA.nii: its sidecars have neither RepetitionTimeExcitation nor"),
                ({"FlipAngle": 10, "RepetitionTime": 2.5}, "flip-2_VFA.nii: its sidecars have neither"),
                ({"FlipAngle": 2, "RepetitionTimeExcitation": 0.005}, "have the same FlipAngle, 2 degrees"))):
            self.add_flip_angles(f"sub-7{number}", one, other, RepetitionTimeExcitation=0.004)
            with self.subTest(expected):
                self.assertIn(expected, self.echoes(f"sub-7{number}", expect=66))

    def test_a_nearer_mask_is_used_and_phase_images_are_not(self):
        self.add("sub-80", VolumeTiming=TIMES)
        os.rename(self.path("raw/sub-80/perf/sub-80_dce.nii"), self.path("raw/sub-80/perf/sub-80_part-mag_dce.nii"))
        for part in ("phase", "real", "imag"):
            self.copy(self.path("raw/sub-80/perf/sub-80_part-mag_dce.nii"), f"raw/sub-80/perf/sub-80_part-{part}_dce.nii")
        self.copy(self.study.path("mask.nii"), "masks/sub-80/perf/sub-80_label-liver_mask.nii")
        self.copy(self.study.path("mask.nii"), "raw/sub-80/perf/sub-80_part-phase_label-liver_mask.nii")
        self.copy(self.study.path("mask.nii"), "raw/sub-80/perf/sub-80_acq-ref_dce.nii")
        log = self.perfusion("near", "-d", "masks", "--participant-label", "80")
        self.assertEqual(self.words(log, "sub-80_part-mag")["--mask"], self.path("raw/sub-80/perf/sub-80_label-liver_mask.nii"))
        self.assertEqual(log.count("left out: it is the "), 3)
        self.assertIn("sub-80_acq-ref_dce.nii: left out: it has a single volume", log)
        self.assertEqual({name.split("_model-")[0] for name in self.derivatives("near")}, {"sub-80/perf/sub-80_part-mag"})


class OneName(Dynamic):
    def test_a_diffusion_and_a_dynamic_series_of_one_name_are_computed_one_or_several_at_a_time(self):
        self.add("sub-90", VolumeTiming=TIMES)
        self.add_series("raw/sub-90/dwi/sub-90")
        self.write("filter.json", json.dumps(FILTER))
        for places in ("1", "2"):
            out = "one_name" + places
            self.bids("raw", out, "participant", "--analysis", "tensor,perfusion", "--bids-filter-file", "filter.json", "-w", "work_" + out,
                      "--nprocs", "2", "--per-node", places, "--participant-label", "90", "--more", "--backend cpu")
            self.assertEqual({name.rsplit("_", 1)[1] for name in self.derivatives(out)},
                             {"dwimap.nii.gz", "dwimap.json", "perfmap.nii.gz", "perfmap.json"})
        for name in self.derivatives("one_name1"):
            self.assertEqual(read(self.path("one_name1", name)), read(self.path("one_name2", name)), name)
        self.bids("raw", "one_name3", "participant", "--analysis", "tensor,perfusion", "--bids-filter-file", "filter.json", "-w",
                  "work_one_name3", "--nprocs", "1", "--series", "sub-90_perf", "--more", "--backend cpu")
        self.assertEqual({name.rsplit("_", 1)[1] for name in self.derivatives("one_name3")}, {"perfmap.nii.gz", "perfmap.json"})


class Refused(Dynamic):
    def test_two_equal_sidecars_are_refused_by_name(self):
        self.add("sub-59")
        os.rename(self.path("raw/sub-59/perf/sub-59_dce.nii"), self.path("raw/sub-59/perf/sub-59_acq-a_run-1_dce.nii"))
        for entity in ("acq-a", "run-1"):
            self.write(f"raw/sub-59/perf/sub-59_{entity}_dce.json", json.dumps({"VolumeTiming": TIMES}))
        self.assertRegex(self.perfusion("equal", "--participant-label", "59", expect=66),
                         r"sub-59_acq-a_dce\.json and \S*sub-59_run-1_dce\.json are equally the \.json of sub-59_acq-a_run-1_dce")

    def test_what_is_missing_is_named(self):
        without = {kind: value for kind, value in FILTER.items() if kind != "arterial"}
        for chosen, words, expected, status in (
                ({}, [], 'name its entities in --bids-filter-file, such as {"dynamic"', 2),
                ({**FILTER, "dynamic": {"suffix": "ct"}}, [], "no dynamic series that was asked for", 65),
                ({**FILTER, "dynamic": {"suffix": "dce", "datatype": "func"}}, [], "no dynamic series", 65),
                (without, [], "no arterial input; name the entities of its mask", 66),
                ({**FILTER, "VFA": {"datatype": "anat"}}, [], "have no meaning without --signal linear or spgr", 2),
                ({**FILTER, "portal": {"label": "vein"}}, [], "no file is the portal that --bids-filter-file names", 66),
                ({**FILTER, "mask": {"suffix": "mask"}}, [], "several files are the mask: sub-01_label-aorta_mask.nii, ", 66)):
            with self.subTest(expected):
                self.assertIn(expected, self.perfusion("refused", *words, chosen=chosen, expect=status))

    def test_a_series_without_times_or_with_wrong_ones_is_refused(self):
        for number, (metadata, expected, status) in enumerate((
                ({"FlipAngle": 20}, "none of FrameTimesStart, VolumeTiming and RepetitionTime", 66),
                ({"RepetitionTime": 0.004}, "RepetitionTime is 0.004, expected at least 0.5 s", 65),
                ({"VolumeTiming": TIMES[:-1]}, "VolumeTiming has 59 entries, expected 60 numbers", 65),
                ({"VolumeTiming": TIMES[:-1] + [3]}, "times must increase", 65))):
            subject = f"sub-5{number}"
            self.add(subject, **metadata)
            with self.subTest(expected):
                self.assertIn(expected, self.perfusion(f"r{number}", "--participant-label", subject, expect=status))


if __name__ == "__main__":
    unittest.main()
