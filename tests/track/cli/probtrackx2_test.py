"""voxherd probtrackx2: FSL's options give the results of voxherd track in FSL's folder; what is not offered is an error."""
import os
import subprocess
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, MISSING, USAGE
from toy_jobs import VOXHERD, voxherd
from track_jobs import SIZE, Probtrackx2Jobs, constants, maps, read
from track_reference_data import z_values

DATA = os.path.join(os.environ.get("VOXHERD_DATA", ""), "track_reference")


class Folder(Probtrackx2Jobs):
    def test_density_waytotal_and_log_are_in_the_folder(self):
        seeds = self.mask("seeds", np.s_[10, 3:6, 3])
        folder = self.trace("tract", "-x", seeds, "--opd", "--pd", "--ompl", "-P", "40", "-o", "density")
        self.assertEqual(sorted(os.listdir(folder)),
                         ["density.nii.gz", "density_lengths.nii.gz", "probtrackx.log", "voxherd.h5", "waytotal"])
        with open(f"{folder}/waytotal") as file:
            self.assertEqual(file.read(), "120  \n")
        with open(f"{folder}/probtrackx.log") as file:
            self.assertIn("probtrackx2", file.read())
        found = maps(f"{folder}/voxherd.h5")
        self.assertEqual(found["density"][10, 4, 3], 40)
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        np.testing.assert_allclose(self.image(f"{folder}/density.nii.gz"), found["length_sum"], rtol=1e-6)
        np.testing.assert_allclose(self.image(f"{folder}/density_lengths.nii.gz"), found["mean_length"], rtol=1e-6)

    def test_two_commands_that_start_together_take_two_folders(self):
        samples, seeds = self.samples(), self.mask("seeds", np.s_[10, 3:6, 3])
        words = [VOXHERD, "probtrackx2", "--quiet", "--threads", "1", "-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask",
                 "-x", seeds, "--opd", "-P", "5", f"--dir={self.path('both')}"]
        jobs = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for job in jobs:
            errors = job.communicate(timeout=60)[1]
            self.assertEqual(job.returncode, 0, errors)
        for name in ("both", "both+", "both++", "both+++"):
            self.assertIn("waytotal", os.listdir(self.path(name)))

    def test_a_network_of_listed_masks_gives_the_matrix_of_the_parcellation(self):
        boxes = np.s_[5, 3, 3], np.s_[10, 3:5, 3], np.s_[15, 3, 3]
        # Without extensions, relative to the list.
        for i, box in enumerate(boxes):
            self.mask(f"region{i}", box)
        regions = self.text_list("regions.txt", "region0", "", "region1", "region2")
        folder = self.trace("network", f"--seed={regions}", "--network", "--ompl", "-P", "30")
        self.assertEqual(sorted(os.listdir(folder)),
                         ["fdt_network_matrix", "fdt_network_matrix_lengths", "fdt_paths_lengths.nii.gz", "probtrackx.log", "voxherd.h5", "waytotal"])
        np.testing.assert_array_equal(np.loadtxt(f"{folder}/fdt_network_matrix"), [[0, 30, 30], [30, 0, 30], [30, 30, 0]])
        np.testing.assert_array_equal(np.loadtxt(f"{folder}/waytotal"), [30, 30, 30])
        same = self.make("same.h5", "--samples", self.samples(), "--connectome", self.mask("labels", *boxes), "--samples-per-seed", 30,
                         "--lengths")
        np.testing.assert_array_equal(constants(same, "connectome")["mean_length_mm"],
                                      np.loadtxt(f"{folder}/fdt_network_matrix_lengths"))
        np.testing.assert_array_equal(maps(same)["density"], maps(f"{folder}/voxherd.h5")["density"])

    def test_options_of_xtract_give_the_result_of_track(self):
        words = self.all_options()
        given = dict(zip(words[::2], words[1::2]))
        samples = self.scattered()
        left, right = self.path("left.nii"), self.path("right.nii")
        expected = self.make("track.h5", "--samples", samples, "--seed-image", self.path("seeds.nii"), "--seed-radius", "0.7",
                             "--first-fibre", "equal", "--loop-check", "on", "--include", left, right, "--ordered", "--exclude",
                             self.path("avoid.nii"), "--stop", self.path("stop.nii"), "--samples-per-seed", 200, "--lengths")
        self.assertIn("--seed-image", given)
        rc, output = self.call(
            "-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-x", self.path("seeds"), "--loopcheck", "--forcedir", "--opd",
            "--ompl", "--sampvox=0.7", "--randfib=1", "--nsamples=200", f"--waypoints={self.text_list('targets.txt', left, right)}",
            "--wayorder", "--waycond=AND", f"--avoid={self.path('avoid')}", f"--stop={self.path('stop')}", "-o", "density",
            f"--dir={self.path('xtract')}", "--verbose=1", ranks=2)
        self.assertEqual(rc, 0, output)
        np.testing.assert_array_equal(maps(expected)["density"], maps(self.path("xtract/voxherd.h5"))["density"])
        self.assertGreater(maps(expected)["density"].sum(), 100)

    def test_targets_directions_and_walk_through_stops_are_those_of_track(self):
        samples = self.scattered()
        seeds, left, right = self.mask("seeds", np.s_[10:13, 3:6, 3]), self.mask("left", np.s_[5, :, :]), self.mask("right", np.s_[17, :, :])
        skirt = self.mask("skirt", np.s_[8:15, :, :])
        expected = self.make("track.h5", "--samples", samples, "--seed-image", seeds, "--targets", left, right, "--walk-through-stop", skirt,
                             "--step-direction", "fsl-mean", "--start-fibre", 2, "--local-directions", "--lengths", "--samples-per-seed", 100,
                             "--stop", right, "--ignore-first-step")
        rc, output = self.call("-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-x", seeds, "-P", "100", "--os2t",
                               f"--targetmasks={self.text_list('targets.txt', left, right)}", f"--wtstop={skirt}", "--modeuler",
                               "--fibst=2", "--opathdir", "--opd", "--pd", "--ompl", "--forcefirststep", f"--stop={right}",
                               f"--dir={self.path('out')}")
        self.assertEqual(rc, 0, output)
        wanted, found = maps(expected), maps(self.path("out/voxherd.h5"))
        self.assertIn("seeds_to_left", found)
        for name, values in wanted.items():
            np.testing.assert_array_equal(found[name], values, name)
        names = os.listdir(self.path("out"))
        for name in ("seeds_to_left", "seeds_to_left_lengths", "seeds_to_right", "fdt_paths_localdir"):
            self.assertIn(f"{name}.nii.gz", names)
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        sums = self.image(self.path("out/seeds_to_left.nii.gz"))
        np.testing.assert_allclose(sums, wanted["seeds_to_left"] * wanted["seeds_to_left_lengths"], rtol=1e-6)
        self.assertEqual(self.image(self.path("out/fdt_paths_localdir.nii.gz")).shape, (*SIZE, 3))

    def test_a_matrix_moves_seeds_masks_and_results_to_the_space_of_the_reference(self):
        samples = self.scattered()
        # Fewer and larger voxels than the samples'; FSL's first axis runs backwards in both.
        values = np.zeros((12, 5, 4))
        values[5:7, 2, 2] = 1
        seeds = self.write("seeds.nii", values, sform=[[4, 0, 0, 1], [0, 4, 0, 1], [0, 0, 4, 1]])
        values[2] = 1
        reference = self.write("reference.nii", values, sform=[[4, 0, 0, 1], [0, 4, 0, 1], [0, 0, 4, 1]])
        with open(self.path("seeds2samples.mat"), "w") as file:
            file.write("1 0 0 1  \n0 1 0 1  \n0 0 1 1  \n0 0 0 1  \n")
        expected = self.make("track.h5", "--samples", samples, "--seed-image", seeds, "--seedref", reference, "--samples-per-seed", 50)
        rc, output = self.call("-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-x", self.path("seeds"), "-P", "50",
                               f"--seedref={self.path('reference')}", f"--xfm={self.path('seeds2samples.mat')}", "--invxfm=standard2diff.nii.gz",
                               "--opd", f"--dir={self.path('out')}")
        self.assertEqual(rc, 0, output)
        np.testing.assert_array_equal(maps(self.path("out/voxherd.h5"))["density"], maps(expected)["density"])
        self.assertEqual(maps(expected)["density"].shape, (12, 5, 4))
        rc, output = self.call("-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-x", seeds, f"--seedref={reference}", "-P", "10",
                               "--opd", f"--dir={self.path('by_size')}")
        self.assertEqual(rc, 0, output)
        self.assertIn("without --xfm it is placed by voxel sizes", output)
        self.refuse_in("refused", BAD_DATA, "as in", samples, "-x", seeds, f"--seedref={reference}", "--xfm=" + self.path("seeds2samples.mat"),
                       "--stop=" + self.mask("stop", np.s_[3, 3, 3]))

    def refuse_in(self, name, status, words, samples, *options):
        rc, output = self.call("-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "--opd", f"--dir={self.path(name)}", *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)

    def test_matrices_are_those_of_track_with_distance_correction(self):
        seeds, coarse = self.mask("seeds", np.s_[9:12, 3:5, 3]), np.zeros((6, 3, 2))
        coarse[4:] = 1
        self.write("coarse.nii", coarse, sform=[[8, 0, 0, 3], [0, 6, 0, 2], [0, 0, 8, 3]])
        folder = self.trace("matrices", "-x", seeds, "-P", "20", "--omatrix1", "--omatrix2", f"--target2={self.path('coarse')}", "--omatrix3",
                            f"--target3={seeds}", "--distthresh1=1", "--distthresh3=1", "--ompl")
        for number, rows, columns in ((1, 6, 6), (2, 6, 12), (3, 6, 6)):
            entries = np.loadtxt(f"{folder}/fdt_matrix{number}.dot")
            np.testing.assert_array_equal(entries[-1], [rows, columns, 0])
            self.assertEqual(set(entries[:-1, 2]), {20} if number != 3 else {60})
            self.assertTrue(os.path.exists(f"{folder}/coords_for_fdt_matrix{number}"))
        corrected = self.trace("corrected", "-x", seeds, "-P", "20", "--omatrix1", "--omatrix3", f"--target3={seeds}", "--pd")
        for number, factor in ((1, 20), (3, 1)):
            counts, lengths, values = (np.loadtxt(f"{where}/fdt_matrix{number}{end}.dot")[:-1, 2]
                                       for where, end in ((folder, ""), (folder, "_lengths"), (corrected, "")))
            np.testing.assert_allclose(values, lengths * factor, rtol=1e-5)
            self.assertEqual(len(counts), len(values))
        self.assertFalse(os.path.exists(f"{corrected}/fdt_matrix1_lengths.dot"))

    def test_matrix_3_between_two_masks_has_a_list_of_voxels_for_each(self):
        seeds, left, right = (self.mask(name, box) for name, box in (("seeds", np.s_[10, 3:5, 3]), ("left", np.s_[5:8, 3:6, 3]),
                                                                     ("right", np.s_[7:9, 3, 3])))
        folder = self.trace("two", "-x", seeds, "-P", "20", "--omatrix3", f"--target3={left}", f"--lrtarget3={right}", "--ompl")
        # Row 1 to 3 and columns 1 and 2 are on one streamline; row 1 and column 2 are the same voxel.
        entries, lengths = (np.loadtxt(f"{folder}/fdt_matrix3{end}.dot") for end in ("", "_lengths"))
        np.testing.assert_array_equal(entries, [[row, column, 20] for column in (1, 2) for row in (1, 2, 3)] + [[9, 2, 0]])
        self.assertEqual(lengths[3, 2], 0)
        np.testing.assert_allclose(lengths[:6, 2], [2, 4, 6, 0, 2, 4], atol=.5)
        np.testing.assert_array_equal(np.loadtxt(f"{folder}/coords_for_fdt_matrix3")[:4],
                                      [[7, 3, 3, 0, 1], [6, 3, 3, 0, 2], [5, 3, 3, 0, 3], [7, 4, 3, 0, 4]])
        np.testing.assert_array_equal(np.loadtxt(f"{folder}/tract_space_coords_for_fdt_matrix3"), [[8, 3, 3, 0, 1], [7, 3, 3, 0, 2]])

    def test_lists_of_masks_may_have_a_byte_order_mark_and_line_ends_of_windows(self):
        seeds = self.mask("seeds", np.s_[10, 3:6, 3])
        near, far = self.mask("near", np.s_[13, 3, 3]), self.mask("far", np.s_[4, :, 3])
        with open(self.path("way.txt"), "wb") as file:
            file.write(f"\ufeff{near}\r\n{far}\r\n".encode())
        folder = self.trace("list", "-x", seeds, "--opd", "-P", "20", f"--waypoints={self.path('way.txt')}")
        with open(f"{folder}/waytotal") as file:
            self.assertEqual(file.read(), "20  \n")
        with open(self.path("wide.txt"), "wb") as file:
            file.write(f"{near}\n{far}\n".encode("utf-16"))
        samples = self.samples()
        rc, output = self.call("-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-x", seeds, "--opd",
                               f"--dir={self.path('wide')}", f"--waypoints={self.path('wide.txt')}")
        self.assertEqual(rc, BAD_DATA, output)
        self.assertIn("wide.txt: is a text in UTF-16", output)

    def test_the_same_mask_twice_in_matrix_3_has_both_lists_as_in_fsl(self):
        seeds, ends = self.mask("seeds", np.s_[10, 3, 3]), self.mask("ends", np.s_[5:8, 3, 3])
        folder = self.trace("same", "-x", seeds, "-P", "20", "--omatrix3", f"--target3={ends}", f"--lrtarget3={ends}")
        rows, columns = (np.loadtxt(f"{folder}/{name}coords_for_fdt_matrix3") for name in ("", "tract_space_"))
        np.testing.assert_array_equal(columns, rows)
        self.assertEqual(columns.shape, (3, 5))
        one = self.trace("one", "-x", seeds, "-P", "20", "--omatrix3", f"--target3={ends}")
        self.assertNotIn("tract_space_coords_for_fdt_matrix3", os.listdir(one))

    def test_the_lookup_of_matrix_2_has_integers_and_the_codes_of_its_image(self):
        try:
            import nibabel
        except ImportError:
            self.skipTest("no nibabel")
        target = nibabel.load(self.mask("target", np.s_[5:8, 3:6, 3]))
        target.set_qform(target.affine, 4)
        target.set_sform(target.affine, 2)
        nibabel.save(target, self.path("coded.nii"))
        folder = self.trace("lookup", "-x", self.mask("seeds", np.s_[10, 3, 3]), "-P", "20", "--omatrix2", f"--target2={self.path('coded.nii')}")
        found = nibabel.load(f"{folder}/lookup_tractspace_fdt_matrix2.nii.gz")
        self.assertEqual(found.get_data_dtype(), np.int32)
        self.assertEqual((int(found.header["qform_code"]), int(found.header["sform_code"])), (4, 2))
        np.testing.assert_array_equal(found.affine, target.affine)
        numbers = np.asarray(found.dataobj)
        self.assertEqual(sorted(numbers[numbers > 0].tolist()), list(range(1, 10)))
        np.testing.assert_array_equal(numbers > 0, np.asarray(target.dataobj) > 0)

    def test_a_text_matrix_has_the_targets_of_each_seed_voxel_also_of_one_without_samples(self):
        seeds = self.mask("seeds", np.s_[21:, 4, 3])  # the last one is outside the samples
        near, far = self.mask("near", np.s_[19, :, :]), self.mask("afar", np.s_[4, 4, :])
        folder = self.trace("targets", "-x", seeds, "-P", "20", "--os2t", f"--targetmasks={self.text_list('t.txt', near, far)}",
                            "--s2tastext", "--ompl")
        with open(f"{folder}/matrix_seeds_to_all_targets") as file:
            self.assertEqual(file.read(), "0  0  \n20  20  \n20  20  \n")  # FSL's x runs from 23 to 0 here
        lengths = np.loadtxt(f"{folder}/matrix_seeds_to_all_targets_lengths")
        np.testing.assert_allclose(lengths, [[0, 0], [5, 35], [3, 33]], atol=.5)
        plain = self.trace("plain", "-x", seeds, "-P", "5", "--opd", "--s2tastext")  # has no effect, as in FSL
        self.assertNotIn("matrix_seeds_to_all_targets", os.listdir(plain))

    def read_paths(self, folder):
        paths, counts = [], []
        with open(f"{folder}/saved_paths.txt") as file:
            for line in file:
                if line.startswith("# "):
                    counts.append(int(line[2:]))
                    paths.append([])
                else:
                    paths[-1].append([float(word) for word in line.split()])
        self.assertEqual([len(path) for path in paths], counts)
        return [np.array(path) for path in paths]

    def test_densities_to_targets_are_those_of_the_streamlines_that_reach_them(self):
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        samples, seeds = self.scattered(), self.mask("seeds", np.s_[10:13, 3:6, 3])
        masks = {"left": np.s_[13:18, 5, :], "right": np.s_[6:9, :4, :], "seeded": np.s_[11, 4, 3]}
        targets = self.text_list("targets.txt", *(self.mask(name, box) for name, box in masks.items()))
        rc, output = self.call("-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-x", seeds, "-P", "40", "--os2t",
                               f"--targetmasks={targets}", "--otargetpaths", "--savepaths", "--sampvox=.7", "--steplength=1.1",
                               f"--avoid={self.mask('avoid', np.s_[:, 7, :])}", f"--dir={self.path('out')}", ranks=2)
        self.assertEqual(rc, 0, output)
        expected = {name: np.zeros(SIZE) for name in masks}
        values, lines = read(self.path("out/voxherd_paths.h5"))
        for line, halves in zip(lines, values["halves"]):
            voxels = np.floor(line / 2 + .5).astype(int)
            reached = np.delete(voxels, int(round(halves[0] / 1.1)), axis=0)  # the start reaches no target
            for name, box in masks.items():
                inside = np.zeros(SIZE, dtype=bool)
                inside[box] = True
                if inside[tuple(reached.T)].any():
                    for voxel in set(map(tuple, voxels)):
                        expected[name][voxel] += 1
        for name in masks:
            self.assertGreater(expected[name].max(), 10, name)
            np.testing.assert_array_equal(self.image(self.path(f"out/target_paths_{name}.nii.gz")), expected[name], name)

    def test_saved_paths_are_those_of_the_density(self):
        seeds = self.mask("seeds", np.s_[10, 3:6, 3])
        folder = self.trace("paths", "-x", seeds, "-P", "30", "--savepaths", "--opd", "--sampvox=.7")
        paths = self.read_paths(folder)
        self.assertEqual(len(paths), 90)
        density = np.zeros(SIZE)
        for path in paths:
            again = np.flatnonzero((path[1:] == path[0]).all(1)) + 1
            self.assertEqual(len(again), 1)  # the second half begins at the seed, too
            steps = np.delete(np.diff(path[:, 0]), again - 1)
            np.testing.assert_allclose(np.abs(steps), .25, atol=1e-4)
            voxels = np.floor(path + .5).astype(int)
            for x, y, z in set(map(tuple, voxels)):
                density[SIZE[0] - 1 - x, y, z] += 1  # FSL's storage
        np.testing.assert_array_equal(density, maps(f"{folder}/voxherd.h5")["density"])

    def test_single_seeds_have_the_densities_of_their_masks(self):
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        samples, voxels = self.scattered(), [[10, 4, 3], [15, 3, 2], [0, 0, 0]]
        np.savetxt(self.path("voxels.txt"), voxels, fmt="%g")
        np.savetxt(self.path("columns.txt"), np.transpose(voxels + [[10, 4, 3]]), fmt="%g")
        options = "-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-P", "50", "--opd", "--ompl", "--sampvox=1", "-l"
        for name in ("voxels", "columns"):
            rc, output = self.call(*options, "--simple", "-x", self.path(f"{name}.txt"), f"--dir={self.path(name)}", ranks=2)
            self.assertEqual(rc, 0, output)
            names = [f"fdt_paths_{x}_{y}_{z}{end}.nii.gz" for x, y, z in voxels for end in ("", "_lengths")]
            self.assertEqual(sorted(n for n in os.listdir(self.path(name)) if not n.startswith("voxherd")), sorted(names + ["probtrackx.log"]))
        for x, y, z in voxels[:2]:
            alone = maps(self.make(f"{x}.h5", "--samples", samples, "--seed-image", self.mask(f"seed{x}", np.s_[x, y, z]), "--lengths",
                                   "--seed-radius", 1, "--loop-check", "on", "--samples-per-seed", 50))
            for end, expected in (("", "density"), ("_lengths", "mean_length")):
                found = self.image(self.path(f"voxels/fdt_paths_{x}_{y}_{z}{end}.nii.gz"))
                np.testing.assert_allclose(found, alone[expected], rtol=1e-6)
        self.assertFalse(self.image(self.path("voxels/fdt_paths_0_0_0.nii.gz")).any())

    def test_an_inverse_beside_a_matrix_is_named_as_not_read(self):
        samples, seeds = self.samples(), self.mask("seeds", np.s_[10, 4, 3])
        np.savetxt(self.path("identity.mat"), np.eye(4))
        rc, _, output = voxherd("probtrackx2", "--threads", 1, "-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-x", seeds, "-P",
                                "5", f"--xfm={self.path('identity.mat')}", "--invxfm=diff2standard.nii.gz", f"--dir={self.path('out')}")
        self.assertEqual(rc, 0, output)
        self.assertIn("--invxfm diff2standard.nii.gz: not read; the matrix of --xfm is inverted", output)

    def test_a_link_in_the_folders_place_is_kept(self):
        os.symlink("link", self.path("link"))
        seeds = self.mask("seeds", np.s_[10, 4, 3])
        self.trace("link", "-x", seeds, "--opd", "-P", "2")
        self.assertEqual(os.readlink(self.path("link")), "link")
        self.assertIn("fdt_paths.nii.gz", os.listdir(self.path("link+")))

    def test_a_folder_is_kept_unless_it_is_forced(self):
        seeds = self.mask("seeds", np.s_[10, 3, 3])
        options = "-x", seeds, "--opd", "-P"
        self.trace("tract", *options, "10")
        self.trace("tract", *options, "20")
        self.assertEqual(constants(self.path("tract/voxherd.h5"), "streamlines")["waytotal"], 10)
        self.assertEqual(constants(self.path("tract+/voxherd.h5"), "streamlines")["waytotal"], 20)
        self.trace("tract", *options, "30", "--forcedir")
        self.assertEqual(constants(self.path("tract/voxherd.h5"), "streamlines")["waytotal"], 30)

    def test_the_density_is_written_in_the_folder_and_never_over_an_input(self):
        seeds = self.mask("seeds", np.s_[10, 3, 3])
        folder = self.samples()
        words = "-s", f"{folder}/merged", "-m", f"{folder}/nodif_brain_mask", "-P", "10", "--opd"
        for name in ("../mask", self.path("mask"), "a/b"):
            rc, output = self.call(*words, "-x", seeds, f"--dir={self.path('tract')}", "-o", name)
            self.assertEqual(rc, USAGE, output)
            self.assertIn(f"-o {name}: expected a name without folders", output)
        self.assertFalse(os.path.exists(self.path("tract")))
        self.trace("tract", "-x", seeds, "--opd", "-P", "10")
        with open(self.path("tract/fdt_paths.nii.gz"), "rb") as file:
            before = file.read()
        rc, output = self.call(*words, "-x", self.path("tract/fdt_paths"), f"--dir={self.path('tract')}", "--forcedir")
        self.assertEqual(rc, USAGE, output)
        self.assertIn("fdt_paths.nii.gz is the input -x", output)
        with open(self.path("tract/fdt_paths.nii.gz"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_without_a_result_waytotal_is_written(self):
        folder = self.trace("total", "-x", self.mask("seeds", np.s_[10, 3, 3]), "-P", "10")
        self.assertEqual(sorted(os.listdir(folder)), ["probtrackx.log", "voxherd.h5", "waytotal"])

    def test_verbose_takes_the_level_of_FSL(self):
        seeds = self.mask("seeds", np.s_[10, 3, 3])
        for i, words in enumerate((("-V", "1"), ("--verbose=1",), ("--verbose", "2"), ("-V",), ("--meshspace", "caret"))):
            folder = self.trace(f"verbose{i}", *words, "-x", seeds, "-P", "10")
            self.assertTrue(os.path.exists(f"{folder}/waytotal"))

    def test_verbose_is_not_reported(self):
        samples, seeds = self.samples(), self.mask("seeds", np.s_[10, 3, 3])
        rc, _, output = voxherd("probtrackx2", "--threads", 1, "-s", f"{samples}/merged", "-m", f"{samples}/nodif_brain_mask", "-x", seeds,
                                "-P", "5", f"--dir={self.path('quiet')}", "-V", "1", "--meshspace=caret")
        self.assertEqual(rc, 0, output)
        self.assertNotIn("no effect", output)

    def test_a_run_without_accepted_streamlines_warns(self):
        folder = self.samples()
        rc, output = self.call("-s", f"{folder}/merged", "-m", f"{folder}/nodif_brain_mask", "-x", self.mask("seeds", np.s_[10, 3, 3]), "--opd",
                               "-P", "10", f"--waypoints={self.mask('far', np.s_[:, 7, :])}", f"--dir={self.path('none')}")
        self.assertEqual(rc, 0, output)
        self.assertIn("far.nii was reached by 0 of 10 streamlines", output)

    def test_conditions_without_waypoints_have_no_effect(self):
        folder = self.trace("tract", "-x", self.mask("seeds", np.s_[10, 3, 3]), "--opd", "--onewaycondition", "--waycond=AND", "-P", "10")
        self.assertEqual(constants(f"{folder}/voxherd.h5", "streamlines")["waytotal"], 10)

    def test_streamlines_end_outside_the_given_mask(self):
        folder = self.samples()
        values = np.zeros(SIZE)
        values[8:13, 1:-1, 1:-1] = 1
        small = self.write("small.nii", values)
        rc, output = self.call("-s", f"{folder}/merged", "-m", small, "-x", self.mask("seeds", np.s_[10, 3, 3]), "--opd", "-P", "10",
                               f"--dir={self.path('out')}")
        self.assertEqual(rc, 0, output)
        density = maps(self.path("out/voxherd.h5"))["density"][:, 3, 3]
        self.assertEqual(list(density[8:13]), [10] * 5)
        self.assertEqual(density[:7].sum() + density[14:].sum(), 0)  # the point that leaves the mask is counted


@unittest.skipUnless(os.path.isdir(DATA), "no results of probtrackx2 (VOXHERD_DATA)")
class Reference(Probtrackx2Jobs):
    def test_a_command_line_of_FSL_gives_the_density_and_waytotal_of_FSL(self):
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        runs = os.path.join(DATA, "runs", "xtract")
        with open(f"{runs}/seed1/probtrackx.log") as file:
            words = file.readline().split()[1:]
        words = [word for word in words if not word.startswith("--dir=")] + ["--end-samples", "half", f"--dir={self.path('out')}"]
        here = os.getcwd()
        os.chdir(DATA)
        self.addCleanup(os.chdir, here)
        rc, output = self.call(*words)
        self.assertEqual(rc, 0, output)
        expected = sum(self.image(f"{runs}/seed{run}/density.nii.gz") for run in range(1, 6))
        z = z_values(self.image(self.path("out/density.nii.gz")), 144000, expected, 5 * 144000)
        self.assertGreater(z.size, 500)
        self.assertLess(np.sqrt((z * z).mean()), 1.22)  # as track_reference_test.py
        totals = [float(np.loadtxt(f"{folder}/waytotal")) for folder in [self.path("out")] + [f"{runs}/seed{r}" for r in range(1, 6)]]
        self.assertLess(abs(totals[0] - np.mean(totals[1:])), 4 * np.sqrt(.22 * .78 * 144000 * 1.2))


    def test_command_lines_of_FSL_with_matrices_give_the_files_of_FSL(self):
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        here = os.getcwd()
        os.chdir(DATA)
        self.addCleanup(os.chdir, here)
        for config in ("matrix12", "matrix3", "os2t"):
            run = f"{DATA}/runs/{config}/seed1"
            with open(f"{run}/probtrackx.log") as file:
                words = [word for word in file.readline().split()[1:] if not word.startswith("--dir=")]
            rc, output = self.call(*words, "--end-samples", "half", f"--dir={self.path(config)}")
            self.assertEqual(rc, 0, output)
            names = {name.removesuffix(".gz") for name in os.listdir(run)} - {"time.txt"}
            found = {name.removesuffix(".gz") for name in os.listdir(self.path(config))}
            self.assertEqual({name for name in found if not name.startswith("voxherd")}, names)
            for name in names:
                if "coords" in name:
                    with open(f"{run}/{name}") as theirs, open(self.path(f"{config}/{name}")) as ours:
                        self.assertEqual(theirs.read().split(), ours.read().split())
                elif name.endswith(".dot"):
                    theirs, ours = np.loadtxt(f"{run}/{name}.gz"), np.loadtxt(self.path(f"{config}/{name}"))
                    np.testing.assert_array_equal(ours[-1], theirs[-1])
                    self.assertLess(abs(ours[:-1, 2].sum() / theirs[:-1, 2].sum() - 1), .15)
        texts = [np.loadtxt(f"{DATA}/runs/os2t/seed{run}/matrix_seeds_to_all_targets") for run in range(1, 6)]
        z = z_values(np.loadtxt(self.path("os2t/matrix_seeds_to_all_targets")), 500, sum(texts), 2500)
        self.assertGreater(z.size, 50)
        self.assertLess(np.sqrt((z * z).mean()), 1.23)  # 0.2 above the largest of FSL's runs
        lookup = "lookup_tractspace_fdt_matrix2.nii.gz"
        np.testing.assert_array_equal(self.image(self.path(f"matrix12/{lookup}")), self.image(f"{DATA}/runs/matrix12/seed1/{lookup}"))


class Errors(Probtrackx2Jobs):
    def refuse(self, status, words, *options):
        folder = self.samples()
        base = {"-s": f"{folder}/merged", "-m": f"{folder}/nodif_brain_mask", "-x": self.mask("seeds", np.s_[10, 4, 3])}
        missing = [o for o in options if o.startswith("without ")]
        for word in missing:
            del base[word.split()[1]]
        rc, output = self.call(*(word for pair in base.items() for word in pair), f"--dir={self.path('refused')}",
                               *(o for o in options if o not in missing))
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)
        self.assertFalse(os.path.exists(self.path("refused")))

    def test_options_that_are_not_offered_name_the_reason(self):
        self.refuse(USAGE, "--prefdir is not supported: ", "--opd", "--prefdir")
        self.refuse(USAGE, "--nosuch", "--opd", "--nosuch")
        for options in (("--xfm=warp.nii.gz",), ("--xfm=warp.nii.gz", "--invxfm=a.mat")):
            self.refuse(USAGE, "--xfm warp.nii.gz is a warp; give --invxfm, the warp of the other direction", "--opd", *options)
        self.refuse(USAGE, "--invxfm has no meaning without --xfm", "--opd", "--invxfm=a.mat")

    def test_contradictory_options_are_rejected(self):
        seeds = self.mask("seeds", np.s_[10, 4, 3])
        self.refuse(USAGE, "-x, the seeds, is missing", "--opd", "without -x")
        self.refuse(USAGE, "-s, the samples (subject.bedpostX/merged), is missing", "--opd", "without -s")
        self.refuse(USAGE, "--avoid is given twice", "--opd", f"--avoid={seeds}", f"--avoid={seeds}")
        self.refuse(USAGE, "unexpected argument 'more'", "--opd", f"--avoid={seeds}", "more")
        self.refuse(USAGE, "--randfib 4: expected one of 0, 1, 2, 3", "--opd", "--randfib=4")
        self.refuse(USAGE, "--wayorder has no meaning with --waycond or", "--opd", f"--waypoints={seeds}", "--wayorder", "--waycond=OR")
        self.refuse(USAGE, "at least two masks", "--network")
        self.refuse(USAGE, "--os2t needs --targetmasks", "--opd", "--os2t")
        targets = "--os2t", f"--targetmasks={self.text_list('t.txt', seeds, self.mask('other', np.s_[9:11, 4, 3]))}", "--otargetpaths"
        self.refuse(USAGE, "--otargetpaths has no --pd", *targets, "--pd")
        self.refuse(BAD_DATA, "the targets seeds and other overlap; run the command for each", *targets)
        for number in (2, 3):
            self.refuse(USAGE, f"give --omatrix{number} and --target{number} together", "--opd", f"--omatrix{number}")
        self.refuse(USAGE, "--lrtarget3 has no meaning without --omatrix3", "--opd", f"--lrtarget3={seeds}")
        self.refuse(USAGE, "--distthresh1 and --distthresh3 differ", "--omatrix1", "--omatrix3", f"--target3={seeds}", "--distthresh1=5")
        self.refuse(USAGE, "--opd takes no value", "--opd=1")
        self.refuse(USAGE, "--stop: the value is missing", "--opd", "--stop")

    def test_masks_that_cannot_be_used_are_rejected(self):
        small = self.write("small.nii", np.ones((5, 5, 5)))
        self.refuse(BAD_DATA, "resample it to this grid", "--opd", f"--stop={small}")
        self.refuse(MISSING, "o such file", "--opd", "--stop=nowhere")
        self.refuse(MISSING, "white.surf.gii: no such file", "--opd", f"--waypoints={self.text_list('s.txt', 'white.surf.gii')}")
        one, other = self.mask("one", np.s_[5:7, 3, 3]), self.mask("other", np.s_[6:8, 3, 3])
        self.refuse(BAD_DATA, "overlap", "without -x", "--network", f"--seed={self.text_list('n.txt', one, other)}")
        empty = self.text_list("empty.txt")
        self.refuse(BAD_DATA, "is empty, expected names of masks", "--opd", f"--stop={empty}")
        for name, line in (("long.txt", "0 1000 " * 1000), ("gone.txt", "gone.nii")):
            listed = self.text_list(name, self.path("one.nii"), line)
            self.refuse(MISSING, f"{name} line 2: {line.split()[0]}: no such file", "--opd", f"--stop={listed}")

    def test_too_many_masks_are_named_with_the_limit_and_a_way_out(self):
        many = [self.mask(f"mask{i}", np.s_[5, 3, 3]) for i in range(33)]
        self.refuse(USAGE, "--waypoints is given 14 masks, expected at most 13; draw with fewer", "--opd",
                    f"--waypoints={self.text_list('way.txt', *many[:14])}")
        self.refuse(USAGE, "--wtstop is given 33 masks, expected at most 32; join masks that do not touch", "--opd",
                    f"--wtstop={self.text_list('exit.txt', *many)}")

    def test_single_seeds_that_cannot_be_used_are_rejected(self):
        for rows, words in (([[10.5, 4, 3]], "seed 1 has 10.5 along axis 1, expected a whole number from 0 to 23"),
                            ([[10, 4, 3], [10, 9, 3]], "seed 2 has 9 along axis 2, expected a whole number from 0 to 8"),
                            ([[1, 2]], "has 2 numbers per line, expected the voxels of seeds: x y z")):
            np.savetxt(self.path("voxels.txt"), rows, fmt="%g")
            self.refuse(BAD_DATA, words, "--opd", "--simple", "without -x", "-x", self.path("voxels.txt"))
        self.refuse(USAGE, "--simple has no --network, --os2t and --omatrix1, 2, 3", "--simple", "--omatrix1")
        self.refuse(USAGE, "give --savepaths or --paths, not both", "--savepaths", "--paths", self.path("p.h5"))

    def test_a_list_of_masks_is_no_single_mask(self):
        both = self.text_list("both.txt", *(self.mask(name, np.s_[5:7, 3, 3]) for name in ("one", "other")))
        for option, more in (("target2", ("--omatrix2",)), ("seedref", ())):
            self.refuse(USAGE if option == "seedref" else BAD_DATA, both, "--opd", *more, f"--{option}={both}")


if __name__ == "__main__":
    unittest.main()
