"""voxherd bids tells series and results apart: nothing is computed for another series, and no derivative stays that was made
from another result, whatever the times of the files are."""
import os
import re
import shutil
import unittest

from bids_jobs import Layouts, read, read_json, read_table
from program import files_below

FA = "sub-01/dwi/sub-01_model-tensor_param-fa_dwimap.nii.gz"


class Current(Layouts):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.describe("raw")
        cls.add_series("raw/sub-01/dwi/sub-01")
        cls.add_regions("raw/sub-01/dwi/sub-01_seg-ends")

    def setUp(self):
        self.addCleanup(lambda: [shutil.rmtree(self.path(name), ignore_errors=True) for name in ("out", "expected", "w_a", "w_b")])

    def call(self, out, work, *words, analysis="tensor"):
        return self.bids("raw", out, "participant", "--analysis", analysis, "-w", work, "--nprocs", "1", "--more", "--backend cpu", *words)

    def page_mark(self):
        """Which results the page was made from, its last line."""
        return read(self.path("out/sub-01.html")).decode().splitlines()[-1]

    def snapshot(self, out):
        """All files but pages, which have times and folders in them."""
        return {name: read(self.path(out, name)) for name in files_below(self.path(out)) if not name.endswith(".html")}

    def test_derivatives_are_those_of_the_last_call_also_of_an_older_result(self):
        a, b = ["--paths", "--tensor-options", "--fit ols", "--connect-options", "--max-ratio 5"], ["--paths"]
        both = "tensor,connect"
        self.call("expected", "w_a", *a, analysis=both)
        self.call("out", "w_b", *b, analysis=both)
        mixed = self.snapshot("out")
        mark = self.page_mark()
        self.call("out", "w_a", *a, analysis=both)
        self.assertEqual(self.snapshot("out"), self.snapshot("expected"))
        changed = {name for name, text in self.snapshot("out").items() if mixed[name] != text}
        for part in ("param-fa_dwimap.nii.gz", "meas-cost_desc-leastcost_relmat.tsv", "tractogram.trx", "tensor.json", "CITATION.md"):
            self.assertTrue([name for name in changed if name.endswith(part)], f"{part} is the same: {sorted(changed)}")
        self.assertRegex(mark, "^<!-- made from results [0-9a-f]{16} -->$")
        self.assertNotEqual(self.page_mark(), mark)

    def test_files_of_other_results_are_replaced_whatever_their_times_are(self):
        self.call("expected", "w_a", "--tensor-options", "--fit ols")
        self.call("out", "w_b")
        own, mark = self.snapshot("out"), self.page_mark()
        for name in [*own, "sub-01.html"]:
            if name != "logs/methods/sub-01_tensor.json":
                shutil.copy(self.path("expected", name), self.path("out", name))
            os.utime(self.path("out", name), (4e9, 4e9))
        self.call("out", "w_b")
        self.assertEqual((self.snapshot("out"), self.page_mark()), (own, mark))

    def test_a_copy_with_other_times_is_current_and_is_not_written_again(self):
        self.call("out", "w_a")
        for folder in ("out", "w_a"):
            for name in files_below(self.path(folder)):
                os.utime(self.path(folder, name), (1e9, 1e9) if folder == "out" else (2e9, 2e9))
        self.call("out", "w_a")
        self.assertEqual({os.stat(self.path("out", name)).st_mtime for name in files_below(self.path("out"))}, {1e9})

    def test_a_damaged_derivative_or_record_is_written_again(self):
        self.call("out", "w_a")
        expected = self.snapshot("out")
        record = self.path("out/logs/methods/sub-01_tensor.json")
        self.assertIn(FA, read_json(record)["files"])
        for name, size in ((FA, 400), (FA, 0), ("sub-01.html", 1000), (record, 10), (record, 0)):
            with open(self.path("out", name), "r+b") as file:
                file.truncate(size)
            self.call("out", "w_a")
            self.assertEqual(self.snapshot("out"), expected, name)
        self.assertIn("</html>", read(self.path("out/sub-01.html")).decode())


class Identity(Layouts):
    """Series whose names differ only in their folders."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.describe("raw")
        for number, session in enumerate(("ses-a", "ses-b"), 1):
            cls.add_series(f"raw/sub-01/{session}/dwi/sub-01", number)
        cls.add_series("raw/sub-02/dwi/sub-02", 3)

    def test_sessions_without_their_entity_are_computed_one_or_several_at_a_time(self):
        snapshots = []
        for more in ([], ["--per-node", "2"]):
            log = self.participant("raw", *more)
            out = self.path(f"out{self.id()}{self.count}")
            maps = [name for name in self.out() if name.endswith("param-fa_dwimap.nii.gz")]
            self.assertEqual(maps, ["sub-01/ses-a/dwi/sub-01_ses-a_model-tensor_param-fa_dwimap.nii.gz",
                                    "sub-01/ses-b/dwi/sub-01_ses-b_model-tensor_param-fa_dwimap.nii.gz",
                                    "sub-02/dwi/sub-02_model-tensor_param-fa_dwimap.nii.gz"])
            notes = [name for name in self.out() if name.startswith("logs/methods/")]
            self.assertEqual(notes, [f"logs/methods/{name}_tensor.json" for name in ("sub-01_ses-a", "sub-01_ses-b", "sub-02")])
            page = read(out, "sub-01.html").decode()
            self.assertTrue(all(f">sub-01_ses-{s} tensor: Run</h2>" in page for s in "ab"))
            self.assertEqual(len(re.findall("(?m)^- sub-", read(out, "logs/CITATION.md").decode())), 3)
            snapshots.append({name: read(out, name) for name in self.out() if not name.endswith(".html")})
        self.assertIn("3 of 3 subjects complete", log)
        self.assertEqual(*snapshots)
        self.bids("raw", out, "group", "--analysis", "tensor", "-w", f"work{self.id()}{self.count}")
        self.assertEqual([row["series"] for row in read_table(out, "group_dwi.tsv")], ["sub-01_ses-a", "sub-01_ses-b", "sub-02"])

    def test_a_series_is_named_with_or_without_its_datatype(self):
        for name in ("sub-01_ses-b", "sub-01_ses-b_dwi"):
            self.participant("raw", "--series", name)
            self.assertEqual({file.split("/")[1] for file in self.out() if file.startswith("sub-01/")}, {"ses-b"})
        self.assertIn("--series sub-01: no series of", self.participant("raw", "--series", "sub-01", expect=66))

    def test_two_images_that_are_one_series_are_refused_by_name(self):
        self.describe("twice")
        for name in ("100-1", "1001"):
            for file, target in (("data.nii.gz", "data.nii.gz"), ("bvals", "bvals"), ("bvecs", "bvecs")):
                self.copy(f"{self.phantom()}/{file}", f"twice/{name}/T1w/Diffusion/{target}")
        self.assertRegex(self.participant("twice", expect=65),
                         r"100-1/T1w/Diffusion/data.nii.gz and \S*1001/T1w/Diffusion/data.nii.gz are both the series sub-1001")


if __name__ == "__main__":
    unittest.main()
