"""voxherd bids in a folder of derivatives that another program uses: its files stay as they are."""
import json
import os
import unittest

from bids_jobs import Layouts, read, read_json, read_table
from program import files_below

SHARED = ("sub-01.html", "logs/CITATION.md", "group_dwi.tsv", "group_dwi.json", "README.md", "dataset_description.json")
FA = "sub-01/dwi/sub-01_model-tensor_param-fa_dwimap"


class Foreign(Layouts):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.describe("raw")
        cls.add_series("raw/sub-01/dwi/sub-01")

    def call(self, out, level, expect=0):
        return self.bids("raw", out, level, "--analysis", "tensor", "-w", "work", *(["--nprocs", "1", "--more", "--backend cpu"] if level == "participant" else []),
                         expect=expect)

    def files(self, out):
        return {name: read(self.path(out, name)) for name in files_below(self.path(out))}

    def test_pages_citations_and_tables_of_another_program_stay(self):
        self.write("out/dataset_description.json", json.dumps({"Name": "fMRIPrep", "BIDSVersion": "1.8.0", "DatasetType": "derivative"}))
        for name in SHARED[:5]:
            self.write(f"out/{name}", json.dumps({"GeneratedBy": [{"Name": "another program"}]}) if name.endswith(".json") else "of another program")
        foreign = {name: read(self.path("out", name)) for name in SHARED if name != "dataset_description.json"}
        log = self.call("out", "participant") + self.call("out", "group")
        self.assertEqual({name: read(self.path("out", name)) for name in foreign}, foreign)
        self.assertIn("sub-01.html was made by another program and stays; ours is sub-01_voxherd.html", log)
        self.assertIn("</html>", read(self.path("out/sub-01_voxherd.html")).decode())
        self.assertRegex(read(self.path("out/logs/CITATION_voxherd.md")).decode(), r"(?m)^- sub-01, tensor: ")
        rows = read_table(self.path("out/group_dwi_voxherd.tsv"))
        self.assertEqual([(row["series"], row["page"]) for row in rows], [("sub-01", "sub-01_voxherd.html")])
        self.assertEqual(list(read_json(self.path("out/group_dwi_voxherd.json"))), [*rows[0], "GeneratedBy"])
        # Ours are replaced by ours.
        before = self.files("out")
        os.remove(self.path("out/sub-01_voxherd.html"))
        self.call("out", "participant")
        self.call("out", "group")
        self.assertEqual(self.files("out").keys(), before.keys())

    def test_our_own_files_are_replaced(self):
        self.call("own", "participant")
        self.call("own", "group")
        names = files_below(self.path("own"))
        for name in ("sub-01.html", "logs/CITATION.md", "group_dwi.tsv"):
            content = read(self.path("own", name))
            with open(self.path("own", name), "wb") as file:
                file.write(content.replace(b"sub-01", b"sub-99"))
        self.call("own", "participant")
        self.call("own", "group")
        self.assertEqual(files_below(self.path("own")), names)
        for name in ("logs/CITATION.md", "group_dwi.tsv"):
            self.assertNotIn(b"sub-99", read(self.path("own", name)))

    def test_a_map_of_another_program_is_an_error_and_stays(self):
        for ending, text in ((".nii.gz", "a map"), (".json", '{"Model": {}}')):
            with self.subTest(ending):
                out = f"map{ending[-2:]}"
                self.write(f"{out}/{FA}{ending}", text)
                log = self.call(out, "participant", expect=2)
                self.assertIn(f"{FA}{ending} was made by another program and is not replaced; remove it, or choose another output folder", log)
                self.assertEqual(read(self.path(out, FA + ending)).decode(), text)
                self.assertEqual([name for name in files_below(self.path(out)) if name.endswith(".nii.gz")], [FA + ending] if ending == ".nii.gz" else [])


if __name__ == "__main__":
    unittest.main()
