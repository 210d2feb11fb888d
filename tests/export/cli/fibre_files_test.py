"""TCK, TRK and TRX files, read by nibabel, by MRtrix and by a reader written only from TRX's published layout."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOOL = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "fibre_files")
FORMATS = ("tck", "trk", "trx")
SIZE = [61, 73, 41]
# float32 keeps 1.5e-5 mm at 200 mm; readers round once or twice more.
MM = 1e-4


def turned(x_degrees, y_degrees, z_degrees):
    turn = np.eye(3)
    for axis, degrees in enumerate((x_degrees, y_degrees, z_degrees)):
        a, (i, j) = np.radians(degrees), ((1, 2), (2, 0), (0, 1))[axis]
        one = np.eye(3)
        one[i, i] = one[j, j] = np.cos(a)
        one[i, j], one[j, i] = -np.sin(a), np.sin(a)
        turn = one @ turn
    return turn


def make_affine(columns, voxel_mm=(1.3, 2.1, 3.7), corner=(-81.5, 44.25, -37.125)):
    affine = np.eye(4)
    affine[:3, :3] = columns @ np.diag(voxel_mm)
    affine[:3, 3] = corner
    return affine


AFFINES = {
    "axial": make_affine(np.eye(3)),
    "oblique": make_affine(turned(20, -35, 10)),
    "oblique, left handed": make_affine(turned(20, -35, 10) @ np.diag([-1, 1, 1])),
    "sagittal, left handed": make_affine(turned(8, 95, -12) @ np.diag([1, 1, -1])),
    "far beyond 45 degrees": make_affine(turned(130, 48, -50)),
    "sheared": make_affine(turned(20, -35, 40) @ np.array([[1, 0.2, 0.1], [0, 1, -0.15], [0, 0, 1]])),
}


def some_fibres(affine, count=25, seed=1):
    """Lists of 1 to 60 points within the image, in world mm; the first list has one point."""
    draws = np.random.default_rng(seed)
    fibres = []
    for number in range(count):
        points = 1 if number == 0 else int(draws.integers(2, 60))
        voxels = draws.uniform(0, np.array(SIZE) - 1, (points, 3))
        fibres.append((voxels @ affine[:3, :3].T + affine[:3, 3]).astype(np.float32))
    return fibres


def stored_array(name, dtype, values):
    values = np.asarray(values, dtype)
    return {"name": name, "type": dtype, "width": 1 if values.ndim == 1 else values.shape[1],
            "values": values.ravel().tolist()}


def read_trx(path):
    """TRX as in its specification: a ZIP of NAME[.WIDTH].DTYPE and header.json."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
        header = json.loads(archive.read("header.json"))
        for name in archive.namelist():
            if name == "header.json":
                continue
            parts = name.split(".")
            width = int(parts[1]) if len(parts) == 3 else 1
            values = np.frombuffer(archive.read(name), np.dtype(parts[-1]).newbyteorder("<"))
            arrays[parts[0]] = (parts[-1], values.reshape(-1, width) if width > 1 else values)
    return header, arrays


class FibreFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_fibres_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, kind, fibres, affine=AFFINES["oblique"], fibre_arrays=(), point_arrays=(), expect=0, more=()):
        with open(self.path("arrays.json"), "w") as file:
            json.dump({"size": SIZE, "voxel_to_world": np.ravel(affine).tolist(),
                       "fibres": [np.where(np.isnan(f), None, np.asarray(f, np.float64)).tolist() for f in fibres],
                       "fibre_arrays": list(fibre_arrays), "point_arrays": list(point_arrays)}, file)
        out = self.path(f"fibres.{kind}")
        if os.path.exists(out):
            os.remove(out)
        self.done = subprocess.run([TOOL, self.path("arrays.json"), kind, out, *more], capture_output=True, text=True)
        self.assertEqual(self.done.returncode, expect, self.done.stderr)
        self.assertFalse(os.path.exists(out + ".part"))
        return out

    def expect_fibres(self, read, fibres):
        self.assertEqual(len(read), len(fibres))
        for found, expected in zip(read, fibres):
            self.assertEqual(found.shape, expected.shape)
            np.testing.assert_allclose(found, expected, rtol=0, atol=MM)


class Coordinates(FibreFiles):
    def test_nibabel_finds_the_world_coordinates_in_tck_and_trk(self):
        for name, affine in AFFINES.items():
            fibres = some_fibres(affine)
            for kind in ("tck", "trk"):
                with self.subTest(f"{kind} {name}"):
                    read = nibabel.streamlines.load(self.write(kind, fibres, affine))
                    self.expect_fibres(read.streamlines, fibres)
                    self.assertEqual(int(read.header["nb_streamlines"]), len(fibres))

    def test_trx_contains_the_world_coordinates(self):
        for name, affine in AFFINES.items():
            with self.subTest(name):
                fibres = some_fibres(affine)
                _, arrays = read_trx(self.write("trx", fibres, affine))
                np.testing.assert_array_equal(arrays["positions"][1], np.concatenate(fibres))

    def test_determinants_of_both_signs_are_among_the_affines(self):
        signs = {np.sign(np.linalg.det(a[:3, :3])) for a in AFFINES.values()}
        self.assertEqual(signs, {-1, 1})

    def test_trk_counts_from_the_corner_of_the_first_voxel(self):
        affine = AFFINES["oblique, left handed"]
        centres = np.array([[0, 0, 0], [2, 3, 5]]) @ affine[:3, :3].T + affine[:3, 3]
        path = self.write("trk", [centres], affine)
        stored = np.fromfile(path, np.float32, 6, offset=1004).reshape(2, 3)
        np.testing.assert_allclose(stored, [[0.65, 1.05, 1.85], [2.5 * 1.3, 3.5 * 2.1, 5.5 * 3.7]], atol=MM)

    def test_trk_header_describes_the_image(self):
        for name, affine in AFFINES.items():
            with self.subTest(name):
                path = self.write("trk", some_fibres(affine), affine)
                header = nibabel.streamlines.load(path, lazy_load=True).header
                self.assertEqual(os.path.getsize(path), 1000 + sum(4 + 12 * len(f) for f in some_fibres(affine)))
                self.assertEqual(header["version"], 2)
                self.assertEqual(header["hdr_size"], 1000)
                np.testing.assert_array_equal(header["dimensions"], SIZE)
                np.testing.assert_allclose(header["voxel_sizes"], np.linalg.norm(affine[:3, :3], axis=0), rtol=1e-6)
                np.testing.assert_allclose(header["voxel_to_rasmm"], affine, rtol=1e-6, atol=1e-6)
                self.assertEqual(header["voxel_order"].decode(), "".join(nibabel.aff2axcodes(affine)))

    def test_many_pieces_follow_one_another(self):
        fibres = [np.arange(3 * n, dtype=np.float32).reshape(n, 3) % 200 for n in (300000, 2, 200000, 100000, 1)]
        for kind in ("tck", "trk"):
            with self.subTest(kind):
                subprocess.run([TOOL, "70000,7", kind, self.path(f"many.{kind}")], check=True, capture_output=True)
                read = nibabel.streamlines.load(self.path(f"many.{kind}")).streamlines
                self.assertEqual(len(read), 70000)
                expected = (np.arange(3 * 7 * 70000) % 100003 / 1000).astype(np.float32).reshape(-1, 3)
                np.testing.assert_allclose(read.get_data(), expected, atol=MM)
                self.expect_fibres(nibabel.streamlines.load(self.write(kind, fibres)).streamlines, fibres)


class Arrays(FibreFiles):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draws = np.random.default_rng(2)
        cls.fibres = some_fibres(AFFINES["oblique"])
        count, points = len(cls.fibres), sum(map(len, cls.fibres))
        cls.per_fibre = {
            "stops": ("uint8", draws.integers(0, 11, (count, 2))),
            "regions": ("int32", draws.integers(-3, 200, (count, 2))),
            "measure": ("float32", draws.random(count)),
            "metric_length_of_the_whole_fibre": ("float64", draws.random(count)),
            "seed": ("uint64", np.arange(count) + 2**40),
            "steps": ("uint32", draws.integers(0, 4000, (count, 2))),
        }
        cls.per_point = {"FA": ("float32", draws.random(points)), "axis": ("float32", draws.random((points, 3)))}
        cls.arrays = {"fibre_arrays": [stored_array(n, *a) for n, a in cls.per_fibre.items()],
                    "point_arrays": [stored_array(n, *a) for n, a in cls.per_point.items()]}

    def test_trx_keeps_every_array_in_its_own_type(self):
        path = self.write("trx", self.fibres, **self.arrays)
        with zipfile.ZipFile(path) as archive:
            self.assertEqual(archive.namelist(), [
                "header.json", "positions.3.float32", "offsets.uint64", "dps/stops.2.uint8", "dps/regions.2.int32",
                "dps/measure.float32", "dps/metric_length_of_the_whole_fibre.float64", "dps/seed.uint64",
                "dps/steps.2.uint32", "dpv/FA.float32", "dpv/axis.3.float32"])
        header, arrays = read_trx(path)
        self.assertEqual(header["NB_STREAMLINES"], len(self.fibres))
        self.assertEqual(header["NB_VERTICES"], sum(map(len, self.fibres)))
        self.assertEqual(header["DIMENSIONS"], SIZE)
        np.testing.assert_array_equal(header["VOXEL_TO_RASMM"], AFFINES["oblique"])
        self.assertEqual(arrays["offsets"][0], "uint64")
        ends = np.cumsum([len(f) for f in self.fibres])
        np.testing.assert_array_equal(arrays["offsets"][1], np.concatenate([[0], ends]))
        for folder, expected in (("dps", self.per_fibre), ("dpv", self.per_point)):
            for name, (dtype, values) in expected.items():
                np.testing.assert_array_equal(arrays[f"{folder}/{name}"][1], values.astype(dtype), name)

    def test_trk_keeps_ten_numbers_per_fibre_narrow_arrays_first(self):
        path = self.write("trk", self.fibres, **self.arrays)
        self.assertNotIn("left out", self.done.stdout + self.done.stderr)
        read = nibabel.streamlines.load(path).tractogram
        expected = {"measure": 0, "metric_length_of_th": 0, "seed": 0}
        expected.update({f"{name}_{k}": k for name in ("stops", "regions", "steps") for k in (1, 2)})
        self.assertEqual(set(read.data_per_streamline), set(expected))
        for name, column in expected.items():
            full = next(n for n in self.per_fibre if n.startswith(name.rsplit("_", 1)[0] if column else name))
            values = self.per_fibre[full][1]
            values = values[:, column - 1] if column else values
            np.testing.assert_array_equal(read.data_per_streamline[name][:, 0], values.astype(np.float32), name)
        self.assertEqual(set(read.data_per_point), {"FA", "axis_1", "axis_2", "axis_3"})
        for name, values in (("FA", self.per_point["FA"][1]), ("axis_2", self.per_point["axis"][1][:, 1])):
            np.testing.assert_array_equal(read.data_per_point[name].get_data()[:, 0], values.astype(np.float32), name)
        self.expect_fibres(read.streamlines, self.fibres)

    def test_trk_names_the_arrays_left_out(self):
        count = len(self.fibres)
        arrays = [stored_array("wide", "float32", np.ones((count, 4)))]
        arrays += [stored_array(f"narrow{k}", "float32", np.full(count, k)) for k in range(8)]
        path = self.write("trk", self.fibres, fibre_arrays=arrays)
        self.assertIn("wide left out; use --to trx to write all", self.done.stdout + self.done.stderr)
        read = nibabel.streamlines.load(path).tractogram
        self.assertEqual(set(read.data_per_streamline), {f"narrow{k}" for k in range(8)})
        self.expect_fibres(read.streamlines, self.fibres)


class Edges(FibreFiles):
    def test_no_fibres_at_all(self):
        arrays = {"fibre_arrays": [stored_array("measure", "float32", [])],
                  "point_arrays": [stored_array("FA", "float32", [])]}
        for kind in ("tck", "trk"):
            with self.subTest(kind):
                self.assertEqual(len(nibabel.streamlines.load(self.write(kind, [], **arrays)).streamlines), 0)
        header, arrays = read_trx(self.write("trx", [], **arrays))
        self.assertEqual((header["NB_STREAMLINES"], header["NB_VERTICES"]), (0, 0))
        np.testing.assert_array_equal(arrays["offsets"][1], [0])
        self.assertEqual(arrays["positions"][1].shape, (0, 3))
        self.assertEqual(arrays["dps/measure"][1].size, 0)

    def test_a_fibre_of_one_point(self):
        fibres = [np.array([[1.5, -2.25, 30]], np.float32)]
        for kind in ("tck", "trk"):
            with self.subTest(kind):
                self.expect_fibres(nibabel.streamlines.load(self.write(kind, fibres)).streamlines, fibres)
        _, arrays = read_trx(self.write("trx", fibres))
        np.testing.assert_array_equal(arrays["offsets"][1], [0, 1])

    def test_tck_rejects_a_coordinate_that_would_end_the_fibre(self):
        fibres = [np.array([[1, 2, 3], [1, np.nan, 3]])]
        out = self.write("tck", fibres, expect=65)
        self.assertIn("point 1 has the coordinate nan", self.done.stderr)
        self.assertFalse(os.path.exists(out))
        self.write("trx", fibres)

    def test_trk_rejects_a_flat_affine(self):
        flat = AFFINES["oblique"].copy()
        flat[:3, 2] = flat[:3, 1]
        self.write("trk", some_fibres(flat), flat, expect=65)
        self.assertIn("cannot be inverted", self.done.stderr)


class BigArchives(FibreFiles):
    def test_sizes_and_places_are_read_from_64_bit_records(self):
        """Every number above 100 is written in 64 bits, so that small files exercise the code for 4 GiB."""
        fibres = some_fibres(AFFINES["oblique"])
        array = stored_array("measure", "float32", np.arange(len(fibres)))
        path = self.write("trx", fibres, fibre_arrays=[array], more=["100"])
        with open(path, "rb") as file:
            raw = file.read()
        for signature in (b"PK\6\6", b"PK\6\7"):
            self.assertEqual(raw.count(signature), 1)
        _, arrays = read_trx(path)
        np.testing.assert_array_equal(arrays["positions"][1], np.concatenate(fibres))
        np.testing.assert_array_equal(arrays["dps/measure"][1], np.arange(len(fibres)))

    def test_small_archives_have_none(self):
        with open(self.write("trx", some_fibres(AFFINES["oblique"])), "rb") as file:
            raw = file.read()
        self.assertNotIn(b"PK\6\6", raw)

    def test_unzip_finds_no_errors(self):
        if shutil.which("unzip") is None:
            self.skipTest("unzip is not installed")
        for more in ([], ["100"]):
            path = self.write("trx", some_fibres(AFFINES["oblique"]), more=more)
            done = subprocess.run(["unzip", "-t", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class SeenByMrtrix(FibreFiles):
    def setUp(self):
        if shutil.which("tckinfo") is None:
            self.skipTest("MRtrix's tckinfo is not installed")

    def test_tckinfo_counts_the_fibres(self):
        for count in (0, 1, 25):
            path = self.write("tck", some_fibres(AFFINES["oblique"], count))
            output = subprocess.run(["tckinfo", "-count", path], capture_output=True, text=True, check=True).stdout
            fields = dict(line.split(":", 1) for line in output.splitlines() if ":" in line)
            self.assertEqual(int(fields["    count"]), count)
            self.assertEqual(int(fields["actual count in file"]), count)

    def test_its_lengths_equal_ours(self):
        fibres = some_fibres(AFFINES["oblique"])
        path = self.write("tck", fibres)
        subprocess.run(["tckstats", path, "-dump", self.path("lengths.txt")], check=True, capture_output=True)
        lengths = [np.linalg.norm(np.diff(f.astype(float), axis=0), axis=1).sum() for f in fibres]
        np.testing.assert_allclose(np.loadtxt(self.path("lengths.txt")), lengths, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
