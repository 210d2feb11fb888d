"""What voxherd geodesic writes, read by others and worked out again: points, regions, matrices, the choice of distinct
fibres; the same fibres in a tilted, anisotropic image; MRtrix3's SIFT phantom, whose connections are known."""
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
from geodesic_jobs import ENDS, GeodesicJobs, Result
from toy_jobs import h5py, voxherd

try:
    import vtkmodules.all as vtk
    from vtkmodules.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk = None

VOXEL_MM = 2.5
STEP_MM = VOXEL_MM / 2
ROUNDING_MM = 1e-3


def along(fibre):
    return np.linalg.norm(np.diff(fibre, axis=0), axis=1)


def sketch(fibre, points=12):
    """The given number of points, spread evenly over the steps of a fibre that was written with all points."""
    return fibre[np.arange(points) * (len(fibre) - 1) // (points - 1)]


def mdf(a, b):
    """Garyfallidis 2012: the smaller of the mean point distances, forward and reversed."""
    return min(np.linalg.norm(a - other, axis=1).mean() for other in (b, b[::-1]))


class Labels:
    def __init__(self, path):
        image = nibabel.load(path)
        self.values, self.to_voxel = image.get_fdata().astype(int), np.linalg.inv(image.affine)

    def at(self, world):
        index = np.rint(world @ self.to_voxel[:3, :3].T + self.to_voxel[:3, 3]).astype(int)
        return self.values[tuple(index.T)]

    def distance_to_a_face(self, world):
        """In voxels."""
        index = world @ self.to_voxel[:3, :3].T + self.to_voxel[:3, 3]
        return (0.5 - np.abs(index - np.rint(index))).min()


class Written(GeodesicJobs):
    def two_way(self, *options, ranks=1):
        return Result(self.make("two.h5", "--seed-image", self.ends, "--connectome", self.ends, "--smooth", "0.7",
                                "--measure", "relative", *options, ranks=ranks))

    def one_way(self, *options, smooth="0.7"):
        return Result(self.make("one.h5", "--seed-image", self.ends, "--targets", self.ends, "--smooth", smooth, *options))

    def test_fibres_begin_and_end_in_the_regions_that_they_name(self):
        labels = Labels(self.ends)
        one, two = self.one_way("--output-step", "0.01"), self.two_way("--output-step", "0.01")
        self.assertGreater(len(one), 1000)
        self.assertGreater(len(two), 100)
        three_ranks = self.two_way("--output-step", "0.01", "--overwrite", ranks=3)
        np.testing.assert_array_equal(three_ranks.position, two.position)
        fourth_order = Result(self.make("fourth.h5", "--seed-image", self.ends, "--targets", self.ends, "--form",
                                        "finsler4", "--output-step", "0.01"))
        self.assertGreater(len(fourth_order), 100)
        for result in (one, two, fourth_order):
            for i, fibre in enumerate(result):
                first, last = result.samples["regions"][i]
                self.assertEqual(last, labels.at(fibre[-1:])[0])
                self.assertLess(labels.distance_to_a_face(fibre[-1]), 1e-4)
                if result is not two:
                    self.assertEqual(first, labels.at(fibre[:1])[0])
                    self.assertFalse(set(labels.at(fibre[1:-1])) - {0, first})
                else:
                    self.assertEqual(first, labels.at(fibre[:1])[0])

    def test_points_have_the_requested_distance(self):
        for wanted in (STEP_MM, 4.0):
            result = self.one_way("--output-step", str(wanted), "--overwrite")
            for i, fibre in enumerate(result):
                pieces, length = along(fibre), float(result.samples["length_mm"][i])
                expected = min(int(np.ceil(length / wanted)), result.samples["steps"][i].sum())
                self.assertEqual(len(pieces), max(1, expected))
                self.assertLess(pieces.max(), wanted + 1.6 * STEP_MM)  # whole steps
                self.assertLessEqual(pieces.sum(), length * (1 + 1e-5))
                if wanted == STEP_MM:
                    self.assertGreater(pieces.sum(), 0.95 * length)

    def test_no_step_is_too_long_and_relative_speeds_stay_below_one(self):
        # Sharp edges, sharpened: there steps became twenty times too long.
        result = self.one_way("--metric", "jeong", "--alpha", "3", "--output-step", "0.01", smooth="0")
        self.assertGreater(len(result), 20)
        for i, fibre in enumerate(result):
            self.assertLess(along(fibre).max(), 2.001 * STEP_MM)
        for name in ("relative", "weakest"):
            self.assertLessEqual(result.samples[name].max(), 1 + 1e-5)
        self.assertLessEqual(result.points["relative_speed"].max(), 1)
        self.assertIn("degenerate field", self.output)

    def test_matrices_match_the_fibres(self):
        for result, directed in ((self.two_way(), False), (self.one_way(), True)):
            table, labels = result.connectome, result.connectome["labels"].astype(int).tolist()
            self.assertEqual(labels, [0, *ENDS] if directed else ENDS)
            regions = result.samples["regions"] if directed else result.pairs()
            self.assertEqual(table["count"].sum() if directed else np.triu(table["count"]).sum(), len(result))
            self.assertGreater((table["count"] > 0).sum(), 30)
            for i, a in enumerate(labels):
                for j, b in enumerate(labels):
                    pair = (a, b) if directed else tuple(sorted((a, b)))
                    joined = (regions == pair).all(axis=1)
                    self.assertEqual(table["count"][i, j], joined.sum())
                    measure, length = result.samples["measure"][joined], result.samples["length_mm"][joined]
                    self.assertEqual(table["best_measure"][i, j], measure.max() if joined.any() else 0)
                    for name, values in (("mean_measure", measure), ("mean_length_mm", length)):
                        mean = values.mean(dtype=float) if joined.any() else 0
                        self.assertAlmostEqual(table[name][i, j], mean, delta=1e-6 * mean)
            if not directed:
                for name in ("count", "best_measure", "mean_measure", "mean_length_mm"):
                    np.testing.assert_array_equal(table[name], table[name].T)

    def test_the_chosen_fibres_are_the_best_that_are_far_enough_apart(self):
        distance, top = 4.0, 6
        every = self.two_way("--output-step", "0.01")
        chosen = Result(self.make("chosen.h5", "--seed-image", self.ends, "--connectome", self.ends, "--smooth", "0.7",
                                  "--measure", "relative", "--distinct", str(distance), "--top", str(top),
                                  "--output-step", "0.01"))
        pairs, several = chosen.pairs(), 0
        measure = chosen.samples["measure"]
        for pair in np.unique(pairs, axis=0):
            here = np.flatnonzero((pairs == pair).all(axis=1))
            self.assertLessEqual(len(here), top)
            self.assertTrue((np.diff(measure[here]) <= 0).all())
            sketches = [sketch(chosen[i]) for i in here]
            apart = [mdf(a, b) for n, a in enumerate(sketches) for b in sketches[:n]]
            several += len(apart)
            self.assertTrue(all(d > distance - ROUNDING_MM for d in apart), apart)
            # No omitted fibre is both better than the last one and far from all kept ones.
            others = np.flatnonzero((every.pairs() == pair).all(axis=1))
            self.assertEqual(measure[here[0]], every.samples["measure"][others].max())
            for i in others:
                if len(here) < top or every.samples["measure"][i] > measure[here[-1]]:
                    near = min(mdf(sketch(every[i]), s) for s in sketches)
                    self.assertLess(near, distance + ROUNDING_MM)
        self.assertGreater(several, 20)
        self.assertLess(len(chosen), len(every) / 3)
        np.testing.assert_array_equal(chosen.connectome["count"], every.connectome["count"])

    def test_top_by_itself_keeps_the_best_of_each_pair(self):
        every, best = self.two_way(), Result(self.make("top.h5", "--seed-image", self.ends, "--connectome", self.ends,
                                                       "--smooth", "0.7", "--measure", "relative", "--top", "3"))
        for pair in np.unique(every.pairs(), axis=0):
            all_of_pair = np.sort(every.samples["measure"][(every.pairs() == pair).all(axis=1)])[::-1]
            kept = best.samples["measure"][(best.pairs() == pair).all(axis=1)]
            np.testing.assert_array_equal(kept, all_of_pair[:3])

    @unittest.skipIf(vtk is None, "python3-vtk9 is not installed")
    def test_vtk_opens_it_as_poly_lines(self):
        result = self.one_way("--top", "2")
        reader, errors = vtk.vtkHDFReader(), []
        reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
        reader.SetFileName(self.path("one.h5"))
        reader.Update()
        grid = reader.GetOutput()
        self.assertEqual((errors, grid.GetNumberOfCells()), ([], len(result)))
        np.testing.assert_array_equal(vtk_to_numpy(grid.GetPoints().GetData()), result.position)
        for i in range(len(result)):
            cell = grid.GetCell(i)
            self.assertEqual((cell.GetCellType(), cell.GetNumberOfPoints()), (vtk.VTK_POLY_LINE, len(result[i])))
            self.assertEqual(cell.GetPointId(0), result.offset[i])
        data = grid.GetCellData()
        np.testing.assert_array_equal(vtk_to_numpy(data.GetArray("measure")), result.samples["measure"])
        np.testing.assert_array_equal(vtk_to_numpy(data.GetArray("regions")), result.samples["regions"])

    def test_exports_have_the_same_points(self):
        result = self.one_way("--top", "2")
        for kind in ("tck", "trk"):
            rc, _, output = voxherd("export", self.path("one.h5"), "--to", kind, self.path(f"one.{kind}"))
            self.assertEqual(rc, 0, output)
            lines = nibabel.streamlines.load(self.path(f"one.{kind}")).streamlines
            self.assertEqual(len(lines), len(result))
            for line, fibre in zip(lines, result):
                np.testing.assert_allclose(line, fibre, atol=1e-4)


class Tilted(GeodesicJobs):
    """The same signals on a grid of 2 x 2.5 x 3 mm, upright, and turned with its axes stored otherwise."""

    def store(self, name, turn, axes):
        folder = self.path(name)
        os.mkdir(folder)
        affine = np.diag([-2.0, 2.5, 3.0, 1])
        affine[:3, 3] = (19, -23, -16)
        g = np.loadtxt(f"{self.toy}/bvecs")
        world = np.diag([-1, 1, 1]) @ g  # det < 0: FSL's frame is the voxel axes
        for source, target in (("data.nii", "data.nii"), ("nodif_brain_mask.nii.gz",) * 2, ("truth/ends.nii.gz", "ends.nii")):
            image = nibabel.load(f"{self.toy}/{source}")
            image = nibabel.Nifti1Image(image.get_fdata(dtype=np.float32), affine)
            ornt = nibabel.orientations.axcodes2ornt(axes)
            image = image.as_reoriented(nibabel.orientations.ornt_transform(nibabel.io_orientation(affine), ornt))
            stored = turn @ image.affine
            image.set_sform(stored, 1)
            image.set_qform(None, 0)
            nibabel.save(image, f"{folder}/{target}")
        along_axes = stored[:3, :3] / np.linalg.norm(stored[:3, :3], axis=0)
        frame = along_axes @ np.diag([-1 if np.linalg.det(along_axes) > 0 else 1, 1, 1])
        np.savetxt(f"{folder}/bvecs", frame.T @ turn[:3, :3] @ world, "%.9f")
        shutil.copy(f"{self.toy}/bvals", folder)
        return folder

    def fibres(self, folder, *options):
        out = self.make(os.path.basename(folder) + ".h5", "--seed-image", f"{folder}/ends.nii", "--targets",
                        f"{folder}/ends.nii", "--direction-set", "axis", "--rays", "one-way", "--directions", "2",
                        "--smooth", "1", "--output-step", "0.01", "--step", "1", *options, scan=self.scan(folder))
        return Result(out)

    def test_gives_the_same_fibres_when_rotated(self):
        a, b = np.radians((35, -25))
        turn = np.eye(4)
        turn[:3, :3] = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]) @ np.array(
            [[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
        turn[:3, 3] = (12, -30, 7)
        upright, tilted = self.store("upright", np.eye(4), "LAS"), self.store("tilted", turn, "PIR")
        self.assertGreater(abs(np.linalg.det(nibabel.load(f"{tilted}/data.nii").affine[:3, :3])), 14.9)
        for form, compared in (("hamiltonian", 60), ("christoffel", 60), ("streamline", 30)):
            with self.subTest(form):
                one, other = (self.fibres(f, "--form", form, "--overwrite") for f in (upright, tilted))
                self.assertEqual(len(one), len(other))
                self.assertGreater(len(one), compared)
                turned = {}
                for i in range(len(other)):
                    place = (other[i] - turn[:3, 3]) @ turn[:3, :3]
                    turned.setdefault(tuple(np.rint(place[0] * 4).astype(int)), []).append(i)
                for i, fibre in enumerate(one):
                    same_seed = turned[tuple(np.rint(fibre[0] * 4).astype(int))]
                    places = [(other[j] - turn[:3, 3]) @ turn[:3, :3] for j in same_seed
                              if len(other[j]) == len(fibre)]
                    errors = [abs(p - fibre).max() for p in places]
                    self.assertLess(min(errors), 0.01)  # mm, of fibres of tens of mm


@unittest.skipUnless(os.path.isdir(sift_phantom.FOLDER), "no MRtrix3 test data (VOXHERD_DATA)")
@unittest.skipUnless(shutil.which("mrconvert"), "no MRtrix3")
class SiftPhantom(GeodesicJobs):
    """Two bundles, each with a region at either end."""

    TRUE = sift_phantom.TRUE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sift = sift_phantom.convert(os.path.join(cls.shared, "sift"))

    def connectome(self, name, *options, scan=None):
        mask, parcels = f"{self.sift}/nodif_brain_mask.nii.gz", f"{self.sift}/parc.nii"
        return Result(self.make(name, "--seed-image", mask, "--connectome", parcels, *options,
                                scan=self.scan(scan or self.sift)))

    def test_streamlines_connect_only_1_with_2_and_3_with_4(self):
        result = self.connectome("streamline.h5", "--form", "streamline")
        voxels = 9 * np.array([[0, 12, 0, 0], [12, 0, 0, 0], [0, 0, 0, 4], [0, 0, 4, 0]])
        np.testing.assert_array_equal(result.connectome["count"], voxels)  # one through every voxel

    def test_geodesics_connect_only_1_with_2_and_3_with_4(self):
        # One tensor fills each bundle, so geodesics of any metric are straight there and fan out; the background has
        # no signal and so no tensor, and rays end at it. That alone keeps the bundles apart, without a measure. With a
        # sharpened metric rays that run straight across the end of the lower bundle (at 0.15 of the largest speed)
        # bend at its faces, where the field goes over to isotropic, and may meet the region beside them twice; ways
        # along the bundle have relative speeds above 0.23.
        for options in ((), ("--metric", "adjugate"), ("--form", "christoffel"), ("--form", "finsler4"),
                        ("--direction-set", "cone", "--cone", "15"),
                        ("--metric", "jeong", "--alpha", "3", "--measure", "relative", "--min-measure", "0.2")):
            with self.subTest(options):
                result = self.connectome("geodesic.h5", *options, "--overwrite")
                count = result.connectome["count"]
                np.testing.assert_array_equal(count > 0, self.TRUE > 0)
                self.assertGreater(count[count > 0].min(), 30)
                for fibre in result:
                    chord = fibre[-1] - fibre[0]
                    off = np.linalg.norm(np.cross(fibre - fibre[0], chord / np.linalg.norm(chord)), axis=1)
                    self.assertLess(off.max(), 2.0)  # a voxel: rays bend at the faces alone

    def test_through_grey_matter_a_sharpened_metric_ranks_the_true_connections_first(self):
        folder = sift_phantom.in_grey_matter(self.sift, self.path("grey"))
        options = ("--measure", "relative", "--direction-set", "cone", "--cone", "20")
        streamlines = self.connectome("streamline.h5", "--form", "streamline", scan=folder)
        np.testing.assert_array_equal(streamlines.connectome["count"] > 0, self.TRUE > 0)

        # The inverse of the tensor lets geodesics cut from bundle to bundle: the speed along a tract is only the root of
        # the ratio of diffusivities above that across it or through grey matter.
        plain = self.connectome("inverse.h5", *options, scan=folder)
        self.assertGreater(plain.connectome["count"][self.TRUE == 0].sum(), 0)

        # Jeong's metric cubes that ratio: each region's best way leads to its partner, and a bound on the measure leaves
        # the true ways alone (best 0.94 and 0.96; false ones at most 0.89).
        sharp = (*options, "--metric", "jeong", "--alpha", "3")
        best = self.connectome("jeong.h5", *sharp, scan=folder).connectome["best_measure"]
        np.testing.assert_array_equal(best.argmax(axis=1), self.TRUE.argmax(axis=1))
        bounded = self.connectome("bounded.h5", *sharp, "--min-measure", "0.91", scan=folder).connectome["count"]
        np.testing.assert_array_equal(bounded > 0, self.TRUE > 0)


if __name__ == "__main__":
    unittest.main()
