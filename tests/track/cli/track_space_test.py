"""voxherd track --seedref --transform: seeds, masks and results on another grid; identity, shift, scale, FSL's results; errors."""
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, USAGE
from toy_jobs import digest
from track_jobs import MINUS, SIZE, SpaceJobs, TractJobs, constants, maps


def shifted(voxels):
    """MINUS with its first voxels elsewhere in the world."""
    rows = np.array(MINUS["sform"], dtype=float)
    rows[:, 3] = rows[:, :3] @ np.array(voxels)
    return dict(sform=rows.tolist())


class Spaces(SpaceJobs):
    def test_the_identity_gives_the_same_bytes_as_no_transform(self):
        options = self.all_options()
        identity = self.flirt("identity.mat", np.eye(4)[:3])

        def make(name, *more, ranks=0):
            files = [self.path(f"{name}{number}.h5") for number in (1, 2, 3)]
            out = self.make(f"{name}.h5", *options, "--samples-per-seed", 100, "--local-directions", "--matrix1", files[0], "--matrix2", files[1],
                            "--target2", self.path("left.nii"), "--matrix3", files[2], "--target3", self.path("seeds.nii"), *more,
                            ranks=ranks)
            return [digest(path) for path in (out, *files)]

        expected = make("plain")
        reference = self.path("scattered/nodif_brain_mask.nii")
        self.assertEqual(make("both", "--seedref", reference, "--transform", identity), expected)
        self.assertEqual(make("ranks", "--transform", identity, ranks=3), expected)
        self.assertEqual(make("world", "--seedref", reference), expected)

    def test_a_shift_of_the_reference_shifts_seeds_masks_and_counts(self):
        samples = self.samples(**MINUS)
        # Voxel (x, y, z) of the reference is voxel (x + 3, y - 1, z) of the samples.
        matrix = self.flirt("shift.mat", [[1, 0, 0, 6], [0, 1, 0, -2], [0, 0, 1, 0]])
        seeds = self.image("seeds", np.s_[7, 4:6, 3], **MINUS)
        stop = self.image("stop", np.s_[12, :, :], **MINUS)
        goal = self.image("goal", np.s_[2, 4, :], **MINUS)
        out = self.make("out.h5", "--samples", samples, "--seed-image", seeds, "--transform", matrix, "--stop", stop, "--targets", goal,
                        "--samples-per-seed", 20)
        found = maps(out)
        expected = np.zeros(SIZE)
        expected[:13, 4:6, 3] = 20  # the samples' voxels 3 to 15 in x
        np.testing.assert_array_equal(found["density"], expected)
        np.testing.assert_array_equal(found["accepted"][7, 4:6, 3], [20, 20])
        np.testing.assert_array_equal(found["seeds_to_goal"][7, 4:6, 3], [20, 0])

    def test_a_finer_reference_counts_in_its_own_voxels(self):
        samples = self.samples(**MINUS)
        fine = dict(sform=[[-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
        size = tuple(2 * n for n in SIZE)
        seeds = self.image("seeds", np.s_[20, 8, 6], size, **fine)
        gate = self.image("gate", np.s_[30, :, :], size, **fine)
        options = "--samples", samples, "--seed-image", seeds, "--samples-per-seed", 30, "--stop", gate, "--lengths"
        by_matrix = self.make("matrix.h5", *options, "--transform", self.flirt("same.mat", np.eye(4)[:3]))
        density = maps(by_matrix)["density"]
        self.assertEqual(density.shape, size)
        self.assertEqual(set(density[2:31, 8, 6]), {30})
        self.assertEqual(density[31:].sum() + density[:, :8].sum() + density[:, 9:].sum() + density[:, :, :6].sum(), 0)
        length = maps(by_matrix)["mean_length"][:, 8, 6]
        self.assertAlmostEqual(length[30] - length[22], 8, delta=.6)
        # World coordinates say the same here.
        self.assertEqual(digest(self.make("world.h5", *options, "--seedref", seeds)), digest(by_matrix))

    def test_matrices_have_the_voxels_of_their_masks(self):
        samples = self.samples(**MINUS)
        seeds = self.image("seeds", np.s_[7:10, 4, 3], **MINUS)
        matrix = self.flirt("shift.mat", [[1, 0, 0, 6], [0, 1, 0, -2], [0, 0, 1, 0]])
        target = self.image("target", np.s_[2:4, 4, 3], **MINUS)
        moved = self.image("moved", np.s_[1:3, 4, 3], **shifted([1, 0, 0]))  # the same two voxels of the world
        found = []
        for number, mask in enumerate((target, moved)):
            files = [self.path(f"{number}_{kind}.h5") for kind in (1, 2, 3)]
            self.make(f"{number}.h5", "--samples", samples, "--seed-image", seeds, "--transform", matrix, "--samples-per-seed", 10, "--matrix1",
                      files[0], "--matrix2", files[1], "--target2", mask, "--matrix3", files[2], "--target3", mask)
            found.append([constants(file, "points") for file in files])
        for points in found:
            np.testing.assert_array_equal(points[0]["column"], [1, 2, 0, 2, 0, 1])
            np.testing.assert_array_equal(points[1]["column"], [0, 1] * 3)
            np.testing.assert_array_equal(points[1]["count"], [10] * 6)
            np.testing.assert_array_equal(points[2]["count"], [30])


class Protocols(SpaceJobs, TractJobs):
    def test_tracts_in_a_standard_space_are_those_of_the_samples_space(self):
        folder = self.protocols()
        options = *self.base(), "--tracts", folder, "--tract-samples", 200
        identity = self.flirt("identity.mat", np.eye(4)[:3])
        plain = digest(self.make("plain.h5", *options))
        self.assertEqual(digest(self.make("same.h5", *options, "--transform", identity, ranks=2)), plain)
        reference = self.path("scattered/nodif_brain_mask.nii")
        self.assertEqual(digest(self.make("again.h5", *options, "--transform", identity, "--seedref", reference)), plain)


class Errors(SpaceJobs):
    def refuse(self, status, words, *options):
        rc, output = self.launch(self.path("refused.h5"), *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)

    def test_what_is_not_a_matrix_of_flirt_or_an_image_is_rejected(self):
        base = "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 4, 3])
        for rows, words in ((np.eye(4)[:2], "has 3 x 4 numbers"), (np.zeros((3, 4)), "its determinant is 0"),
                            (np.diag([1, np.nan, 1])[:, [0, 1, 2, 2]], "its determinant is nan")):
            self.refuse(BAD_DATA, words, *base, "--transform", self.flirt("bad.mat", rows))
        far = self.flirt("far.mat", np.hstack([np.eye(3), [[900], [0], [0]]]))
        self.refuse(BAD_DATA, "does the transform lead from the seeds' space", *base, "--transform", far)
        self.refuse(USAGE, "is a surface, expected an image", *base, "--seedref", "white.surf.gii")
        self.refuse(USAGE, "CIFTI files are not supported", *base, "--stop", "rois.dscalar.nii")

    def test_a_mask_outside_the_seeds_image_is_rejected_with_the_names_of_both(self):
        seeds = self.image("seeds", np.s_[10, 4, 3], **MINUS)
        elsewhere = self.image("stop", np.s_[10, 4, 3], **shifted([900, 0, 0]))
        identity = self.flirt("identity.mat", np.eye(4)[:3])
        self.refuse(BAD_DATA, "stop.nii: none of its labels is inside " + seeds, "--samples", self.samples(), "--seed-image", seeds,
                    "--transform", identity, "--stop", elsewhere)


if __name__ == "__main__":
    unittest.main()
