"""Outputs of variable length: read with h5py and VTK, killed and resumed, and in verify, compare and info. The
command runs in two steps, scores into OUT.scores and fibres into OUT."""
import json
import os
import signal
import unittest

import numpy as np
from kill_and_resume import KillAndResume
from result_files import changed_values
from toy_jobs import (TOY, ToyJobs, begin, digest, h5py, mpirun, rank_processes, remaining_output, run, run_process, voxherd,
                      wait_for_batches)

try:
    import vtkmodules.all as vtk
    from vtkmodules.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk = None

SLOW = ("--batch", 40, "--slowest-ms", 40)  # 50 and 25 batches


def ragged(ranks, out, *options):
    return run(ranks, out, *options, command="ragged")


class Ragged(ToyJobs):
    def make(self, name="result.h5", *options, ranks=2):
        out = self.path(name)
        rc, output = ragged(ranks, out, *options)
        self.assertEqual(rc, 0, output)
        return out


class PointsFile(Ragged):
    def test_every_item_has_its_rows_and_every_dataset_a_unit_and_a_meaning(self):
        with h5py.File(self.make(), "r") as f:
            offset = f["points/offset"][()]
            items = f["items/voxel"].shape[0]
            self.assertGreater(items, 500)
            self.assertEqual(offset.shape, (items + 1,))
            self.assertEqual(offset[0], 0)
            counts = np.diff(offset.astype(np.int64))
            self.assertEqual(counts.min(), 0)
            self.assertTrue((counts == 1).any())
            self.assertEqual(f["points/position"].shape, (offset[-1], 3))
            self.assertEqual(f["points/frame"].shape, (offset[-1], 3, 3))
            self.assertEqual(f["samples/ends"].shape, (items, 2))
            self.assertEqual(f["connectome/count"][()].tolist(), [[0, 7], [7, 0]])
            self.assertIn("bvals", f["inputs"])
            layouts = {o["name"]: o["layout"] for o in json.loads(f.attrs["contents"])["outputs"]}
            self.assertEqual(layouts["FA"], "points")
            self.assertEqual(layouts["measure"], "items")

            def check(name, thing):
                if isinstance(thing, h5py.Dataset):
                    self.assertTrue(thing.attrs["unit"] and thing.attrs["meaning"], name)
                    self.assertIsNone(thing.chunks, name)

            f.visititems(check)

    def test_the_first_step_leaves_only_its_times(self):
        table = self.path("times.json")
        self.make("result.h5", "--json", table)
        self.assertEqual(sorted(os.listdir(self.folder)), ["result.h5", "times.json"])
        with open(table) as f:
            times = json.load(f)
        self.assertEqual(times["analysis"], "ragged")
        self.assertEqual(times["steps"]["scores"]["analysis"], "ragged scores")

    def test_each_step_prints_its_name_and_its_table(self):
        rc, _, output = run_process(*mpirun(2, TOY, "ragged", "--threads", 1, "--verbose", "--out", self.path("result.h5")))
        self.assertEqual(rc, 0, output)
        self.assertEqual(output.count(" written; next: "), 1, output)
        self.assertTrue(output.splitlines()[-1].endswith("--to csv DIR (or --to tck FILE.tck)"), output)
        lines = output.splitlines()
        self.assertLess(lines.index("scores"), lines.index("fibres"))
        self.assertEqual(output.count("reading s"), 2, output)

    def test_any_number_of_ranks_and_any_batch_size_gives_the_same_bytes(self):
        expected = digest(self.make(ranks=1))
        for ranks, options in ((2, ("--batch", 7)), (3, ()), (5, ("--batch", 33, "--partition", "slices"))):
            self.assertEqual(digest(self.make(f"{ranks}.h5", *options, ranks=ranks)), expected)


    def test_more_than_a_million_points_are_connected_in_order(self):
        with h5py.File(self.make("result.h5", "--candidates", 110000, ranks=3), "r") as f:
            points = f["points/position"].shape[0]
            self.assertGreater(points, 2**20)
            np.testing.assert_array_equal(f["VTKHDF/Connectivity"][()], np.arange(points))
            counts = np.diff(f["points/offset"][()])
            np.testing.assert_array_equal(f["VTKHDF/Types"][()], np.where(counts > 1, 4, counts))


@unittest.skipIf(vtk is None, "python3-vtk9 is not installed")
class PointsInVtk(Ragged):
    def read_grid(self, out):
        reader = vtk.vtkHDFReader()
        errors = []
        reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
        reader.SetFileName(out)
        reader.Update()
        self.assertEqual(errors, [])
        return reader.GetOutput()

    def test_every_fibre_is_a_line_with_its_points_and_arrays(self):
        out = self.make()
        grid = self.read_grid(out)
        with h5py.File(out, "r") as f:
            offset = f["points/offset"][()].astype(int)
            position = f["points/position"][()]
            self.assertEqual(grid.GetNumberOfCells(), len(offset) - 1)
            np.testing.assert_array_equal(vtk_to_numpy(grid.GetPoints().GetData()), position)
            for i in range(grid.GetNumberOfCells()):
                cell = grid.GetCell(i)
                count = offset[i + 1] - offset[i]
                self.assertEqual(cell.GetNumberOfPoints(), count)
                kind = {0: vtk.VTK_EMPTY_CELL, 1: vtk.VTK_VERTEX}.get(count, vtk.VTK_POLY_LINE)
                self.assertEqual(cell.GetCellType(), kind)
                if count:
                    self.assertEqual(cell.GetPointId(0), offset[i])
                    self.assertEqual(cell.GetPointId(count - 1), offset[i + 1] - 1)
            for data, group, names in ((grid.GetPointData(), "points", {"FA", "hit"}),
                                       (grid.GetCellData(), "samples", {"measure", "ends", "steps", "verdict"})):
                found = {data.GetArrayName(i) for i in range(data.GetNumberOfArrays())}
                self.assertEqual(found, names)
                for name in names:
                    np.testing.assert_array_equal(vtk_to_numpy(data.GetArray(name)), f[group][name][()])
            self.assertEqual(f["VTKHDF"].attrs["coordinates"], b"world, RAS+, mm")

    def test_the_lines_drawn_by_paraview_are_all_lines(self):
        out = self.make()
        surface = vtk.vtkGeometryFilter()
        surface.SetInputData(self.read_grid(out))
        surface.Update()
        with h5py.File(out, "r") as f:
            counts = np.diff(f["points/offset"][()].astype(int))
        self.assertEqual(surface.GetOutput().GetNumberOfLines(), (counts > 1).sum())
        self.assertEqual(surface.GetOutput().GetNumberOfVerts(), (counts == 1).sum())

    def test_no_data_is_stored_twice(self):
        with h5py.File(self.make(), "r") as f:
            for a, b in (("VTKHDF/Points", "points/position"), ("VTKHDF/Offsets", "points/offset"),
                         ("VTKHDF/PointData/FA", "points/FA"), ("VTKHDF/CellData/measure", "samples/measure")):
                self.assertEqual(f[a], f[b])

    def test_a_result_without_fibres_can_be_opened(self):
        out = self.make("none.h5", "--least", 200)
        grid = self.read_grid(out)
        self.assertEqual((grid.GetNumberOfCells(), grid.GetNumberOfPoints()), (0, 0))


class NoFibres(Ragged):
    def test_it_is_a_complete_result_with_empty_datasets_for_any_number_of_ranks(self):
        for ranks in (1, 3):
            out = self.make(f"none{ranks}.h5", "--least", 200, ranks=ranks)
            with h5py.File(out, "r") as f:
                self.assertEqual(f.attrs["complete"], 1)
                self.assertEqual(f["points/position"].shape, (0, 3))
                self.assertEqual(f["points/offset"][()].tolist(), [0])
                self.assertEqual(f["connectome/count"].shape, (2, 2))
            self.assertEqual(voxherd("verify", out)[0], 0)
            self.assertEqual(voxherd("info", out)[0], 0)
        rc, output, _ = voxherd("compare", self.path("none1.h5"), self.path("none3.h5"))
        self.assertEqual(rc, 0, output)


class KilledRuns(KillAndResume, Ragged):
    program = "toy_run"

    def resume_and_compare(self, out, ranks):
        rc, output = ragged(ranks, out, "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), self.expected)
        self.assertEqual(voxherd("verify", out)[0], 0)
        self.assertFalse(os.path.exists(out + ".scores"))

    def test_kill_9_in_either_step_then_another_rank_count_gives_the_same_bytes(self):
        self.expected = digest(self.make("reference.h5", ranks=1))
        self.kill_at_random_times(lambda ranks, out: begin(ranks, out, "--resume", *SLOW, command="ragged"),
                                  self.resume_and_compare, 0.9, rank_counts=(1, 2, 3, 5), kills=3)

    def test_a_kill_in_the_second_step_keeps_the_first_step_and_finished_batches(self):
        expected = digest(self.make("reference.h5", ranks=1))
        out = self.path("killed.h5")
        job = begin(2, out, *SLOW, command="ragged")
        wait_for_batches(out, 5)
        os.kill(rank_processes(job)[1], signal.SIGKILL)
        remaining_output(job)
        self.assertTrue(os.path.exists(out + ".scores"))
        self.assertEqual(voxherd("verify", out + ".part")[0], 0)
        rc, output = ragged(2, out)
        self.assertEqual(rc, 2, output)
        self.assertEqual(output.count("--resume continues"), 1, output)
        rc, output = ragged(2, out, "--resume", "--seed", 2)
        self.assertEqual(rc, 2, output)
        self.assertIn("seed: 1 in the file, 2 now", output)
        table = self.path("times.json")
        rc, output = ragged(3, out, "--resume", "--json", table)
        self.assertEqual(rc, 0, output)
        with open(table) as f:
            self.assertGreaterEqual(json.load(f)["resumed_batches"], 5)
        self.assertEqual(digest(out), expected)

    def test_only_the_first_step_reports_that_nothing_is_resumed(self):
        rc, _, output = run_process(*mpirun(2, TOY, "ragged", "--threads", 1, "--out", self.path("new.h5"), "--resume"))
        self.assertEqual(rc, 0, output)
        self.assertEqual(output.count("starting from the beginning"), 1, output)

    def test_a_complete_result_is_not_scored_again(self):
        out = self.make()
        before = os.stat(out)
        rc, output = ragged(2, out, "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual(os.stat(out).st_mtime_ns, before.st_mtime_ns)
        self.assertEqual(os.listdir(self.folder), ["result.h5"])
        rc, _, output = run_process(*mpirun(2, TOY, "ragged", "--threads", 1, "--out", out, "--resume"))
        self.assertEqual(rc, 0, output)
        self.assertEqual(output.count("nothing to do"), 1, output)
        rc, output = ragged(2, out)
        self.assertEqual(rc, 2, output)
        self.assertFalse(os.path.exists(out + ".scores"))


class VerifyCompareInfo(Ragged):
    def setUp(self):
        super().setUp()
        for name in ("a.h5", "b.h5"):
            self.make(name, "--batch", 100)

    def change(self, dataset, place, change):
        with h5py.File(self.path("b.h5"), "r+") as f:
            f[dataset][place] = change(f[dataset][place])

    def compare(self, *options):
        """Of values that were written like that, not damaged later."""
        with changed_values(self.path("b.h5")):
            pass
        return voxherd("compare", self.path("a.h5"), self.path("b.h5"), *options)

    def test_verify_finds_a_changed_point_in_its_batch(self):
        with h5py.File(self.path("b.h5"), "r") as f:
            offset = f["points/offset"][()].astype(int)
        item = 250 + int(np.argmax(np.diff(offset)[250:300] > 2))
        self.change("points/hit", offset[item], lambda value: value + 1)
        rc, out, output = voxherd("verify", self.path("b.h5"))
        self.assertEqual(rc, 65, output)
        self.assertEqual(out.count("batch 2 (items 200 to 299)"), 1, out)
        self.assertEqual(voxherd("verify", self.path("a.h5"))[0], 0)

    def test_compare_names_the_item_and_its_point(self):
        self.assertEqual(self.compare()[0], 0)
        with h5py.File(self.path("b.h5"), "r") as f:
            offset = f["points/offset"][()].astype(int)
        item = int(np.argmax(np.diff(offset) > 5))
        self.change("points/position", (offset[item] + 4, 2), lambda value: value + 0.5)
        rc, out, _ = self.compare()
        self.assertEqual(rc, 1, out)
        line = [line for line in out.splitlines() if line.startswith("position ")][0]
        self.assertIn(f"item {item}, point 4, component 2", line)
        self.assertEqual(line.split()[2:4], [str(3 * offset[-1]), "1"])
        self.assertEqual(self.compare("--tolerance", 0.6)[0], 0)

    def test_compare_finds_a_different_connectome(self):
        self.change("connectome/best", (0, 1), lambda value: value + 0.25)
        rc, out, _ = self.compare()
        self.assertEqual(rc, 1, out)
        line = [line for line in out.splitlines() if line.startswith("connectome/best")][0].split()
        self.assertEqual(line[2:5], ["4", "1", "0.25"])

    def test_compare_reports_fibres_of_different_lengths(self):
        with h5py.File(self.path("b.h5"), "r") as f:
            longer = 1 + int(np.argmax(np.diff(f["points/offset"][()])[1:] > 0))
        self.change("points/offset", longer, lambda value: value + 1)
        rc, out, output = self.compare()
        self.assertEqual(rc, 1, out + output)
        self.assertIn("different numbers of points", out)

    def test_decreasing_offsets_are_reported(self):
        self.change("points/offset", 5, lambda value: 10**9)
        rc, _, output = voxherd("info", self.path("b.h5"))
        self.assertEqual(rc, 65, output)
        self.assertIn("/points/offset", output)

    def test_info_lists_points_and_groups(self):
        rc, out, output = voxherd("info", self.path("a.h5"))
        self.assertEqual(rc, 0, output)
        for word in ("/points/position[3]", "/samples/ends[2]", "/connectome/count[2,2]", "/inputs/bvals[4]",
                     "paths with"):
            self.assertIn(word, out)


if __name__ == "__main__":
    unittest.main()
