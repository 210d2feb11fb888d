"""voxherd geodesic from the vertices of surfaces, and to the voxels that surfaces touch: ranks, labels, errors."""
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, USAGE
from geodesic_jobs import GeodesicJobs, Result
from result_files import digest, provenance
from surface_files import SurfacesInImage, sphere, voxel_labels, write_labels
from toy_jobs import h5py

FEW = ("--directions", "8")


class SurfaceJobs(SurfacesInImage, GeodesicJobs):
    def middle(self):
        return np.array(self.space()[0]) / 2

    def balls(self):
        return [sphere(self.middle() + [shift, .1, .2], 2.3, rings=5) for shift in (-5.2, 5.3)]


class Surfaces(SurfaceJobs):
    def test_the_vertices_are_seeds(self):
        points, triangles = self.balls()[0]
        chosen = (points[:, 2] > self.middle()[2]).astype(float)
        np.savetxt(self.path("seeds.txt"), self.to_mm(points[chosen == 1]), fmt="%.12g")
        expected = Result(self.make("points.h5", *FEW, "--seed-points", self.path("seeds.txt")))
        out = self.make("surface.h5", *FEW, "--seed-image", self.surface("ball", points, triangles, chosen))
        found = Result(out)
        self.assertGreater(len(found), 50)
        np.testing.assert_array_equal(found.offset, expected.offset)
        np.testing.assert_allclose(found.position, expected.position, atol=.01)
        seeds = provenance(out)["inputs"]["seed-image"]
        self.assertEqual(seeds["vertices"], int(chosen.sum()))
        self.assertNotIn("voxels", seeds)

    def test_labels_choose_the_vertices_of_seeds(self):
        points, triangles = self.balls()[0]
        keys = np.where(points[:, 2] > self.middle()[2], 4, 9)
        keys[0] = 0
        surface, labels = self.surface("ball", points, triangles), write_labels(self.path("ball.label.gii"), keys, {4: "up", 9: "down"})
        one, all_ = ([*FEW, "--seed-image", surface, "--surface-values", labels, *more] for more in (("--seed-labels", "4"), ()))
        expected = self.make("expected.h5", *FEW, "--seed-image", self.surface("up", points, triangles, (keys == 4) * 1.))
        self.assertEqual(digest(self.make("found.h5", *one)), digest(expected))
        self.assertEqual(provenance(self.make("all.h5", *all_))["inputs"]["seed-image"]["vertices"], int((keys > 0).sum()))

    def test_masks_and_targets_are_the_voxels_that_surfaces_touch(self):
        files = [self.both(f"ball{i}", *ball) for i, ball in enumerate(self.balls())]
        seeds = "--seed-image", self.ends
        for name, options in (("targets", ("--targets", 0)), ("include", ("--include", 1)), ("exclude", ("--targets", 0, "--exclude", 1)),
                              ("connectome", ("--connectome", 0, 1))):
            def words(kind, options=options):
                return [files[option][kind] if isinstance(option, int) else option for option in options]
            found = self.make(f"{name}_surface.h5", *FEW, *seeds, *words(0))
            masks = words(1)
            if name == "connectome":
                labels = voxel_labels(*self.balls()[0], np.ones(42, int), self.space()[0])
                labels[voxel_labels(*self.balls()[1], np.ones(42, int), self.space()[0]) == 1] = 2
                masks = ["--connectome", self.image("labels", labels)]
            expected = self.make(f"{name}_mask.h5", *FEW, *seeds, *masks)
            self.assertEqual(digest(found), digest(expected), name)
            self.assertGreater(len(Result(found)), 0, name)
        self.assertEqual(provenance(found)["inputs"]["connectome 2"]["voxels"], files[1][2])

    def test_labels_of_a_surface_are_targets_with_their_names(self):
        points, triangles = sphere(self.middle() + .1, 4.2, rings=6)
        keys = np.where(points[:, 0] > self.middle()[0], 5, 2)
        labels = write_labels(self.path("ball.label.gii"), keys, {2: "left", 5: "right"})
        image = voxel_labels(points, triangles, keys, self.space()[0])
        seeds = (*FEW, "--seed-image", self.ends, "--rays", "two-way")
        found = self.make("surface.h5", *seeds, "--connectome", self.surface("ball", points, triangles), "--surface-values", labels)
        self.assertEqual(digest(found), digest(self.make("image.h5", *seeds, "--connectome", self.image("labels", image))))
        with h5py.File(found) as file:
            self.assertIn('"region-names":["left","right"]', file.attrs["configuration"].decode().replace(" ", "")
                          if isinstance(file.attrs["configuration"], bytes) else file.attrs["configuration"].replace(" ", ""))

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        ball, other = (self.surface(f"ball{i}", *shape) for i, shape in enumerate(self.balls()))
        options = (*FEW, "--seed-image", ball, "--targets", other, "--include", ball)
        expected = digest(self.make("one.h5", *options))
        for ranks in (2, 3):
            self.assertEqual(digest(self.make(f"{ranks}.h5", *options, ranks=ranks)), expected)

    def test_what_has_no_meaning_with_surfaces_is_rejected(self):
        points, triangles = self.balls()[0]
        ball, far = self.surface("ball", points, triangles), self.surface("far", points + 100, triangles)
        for status, words, options in (
                (USAGE, "--seeding random and grid have no meaning with the surface", ("--seed-image", ball, "--seeding", "grid", "--seeds-per-voxel", 2)),
                (BAD_DATA, "none of its 42 vertices is in the image", ("--seed-image", self.ends, "--targets", far)),
                (BAD_DATA, "--seed-labels 3", ("--seed-image", ball, "--seed-labels", "3")),
                (USAGE, "--mesh-space has no meaning without surfaces", ("--seed-image", self.ends, "--mesh-space", "first")),
                (USAGE, "1 files for 0 surfaces of regions and seeds", ("--seed-image", self.ends, "--exclude", ball, "--surface-values", ball))):
            rc, output = self.launch(self.path("never.h5"), *options)
            self.assertEqual(rc, status, output)
            self.assertIn(words, output)


if __name__ == "__main__":
    unittest.main()
