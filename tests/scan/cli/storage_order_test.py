"""Companions of an image that are stored in another order of its voxels give the same bytes as those in its own order; those that
are elsewhere are refused, or under FSL's names matched by index."""
import gzip
import itertools
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np
from crafted_inputs import B, BAD_DATA, COMPLETE, CURVES, G, LIVER, SIZE, TIMES, nifti, signals, table
from result_files import digest

VOXHERD = os.environ["VOXHERD"]
ORDERS = [(axes, signs) for axes in itertools.permutations(range(3)) for signs in itertools.product((1, -1), repeat=3)]
SOME = [((0, 1, 2), (-1, 1, 1)), ((0, 1, 2), (-1, -1, 1)), ((2, 0, 1), (1, -1, 1)), ((1, 0, 2), (1, 1, -1))]
RAS = np.array([[2., 0, 0, -9], [0, 2.5, 0, 4], [0, 0, 3, 7], [0, 0, 0, 1]])
LAS = RAS @ np.diag([-1., 1, 1, 1])
TURN = np.array([[.8, -.6, 0, 0], [.6, .8, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
SHORT_CHAIN = ("--fibres", 1, "--burn-in", 20, "--jumps", 40, "--sample-every", 10)
rng = np.random.default_rng(4)


def restored(values, affine, order):
    """The same voxels at the same places in the world: axis d of the new image is axes[d], backwards if its sign is -1."""
    axes, signs = order
    values = np.transpose(values, (*axes, *range(3, values.ndim)))
    to_old = np.zeros((4, 4))
    to_old[3, 3] = 1
    for d, (axis, sign) in enumerate(zip(axes, signs)):
        to_old[axis, d] = sign
        if sign < 0:
            values = np.flip(values, d)
            to_old[axis, 3] = values.shape[d] - 1
    return values, affine @ to_old


def frame(affine, of_bvecs=True):
    """Axes of a matrix per voxel: those of the image, the first one negated for bvecs if the determinant is positive."""
    axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    return axes @ np.diag([-1 if of_bvecs and np.linalg.det(axes) > 0 else 1, 1, 1])


class StorageJobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.count = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def store(self, name, values, affine, order=ORDERS[0], **fields):
        values, affine = restored(np.asarray(values, float), affine, order)
        content = nifti(values, sform=affine[:3], pixdim=np.linalg.norm(affine[:3, :3], axis=0), **fields)
        with open(self.path(name), "wb") as file:
            file.write(gzip.compress(content, 1) if name.endswith(".gz") else content)
        return self.path(name)

    def call(self, *words, ranks=1):
        launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launch, VOXHERD, *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=120)
        return done.returncode, done.stderr

    def make(self, command, *options, ranks=1):
        """The result's digest, and what was printed."""
        self.count += 1
        out = self.path(f"{self.count}.h5")
        status, output = self.call(command, "--threads", 1, "--out", out, *options, ranks=ranks)
        self.assertEqual(status, COMPLETE, output)
        return digest(out), output

    def scan(self, affine):
        """Two shells."""
        b, g, values = B + B[2:], np.hstack((G, G[:, 2:])), np.concatenate((signals(), .6 * signals()[..., 2:]), 3)
        b[8:] = [2000] * 6
        for name, rows in (("bvals", [b]), ("bvecs", g)):
            with open(self.path(name), "wb") as file:
                file.write(table(rows))
        return "--dwi", self.store("dwi.nii", values, affine), "--bvals", self.path("bvals"), "--bvecs", self.path("bvecs")


MASK = rng.random(SIZE) < .6


class Masks(StorageJobs):
    def test_a_mask_in_each_of_the_48_orders_gives_the_same_fit(self):
        scan = self.scan(TURN @ RAS)
        expected, output = self.make("tensor", *scan, "--mask", self.store("mask.nii", MASK, TURN @ RAS))
        self.assertNotIn("mask.nii", output)
        for i, order in enumerate(ORDERS[1:]):
            name = f"mask{i}.nii" + (".gz" if i % 2 else "")
            found, output = self.make("tensor", *scan, "--mask", self.store(name, MASK, TURN @ RAS, order))
            self.assertEqual(found, expected, order)
            self.assertIn("is stored in another order", output)
            self.assertNotIn("its matrix", output)

    def test_every_analysis_of_diffusion_takes_a_mask_in_another_order(self):
        scan = self.scan(LAS)
        labels = np.arange(60).reshape(SIZE) // 20 + 1
        for command, *options in (("ballstick", *SHORT_CHAIN), ("noddi",),
                                  ("geodesic", "--seed-image", self.store("seeds.nii", MASK, LAS)),
                                  ("connect", "--connectome", self.store("labels.nii", labels, LAS))):
            expected, _ = self.make(command, *scan, *options, "--mask", self.store("mask.nii", MASK, LAS))
            for order in SOME:
                found, _ = self.make(command, *scan, *options, "--mask", self.store("other.nii", MASK, LAS, order))
                self.assertEqual(found, expected, (command, order))

    def test_a_mask_of_tensors_may_be_in_another_order(self):
        tensors = np.broadcast_to([1.7e-3, 1e-4, 0, 6e-4, 0, 5e-4], (*SIZE, 6)) * rng.uniform(.9, 1.1, (*SIZE, 1))
        options = ("--tensor", self.store("tensor.nii", tensors, LAS), "--tensor-from", "fsl", "--seed-image",
                   self.store("seeds.nii", MASK, LAS))
        expected, _ = self.make("geodesic", *options, "--mask", self.store("mask.nii", MASK, LAS))
        for order in SOME:
            self.assertEqual(self.make("geodesic", *options, "--mask", self.store("other.nii", MASK, LAS, order))[0], expected)

    def test_samples_of_bedpostx_take_a_mask_in_another_order(self):
        size, box = (12, 7, 5), np.zeros((12, 7, 5))
        box[1:8, 1:5, 1:4] = 1
        box[3, 2, 2] = 0
        os.mkdir(self.path("fibres"))
        for word, value in (("th", np.pi / 2), ("ph", 3.), ("f", .7)):
            noise = 0 if word == "f" else rng.normal(0, .1, (*size, 4))
            self.store(f"fibres/merged_{word}1samples.nii", np.full((*size, 4), value) + noise, RAS)
        seeds = np.zeros(size)
        seeds[4:6, 2:4, 2] = 1
        options = ("--samples", self.path("fibres"), "--seed-image", self.store("seeds.nii", seeds, RAS), "--samples-per-seed", 20)
        expected, _ = self.make("track", *options, "--mask", self.store("fibres/nodif_brain_mask.nii", box, RAS))
        for order in SOME:
            self.assertEqual(self.make("track", *options, "--mask", self.store("other.nii", box, RAS, order))[0], expected)
            self.store("fibres/nodif_brain_mask.nii", box, RAS, order)
            self.assertEqual(self.make("track", *options)[0], expected)

    def test_the_report_of_a_scan_takes_a_mask_in_another_order(self):
        scan = self.scan(RAS)
        numbers = []
        for order in ORDERS[:1] + SOME:
            mask = self.store("mask.nii", MASK, RAS, order)
            status, output = self.call("report", scan[1], *scan[2:], "--mask", mask, "--overwrite")
            self.assertEqual(status, COMPLETE, output)
            with open(self.path("dwi.report.json"), encoding="utf-8") as file:
                numbers.append({name: value for name, value in json.load(file).items() if name != "provenance"})
        self.assertEqual(numbers[1:], numbers[:1] * len(SOME))


class GradientDeviations(StorageJobs):
    def check(self, series, with_identity, ending):
        """The matrices are along the axes of their own file, column by column."""
        L = rng.normal(0, .05, (*SIZE, 3, 3))
        scan = (*self.scan(series), "--mask", self.store("mask.nii", MASK, series))
        stored = []
        for order in ORDERS[:1] + ORDERS[1:-1:4] + ORDERS[-1:]:
            affine = restored(MASK, series, order)[1]
            turn = np.rint(frame(affine, not with_identity).T @ frame(series))
            matrices = turn @ L @ turn.T + (np.eye(3) if with_identity else 0)
            columns = np.swapaxes(matrices.astype("f4"), -1, -2).reshape(*SIZE, 9)
            name = f"dev{len(stored)}.nii{ending}"
            stored.append(self.make("tensor", *scan, "--grad-dev", self.store(name, columns, series, order))[0])
        stored.append(self.make("tensor", *scan, "--grad-dev", self.path(name), "--batch", 7, ranks=3)[0])
        self.assertNotEqual(stored[0], self.make("tensor", *scan)[0])
        self.assertEqual(len(set(stored)), 1)

    def test_HCPs_matrices_turn_with_their_file(self):
        self.check(TURN @ RAS, False, "")
        self.check(LAS, False, ".gz")

    def test_QSIPreps_matrices_turn_with_their_file(self):
        self.check(LAS, True, "")
        self.check(TURN @ RAS, True, ".gz")

    def test_FSLs_order_leaves_the_components_of_HCP_as_they_are(self):
        L = rng.normal(0, .05, (*SIZE, 9))
        scan = (*self.scan(RAS), "--mask", self.store("mask.nii", MASK, RAS))
        found = [self.make("tensor", *scan, "--grad-dev", self.store("dev.nii", L, RAS, order))[0] for order in (ORDERS[0], SOME[0])]
        self.assertEqual(found[0], found[1])


class DynamicSeries(StorageJobs):
    def options(self, order, **others):
        one = lambda x: np.eye(1, 60, 12 * x).reshape(SIZE)  # noqa: E731
        images = {"mask": LIVER, "arterial-voi": one(0), "portal-voi": one(1), "delay-roi": MASK * LIVER, **others}
        words = [("--" + name, self.store(f"{name}{order[0][0]}.nii.gz", values, RAS, order)) for name, values in images.items()]
        with open(self.path("times"), "wb") as file:
            file.write(table(np.transpose([TIMES])))
        return [word for pair in words for word in pair] + ["--delays", "two-stage", "--times", self.path("times")]

    def test_masks_and_VOIs_in_another_order_give_the_same_fit(self):
        series = ("--dynamic", self.store("dynamic.nii", CURVES, RAS))
        expected, _ = self.make("perfusion", *series, *self.options(ORDERS[0]))
        for order in SOME:
            self.assertEqual(self.make("perfusion", *series, *self.options(order))[0], expected)

    def test_frames_in_orders_of_their_own_give_the_same_fit(self):
        expected, _ = self.make("perfusion", "--dynamic", self.store("dynamic.nii", CURVES, RAS), *self.options(ORDERS[0]))
        for packed in (".nii", ".nii.gz"):
            frames = [self.store(f"frame{k:02}{packed}", CURVES[..., k], RAS, ORDERS[5 * k % 48]) for k in range(CURVES.shape[3])]
            self.assertEqual(self.make("perfusion", "--dynamic", *frames, *self.options(ORDERS[0]))[0], expected)

    def test_maps_of_T1_and_variable_flip_angles_in_another_order_give_the_same_fit(self):
        T1 = rng.uniform(.5, 1.2, SIZE)
        angles, TR = np.radians([2, 10, 20]), 4
        decay = np.exp(-TR / 1000 / T1)[..., None]
        vfa = 1000 * np.sin(angles) * (1 - decay) / (1 - np.cos(angles) * decay)
        echo = ("--signal", "spgr", "--relaxivity", 4, "--tr", TR, "--flip-angle", 20, "--dynamic",
                self.store("dynamic.nii", 100 * (1 + CURVES), RAS))
        one_file = ("--vfa-tr", TR, "--vfa-flip-angles", "2,10,20", "--vfa")
        for ending in (".nii", ".nii.gz"):
            by_map, by_angles = ([], [])
            for order in ORDERS[:1] + SOME:
                options = self.options(ORDERS[0])
                by_map.append(self.make("perfusion", *echo, *options, "--t1-map", self.store("t1" + ending, T1, RAS, order))[0])
                by_angles.append(self.make("perfusion", *echo, *options, *one_file, self.store("vfa" + ending, vfa, RAS, order))[0])
            self.assertEqual((len(set(by_map)), len(set(by_angles))), (1, 1))
            separate = [self.store(f"vfa{k}{ending}", vfa[..., k], RAS, order) for k, order in enumerate(SOME[:3])]
            self.assertEqual(self.make("perfusion", *echo, *options, *one_file, *separate)[0], by_angles[0])


class OtherPlaces(StorageJobs):
    def moved(self, mm, affine=RAS):
        place = affine.copy()
        place[0, 3] += mm
        return place

    def test_a_displacement_is_silent_warned_of_or_refused(self):
        scan = self.scan(RAS)
        expected, _ = self.make("tensor", *scan, "--mask", self.store("mask.nii", MASK, RAS))
        for order in (ORDERS[0], *SOME):
            found, output = self.make("tensor", *scan, "--mask", self.store("near.nii", MASK, self.moved(.15), order))
            self.assertEqual((found, "places voxels" in output), (expected, False))
            found, output = self.make("tensor", *scan, "--mask", self.store("near.nii", MASK, self.moved(.9), order))
            self.assertEqual((found, "places voxels up to 0.9 mm away" in output), (expected, True))
            status, output = self.call("tensor", *scan, "--out", "x.h5", "--mask", self.store("far.nii", MASK, self.moved(3), order))
            self.assertEqual(status, BAD_DATA)
            has_same_size = order[0] == (0, 1, 2)
            self.assertRegex(output, "far.nii: its matrix places voxels up to 3 mm away from those of .*dwi.nii, expected less than half a "
                                     "voxel; resample it" if has_same_size else "far.nii: has . x . x . voxels, expected 5 x 4 x 3")

    def test_a_rotation_and_another_field_of_view_are_refused(self):
        scan = self.scan(RAS)
        for values, affine, words in ((MASK, TURN @ RAS, "its matrix places voxels up to"),
                                      (MASK[1:], RAS, "has 4 x 4 x 3 voxels, expected 5 x 4 x 3 as in"),
                                      (MASK.transpose(2, 1, 0), RAS, "has 3 x 4 x 5 voxels, expected 5 x 4 x 3 as in")):
            status, output = self.call("tensor", *scan, "--out", "x.h5", "--mask", self.store("other.nii", values, affine))
            self.assertEqual((status, words in output), (BAD_DATA, True), output)

    def test_an_image_without_orientation_is_matched_by_index(self):
        scan = self.scan(LAS)
        expected, _ = self.make("tensor", *scan, "--mask", self.store("mask.nii", MASK, LAS))
        self.assertEqual(self.make("tensor", *scan, "--mask", self.store("none.nii", MASK, RAS, codes=(0, 0)))[0], expected)

    def test_frames_at_another_place_are_refused(self):
        frames = [self.store(f"frame{k:02}.nii", CURVES[..., k], self.moved(3 if k == 7 else 0)) for k in range(24)]
        status, output = self.call("perfusion", "--dynamic", *frames, "--spacing", 4, "--arterial-voi", frames[0], "--portal-voi",
                                   frames[0], "--out", "x.h5")
        self.assertEqual((status, "frame07.nii: its matrix places voxels up to 3 mm away" in output), (BAD_DATA, True), output)

    def FA(self, name, mask):
        import nibabel
        status, output = self.call("dtifit", "-k", "dwi.nii", "-o", name, "-m", mask, "-r", "bvecs", "-b", "bvals", "--threads", 1)
        self.assertEqual(status, COMPLETE, output)
        return nibabel.load(self.path(name + "_FA.nii.gz")).get_fdata(), output

    def test_under_FSLs_names_images_elsewhere_are_matched_by_index(self):
        self.scan(RAS)
        expected, _ = self.FA("here", self.store("mask.nii", MASK, RAS))
        self.assertGreater(np.count_nonzero(expected), 10)
        for name, affine, order in (("moved", self.moved(3), ORDERS[0]), ("turned", TURN @ RAS, ORDERS[0]),
                                    ("swapped", self.moved(3), SOME[0])):
            found, output = self.FA(name, self.store("mask.nii", MASK, affine, order))
            np.testing.assert_array_equal(found, expected)
            self.assertIn("warning: ", output)
            self.assertIn("voxels are matched by index", output)
        for name, order in zip("abcd", SOME):
            found, output = self.FA(name, self.store("mask.nii", MASK, RAS, order))
            np.testing.assert_array_equal(found, expected)
            self.assertNotIn("matched by index", output)


if __name__ == "__main__":
    unittest.main()
