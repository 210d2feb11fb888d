"""track and probtrackx2 follow FSL's storage: images with a determinant of either sign give the same results."""
import os
import unittest

import numpy as np
from toy_jobs import h5py
from track_jobs import SAMPLES, SIZE, Probtrackx2Jobs, constants, maps

SIZES = {SIZE: 2, (8, 3, 4): 6}  # of the images, with the voxel size in mm
SIGNS = "negative", "positive"


class StoredJobs(Probtrackx2Jobs):
    """Images of the same anatomy, whose first axis runs to the right in the file or, backwards, to the left."""

    def store(self, sign, name, values):
        size = SIZES[values.shape[:3]]
        if sign == "none":
            return self.write(f"{sign}/{name}.nii", values[::-1], codes=(0, 0), pixdim=(size, size, size))
        n, first = values.shape[0], [size, 0, 0, 0] if sign == "positive" else [-size, 0, 0, (values.shape[0] - 1) * size]
        self.assertEqual(n, len(values))
        return self.write(f"{sign}/{name}.nii", values if sign == "positive" else values[::-1],
                          sform=[first, [0, size, 0, 0], [0, 0, size, 0]])

    def store_box(self, sign, name, *boxes, size=SIZE):
        values = np.zeros(size)
        for box in boxes:
            values[box] = 1
        return self.store(sign, name, values)

    def store_samples(self, sign):
        """Two fibres that cross and turn with the place, so that streamlines come back to cells of the loop check."""
        chance = np.random.default_rng(7)
        for k in (1, 2):
            turned = np.add.outer(np.arange(SIZE[0]) * .5, np.arange(SIZE[1]) * .9)[:, :, None, None]
            values = {"th": np.full((*SIZE, SAMPLES), np.pi / 2), "ph": np.broadcast_to((turned + 1.3 * k) % 6, (*SIZE, SAMPLES)),
                      "f": np.full((*SIZE, SAMPLES), .8 - .3 * k)}
            for word in ("th", "ph", "f"):
                noise = chance.normal(0, .2, (*SIZE, SAMPLES)) if word != "f" else 0
                self.store(sign, f"merged_{word}{k}samples", (values[word] + noise).astype("f4"))
        return self.path(sign), self.store_box(sign, "nodif_brain_mask", np.s_[1:-1, 1:-1, 1:-1])

    def run_stored(self, sign, name, *options, ranks=0):
        folder, mask = self.store_samples(sign)
        rc, output = self.call("-s", f"{folder}/merged", "-m", mask, f"--dir={self.path(sign + name)}", *options, ranks=ranks)
        self.assertEqual(rc, 0, output)
        return self.path(sign + name)

    def compare_folders(self, name):
        """All files of FSL. The first axis of images and coordinates is counted from the other end."""
        import nibabel
        one, other = (self.path(sign + name) for sign in SIGNS)
        names = sorted(n for n in os.listdir(one) if not n.startswith("voxherd") and n != "probtrackx.log")
        self.assertEqual(names, sorted(n for n in os.listdir(other) if not n.startswith("voxherd") and n != "probtrackx.log"))
        for file in names:
            if file.endswith(".nii.gz"):
                images = [nibabel.load(f"{folder}/{file}") for folder in (one, other)]
                for image, sign in zip(images, (-1, 1)):
                    self.assertEqual(np.sign(np.linalg.det(image.affine)), sign)
                np.testing.assert_array_equal(np.asarray(images[0].dataobj)[::-1], np.asarray(images[1].dataobj), file)
                self.assertTrue(np.asarray(images[0].dataobj).any(), file)
            elif "coords_for" in file:
                rows = [np.loadtxt(f"{folder}/{file}") for folder in (one, other)]
                width = 8 if file == "tract_space_coords_for_fdt_matrix2" else SIZE[0]
                rows[1][:, 0] = width - 1 - rows[1][:, 0]
                np.testing.assert_array_equal(rows[0], rows[1], file)
            else:
                with open(f"{one}/{file}") as first, open(f"{other}/{file}") as second:
                    self.assertEqual(first.read(), second.read(), file)
        return names


class Storage(StoredJobs):
    def setUp(self):
        super().setUp()
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")

    def test_all_files_of_a_tract_are_the_same_for_both_signs_of_the_determinant(self):
        for sign, ranks in zip(SIGNS, (0, 3)):
            seeds = self.store_box(sign, "seeds", np.s_[9:14, 3:6, 3])
            left, right = self.store_box(sign, "left", np.s_[6:9, :, :]), self.store_box(sign, "right", np.s_[15, :, :])
            folder = self.run_stored(
                sign, "tract", "-x", seeds, "-l", "--opd", "--ompl", "--sampvox=1", "--randfib=1", "-P", "60", "--opathdir", "--os2t",
                f"--targetmasks={self.text_list(sign + 'targets.txt', left, right)}", "--s2tastext", "--otargetpaths", "--savepaths",
                f"--waypoints={self.store_box(sign, 'way', np.s_[9:, 4, :])}", f"--avoid={self.store_box(sign, 'avoid', np.s_[3, 1, :])}",
                f"--stop={self.store_box(sign, 'stop', np.s_[20, :, :])}", "--omatrix1", "--omatrix2",
                f"--target2={self.store_box(sign, 'coarse', np.s_[1:, :, :], size=(8, 3, 4))}", "--omatrix3",
                f"--target3={self.store_box(sign, 'pairs', np.s_[5:18:2, 2:7, 3])}", f"--lrtarget3={right}", ranks=ranks)
            # In FSL's storage x runs to the left: the first seed is the rightmost one.
            first = np.loadtxt(f"{folder}/coords_for_fdt_matrix1")[0, :3]
            np.testing.assert_array_equal(first, [10 if sign == "negative" else 13, 3, 3])
        names = self.compare_folders("tract")
        for name in ("matrix_seeds_to_all_targets_lengths", "saved_paths.txt", "target_paths_left.nii.gz", "fdt_matrix3_lengths.dot", "fdt_paths_localdir.nii.gz",
                     "lookup_tractspace_fdt_matrix2.nii.gz", "tract_space_coords_for_fdt_matrix3", "seeds_to_left_lengths.nii.gz"):
            self.assertIn(name, names)

    def test_networks_and_single_seeds_are_the_same_for_both_signs_of_the_determinant(self):
        for sign in SIGNS:
            regions = [self.store_box(sign, f"region{i}", np.s_[x:x + 2, 3:6, 2:5]) for i, x in enumerate((4, 10, 16))]
            self.run_stored(sign, "network", "-x", self.text_list(sign + "regions.txt", *regions), "--network", "-l", "--opd", "--pd", "--ompl",
                            "-P", "40")
            self.write_table(sign + "voxels.txt", [[x if sign == "positive" else SIZE[0] - 1 - x, 4, 3] for x in (6, 12)])
            self.run_stored(sign, "simple", "--simple", "-x", self.path(sign + "voxels.txt"), "-l", "--opd", "-P", "40")
        self.compare_folders("network")
        for x in (6, 12):
            os.rename(self.path(f"negativesimple/fdt_paths_{SIZE[0] - 1 - x}_4_3.nii.gz"), self.path(f"negativesimple/{x}.nii.gz"))
            os.rename(self.path(f"positivesimple/fdt_paths_{x}_4_3.nii.gz"), self.path(f"positivesimple/{x}.nii.gz"))
        self.assertEqual(self.compare_folders("simple"), ["12.nii.gz", "6.nii.gz"])

    def write_table(self, name, rows):
        np.savetxt(self.path(name), rows, fmt="%g")

    def test_seeds_may_be_stored_with_another_sign_than_the_samples(self):
        self.write_table("identity.mat", np.eye(4))
        found = []
        for sign in SIGNS:
            folder, mask = self.store_samples(sign)
            for seeds_sign in SIGNS:
                seeds = self.store_box(seeds_sign, "seeds", np.s_[9:14, 3:6, 3])
                out = self.make(f"{sign}{seeds_sign}.h5", "--samples", folder, "--mask", mask, "--seed-image", seeds, "--transform",
                                self.path("identity.mat"), "--seed-radius", 1, "--loop-check", "on", "--samples-per-seed", 40, "--paths",
                                self.path(f"{sign}{seeds_sign}paths.h5"))
                density = maps(out)["density"]
                found.append((density if seeds_sign == "positive" else density[::-1],
                              constants(self.path(f"{sign}{seeds_sign}paths.h5"), "points")["position"]))
        for density, points in found[1:]:
            np.testing.assert_array_equal(density, found[0][0])
            np.testing.assert_array_equal(points, found[0][1])

    def test_without_orientation_the_first_axis_is_that_of_the_file(self):
        """FSL then takes the image as radiological, like one with a negative determinant."""
        found = []
        for sign in ("negative", "none"):
            self.store_box(sign, "seeds", np.s_[9:14, 3:6, 3])
            folder = self.run_stored(sign, "oriented", "-x", self.path(f"{sign}/seeds.nii"), "-l", "--opd", "--opathdir", "--omatrix1",
                                     "--savepaths", f"--waypoints={self.store_box(sign, 'way', np.s_[9:, 4, :])}", "-P", "40")
            with open(f"{folder}/saved_paths.txt") as points, open(f"{folder}/coords_for_fdt_matrix1") as rows:
                found.append((maps(f"{folder}/voxherd.h5"), points.read(), rows.read()))
        for name in ("density", "local_direction"):
            np.testing.assert_array_equal(found[0][0][name], found[1][0][name], name)
            self.assertTrue(found[0][0][name].any())
        self.assertEqual(found[0][2], found[1][2])
        points = [np.array(text.replace("#", " ").split(), float) for _, text, _ in found]
        np.testing.assert_allclose(points[0], points[1], atol=1e-3)  # the result has them in mm as float32
        other = maps(f"{self.run_stored('positive', 'oriented', '-x', self.store_box('positive', 'seeds', np.s_[9:14, 3:6, 3]), '-P', '40')}"
                     "/voxherd.h5")["density"]
        self.assertFalse(np.array_equal(other, found[0][0]["density"]))

    def test_the_loop_check_ends_streamlines_here(self):
        seeds = self.store_box("positive", "seeds", np.s_[9:14, 3:6, 3])
        folder, mask = self.store_samples("positive")
        steps = []
        for choice in ("on", "off"):
            out = self.make(f"{choice}.h5", "--samples", folder, "--mask", mask, "--seed-image", seeds, "--samples-per-seed", 40,
                            "--loop-check", choice)
            with h5py.File(out) as file:
                steps.append(int(file["streamlines/steps"][()].sum()))
        self.assertLess(steps[0], .9 * steps[1])


if __name__ == "__main__":
    unittest.main()
