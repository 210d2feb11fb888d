"""voxherd probtrackx2 through warps against FSL's on the same samples: five random seeds of each configuration
(track_spaces_reference), with FSL's own options."""
import os
import shutil
import tempfile
import unittest

import numpy as np
from toy_jobs import voxherd
from track_reference_data import image, rms, z_values

DATA = os.path.join(os.environ.get("VOXHERD_DATA", ""), "track_spaces_reference")
SAMPLES = os.path.join(os.environ.get("VOXHERD_DATA", ""), "track_reference")
RUNS = range(1, 6)


def configs():
    names = ("configs.txt", "facts.txt")
    found = {}
    for name in names:
        with open(os.path.join(DATA, name), encoding="utf-8") as file:
            found.update(line.rstrip("\n").split("|", 1) for line in file)
    return {name: options.split() for name, options in found.items()}


@unittest.skipUnless(os.path.isdir(DATA), "no results of probtrackx2 (VOXHERD_DATA)")
class Warps(unittest.TestCase):
    """Limits: rms z at most 0.2 above that of FSL's runs against each other, which is in the comments; no |z| above 6. Each
    comparison prints a row of the table in docs/accuracy.md."""

    def setUp(self):
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        self.folder = tempfile.mkdtemp(prefix="voxherd_warp_")
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        for root, names in ((DATA, ("warp", "surf")), (SAMPLES, ("samples.bedpostX", "rois"))):
            for name in names:
                os.symlink(os.path.join(root, name), os.path.join(self.folder, name))
        os.chdir(self.folder)  # the options and lists have relative names

    def track(self, config, *more):
        out = os.path.join(self.folder, config)
        rc, _, output = voxherd("probtrackx2", "-s", "samples.bedpostX/merged", "-m", "samples.bedpostX/nodif_brain_mask",
                                "--forcedir", "--rseed=1", "--end-samples", "half", "--threads", 1, f"--dir={out}", *configs()[config], *more)
        self.assertEqual(rc, 0, output)
        return out, output

    def runs(self, config, read, name):
        return [read(os.path.join(DATA, "runs", config, f"seed{run}", name)) for run in RUNS]

    def check(self, config, name, tried, largest_rms, read=image, min_places=6):
        """The file of a run, which is repeated if there is none yet, against FSL's."""
        if not os.path.isdir(os.path.join(self.folder, config)):
            self.track(config)
        counts = read(os.path.join(self.folder, config, name))
        runs = self.runs(config, read, name)
        z = z_values(counts, tried, sum(runs), len(runs) * tried)
        of_fsl = [rms(z_values(run, tried, sum(runs) - run, (len(runs) - 1) * tried)) for run in runs]
        correlation = np.corrcoef(counts.ravel(), sum(runs).ravel())[0, 1]
        print(f"| {config}: {name} | {z.size} | {min(of_fsl):.2f} to {max(of_fsl):.2f} | {rms(z):.2f} | {correlation:.4f} |", flush=True)
        self.assertGreater(z.size, min_places)
        self.assertLess(rms(z), largest_rms + .2)
        self.assertLess(np.abs(z).max(), 6)

    def check_waytotal(self, config, tried):
        def read(path):
            with open(path, encoding="utf-8") as file:
                return float(np.sum([float(number) for number in file.read().split()]))
        found, runs = read(os.path.join(self.folder, config, "waytotal")), self.runs(config, read, "waytotal")
        p = (found + sum(runs)) / (tried * (1 + len(runs)))
        self.assertLess(abs(found - np.mean(runs)), 4 * np.sqrt(p * (1 - p) * tried * (1 + 1 / len(runs))))

    def test_a_tract_in_standard_space(self):  # 0.78 to 1.20
        self.check("w_xtract", "density.nii.gz", 4200, 1.20)
        self.check_waytotal("w_xtract", 4200)

    def test_spline_coefficients(self):  # 0.78 to 1.18
        self.check("w_coef", "density.nii.gz", 2800, 1.18)
        self.check_waytotal("w_coef", 2800)

    def test_targets_of_each_seed(self):  # 0.78 to 0.92, 0.83 to 1.01
        self.check("w_os2t", "fdt_paths.nii.gz", 2100, .92)
        self.check("w_os2t", "matrix_seeds_to_all_targets", 30, 1.01, np.loadtxt)

    def test_a_network(self):  # 0.76 to 0.87, 0.44 to 0.73
        self.check("w_network", "fdt_paths.nii.gz", 3164, .87)
        self.check("w_network", "fdt_network_matrix", 3164, .73, np.loadtxt, 3)
        self.check_waytotal("w_network", 3164)

    def test_surfaces_as_seeds_and_masks(self):  # 0.68 to 0.76, 0.70 to 1.32
        self.check("w_surf", "fdt_paths.nii.gz", 3225, .76)
        self.check("w_surf", "fdt_matrix1.dot", 15, 1.32, self.dot, 3)

    def test_a_reference_that_is_smaller_than_the_brain(self):  # 0.73 to 0.86
        self.check("w_cut", "fdt_paths.nii.gz", 2200, .86)

    @staticmethod
    def dot(path):
        """A sparse matrix, dense."""
        entries = np.loadtxt(path if os.path.exists(path) else path + ".gz")
        dense = np.zeros(entries[-1, :2].astype(int))
        dense[entries[:-1, 0].astype(int) - 1, entries[:-1, 1].astype(int) - 1] = entries[:-1, 2]
        return dense

    def test_absolute_and_relative_fields_without_an_intent_code_give_the_image_of_the_field_of_fnirt(self):
        expected = image(os.path.join(self.track("w_xtract")[0], "density.nii.gz"))
        relative = image(os.path.join(self.track("f_rel")[0], "density.nii.gz"))
        absolute = image(os.path.join(self.track("f_abs")[0], "density.nii.gz"))
        np.testing.assert_array_equal(relative, expected)
        # Positions have fewer digits than displacements: a point near the border of a voxel may change sides.
        self.assertLess(np.abs(absolute - expected).sum(), 1e-3 * expected.sum())

    def test_fields_that_are_each_others_inverse_are_measured_as_such(self):
        _, output = self.track("w_xtract")
        self.assertRegex(output, r"points return within 0\.0\d+ mm \(median\) and 0\.0\d+ mm \(95 %\)")
        self.assertNotIn("expected below 2 mm", output)

    def test_warps_in_place_of_each_other_are_refused(self):
        out = os.path.join(self.folder, "swapped")
        rc, _, output = voxherd("probtrackx2", "-s", "samples.bedpostX/merged", "-m", "samples.bedpostX/nodif_brain_mask", "-x",
                                "warp/seed", "--seedref=warp/ref", "--xfm=warp/diff2std", "--invxfm=warp/std2diff", "--opd", "-P", 5,
                                f"--dir={out}")
        self.assertNotEqual(rc, 0)
        self.assertIn("none of its 70 voxels has samples; does it belong to this subject, and is --xfm not the inverse one?", output)


if __name__ == "__main__":
    unittest.main()
