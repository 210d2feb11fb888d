"""voxherd track --connectome with --seed-image: regions that streamlines of other seeds pass or end in, shares, any ranks, kills, bad inputs."""
import gzip
import os
import shutil
import subprocess
import unittest

import nibabel
import numpy as np
from crafted_inputs import BAD_DATA, USAGE
from result_files import digest, h5py
from surface_files import sheet, write_surface
from toy_jobs import VOXHERD, mpirun, remaining_output, stores_from_the_start, voxherd
from track_jobs import SIZE, TrackJobs, constants

FILE_FAULTS = os.path.join(os.environ.get("VOXHERD_TEST_TOOLS", ""), "file_faults.so")


def shares(count):
    """Both directions together, over the root of the product of both sums."""
    joining = count + count.T
    np.fill_diagonal(joining, 0)
    both = np.sqrt(np.outer(joining.sum(0), joining.sum(1)))
    return np.divide(joining, both, out=np.zeros(both.shape), where=both > 0)


class Reported(TrackJobs):
    def report(self, out):
        rc, _, output = voxherd("report", out, "--out", self.path("page.html"))
        self.assertEqual(rc, 0, output)
        with open(self.path("page.html"), encoding="utf-8") as file:
            return file.read()


class PassedRegions(Reported):
    def regions(self):
        return self.mask("regions", np.s_[5, 3, 3], np.s_[10, 3:5, 3], np.s_[15, 3, 3], np.s_[10, 6, 3])

    def test_streamlines_are_counted_between_the_regions_that_they_pass(self):
        # Two rows of seeds: one passes the regions 1 to 3, the other one only region 2.
        seeds = self.mask("seeds", np.s_[7:9, 3:5, 3])
        out = self.make("out.h5", "--samples", self.samples(), "--seed-image", seeds, "--connectome", self.regions(), "--samples-per-seed", 30)
        found = constants(out, "connectome")
        self.assertEqual(sorted(found), ["count", "labels", "mean_length_mm", "share"])
        np.testing.assert_array_equal(found["labels"], [1, 2, 3, 4])
        np.testing.assert_array_equal(found["count"], [[0, 60, 60, 0], [60, 0, 60, 0], [60, 60, 0, 0], [0] * 4])
        np.testing.assert_allclose(found["share"], [[0, .5, .5, 0], [.5, 0, .5, 0], [.5, .5, 0, 0], [0] * 4])
        # Voxels of 2 mm: from the last point in region 1 on the way there to the first one in the others.
        for (a, b), mm in (((0, 1), 8), ((0, 2), 18), ((1, 2), 10)):
            self.assertAlmostEqual(found["mean_length_mm"][a, b], mm, delta=.6)
            self.assertEqual(found["mean_length_mm"][b, a], found["mean_length_mm"][a, b])
        self.assertEqual(constants(out, "streamlines")["waytotal"], 120)
        rc, _, output = voxherd("export", out, "--to", "csv", self.path("csv"))
        self.assertEqual(rc, 0, output)
        for name in ("count", "share"):
            np.testing.assert_allclose(np.loadtxt(self.path(f"csv/{name}.csv"), delimiter=","), found[name])
        page = self.report(out)
        self.assertIn("Streamlines that pass two of 4 regions were counted", page)
        self.assertIn("30 streamlines per seed voxel, steps of", page)
        self.assertIn("3 of 6 pairs of 4 regions are connected", page)
        self.assertNotIn("Rows are where paths begin", page)

    def test_shares_of_a_network_whose_regions_are_the_seeds(self):
        found = constants(self.make("out.h5", "--samples", self.scattered(), "--connectome", self.regions(), "--samples-per-seed", 200), "connectome")
        self.assertFalse(np.array_equal(found["count"], found["count"].T))
        np.testing.assert_allclose(found["share"], shares(found["count"]))

    def counted(self, labels, affine, paths):
        """The counts of the streamlines in a result of --paths, point by point."""
        with h5py.File(paths, "r") as file:
            points, offsets = file["points/position"][()], file["points/offset"][()]
        world = np.c_[points, np.ones(len(points))]
        voxels = np.floor((np.linalg.inv(affine) @ world.T).T[:, :3] + .5).astype(int)
        inside = np.all((voxels >= 0) & (voxels < labels.shape), axis=1)
        label = np.where(inside, labels[tuple(np.where(inside[:, None], voxels, 0).T)], 0)
        count = np.zeros((labels.max(),) * 2)
        for begin, end in zip(offsets, offsets[1:]):
            met = np.setdiff1d(label[begin:end], [0])
            count[np.ix_(met - 1, met - 1)] += 1
        np.fill_diagonal(count, 0)
        return count, len(offsets) - 1

    def test_a_parcellation_keeps_its_own_grid(self):
        # Voxels of 0.9 mm at an odd place.
        labels = np.zeros((60, 22, 16), int)
        labels[2:14, 3:19, 3:12], labels[20:26, 4:12, 4:12], labels[20:26, 12:18, 4:12], labels[36:50, 2:20, 2:14] = 1, 2, 3, 4
        affine = np.array([[-.9, 0, 0, 50.13], [0, .9, 0, -1.21], [0, 0, .9, -.37], [0, 0, 0, 1]])
        parcels = self.write("parcels.nii", labels, sform=affine[:3].tolist(), pixdim=(.9, .9, .9))
        seeds = self.mask("seeds", np.s_[8:16, 2:7, 2:5])
        exclude = self.mask("exclude", np.s_[:, 7, :])
        out = self.make("out.h5", "--samples", self.scattered(), "--seed-image", seeds, "--connectome", parcels, "--exclude", exclude,
                        "--samples-per-seed", 40, "--seed-radius", 1, "--paths", self.path("paths.h5"), "--max-paths", 100000)
        expected, streamlines = self.counted(labels, affine, self.path("paths.h5"))
        self.assertEqual(constants(out, "streamlines")["waytotal"], streamlines)
        self.assertGreater(expected[expected > 0].min(), 5)
        np.testing.assert_array_equal(constants(out, "connectome")["count"], expected)
        np.testing.assert_allclose(constants(out, "connectome")["share"], shares(expected))

    def test_seeds_keep_their_files_in_exports_and_reports(self):
        points, triangles = sheet(14.)
        surface = write_surface(self.path("sheet.asc"), points, triangles, np.ones(len(points)))
        samples, regions = self.samples(), self.regions()
        words = ("--samples", samples, "--connectome", regions, "--samples-per-seed", 5)
        out = self.make("out.h5", *words, "--seed-image", surface, "--targets", self.mask("target", np.s_[15, 3:6, 3:5]))
        page = self.report(out)
        self.assertIn("seeds_to_target", page)
        self.assertNotIn("is not drawn", page)
        # Two images of seeds and one parcellation; and masks of regions that are also seeds, in another order.
        a, b, c = (self.mask(name, np.s_[x, 3:5, 3]) for name, x in (("a", 8), ("b", 11), ("c", 14)))
        for name, connectome in (("one", [regions]), ("other", [c, a])):
            self.make(f"{name}.h5", "--samples", samples, "--seed-image", a, b, "--connectome", *connectome, "--samples-per-seed", 5, "--matrix1",
                      self.path(f"{name}1.h5"))
            rc, _, output = voxherd("export", self.path(f"{name}1.h5"), "--to", "cifti", self.path(f"{name}.dconn.nii"), "--structures",
                                    "THALAMUS_LEFT", "THALAMUS_RIGHT")
            self.assertEqual(rc, 0, output)
            axis = nibabel.load(self.path(f"{name}.dconn.nii")).header.get_axis(1)
            of_structure = {str(found).split("_")[-1]: set(model.voxel[:, 0]) for found, _, model in axis.iter_structures()}
            self.assertEqual(of_structure, {"LEFT": {8}, "RIGHT": {11}})

    def test_masks_are_regions_and_names_keep_empty_rows(self):
        seeds, samples = self.mask("seeds", np.s_[7, 3, 3]), self.samples()
        masks = [self.mask("a", np.s_[5, 3, 3]), self.mask("b", np.s_[15, 3, 3])]
        found = constants(self.make("masks.h5", "--samples", samples, "--seed-image", seeds, "--connectome", *masks, "--samples-per-seed", 5), "connectome")
        np.testing.assert_array_equal(found["count"], [[0, 5], [5, 0]])
        with open(self.path("names.txt"), "w", encoding="utf-8") as file:
            file.write("1 A\n2 B\n3 C\n4 D\n9 E\n")
        found = constants(self.make("names.h5", "--samples", samples, "--seed-image", seeds, "--connectome", self.regions(), "--region-names",
                                    self.path("names.txt"), "--samples-per-seed", 5), "connectome")
        self.assertEqual(found["labels"].tolist(), [1, 2, 3, 4, 9])
        self.assertEqual(found["count"].shape, (5, 5))


class Parcels(TrackJobs):
    """A connectome between regions as .pconn.nii."""

    def setUp(self):
        super().setUp()
        self.regions = self.mask("regions", np.s_[5, 3, 3], np.s_[10, 3:5, 3], np.s_[15, 3, 3])
        with open(self.path("names.txt"), "w", encoding="utf-8") as file:
            file.write("1 V1\n2 <M1>\n3 V1\n9 not here\n")
        self.words = ("--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[7:9, 3:5, 3]), "--samples-per-seed", 30)

    def export(self, result, name, *options, expect=0):
        rc, _, output = voxherd("export", result, "--to", "cifti", self.path(name), *options)
        self.assertEqual(rc, expect, output)
        return self.path(name) if expect == 0 else output

    def test_parcels_are_the_voxels_of_the_regions(self):
        out = self.make("out.h5", *self.words, "--connectome", self.regions, "--region-names", self.path("names.txt"))
        image = nibabel.load(self.export(out, "share.pconn.nii", "--matrix", "share"))
        np.testing.assert_allclose(image.get_fdata(), constants(out, "connectome")["share"], rtol=1e-6)
        axis = image.header.get_axis(0)
        self.assertEqual(axis.name.tolist(), ["V1_1", "<M1>", "V1_3", "not here"])
        self.assertEqual([sorted(map(tuple, voxels.tolist())) for voxels in axis.voxels], [[(5, 3, 3)], [(10, 3, 3), (10, 4, 3)], [(15, 3, 3)], []])
        np.testing.assert_allclose(axis.affine, nibabel.load(self.regions).affine)
        self.assertEqual(axis, image.header.get_axis(1))
        if shutil.which("wb_command"):
            subprocess.run(["wb_command", "-cifti-convert", "-to-text", self.path("share.pconn.nii"), self.path("wb.txt")], check=True)
            np.testing.assert_allclose(np.loadtxt(self.path("wb.txt")), image.get_fdata(), rtol=1e-5)

    def test_masks_are_parcels_and_count_is_the_first_matrix(self):
        masks = [self.mask("a", np.s_[5, 3, 3]), self.mask("b", np.s_[15, 3, 3])]
        out = self.make("out.h5", *self.words, "--connectome", *masks)
        with gzip.open(self.export(out, "first.pconn.nii.gz")) as file, open(self.path("first.pconn.nii"), "wb") as to:
            shutil.copyfileobj(file, to)
        image = nibabel.load(self.path("first.pconn.nii"))
        np.testing.assert_array_equal(image.get_fdata(), [[0, 60], [60, 0]])
        self.assertEqual([voxels.tolist() for voxels in image.header.get_axis(0).voxels], [[[5, 3, 3]], [[15, 3, 3]]])

    def test_mistakes_are_named(self):
        out = self.make("out.h5", *self.words, "--connectome", self.regions, "--matrix1", self.path("matrix1.h5"))
        self.assertIn("has no such matrix, only: count, share, mean_length_mm", self.export(out, "no.pconn.nii", "--matrix", "fa", expect=USAGE))
        self.assertIn("expected a name that ends in .pconn.nii", self.export(out, "no.dconn.nii", expect=USAGE))
        self.assertIn("the only option of CIFTI is --matrix", self.export(out, "no.pconn.nii", "--log", expect=USAGE))
        self.assertIn("has no matrices between regions", self.export(self.path("matrix1.h5"), "no.dconn.nii", "--matrix", "count", expect=USAGE))
        self.mask("regions", np.s_[5, 3, 3], np.s_[10, 3:5, 3], np.s_[16, 3, 3])
        self.assertIn("has changed since the result was computed", self.export(out, "no.pconn.nii", expect=BAD_DATA))
        os.remove(self.regions)
        self.assertIn("no longer exists", self.export(out, "no.pconn.nii", expect=BAD_DATA))


class RegionsAtEnds(Reported):
    RADIUS_MM = 1.5

    def options(self, *more):
        """Streamlines of which some halves do not count, end in loops or before they leave a mask twice; a parcellation with voxels of 0.9 mm."""
        labels = np.zeros((60, 22, 16), int)
        for number, (x, y) in enumerate(np.ndindex(5, 2), 1):  # gaps of four voxels between them
            labels[12 * x + 2:12 * x + 10, 11 * y + 1:11 * y + 9, 2:13] = number
        affine = np.array([[-.9, 0, 0, 50.13], [0, .9, 0, -1.21], [0, 0, .9, -.37], [0, 0, 0, 1]])
        parcels = self.write("parcels.nii", labels, sform=affine[:3].tolist(), pixdim=(.9, .9, .9))
        exclude, once = self.mask("exclude", np.s_[:, 7, :], np.s_[2:4, 3:5, :]), self.mask("once", np.s_[6:10, 2:5, :])
        return labels, affine, ("--samples", self.scattered(), "--seed-image", self.mask("seeds", np.s_[8:16, 2:7, 2:5]), "--connectome", parcels,
                                "--exclude", exclude, "--walk-through-stop", once, "--samples-per-seed", 40, "--seed-radius", 1, "--loop-check", "on",
                                "--join-regions", "ends", "--end-radius", self.RADIUS_MM, "--paths", self.path("paths.h5"), "--max-paths", 100000,
                                *more)

    def find_regions(self, labels, affine, ends):
        """The label of each end's voxel, else that of the nearest voxel with one closer than the radius; 0: none."""
        centres = np.argwhere(labels > 0)
        of_centre = labels[tuple(centres.T)]
        world = centres @ affine[:3, :3].T + affine[:3, 3]
        found = []
        for end in ends:
            voxel = np.floor(np.linalg.inv(affine[:3, :3]) @ (end - affine[:3, 3]) + .5).astype(int)
            own = labels[tuple(voxel)] if np.all((voxel >= 0) & (voxel < labels.shape)) else 0
            square = ((world - end)**2).sum(1)
            nearest = square.argmin()
            found.append(own or (of_centre[nearest] if square[nearest] < self.RADIUS_MM**2 else 0))
        return np.array(found)

    def expect(self, labels, affine):
        """Counts and mean lengths of the streamlines in the result of --paths."""
        with h5py.File(self.path("paths.h5"), "r") as file:
            points, offsets = file["points/position"][()], file["points/offset"][()]
            length = file["samples/length"][()]
            self.assertGreater(np.sum((file["samples/first_half"][()] == 0) | (file["samples/second_half"][()] == 0)), 100)
        begin, end = offsets[:-1].astype(int), offsets[1:].astype(int) - 1
        first, last = (self.find_regions(labels, affine, points[at]) for at in (begin, end))
        count, total = np.zeros((2, labels.max(), labels.max()))
        for a, b, mm in zip(first, last, length):
            if a > 0 and b > 0 and a != b:
                for row, column in ((a, b), (b, a)):
                    count[row - 1, column - 1] += 1
                    total[row - 1, column - 1] += mm
        return count, np.divide(total, count, out=np.zeros(total.shape), where=count > 0), len(length)

    def check(self, *more):
        labels, affine, options = self.options(*more)
        found = constants(self.make("out.h5", *options), "connectome")
        count, length, streamlines = self.expect(labels, affine)
        self.assertEqual(constants(self.path("out.h5"), "streamlines")["waytotal"], streamlines)
        self.assertGreater((count > 5).sum(), 12)
        self.assertLess(count.sum() / 2, streamlines)
        self.assertLess(streamlines, constants(self.path("out.h5"), "streamlines")["started"])
        np.testing.assert_array_equal(found["count"], count)
        np.testing.assert_allclose(found["mean_length_mm"], length, rtol=1e-5)
        np.testing.assert_allclose(found["share"], shares(count))
        page = self.report(self.path("out.h5"))
        self.assertIn("Streamlines with their ends in two of 10 regions were counted, up to 1.5 mm from the nearest voxel of a region", page)

    def test_ends_join_the_nearest_regions(self):
        self.check()

    def test_ends_are_those_of_the_space_of_the_seeds(self):
        grid = self.write("reference.nii", np.ones((30, 12, 10)), sform=[[-1.7, 0, 0, 49.3], [0, 1.7, 0, -.4], [0, 0, 1.7, -.6]], pixdim=(1.7,) * 3)
        self.check("--seedref", grid)

    @unittest.skipUnless(shutil.which("tck2connectome"), "needs MRtrix3")
    def test_tck2connectome_counts_the_same(self):
        _, _, options = self.options()
        found = constants(self.make("out.h5", *options), "connectome")
        rc, _, output = voxherd("export", self.path("paths.h5"), "--to", "tck", self.path("paths.tck"))
        self.assertEqual(rc, 0, output)
        words = ["tck2connectome", "-quiet", "-symmetric", "-zero_diagonal", "-assignment_radial_search", str(self.RADIUS_MM), self.path("paths.tck"),
                 self.path("parcels.nii")]
        for name, more in (("count", []), ("mean_length_mm", ["-scale_length", "-stat_edge", "mean"])):
            subprocess.run([*words, self.path(f"{name}.csv"), *more], check=True)
            np.testing.assert_allclose(found[name], np.nan_to_num(np.loadtxt(self.path(f"{name}.csv"), delimiter=",")), rtol=1e-5)

    def test_without_a_radius_ends_must_be_in_regions(self):
        # Streamlines end half a voxel outside the samples, in x at 0.5 and 22.5 voxels: in the voxels 0 or 1, and 22 or 23.
        seeds, near = self.mask("seeds", np.s_[7:9, 3:5, 3]), self.mask("near", np.s_[2:4, 3:5, 3], np.s_[20, 3:5, 3])
        words = ("--samples", self.samples(), "--seed-image", seeds, "--connectome", near, "--samples-per-seed", 5, "--join-regions", "ends")
        for radius, count in ((0, 0), (3, 0), (8, 20)):
            out = self.make(f"{radius}.h5", *words, "--end-radius", radius)
            np.testing.assert_array_equal(constants(out, "connectome")["count"], [[0, count], [count, 0]], f"{radius} mm")

    def test_any_ranks_give_the_same_bytes(self):
        _, _, options = self.options("--lengths")
        one = digest(self.make("one.h5", *options))
        paths = digest(self.path("paths.h5"))
        self.assertEqual(digest(self.make("three.h5", *options, "--batch", 1, "--overwrite", ranks=3)), one)
        self.assertEqual(digest(self.path("paths.h5")), paths)


class Ranks(TrackJobs):
    def options(self, name):
        regions = self.mask("regions", np.s_[2:6, 2:7, 2:5], np.s_[9:12, 2:5, 2:5], np.s_[9:12, 5:7, 2:5], np.s_[15:20, 2:7, 2:5])
        return (*self.all_options(), "--samples-per-seed", 800, "--connectome", regions, "--matrix3", self.path(f"{name}3.h5"), "--target3",
                self.path("seeds.nii"))

    def test_any_ranks_and_batches_give_the_same_bytes(self):
        one = digest(self.make("one.h5", *self.options("one")))
        for number, (ranks, more) in enumerate(((2, ()), (3, ("--batch", 5)), (3, ("--schedule", "static", "--batch", 1)))):
            again = self.make(f"{number}.h5", *self.options(number), *more, ranks=ranks)
            self.assertEqual(digest(again), one, f"{ranks} ranks {more}")
            self.assertFalse([name for name in os.listdir(self.folder) if "region-pair" in name or "part" in name])

    @stores_from_the_start()
    def test_a_job_that_is_killed_in_each_step_resumes_to_the_same_bytes(self):
        self.make("reference.h5", *self.options("reference"), "--batch", 1)
        for number, step in enumerate((".groups", ".region-pair-sizes", ".region-pairs", "")):
            part = self.path(f"killed.h5{step}.part")
            words = ("track", "--quiet", "--threads", 1, "--resume", "--out", self.path("killed.h5"), *self.options("killed"), "--batch", 1)
            job = subprocess.Popen(
                mpirun(2 + number % 2, VOXHERD, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, LD_PRELOAD=FILE_FAULTS, VOXHERD_FAULT_FILE=part, VOXHERD_FAULT_BEGIN=part,
                         VOXHERD_FAULT_AFTER="1" if step.endswith(("groups", "sizes", "pairs")) else "3", VOXHERD_FAULT_ERRNO="kill"))
            output = remaining_output(job, "voxherd")
            self.assertNotEqual(job.returncode, 0, f"{step}: {output}")
            self.assertTrue(os.path.exists(part), f"{step}: {output}")
        rc, output = self.launch(self.path("killed.h5"), "--resume", *self.options("killed"), "--batch", 1, ranks=3)
        self.assertEqual(rc, 0, output)
        for end in (".h5", "3.h5"):
            self.assertEqual(digest(self.path("killed" + end)), digest(self.path("reference" + end)))
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.startswith("killed")), ["killed.h5", "killed3.h5"])


class Errors(TrackJobs):
    def regions(self):
        return self.mask("regions", np.s_[5, 3, 3], np.s_[10, 3:5, 3])

    def refuse(self, status, words, *options):
        seeds = self.mask("seeds", np.s_[7, 3, 3])
        rc, output = self.launch(self.path("refused.h5"), "--samples", self.samples(), "--seed-image", seeds, *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("refused")], [])

    def test_regions_that_cannot_be_counted_are_refused(self):
        self.refuse(USAGE, "is or contains a surface", "--connectome", write_surface(self.path("cortex.asc"), *sheet(8.)))
        self.refuse(BAD_DATA, "has 1 label, expected at least 2", "--connectome", self.mask("one", np.s_[5, 3, 3]))
        many = self.write("many.nii", np.arange(60 * 60).reshape(60, 60, 1))
        self.refuse(BAD_DATA, "has 3599 labels, expected at most 2048", "--connectome", many)
        values = np.zeros(SIZE)
        values[5, 3, 3], values[10, 3, 3] = 1, 2
        far = self.write("far.nii", values, sform=[[-2, 0, 0, 900], [0, 2, 0, 0], [0, 0, 2, 0]])
        self.refuse(BAD_DATA, "none of its regions is in the image of the seeds", "--connectome", far)
        values[10, 3, 3] = 1.5
        self.refuse(BAD_DATA, "1.5", "--connectome", self.write("half.nii", values))

    def test_options_of_ends_have_a_meaning(self):
        regions = self.regions()
        self.refuse(USAGE, "--end-radius has no meaning without --join-regions ends", "--connectome", regions, "--end-radius", 3)
        self.refuse(USAGE, "--join-regions", "--join-regions", "ends")
        rc, output = self.launch(self.path("refused.h5"), "--samples", self.samples(), "--connectome", regions, "--join-regions", "ends")
        self.assertEqual(rc, USAGE, output)
        self.assertIn("--join-regions has no meaning without --seed-image", output)

    def test_streamlines_that_join_no_regions_are_warned_of(self):
        seeds, regions = self.mask("seeds", np.s_[7, 3, 3]), self.mask("regions", np.s_[5, 5, 5], np.s_[9, 5, 5])
        rc, _, output = voxherd("track", "--samples", self.samples(), "--seed-image", seeds, "--connectome", regions, "--samples-per-seed", 5,
                                "--out", self.path("out.h5"))
        self.assertEqual(rc, 0, output)
        self.assertIn("no streamline passes two regions of --connectome", output)
        rc, _, output = voxherd("track", "--samples", self.samples(), "--seed-image", seeds, "--connectome", regions, "--samples-per-seed", 5,
                                "--join-regions", "ends", "--out", self.path("ends.h5"))
        self.assertEqual(rc, 0, output)
        self.assertIn("no streamline ends in two regions of --connectome; are they in the space of the seeds, and is --end-radius large enough?", output)
        # The reason is another one if none was accepted.
        rc, _, output = voxherd("track", "--samples", self.samples(), "--seed-image", seeds, "--connectome", regions, "--samples-per-seed", 5,
                                "--exclude", seeds, "--out", self.path("none.h5"))
        self.assertEqual(rc, 0, output)
        self.assertIn("no streamline was accepted", output)
        self.assertNotIn("passes two regions", output)


if __name__ == "__main__":
    unittest.main()
