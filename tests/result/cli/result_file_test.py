"""The result file read by other programs (h5py, VTK), and by verify, compare and info."""
import json
import os
import shutil
import unittest

import numpy as np
from result_files import changed_values
from toy_jobs import ToyJobs, h5py, run, voxherd

try:
    import vtkmodules.all as vtk
    from vtkmodules.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk = None


class ResultFile(ToyJobs):
    def make(self, *options):
        out = self.path("result.h5")
        rc, output = run(2, out, "--nx", 7, "--ny", 6, "--batch", 11, *(options or ("--nz", 5)))
        self.assertEqual(rc, 0, output)
        return out

    def test_every_dataset_is_contiguous_and_has_a_unit_and_a_meaning(self):
        with h5py.File(self.make(), "r") as f:
            seen = []

            def check(name, thing):
                if isinstance(thing, h5py.Dataset):
                    self.assertTrue(thing.attrs["unit"], name)
                    self.assertTrue(thing.attrs["meaning"], name)
                    self.assertIsNone(thing.chunks, name)
                    seen.append(name)

            f.visititems(check)
            self.assertGreaterEqual(len(seen), 9)

    def test_the_root_attributes_state_the_origin(self):
        with h5py.File(self.make("--nz", 5, "--seed", 5), "r") as f:
            self.assertEqual(f.attrs["complete"], 1)
            self.assertEqual(f.attrs["analysis"], b"toy")
            self.assertEqual(json.loads(f.attrs["configuration"]), {"seed": 5, "backend": "cpu"})
            provenance = json.loads(f.attrs["provenance"])
            self.assertEqual(provenance["version"], f.attrs["voxherd_version"].decode())
            self.assertEqual(provenance["ranks"], 2)
            self.assertIn("--seed 5", provenance["command_line"])
            self.assertEqual(json.loads(f["journal/summary"][()].decode())["rank_count"], 2)

    def test_only_voxels_inside_the_mask_are_nonzero(self):
        with h5py.File(self.make(), "r") as f:
            label = f["maps/label"][()].ravel()
            inside = np.zeros(label.size, bool)
            inside[f["items/voxel"][()]] = True
            self.assertTrue((label[inside] > 0).all())
            self.assertTrue((label[~inside] == 0).all())

    def test_runs_with_different_ranks_and_batches_contain_equal_maps_and_samples(self):
        self.make()
        rc, output = run(3, self.path("other.h5"), "--nx", 7, "--ny", 6, "--nz", 5, "--partition", "slices", "--schedule",
                       "static")
        self.assertEqual(rc, 0, output)
        rc, out, _ = voxherd("compare", self.path("result.h5"), self.path("other.h5"))
        self.assertEqual(rc, 0, out)

    @unittest.skipIf(vtk is None, "python3-vtk9 is not installed")
    def test_vtk_reads_every_map_at_its_position_in_space(self):
        out = self.make()
        reader = vtk.vtkHDFReader()
        reader.SetFileName(out)
        reader.Update()
        image = reader.GetOutput()
        self.assertEqual(image.GetDimensions(), (7, 6, 5))
        self.assertEqual(image.GetOrigin(), (90.0, -126.0, -72.0))
        self.assertEqual(image.GetSpacing(), (2.0, 2.0, 2.5))
        self.assertEqual([image.GetDirectionMatrix().GetElement(i, i) for i in range(3)], [-1, 1, 1])
        with h5py.File(out, "r") as f:
            self.assertEqual(set(f["VTKHDF/PointData"]), set(f["maps"]))
            for name in f["maps"]:
                shown = vtk_to_numpy(image.GetPointData().GetArray(name))
                np.testing.assert_array_equal(shown.ravel(), f["maps"][name][()].ravel())

    def test_a_single_slice_has_no_vtkhdf_group(self):
        with h5py.File(self.make("--nz", 1), "r") as f:
            self.assertNotIn("VTKHDF", f)
            self.assertGreater(f["maps/label"][()].max(), 0)


class VerifyAndCompare(ToyJobs):
    def setUp(self):
        super().setUp()
        for name in ("a.h5", "b.h5"):
            rc, output = run(2, self.path(name), "--batch", 100)
            self.assertEqual(rc, 0, output)

    def change(self, dataset, place, change):
        with h5py.File(self.path("b.h5"), "r+") as f:
            f[dataset][place] = change(f[dataset][place])

    def compare(self, *options):
        """Of values that were written like that, not damaged later."""
        with changed_values(self.path("b.h5")):
            pass
        return voxherd("compare", self.path("a.h5"), self.path("b.h5"), *options)

    def test_verify_finds_a_changed_value(self):
        self.change("samples/draws", (250, 7), lambda value: value + 1)
        for ranks in (0, 3):
            rc, out, output = voxherd("verify", self.path("b.h5"), ranks=ranks)
            self.assertEqual(rc, 65, output)
            self.assertEqual(out.count("batch 2 (items 200 to 299)"), 1, out)
        self.assertEqual(voxherd("verify", self.path("a.h5"))[0], 0)

    def test_compare_reports_where_and_how_much_values_differ(self):
        self.change("maps/value", (5, 4, 3), lambda value: value + 0.5)
        rc, out, _ = self.compare()
        self.assertEqual(rc, 1, out)
        line = [line for line in out.splitlines() if line.startswith("value ")][0].split()
        self.assertEqual(line[3], "1")
        self.assertAlmostEqual(float(line[4]), 0.5, places=4)
        self.assertIn("voxel 3,4,5", out)
        self.assertEqual(self.compare("--tolerance", 0.4)[0], 1)
        self.assertEqual(self.compare("--tolerance", 0.6)[0], 0)

    def test_a_nan_on_one_side_exceeds_every_tolerance(self):
        self.change("maps/value", (5, 4, 3), lambda value: float("nan"))
        self.assertEqual(self.compare("--tolerance", 1e9)[0], 1)
        self.assertEqual(self.compare("--relative", 1e9)[0], 1)

    def test_compare_reports_results_on_different_images(self):
        rc, output = run(1, self.path("c.h5"), "--nx", 5)
        self.assertEqual(rc, 0, output)
        rc, out, _ = voxherd("compare", self.path("a.h5"), self.path("c.h5"))
        self.assertEqual(rc, 1)
        self.assertIn("20x16x14 and 5x16x14 voxels", out)

    def test_a_path_adds_no_line_and_no_colour_to_what_is_printed(self):
        with changed_values(self.path("b.h5")) as file:
            contents = json.loads(file.attrs["contents"])
            output, constant = contents["outputs"][0], contents["inputs"][0]
            file["maps/renamed"] = file[f"maps/{output['name']}"]
            file[f"renamed/{constant['name']}"] = file[f"{constant['group']}/{constant['name']}"]
            output["name"] = constant["group"] = "renamed"
            file.attrs["contents"] = np.bytes_(json.dumps(contents))
        odd = [self.path(f"{name}\n\x1b[31m.h5") for name in "ab"]
        for name, path in zip("ab", odd):
            os.rename(self.path(f"{name}.h5"), path)
        rc, out, errors = voxherd("compare", *odd)
        self.assertEqual(rc, 1, errors)
        self.assertEqual(out.count("only in "), 3, out)
        self.assertEqual(out.count(r"\x0a\x1b[31m.h5"), 5, out)
        for text in (out, voxherd("verify", odd[0])[1], voxherd("info", odd[0])[1]):
            self.assertIn(r"a\x0a\x1b[31m.h5", text)
            self.assertNotIn("\x1b", text)

    def test_info_lists_the_contents(self):
        rc, out, output = voxherd("info", self.path("a.h5"))
        self.assertEqual(rc, 0, output)
        for word in ("/maps/label", "/samples/draws[50]", "mm2/s", "/inputs/bvals[4]", "complete", "voxels in the mask"):
            self.assertIn(word, out)
        self.assertRegex(out, r"(?m)^command    \S")
        self.assertNotIn('"seed": 1', out)
        self.assertIn('"seed": 1', voxherd("info", self.path("a.h5"), "--verbose")[1])

    def test_info_lists_the_results_in_a_folder(self):
        folder = self.path("folder")
        os.mkdir(folder)
        rc, _, output = voxherd("info", folder)
        self.assertEqual(rc, 66)
        self.assertIn("a folder without results (.h5, .h5.part)", output)
        shutil.copy(self.path("a.h5"), folder)
        self.assertEqual(run(1, os.path.join(folder, "b.h5"), "--batch", 400, "--break-at", 4)[0], 70)
        for name in ("c.h5", "d.txt"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("text")
        rc, out, output = voxherd("info", folder)
        self.assertEqual(rc, 0, output)
        self.assertRegex(out, r"^a\.h5       toy +(\d+) of \1 batches, complete\n"
                              r"b\.h5\.part  toy +4 of 7 batches, incomplete: continue with --resume\n"
                              r"c\.h5       not readable: .*\n$")


if __name__ == "__main__":
    unittest.main()
