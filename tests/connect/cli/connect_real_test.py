"""voxherd connect on a phantom whose connections are known and on a brain: prints the numbers that it checks."""
import os
import shutil
import sys
import unittest

try:
    import nibabel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import numpy as np
import sift_phantom
from connect_jobs import ConnectJobs, Maps
from geodesic_jobs import Result

PHILIPS = os.path.join(os.environ.get("VOXHERD_DATA", ""), "philips_32dir_b1000")
REFERENCE = os.path.join(PHILIPS, "ref_mrtrix3")
LABELS = os.path.join(PHILIPS, "parcellation_derived")


@unittest.skipUnless(os.path.isdir(sift_phantom.FOLDER), "no MRtrix3 test data (VOXHERD_DATA)")
@unittest.skipUnless(shutil.which("mrconvert"), "no MRtrix3")
class SiftPhantom(ConnectJobs):
    """Two bundles, each with a region at either end."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sift = sift_phantom.convert(os.path.join(cls.shared, "sift"))

    def connectome(self, folder, *options):
        return Maps(self.make("out.h5", "--connectome", f"{self.sift}/parc.nii", "--overwrite", *options,
                              scan=self.scan(folder))).connectome

    def test_only_1_and_2_and_3_and_4_are_connected_at_the_cost_of_a_straight_path(self):
        # The regions have no signal; their neighbours in the bundles, 11 and 3 voxels of 2 mm apart, replace them.
        for options in ((), ("--order", "1"), ("--scheme", "godunov27"), ("--scheme", "hl26"), ("--metric", "inverse")):
            with self.subTest(options):
                m = self.connectome(self.sift, *options)
                joined = np.isfinite(m["cost"]) & ~np.eye(4, dtype=bool)
                np.testing.assert_array_equal(joined, sift_phantom.TRUE > 0)
                np.testing.assert_allclose(m["length_mm"][[0, 2], [1, 3]], (22, 6), rtol=1e-5)
                # One tensor fills both: costs are proportional to lengths.
                self.assertAlmostEqual(m["cost"][0, 1] / m["cost"][2, 3], 22 / 6, places=3)
                self.assertAlmostEqual(m["path_cost"][0, 1] / m["cost"][0, 1], 1, places=3)

    def test_through_grey_matter_paths_along_the_bundles_are_the_fastest(self):
        grey = sift_phantom.in_grey_matter(self.sift, self.path("grey"))
        speed = self.connectome(grey)["mean_speed"]
        print(np.array2string(speed, precision=4))
        np.testing.assert_array_equal(speed.argmax(axis=1), sift_phantom.TRUE.argmax(axis=1))
        shutil.rmtree(grey)


@unittest.skipUnless(os.path.isdir(PHILIPS), "no scan (VOXHERD_DATA)")
class Brain(ConnectJobs):
    """Tracts between labels of a parcellation, inside white matter, on two ranks."""

    def pathway(self, one, other):
        scan = os.path.join(PHILIPS, "1201_DT_HIGH_32DIR_SENSE")
        parcels = os.path.join(LABELS, "aal116_in_dwi_approx.nii.gz")
        paths = self.path("paths.h5")
        out = self.path("out.h5")
        rc, output = self.launch(
            out, "--from", parcels, "--from-labels", str(one), "--to", parcels, "--to-labels", str(other), "--smooth",
            "0.7", "--within", os.path.join(REFERENCE, "wm_mask_fa025.nii.gz"), "--paths", paths, ranks=2,
            scan=("--dwi", f"{scan}.nii.gz", "--bvals", f"{scan}.bval", "--bvecs", f"{scan}.bvec", "--mask",
                  os.path.join(REFERENCE, "brain_mask.nii.gz")))
        self.assertEqual(rc, 0, output)
        result, fibres = Maps(out), Result(paths)
        p = {name: values[0] for name, values in result.pathway.items() if len(values) == 1}
        inside = result.inside("pathway") == 1
        print(f"{one}-{other}: {len(fibres)} paths, {p['length_mm']:.1f} mm, cost {p['cost']:.0f}, gap {p['gap']:.3f}, "
              f"joined at {p['joining_excess']:.3f}, pathway of {inside.sum()} voxels")
        self.assertGreater(len(fibres), 20)
        self.assertLess(p["gap"], 0.15)
        self.assertLess(p["joining_excess"], 0.2)
        # A path costs its arrival time, up to the scheme's error.
        ratio = fibres.samples["path_cost"] / fibres.samples["cost"]
        self.assertLess(abs(np.median(ratio) - 1), 0.15)
        return p, fibres

    def test_the_motor_areas_of_both_sides_are_connected_through_the_corpus_callosum(self):
        p, fibres = self.pathway(1, 2)
        self.assertGreater(p["length_mm"], 45)
        image = nibabel.load(os.path.join(REFERENCE, "fa.nii.gz"))
        FA, inverse, crossing = image.get_fdata(), np.linalg.inv(image.affine), []
        for fibre in fibres:
            self.assertLess(fibre[0][0], 0)  # left is negative
            self.assertGreater(fibre[-1][0], 0)
            middle = fibre[np.abs(fibre[:, 0]).argmin()]
            voxel = np.rint(inverse[:3, :3] @ middle + inverse[:3, 3]).astype(int)
            crossing.append(FA[tuple(voxel)])
        # White matter has a median of 0.40 there; the callosum more.
        print(f"FA where paths cross the middle: median {np.median(crossing):.3f}, least {min(crossing):.3f}")
        self.assertGreater(np.median(crossing), 0.5)

    def test_the_callosum_is_found_by_a_threshold_of_FA_and_without_one_there_is_a_warning(self):
        scan = os.path.join(PHILIPS, "1201_DT_HIGH_32DIR_SENSE")
        parcels = os.path.join(LABELS, "aal116_in_dwi_approx.nii.gz")
        series = ("--dwi", f"{scan}.nii.gz", "--bvals", f"{scan}.bval", "--bvecs", f"{scan}.bvec", "--mask",
                  os.path.join(REFERENCE, "brain_mask.nii.gz"))
        found = {}
        for threshold in ((), ("--within-fa", "0.2")):
            out = self.path("out.h5")
            rc, output = self.launch(out, "--from", parcels, "--from-labels", "1", "--to", parcels, "--to-labels", "2",
                                     "--overwrite", *threshold, scan=series)
            self.assertEqual(rc, 0, output)
            result = Maps(out)
            FA = result.pathway["mean_FA"][np.abs(result.pathway["epsilon"] - 0.05).argmin()]
            found[len(threshold)] = result.pathway["length_mm"].item(), FA, "outside white matter" in output
            print(f"{threshold}: cost {result.pathway['cost'].item():.1f}, {found[len(threshold)]}")
        (anywhere, low, warned), (white, high, warned_again) = found[0], found[2]
        self.assertEqual((warned, warned_again), (True, False))
        self.assertLess(anywhere, 30)  # over the fissure
        self.assertLess(low, 0.25)
        # The mask of FA above 0.25 gives 63.5 mm and 0.494.
        self.assertTrue(55 < white < 72, white)
        self.assertGreater(high, 0.4)

    def test_motor_area_and_thalamus_are_connected_on_one_side(self):
        p, fibres = self.pathway(1, 77)
        self.assertTrue(25 < p["length_mm"] < 60)
        for fibre in fibres:
            self.assertGreater(fibre[0][2] - fibre[-1][2], 15)
            self.assertLess(fibre[:, 0].max(), 0)

    def test_the_frontal_and_temporal_lobes_are_connected_on_one_side(self):
        # Inferior frontal operculum and middle temporal gyrus on the left: the ends of the arcuate fasciculus.
        p, fibres = self.pathway(11, 85)
        self.assertTrue(40 < p["length_mm"] < 120)
        for fibre in fibres:
            self.assertLess(fibre[:, 0].max(), 0)
            self.assertGreater(fibre[0][1], fibre[-1][1])


if __name__ == "__main__":
    unittest.main()
