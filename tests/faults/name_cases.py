"""Random names of regions, files and subjects, made of what is code in some language, and the verdict on every text with them."""
import json
import os
import shutil
import stat
import subprocess
import zipfile

from cases import Judged
from input_cases import RAW, USUAL
from processes import HANG_SECONDS
from text_parsers import check_batch_script, check_citation, check_no_formulas, rows_of_table, text_of_page

try:
    import nibabel
except ImportError:
    nibabel = None

PARTS = ["\n", "\t", "\r", "\v", "\x1b[31m", '"', "'", "$(touch pwned)", "`touch pwned`", "; touch pwned #", "\ntouch pwned\n", "<script>x()</script>",
         "<img onerror=x()>", "</script>", "&amp;", "]]>", "=1+1", "-", "+", "@", "#", "#SBATCH --wrap=x\n", "\\", "%s{}", "..", "|", ",", ";", ":", "*",
         "[a](http://b)", "_", "~", "!", " ", "  ", "a", "B7", "-1.5", "é", "漢", "\u202e", "\ufffe", "\udce9", "\udcff\udcfe", "n" * 60, "\x7f", "{subject}"]
SCAN = ["--dwi", "scan/data.nii", "--bvals", "scan/bvals", "--bvecs", "scan/bvecs", "--mask", "scan/mask.nii.gz"]
BRIEF = ["--backend", "cpu", "--threads", "1", "--quiet"]
LABELS = (7, 8, 9, 10)


def random_name(chance, without=""):
    name = "".join(chance.choice(PARTS) for _ in range(chance.choice([1, 1, 2, 3, 5])))
    return "".join(c for c in name if c not in without)


def file_name(chance):
    """A name that a file can have."""
    name = random_name(chance, "/\0").encode("utf-8", "surrogateescape")[:180].decode("utf-8", "surrogateescape")
    return name if name.strip(".") else "x" + name


class NamesCase(Judged):
    def __init__(self, number, chance, fault, setup):
        super().__init__(number, chance, fault)
        self.inputs = setup.inputs
        self.top = os.path.join(setup.folder, f"case{number}")
        self.folder = os.path.join(self.top, "work")
        self.write = chance.choice([self.regions, self.regions, self.data_set, self.script, self.script, self.targets, self.parcels, self.cohort, self.statistics])

    def title(self):
        return f"{self.number:4} {self.fault.name:<18} {self.write.__name__}"

    def run(self):
        shutil.copytree(self.inputs.folder, self.folder, symlinks=True)
        self.status = 0
        try:
            self.write()
        except (AssertionError, ValueError, KeyError, OSError, UnicodeError, zipfile.BadZipFile) as wrong:
            self.complain("wrong", f"{type(wrong).__name__}: {wrong}")
        if [name for _, _, names in os.walk(self.folder) for name in names if name == "pwned"]:
            self.complain("crashed", "a name was executed")
        if not self.complaints:
            shutil.rmtree(self.top)

    def call(self, *words, program=None, environment=None):
        """Exit status 0 or a usual error in one line; returns whether it was 0."""
        done = subprocess.run([program or self.inputs.program, *words], cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=HANG_SECONDS,
                              env=environment)
        self.status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        output = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
        shown = f"{[w[:200] for w in words]!a}: {output[-1500:]!a}"
        self.check_crash(shown)
        if self.status not in USUAL and self.verdict != "crashed":
            self.complain("status", f"status {self.status}: {shown}")
        if [c for c in output if ord(c) < 32 and c not in "\n\t\r" or "\ud800" <= c <= "\udfff"]:
            self.complain("message", f"control characters, or no UTF-8: {shown}")
        errors = [line for line in output.splitlines() if line.startswith("voxherd: error: ")]
        of_one = words[0] not in ("bids", "cohort")  # these also have those of their subjects
        if self.status != 0 and (not errors or len(errors) > 1 and of_one or any(RAW.search(line) for line in errors)):
            self.complain("message", shown)
        return self.status == 0

    def read(self, *names):
        with open(os.path.join(self.folder, *names), "rb") as file:
            return file.read().decode("utf-8")

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)

    def found(self, folder, *endings):
        return [os.path.join(at, name) for at, _, names in os.walk(os.path.join(self.folder, folder)) for name in names if name.endswith(endings)]

    def name_table(self):
        """In one of the forms in which names may have blanks, or as labels of a surface with any characters."""
        names = [random_name(self.chance, "\n\r") for _ in LABELS]
        self.detail = ascii(names)[:400]
        form = self.chance.choice(["{} {}\n", "{}\t{}\n", '{}\t"{}"\n', "{},{}\n"])
        begin = self.chance.choice(["", "index\tname\n"]) if "\t" in form else ""
        return begin + "".join(form.format(label, name.replace('"', '""') if '"{}"' in form else name) for label, name in zip(LABELS, names))

    # What is written

    def regions(self):
        self.put("names.txt", self.name_table())
        if not self.call("connect", *SCAN, "--connectome", "ends.nii.gz", "--region-names", "names.txt", "--order", "1", "--paths", "p.h5", *BRIEF, "--out", "o.h5"):
            return
        if self.call("export", "o.h5", "--to", "csv", "tables"):
            nodes = rows_of_table(self.read("tables/nodes.tsv"), "\t")
            matrix = rows_of_table(self.read("tables/cost.csv"))
            for rows in (nodes, matrix):
                check_no_formulas(rows)
            assert [row[2] for row in nodes[1:]] == matrix[0][1:] == [row[0] for row in matrix[1:]], (nodes, matrix)
            if self.call("connect", *SCAN, "--connectome", "ends.nii.gz", "--region-names", "tables/nodes.tsv", "--order", "1", *BRIEF, "--out", "again.h5"):
                self.call("export", "again.h5", "--to", "csv", "again")
                assert self.read("again/nodes.tsv") == self.read("tables/nodes.tsv"), "nodes.tsv is not read back"
        if self.call("export", "o.h5", "--to", "cifti", "o.pconn.nii") and nibabel is not None:
            names = nibabel.load(os.path.join(self.folder, "o.pconn.nii")).header.get_axis(0).name
            assert len(set(names)) == len(names) >= len(LABELS), names
        if self.call("report", "o.h5", "--out", "page.html"):
            text_of_page(self.read("page.html"))
            json.loads(self.read("page.json"))
        if self.call("export", "p.h5", "--to", "trx", "p.trx"):
            with zipfile.ZipFile(os.path.join(self.folder, "p.trx")) as file:
                assert file.testzip() is None and not [name for name in file.namelist() if ".." in name.split("/")]
        if self.call("export", "o.h5", "--to", "bids", "out", "--subject", "01"):
            self.check_data_set("out")

    def check_data_set(self, out):
        for path in self.found(out, ".tsv"):
            rows_of_table(self.read(path), "\t")
        for path in self.found(out, ".json"):
            json.loads(self.read(path))
        for path in self.found(out, ".html"):
            text_of_page(self.read(path))
        for path in self.found(out, "CITATION.md"):
            check_citation(self.read(path))

    def data_set(self):
        shutil.rmtree(os.path.join(self.folder, "ds/sub-02"))
        shutil.copy(os.path.join(self.folder, "ends.nii.gz"), os.path.join(self.folder, "ds/sub-01/dwi/sub-01_seg-x_dseg.nii.gz"))
        self.put("ds/sub-01/dwi/sub-01_seg-x_dseg.tsv", self.name_table())
        if self.call("bids", "ds", "out", "participant", "--analysis", "connect", "-w", "w", "--nprocs", "1", "--more", "--backend cpu", "--connect-options", "--order 1"):
            self.call("bids", "ds", "out", "group", "--analysis", "connect", "-w", "w")
            self.check_data_set("out")

    def script(self):
        names = [file_name(self.chance) for _ in range(3)]
        self.detail = ascii(names)[:400]
        words = ["track", "--samples", f"./{names[0]}", "--seed-image", f"./{names[1]}.nii.gz", "--out", f"./{names[2]}.h5"]
        launcher = self.chance.choice(["srun", "mpirun"])
        if not self.call("slurm", *words, "--time", "1:00:00", "--launcher", launcher, "--script", "job.sh"):
            return
        with open(os.path.join(self.folder, "job.sh"), "rb") as file:
            check_batch_script(file.read())
        fake = os.path.join(self.folder, "fake")
        os.makedirs(fake)
        for name in ("srun", "mpirun", "scontrol"):
            self.put(f"fake/{name}", '#!/bin/bash\nfor word; do printf "%s\\0" "$word"; done >>launched\n')
            os.chmod(os.path.join(fake, name), stat.S_IRWXU)
        environment = dict(os.environ, PATH=f"{fake}:{os.environ['PATH']}", SLURM_JOB_ID="1", SLURM_CPUS_PER_TASK="1")
        self.call("job.sh", program="bash", environment=environment)
        with open(os.path.join(self.folder, "launched"), "rb") as file:
            launched = [os.fsdecode(word) for word in file.read().split(b"\0")]
        assert not set(words[1:]) - set(launched), (words, launched)

    def targets(self):
        names = list(dict.fromkeys(file_name(self.chance) for _ in range(2)))
        self.detail = ascii(names)[:400]
        for name in names:
            shutil.copy(os.path.join(self.folder, "ends.nii.gz"), os.path.join(self.folder, f"{name}.nii.gz"))
        if not self.call("track", "--samples", "fibres.h5", "--seed-image", "ends.nii.gz", "--targets", *(f"./{name}.nii.gz" for name in names), "--samples-per-seed", "1",
                         *BRIEF, "--out", "o.h5"):
            return
        self.call("info", "o.h5")
        if self.call("report", "o.h5", "--out", "page.html"):
            text_of_page(self.read("page.html"))
        self.call("export", "o.h5", "--to", "nifti", "maps")

    def statistics(self):
        name = file_name(self.chance)
        self.detail = ascii(name)
        shutil.copy(os.path.join(self.folder, "mask.nii.gz"), os.path.join(self.folder, f"{name}.nii.gz"))
        if self.call("export", "vertices.h5", "--to", "csv", "tables", "--statistics-of", f"./{name}.nii.gz"):
            for path in self.found("tables", ".csv"):
                check_no_formulas(rows_of_table(self.read(path)))

    def parcels(self):
        names = [random_name(self.chance) for _ in range(2)]
        self.detail = ascii(names)[:400]
        path = os.path.join(self.folder, "parcels.label.gii")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, name in zip(("one", "two"), names):
            text = text.replace(f">{old}<", f"><![CDATA[{name.replace(']]>', ']')}]]><")
        self.put("parcels.label.gii", text)
        if self.call("export", "vertices1.h5", "--to", "cifti", "o.pconn.nii", "--parcels", "parcels.label.gii") and nibabel is not None:
            # Labels of the same name are one parcel.
            assert len(nibabel.load(os.path.join(self.folder, "o.pconn.nii")).header.get_axis(0).name) == len(set(names))

    def cohort(self):
        names = list(dict.fromkeys(random_name(self.chance, "\n\r\t/") for _ in range(3)))
        self.detail = ascii(names)[:400]
        self.put("m.tsv", "subject\tcommand\tout\n" + "".join(f"{name}\ttensor {' '.join(SCAN + BRIEF)} --out c/{i}.h5\tc/{i}.h5\n" for i, name in enumerate(names)))
        self.call("cohort", "m.tsv", "--run", "1")
        if self.call("cohort", "m.tsv", "--json", "c.json", "--report", "page.html"):
            json.loads(self.read("c.json"))
            text_of_page(self.read("page.html"))
        for path in self.found("c", ".json"):
            json.loads(self.read(path))


class Names:
    """A kind of fault: names that are code in another language."""

    root, name = False, "names"

    def new_case(self, number, chance, setup):
        return NamesCase(number, chance, self, setup)
