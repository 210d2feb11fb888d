"""voxherd connect from and to surfaces: the same bytes as from the voxels that their triangles touch; labels, ranks, errors."""
import unittest

import numpy as np
from connect_jobs import ConnectJobs, Maps
from crafted_inputs import BAD_DATA, USAGE
from result_files import digest, provenance
from surface_files import SurfacesInImage, sheet, sphere, voxel_labels, write_labels, write_surface
from toy_jobs import voxherd


class SurfaceJobs(SurfacesInImage, ConnectJobs):
    def middle(self):
        return np.array(self.space()[0]) / 2

    def spheres(self):
        """Two that touch different voxels of the phantom's bundles."""
        middle = self.middle()
        return sphere(middle + [-5.3, .1, .2], 2.4, rings=5), sphere(middle + [5.2, .3, -.1], 2.1, rings=5)


class Ends(SurfaceJobs):
    def test_a_sphere_is_the_voxels_that_it_touches(self):
        one, other = (self.both(name, *shape) for name, shape in zip(("one", "other"), self.spheres()))
        found = self.make("surfaces.h5", "--from", one[0], "--to", other[0], "--paths", self.path("surface_paths.h5"))
        expected = self.make("masks.h5", "--from", one[1], "--to", other[1], "--paths", self.path("mask_paths.h5"))
        self.assertEqual(digest(found), digest(expected))
        self.assertEqual(digest(self.path("surface_paths.h5")), digest(self.path("mask_paths.h5")))
        inputs = provenance(found)["inputs"]
        for name, (path, _, voxels) in (("from", one), ("to", other)):
            self.assertEqual((inputs[name]["path"], inputs[name]["vertices"], inputs[name]["voxels"]), (path, 42, voxels))
        self.assertEqual(Maps(found).configuration["mesh-space"], "caret")
        self.assertNotIn("mesh-space", Maps(expected).configuration)

    def test_a_plane_is_the_layer_of_voxels_around_it(self):
        size = self.space()[0]
        points, triangles = sheet(size[0] / 2 + .1, cell=4, first=-4, cells=2 + max(size) // 4)
        layer = np.zeros(size)
        layer[int(np.floor(size[0] / 2 + .6))] = 1
        options = "--from", self.ends, "--from-labels", "1", "--to"
        found = self.make("surface.h5", *options, self.surface("plane", points, triangles))
        self.assertEqual(digest(found), digest(self.make("mask.h5", *options, self.image("layer", layer))))
        beside = self.make("beside.h5", *options, self.surface("half", points, triangles, (points[:, 1] < size[1] / 2) * 1.))
        self.assertNotEqual(digest(beside), digest(found))

    def test_the_spaces_of_meshes_give_the_same_bytes(self):
        expected = digest(self.make("mask.h5", "--from", self.both("ball", *self.spheres()[0])[1], "--to", self.ends, "--to-labels", "2"))
        points, triangles = self.spheres()[0]
        size, affine = self.space()
        stored = points * [-1, 1, 1] + [size[0] - 1, 0, 0] if np.linalg.det(affine) > 0 else points
        for space, mm in (("vox", stored), ("first", stored * np.linalg.norm(affine[:3, :3], axis=0))):
            surface = write_surface(self.path(space + ".asc"), mm, triangles)
            found = self.make(space + ".h5", "--from", surface, "--to", self.ends, "--to-labels", "2", "--mesh-space", space)
            self.assertEqual(digest(found), expected, space)
            self.assertEqual(Maps(found).configuration["mesh-space"], space)

    def test_methods_name_the_surface_with_its_vertices_and_voxels(self):
        surface, _, voxels = self.both("ball", *self.spheres()[0])
        out = self.make("out.h5", "--from", surface, "--to", self.ends, "--to-labels", "2")
        rc, _, output = voxherd("report", out, "--out", self.path("report.html"))
        self.assertEqual(rc, 0, output)
        with open(self.path("report.html"), encoding="utf-8") as file:
            self.assertIn(f"from ball.asc (surface, 42 vertices, in {voxels} voxels)", file.read())


class Connectomes(SurfaceJobs):
    def labelled(self):
        """A plane with four regions that meet in voxels, and vertices without a label."""
        size = self.space()[0]
        points, triangles = sheet(size[0] / 2 + .1, cell=1.3, first=1.2, cells=int(min(size[1:]) / 1.3) - 1)
        keys = np.where(points[:, 1] < size[1] / 2, 3, 7) + np.where(points[:, 2] < size[2] / 2, 0, 10)
        keys[(points[:, 1] < 3) | (points[:, 2] < 3)] = 0
        return points, triangles, keys

    def test_labels_of_a_surface_are_regions_and_a_voxel_of_several_has_the_most_frequent_one(self):
        points, triangles, keys = self.labelled()
        labels = write_labels(self.path("plane.label.gii"), keys, {0: "???", 3: "a", 7: "b", 13: "c"})
        image = voxel_labels(points, triangles, keys, self.space()[0])
        self.assertEqual(set(np.unique(image)), {0, 3, 7, 13, 17})
        surface = self.surface("plane", points, triangles)
        found = self.make("surface.h5", "--connectome", surface, "--surface-values", labels)
        self.assertEqual(digest(found), digest(self.make("image.h5", "--connectome", self.image("labels", image))))
        self.assertEqual(Maps(found).configuration["region-names"], ["a", "b", "c", "17"])
        inputs = provenance(found)["inputs"]
        self.assertEqual(inputs["surface-values 1"]["path"], labels)
        self.assertEqual(inputs["connectome"]["vertices"], int((keys > 0).sum()))
        self.assertEqual(inputs["connectome"]["voxels"], int((image > 0).sum()))
        ends = self.make("ends.h5", "--from", surface, "--from-labels", "3", "--to", surface, "--to-labels", "7,13", "--surface-values", labels)
        masks = (self.image(name, np.isin(image, chosen)) for name, chosen in (("three", [3]), ("more", [7, 13])))
        self.assertEqual(digest(ends), digest(self.make("masks.h5", "--from", next(masks), "--to", next(masks))))

    def test_several_surfaces_are_a_region_each_and_a_shared_voxel_belongs_to_the_first(self):
        middle = self.middle()
        shapes = [sphere(middle + [shift, .1, .2], 2.3, rings=5) for shift in (-2.1, 1.2, 6.3)]
        files = [self.both(f"ball{i}", *shape) for i, shape in enumerate(shapes)]
        image, masks = np.zeros(self.space()[0], int), [voxel_labels(*shape, np.ones(42, int), self.space()[0]) for shape in shapes]
        self.assertGreater((masks[0] & masks[1]).sum(), 0)
        for number in (3, 2, 1):
            image[masks[number - 1] == 1] = number
        expected = digest(self.make("image.h5", "--connectome", self.image("labels", image)))
        found = self.make("surfaces.h5", "--connectome", *(file[0] for file in files))
        self.assertEqual(digest(found), expected)
        self.assertEqual(digest(self.make("mixed.h5", "--connectome", files[0][1], files[1][0], files[2][1])), expected)
        self.assertIn(f"{(masks[0] & masks[1]).sum()} voxels in several files; they belong to the first", self.output)
        self.assertEqual(provenance(found)["inputs"]["connectome 2"]["voxels"], files[1][2])

    def two_sheets(self, left_keys, right_keys):
        """Two planes across x with the keys of their lower and upper halves, the labels of their voxels, and a mask."""
        size, surfaces, images = self.space()[0], [], []
        for name, shift, keys in (("left", -3.1, left_keys), ("right", 3.2, right_keys)):
            points, triangles = sheet(size[0] / 2 + shift, cell=1.3, first=1.2, cells=int(min(size[1:]) / 1.3) - 1)
            keys = np.where(points[:, 1] < size[1] / 2, *keys)
            surfaces.append((self.surface(name, points, triangles), keys))
            images.append(voxel_labels(points, triangles, keys, size))
        return surfaces, images

    def test_labels_of_both_hemispheres_are_regions_of_their_own(self):
        (left, right), images = self.two_sheets((3, 7), (3, 9))
        values = (write_labels(self.path("L.label.gii"), left[1], {0: "???", 3: "front", 7: "back"}, "CortexLeft"),
                  write_labels(self.path("R.label.gii"), right[1], {0: "???", 3: "front", 9: "pole"}, "CortexRight"))
        found = self.make("surfaces.h5", "--connectome", left[0], right[0], "--surface-values", *values)
        self.assertEqual(Maps(found).configuration["region-names"], ["CORTEX_LEFT_front", "back", "CORTEX_RIGHT_front", "pole"])
        image = np.select([images[0] == 3, images[0] == 7, images[1] == 3, images[1] == 9], [1, 2, 3, 4])
        self.assertEqual(digest(found), digest(self.make("image.h5", "--connectome", self.image("labels", image))))
        ranks = self.make("two.h5", "--connectome", left[0], right[0], "--surface-values", *values, ranks=2)
        self.assertEqual((digest(ranks), Maps(ranks).configuration), (digest(found), Maps(found).configuration))

    def test_labels_that_differ_between_hemispheres_are_kept(self):
        (left, right), images = self.two_sheets((13, 17), (3, 9))
        values = (write_labels(self.path("L.label.gii"), left[1], {13: "L_front", 17: "L_back"}),
                  write_labels(self.path("R.label.gii"), right[1], {3: "R_front"}))
        found = self.make("surfaces.h5", "--connectome", left[0], right[0], "--surface-values", *values)
        self.assertEqual(Maps(found).configuration["region-names"], ["R_front", "9", "L_front", "L_back"])
        image = self.image("labels", images[0] + images[1])
        self.assertEqual(digest(found), digest(self.make("image.h5", "--connectome", image)))
        few = self.make("few.h5", "--connectome", left[0], right[0], "--surface-values", *values, "--labels", "3,17")
        self.assertEqual(digest(few), digest(self.make("few_image.h5", "--connectome", image, "--labels", "3,17")))

    def test_a_mask_beside_labelled_surfaces_is_one_region(self):
        (left, _), images = self.two_sheets((3, 7), (3, 9))
        values = write_labels(self.path("L.label.gii"), left[1], {3: "front", 7: "back"})
        found = self.make("mixed.h5", "--connectome", self.image("mask", images[1] > 0), left[0], "--surface-values", values)
        self.assertEqual(Maps(found).configuration["region-names"], ["file 1", "front", "back"])
        image = np.select([images[1] > 0, images[0] == 3, images[0] == 7], [1, 2, 3])
        self.assertEqual(digest(found), digest(self.make("image.h5", "--connectome", self.image("labels", image))))

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        points, triangles, keys = self.labelled()
        options = ("--connectome", self.surface("plane", points, triangles, keys), "--paths")
        expected = self.make("one.h5", *options, self.path("paths1.h5"))
        for ranks in (2, 3):
            found = self.make(f"{ranks}.h5", *options, self.path(f"paths{ranks}.h5"), ranks=ranks)
            self.assertEqual(digest(found), digest(expected))
            self.assertEqual(digest(self.path(f"paths{ranks}.h5")), digest(self.path("paths1.h5")))
            self.assertEqual(Maps(found).configuration, Maps(expected).configuration)


class Errors(SurfaceJobs):
    def refuse(self, status, words, *options):
        rc, output = self.launch(self.path("never.h5"), *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)

    def test_what_cannot_be_a_region_is_rejected(self):
        points, triangles = self.spheres()[0]
        ball, to = self.surface("ball", points, triangles), ("--to", self.ends, "--to-labels", "2")
        self.refuse(BAD_DATA, "none of its 42 vertices is in the image", "--from", self.surface("far", points + 100, triangles), *to)
        outside = np.zeros(42)
        outside[0] = 1
        moved = np.array(points)
        moved[triangles[np.any(triangles == 0, axis=1)].ravel()] += 100
        self.refuse(BAD_DATA, "its triangles touch no voxel of the image", "--from", self.surface("part", moved, triangles, outside), *to)
        self.refuse(USAGE, "--mesh-space mni", "--from", ball, *to, "--mesh-space", "mni")
        self.refuse(USAGE, "--mesh-space has no meaning without surfaces", *self.end_regions(1, 2), "--mesh-space", "vox")
        self.refuse(USAGE, "--within " + ball + ": is a surface, expected an image", *self.end_regions(1, 2), "--within", ball)
        self.refuse(BAD_DATA, "--from and --to share", "--from", ball, "--to", ball)
        self.refuse(BAD_DATA, "vertex 0 is 0.5, expected a parcellation of integers up to 16777216", "--from", self.surface("thick", points, triangles, np.full(42, .5)),
                    "--from-labels", "1", *to)
        self.refuse(BAD_DATA, "--from-labels 5", "--from", ball, "--from-labels", "5", *to)

    def test_values_that_do_not_fit_the_surfaces_are_rejected(self):
        points, triangles = self.spheres()[0]
        ball, to = self.surface("ball", points, triangles), ("--to", self.ends, "--to-labels", "2")
        good, short, zero = (write_labels(self.path(name), keys, {}) for name, keys in (
            ("good.label.gii", np.arange(42)), ("short.label.gii", np.arange(7)), ("zero.label.gii", np.zeros(42))))
        self.refuse(USAGE, "2 files for 1 surfaces of regions and seeds", "--from", ball, *to, "--surface-values", good, good)
        self.refuse(USAGE, "1 files for 0 surfaces", *self.end_regions(1, 2), "--surface-values", good)
        self.refuse(BAD_DATA, "has values of 7 vertices, expected 42", "--from", ball, *to, "--surface-values", short)
        self.refuse(BAD_DATA, "all values are 0", "--from", ball, *to, "--surface-values", zero)


if __name__ == "__main__":
    unittest.main()
