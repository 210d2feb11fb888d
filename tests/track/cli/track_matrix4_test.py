"""voxherd track --matrix4, --closest-vertex: counts, lengths and fibres where streamlines are known, spaces, exports, any ranks, errors."""
import os
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, USAGE
from toy_jobs import digest, h5py, voxherd
from track_jobs import MINUS, SIZE, Probtrackx2Jobs, SpaceJobs, SurfaceJobs, TrackJobs, maps

CROSSED = dict(axes=((np.pi / 2, np.pi), (np.pi / 2, np.pi / 2)), fractions=(.5, .4))  # along x, along y


def read_matrix(path):
    """One image per row: counts, sums of lengths, those along fibre 1 and 2."""
    with h5py.File(path, "r") as file:
        begin, column = file["points/offset"][()], file["points/column"][()]
        voxel = file["matrix/column_voxel"][()].astype(int)
        rows = np.repeat(np.arange(begin.size - 1), np.diff(begin))
        found = {}
        for name in ("count", "length_sum", "fibre1", "fibre2"):
            dense = np.zeros((begin.size - 1, np.prod(SIZE)))
            dense[rows, voxel[column]] = file["points"][name][()]
            found[name] = dense.reshape(-1, *SIZE[::-1]).transpose(0, 3, 2, 1)
    return found


def read_fsl(folder):
    """FSL's three files as one image per column, in the order of read_matrix()."""
    rows, columns = np.loadtxt(f"{folder}/fdt_matrix4_1.mtx").astype(int)
    entries = np.fromfile(f"{folder}/fdt_matrix4_2.mtx", np.int64)
    row, code = np.fromfile(f"{folder}/fdt_matrix4_3.mtx", np.int64).reshape(-1, 2).T
    voxels = np.loadtxt(f"{folder}/tract_space_coords_for_fdt_matrix4", ndmin=2).astype(int)
    assert (len(entries), len(voxels)) == (columns, rows) and entries.sum() == len(row)
    column = np.repeat(np.arange(columns), entries)
    assert all((np.diff(row[column == c]) > 0).all() for c in range(columns))
    low = code & 0xffffffff
    found = {}
    for name, value in (("count", code >> 32), ("mean_length", low % 1001), ("share1", low // 1001 ** 2), ("share2", low // 1001 % 1001)):
        found[name] = np.zeros((columns, *SIZE))
        found[name][(column, *voxels[row].T)] = value
    return found


class Counts(TrackJobs):
    def matrix(self, name, *options, ranks=0, threads=1):
        self.result = self.make(f"{name}.h5", *options, "--matrix4", self.path(f"{name}4.h5"), ranks=ranks, threads=threads)
        return read_matrix(self.path(f"{name}4.h5"))

    def test_rows_add_up_to_the_density_and_its_lengths_in_the_mask(self):
        target = self.mask("target", np.s_[4:20, 2:6, 2:5])
        found = self.matrix("out", "--samples", self.scattered(), "--seed-image", self.mask("seeds", np.s_[6:18, 2:7, 2:5]),
                            "--first-fibre", "equal", "--samples-per-seed", 100, "--lengths", "--target4", target)
        inside = np.zeros(SIZE)
        inside[4:20, 2:6, 2:5] = 1
        expected = maps(self.result)
        np.testing.assert_array_equal(found["count"].sum(axis=0), expected["density"] * inside)
        np.testing.assert_allclose(found["length_sum"].sum(axis=0), expected["length_sum"] * inside)
        self.assertGreater(found["count"].sum(), 10000)
        for name in ("fibre1", "fibre2"):
            self.assertGreater(found[name].sum(), 1000)
        np.testing.assert_array_equal(found["fibre1"] + found["fibre2"], found["count"])  # there is no other

    def test_a_voxel_counts_the_fibre_that_is_followed_there(self):
        found = self.matrix("out", "--samples", self.samples(**CROSSED), "--seed-image", self.mask("seed", np.s_[10, 4, 3]),
                            "--first-fibre", "equal", "--samples-per-seed", 200, "--target4", self.mask("all", np.s_[:, :, :]))
        count, first, second = (found[name][0] for name in ("count", "fibre1", "fibre2"))
        along_x, along_y = count[:, 4, 3], count[10, :, 3]
        self.assertEqual(along_x[10], 200)
        self.assertTrue(20 < along_x[5] < 180 and 20 < along_y[2] < 180)
        np.testing.assert_array_equal(np.delete(first[:, 4, 3], 10), np.delete(along_x, 10))
        np.testing.assert_array_equal(np.delete(second[10, :, 3], 4), np.delete(along_y, 4))
        self.assertEqual(first.sum() + second.sum(), count.sum())
        # The first half follows the fibre; the other one may turn into the other fibre, where it ends at once.
        self.assertTrue(60 < first[10, 4, 3] < 140)

    def test_rows_of_a_mask_have_the_voxels_of_the_streamlines_that_visit_them(self):
        seed, all_voxels = self.mask("seed", np.s_[10, 4, 3]), self.mask("all", np.s_[:, :, :])
        base = ("--samples", self.samples(), "--seed-image", seed, "--samples-per-seed", 20, "--target4", all_voxels)
        rows = self.mask("rows", np.s_[5, 4, 3], np.s_[15, 4, 3], np.s_[15, 5, 3])
        found = self.matrix("rows", *base, "--matrix4-rows", rows)
        density = maps(self.result)["density"]
        self.assertEqual(found["count"].shape[0], 3)
        reached = [i for i in range(3) if found["count"][i].any()]
        self.assertEqual(len(reached), 2)
        for i in reached:
            np.testing.assert_array_equal(found["count"][i], density)
            np.testing.assert_array_equal(found["fibre1"][i], density)
        lengths = sorted(found["length_sum"][i, 5, 4, 3] / 20 for i in reached)
        self.assertEqual(lengths[0], 0)
        self.assertAlmostEqual(lengths[1], 20, delta=2)
        own = self.matrix("seeds", *base)
        for name, values in self.matrix("same", *base, "--matrix4-rows", seed).items():
            np.testing.assert_array_equal(values, own[name], name)

    def test_the_same_bytes_for_any_ranks_batches_and_memory(self):
        def make(name, *more, **how):
            target, rows = self.mask("target", np.s_[4:20, 2:6, 2:5]), self.mask("rows", np.s_[4:8, 2:6, 2:5])
            options = (*self.all_options(), "--samples-per-seed", 150, "--target4", target, *more)
            files = []
            for kind, extra in (("seeds", ()), ("rows", ("--matrix4-rows", rows)), ("both", ("--matrix1", self.path(f"{name}1.h5")))):
                self.matrix(f"{name}_{kind}", *options, *extra, **how)
                files += [self.result, self.path(f"{name}_{kind}4.h5")]
            self.assertFalse([file for file in os.listdir(self.folder) if "sizes" in file or "pairs" in file or "part" in file])
            return [digest(file) for file in files]

        one = make("one")
        self.assertEqual(one[1], one[5])
        self.assertEqual(make("threads", threads=3), one)
        self.assertEqual(make("ranks", "--batch", 2, ranks=3), one)
        self.assertEqual(make("static", "--batch", 1, "--schedule", "static", ranks=2), one)


class Spaces(SpaceJobs):
    def test_columns_are_voxels_of_the_samples(self):
        samples = self.samples(**MINUS)
        # Voxel (x, y, z) of the reference is voxel (x + 3, y - 1, z) of the samples.
        matrix = self.flirt("shift.mat", [[1, 0, 0, 6], [0, 1, 0, -2], [0, 0, 1, 0]])
        self.make("out.h5", "--samples", samples, "--seed-image", self.image("seed", np.s_[7, 5, 3], **MINUS), "--transform", matrix,
                  "--stop", self.image("stop", np.s_[12, :, :], **MINUS), "--samples-per-seed", 20, "--matrix4", self.path("4.h5"),
                  "--target4", self.image("all", np.s_[:, :, :], **MINUS))
        expected = np.zeros(SIZE)
        expected[1:16, 4, 3] = 20  # halves end in voxel 0 or 1
        found = read_matrix(self.path("4.h5"))["count"][0]
        np.testing.assert_array_equal(found[1:], expected[1:])
        np.testing.assert_array_equal(maps(self.path("out.h5"))["density"][:13, 5, 3], [20] * 13)


class Corners(SurfaceJobs):
    def test_a_crossing_reaches_one_corner(self):
        # The line through (3, 3) crosses the second triangle of a cell; the corner at (4, 4) is nearest.
        target = self.sheet("target", 14.1, first=-2.)
        reached = {}
        for name, more in (("all", ()), ("one", ("--closest-vertex",))):
            self.straight("out.h5", "--overwrite", "--matrix2", self.path(f"{name}.h5"), "--target2", target, *more)
            with h5py.File(self.path(f"{name}.h5"), "r") as file:
                column = file["points/column"][()]
                reached[name] = file["matrix/column_position"][()][column] / 2
                np.testing.assert_array_equal(file["points/count"][()], [20] * column.size)
        np.testing.assert_allclose(sorted(map(tuple, reached["all"][:, 1:])), [(1, 4), (4, 1), (4, 4)])
        np.testing.assert_allclose(reached["one"][:, 1:], [(4, 4)])

    def test_rows_of_vertices(self):
        rows = self.sheet("rows", 14.1, first=-2.)
        self.straight("out.h5", "--matrix4", self.path("4.h5"), "--target4", self.mask("all", np.s_[:, :, :]), "--matrix4-rows", rows)
        found = read_matrix(self.path("4.h5"))["count"]
        reached = [row for row in found if row.any()]
        self.assertEqual((len(found), len(reached)), (81, 3))
        for row in reached:
            np.testing.assert_array_equal(row, maps(self.path("out.h5"))["density"])


class Folder(Probtrackx2Jobs):
    def test_fsl_s_files_have_the_columns_of_the_seeds_or_of_another_mask(self):
        self.samples = lambda: Probtrackx2Jobs.samples(self, **CROSSED)
        seeds, rows = self.mask("seeds", np.s_[10, 3:5, 3]), self.mask("rows", np.s_[15, 3:5, 3], np.s_[10, 3, 3])
        self.mask("target", np.s_[2:22, 2:7, 1:6])
        base = ("-x", seeds, "-P", "80", "--randfib=1", "--omatrix4", f"--target4={self.path('target')}", "--forcedir")
        for more in ((), (f"--colmask4={self.text_list('list.txt', rows)}", "--omatrix1")):
            folder = self.trace("out", *base, *more)
            found, expected = read_fsl(folder), read_matrix(f"{folder}/voxherd_matrix4.h5")
            count = expected["count"]
            np.testing.assert_array_equal(found["count"], count)
            some = count > 0
            self.assertGreater(some.sum(), 40)
            np.testing.assert_array_equal(found["mean_length"][some], np.floor(expected["length_sum"][some] / count[some] + .5))
            for share, name in (("share1", "fibre1"), ("share2", "fibre2")):
                np.testing.assert_allclose(found[share][some], 1000 * expected[name][some] / count[some], atol=1)
            self.assertLessEqual((found["share1"] + found["share2"]).max(), 1000)
            names = set(os.listdir(folder))
            self.assertIn("coords_for_fdt_matrix4", names)
            self.assertEqual({"fdt_matrix1.dot"} & names, {"fdt_matrix1.dot"} if more else set())
            self.assertEqual(np.loadtxt(f"{folder}/coords_for_fdt_matrix4").shape, (len(count), 5))
        exported = self.path("exported")
        rc, _, output = voxherd("export", f"{folder}/voxherd_matrix4.h5", "--to", "dot", exported)
        self.assertEqual(rc, 0, output)
        np.testing.assert_array_equal(read_fsl(exported)["count"], found["count"])

    def test_a_dense_connectome_has_the_trajectories_of_each_seed(self):
        try:
            import nibabel
        except ImportError:
            self.skipTest("no nibabel")
        folder = self.trace("out", "-x", self.mask("seeds", np.s_[10, 3:5, 3]), "-P", "20", "--omatrix4",
                            f"--target4={self.mask('target', np.s_[2:22, 3:5, 3])}")
        rc, _, output = voxherd("export", f"{folder}/voxherd_matrix4.h5", "--to", "cifti", self.path("out.dconn.nii"))
        self.assertEqual(rc, 0, output)
        values = np.asarray(nibabel.load(self.path("out.dconn.nii")).dataobj)
        self.assertEqual(values.shape, (40, 2))
        np.testing.assert_array_equal(np.sort(values, axis=0), [[0, 0]] * 20 + [[20, 20]] * 20)

    def test_options_without_their_matrix_have_no_effect(self):
        seeds, target = self.mask("seeds", np.s_[10, 3:5, 3]), self.mask("target", np.s_[2:22, 3:5, 3])
        folder = self.trace("out", "-x", seeds, "-P", "20", "--opd", f"--target2={target}", f"--target4={target}", f"--colmask4={seeds}",
                            "--closestvertex")
        self.assertFalse([name for name in os.listdir(folder) if "matrix" in name])


class Errors(SurfaceJobs, Probtrackx2Jobs):
    def refuse(self, status, words, *options):
        rc, output = self.launch(self.path("refused.h5"), "--samples", self.samples(), "--seed-image", self.mask("seed", np.s_[10, 3, 3]),
                                 *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)

    def test_contradictory_options_are_rejected(self):
        mask, matrix = self.mask("mask", np.s_[8:12, 3, 3]), ("--matrix4", self.path("4.h5"))
        self.refuse(USAGE, "--target4 has no meaning without --matrix4", "--target4", mask)
        self.refuse(USAGE, "--matrix4 has no meaning without --target4", *matrix)
        self.refuse(USAGE, "--matrix4-rows has no meaning without --matrix4", "--matrix4-rows", mask)
        self.refuse(USAGE, "--closest-vertex has no meaning without", "--closest-vertex")
        self.refuse(USAGE, "is a surface, expected an image", *matrix, "--target4", self.sheet("sheet", 14.1))
        self.refuse(BAD_DATA, "mask.nii", *matrix, "--target4", self.write("mask.nii", np.zeros(SIZE)))

    def test_probtrackx2_names_what_is_wrong(self):
        folder, seeds = self.samples(), self.mask("seeds", np.s_[10, 3, 3])

        def refuse(status, words, *options):
            rc, output = self.call("-s", f"{folder}/merged", "-m", f"{folder}/nodif_brain_mask", "-x", seeds, f"--dir={self.path('no')}",
                                   "--opd", *options)
            self.assertEqual(rc, status, output)
            self.assertIn(words, output)
            self.assertFalse(os.path.exists(self.path("no")))

        refuse(USAGE, "give --omatrix4 and --target4 together", "--omatrix4")
        small = self.write("small.nii", np.ones((6, 5, 4)))
        refuse(BAD_DATA, "small.nii: has 6 x 5 x 4 voxels, expected 24 x 9 x 7", "--omatrix4", f"--target4={small}")
        refuse(USAGE, "--simple has no --network, --os2t and --omatrix1, 2, 3, 4", "--simple", "--omatrix4", f"--target4={seeds}")


if __name__ == "__main__":
    unittest.main()
