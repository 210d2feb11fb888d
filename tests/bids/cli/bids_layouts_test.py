"""Which series, masks and parcellations voxherd bids finds, and what it refuses."""
import gzip
import json
import os
import shutil
import unittest
import unittest.mock
import zipfile

from bids_jobs import BRIEF, Layouts, commands, read, read_json, read_table
from trx_groups import read_groups


class Preprocessed(Layouts):
    """Names of QSIPrep: two sessions, two acquisitions, and files that must not be mistaken for series."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.describe("qsiprep", "derivative")
        cls.a, cls.b = (f"qsiprep/sub-7/ses-{s}/dwi/sub-7_ses-{s}{more}_space-ACPC"
                        for s, more in (("pre", ""), ("post", "_acq-hi_run-02")))
        for seed, stem in enumerate((cls.a, cls.b), 1):
            cls.add_series(stem, seed, desc="_desc-preproc")
            cls.add_mask(stem, seed)
        cls.add_regions("qsiprep/sub-7/anat/sub-7_space-ACPC_desc-aparcaseg")
        cls.add_regions("qsiprep/sub-7/anat/sub-7_space-ACPC_desc-aseg")
        cls.add_regions("qsiprep/sub-7/anat/sub-7_space-MNI152NLin2009cAsym_desc-other")
        for name in (f"{cls.a}_dwiref.nii.gz", f"{cls.a}_desc-denoised_dwi.nii.gz", "qsiprep/sub-7.html"):
            cls.write(name, "not a series")

    def test_each_preprocessed_series_is_used_with_its_mask_and_gradients(self):
        found = commands(self.participant("qsiprep"))
        self.assertEqual(set(found), {"sub-7_ses-pre_space-ACPC", "sub-7_ses-post_acq-hi_run-02_space-ACPC"})
        for name, stem in zip(sorted(found, reverse=True), (self.a, self.b)):
            begin = self.path(stem)
            self.assertEqual({key: found[name][key] for key in ("--dwi", "--bvals", "--bvecs", "--mask")},
                             {"--dwi": f"{begin}_desc-preproc_dwi.nii.gz", "--bvals": f"{begin}_desc-preproc_dwi.bval",
                              "--bvecs": f"{begin}_desc-preproc_dwi.bvec", "--mask": f"{begin}_desc-brain_mask.nii.gz"})
        self.assertIn("sub-7/ses-post/dwi/sub-7_ses-post_acq-hi_run-02_space-ACPC_model-tensor_param-fa_dwimap.nii.gz", self.out())

    def test_the_segmentation_in_the_space_of_the_series_is_used(self):
        found = commands(self.participant("qsiprep", "--session-id", "ses-pre", analysis="connect"))
        self.assertEqual([f["--connectome"] for f in found.values()],
                         [self.path("qsiprep/sub-7/anat/sub-7_space-ACPC_desc-aparcaseg_dseg.nii.gz")])
        self.assertTrue(any("_seg-aparcaseg_meas-cost_" in name for name in self.out()))

    def test_regions_have_the_names_of_the_table_above_the_segmentation(self):
        self.write("qsiprep/desc-aparcaseg_dseg.tsv",
                   "index\tname\tcolor\n" + "".join(f"{i}\tRegion {i}\t#ffffff\n" for i in range(1, 60)))
        self.addCleanup(os.remove, self.path("qsiprep/desc-aparcaseg_dseg.tsv"))
        found = commands(self.participant("qsiprep", "--session-id", "pre", analysis="track,connect"))
        self.assertEqual({f["--region-names"] for f in found.values()}, {self.path("qsiprep/desc-aparcaseg_dseg.tsv")})
        out = self.path(f"out{self.id()}{self.count}")
        for method, measure in (("leastcost", "cost"), ("streamlines", "count")):
            nodes = read_table(f"{out}/{self.a.split('/', 1)[1]}_seg-aparcaseg_desc-{method}_nodeindices.tsv")
            self.assertGreater(len(nodes), 1)
            for node in nodes:
                self.assertEqual(node["label"], "Region " + node["node_index"])
            (matrix,) = [name for name in self.out() if f"_meas-{measure}_desc-{method}_relmat.tsv" in name]
            header = read(out, matrix).decode().split("\n")[0]
            self.assertEqual(header.split("\t"), [node["label"] for node in nodes])
            self.assertIn("bids:qsiprep:desc-aparcaseg_dseg.tsv", read_json(out, matrix[:-3] + "json")["Sources"])

    def test_tracts_are_written_twice_with_the_same_bytes_and_a_group_per_pair_of_regions(self):
        words = ["--session-id", "pre", "--paths", "--half-positions"]
        outs = []
        for _ in range(2):
            self.participant("qsiprep", *words, analysis="track,connect")
            outs.append(self.path(f"out{self.id()}{self.count}"))
        begin = f"{self.a.split('/', 1)[1]}_seg-aparcaseg"
        for method, value in (("leastcost", "cost"), ("streamlines", "length")):
            name = f"{begin}_desc-{method}_tractogram"
            self.assertEqual(read(outs[0], name + ".trx"), read(outs[1], name + ".trx"))
            groups = read_groups(os.path.join(outs[0], name + ".trx"))
            labels = {node["node_index"] for node in read_table(f"{outs[0]}/{begin}_desc-{method}_nodeindices.tsv")}
            self.assertGreater(len(groups), 0)
            for pair, (fibres, means) in groups.items():
                self.assertLessEqual(set(pair.split("-")), labels)
                self.assertGreater(len(fibres), 0)
                self.assertGreater(means[value][0], 0)
            self.assertTrue(any("_desc-aparcaseg_dseg.nii.gz" in uri
                                for uri in read_json(outs[0], name + ".json")["Sources"]))
            with zipfile.ZipFile(os.path.join(outs[0], name + ".trx")) as archive:
                self.assertIn("positions.3.float16", archive.namelist())

    def test_the_container_is_named_by_what_its_runtime_sets(self):
        for variables, expected in (({}, None), ({"APPTAINER_CONTAINER": "/images/v.sif", "VOXHERD_IMAGE": "voxherd:1"},
                                                 {"Type": "apptainer", "URI": "/images/v.sif"}),
                                    ({"VOXHERD_IMAGE": "voxherd:1"},
                                     {"Type": "docker" if os.path.exists("/.dockerenv") else "oci", "Tag": "voxherd:1"})):
            clean = {name: value for name, value in os.environ.items()
                     if name not in ("APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "VOXHERD_IMAGE")}
            with unittest.mock.patch.dict(os.environ, {**clean, **variables}, clear=True):
                self.participant("qsiprep", "--session-id", "pre")
            description = read_json(self.path(f"out{self.id()}{self.count}", "dataset_description.json"))
            self.assertEqual(description["GeneratedBy"][0].get("Container"), expected)
            self.assertNotIn("CodeURL", description["GeneratedBy"][0])  # this build knows none

    def test_a_filter_chooses_series_and_segmentation(self):
        self.write("filter.json", json.dumps({"dwi": {"session": ["post"], "run": 2}, "dseg": {"desc": "aseg"}, "t1w": {}}))
        found = commands(self.participant("qsiprep", "--bids-filter-file", "filter.json", analysis="connect"))
        self.assertEqual({name: f["--connectome"] for name, f in found.items()},
                         {"sub-7_ses-post_acq-hi_run-02_space-ACPC":
                          self.path("qsiprep/sub-7/anat/sub-7_space-ACPC_desc-aseg_dseg.nii.gz")})
        self.write("filter.json", json.dumps({"dwi": {"acquisition": None}}))
        found = commands(self.participant("qsiprep", "--bids_filter_file=filter.json"))
        self.assertEqual(set(found), {"sub-7_ses-pre_space-ACPC"})

    def test_sessions_and_subjects_are_named_with_or_without_their_prefix(self):
        for words in (["--session-id", "post"], ["--session_id", "ses-post", "--participant_label", "sub-7"]):
            self.assertEqual(set(commands(self.participant("qsiprep", *words))), {"sub-7_ses-post_acq-hi_run-02_space-ACPC"})

    def test_threads_memory_and_options_reach_the_analysis(self):
        log = self.participant("qsiprep", "--session-id", "pre", "--mem", "4000", "--omp-nthreads", "2",
                               "--tensor-options", "--fit ols", "--notrack", "--skip-bids-validation")
        (words,) = commands(log).values()
        self.assertEqual([words[name] for name in ("--threads", "--host-memory", "--fit", "--backend")],
                         ["2", "4", "ols", "cpu"])
        (sidecar,) = [name for name in self.out() if name.endswith("param-fa_dwimap.json")]
        self.assertEqual(read_json(self.path(f"out{self.id()}{self.count}", sidecar))["Model"]["Parameters"], {"FitMethod": "ols"})

    def test_a_data_set_inside_the_other_is_linked_relatively(self):
        self.bids("qsiprep", "qsiprep/derivatives/voxherd", "participant", "--analysis", "tensor", "-w", "w", *BRIEF)
        description = read_json(self.path("qsiprep/derivatives/voxherd/dataset_description.json"))
        self.assertEqual(description["DatasetLinks"], {"qsiprep": "../.."})

    def test_derivatives_of_another_place_with_the_same_name_are_refused(self):
        out = "out_of_two_places"
        self.bids("qsiprep", out, "participant", "--analysis", "tensor", "-w", "w1", "--session-id", "pre", *BRIEF)
        description = read(self.path(out, "dataset_description.json")).decode()
        self.write(f"{out}/dataset_description.json", description.replace(self.path("qsiprep"), "/elsewhere/qsiprep"))
        log = self.bids("qsiprep", out, "participant", "--analysis", "tensor", "-w", "w1", "--session-id", "pre", *BRIEF,
                        expect=2)
        self.assertIn("its DatasetLinks name \"file:///elsewhere/qsiprep\" as qsiprep", log)


class Hcp(Layouts):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        phantom = cls.phantom()
        for name, file in (("data.nii.gz",) * 2, ("bvals",) * 2, ("bvecs",) * 2, ("nodif_brain_mask.nii.gz",) * 2):
            cls.copy(f"{phantom}/{file}", f"hcp/100307/T1w/Diffusion/{name}")
        cls.copy(f"{phantom}/truth/ends.nii.gz", "hcp/100307/T1w/aparc+aseg.nii.gz")

    def test_a_folder_of_the_hcp_is_used_with_its_segmentation(self):
        found = commands(self.participant("hcp", "--participant-label", "100307", analysis="connect"))
        folder = self.path("hcp/100307/T1w")
        words = found["sub-100307_space-T1w"]
        self.assertEqual([words[name] for name in ("--dwi", "--bvals", "--mask", "--connectome")],
                         [f"{folder}/Diffusion/data.nii.gz", f"{folder}/Diffusion/bvals",
                          f"{folder}/Diffusion/nodif_brain_mask.nii.gz", f"{folder}/aparc+aseg.nii.gz"])
        self.assertIn("sub-100307/dwi/sub-100307_space-T1w_seg-aparcaseg_meas-cost_desc-leastcost_relmat.tsv", self.out())
        description = read_json(self.path(f"out{self.id()}{self.count}", "dataset_description.json"))
        self.assertNotIn("DatasetLinks", description)  # it is no BIDS data set


class UkBiobank(Layouts):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for ending in ("", "_ud"):
            cls.copy(f"{cls.phantom()}/data.nii.gz", f"ukb/1000011/dMRI/dMRI/data{ending}.nii.gz")
            cls.copy(f"{cls.phantom()}/nodif_brain_mask.nii.gz", f"ukb/1000011/dMRI/dMRI/nodif_brain_mask{ending}.nii.gz")
            for name in ("bvals", "bvecs"):
                cls.copy(f"{cls.phantom()}/{name}", f"ukb/1000011/dMRI/dMRI/{name}")

    def test_the_series_without_distortions_is_used_with_its_mask(self):
        folder = self.path("ukb/1000011/dMRI/dMRI")
        words = commands(self.participant("ukb"))["sub-1000011"]
        self.assertEqual([words[name] for name in ("--dwi", "--bvals", "--bvecs", "--mask")],
                         [f"{folder}/{name}" for name in ("data_ud.nii.gz", "bvals", "bvecs", "nodif_brain_mask_ud.nii.gz")])
        self.assertIn("sub-1000011/dwi/sub-1000011_model-tensor_param-fa_dwimap.nii.gz", self.out())
        self.assertIn("the folder has none in the space of the series", self.participant("ukb", analysis="connect", expect=65))


class Refused(Layouts):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.describe("raw")
        cls.add_series("raw/sub-01/dwi/sub-01")
        cls.add_series("raw/sub-02/dwi/sub-02")
        os.remove(cls.path("raw/sub-02/dwi/sub-02_dwi.bvec"))
        cls.add_regions("raw/sub-01/dwi/sub-01_seg-one")
        cls.add_regions("raw/sub-01/dwi/sub-01_seg-two")
        cls.add_series("bare/sub-01/dwi/sub-01")

    def test_wrong_words_are_refused_before_anything_is_computed(self):
        wrong = [(["raw", "out"], "participant|group, --analysis LIST are missing"),
                 (["raw", "out", "participant"], "--analysis LIST is missing"),
                 (["raw", "out", "participant", "--analysis", "tensor,tractseg"], "`tractseg` is not one of"),
                 (["raw", "out", "session", "--analysis", "tensor"], "expected one of participant, group"),
                 (["raw", "raw", "participant", "--analysis", "tensor"], "is the data set itself"),
                 (["raw", "out", "participant", "--analysis", "tensor", "--tensor-options", "--fitt ols"],
                  "sub-01: unknown option --fitt; did you mean --fit?"),
                 (["raw", "out", "participant", "--analysis", "tensor", "--more", "--help"], "--more: --help computes nothing")]
        for words, expected in wrong:
            with self.subTest(expected):
                self.assertIn(expected, self.bids(*words, expect=2))
        self.assertFalse(os.path.exists(self.path("out")))

    def test_wrong_data_sets_are_refused(self):
        for words, expected, status in (
                (["none", "out", "participant", "--analysis", "tensor"], "none: no such folder", 66),
                (["raw/sub-01", "out", "participant", "--analysis", "tensor"], "no diffusion series", 65),
                (["bare", "out", "participant", "--analysis", "tensor"], "no dataset_description.json", 65),
                (["raw", "out", "participant", "--analysis", "tensor", "--participant-label", "01", "04"],
                 "--participant-label 04: no such subject", 65)):
            with self.subTest(expected):
                self.assertIn(expected, self.bids(*words, expect=status))

    def test_an_output_folder_that_cannot_be_made_is_refused_before_anything_is_computed(self):
        self.write("file", "precious")
        os.symlink("loop", self.path("loop"))
        for out in ("file", "file/out", "loop", "n" * 300):
            for level in ("participant", "group"):
                log = self.bids("raw", out, level, "--analysis", "tensor", "-w", "unused", expect=74)
                self.assertEqual((log.count("error:"), log.count("cannot create the folder")), (1, 1), log)
        self.assertFalse(os.path.exists(self.path("unused")))
        self.assertIn("no such folder", self.bids("loop", "out", "participant", "--analysis", "tensor", expect=66))

    def test_a_data_set_may_have_a_name_in_another_encoding(self):
        os.symlink("raw", self.path("raw\udcff"))
        log = self.bids("raw\udcff", "out\udcff", "group", "--analysis", "tensor", "-w", "work\udcff")
        self.assertIn("2 series", log)

    def test_a_wrong_filter_is_refused(self):
        for text, expected in (("[]", "is not a JSON object"), ('{"dwi": 3}', "dwi is 3; expected an object"),
                               ('{"dwi": {"run": 1.5}}', "the value of run is 1.5"),
                               (f'{{"dwi": {"[" * 300000}{"]" * 300000}}}', "has too many levels, more than 100")):
            self.write("wrong.json", text)
            self.assertIn(expected, self.participant("raw", "--bids-filter-file", "wrong.json", expect=65))

    def test_a_series_with_and_without_gz_is_used_once_with_a_warning(self):
        image = self.path("raw/sub-01/dwi/sub-01_dwi.nii")
        with gzip.open(image + ".gz") as packed, open(image, "wb") as file:
            shutil.copyfileobj(packed, file)
        self.addCleanup(os.remove, image)
        log = self.participant("raw", "--participant-label", "01")
        self.assertRegex(log, r"warning: .*sub-01_dwi\.nii and .*sub-01_dwi\.nii\.gz are one series; the first is used")
        self.assertEqual(commands(log)["sub-01"]["--dwi"], image)

    def test_missing_gradients_and_an_unclear_parcellation_fail_their_series(self):
        self.assertIn("sub-02: no .bvec for", self.participant("raw", "--participant-label", "02", expect=66))
        log = self.participant("raw", "--participant-label", "01", analysis="connect", expect=65)
        self.assertIn("connect needs regions: several parcellations: sub-01_seg-one_dseg.nii.gz, sub-01_seg-two_dseg.nii.gz", log)

    def test_subjects_that_are_left_out_are_named(self):
        self.describe("odd")
        for label in ("01", "0-3", "0 2", "0_4"):
            self.add_series(f"odd/sub-{label}/dwi/sub-{label}")
        self.write("odd/sub-05/anat/sub-05_T1w.json", "{}")
        log = self.participant("odd")
        for label in ("0-3", "0 2", "0_4"):
            self.assertIn(f"warning: {self.path('odd')}/sub-{label}: left out, because BIDS allows only letters and digits", log)
        self.assertIn("info: sub-05: no diffusion series that was asked for", log)
        self.assertEqual(set(commands(log)), {"sub-01"})

    def test_a_folder_that_cannot_be_made_is_found_before_anything_is_computed(self):
        log = self.bids("raw", "/proc/none", "participant", "--analysis", "tensor", "-w", "never", expect=74)
        self.assertEqual(log.count("error: "), 1, log)
        self.assertFalse(os.path.exists(self.path("never")))

    def test_the_first_failure_stops_if_asked(self):
        self.truncate("raw/sub-01/dwi/sub-01_dwi.nii.gz")
        self.addCleanup(self.add_series, "raw/sub-01/dwi/sub-01")
        log = self.participant("raw", "--stop-on-first-crash", expect=65)
        self.assertIn("1 of 2 series failed: sub-01", log)

    def test_the_version_is_printed(self):
        self.assertRegex(self.bids("--version"), r"^voxherd \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
