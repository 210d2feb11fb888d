"""Names of regions, files and subjects that are code in another language: every text that is written is read by a parser of its
language, and has the names in it and nothing else."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from surface_files import sheet, write_labels, write_surface
from text_parsers import check_batch_script, check_citation, check_no_formulas, is_number, rows_of_table, text_of_page

VOXHERD = os.environ["VOXHERD"]
LONG = "n" * 180
# What a table of regions can contain, and what its names are.
NAMES = {"feed\ttab": "feed tab", 'say "double"': 'say "double"', '"begins': '"begins', "'single'": "'single'", "$(touch pwned)": "$(touch pwned)",
         "`touch pwned`": "`touch pwned`", "<script>alert(1)</script>": "<script>alert(1)</script>", "=cmd|' /C calc'!A0": "=cmd|' /C calc'!A0",
         "-dash": "-dash", "+plus": "+plus", "@at": "@at", "*star* [link](http://x)": "*star* [link](http://x)", "-1.5": "-1.5", "a,b;c": "a,b;c",
         "é 漢": "é 漢", "line\nfeed": "line feed", "&amp;": "&amp;", LONG: LONG}
PLAIN = list(NAMES.values())
FILES = ["line\nfeed", "tab\tbed", "$(touch pwned)", "`touch pwned`", "quote'\"", "<script>", "=cmd", "-dash", "#SBATCH --wrap=x", LONG]
# Python's names of files in Latin-1.
LATIN = "r\udce9gion"


def in_spreadsheet(name):
    return "'" + name if name[0] in "=+-@" and not is_number(name) else name


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_hostile_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.call("phantom", "dwi", "--size", "11x9x7", "--directions", "12", "--threads", "1", "--out", "p")
        cls.series = ["--dwi", "p/data.nii", "--bvals", "p/bvals", "--bvecs", "p/bvecs", "--mask", "p/nodif_brain_mask.nii.gz"]
        mask = nibabel.load(cls.path("p/nodif_brain_mask.nii.gz"))
        inside = np.argwhere(np.asarray(mask.dataobj) > 0)
        cls.labels = np.zeros(mask.shape, np.int32)
        for label, place in enumerate(np.array_split(inside, len(PLAIN)), 1):
            cls.labels[tuple(place.T)] = label
        nibabel.save(nibabel.Nifti1Image(cls.labels, mask.affine), cls.path("labels.nii.gz"))

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def call(cls, *words, expect=0):
        done = subprocess.run([VOXHERD, *words], cwd=cls.folder, capture_output=True, timeout=120)
        output = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
        assert done.returncode == expect, f"{words}: exit {done.returncode}, expected {expect}\n{output}"
        return output

    def tearDown(self):
        self.assertFalse([name for at, _, names in os.walk(self.folder) for name in names if name == "pwned"], "a name was executed")

    def read(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read().decode("utf-8")  # strictly: every text is UTF-8

    def rows(self, name, separator=","):
        return rows_of_table(self.read(name), separator)


class Regions(Hostile):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(cls.path("names.tsv"), "w", encoding="utf-8") as file:
            file.write("index\tname\n")
            for label, name in enumerate(NAMES, 1):
                quoted = '"' + name.replace('"', '""').replace("\n", " ") + '"'
                file.write(f"{label}\t{quoted if name[0] == chr(34) or chr(9) in name or chr(10) in name else name}\n")
        cls.call("connect", *cls.series, "--connectome", "labels.nii.gz", "--region-names", "names.tsv", "--order", "1", "--paths", "paths.h5", "--threads", "1",
                 "--out", "network.h5")
        cls.call("export", "network.h5", "--to", "csv", "tables")
        cls.call("export", "network.h5", "--to", "bids", "derivatives", "--subject", "01")

    def test_tables_for_people_have_no_formulas(self):
        expected = [in_spreadsheet(name) for name in PLAIN]
        check_no_formulas(self.rows("tables/nodes.tsv", "\t"))
        self.assertEqual([row[2] for row in self.rows("tables/nodes.tsv", "\t")[1:]], expected)
        matrix = self.rows("tables/cost.csv")
        self.assertEqual(matrix[0], ["", *expected])
        self.assertEqual([row[0] for row in matrix[1:]], expected)
        self.assertEqual({float(row[i + 1]) for i, row in enumerate(matrix[1:])}, {0.0})

    def test_nodes_are_read_back_with_the_same_names(self):
        self.call("connect", *self.series, "--connectome", "labels.nii.gz", "--region-names", "tables/nodes.tsv", "--order", "1", "--threads", "1",
                  "--out", "again.h5")
        self.call("export", "again.h5", "--to", "csv", "tables_again")
        self.assertEqual(self.read("tables_again/nodes.tsv"), self.read("tables/nodes.tsv"))

    def test_tables_of_bids_have_the_names_of_the_parcellation(self):
        folder = "derivatives/sub-01/dwi"
        found = {name: self.path(folder, name) for name in os.listdir(self.path(folder))}
        nodes = [name for name in found if name.endswith("nodeindices.tsv")]
        self.assertEqual([row[3] for row in self.rows(f"{folder}/{nodes[0]}", "\t")[1:]], PLAIN)
        matrices = [name for name in found if name.endswith("relmat.tsv")]
        self.assertGreater(len(matrices), 1)
        for name in matrices:
            self.assertEqual(self.rows(f"{folder}/{name}", "\t")[0], PLAIN)
        for name in [name for name in found if name.endswith(".json")]:
            self.assertEqual(json.loads(self.read(folder, name))["GeneratedBy"][0]["Name"], "voxherd")

    def test_pages_have_the_names_as_texts(self):
        self.call("report", "network.h5", "--out", "page.html")
        text = text_of_page(self.read("page.html"))
        for name in ("<script>alert(1)</script>", "&amp;", "$(touch pwned)"):
            self.assertIn(name, text)

    def test_exported_paths_are_files_of_their_formats(self):
        for kind in ("tck", "trk", "trx"):
            self.call("export", "paths.h5", "--to", kind, f"paths.{kind}")
        with zipfile.ZipFile(self.path("paths.trx")) as file:
            self.assertIsNone(file.testzip())
            self.assertFalse([name for name in file.namelist() if name.startswith("/") or ".." in name.split("/")])
        for kind in ("tck", "trk"):
            nibabel.streamlines.load(self.path(f"paths.{kind}"))

    def test_a_name_that_is_not_utf8_is_refused_with_its_line(self):
        for name, content, line in (("l1.txt", b"7 A\n8 Gyrus pr\xe9central\n", 2), ("l1.tsv", b"index\tname\n7\tGyrus pr\xe9central\n8\tB\n", 2)):
            with open(self.path(name), "wb") as file:
                file.write(content)
            output = self.call("connect", *self.series, "--connectome", "p/truth/ends.nii.gz", "--labels", "7,8", "--region-names", name, "--out", "no.h5", expect=65)
            self.assertIn(f'{name}: line {line}: "', output)
            self.assertIn("pr\\xe9central\" is not in UTF-8, expected a text with one label and name per line in UTF-8; convert it", output)
        self.assertFalse(os.path.exists(self.path("no.h5")))


class Bids(Hostile):
    def test_citations_page_and_tables_of_a_data_set(self):
        os.makedirs(self.path("raw/sub-01/dwi"))
        with open(self.path("raw/dataset_description.json"), "w") as file:
            file.write('{"Name": "x", "BIDSVersion": "1.8.0"}')
        for source, ending in (("data.nii", "dwi.nii"), ("bvals", "dwi.bval"), ("bvecs", "dwi.bvec")):
            shutil.copy(self.path("p", source), self.path("raw/sub-01/dwi", f"sub-01_{ending}"))
        shutil.copy(self.path("labels.nii.gz"), self.path("raw/sub-01/dwi/sub-01_seg-x_dseg.nii.gz"))
        with open(self.path("raw/sub-01/dwi/sub-01_seg-x_dseg.tsv"), "w", encoding="utf-8") as file:
            file.write("index\tname\n" + "".join(f"{label}\t{json.dumps(name, ensure_ascii=False) if name[0] == chr(34) else name}\n"
                                                   for label, name in enumerate(PLAIN, 1) if '"begins' != name))
        self.call("bids", "raw", "out", "participant", "--analysis", "connect", "-w", "work", "--nprocs", "1", "--connect-options", "--order 1")
        self.call("bids", "raw", "out", "group", "--analysis", "connect", "-w", "work")
        check_citation(self.read("out/logs/CITATION.md"))
        text_of_page(self.read("out/sub-01.html"))
        self.rows("out/group_dwi.tsv", "\t")


class FileNames(Hostile):
    def test_batch_scripts_run_only_their_program(self):
        """The command that the script launches gets the names as they are."""
        os.makedirs(self.path("fake"), exist_ok=True)
        for name in ("srun", "mpirun", "scontrol"):
            with open(self.path("fake", name), "w") as file:
                file.write('#!/bin/bash\nfor word; do printf "%s\\0" "$word"; done >>launched\n')
            os.chmod(self.path("fake", name), 0o755)
        for name in [*FILES, LATIN]:
            # Neither a folder of samples nor a mask exists here: the estimate is missing, for which a comment gives the reason.
            words = ["track", "--samples", f"./{name}", "--seed-image", f"{name}.nii.gz" if name[0] != "-" else f"./{name}.nii.gz", "--out", f"./{name}.h5"]
            for launcher in ("srun", "mpirun"):
                output = self.call("slurm", *words, "--time", "1:00:00", "--launcher", launcher, "--script", "job.sh", "--overwrite-script")
                self.assertNotRegex(output, "[\x00-\x09\x0b-\x1f]")
                with open(self.path("job.sh"), "rb") as file:
                    script = file.read()
                check_batch_script(script)
                if os.path.exists(self.path("launched")):
                    os.remove(self.path("launched"))
                done = subprocess.run(["bash", "job.sh"], cwd=self.folder, capture_output=True, timeout=60,
                                      env=dict(os.environ, PATH=f"{self.path('fake')}:{os.environ['PATH']}", SLURM_JOB_ID="1", SLURM_CPUS_PER_TASK="1"))
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(self.path("launched"), "rb") as file:
                    launched = [os.fsdecode(word) for word in file.read().split(b"\0")]
                for word in words[1:]:
                    self.assertIn(word, launched)

    def test_maps_of_targets_have_the_names_of_their_files(self):
        self.call("ballstick", *self.series, "--fibres", "1", "--burn-in", "5", "--jumps", "5", "--sample-every", "5", "--threads", "1", "--out", "f.h5")
        files = [f"./{name}.nii.gz" for name in [*FILES, LATIN] if name != "#SBATCH --wrap=x"]
        for file in files:
            shutil.copy(self.path("p/truth/ends.nii.gz"), self.path(file))
        self.call("track", "--samples", "f.h5", "--seed-image", "p/truth/ends.nii.gz", "--targets", *files, "--samples-per-seed", "1", "--threads", "1", "--out", "t.h5")
        self.call("export", "t.h5", "--to", "nifti", "maps")
        names = set(os.listdir(self.path("maps")))
        for name in FILES[:-1]:
            if name != "#SBATCH --wrap=x":
                shown = "".join(f"\\x{ord(c):02x}" if c < " " else c for c in name)
                self.assertIn(f"seeds_to_{shown}.nii.gz", names)
        self.assertIn("seeds_to_r\ufffdgion.nii.gz", names)
        self.call("report", "t.h5", "--out", "t.html")
        text_of_page(self.read("t.html"))
        self.assertNotRegex(self.call("info", "t.h5"), "[\x00-\x08\x0b-\x1f]")
        self.call("export", "t.h5", "--to", "csv", "statistics", "--statistics-of", *files[:3])
        self.assertEqual(len(self.rows("statistics/tracts.csv")[0]), 5 + 6)

    def test_a_cohort_of_hostile_subjects(self):
        with open(self.path("m.tsv"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("subject\tcommand\tout\n")
            for number, name in enumerate(name for name in [*FILES, LATIN] if "\n" not in name and "\t" not in name and name[0] != "#"):
                file.write(f"{name}\ttensor {' '.join(self.series)} --threads 1 --out c/{number}.h5\tc/{number}.h5\n")
        self.call("cohort", "m.tsv", "--run", "1")
        self.call("cohort", "m.tsv", "--json", "c.json", "--report", "page.html")
        self.assertEqual(len(json.loads(self.read("c.json"))["subjects"]), len(FILES) - 2)
        text_of_page(self.read("page.html"))
        json.loads(self.read("c/0.h5.cost.json") if os.path.exists(self.path("c/0.h5.cost.json")) else "{}")


class Xml(Hostile):
    def test_parcels_of_a_surface_keep_their_names(self):
        self.call("ballstick", *self.series, "--fibres", "1", "--burn-in", "5", "--jumps", "5", "--sample-every", "5", "--threads", "1", "--out", "f.h5")
        points, triangles = sheet(0., 2., -8.)
        write_surface(self.path("lh.seeds.asc"), points, triangles, np.ones(len(points)))
        keys = np.arange(len(points)) % len(PLAIN) + 1
        write_labels(self.path("lh.label.gii"), keys, dict(enumerate(NAMES, 1)), "CortexLeft")
        self.call("track", "--samples", "f.h5", "--seed-image", "lh.seeds.asc", "--samples-per-seed", "2", "--matrix1", "m.h5", "--threads", "1", "--out", "s.h5")
        self.call("export", "m.h5", "--to", "cifti", "m.pconn.nii", "--parcels", "lh.label.gii", "--structures", "CORTEX_LEFT")
        header = nibabel.load(self.path("m.pconn.nii")).header
        self.assertEqual(set(header.get_axis(0).name), set(PLAIN))
        raw = header.to_xml() if hasattr(header, "to_xml") else b"<x/>"
        xml.etree.ElementTree.fromstring(raw)


if __name__ == "__main__":
    unittest.main()
