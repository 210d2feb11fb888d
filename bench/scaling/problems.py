"""The problems of the scaling study: inputs, options, and how large they are for GPUs, for CPU cores and for a test.

A problem is `make(place, units)`: with `place` (where inputs lie and how large they are to be) it makes what it reads and
returns the analysis's words and the name of what its results must equal. `units` is None for strong scaling and the
number of ranks for weak scaling, where the problem grows with it.
"""
import dataclasses
import os

import inputs

CONFIGS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "configs")
HCP = (145, 174, 145)


@dataclasses.dataclass(frozen=True)
class scale:
    """How large problems are. `slices`: of the strong scan, and of the weak one for each rank. Sizes in voxels."""
    dwi_preset: str
    plane: tuple
    slices: tuple
    chain: tuple  # ball & stick's options
    seed_directions: int
    regions: tuple  # of the connectome, strong and for each rank; () for those of the toy phantom
    liver_preset: str
    liver_weak: tuple  # voxels in x, y, and slices for each rank
    batch: tuple  # ball & stick's, where the program's own choice is too coarse for so few voxels


# Half of a Human Connectome subject for each GPU, so that two have the whole one.
SCALES = {
    "cuda": scale("hcp", HCP[:2], (HCP[2], 73), ("--burn-in", "3000"), 64, (1000, 250), "paper", (320, 320, 33), ()),
    # The same voxels, fewer of them: minutes of one core.
    "cpu": scale("hcp", (48, 58), (24, 4), ("--burn-in", "3000"), 64, (128, 16), "paper", (160, 160, 8), ("--batch", "16")),
    "quick": scale("toy", (20, 20), (12, 6), ("--burn-in", "50", "--jumps", "50"), 16, (), "toy", (32, 32, 4), ("--batch", "64")),
}


@dataclasses.dataclass(frozen=True)
class place:
    folder: str
    build: str
    voxherd: str
    how: scale

    def slices(self, units):
        return self.how.slices[0] if units is None else min(4096, units * self.how.slices[1])

    def scan(self, units):
        return inputs.phantom(self.folder, self.voxherd, "dwi", self.how.dwi_preset, (*self.how.plane, self.slices(units)))


def scan_words(folder, data="data.nii"):
    return ("--dwi", f"{folder}/{data}", "--bvals", f"{folder}/bvals", "--bvecs", f"{folder}/bvecs", "--mask",
            f"{folder}/nodif_brain_mask.nii.gz")


def reference(name, folder):
    return f"{name}-{os.path.basename(folder)}"


def ballstick(model, data=lambda path: path, deviation=False):
    def make(at, units):
        scan = at.scan(units)
        series = os.path.basename(data(os.path.join(scan, "data.nii")))
        words = (*scan_words(scan, series), "--fibres", "3", "--model", str(model), *at.how.chain, *at.how.batch)
        if deviation:
            words += ("--grad-dev", inputs.gradient_deviation(os.path.join(scan, "data.nii")))
        return words, reference(f"ballstick_model{model}" + "_deviation" * deviation, scan)
    return make


def tensor(at, units):
    scan = at.scan(units)
    return scan_words(scan), reference("tensor", scan)


def geodesic(at, units):
    """From all white matter to the ends of the bundles."""
    scan = at.scan(units)
    return (*scan_words(scan), "--config", os.path.join(CONFIGS, "geodesic-phantom.cfg"), "--seed-image",
            f"{scan}/truth/fibres.nii.gz", "--connectome", f"{scan}/truth/ends.nii.gz", "--rays", "one-way", "--directions",
            str(at.how.seed_directions), "--top", "100", "--distinct", "0"), reference("geodesic", scan)


def connect(at, units):
    if not at.how.regions:
        scan = at.scan(units)
        return (*scan_words(scan), "--connectome", f"{scan}/truth/ends.nii.gz"), reference("connect", scan)
    brain = inputs.connectome(at.folder, at.build, at.how.regions[0] if units is None else units * at.how.regions[1])
    return ("--connectome", f"{brain}/labels.nii", "--tensor", f"{brain}/tensor.nii", "--tensor-from",
            "mrtrix"), reference("connect", brain)


def perfusion(*solver):
    def make(at, units):
        nx, ny, slices = at.how.liver_weak
        size = None if units is None else (nx, ny, slices * units)
        liver = inputs.phantom(at.folder, at.voxherd, "liver", at.how.liver_preset, size, ("--signal", "linear"))
        words = ("--dynamic", f"{liver}/dce.nii", "--times", f"{liver}/times.txt", "--mask", f"{liver}/liver.nii.gz",
                 "--curves", f"{liver}/curves.csv", "--signal", "linear", "--relaxivity", "4.5", "--t1-map",
                 f"{liver}/truth/T1.nii.gz")
        return (*words, "--solver", *solver), reference("perfusion_" + solver[0], liver)
    return make


@dataclasses.dataclass(frozen=True)
class problem:
    analysis: str
    make: callable
    partition: str = "voxels"


PROBLEMS = {
    "ballstick-m1": problem("ballstick", ballstick(1)),
    "ballstick-m2": problem("ballstick", ballstick(2)),
    "ballstick-slices": problem("ballstick", ballstick(1), "slices"),
    "ballstick-gz": problem("ballstick", ballstick(1, data=inputs.compressed)),
    "ballstick-grad-dev": problem("ballstick", ballstick(2, deviation=True)),
    "tensor": problem("tensor", tensor),
    "geodesic": problem("geodesic", geodesic),
    "connect": problem("connect", connect),
    "perfusion-lm": problem("perfusion", perfusion("lm")),
    "perfusion-simplex": problem("perfusion", perfusion("simplex", "--discretisation", "paper")),
}
