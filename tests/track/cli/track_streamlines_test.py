"""voxherd track --paths: accepted streamlines with their points; counts, lengths, regions, ranks, exports, errors."""
import os
import unittest

import numpy as np
from crafted_inputs import USAGE
from toy_jobs import digest, h5py, voxherd
from track_jobs import SIZE, TrackJobs, constants, read
from trx_groups import read_groups


class Streamlines(TrackJobs):
    def test_points_of_straight_fibres_are_on_their_rows_in_the_world(self):
        seeds = self.mask("seeds", np.s_[10, 3:6, 3])
        self.make("out.h5", "--samples", self.samples(), "--seed-image", seeds, "--samples-per-seed", 4, "--paths",
                  self.path("kept.h5"), "--max-paths", 100)
        values, lines = read(self.path("kept.h5"))
        self.assertEqual(len(lines), 12)  # all of them
        np.testing.assert_array_equal(values["seed"], np.repeat([0, 1, 2], 4))
        for line, seed, length, halves in zip(lines, values["seed"], values["length"], values["halves"]):
            np.testing.assert_allclose(line[:, 1:], np.tile([2 * (3 + seed), 6], (len(line), 1)), atol=1e-3)
            steps = np.diff(line[:, 0])
            np.testing.assert_allclose(np.abs(steps), .5, atol=1e-3)
            self.assertEqual(len(set(np.sign(steps))), 1)
            self.assertEqual(length, halves.sum())
            self.assertAlmostEqual(length, .5 * (len(line) - 1))
            self.assertAlmostEqual(line[int(round(halves[0] / .5)), 0], 20, places=3)  # the seed
        np.testing.assert_array_equal(values["start"], np.round(values["halves"][:, 0] / .5))
        # Halves end with a point outside the mask, which ends at 1 and 45 mm, or near its last centre (2, 44): voxels are drawn there.
        ends = np.sort([line[[0, -1], 0] for line in lines])
        self.assertTrue(((ends > [.4, 43.9]) & (ends < [2.1, 45.6])).all(), ends)

    def test_a_network_names_the_regions_of_each_streamline(self):
        labels = self.mask("labels", np.s_[5, 3, 3], np.s_[10, 3:5, 3], np.s_[15, 3, 3])
        self.make("out.h5", "--samples", self.samples(), "--connectome", labels, "--samples-per-seed", 6, "--paths", self.path("kept.h5"))
        values, lines = read(self.path("kept.h5"))
        self.assertEqual(len(lines), 18)
        np.testing.assert_array_equal(values["region"], np.repeat([1, 2, 3], 6))
        # A half that reaches no other region does not count.
        self.assertEqual({tuple(sorted(r)) for r in values["reached"][:6]}, {(0, 3)})
        self.assertEqual({tuple(sorted(r)) for r in values["reached"][6:12]}, {(1, 3)})
        self.assertEqual({tuple(sorted(r)) for r in values["reached"][12:]}, {(0, 1)})
        self.assertEqual({min(halves) for halves in values["halves"][:6].tolist()}, {0})
        # Each streamline is in the group of each pair that it joins.
        self.assertEqual(voxherd("export", self.path("kept.h5"), "--to", "trx", self.path("kept.trx"))[0], 0)
        groups = read_groups(self.path("kept.trx"))
        self.assertEqual({name: fibres.tolist() for name, (fibres, _) in groups.items()},
                         {"1-2": list(range(12)), "1-3": [*range(6), *range(12, 18)], "2-3": list(range(6, 18))})
        with h5py.File(self.path("kept.h5"), "r") as file:
            reached, offset = file["points/reached"][()], file["points/offset"][()]
        for i, line in enumerate(lines):
            own = reached[offset[i]:offset[i + 1]]
            for point in np.flatnonzero(own):
                self.assertLess(abs(line[point, 0] / 2 - {1: 5, 2: 10, 3: 15}[own[point]]), .5001)
            self.assertEqual(sorted(own[own != 0]), sorted({1, 2, 3} - {values["region"][i]}))
        for fibres, means in groups.values():
            self.assertEqual(set(means), {"length", "first_half", "second_half"})
            np.testing.assert_allclose(means["length"], [values["length"][fibres].mean()], rtol=1e-6)

    def test_any_ranks_and_batches_keep_the_same_accepted_streamlines(self):
        options = (*self.all_options(), "--samples-per-seed", 800)
        files = [self.path(f"kept{ranks}.h5") for ranks in (1, 2, 3)]
        more = ((), ("--batch", 1), ("--batch", 7))
        for ranks, file, own in zip((1, 2, 3), files, more):
            out = self.make(f"{ranks}.h5", *options, *own, "--paths", file, "--max-paths", 200, ranks=ranks)
        self.assertEqual(len({digest(file) for file in files}), 1)
        self.assertEqual(digest(out), digest(self.make("without.h5", *options)))
        values, lines = read(files[0])
        self.assertEqual(len(lines), 200)
        with h5py.File(out, "r") as file:
            accepted = np.asarray(file["maps/accepted"]).transpose(2, 1, 0)
        # They are evenly distributed over the accepted ones.
        by_seed = accepted[17:5:-1, 2:7, 2:5].transpose(2, 1, 0).ravel()  # seeds are in FSL's order
        self.assertLessEqual(np.abs(np.cumsum(np.bincount(values["seed"], minlength=180)) - np.cumsum(by_seed) * 200 / by_seed.sum()).max(), 1)
        self.assertFalse([name for name in os.listdir(self.folder) if "sizes" in name or "part" in name])
        for line, halves in zip(lines, values["halves"]):
            voxels = np.floor(line / 2 + .5).astype(int)
            self.assertTrue((voxels[:, 0] == 5).any() and (voxels[:, 0] == 19).any())  # both waypoints
            self.assertFalse((voxels[:, 1] == 7).any())
            self.assertTrue(all(half == 0 or half >= 2 for half in halves))  # --min-half-length

    def test_all_streamlines_give_the_density(self):
        out = self.make("out.h5", *self.all_options(), "--samples-per-seed", 20, "--paths", self.path("kept.h5"), "--max-paths",
                        100000)
        _, lines = read(self.path("kept.h5"))
        self.assertEqual(len(lines), constants(out, "streamlines")["waytotal"][0])
        with h5py.File(out, "r") as file:
            density = np.asarray(file["maps/density"]).transpose(2, 1, 0)
        found = np.zeros_like(density)
        for line in lines:
            for voxel in set(map(tuple, np.floor(line / 2 + .5).astype(int))):
                found[voxel] += 1
        # Points are rounded to float once more, so that one may be in the next voxel.
        self.assertLess(np.abs(found.astype(float) - density).sum(), 1e-3 * density.sum())
        self.assertGreater(len(lines), 100)

    def test_streamlines_in_another_space_are_at_the_same_places_of_the_world(self):
        seeds = self.mask("seeds", np.s_[10, 3:6, 3])
        fine = self.write("fine.nii", np.ones((40, 20, 20)), sform=[[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0]], pixdim=(1, 1, 1))
        options = "--samples", self.samples(), "--seed-image", seeds, "--samples-per-seed", 3, "--paths"
        self.make("out.h5", *options, self.path("kept.h5"), "--seedref", fine)
        _, lines = read(self.path("kept.h5"))
        self.assertGreater(len(lines), 9)
        for line in lines:
            np.testing.assert_allclose(np.abs(np.diff(line[:, 0])), .5, atol=1e-3)
            self.assertLess(np.abs(line[:, 2] - 6).max(), 1.1)
            self.assertEqual({round(float(x), 1) for x in line[[0, -1], 0] % .5} - {0, .5}, set())

    def assert_inside(self, lines, low, high):
        points = np.concatenate(lines)
        self.assertTrue(((points > low) & (points < high)).all(), (points.min(0), points.max(0)))

    def test_points_outside_the_image_are_left_out_and_counts_stay(self):
        # A mask up to the sides of the image: halves end with a point outside.
        full = self.samples("full", spread=.2)
        self.write("full/nodif_brain_mask.nii", np.ones(SIZE))
        seeds = self.mask("seeds", np.s_[::6, :, :])
        out = self.make("out.h5", "--samples", full, "--seed-image", seeds, "--samples-per-seed", 4, "--seed-radius", .9, "--paths",
                        self.path("kept.h5"), "--max-paths", 10**6)
        values, lines = read(self.path("kept.h5"))
        self.assertEqual(len(lines), constants(out, "streamlines")["waytotal"][0])
        self.assert_inside(lines, -1, 2 * np.array(SIZE) - 1)
        shorter = .5 * (np.array([len(line) for line in lines]) - 1) < values["length"] - .1
        self.assertGreater(shorter.sum(), .5 * len(lines))
        with h5py.File(out, "r") as file:
            density = np.asarray(file["maps/density"]).transpose(2, 1, 0)
        found = np.zeros_like(density)
        for line in lines:
            for voxel in set(map(tuple, np.floor(line / 2 + .5).astype(int))):
                found[voxel] += 1
        self.assertLess(np.abs(found.astype(float) - density).sum(), .01 * density.sum())

    def test_streamlines_end_at_the_border_of_a_smaller_seedref(self):
        small = self.write("small.nii", np.ones((8, 8, 8)), sform=[[2, 0, 0, 14], [0, 2, 0, 0], [0, 0, 2, 0]])
        self.make("out.h5", "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 3:6, 3]), "--samples-per-seed",
                  4, "--seedref", small, "--paths", self.path("kept.h5"), "--max-paths", 100)
        _, lines = read(self.path("kept.h5"))
        self.assertEqual(len(lines), 12)
        self.assert_inside(lines, (13, -1, -1), (29, 15, 15))
        ends = np.sort([line[[0, -1], 0] for line in lines])
        np.testing.assert_allclose(ends, np.tile([13.25, 28.75], (12, 1)), atol=.26)

    def test_no_accepted_streamline_gives_an_empty_file(self):
        self.make("out.h5", "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 3, 3]), "--samples-per-seed", 3,
                  "--include", self.mask("away", np.s_[:, 6, 6]), "--paths", self.path("kept.h5"))
        self.assertEqual(len(read(self.path("kept.h5"))[1]), 0)

    def test_programs_read_the_exported_streamlines(self):
        self.make("out.h5", *self.all_options(), "--samples-per-seed", 20, "--paths", self.path("kept.h5"), "--max-paths", 50)
        values, lines = read(self.path("kept.h5"))
        for kind in ("trx", "tck", "trk"):
            rc, _, output = voxherd("export", self.path("kept.h5"), "--to", kind, self.path(f"kept.{kind}"))
            self.assertEqual(rc, 0, output)
            self.assertGreater(os.path.getsize(self.path(f"kept.{kind}")), 12 * sum(map(len, lines)))
        try:
            import nibabel
        except ImportError:
            self.skipTest("no nibabel")
        for kind in ("tck", "trk"):
            tracts = nibabel.streamlines.load(self.path(f"kept.{kind}"))
            self.assertEqual(len(tracts.streamlines), 50)
            for found, expected in zip(tracts.streamlines, lines):
                np.testing.assert_allclose(found, expected, atol=2e-3)
        properties = tracts.tractogram.data_per_streamline
        for name in ("length", "first_half", "second_half", "seed"):
            np.testing.assert_allclose(np.asarray(properties[name]).ravel(), values[name])

    def test_a_maximum_without_a_file_is_rejected(self):
        rc, output = self.launch(self.path("refused.h5"), "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 4, 3]),
                                 "--max-paths", 5)
        self.assertEqual(rc, USAGE, output)
        self.assertIn("--max-paths has no meaning without --paths", output)


if __name__ == "__main__":
    unittest.main()
