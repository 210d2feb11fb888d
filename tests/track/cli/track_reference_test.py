"""voxherd track against FSL's probtrackx2 on the same samples: five random seeds of each configuration (track_reference)."""
import os
import re
import shutil
import tempfile
import unittest

import numpy as np
from toy_jobs import h5py, voxherd
from track_reference_data import DATA, RUNS, image, read_matrix, rms, z_values


@unittest.skipUnless(os.path.isdir(DATA), "no results of probtrackx2 (VOXHERD_DATA)")
class Reference(unittest.TestCase):
    """Limits: the README of the reference. The rms z of FSL's own runs against each other is in the comments. Each comparison prints
    a row of the table in docs/commands/track.md."""

    def setUp(self):
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        self.folder = tempfile.mkdtemp(prefix="voxherd_track_")
        self.addCleanup(shutil.rmtree, self.folder)

    def roi(self, name):
        return os.path.join(DATA, "rois", name + ".nii.gz")

    def track(self, *options):
        self.out = os.path.join(self.folder, "out.h5")
        rc, _, output = voxherd("track", "--samples", os.path.join(DATA, "samples.bedpostX"), "--end-samples", "half", "--quiet",
                                "--threads", 1, "--overwrite", "--out", self.out, *options)
        self.assertEqual(rc, 0, output)
        with h5py.File(self.out, "r") as file:
            return ({name: np.asarray(values).transpose(2, 1, 0).astype(float) for name, values in file["maps"].items()},
                    np.asarray(file["streamlines/waytotal"])[0])

    def check(self, what, config, counts, name, tried, largest_rms):
        runs = [image(os.path.join(DATA, "runs", config, f"seed{run}", name)) for run in RUNS]
        self.check_counts(what, counts, tried, runs, largest_rms)

    def check_counts(self, what, counts, tried, runs, largest_rms):
        """`runs`: the counts of FSL's runs, each of as many streamlines."""
        total = sum(runs)
        z = z_values(counts, tried, total, len(runs) * tried)
        of_fsl = [rms(z_values(run, tried, total - run, (len(runs) - 1) * tried)) for run in runs]
        visited = (counts > 0) | (total > 0)
        correlation = np.corrcoef(counts[visited], total[visited])[0, 1]
        print(f"| {what} | {z.size} | {min(of_fsl):.2f} to {max(of_fsl):.2f} | {rms(z):.2f} | {correlation:.4f} |", flush=True)
        self.assertGreater(z.size, 20)
        self.assertLess(rms(z), largest_rms + .2)
        self.assertLess(np.abs(z).max(), 6)

    def check_waytotal(self, config, found, tried):
        runs = [float(open(os.path.join(DATA, "runs", config, f"seed{run}", "waytotal")).read()) for run in RUNS]
        p = (found + sum(runs)) / (tried * (1 + len(RUNS)))
        self.assertLess(abs(found - np.mean(runs)), 4 * np.sqrt(p * (1 - p) * tried * (1 + 1 / len(RUNS))))

    def test_one_voxel(self):  # FSL: 0.84 to 1.03
        maps, _ = self.track("--seed-image", self.roi("seed_voxel"), "--samples-per-seed", 10000)
        self.check("one seed voxel", "voxel", maps["density"], "fdt_paths.nii.gz", 10000, 1.03)

    def test_one_voxel_with_loop_check(self):  # 0.90 to 1.20
        maps, _ = self.track("--seed-image", self.roi("seed_voxel"), "--samples-per-seed", 10000, "--loop-check", "on")
        self.check("with loop check", "voxel_loopcheck", maps["density"], "fdt_paths.nii.gz", 10000, 1.20)

    def test_lengths(self):
        maps, _ = self.track("--seed-image", self.roi("seed_voxel"), "--samples-per-seed", 10000, "--lengths")
        folder = os.path.join(DATA, "runs", "voxel_pd")
        lengths = np.mean([image(os.path.join(folder, f"seed{run}", "fdt_paths_lengths.nii.gz")) for run in RUNS], axis=0)
        often = maps["density"] >= 1000
        self.assertGreater(often.sum(), 20)
        self.assertLess(np.abs(maps["mean_length"] - lengths)[often].max(), .6)  # FSL's deviation is up to 0.12 mm
        corrected = np.mean([image(os.path.join(folder, f"seed{run}", "fdt_paths.nii.gz")) for run in RUNS], axis=0)
        np.testing.assert_allclose(maps["length_sum"][often], corrected[often], rtol=.2)

    def test_waypoints_on_both_sides_as_in_xtract(self):  # 0.91 to 1.02
        maps, waytotal = self.track(
            "--seed-image", self.roi("seed_callosum"), "--loop-check", "on", "--seed-radius", 1, "--first-fibre", "equal", "--include",
            self.roi("target_left"), self.roi("target_right"), "--exclude", self.roi("exclude_low"), "--stop", self.roi("stop_top"),
            "--samples-per-seed", 2000)
        self.check("two waypoints, avoid, stop, loop check", "xtract", maps["density"], "density.nii.gz", 144000, 1.02)
        self.check_waytotal("xtract", waytotal, 144000)

    def test_one_waypoint_for_each_half(self):  # 0.95 to 1.08
        maps, waytotal = self.track(
            "--seed-image", self.roi("seed_callosum"), "--loop-check", "on", "--seed-radius", 1, "--first-fibre", "weighted",
            "--include", self.roi("target_left"), self.roi("target_right"), "--include-rule", "or", "--each-half", "--exclude",
            self.roi("exclude_low"), "--samples-per-seed", 500)
        self.check("one of two waypoints for each half", "xtract_or_oneway", maps["density"], "density.nii.gz", 36000, 1.08)
        self.check_waytotal("xtract_or_oneway", waytotal, 36000)

    def test_ordered_waypoints(self):  # 0.97 to 1.29
        maps, waytotal = self.track(
            "--seed-image", self.roi("n2_lateral_a"), "--loop-check", "on", "--seed-radius", 1, "--first-fibre", "equal", "--include",
            self.roi("n1_callosum"), self.roi("n3_lateral_b"), "--ordered", "--samples-per-seed", 2000)
        self.check("ordered waypoints", "xtract_order", maps["density"], "density.nii.gz", 256000, 1.29)
        self.check_waytotal("xtract_order", waytotal, 256000)

    def test_streamlines_that_end_by_their_fraction(self):  # 0.42 to 0.71
        maps, _ = self.track("--seed-image", self.roi("seed_callosum"), "--stop-by-fraction", "--fibre-threshold", .05,
                             "--step", .3, "--max-angle", 60, "--samples-per-seed", 2000)
        self.check("ends by fraction", "usef", maps["density"], "fdt_paths.nii.gz", 144000, .71)

    def test_targets_of_each_seed_with_mean_directions(self):  # density 0.89 to 0.97, targets 0.93 to 1.03
        names = ["n2_lateral_a", "n3_lateral_b", "n4_top_a", "n5_top_b"]
        maps, _ = self.track("--seed-image", self.roi("seed_callosum"), "--step-direction", "fsl-mean", "--seed-radius", 1, "--targets",
                             *[self.roi(name) for name in names], "--samples-per-seed", 500)
        self.check("targets of each seed, mean directions: density", "os2t", maps["density"], "fdt_paths.nii.gz", 36000, .97)
        seeds = image(self.roi("seed_callosum")) != 0
        found = np.concatenate([maps["seeds_to_" + name][seeds] for name in names])
        runs = os.path.join(DATA, "runs", "os2t")
        reference = [np.concatenate([image(os.path.join(runs, f"seed{run}", f"seeds_to_{name}.nii.gz"))[seeds] for name in names])
                     for run in RUNS]
        self.check_counts("targets of each seed, mean directions: targets", found, 500, reference, 1.03)

    def test_walk_through_stop(self):  # 0.81 to 0.84
        maps, _ = self.track("--seed-image", self.roi("seed_wm_grid"), "--walk-through-stop", self.roi("wtstop_low"),
                             "--samples-per-seed", 200)
        self.check("walk-through stop: density", "matrix3", maps["density"], "fdt_paths.nii.gz", 50400, .84)

    def dots(self, config, name):
        """The sparse matrices of FSL's runs, dense."""
        runs = [np.loadtxt(os.path.join(DATA, "runs", config, f"seed{run}", name)) for run in RUNS]
        dense = np.zeros((len(runs), *runs[0][-1, :2].astype(int)))
        for matrix, entries in zip(dense, runs):
            matrix[entries[:-1, 0].astype(int) - 1, entries[:-1, 1].astype(int) - 1] = entries[:-1, 2]
        return dense

    def test_matrices_of_seeds(self):  # 1.00 to 1.02, 0.98 to 1.01
        files = [os.path.join(self.folder, f"matrix{number}.h5") for number in (1, 2)]
        self.track("--seed-image", self.roi("seed_matrix1"), "--matrix1", files[0], "--matrix-min-length", 5, "--matrix2", files[1],
                   "--target2", self.roi("target2_lowres"), "--samples-per-seed", 100)
        for number, file, largest in zip((1, 2), files, (1.02, 1.01)):
            reference = self.dots("matrix12", f"fdt_matrix{number}.dot.gz")
            found = read_matrix(file, reference.shape[1:])
            self.check_counts(f"matrix {number}", found, 100, list(reference), largest)
            self.check_folder(file, found, os.path.join(DATA, "runs", "matrix12", "seed1"))

    def test_matrix_of_pairs(self):  # 0.82 to 1.06
        file = os.path.join(self.folder, "matrix3.h5")
        self.track("--seed-image", self.roi("seed_wm_grid"), "--walk-through-stop", self.roi("wtstop_low"), "--matrix3", file,
                   "--target3", self.roi("target3_shell"), "--matrix-min-length", 10, "--samples-per-seed", 200, "--lengths")
        reference = self.dots("matrix3", "fdt_matrix3.dot.gz")
        found = read_matrix(file, reference.shape[1:])
        self.check_counts("matrix 3", found, 50400, list(reference), 1.06)
        self.assertFalse(np.tril(found).any())
        # Lengths of single pairs differ by up to 0.9 mm (docs/commands/track.md); their mean over all pairs does not.
        lengths = read_matrix(file, found.shape, "length_sum").sum() / found.sum()
        of_fsl = (reference * self.dots("matrix3", "fdt_matrix3_lengths.dot.gz")).sum() / reference.sum()
        self.assertAlmostEqual(lengths, of_fsl, delta=.5)
        self.check_folder(file, found, os.path.join(DATA, "runs", "matrix3", "seed1"))

    def check_folder(self, file, matrix, fsl):
        """The export has FSL's files and lists of voxels, and the values of `matrix`."""
        folder = file + ".dot"
        rc, _, output = voxherd("export", file, "--to", "dot", folder)
        self.assertEqual(rc, 0, output)
        (name,) = [name for name in os.listdir(folder) if name.endswith(".dot") and "lengths" not in name]
        entries = np.loadtxt(os.path.join(folder, name))
        np.testing.assert_array_equal(entries[-1], [*matrix.shape, 0])
        dense = np.zeros(matrix.shape)
        dense[entries[:-1, 0].astype(int) - 1, entries[:-1, 1].astype(int) - 1] = entries[:-1, 2]
        np.testing.assert_array_equal(dense, matrix)
        self.assertTrue((np.diff(entries[:-1, 1] * 1e6 + entries[:-1, 0]) > 0).all())  # by column
        lists = [name for name in os.listdir(folder) if "coords" in name]
        self.assertTrue(lists)
        for name in lists:
            with open(os.path.join(folder, name)) as ours, open(os.path.join(fsl, name)) as theirs:
                self.assertEqual(ours.read().split(), theirs.read().split())

    def test_seeds_and_masks_in_a_turned_space(self):  # 0.85 to 1.03
        maps, waytotal = self.track(
            "--seed-image", self.roi("space2_seed_callosum"), "--seedref", self.roi("space2_ref"), "--transform",
            os.path.join(DATA, "rois", "seed2diff.mat"), "--loop-check", "on", "--seed-radius", 1, "--first-fibre", "equal", "--include",
            self.roi("space2_target_left"), self.roi("space2_target_right"), "--exclude", self.roi("space2_exclude_low"), "--stop",
            self.roi("space2_stop_top"), "--samples-per-seed", 2000)
        self.check("two waypoints in a turned space (`xfm`)", "space2", maps["density"], "density.nii.gz", 120000, 1.03)
        self.check_waytotal("space2", waytotal, 120000)

    def test_networks(self):
        import nibabel
        with open(os.path.join(DATA, "rois", "network.txt")) as file:
            regions = [nibabel.load(os.path.join(DATA, name)) for name in file.read().split()]
        labels = np.zeros(regions[0].shape, np.int16)
        for number, region in enumerate(regions, 1):
            labels[np.asarray(region.dataobj) != 0] = number
        path = os.path.join(self.folder, "labels.nii")
        nibabel.save(nibabel.Nifti1Image(labels, regions[0].affine), path)
        cases = (("network", "network of 8 regions", ("--loop-check", "on",), .82),
                 ("network_pd", "network, halves of 10 mm or more", ("--min-half-length", 10), .89))
        for config, what, options, largest in cases:
            maps, _ = self.track("--connectome", path, "--samples-per-seed", 200, *options)
            with h5py.File(self.out, "r") as file:
                count, from_region = (np.asarray(file[f"connectome/{name}"]) for name in ("count", "waytotal"))
            runs = os.path.join(DATA, "runs", config)
            matrices = [np.loadtxt(os.path.join(runs, f"seed{run}", "fdt_network_matrix")) for run in RUNS]
            self.check_counts(f"{what}: matrix", count, 336000, matrices, largest)
            totals = sum(np.array(re.findall(r"\d+", open(os.path.join(runs, f"seed{run}", "waytotal")).read()), float)
                         for run in RUNS)
            started = 200. * np.array([(labels == number).sum() for number in range(1, len(regions) + 1)])
            p = (from_region + totals) / (6 * started)
            self.assertLess((np.abs(from_region - totals / 5) / np.sqrt(p * (1 - p) * started * 1.2)).max(), 4)
            if config == "network":  # 0.88 to 0.94
                self.check(f"{what}: density", config, maps["density"], "fdt_paths.nii.gz", 336000, .94)


if __name__ == "__main__":
    unittest.main()
