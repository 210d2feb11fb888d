"""What voxherd bids takes for a series, a parcellation or a companion of a series, and what it does not."""
import gzip
import json
import os
import re
import shutil
import struct
import unittest

from bids_jobs import Layouts, commands, read


def first_volumes(source, target, volumes):
    """The first volumes of a NIfTI-1 image, as a .nii file."""
    with gzip.open(source) as file:
        data = bytearray(file.read())
    dim, bits, offset = struct.unpack_from("<8h", data, 40), struct.unpack_from("<h", data, 72)[0], struct.unpack_from("<f", data, 108)[0]
    struct.pack_into("<h", data, 48, volumes)
    with open(target, "wb") as file:
        file.write(data[:int(offset) + volumes * dim[1] * dim[2] * dim[3] * bits // 8])


class Chosen(Layouts):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bvals = [float(b) for b in read(cls.phantom(), "bvals").split()]

    def setUp(self):
        """A raw data set with one series, that of sub-01."""
        self.describe("raw")
        self.addCleanup(shutil.rmtree, self.path("raw"))
        self.add_series("raw/sub-01/dwi/sub-01_dir-AP")

    def add_volumes(self, name, volumes, b=None):
        """NAME_dwi.nii with so many volumes; with b-values if they are given."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        first_volumes(f"{self.phantom()}/data.nii.gz", self.path(name + "_dwi.nii"), volumes)
        if b is not None:
            self.write(name + "_dwi.bval", " ".join(map(str, b)) + "\n")
            self.write(name + "_dwi.bvec", "\n".join([" ".join("0" * len(b))] * 3) + "\n")

    def left_out(self, log):
        return dict(re.findall(r"info: \S*/(\S+): left out: it (.*)", log))


class Series(Chosen):
    def test_parts_of_complex_images_are_left_out_and_the_magnitude_is_fitted(self):
        for part in ("mag", "phase", "real", "imag"):
            self.add_series(f"raw/sub-02/dwi/sub-02_part-{part}")
        log = self.participant("raw")
        self.assertEqual(set(commands(log)), {"sub-01_dir-AP", "sub-02_part-mag"})
        self.assertEqual(set(self.left_out(log)), {f"sub-02_part-{part}_dwi.nii.gz" for part in ("phase", "real", "imag")})
        self.assertFalse([name for name in self.out() if re.search("part-(phase|real|imag)", name)])

    def test_the_sidecar_may_say_that_an_image_is_a_phase_or_a_map_of_the_scanner(self):
        for number, word in enumerate(("M", "P", "PHASE", "IMAGINARY", "ADC", "TRACEW", "FA")):
            self.add_series(f"raw/sub-02/dwi/sub-02_run-{number}")
            self.write(f"raw/sub-02/dwi/sub-02_run-{number}_dwi.json", json.dumps({"ImageType": ["ORIGINAL", "PRIMARY", word, "ND"]}))
        log = self.participant("raw", "--participant-label", "02")
        self.assertEqual(set(commands(log)), {"sub-02_run-0"})
        self.assertIn("ImageType TRACEW", self.left_out(log)["sub-02_run-5_dwi.nii.gz"])

    def test_series_of_b0_only_are_left_out_with_status_0(self):
        begin = "raw/sub-01/dwi/sub-01_dir-PA"
        self.add_volumes(begin + "_run-1", 3, [0, 0, 0])
        self.add_volumes(begin + "_run-2", 3, [5, 5, 5])
        self.add_volumes(begin + "_run-3", 9, [0, 5, 10, 45, 0, 0, 0, 0, 15])
        self.add_volumes(begin + "_run-4", 2)
        log = self.participant("raw")
        self.assertEqual(set(commands(log)), {"sub-01_dir-AP"})
        found = self.left_out(log)
        self.assertEqual(set(found), {f"sub-01_dir-PA_run-{i}_dwi.nii" for i in (1, 2, 3, 4)})
        self.assertIn("only b=0", found["sub-01_dir-PA_run-1_dwi.nii"])
        self.assertIn("neither .bval nor .bvec", found["sub-01_dir-PA_run-4_dwi.nii"])
        log = self.participant("raw", "--per-node", "2")
        self.assertIn("left out", log)

    def test_b_values_in_other_units_are_an_error_and_no_series_of_b0(self):
        self.write("raw/sub-01/dwi/sub-01_dir-AP_dwi.bval", " ".join(str(b / 1000) for b in self.bvals))
        self.assertIn("ms/um2", self.participant("raw", expect=65))

    def test_single_volumes_and_maps_are_left_out(self):
        self.copy(f"{self.phantom()}/bvals", "raw/dwi.bval")
        self.add_volumes("raw/sub-01/dwi/sub-01_acq-ref", 1)
        self.add_volumes("raw/sub-01/dwi/sub-01_acq-adc", 1, [1000])
        self.add_volumes("raw/sub-01/dwi/sub-01_acq-trace", 2, [0, 1000])
        self.add_series("raw/sub-01/dwi/sub-01_model-dti_param-tensor")
        for suffix in ("sbref", "dwiref"):
            self.copy(f"{self.phantom()}/data.nii.gz", f"raw/sub-01/dwi/sub-01_{suffix}.nii.gz")
        log = self.participant("raw")
        self.assertEqual(set(commands(log)), {"sub-01_dir-AP"})
        found = self.left_out(log)
        self.assertEqual(set(found), {"sub-01_acq-ref_dwi.nii", "sub-01_acq-adc_dwi.nii", "sub-01_acq-trace_dwi.nii",
                                      "sub-01_model-dti_param-tensor_dwi.nii.gz"})

    def test_a_bval_of_another_length_is_an_error(self):
        for volumes, expected in ((9, rf"sub-01_acq-cut_dwi\.bval: contains {len(self.bvals)} b-values, expected 9"),
                                  (1, r"sub-01_acq-cut_dwi\.nii: dim\[4\] is 1, expected a series")):
            self.add_volumes("raw/sub-01/dwi/sub-01_acq-cut", volumes, self.bvals)
            self.assertRegex(self.participant("raw", expect=65), expected)

    def test_only_preprocessed_data_are_taken_unless_the_filter_names_another_desc(self):
        self.add_series("raw/sub-02/dwi/sub-02", desc="_desc-denoised")
        self.assertIn("desc-denoised", self.left_out(self.participant("raw"))["sub-02_desc-denoised_dwi.nii.gz"])
        self.write("filter.json", json.dumps({"dwi": {"desc": "denoised"}}))
        log = self.participant("raw", "--bids-filter-file", "filter.json")
        self.assertEqual({name: os.path.basename(words["--dwi"]) for name, words in commands(log).items()},
                         {"sub-02": "sub-02_desc-denoised_dwi.nii.gz"})

    def test_a_name_that_contradicts_its_folder_fails_its_series(self):
        self.add_series("raw/sub-01/dwi/sub-02")
        self.assertIn("its name has sub-02, but its folder sub-01", self.participant("raw", expect=66))


class Labels(Chosen):
    def test_each_label_that_was_asked_for_must_have_a_series(self):
        self.add_series("raw/sub-02/ses-pre/dwi/sub-02_ses-pre")
        for words, expected in ((["--session-id", "pre", "psot"], "--session-id psot: no such session"),
                                (["--session-id", "psot"], "--session-id psot: no such session"),
                                (["--participant-label", "02", "03"], "--participant-label 03: no such subject"),
                                (["--participant-label", "01", "02", "--session-id", "pre"], "--participant-label 01: no such subject")):
            with self.subTest(words):
                self.assertIn(expected, self.participant("raw", *words, expect=65))
        self.assertIn("--derivatives " + self.path("none") + ": no such folder", self.participant("raw", "-d", "none", expect=66))


class Parcellations(Chosen):
    TISSUES = "index\tname\n0\tBackground\n1\tCSF\n2\tGM\n3\tWM\n"

    def setUp(self):
        super().setUp()
        self.describe("pre", "derivative")
        self.addCleanup(shutil.rmtree, self.path("pre"))
        self.add_series("pre/sub-01/dwi/sub-01_space-ACPC", desc="_desc-preproc")
        self.add_mask("pre/sub-01/dwi/sub-01_space-ACPC")
        self.stem = "pre/sub-01/anat/sub-01_space-ACPC"

    def connect(self, *words, expect=0):
        return self.participant("pre", *words, analysis="connect", expect=expect)

    def used(self, *words):
        return [os.path.basename(f["--connectome"]) for f in commands(self.connect(*words)).values()]

    def names(self):
        """A table with names of regions."""
        return "index\tname\n" + "".join(f"{i}\tRegion {i}\n" for i in range(1, 60))

    def test_tissue_classes_are_no_parcellation(self):
        for name, table in (("", None), ("", self.TISSUES), ("_seg-hsvs", None), ("_desc-5tt", None), ("_seg-own", self.TISSUES)):
            with self.subTest(name=name, table=table):
                self.add_regions(self.stem + name)
                if table:
                    self.write(f"{self.stem}{name}_dseg.tsv", table)
                log = self.connect(expect=65)
                self.assertIn(f"no parcellation: sub-01_space-ACPC{name}_dseg.nii.gz has tissue classes", log)
                shutil.rmtree(self.path("pre/sub-01/anat"))

    def test_a_parcellation_beside_tissue_classes_is_used(self):
        self.add_regions(self.stem)
        self.add_regions(self.stem + "_seg-hsvs")
        self.write(f"{self.stem}_dseg.tsv", self.TISSUES)
        self.add_regions(self.stem + "_seg-4S156Parcels")
        (words,) = commands(self.connect()).values()
        self.assertEqual(os.path.basename(words["--connectome"]), "sub-01_space-ACPC_seg-4S156Parcels_dseg.nii.gz")
        self.assertNotIn("--region-names", words)  # by inheritance, the table of tissues would also be that of the regions

    def test_a_table_of_regions_beside_or_above_makes_an_unnamed_image_a_parcellation(self):
        self.add_regions(self.stem)
        for table in (f"{self.stem}_dseg.tsv", "pre/space-ACPC_dseg.tsv"):
            self.write(table, self.names())
            self.assertEqual(self.used(), ["sub-01_space-ACPC_dseg.nii.gz"])
            os.remove(self.path(table))
        self.assertTrue([name for name in self.out() if "_seg-dseg_meas-cost_" in name], self.out())

    def test_the_filter_file_can_say_that_an_image_is_a_parcellation(self):
        self.add_regions(self.stem)
        self.write("filter.json", json.dumps({"dseg": {"datatype": "anat"}}))
        self.assertEqual(self.used("--bids-filter-file", "filter.json"), ["sub-01_space-ACPC_dseg.nii.gz"])
        self.add_regions(self.stem + "_seg-hsvs")
        self.write("filter.json", json.dumps({"dseg": {"seg": "hsvs"}}))
        self.assertEqual(self.used("--bids-filter-file", "filter.json"), ["sub-01_space-ACPC_seg-hsvs_dseg.nii.gz"])

    def test_names_of_matrices_do_not_differ_between_subjects(self):
        self.add_series("pre/sub-02/dwi/sub-02_space-ACPC", desc="_desc-preproc")
        self.write("pre/dseg.tsv", self.names())
        for subject in ("01", "02"):
            self.add_regions(f"pre/sub-{subject}/anat/sub-{subject}_space-ACPC")
        self.connect()
        names = {re.sub("sub-0[12]", "", name) for name in self.out() if name.endswith("meas-cost_desc-leastcost_relmat.tsv")}
        self.assertEqual(names, {"/dwi/_space-ACPC_seg-dseg_meas-cost_desc-leastcost_relmat.tsv"})


class Companions(Chosen):
    """The nearest folder first, in it the most entities in common; equal ones are an error that names both."""

    def setUp(self):
        super().setUp()
        self.stem = "raw/sub-01/dwi/sub-01_acq-hi_dir-AP"
        os.rename(self.path("raw/sub-01/dwi/sub-01_dir-AP_dwi.nii.gz"), self.path(self.stem + "_dwi.nii.gz"))
        for name in ("bval", "bvec"):
            os.rename(self.path(f"raw/sub-01/dwi/sub-01_dir-AP_dwi.{name}"), self.path(f"raw/sub-01/dwi/sub-01_dwi.{name}"))

    def refused(self, first, second, *words, analysis="tensor"):
        log = self.participant("raw", *words, analysis=analysis, expect=65 if analysis == "connect" else 66)
        self.assertRegex(log, rf"{re.escape(first)} and \S*{re.escape(second)} are equally the ")

    def test_the_nearest_folder_and_then_the_most_entities_count(self):
        for name in ("raw/acq-hi_dir-AP_dwi.bval", "raw/sub-01/sub-01_acq-hi_dwi.bval"):
            self.copy(f"{self.phantom()}/bvals", name)
        for name in ("sub-01_dwi.bval", "sub-01_dir-AP_dwi.bval"):
            self.copy(f"{self.phantom()}/bvals", f"raw/sub-01/dwi/{name}")
            words = commands(self.participant("raw"))["sub-01_acq-hi_dir-AP"]
            self.assertEqual(words["--bvals"], self.path("raw/sub-01/dwi", name))

    def test_two_equal_tables_of_gradients_are_refused(self):
        for ending in ("bval", "bvec"):
            for entity in ("acq-hi", "dir-AP"):
                self.copy(f"{self.phantom()}/{ending}s", f"raw/sub-01/dwi/sub-01_{entity}_dwi.{ending}")
            self.refused(f"sub-01_acq-hi_dwi.{ending}", f"sub-01_dir-AP_dwi.{ending}")
            for entity in ("acq-hi", "dir-AP"):
                os.remove(self.path(f"raw/sub-01/dwi/sub-01_{entity}_dwi.{ending}"))

    def test_two_equal_masks_are_refused_and_a_nearer_one_is_used(self):
        name = "sub-01/dwi/sub-01_acq-hi_dir-AP_desc-brain_mask.nii.gz"
        for data_set in ("one", "two"):
            self.describe(data_set, "derivative")
            self.copy(f"{self.phantom()}/nodif_brain_mask.nii.gz", f"{data_set}/{name}")
        self.refused("one/" + name, "two/" + name, "-d", "one", "-d", "two")
        self.participant("raw", "-d", "one", "-d", "one/../one")
        for entity in ("acq-hi", "dir-AP"):
            self.copy(f"{self.phantom()}/nodif_brain_mask.nii.gz", f"raw/sub-01/dwi/sub-01_{entity}_desc-brain_mask.nii.gz")
        self.refused("sub-01_acq-hi_desc-brain_mask.nii.gz", "sub-01_dir-AP_desc-brain_mask.nii.gz", "-d", "one")
        self.copy(f"{self.phantom()}/nodif_brain_mask.nii.gz", "raw/" + name)
        log = self.participant("raw", "-d", "one", "-d", "two")
        self.assertEqual(commands(log)["sub-01_acq-hi_dir-AP"]["--mask"], self.path("raw", name))

    def test_two_equal_parcellations_or_tables_of_regions_are_refused(self):
        for entity in ("acq-hi", "dir-AP"):
            self.add_regions(f"raw/sub-01/dwi/sub-01_{entity}_seg-ends")
        self.refused("sub-01_acq-hi_seg-ends_dseg.nii.gz", "sub-01_dir-AP_seg-ends_dseg.nii.gz", analysis="connect")
        os.remove(self.path("raw/sub-01/dwi/sub-01_acq-hi_seg-ends_dseg.nii.gz"))
        for name in ("sub-01_seg-ends", "sub-01_dir-AP"):
            self.write(f"raw/sub-01/dwi/{name}_dseg.tsv", "index\tname\n" + "".join(f"{i}\tR{i}\n" for i in range(1, 60)))
        self.refused("sub-01_dir-AP_dseg.tsv", "sub-01_seg-ends_dseg.tsv", analysis="connect")


if __name__ == "__main__":
    unittest.main()
