"""Inputs of track whose streamlines are known, its command, and what a result has."""
import os

import numpy as np
from crafted_inputs import nifti
from surface_files import sheet, write_surface
from toy_jobs import ToyJobs, h5py, voxherd

SIZE = (24, 9, 7)
SAMPLES = 4


class TrackJobs(ToyJobs):
    def write(self, name, values, **fields):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(nifti(np.asarray(values, dtype=float), **fields))
        return path

    def mask(self, name, *boxes):
        values = np.zeros(SIZE)
        for number, box in enumerate(boxes, 1):
            values[box] = number
        return self.write(name + ".nii", values)

    def samples(self, name="samples", axes=((np.pi / 2, np.pi),), fractions=(.7,), spread=0, **fields):
        """A folder of bedpostX: fibres in the same direction everywhere, which may differ from sample to sample."""
        chance = np.random.default_rng(3)
        for k, (axis, fraction) in enumerate(zip(axes, fractions), 1):
            for word, value in zip(("th", "ph", "f"), (*axis, fraction)):
                values = np.full((*SIZE, SAMPLES), value) + (chance.normal(0, spread, (*SIZE, SAMPLES)) if word != "f" else 0)
                self.write(f"{name}/merged_{word}{k}samples.nii", values, **fields)
        inside = np.zeros(SIZE)
        inside[1:-1, 1:-1, 1:-1] = 1
        self.write(f"{name}/nodif_brain_mask.nii", inside, **fields)
        return self.path(name)

    def launch(self, out, *options, ranks=0, threads=1):
        rc, _, output = voxherd("track", "--quiet", "--threads", threads, "--out", out, *options, ranks=ranks)
        return rc, output

    def make(self, name, *options, ranks=0, threads=1):
        out = self.path(name)
        rc, output = self.launch(out, *options, ranks=ranks, threads=threads)
        self.assertEqual(rc, 0, output)
        return out

    def scattered(self):
        """Two crossing fibres that differ in each sample and voxel."""
        return self.samples("scattered", axes=((np.pi / 2, 3.), (1.5, 1.4)), fractions=(.5, .3), spread=.15)

    def all_options(self):
        return ("--samples", self.scattered(), "--seed-image", self.mask("seeds", np.s_[6:18, 2:7, 2:5]), "--seed-radius", "0.7",
                "--first-fibre", "equal", "--loop-check", "on", "--include", self.mask("left", np.s_[5, :, :]),
                self.mask("right", np.s_[19, :, :]), "--exclude", self.mask("avoid", np.s_[:, 7, :]), "--stop",
                self.mask("stop", np.s_[21, :, :]), "--min-half-length", "2", "--lengths")


def maps(path):
    with h5py.File(path, "r") as file:
        return {name: np.moveaxis(np.asarray(values), (0, 1, 2), (2, 1, 0)) for name, values in file["maps"].items()}


def constants(path, group):
    with h5py.File(path, "r") as file:
        return {name: np.asarray(values) for name, values in file[group].items()}


class TractJobs(TrackJobs):
    def protocols(self):
        """Two tracts through scattered(): one with all kinds of masks, in order and inverted, one with a seed only."""
        for name, mask in (("seed", np.s_[6:9, 2:7, 2:5]), ("stop", np.s_[21, :, :]), ("exclude", np.s_[:, 7, :]),
                           ("target1", np.s_[11, :, :]), ("target2", np.s_[14:16, 2:7, 2:5])):
            self.mask(f"protocols/af_l/{name}", mask)
        for name in ("invert", "wayorder"):
            open(self.path(f"protocols/af_l/{name}"), "w").close()
        self.mask("protocols/cst/seed", np.s_[10, 4, 3])
        return self.path("protocols")

    def base(self):
        return "--samples", self.scattered(), "--loop-check", "on", "--seed-radius", "0.7", "--lengths"


MINUS = dict(sform=[[-2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]])  # FSL's millimetres are voxels times 2


class SpaceJobs(TrackJobs):
    def flirt(self, name, rows):
        path = self.path(name)
        np.savetxt(path, np.vstack([rows, [0, 0, 0, 1]]))
        return path

    def image(self, name, box, size=SIZE, **fields):
        values = np.zeros(size)
        values[box] = 1
        return self.write(name + ".nii", values, **fields)


FNIRT = 2006  # intent of FSL's warps in a NIfTI header
MM = 2.0


def positions(size=SIZE):
    """FSL's millimetres of the voxels of an image like MINUS."""
    return np.stack(np.meshgrid(*(np.arange(n) * MM for n in size), indexing="ij"), -1)


def bend(mm):
    """A smooth displacement in mm of up to 2 mm."""
    x, y, z = np.moveaxis(mm, -1, 0)
    return np.stack([1.5 * np.sin(y / 6), np.cos(x / 9) + .5, .8 * np.sin(z / 5 + x / 11)], -1)


def inverse_bend(mm):
    back = np.zeros_like(mm)
    for _ in range(60):
        back = -bend(mm + back)
    return back


class WarpJobs(SpaceJobs):
    def field(self, name, mm, intent=FNIRT, **fields):
        """FSL's warp file; the values are in the order of the array."""
        return self.write(name, np.asarray(mm), intent=(intent,), **{**MINUS, **fields})

    def pair(self, there, back, **fields):
        """Options for warps: displacements from the samples' voxels to the seeds' image, and from this one back."""
        return ("--transform", self.field("there.nii", there, **fields), "--inverse-transform", self.field("back.nii", back, **fields))

    def straight(self):
        return "--samples", self.samples(**MINUS), "--seed-image", self.image("seeds", np.s_[10, 4, 3], **MINUS)

    def curved(self):
        samples = self.samples("curved", axes=((np.pi / 2, 3.), (1.5, 1.4)), fractions=(.5, .3), spread=.15, **MINUS)
        return ("--samples", samples, "--seed-image", self.image("seeds", np.s_[8:14, 3:6, 2:4], **MINUS), "--seed-radius", "0.7",
                "--samples-per-seed", 100, "--include", self.image("gate", np.s_[6, :, :], **MINUS))

    def refuse(self, status, words, *options):
        rc, output = self.launch(self.path("refused.h5"), *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)

    def expect_close(self, one, other, share=.01):
        one, other = maps(one)["density"].astype(float), maps(other)["density"].astype(float)
        self.assertGreater(other.sum(), 1000)
        self.assertLess(np.abs(one - other).sum(), share * other.sum())


class SurfaceJobs(TrackJobs):
    def surface(self, name, points, triangles, values=None):
        """FreeSurfer's text; points in voxels of 2 mm."""
        values = np.zeros(len(points)) if values is None else values
        return self.text(name, 2 * points, triangles, values)

    def text(self, name, points_mm, triangles, values):
        return write_surface(self.path(name + ".asc"), points_mm, triangles, values)

    def sheet(self, name, *xs, values=None, **shape):
        points, triangles = sheet(xs[0], **shape)
        for x in xs[1:]:
            more, corners = sheet(x, **shape)
            triangles = np.vstack([triangles, corners + len(points)])
            points = np.vstack([points, more])
        return self.surface(name, points, triangles, values)

    def straight(self, name, *options):
        """20 streamlines from one voxel, along the first axis, points at multiples of a quarter of a voxel."""
        seeds = self.mask("seed", np.s_[10, 3, 3])
        return self.make(name, "--samples", self.samples(), "--seed-image", seeds, "--samples-per-seed", 20, *options)

    def row(self, *options):
        return maps(self.straight("row.h5", "--overwrite", *options))["density"][:, 3, 3]


class Probtrackx2Jobs(TrackJobs):
    def call(self, *options, ranks=0):
        rc, _, output = voxherd("probtrackx2", "--quiet", "--threads", 1, *options, ranks=ranks)
        return rc, output

    def trace(self, name, *options, ranks=0):
        """Runs on the straight fibres of samples(); returns the folder."""
        folder = self.samples()
        rc, output = self.call("-s", f"{folder}/merged", "-m", f"{folder}/nodif_brain_mask", f"--dir={self.path(name)}", *options,
                               ranks=ranks)
        self.assertEqual(rc, 0, output)
        return self.path(name)

    def text_list(self, name, *paths):
        with open(self.path(name), "w") as file:
            file.write("\n".join(paths))  # no line feed at the end
        return self.path(name)

    def image(self, path):
        import nibabel
        return np.asarray(nibabel.load(path).dataobj, dtype=float)


def read(path):
    """The values of each streamline, and a list of its points."""
    with h5py.File(path, "r") as file:
        position, offset = file["points/position"][()], file["points/offset"][()]
        values = {name: file["samples"][name][()] for name in file["samples"]}
    values["halves"] = np.column_stack([values["first_half"], values["second_half"]])
    if "region" in values:
        values["reached"] = np.column_stack([values["first_region"], values["second_region"]])
    return values, [position[first:last] for first, last in zip(offset[:-1], offset[1:])]
