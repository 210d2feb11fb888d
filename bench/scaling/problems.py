"""The problems of the scaling study: inputs, options, and sizes for GPUs, for CPU cores and for a test.

A problem is `make(place, units)`: with `place` (the folder and the sizes of inputs) it creates its inputs and
returns the options of the analysis and the name of the results that must be equal. `units` is None for strong
scaling and the number of ranks for weak scaling, where the problem grows with it."""
import dataclasses
import os

import inputs

CONFIGS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "configs")
HCP = (145, 174, 145)


@dataclasses.dataclass(frozen=True)
class scale:
    """Sizes of problems; numbers can be set on the command line. weak_...: per rank."""
    dwi_preset: str
    liver_preset: str
    nx: int = 0  # of the scan, voxels
    ny: int = 0
    slices: int = 0
    weak_slices: int = 0
    burn_in: int = 3000  # ball & stick, jumps
    jumps: int = 1250
    batch: int = 0  # of ball & stick, voxels, where the program's own choice is too coarse for few voxels; 0: the program's choice
    directions: int = 64  # directions of geodesics per seed
    regions: int = 0  # of the connectome; 0: the ends of the scan's bundles
    weak_regions: int = 0
    liver_nx: int = 0  # of the weak liver, voxels; the strong one has the size of the preset
    liver_ny: int = 0
    liver_weak_slices: int = 0
    seeds: int = 1000  # of track, voxels; matrix 1 and the targets of matrix 3: 91 times as many
    per_seed: int = 1000000  # streamlines of track per seed; of matrix 1 a 100th, of matrix 3 a 300th


SCALES = {
    # Half of a Human Connectome subject per GPU, so that two GPUs have the complete one; the same for the paper's
    # liver.
    "cuda": scale("hcp", "paper", 145, 174, 145, 73, regions=1000, weak_regions=250, liver_nx=320, liver_ny=320,
                  liver_weak_slices=33),
    # Fewer of the same voxels: minutes on one core.
    "cpu": scale("hcp", "paper", 48, 58, 16, 4, batch=16, directions=512, regions=128, weak_regions=16, liver_nx=160,
                 liver_ny=160, liver_weak_slices=8),
    "quick": scale("toy", "toy", 20, 20, 12, 6, burn_in=50, jumps=50, batch=64, directions=16, liver_nx=32, liver_ny=32,
                   liver_weak_slices=4, seeds=5, per_seed=300),
}
NUMBERS = tuple(f.name for f in dataclasses.fields(scale) if f.type is int)


@dataclasses.dataclass(frozen=True)
class place:
    folder: str
    build: str
    voxherd: str
    how: scale

    def scan(self, units):
        slices = self.how.slices if units is None else min(4096, units * self.how.weak_slices)
        size = (self.how.nx, self.how.ny, slices)
        return inputs.phantom(self.folder, self.voxherd, "dwi", self.how.dwi_preset, size)


def scan_words(folder, data="data.nii"):
    return ("--dwi", f"{folder}/{data}", "--bvals", f"{folder}/bvals", "--bvecs", f"{folder}/bvecs", "--mask",
            f"{folder}/nodif_brain_mask.nii.gz")


def reference(folder, *words):
    return "-".join((os.path.basename(folder), *map(str, words)))


def ballstick(model, by_slices=False, compressed=False, deviation=False):
    def make(at, units):
        scan, how = at.scan(units), at.how
        data = os.path.join(scan, "data.nii")
        # A slice is one batch only if a batch may contain all of it.
        batch = how.nx * how.ny if by_slices else how.batch
        words = (*scan_words(scan, os.path.basename(inputs.compressed(data)) if compressed else "data.nii"), "--fibres", "3",
                 "--model", str(model), "--burn-in", str(how.burn_in), "--jumps", str(how.jumps), "--batch", str(batch))
        if deviation:
            words += ("--grad-dev", inputs.gradient_deviation(data))
        return words, reference(scan, "ballstick", model, how.burn_in, how.jumps, "deviation" if deviation else "")
    return make


def tensor(at, units):
    scan = at.scan(units)
    return scan_words(scan), reference(scan, "tensor")


def geodesic(at, units):
    """From all white matter, in both directions, to the ends of the bundles."""
    scan, directions = at.scan(units), at.how.directions
    return (*scan_words(scan), "--config", os.path.join(CONFIGS, "geodesic-phantom.cfg"), "--seed-image",
            f"{scan}/truth/fibres.nii.gz", "--connectome", f"{scan}/truth/ends.nii.gz", "--directions", str(directions),
            "--top", "100", "--distinct", "0"), reference(scan, "geodesic", directions)


def connect(at, units):
    if not at.how.regions:
        scan = at.scan(units)
        return (*scan_words(scan), "--connectome", f"{scan}/truth/ends.nii.gz"), reference(scan, "connect")
    brain = inputs.connectome(at.folder, at.build, at.how.regions if units is None else units * at.how.weak_regions)
    return ("--connectome", f"{brain}/labels.nii", "--tensor", f"{brain}/tensor.nii", "--tensor-from",
            "mrtrix"), reference(brain, "connect")


def perfusion(*solver):
    def make(at, units):
        size = None if units is None else (at.how.liver_nx, at.how.liver_ny, at.how.liver_weak_slices * units)
        liver = inputs.phantom(at.folder, at.voxherd, "liver", at.how.liver_preset, size, ("--signal", "linear"))
        words = ("--dynamic", f"{liver}/dce.nii", "--times", f"{liver}/times.txt", "--mask", f"{liver}/liver.nii.gz",
                 "--curves", f"{liver}/curves.csv", "--signal", "linear", "--relaxivity", "4.5", "--t1-map",
                 f"{liver}/truth/T1.nii.gz")
        return (*words, "--solver", *solver), reference(liver, *solver)
    return make


def track(*matrices):
    """Streamlines from evenly chosen voxels of white matter: as many from each."""
    def make(at, units):
        scan, how = at.scan(units), at.how
        samples = inputs.samples(scan, at.voxherd)
        grow = units or 1
        # HCP's dense connectome has 91,282 rows; matrix 3 of QuNex starts 3,000 streamlines in each of 250,000 voxels.
        seeds, per_seed = {"": (how.seeds, how.per_seed), "matrix1": (how.seeds * 91282 // 1000, how.per_seed // 100),
                           "matrix3": (how.seeds * 250, how.per_seed // 333)}[matrices[0] if matrices else ""]
        words = ("--samples", samples, "--seed-image", inputs.chosen(f"{scan}/truth/fibres.nii.gz", seeds * grow),
                 "--samples-per-seed", str(max(1, per_seed)))
        for matrix in matrices:
            words += ("--" + matrix, os.path.join(at.folder, matrix + ".h5"))
            if matrix == "matrix3":
                words += ("--target3", inputs.chosen(f"{scan}/truth/fibres.nii.gz", how.seeds * 91282 // 1000))
        return words, reference(scan, "track", seeds * grow, per_seed, *matrices)
    return make


@dataclasses.dataclass(frozen=True)
class problem:
    analysis: str
    make: callable
    partition: str = "voxels"
    studies: tuple = ("strong", "weak")


PROBLEMS = {
    "ballstick-m1": problem("ballstick", ballstick(1)),
    "ballstick-m2": problem("ballstick", ballstick(2)),
    "ballstick-slices": problem("ballstick", ballstick(1, by_slices=True), "slices", ("strong",)),
    "ballstick-gz": problem("ballstick", ballstick(1, compressed=True), studies=("strong",)),
    "ballstick-grad-dev": problem("ballstick", ballstick(2, deviation=True), studies=("strong",)),
    "tensor": problem("tensor", tensor),
    "geodesic": problem("geodesic", geodesic),
    "connect": problem("connect", connect),
    "perfusion-lm": problem("perfusion", perfusion("lm")),
    "track": problem("track", track()),
    "track-matrix1": problem("track", track("matrix1"), studies=("strong",)),
    "track-matrix3": problem("track", track("matrix3"), studies=("strong",)),
    "perfusion-simplex": problem("perfusion", perfusion("simplex", "--discretisation", "paper")),
}
