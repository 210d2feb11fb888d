"""Complete results, and commands that differ from those that made them by one option or one input: none of them may say that its
result is complete. The unchanged command must say so."""
import gzip
import json
import os
import re
import shutil
import subprocess

from cases import Judged
from processes import HANG_SECONDS

USUAL = {0, 2, 65, 66}
SCAN = "--dwi scan/data.nii --bvals scan/bvals --bvecs scan/bvecs --mask scan/mask.nii.gz"
SHELLS = SCAN.replace("scan/", "shells/")
SPGR = "--signal spgr --tr 3.5 --flip-angle 15 --relaxivity 4.5 --vfa liver/vfa.nii --vfa-flip-angles 2,5,10,15 --starts 2"
CHAIN = "--fibres 1 --burn-in 5 --jumps 10 --sample-every 5"
TRACK = "--samples-per-seed 1 --max-steps 20"
FSL_DATA = "-k scan/data -m scan/nodif_brain_mask -r scan/bvecs -b scan/bvals"
# Change no result, or only where it is.
OF_THE_RUN = set("out overwrite resume json trace backend threads share-gpu partition schedule batch host-memory stall-minutes dry-run quiet "
                 "verbose config no-difference subject fsldir voxels part parts logdir dir forcedir basename in-place".split())
OWN = "--backend cpu --threads 1 --quiet"


def make_two_shells(inputs):
    """A series with two shells, and masks under FSL's names."""
    inputs.voxherd("phantom dwi --size 4x4x2 --directions 12 --bvalues 1000,2000 --threads 1 --out shells")
    shutil.rmtree(inputs.path("shells/truth"))
    shutil.copy(inputs.path("shells/nodif_brain_mask.nii.gz"), inputs.path("shells/mask.nii.gz"))


ANALYSES = [
    f"tensor {SCAN}", f"tensor {SCAN} --fit iwls --iterations 3 --shells 0,1000", f"tensor --dwi scan/data.nii --bvals scan/bvals --bvecs scan/bvecs",
    f"ballstick {SCAN} {CHAIN} --random-seed 100000001", f"ballstick {SCAN} {CHAIN} --fibre-odds 5".replace("--fibres 1", "--fibres 2"), f"ballstick {SCAN} {CHAIN} --noise rician --f0",
    f"noddi {SHELLS}", f"noddi {SHELLS} --model bingham --samples 2 --burn-in 5 --sample-every 2",
    f"connect {SCAN} --from ends.nii.gz --from-labels 7 --to ends.nii.gz --to-labels 8 --order 1",
    f"connect {SCAN} --from-point=0,0,0 --to ends.nii.gz --to-labels 8 --order 1 --paths kept_paths.h5",
    f"connect {SCAN} --connectome ends.nii.gz --labels 7,8,9 --region-names names.txt --order 1", f"connect {SCAN} --connectome ends.nii.gz --within-fa 0.2",
    f"connect {SCAN} --connectome seed1.nii.gz seed2.nii.gz --gain --bootstrap 2 --random-seed 100000001 --order 1",
    "connect --tensor tensor.h5 --connectome ends.nii.gz --within mask.nii.gz --order 1",
    f"geodesic {SCAN} --seed-image ends.nii.gz --targets ends.nii.gz --directions 64",
    f"geodesic {SCAN} --connectome ends.nii.gz --seed-image ends.nii.gz --exclude stop.nii --include mask.nii.gz --directions 64 --within-fa 0.1",
    f"track --samples fibres.h5 --seed-image ends.nii.gz --include seed1.nii.gz mask.nii.gz --exclude stop.nii {TRACK}",
    f"track --samples m.bedpostX --seed-image list.txt --stop stop.nii --matrix1 m1.h5 {TRACK}",
    f"track --samples m.bedpostX/merged --connectome ends.nii.gz --region-names names.txt --paths kept_paths.h5 --max-paths 20 {TRACK} --random-seed 100000001",
    f"track --samples fibres.h5 --seed-image mask.nii.gz --connectome ends.nii.gz --region-names names.txt {TRACK}",
    f"track --samples fibres.h5 --seed-image mask.nii.gz --connectome ends.nii.gz --join-regions ends --end-radius 3 --paths kept_paths.h5 {TRACK}",
    f"track --samples fibres.h5 --seed-image seed1.nii.gz seed2.nii.gz --targets mask.nii.gz --transform flirt.mat --seedref mask.nii.gz --matrix3 m3.h5 "
    f"--target3 ends.nii.gz {TRACK}",
    "track --samples fibres.h5 --tracts tracts --tract-list tracts.txt --tract-samples 1 --max-steps 20",
    f"perfusion --dynamic liver/dce.nii --times liver/times.txt --mask liver/liver.nii.gz --arterial-voi liver/aorta.nii.gz --portal-voi "
    f"liver/portal.nii.gz {SPGR}",
]
PROGRAMS = [
    "bedpostx scan -n 1 -b 5 -j 10 -s 5", "bedpostx scan -n 2 -b 5 -j 10 -s 5 --rician --seed=100000001", "cudimot shells",
    "cudimot shells --model bingham --runMCMC -b 5 -j 10 -s 5", f"dtifit {FSL_DATA} -o dti", f"dtifit {FSL_DATA} -o dti --save_tensor --sse --wls",
    f"xfibres {FSL_DATA} --logdir=fit --nf=1 --bi=5 --nj=10 --se=5",
    "probtrackx2 -s m.bedpostX/merged -m m.bedpostX/nodif_brain_mask -x ends.nii.gz --opd --pd --dir=log -P 1 -S 20",
    "probtrackx2 -s m.bedpostX/merged -m m.bedpostX/nodif_brain_mask -x list.txt --network --ompl --omatrix1 --waypoints=mask.nii.gz --dir=log -P 1 -S 20",
]
JOIN = "--data=scan/data --mask=scan/nodif_brain_mask -b scan/bvals -r scan/bvecs --logdir=diff_parts --nf=1 --model=1 --bi=5 --nj=10 --se=5"


def words_of(text):
    """[[option, value, ...], ...]; plain words have the option ""."""
    found = []
    for word in text.split(" "):
        if re.match(r"-[a-zA-Z-]", word):
            name, equals, value = word.partition("=")
            found.append([name + equals, value] if equals else [word])
        elif found and found[-1][0] and not found[-1][0].endswith("="):
            found[-1].append(word)
        else:
            found.append(["", word])
    return found


def line_of(words):
    line = []
    for option, *values in words:
        line += [option + values[0]] if option.endswith("=") else [word for word in (option, *values) if word]
    return line


def change_content(chance, path):
    """Another content of the same kind."""
    packed = path.endswith(".gz")
    with (gzip.open if packed else open)(path, "rb") as file:
        content = bytearray(file.read())
    if ".nii" in path:
        # The exponent's lowest bit of a float, or a value of a label.
        place = chance.randrange(352, len(content))
        content[place] ^= 1
    elif path.endswith(".h5"):
        content[len(content) * 3 // 4] ^= 1
    else:
        digits = [m.start() for m in re.finditer(rb"[1-8]", bytes(content))]
        place = chance.choice(digits)
        content[place] += 1
    if packed:
        content = gzip.compress(bytes(content), mtime=0)
    with open(path, "wb") as file:
        file.write(content)


class Options:
    """The options of a command that change results, from its descriptor."""

    def __init__(self, program, name):
        done = subprocess.run([program, name, "--help=json"], capture_output=True, text=True, check=True)
        self.all = [one for one in json.loads(done.stdout)["inputs"] if one["name"] not in OF_THE_RUN and "command-line-flag" in one]


class ChangedCase(Judged):
    def __init__(self, number, chance, fault, setup):
        super().__init__(number, chance, fault)
        self.setup, self.inputs, self.program = setup, setup.inputs, setup.program
        self.folder = os.path.join(setup.folder, f"case{number}")
        self.base = chance.choice(fault.commands)
        self.words = words_of(self.base)
        self.name = self.words[0][1]

    def title(self):
        return f"{super().title()} {self.name}"

    def call(self, *line, cwd=None):
        return subprocess.run([self.program, *line], capture_output=True, text=True, cwd=cwd or self.folder, timeout=HANG_SECONDS)

    def run(self):
        shutil.copytree(self.fault.complete_folder(self), self.folder, symlinks=True)
        self.is_changed = self.chance.random() < 0.92
        if self.is_changed:
            self.chance.choice([self.change_option, self.change_option, self.change_option, self.change_input])()
        else:
            self.detail = "unchanged"
        done, says_complete = self.fault.ask(self)
        self.status = done.returncode
        shown = f"{' '.join(line_of(self.words))}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
        self.check_crash(shown)
        self.detail += ", complete" if says_complete else ", refused"
        if self.status not in USUAL:
            self.complain("status", f"status {self.status}: {shown}")
        if not self.is_changed and not says_complete:
            self.complain("lost", f"the same command is not complete: {shown}")
        if self.is_changed and says_complete:
            difference = self.fault.difference(self)
            if difference:
                self.complain("wrong", f"complete, but {difference}: {shown}")
        if not self.complaints:
            shutil.rmtree(self.folder)

    # The changes

    def change_option(self):
        options = self.setup.options(self.program, self.name)
        given = {words[0].strip("-=").split("=")[0]: words for words in self.words[1:] if words[0]}
        # One that is given, more often than one that is not.
        own = [o for o in options.all if o["name"] in given]
        option = self.chance.choice(own if own and self.chance.random() < 0.4 else options.all)
        old = given.get(option["name"])
        new = self.other_value(option, old)
        if old is not None:
            self.words.remove(old)
        if new is not None:
            self.words.append(new)
        self.detail = f"{' '.join(old) if old else 'no --' + option['name']} becomes {' '.join(new) if new else 'nothing'}"

    def other_value(self, option, old):
        """The option with its new value; None to leave it out."""
        flag = "--" + option["name"]
        if option["type"] == "Flag":
            return None if old else [flag]
        if old and self.chance.random() < 0.15:
            return None
        if "value-choices" in option:
            return [flag, self.chance.choice([w for w in option["value-choices"] if not old or w != old[-1]])]
        if option["type"] == "Number":
            return [flag + "=", self.other_number(option, old)]
        if option["type"] == "File":
            return self.other_files(flag, option.get("list", False), old)
        numbers = old[-1] if old else self.chance.choice(["7,8", "0,1000", "1,2,3"])
        places = [m.start() for m in re.finditer(r"[0-8]", numbers)]
        place = self.chance.choice(places) if places else 0
        return [flag + "=", numbers[:place] + str(int(numbers[place]) + 1) + numbers[place + 1:] if places else numbers]

    def other_number(self, option, old):
        low, high = option.get("minimum", 0), option.get("maximum", 1e9)
        value = float(old[-1]) if old else self.chance.choice([low, low + 1, low + 0.25 * min(high - low, 4), 2 * low + 1, min(high, low + 3)])
        if old:
            value = self.chance.choice([value + 1, value * 1.25, value / 2, value - 1, value * 1.0001])
        value = min(max(value, low), min(high, 200_000_000))
        return str(int(value)) if option.get("integer") else f"{value:.7g}"

    def other_files(self, flag, is_list, old):
        if flag.startswith(("--matrix", "--paths", "--arrivals")) and not flag.endswith(("rows", "length")):
            return [flag, "new.h5"]
        files = self.chance.sample(["seed1.nii.gz", "seed2.nii.gz", "ends.nii.gz", "mask.nii.gz", "stop.nii", "flirt.mat", "names.txt", "tracts.txt",
                                    "m.bedpostX", "fibres.h5", "tracts", "list.txt", "scan/bvals", "scan/data.nii"], 2)
        if not is_list or not old:
            return [flag, files[0]]
        return [flag, *self.chance.choice([old[1:] + files[:1], old[1:-1] + files[:1], list(reversed(old[1:]))])]

    def change_input(self):
        """Another content of a file that the command names, or of a file in its folder or list."""
        paths = [path for _, *values in self.words for word in values for path in self.files_of(word)]
        if not paths:
            return self.change_option()
        path = self.chance.choice(sorted(set(paths)))
        change_content(self.chance, os.path.join(self.folder, path))
        self.detail = f"{path} has another content"
        return None

    def files_of(self, word):
        for name in (word, word + ".nii", word + ".nii.gz"):
            at = os.path.join(self.folder, name)
            if os.path.isfile(at) and name not in ("dti_voxherd.h5", "m1.h5", "m3.h5", "kept_paths.h5"):
                return ["seed1.nii.gz", "seed2.nii.gz"] if name == "list.txt" else [name]
        if word in ("scan", "shells"):
            return [f"{word}/{name}" for name in ("data.nii", "bvals", "bvecs", "nodif_brain_mask.nii.gz")]
        if word in ("m.bedpostX", "m.bedpostX/merged"):
            return ["m.bedpostX/merged_th1samples.nii.gz", "m.bedpostX/merged_f1samples.nii.gz"]
        return ["tracts/af/seed.nii.gz", "tracts/af/target.nii.gz"] if word == "tracts" else []


class ChangedCommand:
    """A kind of fault. `commands`: of which one is changed."""

    root = False

    def __init__(self, name, commands):
        self.name, self.commands = f"changed-{name}", commands

    def new_case(self, number, chance, setup):
        if not hasattr(setup, "complete"):
            setup.complete, setup.known_options = {}, {}
            setup.options = lambda program, name: setup.known_options.setdefault(name, Options(program, name))
        return ChangedCase(number, chance, self, setup)

    def complete_folder(self, case):
        """The good inputs with the result of the unchanged command, made once."""
        complete = case.setup.complete
        key = (self.name, case.base)
        if key not in complete:
            folder = os.path.join(case.setup.folder, f"complete{len(complete)}")
            shutil.copytree(case.inputs.folder, folder, symlinks=True)
            self.make(case, folder, case.base.split(" "))
            complete[key] = folder
        return complete[key]

    def expect(self, case, folder, line):
        done = case.call(*line, cwd=folder)
        if done.returncode != 0:
            raise RuntimeError(f"an unchanged run failed: {line}: {done.returncode} {done.stderr}")

    def make(self, case, folder, line):
        self.expect(case, folder, [*line, *OWN.split(), "--out", "o.h5"])

    def fresh(self, case, name="fresh"):
        """The changed command in a folder without a result: the folder, and how it ended."""
        folder = f"{case.folder}_{name}"
        shutil.copytree(case.inputs.folder, folder, symlinks=True)
        for _, *values in case.words:
            for path in [path for word in values for path in case.files_of(word)]:
                if os.path.exists(os.path.join(folder, path)):
                    shutil.copy(os.path.join(case.folder, path), os.path.join(folder, path))
        return folder, self.compute_fresh(case, folder)

    def compute_fresh(self, case, folder):
        return case.call(*line_of(case.words), *OWN.split(), "--out", "o.h5", cwd=folder)

    def results(self, case):
        return ["o.h5"] + [name for name in ("kept_paths.h5", "m1.h5", "m3.h5", "new.h5") if any(name in words for words in case.words)]

    def difference(self, case):
        folder, done = self.fresh(case)
        try:
            if done.returncode != 0:
                return f"the command fails: {done.stderr[-300:]}"
            for name in self.results(case):
                if not os.path.exists(os.path.join(case.folder, name)):
                    return f"{name} does not exist"
                wrong = case.call("compare", os.path.join(folder, name), name)
                if wrong.returncode != 0:
                    return f"{name}: {wrong.stdout[-200:]}{wrong.stderr[-200:]}"
            return ""
        finally:
            shutil.rmtree(folder)


class Resumed(ChangedCommand):
    """The command itself, with --resume."""

    def ask(self, case):
        done = case.call(*line_of(case.words), *OWN.split()[:-1], "--out", "o.h5", "--resume")
        return done, done.returncode == 0 and "already complete" in done.stderr


def ask_cohort(case, out):
    with open(os.path.join(case.folder, "cohort.tsv"), "w", encoding="utf-8") as file:
        file.write(f"subject\tcommand\tout\na\t{' '.join(line_of(case.words))} {OWN}\t{out}\n")
    done = case.call("cohort", "cohort.tsv", "--json", "-")
    if done.returncode != 0:
        return done, False
    subject = json.loads(done.stdout)["subjects"][0]
    done.stdout = json.dumps(subject)
    return done, subject["state"] == "complete"


class InCohort(ChangedCommand):
    def ask(self, case):
        return ask_cohort(case, "o.h5")


class Program(ChangedCommand):
    """A program of FSL in a cohort, with its images, of which one may be missing."""

    def make(self, case, folder, line):
        self.expect(case, folder, [*line, *OWN.split()])

    def compute_fresh(self, case, folder):
        return case.call(*line_of(case.words), *OWN.split(), cwd=folder)

    def images(self, folder):
        places = ("scan.bedpostX", "shells.NODDI_Watson", "shells.NODDI_Bingham", "fit", "log")
        found = [os.path.join(place, name) for place in places if os.path.isdir(os.path.join(folder, place))
                 for name in os.listdir(os.path.join(folder, place)) if name.endswith((".nii.gz", ".dot", "waytotal"))]
        return found + [name for name in os.listdir(folder) if name.startswith("dti_") and name.endswith(".nii.gz")]

    def ask(self, case):
        if not case.is_changed and case.chance.random() < 0.5:
            image = case.chance.choice(sorted(self.images(case.folder)))
            os.remove(os.path.join(case.folder, image))
            case.detail, case.is_changed = f"{image} is missing", True
        return ask_cohort(case, "")

    def results(self, case):
        return []

    def difference(self, case):
        if case.detail.endswith("is missing, complete"):
            return "an image is missing"
        folder, done = self.fresh(case)
        try:
            if done.returncode != 0:
                return f"the command fails: {done.stderr[-300:]}{done.stdout[-300:]}"
            for name in self.images(folder):
                with open(os.path.join(folder, name), "rb") as one:
                    path = os.path.join(case.folder, name)
                    if not os.path.exists(path) or open(path, "rb").read() != one.read():
                        return f"{name} has other bytes"
            return ""
        finally:
            shutil.rmtree(folder)


class Parts(ChangedCommand):
    """Parts of xfibres that are joined, or have been joined."""

    def make(self, case, folder, line):
        os.makedirs(f"{folder}/diff_parts")
        for part in range(2):
            self.expect(case, folder, ["xfibres", *[w for w in line[1:] if not w.startswith(("--logdir", "600", "2"))], "--forcedir",
                                       f"--logdir=diff_parts/data_part_{part:04}", *OWN.split(), "scan", str(part), "2", "600"])

    def ask(self, case):
        if case.chance.random() < 0.5:
            case.call(*case.base.split(" "), *OWN.split())  # refused if an input has changed
        done = case.call(*line_of(case.words), *OWN.split())
        return done, done.returncode == 0

    def difference(self, case):
        """Of the joined result from that of one run of xfibres."""
        folder, _ = self.fresh(case)
        try:
            words = [w for w in line_of(case.words)[1:] if not w.startswith("--logdir") and w not in ("600", "2")]
            done = case.call("xfibres", *words, "--logdir=alone", *OWN.split(), cwd=folder)
            if done.returncode != 0:
                return f"the fit fails: {done.stderr[-300:]}{done.stdout[-300:]}"
            wrong = case.call("compare", f"{folder}/alone/voxherd.h5", "voxherd.h5")
            return "" if wrong.returncode == 0 else f"{wrong.stdout[-200:]}{wrong.stderr[-200:]}"
        finally:
            shutil.rmtree(folder)

    def compute_fresh(self, case, folder):
        return None


class Bids(ChangedCommand):
    """A data set, with other options of the analysis."""

    def line(self, words):
        name, *options = line_of(words)
        return ["bids", "ds", "derivatives", "participant", "--analysis", name, "--participant-label", "01", "-w", "files", "--nprocs", "1",
                "--more", " ".join([*options, "--backend cpu"])]

    def make(self, case, folder, line):
        self.expect(case, folder, self.line(words_of(" ".join(line))))

    def compute_fresh(self, case, folder):
        shutil.rmtree(f"{folder}/ds")
        shutil.copytree(f"{case.folder}/ds", f"{folder}/ds")
        return case.call(*self.line(case.words), cwd=folder)

    def ask(self, case):
        if case.is_changed and case.chance.random() < 0.3:
            case.words = words_of(case.base)
            path = "ds/sub-01/dwi/sub-01_dwi." + case.chance.choice(["nii", "bval", "bvec"])
            change_content(case.chance, os.path.join(case.folder, path))
            case.detail = f"{path} has another content"
        done = case.call(*self.line(case.words))
        return done, done.returncode == 0 and "already complete" in done.stderr

    def results(self, case):
        found = []
        for at, _, names in os.walk(os.path.join(case.folder, "files")):
            found += [os.path.relpath(os.path.join(at, name), case.folder) for name in names if name.endswith(".h5")]
        return found


def changed_kinds():
    plain = ["tensor --fit ols", f"ballstick {CHAIN} --random-seed 100000001"]
    return [Resumed("resumed", ANALYSES), InCohort("cohort", ANALYSES), Program("program", PROGRAMS), Parts("parts", [f"join_parts {JOIN} 600 2"]),
            Bids("bids", plain)]
