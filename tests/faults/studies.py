"""Short runs of each analysis on small phantoms, and their undisturbed results."""
import importlib.util
import os
import shutil
import subprocess

from processes import HANG_SECONDS, Job

# Without h5py, `voxherd compare` and `voxherd verify` are the only judges.
if importlib.util.find_spec("h5py"):
    from result_files import batches_done, digest, h5py, summary
else:
    h5py = None

CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../configs/geodesic-phantom.cfg")
SPGR = "--signal spgr --tr 3.5 --flip-angle 15 --relaxivity 4.5 --vfa-flip-angles 2,5,10,15".split()


def scan(inputs):
    dwi = os.path.join(inputs, "dwi")
    return ["--dwi", f"{dwi}/data.nii", "--bvals", f"{dwi}/bvals", "--bvecs", f"{dwi}/bvecs", "--mask",
            f"{dwi}/nodif_brain_mask.nii.gz"]


def tensor(inputs, out):
    packed = ["--dwi", os.path.join(inputs, "dwi", "data.nii.gz")]
    return ["tensor", *packed, *scan(inputs)[2:], "--batch", "8", "--out", out]


def ballstick(inputs, out):
    return ["ballstick", *scan(inputs), "--burn-in", "60", "--jumps", "40", "--sample-every", "4", "--batch", "20", "--out", out]


def geodesic(inputs, out):
    ends = os.path.join(inputs, "dwi", "truth", "ends.nii.gz")
    return ["geodesic", "--config", CONFIG, *scan(inputs), "--seed-image", ends, "--targets", ends, "--directions", "1024",
            "--batch", "500", "--out", out]


def connect(inputs, out):
    ends = os.path.join(inputs, "dwi", "truth", "ends.nii.gz")
    return ["connect", *scan(inputs), "--smooth", "0.7", "--alpha", "5", "--max-ratio", "1000", "--connectome", ends, "--paths",
            out.replace(".h5", ".paths.h5"), "--out", out]


def perfusion(inputs, out):
    liver = os.path.join(inputs, "liver")
    return ["perfusion", "--dynamic", f"{liver}/dce.nii", "--times", f"{liver}/times.txt", "--mask", f"{liver}/liver.nii.gz",
            "--arterial-voi", f"{liver}/aorta.nii.gz", "--portal-voi", f"{liver}/portal.nii.gz", "--vfa", f"{liver}/vfa.nii",
            *SPGR, "--starts", "8", "--batch", "10", "--out", out]


class Study:
    """An analysis; `steps`: it computes other results first. `image`: the series that it reads."""

    def __init__(self, words, image, steps=False):
        self.words, self.image, self.steps = words, image, steps
        self.name = words.__name__
        self.reference = ""
        self.seconds = {}  # by number of ranks

    def results(self, out):
        """All files that a complete run leaves."""
        more = {"connect": [".paths.h5"], "perfusion": [".curves.csv"]}.get(self.name, [])
        return [out, *(out.replace(".h5", end) for end in more)]


STUDIES = [Study(tensor, "dwi/data.nii.gz"), Study(ballstick, "dwi/data.nii"), Study(geodesic, "dwi/data.nii", steps=True),
           Study(connect, "dwi/data.nii", steps=True), Study(perfusion, "liver/dce.nii")]


def change_image(path):
    """Gives a series other values without a new file."""
    if path.endswith(".gz"):
        subprocess.run(["sh", "-c", 'gzip -nc "$1" >"$2"', "sh", os.path.dirname(path) + "/other.nii", path], check=True)
        return
    with open(path, "r+b") as file:
        content = bytearray(file.read())
        half = 352 + (len(content) - 352) // 8 * 4
        content[352:] = content[half:] + content[352:half]
        file.seek(0)
        file.write(content)


class Studies:
    """The inputs and undisturbed results in one folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.inputs = os.path.join(folder, "inputs")
        for kind in ("dwi", "liver"):
            self.voxherd("phantom", kind, "--preset", "toy", "--out", os.path.join(self.inputs, kind))
        dwi = os.path.join(self.inputs, "dwi")
        shutil.copy(f"{dwi}/data.nii", f"{dwi}/other.nii")
        change_image(f"{dwi}/other.nii")
        subprocess.run(["gzip", "-nk", f"{dwi}/data.nii"], check=True)

    def voxherd(self, *words):
        """Runs to the end; the output if it fails."""
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=HANG_SECONDS)
        return "" if done.returncode == 0 else f"{words[0]} {words[-1]}: status {done.returncode}: {done.stderr}"

    def command(self, study, inputs, out, *options):
        return [self.program, *study.words(inputs, out), "--backend", "cpu", "--threads", "1", "--quiet", *options]

    def prepare(self, study, ranks):
        """Computes the result that others are compared with, and measures how long a run on so many ranks takes."""
        if ranks not in study.seconds:
            study.reference = os.path.join(self.folder, f"{study.name}{ranks}.h5")
            study.seconds[ranks] = self.complete(study, self.inputs, study.reference, ranks)

    def changed_reference(self, study):
        """The result for the changed series."""
        path = os.path.join(self.folder, f"{study.name}_changed.h5")
        if not os.path.exists(path):
            inputs = os.path.join(self.folder, f"{study.name}_changed")
            shutil.copytree(self.inputs, inputs)
            change_image(os.path.join(inputs, study.image))
            self.complete(study, inputs, path, 1)
        return path

    def complete(self, study, inputs, out, ranks, *options):
        job = Job(ranks, self.command(study, inputs, out, *options), out + ".log")
        stuck = job.finish(HANG_SECONDS)
        seconds = job.ended - job.started
        if stuck or job.status != 0:
            raise RuntimeError(f"an undisturbed run of {study.name} failed: {job.status} {job.output()} {stuck}")
        return seconds

    def difference(self, study, out, reference):
        """What is wrong with a result; "" if all its bytes are those of the reference."""
        for file, expected in zip(study.results(out), study.results(reference)):
            if file.endswith(".h5"):
                wrong = self.voxherd("verify", file) or self.voxherd("compare", expected, file) or other_digest(file, expected)
            else:
                wrong = same_content(file, expected)
            if wrong:
                return wrong
        return ""


def other_digest(file, expected):
    return "" if h5py is None or digest(file) == digest(expected) else f"{file}: compare finds no difference, but there is one"


def finished_batches(study, out):
    """Number of finished batches of an unfinished result, None if unknown."""
    return None if h5py is None or study.steps else batches_done(out + ".part")


def resumed_batches(out):
    return summary(out)["resumed_batches"]


def same_content(file, expected):
    try:
        with open(file, "rb") as one, open(expected, "rb") as other:
            return "" if one.read() == other.read() else f"{file} has other bytes"
    except OSError as missing:
        return str(missing)
