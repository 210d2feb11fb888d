"""voxherd track: counts in fields whose streamlines are known, any ranks and batches, killed and resumed, inputs, errors."""
import csv
import json
import os
import shutil
import signal
import subprocess
import time
import unittest
import unittest.mock

import numpy as np
from crafted_inputs import BAD_DATA, DISK, MISSING, USAGE
from result_files import batches_done, changed_tables
from track_jobs import SAMPLES, SIZE, TrackJobs, constants, maps
from trx_groups import read_groups
from toy_jobs import VOXHERD, digest, h5py, mpirun, rank_processes, remaining_output, stores_from_the_start, voxherd, wait_for_batches

FILE_FAULTS = os.path.join(os.environ.get("VOXHERD_TEST_TOOLS", ""), "file_faults.so")


class Counts(TrackJobs):
    def test_straight_fibres_fill_the_rows_of_their_seeds(self):
        seeds = self.mask("seeds", np.s_[10, 3:6, 3])
        found = maps(self.make("out.h5", "--samples", self.samples(), "--seed-image", seeds, "--samples-per-seed", 50, "--lengths"))
        expected = np.zeros(SIZE)
        expected[1:-1, 3:6, 3] = 50
        np.testing.assert_array_equal(found["density"][1:-1], expected[1:-1])
        self.assertEqual(found["accepted"].sum(), 150)
        np.testing.assert_array_equal(found["accepted"][10, 3:6, 3], [50] * 3)
        # Voxels of 2 mm, steps of 0.5 mm: a voxel begins 1 mm before its centre.
        for voxel in (2, 9, 11, 20):
            self.assertAlmostEqual(found["mean_length"][voxel, 4, 3], 2 * abs(voxel - 10) - 1, delta=.5)
        np.testing.assert_allclose(found["length_sum"], found["mean_length"] * found["density"], rtol=1e-6)

    def test_the_first_axis_of_directions_is_negated_if_the_determinant_is_positive(self):
        # A fibre along (1, 1, 0) in FSL's frame runs along (1, -1) of an image whose determinant is positive.
        for sign, same in ((1, False), (-1, True)):
            affine = dict(sform=[[sign * 2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]])
            folder = self.samples(f"samples{sign}", axes=((np.pi / 2, np.pi / 4),), **affine)
            values = np.zeros(SIZE)
            values[12, 4, 3] = 1
            seeds = self.write(f"seed{sign}.nii", values, **affine)
            density = maps(self.make(f"{sign}.h5", "--samples", folder, "--seed-image", seeds, "--samples-per-seed", 20))["density"]
            self.assertEqual(density[14, 6, 3] > 0, same)
            self.assertEqual(density[14, 2, 3] > 0, not same)

    def test_a_network_connects_the_regions_along_the_fibres(self):
        labels = self.mask("labels", np.s_[5, 3, 3], np.s_[10, 3:5, 3], np.s_[15, 3, 3], np.s_[10, 6, 3])
        out = self.make("out.h5", "--samples", self.samples(), "--connectome", labels, "--samples-per-seed", 30, "--lengths")
        found = constants(out, "connectome")
        np.testing.assert_array_equal(found["labels"], [1, 2, 3, 4])
        # Of region 2 only the voxel in the row of the others is connected; region 4 is alone.
        np.testing.assert_array_equal(found["count"], [[0, 30, 30, 0], [30, 0, 30, 0], [30, 30, 0, 0], [0] * 4])
        np.testing.assert_array_equal(found["waytotal"], [30, 30, 30, 0])
        self.assertAlmostEqual(found["mean_length_mm"][0, 1], 9, delta=.5)
        self.assertAlmostEqual(found["mean_length_mm"][0, 2], 19, delta=.5)
        self.assertEqual(constants(out, "streamlines")["waytotal"], 90)
        rc, _, output = voxherd("export", out, "--to", "csv", self.path("csv"))
        self.assertEqual(rc, 0, output)
        np.testing.assert_array_equal(np.loadtxt(self.path("csv/count.csv"), delimiter=","), found["count"])

    def test_labels_above_2_to_the_24_are_printed_in_full_everywhere(self):
        values = np.zeros(SIZE)
        values[5, 3, 3], values[10, 3, 3], values[15, 3, 3] = 997, 312782546, 312782574  # equal in float32
        labels = self.write("allen.nii", values, dtype="u4", type=(768, 32))
        out = self.make("out.h5", "--samples", self.samples(), "--connectome", labels, "--samples-per-seed", 30, "--paths", self.path("paths.h5"))
        self.assertEqual(constants(out, "connectome")["labels"].tolist(), [997, 312782546, 312782574])
        with h5py.File(self.path("paths.h5"), "r") as file:
            regions = file["samples/region"]
            self.assertEqual((regions.dtype, sorted(set(regions[()].ravel()))), (np.int32, [997, 312782546, 312782574]))
        for source, kind, to in (("out.h5", "csv", "csv"), ("paths.h5", "csv", "paths"), ("paths.h5", "trx", "paths.trx")):
            more = ["--statistics-of", self.write("one.nii", np.ones(SIZE))] if to == "paths" else []
            rc, _, output = voxherd("export", self.path(source), "--to", kind, self.path(to), *more)
            self.assertEqual(rc, 0, output)
        with open(self.path("csv/nodes.tsv")) as file:
            self.assertEqual([line.split()[1] for line in file][1:], ["997", "312782546", "312782574"])
        with open(self.path("paths/mean_one.csv")) as file:
            self.assertEqual(file.readline().strip(), ",997,312782546,312782574")
        self.assertIn("312782546-312782574", read_groups(self.path("paths.trx")))
        rc, _, output = voxherd("export", self.path("paths.h5"), "--to", "trk", self.path("paths.trk"))
        self.assertEqual(rc, 0, output)
        self.assertIn("TRK has only float32, which rounds integers above 16777216 in first_region, ", output)
        rc, _, output = voxherd("report", out, "--out", self.path("page.html"))
        self.assertEqual(rc, 0, output)
        with open(self.path("page.html")) as file:
            page = file.read()
        self.assertIn("312782546", page)
        self.assertNotIn("3.128e+08", page)

    def test_targets_count_the_streamlines_of_each_seed_voxel(self):
        out = self.make("out.h5", "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 3:5, 3]), "--lengths",
                        "--targets", self.mask("near", np.s_[13, 3, 3]), self.mask("far", np.s_[4:7, :, 3]), "--samples-per-seed", 20,
                        "--local-directions")
        found = maps(out)
        np.testing.assert_array_equal(found["seeds_to_near"][10, 3:5, 3], [20, 0])
        np.testing.assert_array_equal(found["seeds_to_far"][10, 3:5, 3], [20, 20])
        self.assertEqual(found["seeds_to_far"].sum(), 40)
        self.assertAlmostEqual(found["seeds_to_near_lengths"][10, 3, 3], 5, delta=.5)
        self.assertAlmostEqual(found["seeds_to_far_lengths"][10, 4, 3], 7, delta=.5)
        np.testing.assert_allclose(found["local_direction"][8:12, 3, 3], [[1, 0, 0]] * 4, atol=1e-4)
        self.assertFalse(found["local_direction"][8:12, 6, 3].any())

    def test_a_walk_through_stop_ends_halves_that_leave_it(self):
        found = maps(self.make("out.h5", "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 3, 3]),
                               "--walk-through-stop", self.mask("gate", np.s_[14:17, :, :]), "--samples-per-seed", 20))["density"]
        np.testing.assert_array_equal(found[1:17, 3, 3], [20] * 16)
        self.assertFalse(found[17:].any())

    def test_matrices_hold_the_seeds_and_voxels_that_each_seed_reaches(self):
        seeds, target = self.mask("seeds", np.s_[9:12, 3:5, 3]), np.zeros((6, 3, 2))
        target[4:] = 1
        coarse = self.write("coarse.nii", target, sform=[[8, 0, 0, 3], [0, 6, 0, 2], [0, 0, 8, 3]])
        self.make("out.h5", "--samples", self.samples(), "--seed-image", seeds, "--samples-per-seed", 20, "--matrix1",
                  self.path("1.h5"), "--matrix2", self.path("2.h5"), "--target2", coarse, "--lengths")
        with h5py.File(self.path("1.h5"), "r") as file:
            begin, column, count, length = (file["points"][name][()] for name in ("offset", "column", "count", "length_sum"))
        # Seeds 0 to 2 and 3 to 5 are rows of voxels along x, and so are the streamlines.
        np.testing.assert_array_equal(begin, [0, 2, 4, 6, 8, 10, 12])
        np.testing.assert_array_equal(column, [1, 2, 0, 2, 0, 1, 4, 5, 3, 5, 3, 4])
        np.testing.assert_array_equal(count, [20] * 12)
        self.assertAlmostEqual(length[0] / 20, 1, delta=.5)
        with h5py.File(self.path("2.h5"), "r") as file:
            column = file["points/column"][()]
            np.testing.assert_array_equal(file["points/offset"][()], [0, 2, 4, 6, 8, 10, 12])
            voxels = file["matrix/column_voxel"][()][column]
        np.testing.assert_array_equal(voxels % 6, [5, 4] * 6)  # FSL's x runs to the left, that of the files to the right

    def pairs(self, name, rows, *options, ranks=0):
        """The matrix 3 of scattered streamlines: voxels of the rows and of the columns, counts and lengths."""
        file = self.path(f"{name}3.h5")
        self.make(f"{name}.h5", "--samples", self.scattered(), "--seed-image", self.mask("seeds", np.s_[8:16, 3:6, 3]), "--lengths",
                  "--samples-per-seed", 40, "--matrix3", file, "--target3", rows, *options, ranks=ranks)
        with h5py.File(file, "r") as f:
            begin, column = f["points/offset"][()], f["points/column"][()]
            rows, columns = f["items/voxel"][()], f["matrix/column_voxel"][()].astype(int)
            values = np.zeros((2, rows.size, columns.size))
            place = np.repeat(np.arange(rows.size), np.diff(begin)), column
            values[0][place], values[1][place] = f["points/count"][()], f["points/length_sum"][()]
        return rows, columns, values

    def test_a_matrix_between_two_masks_is_a_part_of_that_of_both(self):
        left, right = np.s_[4:7, 2:6, 2:5], np.s_[16:20, 2:7, 3]
        columns = self.mask("columns", right)
        rows_voxels, columns_voxels, found = self.pairs("two", self.mask("rows", left), "--target3-columns", columns, ranks=2)
        all_voxels, same, expected = self.pairs("both", self.mask("both", left, right))
        np.testing.assert_array_equal(all_voxels, same)
        expected += expected.transpose(0, 2, 1)  # it has the upper triangle
        place = {voxel: i for i, voxel in enumerate(all_voxels)}
        rows, columns = ([place[v] for v in voxels] for voxels in (rows_voxels, columns_voxels))
        self.assertEqual(found.shape, (2, 36, 20))
        self.assertGreater(found[0].sum(), 100)
        np.testing.assert_array_equal(found, expected[:, rows][:, :, columns])

    def test_densities_export_to_nifti(self):
        out = self.make("out.h5", "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 4, 3]),
                        "--samples-per-seed", 10)
        rc, _, output = voxherd("export", out, "--to", "nifti", self.path("nifti"))
        self.assertEqual(rc, 0, output)
        self.assertEqual(sorted(os.listdir(self.path("nifti"))), ["accepted.nii.gz", "density.nii.gz"])


class Samples(TrackJobs):
    def test_a_result_of_ballstick_and_its_exported_folder_give_the_same_counts(self):
        def step(*words):
            rc, _, output = voxherd(*words)
            self.assertEqual(rc, 0, output)
        scan = self.path("scan")
        step("phantom", "dwi", "--preset", "toy", "--threads", 1, "--out", scan)
        names = {name.split(".")[0]: os.path.join(scan, name) for name in os.listdir(scan)}
        step("ballstick", "--dwi", names["data"], "--bvals", names["bvals"], "--bvecs", names["bvecs"], "--mask", names["nodif_brain_mask"],
             "--fibres", 2, "--burn-in", 20, "--jumps", 40, "--sample-every", 10, "--quiet", "--threads", 1, "--out",
             self.path("fibres.h5"))
        step("export", self.path("fibres.h5"), "--to", "fsl", self.path("fibres.bedpostX"))
        os.remove(self.path("fibres.bedpostX/logs/exported_samples.json"))  # else the result is read
        found = [maps(self.make(f"{i}.h5", "--samples", self.path(name), "--seed-image", names["nodif_brain_mask"], "--samples-per-seed", 3))
                 for i, name in enumerate(("fibres.h5", "fibres.bedpostX"))]
        self.assertGreater(found[0]["density"].sum(), 1000)
        np.testing.assert_array_equal(found[0]["density"], found[1]["density"])
        half = np.where(found[0]["accepted"] > 0, 1, 0)
        half[len(half) // 2:] = 0
        mask = self.write("half.nii", half, codes=(0, 0))  # matched by index
        halves = [maps(self.make(f"half{i}.h5", "--samples", self.path(name), "--mask", mask, "--seed-image", mask, "--samples-per-seed", 3))
                  for i, name in enumerate(("fibres.h5", "fibres.bedpostX/merged"))]
        self.assertEqual(halves[0]["density"][len(half) // 2 + 1:].sum(), 0)
        self.assertGreater(halves[0]["density"].sum(), 100)
        np.testing.assert_array_equal(halves[0]["density"], halves[1]["density"])


class Ranks(TrackJobs):
    def test_any_number_of_ranks_and_any_batch_gives_the_same_bytes(self):
        options = (*self.all_options(), "--samples-per-seed", 2000)
        one = self.make("1.h5", *options)
        accepted = constants(one, "streamlines")["waytotal"][0]
        self.assertTrue(1000 < accepted < 100000, accepted)
        for ranks, more in ((2, ()), (3, ("--batch", 2)), (2, ("--schedule", "static", "--batch", 1))):
            again = self.make(f"{ranks}_{len(more)}.h5", *options, *more, ranks=ranks)
            self.assertEqual(digest(again), digest(one), f"{ranks} ranks {more}")

    def test_matrices_are_the_same_bytes_for_any_ranks_and_batches(self):
        def make(number, ranks, *more):
            files = [self.path(f"{number}_{name}.h5") for name in ("matrix1", "matrix2", "matrix3")]
            out = self.make(f"{number}.h5", *self.all_options(), "--samples-per-seed", 100, "--local-directions", "--matrix1", files[0],
                            "--matrix-min-length", 4, "--matrix2", files[1], "--target2", self.path("left.nii"), "--matrix3", files[2],
                            "--target3", self.path("seeds.nii"), *more, ranks=ranks)
            self.assertFalse([name for name in os.listdir(self.folder) if "sizes" in name or "pairs" in name or "part" in name])
            return [digest(name) for name in (out, *files)]

        one = make(0, 0)
        for number in (1, 2, 3):
            with h5py.File(self.path(f"0_matrix{number}.h5"), "r") as file:
                self.assertGreater(file["points/count"][()].sum(), 1000)
        for number, (ranks, more) in enumerate(((2, ()), (3, ("--batch", 5)), (5, ("--schedule", "static", "--batch", 1))), 1):
            self.assertEqual(make(number, ranks, *more), one, f"{ranks} ranks {more}")

    def test_the_rank_that_drew_rows_or_pairs_writes_them(self):
        def ranks_of_items(step):
            with open(f"{trace}.{step}", encoding="utf-8") as file:
                batches = sorted((int(row["batch"]), int(row["items"]), row["rank"]) for row in csv.DictReader(file))
            return [rank for _, items, rank in batches for _ in range(items)]

        trace = self.path("trace.csv")
        self.make("pairs.h5", *self.all_options(), "--samples-per-seed", 20000, "--matrix3", self.path("3.h5"), "--target3", self.path("seeds.nii"),
                  "--trace", trace, ranks=3)
        drew = ranks_of_items("groups")
        self.assertGreater(len(set(drew)), 1)
        self.assertEqual(ranks_of_items("pairs"), drew)
        self.make("rows.h5", *self.all_options(), "--samples-per-seed", 20000, "--matrix1", self.path("1.h5"), "--trace", trace, "--overwrite", ranks=3)
        drew, wrote = ranks_of_items("groups"), ranks_of_items("matrix1")
        self.assertGreater(len(set(drew)), 1)
        seeds_per_group = -(-len(wrote) // len(drew))
        self.assertEqual(wrote, [drew[seed // seeds_per_group] for seed in range(len(wrote))])

    def test_pairs_are_added_up_with_and_without_their_file(self):
        found = []
        for seconds, is_stored in (("1000000", False), ("0", True)):
            summary, matrix = self.path(f"{seconds}.json"), self.path(f"{seconds}_3.h5")
            with unittest.mock.patch.dict(os.environ, VOXHERD_UNSTORED_SECONDS=seconds):
                self.make(f"{seconds}.h5", *self.all_options(), "--samples-per-seed", 500, "--matrix3", matrix, "--target3", self.path("seeds.nii"),
                          "--json", summary, ranks=2)
            with open(summary, encoding="utf-8") as file:
                stages = [stage["name"] for stage in json.load(file)["stages"]]
            self.assertIn("pairs: batches computed", stages)
            self.assertEqual("pairs: result file created" in stages, is_stored)
            found.append(digest(matrix))
        self.assertEqual(found[0], found[1])

    @stores_from_the_start()
    def test_a_killed_job_resumes_to_the_same_bytes_and_keeps_its_finished_groups(self):
        options = (*self.all_options(), "--samples-per-seed", 4000, "--batch", 1)
        expected = digest(self.make("reference.h5", *options))
        out = self.path("killed.h5")
        job = subprocess.Popen(mpirun(2, VOXHERD, "track", "--quiet", "--threads", 1, "--out", out, *options),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_batches(out + ".groups", 3)
        os.kill(rank_processes(job, "voxherd")[1], signal.SIGKILL)
        remaining_output(job, "voxherd")
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(voxherd("verify", out + ".groups.part")[0], 0)
        self.assertGreaterEqual(batches_done(out + ".groups.part"), 3)
        rc, output = self.launch(out, "--resume", *options)
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), expected)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("killed")], ["killed.h5"])

    @stores_from_the_start()
    def test_a_job_with_matrices_and_streamlines_that_is_killed_in_each_step_resumes_to_the_same_bytes_on_other_ranks(self):
        def options(name):
            return (*self.all_options(), "--samples-per-seed", 800, "--batch", 1, "--matrix1", self.path(f"{name}1.h5"), "--matrix2",
                    self.path(f"{name}2.h5"), "--target2", self.path("left.nii"), "--matrix3", self.path(f"{name}3.h5"), "--target3",
                    self.path("seeds.nii"), "--paths", self.path(f"{name}4.h5"), "--max-paths", 30)

        def results(name):
            return [f"{name}{end}.h5" for end in ("", "1", "2", "3", "4")]

        self.make("reference.h5", *options("reference"))
        expected = [digest(self.path(name)) for name in results("reference")]
        steps = (".h5.groups", ".h5.streamline-sizes", "4.h5", ".h5.matrix1-sizes", "1.h5", ".h5.matrix2-sizes", "2.h5", ".h5.pair-sizes",
                 ".h5.pairs", "3.h5", ".h5")
        for number, file in enumerate(f"killed{step}" for step in steps):
            # A process kills itself when it is about to write for the fourth time into the step's file, or for the second
            # time: the file of a step that is collected gets only the batches, here two writes for each of a few groups.
            part = self.path(file) + ".part"
            job = subprocess.Popen(
                mpirun(2 + number % 2, VOXHERD, "track", "--quiet", "--threads", 1, "--resume", "--out", self.path("killed.h5"),
                       *options("killed")), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, LD_PRELOAD=FILE_FAULTS, VOXHERD_FAULT_FILE=part, VOXHERD_FAULT_BEGIN=part,
                         VOXHERD_FAULT_AFTER="1" if file.endswith(("groups", "sizes", "pairs")) else "3", VOXHERD_FAULT_ERRNO="kill"))
            output = remaining_output(job, "voxherd")
            self.assertNotEqual(job.returncode, 0, f"{file}: {output}")
            self.assertTrue(os.path.exists(part), f"{file}: {output}")
        rc, output = self.launch(self.path("killed.h5"), "--resume", *options("killed"), ranks=3)
        self.assertEqual(rc, 0, output)
        self.assertEqual([digest(self.path(name)) for name in results("killed")], expected)
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.startswith("killed")), sorted(results("killed")))

    def test_another_seed_gives_other_counts_and_does_not_continue_the_same_study(self):
        options = ("--samples", self.scattered(), "--seed-image", self.mask("seeds", np.s_[12, 4, 3]), "--samples-per-seed", 200)
        out = self.make("1.h5", *options)
        other = maps(self.make("2.h5", *options, "--random-seed", 1))["density"]
        self.assertFalse((maps(out)["density"] == other).all())
        rc, output = self.launch(out, "--resume", *options, "--random-seed", 1)
        self.assertEqual(rc, USAGE, output)


class ResultsOfBallstick(TrackJobs):
    """Samples in a result: HDF5 reads them only where they are not contiguous."""

    def fibres(self):
        folder, out = self.path("phantom"), self.path("fibres.h5")
        for words in (("phantom", "dwi", "--size", "16x14x12", "--crossings", 60, "--out", folder),
                      ("ballstick", "--dwi", folder + "/data.nii", "--bvals", folder + "/bvals", "--bvecs", folder + "/bvecs", "--mask",
                       folder + "/nodif_brain_mask.nii.gz", "--fibres", 2, "--burn-in", 20, "--jumps", 100, "--sample-every", 1,
                       "--threads", 1, "--out", out)):
            rc, _, output = voxherd(*words)
            self.assertEqual(rc, 0, output)
        return out

    def repacked(self, path, name, columns, **how):
        """The result with some columns of samples stored in another way."""
        copy = self.path(name)
        shutil.copy(path, copy)
        with changed_tables(copy) as file:
            for column in columns:
                old = file["samples"][column]
                values, attributes = old[()], dict(old.attrs)
                del file["samples"][column]
                file["samples"].create_dataset(column, data=values, **how).attrs.update(attributes)
        return copy

    def track(self, samples, name, **how):
        out = self.make(name, "--samples", samples, "--seed-image", self.path("phantom/nodif_brain_mask.nii.gz"), "--samples-per-seed", 3,
                        "--loop-check", "on", **how)
        return {**maps(out), **constants(out, "streamlines")}

    def test_samples_give_the_same_counts_however_they_are_stored(self):
        fibres = self.fibres()
        with h5py.File(fibres, "r") as file:
            self.assertIsNotNone(file["samples/th1"].id.get_offset())
            # More than one block of each thread, and a last one that is not full.
            self.assertGreater(file["samples/th1"].size * 4, 2 << 19)
        expected = self.track(fibres, "expected.h5")
        self.assertGreater(expected["steps"][0], 10 * expected["started"][0])
        cases = {
            "compressed": self.repacked(fibres, "compressed.h5", ["th1", "ph1", "f1", "th2", "ph2", "f2"], chunks=(100, 7),
                                        compression="gzip"),
            "one_chunked": self.repacked(fibres, "one_chunked.h5", ["f2"], chunks=(64, 100)),
            "big_endian": self.repacked(fibres, "big_endian.h5", ["ph1"], dtype=">f4"),
            "moved": self.repacked(fibres, "moved.h5", ["th2", "f1"]),
        }
        for name, samples in cases.items():
            for threads, ranks in ((1, 0), (3, 0), (1, 2)):
                found = self.track(samples, f"{name}.{threads}.{ranks}.h5", threads=threads, ranks=ranks)
                for key, values in expected.items():
                    np.testing.assert_array_equal(found[key], values, f"{name}, {threads} threads, {ranks} ranks: {key}")

    def test_a_damaged_result_is_named(self):
        fibres = self.fibres()
        options = ("--seed-image", self.path("phantom/nodif_brain_mask.nii.gz"), "--samples-per-seed", 1)
        short = self.path("short.h5")
        with open(fibres, "rb") as file, open(short, "wb") as copy:
            copy.write(file.read()[:-2000000])
        rc, output = self.launch(self.path("1.h5"), "--samples", short, *options)
        self.assertEqual(rc, BAD_DATA, output)
        self.assertIn("short.h5", output)
        # The shapes of the columns differ.
        other = self.repacked(fibres, "other.h5", [])
        with changed_tables(other) as file:
            contents = json.loads(file.attrs["contents"])
            next(o for o in contents["outputs"] if o["name"] == "f2")["shape"] = [99]
            values, attributes = file["samples/f2"][:, :99], dict(file["samples/f2"].attrs)
            del file["samples/f2"]
            file["samples"].create_dataset("f2", data=values).attrs.update(attributes)
            file.attrs["contents"] = np.bytes_(json.dumps(contents))
        rc, output = self.launch(self.path("2.h5"), "--samples", other, *options)
        self.assertEqual(rc, BAD_DATA, output)
        self.assertIn("other.h5: f2 and th1 have different shapes", output)

    def test_a_disk_that_cannot_read_samples_is_named(self):
        fibres = self.fibres()
        for threads in (1, 2):
            done = subprocess.run([VOXHERD, "track", "--quiet", "--threads", str(threads), "--samples", fibres, "--seed-image",
                                   self.path("phantom/nodif_brain_mask.nii.gz"), "--out", self.path("out.h5")], capture_output=True, text=True,
                                  env=dict(os.environ, LD_PRELOAD=FILE_FAULTS, VOXHERD_FAULT_FILE=fibres, VOXHERD_FAULT_CALLS="read",
                                           VOXHERD_FAULT_AFTER="90", VOXHERD_FAULT_ERRNO="5"))
            self.assertEqual(done.returncode, DISK, done.stderr)
            self.assertRegex(done.stderr, r"reading .*fibres\.h5: Input/output error")
            self.assertFalse(os.path.exists(self.path("out.h5")))


class Errors(TrackJobs):
    def refuse(self, status, words, *options):
        rc, output = self.launch(self.path("refused.h5"), *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)
        self.assertFalse(os.path.exists(self.path("refused.h5")))

    def test_a_missing_folder_is_that_of_the_option_that_names_it(self):
        seeds = self.mask("seeds", np.s_[10, 3:6, 3])
        for option in ("--paths", "--matrix1"):
            self.refuse(DISK, f"error: {option} {self.path('none/file.h5')}: folder", "--samples", self.samples(), "--seed-image", seeds,
                        option, self.path("none/file.h5"))

    def test_meaningless_options_are_rejected(self):
        folder, seeds = self.samples(), self.mask("seeds", np.s_[10, 4, 3])
        base = ("--samples", folder, "--seed-image", seeds)
        self.refuse(USAGE, "--seed-image", "--samples", folder)
        self.refuse(USAGE, "--include-rule has no meaning without --include", *base, "--include-rule", "or")
        self.refuse(USAGE, "--each-half has no meaning without --include", *base, "--each-half")
        self.refuse(USAGE, "--ordered has no meaning with 1 --include", *base, "--include", seeds, "--ordered")
        self.refuse(USAGE, "expected at most 13", *base, "--include", *[seeds] * 14)
        self.refuse(USAGE, "two files are called", *base, "--targets", seeds, seeds)
        self.refuse(USAGE, "expected at most 32", *base, "--walk-through-stop", *[seeds] * 33)
        self.refuse(USAGE, "--start-fibre 2: the samples have 1 fibre", *base, "--start-fibre", 2)
        self.refuse(USAGE, "--first-fibre has no meaning with --start-fibre", *base, "--start-fibre", 1, "--first-fibre", "any")
        self.refuse(USAGE, "--ignore-first-step has no meaning", *base, "--ignore-first-step")
        self.refuse(USAGE, "--target2 has no meaning without --matrix2", *base, "--target2", seeds)
        self.refuse(USAGE, "--target3-columns has no meaning without --matrix3", *base, "--target3-columns", seeds)
        self.refuse(USAGE, "--matrix-min-length has no meaning without --matrix", *base, "--matrix-min-length", 3)
        self.refuse(USAGE, "--max-angle 91: expected 0 to 90 degrees", *base, "--max-angle", "91")
        out = self.path("refused.h5")
        self.refuse(USAGE, "is also the file of --out", *base, "--matrix1", out)
        self.refuse(USAGE, "is a temporary file of --out", *base, "--paths", out + ".part")
        self.refuse(USAGE, "is also the file of --matrix", *base, "--matrix1", self.path("m.h5"), "--matrix2", self.path("m.h5"), "--target2", seeds)
        self.refuse(USAGE, "--json", *base, "--matrix1", self.path("m.h5"), "--json", self.path("m.h5.part"))

    def test_samples_that_cannot_be_read_are_rejected(self):
        seeds = self.mask("seeds", np.s_[10, 4, 3])
        os.mkdir(self.path("empty"))
        self.refuse(MISSING, "merged_th1samples", "--samples", self.path("empty"), "--seed-image", seeds)
        self.refuse(MISSING, "o such file", "--samples", self.path("none.h5"), "--seed-image", seeds)
        folder = self.samples()
        os.remove(os.path.join(folder, "merged_f1samples.nii"))
        self.refuse(MISSING, "merged_f1samples", "--samples", folder, "--seed-image", seeds)
        for number in ("1", "2", ""):
            for name in ("th", "ph", "f"):
                folder = self.samples(f"gap{name}{number}")
                if number != "1":
                    for each in ("th", "ph", "f"):
                        own = os.path.join(folder, f"merged_{each}1samples.nii")
                        (shutil.copy if number else os.rename)(own, os.path.join(folder, f"merged_{each}{number}samples.nii"))
                os.remove(os.path.join(folder, f"merged_{name}{number}samples.nii"))
                self.refuse(MISSING, f"merged_{name}{number}samples", "--samples", folder, "--seed-image", seeds)
        folder = self.samples("gap")
        for name in ("th", "ph", "f"):
            shutil.copy(os.path.join(folder, f"merged_{name}1samples.nii"), os.path.join(folder, f"merged_{name}3samples.nii"))
        self.refuse(MISSING, "merged_th2samples", "--samples", folder, "--seed-image", seeds)
        folder = self.samples()
        self.write("samples/merged_f1samples.nii", np.ones((*SIZE, SAMPLES + 1)))
        self.refuse(BAD_DATA, "merged_f1samples.nii: has 24 x 9 x 7 voxels and 5 volumes", "--samples", folder, "--seed-image", seeds)
        other = self.make("other.h5", "--samples", self.samples("right"), "--seed-image", seeds, "--samples-per-seed", 1)
        self.refuse(BAD_DATA, "is a result of track, expected one of ballstick", "--samples", other, "--seed-image", seeds)

    def test_links_that_further_results_name_are_followed(self):
        os.symlink("target.h5", self.path("link.h5"))
        words = ("--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 4, 3]), "--samples-per-seed", 5, "--matrix1",
                 self.path("link.h5"))
        self.make("out.h5", *words)
        self.assertTrue(os.path.islink(self.path("link.h5")) and os.path.isfile(self.path("target.h5")))
        self.assertFalse([name for name in os.listdir(self.folder) if ".part" in name or "sizes" in name])

    def test_a_signal_ends_a_dry_run_whose_first_streamlines_take_for_ever(self):
        job = subprocess.Popen([VOXHERD, "track", "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 4, 3]),
                                "--samples-per-seed", "1000000000", "--dry-run", "--threads", "1", "--out", self.path("out.h5")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while "streamlines through" not in job.stderr.readline():
            self.assertIsNone(job.poll())
        while job.poll() is None:  # the first one may come before the estimate
            job.terminate()
            time.sleep(.2)
        self.assertEqual(job.returncode, 75)
        job.communicate()

    def test_seeds_outside_the_samples_are_rejected_or_ignored(self):
        folder = self.samples()
        self.refuse(BAD_DATA, "none of its 1 voxels has samples", "--samples", folder, "--seed-image",
                    self.mask("outside", np.s_[0, 4, 3]))
        out = self.make("out.h5", "--samples", folder, "--seed-image", self.mask("partly", np.s_[0:3, 4, 3]), "--samples-per-seed", 5)
        self.assertEqual(constants(out, "streamlines")["started"], 10)


if __name__ == "__main__":
    unittest.main()
