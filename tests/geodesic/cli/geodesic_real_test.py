"""Geodesics and streamlines of real scans: how far they spread from the corpus callosum (van Aart 2011, Figure 3), how
close streamlines come to MRtrix3's, and a physical phantom with known bundles. Prints the numbers it judges."""
import os
import shutil
import sys
import tempfile
import unittest

try:
    import h5py
    import nibabel
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import run

DATA = os.environ.get("VOXHERD_DATA", "")
PHILIPS = os.path.join(DATA, "philips_32dir_b1000")
REFERENCE = os.path.join(PHILIPS, "ref_mrtrix3")
FIBERCUP = os.path.join(DATA, "fibercup")


class Fibres:
    """Contents of a result, in the order of fibre numbers."""

    def __init__(self, path):
        with h5py.File(path) as file:
            cells = file["VTKHDF/CellData"]
            order = numpy.argsort(cells["fibre"][()])
            points, offsets = file["VTKHDF/Points"][()].astype(float), file["VTKHDF/Offsets"][()]
            self.lines = [points[offsets[i]:offsets[i + 1]] for i in order]
            self.row = {name: values[()][order] for name, values in cells.items()}
            self.count = file["connectome/count"][()].astype(int) if "connectome" in file else None

    def __len__(self):
        return len(self.lines)


class Grid:
    def __init__(self, path):
        image = nibabel.load(path)
        self.values, self.affine, self.shape = image.get_fdata(), image.affine, image.shape[:3]
        self.voxel_ml = abs(numpy.linalg.det(self.affine[:3, :3])) / 1000

    def voxels(self, points):
        """(n, 3) world mm -> (n, 3) index of the nearest voxel."""
        inverse = numpy.linalg.inv(self.affine)
        index = numpy.rint(points @ inverse[:3, :3].T + inverse[:3, 3]).astype(int)
        return numpy.clip(index, 0, numpy.array(self.shape) - 1)

    def at(self, points):
        return self.values[tuple(self.voxels(points).T)]

    def world(self, index):
        return index @ self.affine[:3, :3].T + self.affine[:3, 3]

    def memory_order(self, points):
        """The program's numbering of seeds: by voxel, x fastest."""
        return numpy.argsort(numpy.ravel_multi_index(self.voxels(points).T[::-1], self.shape[::-1]), kind="stable")

    def density(self, lines):
        """Number of lines per voxel, each line counted once."""
        found = numpy.zeros(self.shape)
        for line in lines:
            found[tuple(numpy.unique(self.voxels(line), axis=0).T)] += 1
        return found


def largest_component(mask):
    left, best = {tuple(v) for v in numpy.argwhere(mask)}, []
    while left:
        part = [left.pop()]
        for x, y, z in part:
            near = {(x - 1, y, z), (x + 1, y, z), (x, y - 1, z), (x, y + 1, z), (x, y, z - 1), (x, y, z + 1)} & left
            left -= near
            part.extend(near)
        best = max(best, part, key=len)
    return best


class InFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_geodesic_real_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def track(cls, *words):
        run("geodesic", *words, "--backend", "cpu", "--threads", "2", "--out", cls.at("fibres.h5"), "--overwrite")
        return Fibres(cls.at("fibres.h5"))


@unittest.skipUnless(os.path.isdir(PHILIPS), "no folder of real scans (VOXHERD_DATA)")
class Brain(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        scan, mask = os.path.join(PHILIPS, "1201_DT_HIGH_32DIR_SENSE"), os.path.join(REFERENCE, "brain_mask.nii.gz")
        run("tensor", "--dwi", f"{scan}.nii.gz", "--bvals", f"{scan}.bval", "--bvecs", f"{scan}.bvec", "--mask", mask,
            "--threads", "2", "--out", cls.at("tensor.h5"))
        cls.tensors = ["--tensor", cls.at("tensor.h5"), "--mask", mask]
        cls.mask = Grid(mask)
        cls.white = Grid(os.path.join(REFERENCE, "wm_mask_fa025.nii.gz"))

    def from_points(self, points, *words):
        """Streamlines with the options used for MRtrix3's (its README; at most 100 voxels)."""
        points = points[self.mask.memory_order(points)]
        numpy.savetxt(self.at("seeds.txt"), points, fmt="%.5f")
        fibres = self.track(*self.tensors, "--form", "streamline", "--seed-points", self.at("seeds.txt"), "--step", "0.5",
                            "--min-fa", "0.15", "--max-length", "197", "--output-step", "0.5", *words)
        return points, fibres


class Callosum(Brain):
    """The paper's Figure 3: from the corpus callosum, geodesics spread further to the sides than streamlines do."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tensor = Grid(os.path.join(REFERENCE, "dt_wls_iter2.nii.gz"))  # xx, yy, zz, xy, xz, yz along world axes
        fa = Grid(os.path.join(REFERENCE, "fa.nii.gz")).values
        index = numpy.argwhere(fa > 0.5)
        index = index[abs(tensor.world(index)[:, 0]) < 4]
        matrix = tensor.values[tuple(index.T)][:, [[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
        axis = numpy.linalg.eigh(matrix)[1][..., -1]
        middle = numpy.zeros(fa.shape, numpy.uint8)
        middle[tuple(index[abs(axis[:, 0]) > 0.8].T)] = 1
        callosum = largest_component(middle)
        middle[:] = 0
        middle[tuple(numpy.transpose(callosum))] = 1
        nibabel.save(nibabel.Nifti1Image(middle, tensor.affine), cls.at("callosum.nii"))
        cls.seeds = ["--seed-image", cls.at("callosum.nii"), "--seeding", "random", "--seeds-per-voxel", "10"]
        cls.seed_count = 10 * len(callosum)
        cls.labels = Grid(os.path.join(PHILIPS, "parcellation_derived", "aal116_in_dwi_approx.nii.gz"))

    def spread(self, name, *words):
        """As many fibres as there are seeds: median and 95 % quantile of the ends' |x| in mm, visited ml, labels."""
        fibres = self.track(*self.tensors, *self.seeds, "--rays", "two-way", *words)
        chosen = numpy.random.default_rng(3).permutation(len(fibres))[:self.seed_count]
        self.assertEqual(len(chosen), self.seed_count)
        lines = [fibres.lines[i] for i in chosen]
        ends = numpy.concatenate([[line[0], line[-1]] for line in lines])
        found = {"median": numpy.median(abs(ends[:, 0])), "p95": numpy.percentile(abs(ends[:, 0]), 95),
                 "ml": (self.labels.density(lines) > 0).sum() * self.labels.voxel_ml,
                 "labels": len(set(self.labels.at(ends)) - {0}),
                 "length": numpy.median(fibres.row["length_mm"][chosen])}
        print("%-42s |x| of ends %4.1f (p95 %4.1f) mm, %6.1f ml visited, ends in %3d of 116 labels, length %3.0f mm" %
              (name, *found.values()))
        return found

    def test_geodesics_reach_further_to_the_sides_than_streamlines_from_the_same_seeds(self):
        cone = ["--direction-set", "cone", "--cone", "30", "--directions", "4"]
        print(f"\ncorpus callosum, {self.seed_count} seeds and as many fibres of each kind; all end at the brain's edge")
        line = self.spread("streamlines, FA > 0.15", "--form", "streamline", "--min-fa", "0.15")
        same = self.spread("inverse, cone, FA > 0.15", *cone, "--min-fa", "0.15")
        self.spread("inverse, sphere, FA > 0.15", "--directions", "4", "--min-fa", "0.15")
        self.spread("adjugate, cone, FA > 0.15", "--metric", "adjugate", *cone, "--min-fa", "0.15")
        free = self.spread("adjugate, cone, any FA", "--metric", "adjugate", *cone)
        for what in ("median", "p95", "ml", "labels"):
            self.assertGreater(same[what], 1.2 * line[what], what)
        # The adjugate's leave the white matter after 3 cm, within the streamlines' range; they go further with the
        # paper's only stopping rule, the edge.
        for what in ("median", "p95", "ml", "labels"):
            self.assertGreater(free[what], 1.2 * line[what], what)


@unittest.skipUnless(os.path.isdir(PHILIPS), "no folder of real scans (VOXHERD_DATA)")
class Streamlines(Brain):
    """Against 1000 streamlines of MRtrix3 (tckgen -algorithm Tensor_Det), which interpolates the signal, not tensors."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.theirs = [numpy.array(line, float) for line in nibabel.streamlines.load(
            os.path.join(REFERENCE, "tensor_det_1000.tck")).streamlines]

    def test_bundles_overlap_as_much_as_with_other_seeds(self):
        random = numpy.random.default_rng(7)
        index = numpy.argwhere(self.white.values > 0)
        index = index[random.integers(len(index), size=6000)] + random.uniform(-0.5, 0.5, (6000, 3))
        fibres = self.from_points(self.white.world(index), "--min-length", "20")[1]
        chosen = [fibres.lines[i] for i in random.permutation(len(fibres))]
        count = len(self.theirs)
        sets = [chosen[i:i + count] for i in range(0, 5 * count, count)]
        self.assertEqual([len(part) for part in sets], 5 * [count])
        density = [self.white.density(lines) for lines in sets]
        reference = self.white.density(self.theirs)

        def judged(a, b):
            return 2 * numpy.minimum(a, b).sum() / (a + b).sum(), numpy.corrcoef(a.ravel(), b.ravel())[0, 1]

        ours = numpy.array([judged(density[i], density[j]) for i in range(5) for j in range(i)])
        both = numpy.array([judged(part, reference) for part in density])
        print("\n%d streamlines, visits of 1.75 x 1.75 x 2.5 mm voxels: weighted Dice %.3f (%.3f among ours), "
              "correlation %.3f (%.3f)" % (count, both[:, 0].mean(), ours[:, 0].mean(), both[:, 1].mean(),
                                           ours[:, 1].mean()))
        numpy.testing.assert_allclose(both.mean(0), ours.mean(0), rtol=0.1)
        length = [[numpy.linalg.norm(numpy.diff(line, axis=0), axis=1).sum() for line in lines]
                  for lines in (chosen, self.theirs)]
        print("length, quartiles in mm: ours %.0f %.0f %.0f, theirs %.0f %.0f %.0f" % (
            *numpy.percentile(length[0], (25, 50, 75)), *numpy.percentile(length[1], (25, 50, 75))))
        numpy.testing.assert_allclose(numpy.median(length[0]), numpy.median(length[1]), rtol=0.15)

    def test_from_the_middle_of_theirs_our_streamlines_follow_the_same_path(self):
        middle = numpy.array([line[len(line) // 2] for line in self.theirs])
        inside = numpy.flatnonzero(self.mask.at(middle) > 0)
        order = inside[self.mask.memory_order(middle[inside])]
        seeds, fibres = self.from_points(middle[order])
        numpy.testing.assert_array_equal(seeds, middle[order])
        apart, covered = [], []
        for number, ours in zip(fibres.row["fibre"], fibres.lines):
            theirs = self.theirs[order[number]]
            between = numpy.linalg.norm(theirs[:, None] - ours[None], axis=2)
            apart.append((between.min(0).mean() + between.min(1).mean()) / 2)
            covered.append((between.min(1) < 1.75).mean())
        print("\n%d of 1000 begun midway: mean distance %.2f mm (median; quartiles %.2f, %.2f), %.1f %% of their points "
              "within 1.75 mm of ours" % (len(fibres), numpy.median(apart), *numpy.percentile(apart, (25, 75)),
                                          100 * numpy.mean(covered)))
        self.assertGreater(len(fibres), 980)
        self.assertLess(numpy.median(apart), 1.75)  # the shorter side of a voxel
        self.assertGreater(numpy.mean(covered), 0.75)


@unittest.skipUnless(os.path.isdir(FIBERCUP), "no folder of real scans (VOXHERD_DATA)")
class Phantom(InFolder):
    """FiberCup: three slices of fibres between plates, FA about 0.1. Ends of three bundles, known from its drawing: the
    U at the lower left, and the arm at the upper left, which runs down to the left foot."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.mask = Grid(os.path.join(FIBERCUP, "masks", "wm_3x3x3.nii.gz"))
        labels = numpy.zeros(cls.mask.shape, numpy.uint8)
        labels[10:14, 21:27], labels[12:16, 14:20] = 1, 2  # the U's ends
        labels[10:15, 36:42], labels[22:31, 5:10] = 3, 4  # the arm's and the foot's
        labels[19:25, 46:51], labels[40:45, 46:51] = 5, 6  # two ends at the top that nothing joins to the U
        labels[cls.mask.values == 0] = 0
        nibabel.save(nibabel.Nifti1Image(labels, cls.mask.affine), cls.at("ends.nii"))
        dwi = os.path.join(FIBERCUP, "dwi")
        cls.scan = ["--dwi", f"{dwi}/acq-averaged_b-1500.nii.gz", "--bvals", f"{dwi}/bvals_1500", "--bvecs",
                    f"{dwi}/bvecs_fsl", "--mask", os.path.join(FIBERCUP, "masks", "wm_3x3x3.nii.gz")]

    def inside(self, fibres):
        return numpy.mean([(self.mask.at(line) > 0).mean() for line in fibres.lines])

    def test_streamlines_connect_only_the_ends_of_bundles(self):
        fibres = self.track(*self.scan, "--form", "streamline", "--min-fa", "0.05", "--seed-image",
                            os.path.join(FIBERCUP, "masks", "wm_3x3x3.nii.gz"), "--seeding", "grid",
                            "--seeds-per-voxel", "2", "--connectome", self.at("ends.nii"))
        print("\nFiberCup, streamlines between ends:", *fibres.count.tolist(), "in the mask: %.4f" % self.inside(fibres))
        numpy.testing.assert_array_equal(fibres.count, fibres.count.T)
        self.assertGreater(fibres.count[0, 1], 100)
        self.assertGreater(fibres.count[2, 3], 100)
        self.assertEqual(fibres.count[:2, 2:].sum(), 0)  # nothing leaves the U
        self.assertGreater(self.inside(fibres), 0.99)

    def test_geodesics_follow_the_u_with_a_sharp_metric(self):
        found = {}
        for alpha in ("1", "8"):
            fibres = self.track(*self.scan, "--metric", "power", "--alpha", alpha, "--direction-set", "cone", "--cone",
                                "30", "--directions", "1000", "--seed-image", self.at("ends.nii"), "--seed-labels", "1",
                                "--targets", self.at("ends.nii"), "--target-labels", "2")
            found[alpha] = fibres
            print("\nFiberCup, U, alpha %s: %d geodesics" % (alpha, len(fibres)))
        length = found["8"].row["length_mm"]
        gap = numpy.linalg.norm([line[-1] - line[0] for line in found["8"].lines], axis=1)
        print("length %.0f to %.0f mm, median %.0f; their ends %.0f mm apart; in the mask: %.4f" % (
            length.min(), length.max(), numpy.median(length), numpy.median(gap), self.inside(found["8"])))
        self.assertGreater(len(found["8"]), 100)
        self.assertGreater(numpy.median(length / gap), 1.5)  # around the bend, not across
        self.assertGreater(self.inside(found["8"]), 0.99)
        # The least anisotropic metric's geodesics are nearly straight and leave the three slices first.
        self.assertLess(10 * len(found["1"]), len(found["8"]))


if __name__ == "__main__":
    unittest.main()
