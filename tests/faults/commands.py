"""Commands whose inputs and outputs are changed, and the folder with their good inputs."""
import gzip
import json
import os
import shutil
import struct
import subprocess
from typing import NamedTuple

from processes import HANG_SECONDS

SCAN = "--dwi scan/data.nii --bvals scan/bvals --bvecs scan/bvecs --mask scan/mask.nii.gz"


class Word(NamedTuple):
    """An option and its value, or an argument (option ""). `role`: "input" (a file or a folder), "output", or "" for others."""
    option: str
    text: str
    role: str = ""


class Command(NamedTuple):
    """`results`: files that are compared with those of the undamaged command. `own`: names that a run that fails may
    leave begin so. `messages`: it may print more than one error."""
    name: str
    words: list
    results: tuple = ()
    own: tuple = ()
    overwrite: str = "--overwrite"
    messages: bool = False
    more_inputs: tuple = ()  # files and folders that no word names


def words_of(text, inputs=(), outputs=()):
    """"argument --option value --option=value --flag": values of options that are in `inputs` or `outputs` are files."""
    def role(option):
        return "input" if option in inputs else "output" if option in outputs else ""

    found, option = [], ""
    for word in text.split(" "):
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            found.append(Word(option, word, role(option)))
            option = ""
            continue
        if option:
            found.append(Word(option, ""))
        option = "" if equals else word
        if equals:
            found.append(Word(name + "=", value, role(name)))
    return found + ([Word(option, "")] if option else [])


def argument(text, role=""):
    return Word("", text, role)


READS = ("--dwi", "--bvals", "--tensor", "--bvecs", "--mask", "--samples", "--seed-image", "--connectome", "--targets", "--include", "--exclude",
         "--stop", "--walk-through-stop", "--region-names", "--tracts", "--tract-list", "--seedref", "--transform",
         "--inverse-transform", "--target2", "--target3", "--surface-values", "--brain-models", "--parcels", "--blueprint", "--waytotal",
         "--config", "--parcellation", "--scene", "--within", "--bids-filter-file", "-m", "-x", "--waypoints", "--avoid", "--targetmasks")
WRITES = ("--out", "--matrix1", "--matrix2", "--matrix3", "--paths", "--arrivals", "--json", "--trace", "--report", "--script", "--dir")


def command(name, text, results=(), **more):
    return Command(name, words_of(text, READS, WRITES), tuple(results), **more)


def with_first(first, c):
    """The command with an argument before its options."""
    return c._replace(words=[c.words[0], first, *c.words[1:]])


def track_commands():
    brief = "--backend cpu --threads 1 --quiet"
    return [
        command("track", f"track --samples m.bedpostX --seed-image ends.nii.gz --targets mask.nii.gz --include list.txt --config track.cfg "
                f"--json t.json --out o.h5 --samples-per-seed 2 {brief}", ["o.h5"]),
        command("track", f"track --samples fibres.h5 --connectome ends.nii.gz --region-names names.txt --matrix1 1.h5 --trace t.csv --out "
                f"o.h5 --samples-per-seed 2 {brief}", ["o.h5", "1.h5"]),
        command("track", f"track --samples fibres.h5 --seed-image mask.nii.gz --connectome ends.nii.gz --region-names names.txt --json t.json --out o.h5 "
                f"--samples-per-seed 2 {brief}", ["o.h5"]),
        command("track", f"track --samples m.bedpostX --tracts tracts --tract-list tracts.txt --tract-samples 2 --out o.h5 {brief}", ["o.h5"]),
        command("track", f"track --samples m.bedpostX --seed-image list.txt --seedref mask.nii.gz --transform flirt.mat --matrix3 3.h5 --target3 "
                f"ends.nii.gz --stop stop.nii --paths p.h5 --max-paths 20 --out o.h5 --samples-per-seed 2 {brief}", ["o.h5", "3.h5", "p.h5"]),
    ]


def probtrackx2_commands():
    begin, end = "probtrackx2 -m m.bedpostX/nodif_brain_mask.nii.gz", "--dir=log --quiet --threads 1 -P 2"
    samples = Word("-s", "m.bedpostX/merged")
    made = [
        command("probtrackx2", f"{begin} -x list.txt --network --waypoints mask.nii.gz --avoid stop.nii -o name {end}", ["log/voxherd.h5"]),
        command("probtrackx2", f"{begin} -x ends.nii.gz --opd --os2t --targetmasks list.txt --omatrix2 --target2 mask.nii.gz {end}",
                ["log/voxherd.h5"]),
    ]
    return [c._replace(words=[*c.words, samples], more_inputs=("m.bedpostX",), overwrite="--forcedir") for c in made]


def report_commands():
    page = "--out page.html"
    results = [with_first(argument(name, "input"), command("report", f"report {page}"))
               for name in ("tensor.h5", "fibres.h5", "network.h5", "tracked.h5", "liver.h5", "m.bedpostX")]
    scan = with_first(argument("scan/data.nii", "input"), command("report", f"report --bvals scan/bvals --bvecs scan/bvecs --mask "
                                                                  f"scan/mask.nii.gz {page}"))
    implied = with_first(argument("tensor.h5", "input"), command("report", "report"))
    return [*results, scan, scan, implied]


def bids_commands():
    def bids(out, level, text):
        c = command("bids", f"bids {text} -w work --nprocs 1")
        return c._replace(words=[c.words[0], argument("ds", "input"), argument(out, "output"), argument(level), *c.words[1:],
                                 Word("--more", "--backend cpu")], own=(out, "work"), messages=True, overwrite="")

    return [bids("out", "participant", "--analysis tensor --bids-filter-file filter.json"), bids("out", "participant", "--analysis tensor"),
            bids("done", "group", "--analysis tensor")]


def cohort_commands():
    many = {"own": ("c",), "messages": True}
    manifest = argument("m.tsv", "input")
    return [with_first(manifest, command("cohort", "cohort --json j.json --report r.html")),
            with_first(manifest, command("cohort", "cohort --run-all", ["c/a.h5", "c/b.h5"], **many)),
            with_first(manifest, command("cohort", "cohort --run 2", ["c/b.h5"], **many)),
            with_first(argument("people.tsv", "input"), command("cohort", "cohort --array --json j.json")),
            with_first(argument("people.tsv", "input"), command("cohort", "cohort --report r.html"))]


def slurm_commands():
    more = {"overwrite": "--overwrite-script"}
    return [command("slurm", f"slurm tensor {SCAN} --out o.h5 --json t.json --backend cpu --script job.sh --time 10", **more),
            command("slurm", f"slurm track --samples m.bedpostX --seed-image list.txt --matrix1 1.h5 --out o.h5 --script job.sh", **more),
            command("slurm", f"slurm connect {SCAN} --connectome ends.nii.gz --paths p.h5 --out o.h5 --time 1:00:00", **more)]


def view_commands():
    own = {"overwrite": ""}
    text = "view --parcellation ends.nii.gz --region-names names.txt --scene scene.json --port 0 --threads 1 --backend cpu"
    image = "view --port 0 --bvals scan/bvals --bvecs scan/bvecs --mask scan/mask.nii.gz --threads 1 --backend cpu"
    results = [with_first(argument(name, "input"), command("view", "view --port 0 --threads 1 --backend cpu", **own))
               for name in ("fibres.h5", "network.h5", "tracked.h5")]
    return [with_first(argument("tensor.h5", "input"), command("view", text, **own)), with_first(argument("scan/data.nii", "input"), command("view", image, **own)),
            *results]


MAKERS = {"track": track_commands, "probtrackx2": probtrackx2_commands, "report": report_commands, "bids": bids_commands,
          "cohort": cohort_commands, "slurm": slurm_commands, "view": view_commands}
PEOPLE = "# template: tensor --dwi scan/data.nii --bvals scan/{bvals} --bvecs scan/bvecs --out c/{subject}.h5\nsubject\tbvals\na\tbvals\nb\tbvals\n"


def write_texts(folder):
    tensor = f"tensor {SCAN} --backend cpu --threads 1 --out"
    texts = {"list.txt": "seed1.nii.gz\nseed2.nii.gz\n", "names.txt": "7 A\n8 B\n9 C\n10 D\n", "track.cfg": "# settings\nseed-radius = 0.5\n",
             "flirt.mat": "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n", "tracts.txt": "af 1\ncst 0.5 # half\n", "people.tsv": PEOPLE,
             "m.tsv": f"subject\tcommand\tout\na\t{tensor} c/a.h5\tc/a.h5\nb\t{tensor} c/b.h5\tc/b.h5\n",
             "filter.json": json.dumps({"dwi": {"suffix": "dwi"}}), "scene.json": json.dumps({"voxherd_scene": 1, "kept": []}),
             "ds/dataset_description.json": json.dumps({"Name": "x", "BIDSVersion": "1.11.1", "DatasetType": "raw"}),
             "user/notes.txt": "precious\n", "user/image.h5": "an older result\n"}
    for name, text in texts.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


class Inputs:
    """The folder of good inputs, made by the program."""

    def __init__(self, program, folder):
        self.program, self.folder = program, os.path.join(folder, "good")
        os.makedirs(self.folder)
        self.references = {}  # folders of undamaged runs, by the words of their commands
        self.voxherd("phantom dwi --size 11x9x7 --directions 12 --fibres 2 --threads 1 --out scan")
        self.voxherd("phantom liver --preset toy --threads 1 --out liver")
        shutil.copy(self.path("scan/nodif_brain_mask.nii.gz"), self.path("scan/mask.nii.gz"))
        shutil.copy(self.path("scan/nodif_brain_mask.nii.gz"), self.path("mask.nii.gz"))
        shutil.move(self.path("scan/truth/ends.nii.gz"), self.path("ends.nii.gz"))
        shutil.rmtree(self.path("scan/truth"))
        self.make_masks()
        brief = "--backend cpu --threads 1 --quiet"
        self.voxherd(f"tensor {SCAN} {brief} --out tensor.h5")
        self.voxherd(f"ballstick {SCAN} {brief} --fibres 2 --burn-in 20 --jumps 20 --sample-every 5 --out fibres.h5")
        self.voxherd("export fibres.h5 --to fsl m.bedpostX")
        write_texts(self.folder)
        self.voxherd(f"connect {SCAN} {brief} --connectome ends.nii.gz --out network.h5")
        self.voxherd(f"track --samples fibres.h5 --connectome ends.nii.gz --samples-per-seed 2 {brief} --out tracked.h5")
        self.make_liver(brief)
        self.make_data_set()

    def path(self, name):
        return os.path.join(self.folder, name)

    def voxherd(self, text):
        subprocess.run([self.program, *text.split(" ")], cwd=self.folder, check=True, capture_output=True, timeout=HANG_SECONDS)

    def make_masks(self):
        for name in ("tracts/af/seed.nii.gz", "tracts/af/target.nii.gz", "tracts/cst/seed.nii.gz"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            shutil.copy(self.path("ends.nii.gz"), self.path(name))
        self.make_mask("stop.nii", 0, 1)
        self.make_mask("tracts/af/exclude.nii", 0, 1)
        self.make_mask("seed1.nii.gz", 250, 330)
        self.make_mask("seed2.nii.gz", 360, 440)

    def make_mask(self, name, begin, end):
        """A range of voxels, with the header of the scan but for its volumes."""
        with open(self.path("scan/data.nii"), "rb") as file:
            header = bytearray(file.read(352))
        header[40:42], header[48:50] = b"\3\0", b"\1\0"
        content = bytes(header) + struct.pack("<693f", *(float(begin <= voxel < end) for voxel in range(11 * 9 * 7)))
        with gzip.open(self.path(name), "wb") if name.endswith(".gz") else open(self.path(name), "wb") as file:
            file.write(content)

    def make_liver(self, brief):
        at = "liver"
        self.voxherd(f"perfusion --dynamic {at}/dce.nii --times {at}/times.txt --mask {at}/liver.nii.gz --arterial-voi {at}/aorta.nii.gz "
                     f"--portal-voi {at}/portal.nii.gz --signal spgr --tr 3.5 --flip-angle 15 --relaxivity 4.5 --vfa {at}/vfa.nii "
                     f"--vfa-flip-angles 2,5,10,15 --starts 2 {brief} --out liver.h5")

    def make_data_set(self):
        for subject in ("01", "02"):
            at = self.path(f"ds/sub-{subject}/dwi")
            os.makedirs(at)
            for name, end in (("data.nii", "nii"), ("bvals", "bval"), ("bvecs", "bvec")):
                shutil.copy(self.path(f"scan/{name}"), f"{at}/sub-{subject}_dwi.{end}")
        self.voxherd("bids ds done participant --analysis tensor --nprocs 1 -w work")

    def difference(self, case_folder, c):
        """What is different in the results of a command from those of the undamaged one; "" if nothing is."""
        key = self.references.get(tuple(c.words))
        if key is None:
            key = f"{self.folder}_{len(self.references)}"
            shutil.copytree(self.folder, key, symlinks=True)
            done = subprocess.run([self.program, *command_line(c.words)], cwd=key, capture_output=True, text=True, timeout=HANG_SECONDS)
            if done.returncode != 0:
                raise RuntimeError(f"an undamaged run failed: {command_line(c.words)}: {done.returncode} {done.stderr}")
            self.references[tuple(c.words)] = key
        for name in c.results:
            pair = os.path.join(key, name), os.path.join(case_folder, name)
            if not os.path.exists(pair[1]):
                return f"{name} is missing"
            words = [self.program, "compare"] if name.endswith(".h5") else ["cmp"]
            done = subprocess.run([*words, *pair], capture_output=True, text=True, timeout=HANG_SECONDS)
            if done.returncode != 0:
                return f"{name}: {done.stdout[-200:]}{done.stderr[-200:]}"
        return ""


def command_line(words):
    line = []
    for w in words:
        line += [w.option + w.text] if w.option.endswith("=") else [part for part in (w.option, w.text) if part]
    return line
