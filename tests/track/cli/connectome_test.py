"""voxherd track --connectome with --seed-image: regions that streamlines of other seeds pass, shares, any ranks, kills, bad inputs."""
import os
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


class PassedRegions(TrackJobs):
    def regions(self):
        return self.mask("regions", np.s_[5, 3, 3], np.s_[10, 3:5, 3], np.s_[15, 3, 3], np.s_[10, 6, 3])

    def report(self, out):
        rc, _, output = voxherd("report", out, "--out", self.path("page.html"))
        self.assertEqual(rc, 0, output)
        with open(self.path("page.html"), encoding="utf-8") as file:
            return file.read()

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
                         VOXHERD_FAULT_AFTER="1" if step.endswith(("groups", "sizes")) else "3", VOXHERD_FAULT_ERRNO="kill"))
            output = remaining_output(job, "voxherd")
            self.assertNotEqual(job.returncode, 0, f"{step}: {output}")
            self.assertTrue(os.path.exists(part), f"{step}: {output}")
        rc, output = self.launch(self.path("killed.h5"), "--resume", *self.options("killed"), "--batch", 1, ranks=3)
        self.assertEqual(rc, 0, output)
        for end in (".h5", "3.h5"):
            self.assertEqual(digest(self.path("killed" + end)), digest(self.path("reference" + end)))
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.startswith("killed")), ["killed.h5", "killed3.h5"])


class Errors(TrackJobs):
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

    def test_streamlines_that_join_no_regions_are_warned_of(self):
        seeds, regions = self.mask("seeds", np.s_[7, 3, 3]), self.mask("regions", np.s_[5, 5, 5], np.s_[9, 5, 5])
        rc, _, output = voxherd("track", "--samples", self.samples(), "--seed-image", seeds, "--connectome", regions, "--samples-per-seed", 5,
                                "--out", self.path("out.h5"))
        self.assertEqual(rc, 0, output)
        self.assertIn("no streamline passes two regions of --connectome", output)
        # The reason is another one if none was accepted.
        rc, _, output = voxherd("track", "--samples", self.samples(), "--seed-image", seeds, "--connectome", regions, "--samples-per-seed", 5,
                                "--exclude", seeds, "--out", self.path("none.h5"))
        self.assertEqual(rc, 0, output)
        self.assertIn("no streamline was accepted", output)
        self.assertNotIn("passes two regions", output)


if __name__ == "__main__":
    unittest.main()
