"""voxherd phantom dwi --geometry: the truth of bundles from a geometry file, against hand-made cases and other people's."""
import json
import os
import shutil
import sys
import tempfile
import unittest

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import files_below, run

DATA = os.environ.get("VOXHERD_DATA", "")
CHALLENGE = os.path.join(DATA, "phantomas", "examples", "isbi_challenge_2013.txt")
REFERENCE = os.path.join(DATA, "isbi2013")
CROSSING = {"fiber_geometries": {
    "along x": {"control_points": [-20, 0, 0, 20, 0, 0], "radius": 5},
    "60 degrees": {"control_points": [-10, -17.3205, 0, 10, 17.3205, 0], "radius": 5, "tangents": "symmetric"}},
    "isotropic_regions": {"water": {"radius": 5, "center": [0, 0, 13]}}}


class GeometryPhantom(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make(self, name, geometry, *options, **more):
        path = geometry
        if not isinstance(geometry, str):
            path = self.path("geometry.txt")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(geometry, file)
        return run("phantom", "dwi", "--geometry", path, "--out", self.path(name), "--threads", "2", *options, **more)

    def image(self, *names):
        return nibabel.load(self.path(*names)).get_fdata()

    def world(self, *names):
        """The image with x ascending from left to right, as the geometry has it."""
        return self.image(*names)[::-1]

    def test_truth_of_two_crossing_bundles(self):
        self.make("p", CROSSING, "--noise", "none")
        fibres = self.world("p", "truth", "fibres.nii.gz")
        self.assertEqual(fibres.shape, (20, 20, 20))
        self.assertEqual(fibres[10, 10, 10], 2)
        self.assertEqual(fibres[18, 10, 10], 1)
        self.assertEqual(fibres[10, 10, 18], 0)
        first, second = (self.world("p", "truth", f"dyads{j}.nii.gz")[10, 10, 10] * [-1, 1, 1] for j in (1, 2))
        self.assertAlmostEqual(abs(first @ second), 0.5, places=4)
        self.assertAlmostEqual(self.world("p", "truth", "f1.nii.gz")[10, 10, 10], 0.5, places=5)
        self.assertAlmostEqual(self.world("p", "truth", "f1.nii.gz")[17, 10, 10], 1, places=5)
        self.assertEqual(self.world("p", "truth", "fluid.nii.gz")[10, 10, 16], 1)
        self.assertEqual(self.world("p", "truth", "scored.nii.gz")[10, 10, 16], 0)
        white, fluid = self.world("p", "truth", "white.nii.gz"), self.world("p", "truth", "fluid.nii.gz")
        self.assertLessEqual((white + fluid).max(), 1 + 1e-6)
        # A tube of 5 mm in voxels of 2 mm: the volume of its cross-section, away from the crossing.
        self.assertAlmostEqual(white[1].sum() * 4, np.pi * 25, delta=0.02 * np.pi * 25)

    def test_ends_and_centre_lines(self):
        self.make("p", CROSSING)
        with open(self.path("p", "truth", "bundles.json"), encoding="utf-8") as file:
            truth = json.load(file)
        self.assertEqual([b["name"] for b in truth["bundles"]], ["along x", "60 degrees"])
        self.assertEqual([b["ends"] for b in truth["bundles"]], [[1, 2], [3, 4]])
        line = np.array(truth["bundles"][0]["centre_line_mm"])
        np.testing.assert_allclose(line[[0, -1]], [[-20, 0, 0], [20, 0, 0]], atol=1e-9)
        np.testing.assert_allclose(line[:, 1:], 0, atol=1e-9)
        ends = self.world("p", "truth", "ends.nii.gz")
        self.assertEqual(ends[0, 10, 10], 1)
        self.assertEqual(ends[19, 10, 10], 2)
        self.assertEqual(ends[10, 10, 10], 0)
        self.assertEqual(set(np.unique(ends)), {0, 1, 2, 3, 4})

    def test_bundles_that_start_together_share_an_end(self):
        shared = {"fiber_geometries": {"a": {"control_points": [-20, 0, 0, 20, 0, 0], "radius": 3},
                                       "b": {"control_points": [-20, 0, 0, 0, 20, 0], "radius": 3}}}
        self.make("p", shared)
        with open(self.path("p", "truth", "bundles.json"), encoding="utf-8") as file:
            self.assertEqual([b["ends"] for b in json.load(file)["bundles"]], [[1, 2], [1, 3]])

    def test_signal_decays_along_the_bundle_in_the_frame_of_the_bvecs(self):
        oblique = {"fiber_geometries": {"one": {"control_points": [-12, -16, 0, 12, 16, 0], "radius": 8}}}
        self.make("p", oblique, "--noise", "none", "--directions", "60", "--bvalues", "3000", "--b0", "1")
        data, g = self.world("p", "data.nii")[10, 10, 10], np.loadtxt(self.path("p", "bvecs"))
        smallest = g[:, 1:][:, np.argmin(data[1:])] * [-1, 1, 1]
        self.assertGreater(abs(smallest @ [0.6, 0.8, 0]), 0.95)
        self.assertAlmostEqual(data[0], 800, delta=0.1)

    def test_protocol_from_files(self):
        for name, text in (("b", "0 700 2000\n"), ("v", "0 1 0\n0 0 1\n0 0 0\n")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        self.make("p", CROSSING, "--bvals", self.path("b"), "--bvecs", self.path("v"), "--voxel-size", "4")
        self.assertEqual(self.image("p", "data.nii").shape, (10, 10, 10, 3))
        np.testing.assert_allclose(np.loadtxt(self.path("p", "bvals")), [0, 700, 2000])
        done = self.make("q", CROSSING, "--bvals", self.path("b"), "--bvecs", self.path("v"), "--b0", "2", expect=2)
        self.assertIn("omit --bvalues, --directions and --b0", done.stderr)

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        self.make("one", CROSSING)
        self.make("three", CROSSING, ranks=3)
        for name in files_below(self.path("one")):
            with open(self.path("one", name), "rb") as a, open(self.path("three", name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)

    def test_wrong_geometry_is_named(self):
        one = CROSSING["fiber_geometries"]["along x"]
        for change, expected in [({"control_points": [1, 2, 3]}, "expected 3 for each of at least 2 points"),
                                 ({"control_points": [1, 0, 0, 1, 0, 0]}, "two consecutive points are the same"),
                                 ({"control_points": [0, 0, 0, 1, 0, 0]}, "must be on the sphere"),
                                 ({"control_points": "x"}, "control_points is missing"),
                                 ({"radius": -1}, "found -1, expected a length above 0 mm"),
                                 ({"tangents": "sideways"}, "expected symmetric, incoming or outgoing")]:
            done = self.make("p", {"fiber_geometries": {"bad one": {**one, **change}}}, expect=65)
            self.assertIn("bad one: ", done.stderr)
            self.assertIn(expected, done.stderr)
        self.assertIn("fiber_geometries", self.make("p", {}, expect=65).stderr)
        with open(self.path("text"), "w", encoding="utf-8") as file:
            file.write("{'fiber_geometries'")
        self.assertIn("is not JSON", self.make("p", self.path("text"), expect=65).stderr)
        self.assertIn("nowhere", self.make("p", self.path("nowhere"), expect=66).stderr)
        self.assertIn("--geometry", self.make("p", CROSSING, "--fibres", "2", expect=2).stderr)

    @unittest.skipUnless(os.path.isfile(CHALLENGE) and os.path.isdir(REFERENCE), "no ISBI 2013 phantom (VOXHERD_DATA)")
    def test_truth_of_the_isbi_2013_challenge(self):
        """Against a truth made by phantomas' own code, in the same grid."""
        reference = lambda name: np.asanyarray(nibabel.load(os.path.join(REFERENCE, name + ".nii.gz")).dataobj)
        self.make("p", CHALLENGE, "--directions", "6", "--bvalues", "1000", "--b0", "1")
        np.testing.assert_array_equal(self.world("p", "nodif_brain_mask.nii.gz"), reference("mask"))
        scored = reference("scored") > 0
        self.assertLess((scored != self.world("p", "truth", "scored.nii.gz")).sum(), 20)  # of 7,719
        count = reference("truth_nfibres")
        np.testing.assert_array_equal(self.world("p", "truth", "fibres.nii.gz")[scored], count[scored])
        directions = reference("truth_dirs_x10000_world").reshape(count.shape + (4, 3)) / 1e4
        shares = reference("truth_fractions_x200") / 200
        found = np.stack([self.world("p", "truth", f"dyads{j}.nii.gz") * [-1, 1, 1] for j in (1, 2, 3, 4)], -2)
        found_shares = np.stack([self.world("p", "truth", f"f{j}.nii.gz") for j in (1, 2, 3, 4)], -1)
        # Rounding can swap two fibres of the same share: each true fibre is compared with the nearest one.
        cosines = np.abs(np.einsum("vic,vjc->vij", directions[scored], found[scored]))
        partner = cosines.argmax(-1)
        exists = np.arange(4) < count[scored][:, None]
        degrees = np.degrees(np.arccos(np.clip(cosines.max(-1)[exists], 0, 1)))
        self.assertLess(np.median(degrees), 0.2)
        self.assertLess(np.percentile(degrees, 99), 1)
        errors = np.abs(np.take_along_axis(found_shares[scored], partner, -1) - shares[scored])[exists]
        self.assertLess(np.percentile(errors, 99), 0.03)
        ends = reference("rois")
        self.assertLess((self.world("p", "truth", "ends.nii.gz") != ends).sum(), 0.01 * (ends > 0).sum())
        with open(self.path("p", "truth", "bundles.json"), encoding="utf-8") as file:
            truth = json.load(file)
        with open(os.path.join(REFERENCE, "bundles.json"), encoding="utf-8") as file:
            expected = json.load(file)
        self.assertEqual([b["ends"] for b in truth["bundles"]], expected["pairs"])
        for bundle in truth["bundles"]:
            line = expected["centre_lines_mm"][bundle["name"]]
            np.testing.assert_allclose(np.array(bundle["centre_line_mm"])[::3], line, atol=0.01)


if __name__ == "__main__":
    unittest.main()
