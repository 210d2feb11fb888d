"""voxherd export of a result with fibres and a connectome; fibre_files_test checks the files themselves."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from fibre_files_test import MM, read_trx
from program import files_below, run
from result_files import changed_tables

MAKE = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "fibre_result")
FIBRES = 50


class ExportedFibres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_fibre_export_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.result = cls.make("fibres.h5")
        with h5py.File(cls.result) as file:
            cls.affine = file["image"].attrs["voxel_to_world"].reshape(4, 4)
            cls.offsets = file["points/offset"][()]
            cls.points = {name: values[()] for name, values in file["points"].items() if name != "offset"}
            cls.rows = {name: values[()] for name, values in file["samples"].items()}
        assert len(cls.offsets) == FIBRES + 1

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def make(cls, name, *options, count=FIBRES):
        subprocess.run([MAKE, "fibres", "--count", str(count), "--out", cls.path(name), "--backend", "cpu", "--threads",
                        "1", "--batch", "7", "--quiet", *options], check=True, capture_output=True)
        return cls.path(name)

    def fibre(self, number):
        return self.points["position"][self.offsets[number]:self.offsets[number + 1]]


class Fibres(ExportedFibres):
    def test_positions_of_16_bits_are_rounded_to_the_nearest(self):
        out, again = self.path("half.trx"), self.path("half2.trx")
        for name in (out, again):
            run("export", self.result, "--to", "trx", name, "--half-positions")
        kind, found = read_trx(out)[1]["positions"]
        self.assertEqual(kind, "float16")
        np.testing.assert_array_equal(found, self.points["position"].astype(np.float16))
        with open(out, "rb") as first, open(again, "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_tck_and_trk_contain_the_positions_of_the_result(self):
        for kind in ("tck", "trk"):
            for ranks in (1, 3):
                with self.subTest(f"{kind}, {ranks} ranks"):
                    out = self.path(f"{ranks}.{kind}")
                    run("export", self.result, "--to", kind, out, ranks=ranks)
                    read = nibabel.streamlines.load(out).streamlines
                    self.assertEqual(len(read), FIBRES)
                    for number, found in enumerate(read):
                        self.assertEqual(found.shape, self.fibre(number).shape)
                        np.testing.assert_allclose(found, self.fibre(number), rtol=0, atol=MM)

    def test_tck_has_the_commands_that_made_it(self):
        out = self.path("new", "folder", "history.tck")  # its folder is created
        run("export", self.result, "--to", "tck", out)
        with open(out, "rb") as file:
            header = file.read().split(b"\nEND\n")[0].decode().splitlines()
        commands = [line for line in header if line.startswith("command_history: ")]
        self.assertEqual(len(commands), 2, header)
        self.assertIn("--count 50", commands[0])
        self.assertRegex(commands[1], r"command_history: voxherd export .*fibres.h5  \(version=[0-9.]+\)$")
        if shutil.which("tckinfo"):
            shown = subprocess.run(["tckinfo", out], capture_output=True, text=True, check=True).stdout
            self.assertRegex(shown, r"command_history: +\S.*--count 50")

    def test_trk_contains_arrays_of_fibres_and_of_points(self):
        run("export", self.result, "--to", "trk", self.path("arrays.trk"))
        read = nibabel.streamlines.load(self.path("arrays.trk")).tractogram
        np.testing.assert_array_equal(read.data_per_streamline["measure"][:, 0], self.rows["measure"])
        for column in (0, 1):
            np.testing.assert_array_equal(read.data_per_streamline[f"ends_{column + 1}"][:, 0],
                                          self.rows["ends"][:, column])
        np.testing.assert_array_equal(read.data_per_point["FA"].get_data()[:, 0], self.points["FA"])

    def test_trx_contains_the_complete_result(self):
        run("export", self.result, "--to", "trx", self.path("all.trx"))
        header, arrays = read_trx(self.path("all.trx"))
        np.testing.assert_array_equal(header["VOXEL_TO_RASMM"], self.affine)
        self.assertEqual((header["NB_STREAMLINES"], header["NB_VERTICES"]), (FIBRES, self.offsets[-1]))
        np.testing.assert_array_equal(arrays.pop("offsets")[1], self.offsets)
        np.testing.assert_array_equal(arrays.pop("positions")[1], self.points["position"])
        expected = {f"dps/{name}": values for name, values in self.rows.items()}
        expected.update({f"dpv/{name}": values for name, values in self.points.items() if name != "position"})
        self.assertEqual(set(arrays), set(expected))
        for name, values in expected.items():
            self.assertEqual(arrays[name][0], values.dtype.name)
            np.testing.assert_array_equal(arrays[name][1].reshape(values.shape), values, name)

    def test_trx_has_the_same_bytes_each_time(self):
        written = []
        for ranks in (1, 2):
            run("export", self.result, "--to", "trx", self.path(f"{ranks}.trx"), ranks=ranks)
            with open(self.path(f"{ranks}.trx"), "rb") as file:
                written.append(file.read())
        self.assertEqual(written[0], written[1])

    def test_overwrite_replaces_the_file(self):
        for kind in ("tck", "trk", "trx"):
            out = self.path(f"again.{kind}")
            with open(out, "w") as file:
                file.write("old")
            done = run("export", self.result, "--to", kind, out, expect=2)
            self.assertIn("replace it with --overwrite", done.stderr)
            self.assertEqual(os.path.getsize(out), 3)
            run("export", self.result, "--to", kind, out, "--overwrite")
            self.assertGreater(os.path.getsize(out), 1000)
            self.assertFalse(os.path.exists(out + ".voxherd-part"))

    def test_links_in_the_place_of_the_file_are_not_followed(self):
        precious = self.path("precious")
        for target in ("precious", "nothing"):
            for end in ("", ".voxherd-part"):
                for kind in ("tck", "trk", "trx"):
                    with open(precious, "w") as file:
                        file.write("the user's")
                    out = self.path(f"linked.{kind}")
                    os.symlink(target, out + end)
                    if not end:
                        self.assertIn(f"{out} exists; choose another path", run("export", self.result, "--to", kind, out, expect=2).stderr)
                    run("export", self.result, "--to", kind, out, "--overwrite")
                    self.assertGreater(os.path.getsize(out), 1000)
                    self.assertFalse(os.path.islink(out))
                    self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(f"linked.{kind}.")], [f"linked.{kind}{end}"] if end else [])
                    self.assertFalse(os.path.lexists(self.path("nothing")))
                    for name in {out, out + end}:
                        os.remove(name)
                    with open(precious) as file:
                        self.assertEqual(file.read(), "the user's")

    def test_exports_of_one_file_at_the_same_time_are_all_complete(self):
        run("export", self.result, "--to", "trx", self.path("one.trx"))
        expected = os.path.getsize(self.path("one.trx"))
        out = self.path("many.trx")
        jobs = [subprocess.Popen([os.environ["VOXHERD"], "export", self.result, "--to", "trx", out, "--overwrite"], stderr=subprocess.PIPE)
                for _ in range(6)]
        for job in jobs:
            self.assertEqual((job.wait(timeout=120), job.stderr.read().count(b"error")), (0, 0))
            job.stderr.close()
        self.assertEqual(os.path.getsize(out), expected)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("many.trx.")], [])

    def test_no_fibres_make_a_complete_file(self):
        empty = self.make("empty.h5", count=0)
        for kind in ("tck", "trk"):
            run("export", empty, "--to", kind, self.path(f"empty.{kind}"))
            self.assertEqual(len(nibabel.streamlines.load(self.path(f"empty.{kind}")).streamlines), 0)
        run("export", empty, "--to", "trx", self.path("empty.trx"))
        np.testing.assert_array_equal(read_trx(self.path("empty.trx"))[1]["offsets"][1], [0])


class Connectome(ExportedFibres):
    def test_matrices_and_their_nodes_are_written(self):
        run("export", self.result, "--to", "csv", self.path("csv"))
        self.assertEqual(files_below(self.path("csv")), ["best_measure.csv", "count.csv", "nodes.tsv"])
        with h5py.File(self.result) as file:
            for name in ("count", "best_measure"):
                np.testing.assert_array_equal(np.loadtxt(self.path("csv", f"{name}.csv"), delimiter=",").astype("f4"),
                                              file["connectome"][name][()].astype("f4"))
        with open(self.path("csv", "nodes.tsv")) as file:
            self.assertEqual(file.read(), "index\tlabel\n1\t1001\n2\t1002\n3\t2035\n")
        with open(self.path("csv", "count.csv")) as file:
            self.assertEqual(file.read(), "0,7,12\n7,0,3\n12,3,1\n")

    def test_means_of_an_image_along_paths_are_written(self):
        low, high = self.points["position"].min(0), self.points["position"].max(0)
        size = np.array((9, 10, 11))
        affine = np.diag((*(high - low) / size, 1))
        affine[:3, 3] = low + (high - low) / 4  # a part of the points is outside
        values = np.random.default_rng(1).random(size, dtype="f4")
        nibabel.save(nibabel.Nifti1Image(values, affine), self.path("noise.nii"))
        run("export", self.result, "--to", "csv", self.path("means"), "--statistics-of", self.path("noise.nii"))
        rows = np.genfromtxt(self.path("means", "paths.csv"), delimiter=",", names=True)
        self.assertEqual(rows.dtype.names, ("path", "length_mm", "mean_noise"))
        compared = 0
        for number in range(FIBRES):
            points = self.fibre(number).astype(float)
            voxels = np.floor(nibabel.affines.apply_affine(np.linalg.inv(affine), points) + .5).astype(int)
            inside = ((voxels >= 0) & (voxels < size)).all(1)
            pieces = np.linalg.norm(np.diff(points, axis=0), axis=1)
            weights = (np.r_[pieces, 0] + np.r_[0, pieces]) / 2 * inside if len(points) > 1 else np.ones(1) * inside
            row = rows[rows["path"] == number + 1]
            if len(points) == 0:
                self.assertEqual(row.size, 0)
                continue
            self.assertAlmostEqual(row["length_mm"][0], pieces.sum(), places=3)
            if weights.sum() == 0:
                self.assertTrue(np.isnan(row["mean_noise"][0]))
                continue
            mean = np.average(values[tuple(np.where(inside[:, None], voxels, 0).T)], weights=weights)
            self.assertAlmostEqual(row["mean_noise"][0], mean, places=4)
            compared += 1
        self.assertGreater(compared, 10)

    def test_existing_files_are_kept_without_overwrite(self):
        run("export", self.result, "--to", "csv", self.path("twice"))
        self.assertIn("--overwrite", run("export", self.result, "--to", "csv", self.path("twice"), expect=2).stderr)
        run("export", self.result, "--to", "csv", self.path("twice"), "--overwrite")


class Refusals(ExportedFibres):
    def refuse(self, status, words, *options):
        done = run("export", *options, expect=status)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for name in ("no", "no.tck", "no.trk", "no.trx", "no.trx.part"):
            self.assertFalse(os.path.exists(self.path(name)))

    def test_a_result_without_fibres_is_rejected(self):
        phantom = self.path("phantom")
        run("phantom", "dwi", "--out", phantom, "--size", "4x4x4", "--directions", "6", "--threads", "1")
        run("tensor", "--dwi", f"{phantom}/data.nii", "--bvals", f"{phantom}/bvals", "--bvecs", f"{phantom}/bvecs",
            "--backend", "cpu", "--threads", "1", "--out", self.path("tensor.h5"))
        for kind in ("tck", "trk", "trx"):
            self.refuse(65, "is a result of tensor without paths, expected one of geodesic", self.path("tensor.h5"), "--to",
                        kind, self.path(f"no.{kind}"))
        self.refuse(65, "run connect or geodesic with --connectome", self.path("tensor.h5"), "--to", "csv", self.path("no"))

    def test_a_result_without_the_requested_data_is_rejected(self):
        alone = self.make("alone.h5", "--no-connectome")
        self.refuse(65, "run connect or geodesic with --connectome", alone, "--to", "csv", self.path("no"))
        self.refuse(65, "without maps; use --to trx for paths", self.result, "--to", "nifti", self.path("no"))

    def test_a_wrong_path_is_rejected(self):
        self.refuse(2, "expected a name that ends in .trx", self.result, "--to", "trx", self.path("no.tck"))
        self.refuse(66, "absent.h5", self.path("absent.h5"), "--to", "trx", self.path("no.trx"))
        self.refuse(74, "cannot create the folder", self.result, "--to", "trx", os.path.join(self.result, "no.trx"))
        os.mkdir(self.path("folder.trx"))
        self.refuse(2, "is a folder", self.result, "--to", "trx", self.path("folder.trx"), "--overwrite")

    def test_an_unfinished_result_is_rejected(self):
        part = self.path("stopped.h5.part")
        shutil.copy(self.result, part)
        with h5py.File(part, "r+") as file:
            journal = file["journal/batches"][()]
            journal["done"][-1] = 0
            file["journal/batches"][...] = journal
        with changed_tables(part) as file:
            file.attrs["complete"] = np.uint8(0)
        self.refuse(65, "complete it with --resume first", part, "--to", "trx", self.path("no.trx"))
        os.mkdir(self.path("a.bedpostX"))
        shutil.copy(part, self.path("a.bedpostX/voxherd.h5.part"))
        self.refuse(65, "repeat the command that started it first", self.path("a.bedpostX/voxherd.h5.part"), "--to", "trx", self.path("no.trx"))


if __name__ == "__main__":
    unittest.main()
