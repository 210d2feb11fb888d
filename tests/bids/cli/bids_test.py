"""voxherd bids on raw BIDS: three subjects, one of them broken."""
import os
import re
import signal
import subprocess
import time
import unittest

from bids_jobs import BRIEF, BidsJobs, read, read_json, read_table
from program import VOXHERD, files_below

ANALYSES = "tensor,ballstick,track,connect"
LABEL = "[0-9a-zA-Z]+"
# Entities in the order of BIDS; desc is the last one.
NAME = re.compile(
    f"sub-({LABEL})/(?:ses-({LABEL})/)?dwi/sub-\\1(?:_ses-\\2)?(_acq-{LABEL})?(_dir-{LABEL})?(_run-[0-9]+)?(_space-{LABEL})?"
    f"((_seg-{LABEL})?(_meas-{LABEL})?_desc-{LABEL}_(relmat|nodeindices)\\.(tsv|json)"
    f"|_model-(bs|tensor)_param-{LABEL}(_desc-(mean|merged))?_dwimap\\.(nii\\.gz|json))")
TENSOR = ("ad", "diffusivity", "evec", "fa", "md", "rd", "s0")
MEANS = ("diffusivity", "dstd", "polar", "s0", "vector", "vf", "vfsum")
COSTS = ("asymmetry", "cost", "detour", "lengthMm", "meanCost", "meanSpeed", "pathCost")


def expected_files(stem):
    names = [f"model-tensor_param-{p}_dwimap" for p in TENSOR]
    names += [f"model-bs_param-{p}_desc-mean_dwimap" for p in MEANS]
    names += [f"model-bs_param-{p}_desc-merged_dwimap" for p in ("polar", "vf")]
    files = [f"{stem}_{name}.{ending}" for name in names for ending in ("nii.gz", "json")]
    tables = [f"seg-ends_meas-{m}_desc-leastcost_relmat" for m in COSTS]
    tables += ["seg-ends_meas-count_desc-streamlines_relmat", "seg-ends_meas-share_desc-streamlines_relmat", "seg-ends_desc-leastcost_nodeindices",
               "seg-ends_desc-streamlines_nodeindices"]
    return sorted(files + [f"{stem}_{name}.{ending}" for name in tables for ending in ("tsv", "json")])


class Study(BidsJobs):
    """sub-01 has inherited gradients, sub-02 a session and a run, sub-03 is truncated. Masks are in other derivatives."""

    analyses = ANALYSES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.describe("raw")
        cls.describe("pre", "derivative")
        cls.stems = ["sub-01/dwi/sub-01", "sub-02/ses-a/dwi/sub-02_ses-a_acq-two_run-01", "sub-03/dwi/sub-03"]
        cls.add_series("raw/" + cls.stems[0], 1, gradients="raw/dwi")
        cls.add_series("raw/" + cls.stems[1], 2)
        cls.add_series("raw/" + cls.stems[2], 3)
        cls.truncate(f"raw/{cls.stems[2]}_dwi.nii.gz")
        for seed, stem in enumerate(cls.stems, 1):
            cls.add_mask("pre/" + stem, seed)
            cls.add_regions(f"pre/{stem}_seg-ends", seed)
        cls.words = ["participant", "--analysis", cls.analyses, "-d", "pre", "-w", "work", *BRIEF]
        cls.log = cls.bids("raw", "out", *cls.words, expect=65)
        cls.first_times = {name: os.stat(cls.path(name)).st_mtime_ns for name in files_below(cls.folder)}

    def times(self, *folders):
        return {name: time for name, time in self.first_times.items() if name.startswith(folders)}


class Participants(Study):
    def same_files(self, out):
        """Pages have times and folders in them."""
        return [name for name in files_below(self.path(out)) if not name.endswith(".html")]

    def test_a_broken_subject_does_not_stop_the_others(self):
        self.assertEqual(self.derivatives("out"), sorted(name for stem in self.stems[:2] for name in expected_files(stem)))
        self.assertRegex(self.log, r"error: sub-03: .*sub-03_dwi\.nii\.gz: .*truncated")
        self.assertIn("error: 1 of 3 series failed: sub-03 (messages above)", self.log)

    def test_names_have_the_form_of_bids(self):
        for name in self.derivatives("out"):
            self.assertRegex(name, f"^(?:{NAME.pattern})$")
        others = [name for name in files_below(self.path("out")) if not name.startswith(("sub-", "logs/methods/"))]
        self.assertEqual(others, [".bidsignore", "README.md", "dataset_description.json", "logs/CITATION.md"])

    def test_the_log_has_one_line_per_analysis_and_one_per_series(self):
        self.assertNotIn("next: ", self.log)
        own = [line for line in self.log.splitlines() if "info: " in line and "sub-01" in line]
        self.assertEqual(len(own), 5, own)
        self.assertRegex(own[-1], f"info: sub-01: derivatives of {ANALYSES.replace(',', ', ')} are in {self.path('out')}$")

    def test_a_missing_mask_of_a_complete_result_is_named(self):
        log = self.bids("raw", "out", "participant", "--analysis", "tensor", "-w", "work", *BRIEF, "--participant-label", "01", expect=2)
        mask = self.path("pre", self.stems[0] + "_desc-brain_mask.nii.gz")
        self.assertRegex(log, rf"different study \(inputs\.mask: {mask} in the file, positive mean over b <= \d+ s/mm2 now\)")

    def test_a_repeated_command_computes_and_writes_nothing_again(self):
        log = self.bids("raw", "out", *self.words, expect=65)
        self.assertEqual(log.count("(already complete)"), 8)
        self.assertEqual([text.count("warning: b is up to 2000") for text in (self.log, log)], [3, 1])  # 1: of the failed one
        before = self.times("out/sub-", "out/dataset", "work/sub-01", "work/sub-02")
        self.assertGreater(len(before), 100)
        self.assertEqual({name: os.stat(self.path(name)).st_mtime_ns for name in before}, before)
        # A subject that failed before is tried last, since its failure may end the job.
        self.assertLess(log.index("subject sub-02"), log.index("subject sub-03"))

    def test_a_second_computation_on_two_ranks_writes_the_same_bytes(self):
        self.bids("raw", "again/out", *["elsewhere" if word == "work" else word for word in self.words], expect=65, ranks=2)
        self.assertEqual(files_below(self.path("again/out")), files_below(self.path("out")))
        for name in self.same_files("out"):
            self.assertEqual(read(self.path("again/out", name)), read(self.path("out", name)), name)

    def test_two_series_at_a_time_write_the_same_bytes_and_keep_their_messages(self):
        log = self.bids("raw", "children/out", *["children/work" if word == "work" else word for word in self.words],
                        "--per-node", "2", "--mem", "2000", expect=65)
        self.assertEqual(re.findall(r"subject sub-0(\d)\S*: started", log)[:2], ["1", "2"])
        self.assertRegex(log, r"error: subject sub-03: failed with status 65: sub-03: .*sub-03_dwi\.nii\.gz: .*truncated")
        self.assertIn("2 of 3 subjects complete, 1 failed", log)
        of_participants = [name for name in files_below(self.path("out")) if not name.startswith("group_")]
        self.assertEqual(files_below(self.path("children/out")), of_participants)
        for name in self.same_files("children/out"):
            self.assertEqual(read(self.path("children/out", name)), read(self.path("out", name)), name)
        own = read(self.path("children/work", f"{self.stems[1]}.log")).decode()
        self.assertIn("--threads 1 --host-memory 1", own)

    def test_one_series_can_be_named(self):
        words = ["participant", "--analysis", "tensor", "-w", "named/work", *BRIEF]
        self.bids("raw", "named/out", *words, "--series", "sub-01")
        self.assertEqual({name.split("/")[0] for name in self.derivatives("named/out")}, {"sub-01"})
        self.assertIn("--series sub-1: no series of", self.bids("raw", "named/out", *words, "--series", "sub-1", expect=66))

    def test_sources_exist_in_the_data_sets_that_the_description_links(self):
        description = read_json(self.path("out/dataset_description.json"))
        self.assertEqual((description["BIDSVersion"], description["DatasetType"]), ("1.11.1", "derivative"))
        self.assertEqual(description["DatasetLinks"], {name: f"file://{self.path(name)}" for name in ("raw", "pre")})
        self.assertEqual(description["GeneratedBy"][0]["Name"], "voxherd")
        self.assertIn("Version", description["GeneratedBy"][0])
        places = {"": "out", "raw": "raw", "pre": "pre"}
        for name in self.derivatives("out"):
            if name.endswith(("relmat.json", "dwimap.json")):
                sources = read_json(self.path("out", name))["Sources"]
                for uri in sources:
                    _, link, path = uri.split(":")
                    self.assertTrue(os.path.exists(self.path(places[link], path)), uri)
                self.assertTrue(any("desc-brain_mask" in uri or "_seg-ends_dseg" in uri for uri in sources), name)
        streamlines = read_json(self.path("out", self.stems[0] + "_seg-ends_meas-count_desc-streamlines_relmat.json"))
        self.assertIn("bids::sub-01/dwi/sub-01_model-bs_param-polar_desc-merged_dwimap.nii.gz", streamlines["Sources"])
        inherited = read_json(self.path("out", self.stems[0] + "_model-tensor_param-fa_dwimap.json"))["Sources"]
        self.assertIn("bids:raw:dwi.bval", inherited)

    def test_sidecars_have_units_and_the_program_with_its_commit(self):
        for name in self.derivatives("out"):
            if name.endswith(("relmat.json", "dwimap.json")):
                sidecar = read_json(self.path("out", name))
                self.assertIn(sidecar["Units"], ("1", "mm^2/s", "rad", "arbitrary", "mm", "mm/s^(1/2)", "s^(1/2)"), name)
                (program,) = sidecar["GeneratedBy"]
                self.assertEqual(program["Name"], "voxherd")
                self.assertRegex(program["Description"], "^commit ")
        self.assertEqual(read_json(self.path("out", self.stems[0] + "_model-tensor_param-fa_dwimap.json"))["Units"], "1")

    def test_the_tensor_has_its_order_and_its_axes(self):
        sidecar = read_json(self.path("out", self.stems[1] + "_model-tensor_param-diffusivity_dwimap.json"))
        self.assertEqual(sidecar["OrientationEncoding"], {"EncodingAxis": 3, "Reference": "bvec", "Type": "tensor",
                                                          "TensorRank": 2, "AntipodalSymmetry": True})
        self.assertIn("D11, D12, D13, D22, D23, D33", sidecar["Description"])
        self.assertEqual(sidecar["Model"]["Parameters"], {"FitMethod": "iwls", "Iterations": 2})

    def test_matrices_are_those_of_the_result_and_list_their_nodes(self):
        stem = self.path("out", self.stems[0])
        rows = [line.split("\t") for line in read(f"{stem}_seg-ends_meas-cost_desc-leastcost_relmat.tsv").decode().splitlines()]
        nodes = read_table(f"{stem}_seg-ends_desc-leastcost_nodeindices.tsv")
        self.assertEqual(rows[0], [node["label"] for node in nodes])
        self.assertEqual([node["matrix_index"] for node in nodes], [str(i) for i in range(len(nodes))])
        self.assertEqual({node["node_file"] for node in nodes}, {"bids:pre:sub-01/dwi/sub-01_seg-ends_dseg.nii.gz"})
        subprocess.run([VOXHERD, "export", self.path("work", self.stems[0] + "_connect.h5"), "--to", "csv",
                        self.path("csv")], check=True, capture_output=True)
        expected = [line.split(",") for line in read(self.path("csv/cost.csv")).decode().splitlines()]
        self.assertEqual(rows[1:], expected)

    def test_methods_and_references_are_those_of_the_four_analyses(self):
        text = read(self.path("out/logs/CITATION.md")).decode()
        for word in ("Diffusion tensors", "ball & stick model with 2 fibres", "Probabilistic streamlines", "Least-cost paths",
                     "60 jumps of burn-in", "10.1016/S0006-3495(94)80775-1"):
            self.assertEqual(text.count(word), 1, word)
        self.assertRegex(text, r"(?m)^- sub-01, tensor: The image had 11 × 9 × 7 voxels of .* mask sub-01_desc-brain_mask\.nii\.gz \(\d+ voxels\)\.$")

    def test_the_methods_are_of_all_results_whatever_the_last_call_was(self):
        before = read(self.path("out/logs/CITATION.md"))
        self.bids("raw", "out", "participant", "--analysis", "tensor", "-d", "pre", "-w", "work", *BRIEF, expect=65)
        self.bids("raw", "out", "participant", "--analysis", "tensor", "-d", "pre", "-w", "elsewhere2", "--tensor-options",
                  "--grad-dev none.nii", expect=66)
        self.assertEqual(read(self.path("out/logs/CITATION.md")), before)

    def test_the_page_of_a_subject_shows_all_results_and_is_named_in_the_group_table(self):
        self.assertEqual([name for name in files_below(self.path("out")) if name.endswith(".html")], ["sub-01.html", "sub-02.html"])
        page = read(self.path("out/sub-02.html")).decode()
        self.assertIn("<h1>sub-02</h1>", page)
        for analysis in ANALYSES.split(","):
            self.assertIn(f">{os.path.basename(self.stems[1])} {analysis}: Run</h2>", page)
            self.assertIn(f"{os.path.basename(self.stems[1])} {analysis}: Input files</caption>", page)
        self.bids("raw", "out", "group", "--analysis", ANALYSES, "-w", "work")
        self.assertEqual([row["page"] for row in read_table(self.path("out/group_dwi.tsv"))], ["sub-01.html", "sub-02.html", "n/a"])

    def test_the_group_level_writes_one_row_per_series(self):
        self.bids("raw", "out", "group", "--analysis", ANALYSES, "-w", "work")
        rows = read_table(self.path("out/group_dwi.tsv"))
        self.assertEqual([row["participant_id"] for row in rows], ["sub-01", "sub-02", "sub-03"])
        self.assertEqual([row["session_id"] for row in rows], ["n/a", "ses-a", "n/a"])
        self.assertEqual([row["tensor"] for row in rows], ["complete", "complete", "failed"])
        self.assertEqual([row["connect"] for row in rows], ["complete", "complete", "not started"])
        self.assertTrue(0 < float(rows[0]["tensor_FA"]) < 1)
        self.assertEqual(rows[2]["tensor_FA"], "n/a")
        self.assertRegex(rows[0]["tensor_FA"], r"^0\.\d{1,7}$")
        self.assertTrue(int(rows[0]["track_waytotal"]) > 0 and float(rows[0]["connect_cost"]) > 0)
        self.assertNotIn("track_density", rows[0])
        self.assertEqual(list(read_json(self.path("out/group_dwi.json"))), [*rows[0], "GeneratedBy"])
        table = read(self.path("out/group_dwi.tsv"))
        self.bids("raw", "out", "group", "--analysis", ANALYSES, "-w", "work")
        self.assertEqual(read(self.path("out/group_dwi.tsv")), table)


class Repaired(Study):
    analyses = "tensor"

    def test_a_repaired_subject_is_computed_and_the_status_is_0(self):
        self.add_series("raw/" + self.stems[2], 3)
        log = self.bids("raw", "out", *self.words)
        self.assertEqual(log.count("(already complete)"), 2)
        self.assertEqual(self.derivatives("out"), sorted(name for stem in self.stems for name in expected_files(stem)
                                                         if "model-tensor" in name))

    def test_a_signal_stops_with_75_and_keeps_what_was_computed(self):
        job = subprocess.Popen([VOXHERD, "bids", "raw", "stopped", "participant", "--analysis", "ballstick", "-d", "pre", "-w",
                                "work", "--nprocs", "1", "--participant-label", "01", "02", "--ballstick-options",
                                "--burn-in 20000 --jumps 20000 --sample-every 400 --batch 4", "--more", "--backend cpu"],
                               cwd=self.folder, stderr=subprocess.DEVNULL)
        part = self.path("work", self.stems[0] + "_ballstick.h5.part")
        while not os.path.exists(part) and job.poll() is None:
            time.sleep(0.02)
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(job.wait(timeout=60), 75)
        self.assertTrue(os.path.exists(part))
        self.assertFalse(os.path.exists(self.path("work", self.stems[1] + "_ballstick.h5.task.json")))

    def test_a_removed_derivative_is_written_again_from_the_result(self):
        name = self.path("out", self.stems[0] + "_model-tensor_param-fa_dwimap.nii.gz")
        before = read(name)
        os.remove(name)
        self.bids("raw", "out", *self.words, "--participant-label", "01")
        self.assertEqual(read(name), before)


if __name__ == "__main__":
    unittest.main()
