"""Surfaces and values per vertex: read in every encoding and written, compared with nibabel and Connectome Workbench."""
import gzip
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import nibabel
    import numpy as np
    from nibabel import gifti
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOOL = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "surface_files")
SURFACES = os.path.join(os.environ["VOXHERD_DATA"], "track_spaces_reference", "surf")
TEMPLATES = os.path.join(os.environ["VOXHERD_DATA"], "hcp_templates")
ENCODINGS = ("ASCII", "B64BIN", "B64GZ")
POINTS = np.array([[0, 0, 0], [10.5, 0, -1e-7], [0, 1 / 3, 1e4], [-7, 8, 9]], np.float32)
TRIANGLES = np.array([[0, 1, 2], [1, 3, 2], [0, 3, 1]], np.int32)
VALUES = np.array([0, 1.5, -2e-30, 7], np.float32)


def array(data, intent, encoding="B64GZ", **more):
    return gifti.GiftiDataArray(data, intent=intent, encoding=encoding, datatype=data.dtype.type, **more)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_surface_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def convert(self, what, source, expect=0, out="out.gii"):
        done = subprocess.run([TOOL, what, source, self.path(out)], capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, done.stderr)
        return nibabel.load(self.path(out)) if expect == 0 else done.stderr

    def expect_mesh(self, image, points, triangles, values=None):
        np.testing.assert_array_equal(image.agg_data("pointset"), points)
        np.testing.assert_array_equal(image.agg_data("triangle"), triangles)
        self.assertEqual(len(image.darrays), 2 if values is None else 3)
        if values is not None:
            np.testing.assert_array_equal(image.darrays[2].data, values)


class Gifti(Case):
    def test_meshes_are_the_same_in_every_encoding(self):
        for encoding in ENCODINGS:
            arrays = [array(POINTS, "pointset", encoding), array(TRIANGLES, "triangle", encoding), array(VALUES, "shape", encoding)]
            self.expect_read(gifti.GiftiImage(darrays=arrays).to_xml(), exact=encoding != "ASCII")
            if encoding != "ASCII":  # nibabel writes only in its own byte order
                for a in arrays:
                    a.data = a.data.byteswap()
                self.expect_read(gifti.GiftiImage(darrays=arrays).to_xml().replace(b"LittleEndian", b"BigEndian"))

    def expect_read(self, content, exact=True):
        """As nibabel reads it, which wrote decimal numbers with six digits; also compressed as a whole."""
        image = nibabel.GiftiImage.from_bytes(content)
        if exact:
            np.testing.assert_array_equal(image.darrays[0].data, POINTS)
        for name, stored in (("in.surf.gii", content), ("in.surf.gii.gz", gzip.compress(content))):
            self.expect_mesh(self.convert("mesh", self.put(name, stored)), image.darrays[0].data, TRIANGLES, image.darrays[2].data)

    def test_columns_in_memory_order_are_turned(self):
        image = gifti.GiftiImage(darrays=[array(POINTS, "pointset", ordering="F"), array(TRIANGLES, "triangle", ordering="F")])
        source = self.put("in.gii", image.to_xml())
        self.expect_mesh(self.convert("mesh", source), nibabel.load(source).darrays[0].data, TRIANGLES)

    def test_real_surfaces_are_those_of_nibabel(self):
        if not os.path.isdir(SURFACES):
            self.skipTest(f"no {SURFACES}")
        names = sorted(name for name in os.listdir(SURFACES) if name.endswith(".gii"))
        self.assertGreater(len(names), 10)
        for name in names:
            image = nibabel.load(os.path.join(SURFACES, name))
            values = image.darrays[2].data if len(image.darrays) > 2 else None
            self.expect_mesh(self.convert("mesh", os.path.join(SURFACES, name)), image.agg_data("pointset"), image.agg_data("triangle"), values)

    def test_templates_keep_structure_points_and_values(self):
        if not os.path.isdir(TEMPLATES):
            self.skipTest(f"no {TEMPLATES}")
        for side, structure in (("L", "CortexLeft"), ("R", "CortexRight")):
            source = os.path.join(TEMPLATES, f"{side}.sphere.32k_fs_LR.surf.gii")
            mesh, expected = self.convert("mesh", source), nibabel.load(source)
            self.expect_mesh(mesh, expected.agg_data("pointset"), expected.agg_data("triangle"))
            self.assertEqual(mesh.darrays[0].meta["AnatomicalStructurePrimary"], structure)
            source = os.path.join(TEMPLATES, f"{side}.atlasroi.32k_fs_LR.shape.gii")
            roi = self.convert("values", source)
            self.assertEqual(roi.meta["AnatomicalStructurePrimary"], structure)
            np.testing.assert_array_equal(roi.darrays[0].data, nibabel.load(source).darrays[0].data)

    def test_values_keep_names_labels_and_the_structure(self):
        table = gifti.GiftiLabelTable()
        for key, name in ((0, "???"), (1001, "Left & <right>"), (312782546, "é")):
            label = gifti.GiftiLabel(key, 1, 0, 0, 1)
            label.label = name
            table.labels.append(label)
        keys = np.array([0, 1001, 312782546, 0], np.int32)
        labels = gifti.GiftiImage(darrays=[array(keys, "label", meta=gifti.GiftiMetaData({"Name": "parcels"}))], labeltable=table)
        back = self.convert("values", self.put("in.label.gii", labels.to_xml()))
        np.testing.assert_array_equal(back.darrays[0].data, keys)
        self.assertEqual(back.darrays[0].data.dtype, np.int32)
        self.assertEqual(back.labeltable.get_labels_as_dict(), table.get_labels_as_dict())
        meta = gifti.GiftiMetaData({"AnatomicalStructurePrimary": "CortexRight"})
        series = gifti.GiftiImage(meta=meta, darrays=[array(VALUES + k, "time series", meta=gifti.GiftiMetaData({"Name": f"t {k}"})) for k in range(3)])
        back = self.convert("values", self.put("in.func.gii", series.to_xml()))
        self.assertEqual(back.meta["AnatomicalStructurePrimary"], "CortexRight")
        for k in range(3):
            np.testing.assert_array_equal(back.darrays[k].data, VALUES + k)
            self.assertEqual(back.darrays[k].meta["Name"], f"t {k}")

    @unittest.skipUnless(shutil.which("wb_command"), "SKIPPED: connectome-workbench is not installed")
    def test_workbench_reads_what_is_written(self):
        if not os.path.isdir(TEMPLATES):
            self.skipTest(f"no {TEMPLATES}")
        for what, name in (("mesh", "L.sphere.32k_fs_LR.surf.gii"), ("values", "L.atlasroi.32k_fs_LR.shape.gii")):
            out = "out.surf.gii" if what == "mesh" else "out.func.gii"
            self.convert(what, os.path.join(TEMPLATES, name), out=out)
            done = subprocess.run(["wb_command", "-file-information", self.path(out)], capture_output=True, text=True, check=True)
            self.assertRegex(done.stdout, r"Number of Vertices: *32492")
            self.assertRegex(done.stdout, r"Structure: *CortexLeft")
            self.assertNotIn("WARNING", done.stdout + done.stderr)

    def test_files_that_workbench_writes_are_read(self):
        if not shutil.which("wb_command") or not os.path.isdir(TEMPLATES):
            self.skipTest("connectome-workbench or the templates are missing")
        source = os.path.join(TEMPLATES, "R.sphere.32k_fs_LR.surf.gii")
        expected = nibabel.load(source)
        for encoding in ("ASCII", "BASE64_BINARY", "GZIP_BASE64_BINARY"):
            subprocess.run(["wb_command", "-gifti-convert", encoding, source, self.path("wb.surf.gii")], check=True, capture_output=True)
            points = nibabel.load(self.path("wb.surf.gii")).agg_data("pointset")
            self.expect_mesh(self.convert("mesh", self.path("wb.surf.gii")), points, expected.agg_data("triangle"))
            np.testing.assert_allclose(points, expected.agg_data("pointset"), atol=1e-4)
        subprocess.run(["wb_command", "-gifti-convert", "EXTERNAL_FILE_BINARY", source, self.path("wb.surf.gii")], check=True, capture_output=True)
        self.assertIn("external file", self.convert("mesh", self.path("wb.surf.gii"), expect=65))


class Text(Case):
    def test_freesurfer_text_and_vtk_are_the_same_mesh(self):
        rows = "".join("{:.9g} {:.9g} {:.9g} {}\n".format(*p, v) for p, v in zip(POINTS, (0, 1, 0, 3)))
        faces = "".join("{} {} {} 0\n".format(*t) for t in TRIANGLES)
        text = self.put("white.asc", f"#!ascii from CsvMesh\n4 3\n{rows}{faces}")
        self.expect_mesh(self.convert("mesh", text), POINTS, TRIANGLES, [0, 1, 0, 3])
        points = " ".join("{:.9g} {:.9g} {:.9g}".format(*p) for p in POINTS)
        faces = "".join("3 {} {} {}\n".format(*t) for t in TRIANGLES)
        start = f"# vtk DataFile Version 3.0\nname\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n{points}\nPOLYGONS 3 12\n{faces}"
        self.expect_mesh(self.convert("mesh", self.put("first.vtk", start)), POINTS, TRIANGLES)
        scalars = "POINT_DATA 4\nSCALARS values int\nLOOKUP_TABLE default\n0 1\n0\n3\n"
        self.expect_mesh(self.convert("mesh", self.put("first.vtk", start + scalars)), POINTS, TRIANGLES, [0, 1, 0, 3])

    def test_parts_of_newer_vtk_files_that_are_not_used_are_skipped(self):
        points = " ".join("{:.9g} {:.9g} {:.9g}".format(*p) for p in POINTS)
        faces = "".join("3 {} {} {}\n".format(*t) for t in TRIANGLES)
        scalars = "SCALARS values int\nLOOKUP_TABLE default\n0 1\n0\n3\n"
        fields = ["FIELD FieldData 2\nother 2 {} int\n{}\nMETADATA\nCOMPONENT_NAMES\nx\n\nmore 1 {} float\n{}\n".format(n, "7 " * 2 * n, n, "1 " * n)
                  for n in (3, 4)]
        text = (f"# vtk DataFile Version 4.2\nname\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n{points}\n\nMETADATA\nINFORMATION 1\n"
                f"NAME x LOCATION y\nDATA 2 0 0\n\nVERTICES 2 4\n1 0\n1 3\nLINES 1 3\n2 0 1\nPOLYGONS 3 12\n{faces}CELL_DATA 3\n"
                f"SCALARS cells int\nLOOKUP_TABLE default\n7 8 9\n{fields[0]}"
                f"POINT_DATA 4\nNORMALS n float\n{'0 0 1 ' * 4}\n{fields[1]}{scalars}")
        self.expect_mesh(self.convert("mesh", self.put("new.vtk", text)), POINTS, TRIANGLES, [0, 1, 0, 3])
        self.expect_mesh(self.convert("mesh", self.put("mark.vtk", "\ufeff" + text.replace("\n", "\r\n"))), POINTS, TRIANGLES, [0, 1, 0, 3])

    def test_cells_as_offsets_and_corners_are_read(self):
        points = " ".join("{:.9g} {:.9g} {:.9g}".format(*p) for p in POINTS)
        corners = " ".join(str(corner) for corner in TRIANGLES.ravel())
        text = (f"# vtk DataFile Version 5.1\nname\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n{points}\nVERTICES 2 1\nOFFSETS vtktypeint64\n0 1\n"
                f"CONNECTIVITY vtktypeint64\n0\nPOLYGONS 4 9\nOFFSETS vtktypeint64\n0 3 6 9\nCONNECTIVITY vtktypeint64\n{corners}\n")
        self.expect_mesh(self.convert("mesh", self.put("new.vtk", text)), POINTS, TRIANGLES)
        for wrong, words in ((text.replace("0 3 6 9", "0 3 7 9"), "4 corners"), (text.replace("POLYGONS 4", "POLYGONS 9999"), "9998 polygons"),
                             (text.replace("CONNECTIVITY vtktypeint64\n0 1", "CORNERS vtktypeint64\n0 1"), "CONNECTIVITY"),
                             (text + "WORD 3\n", "WORD"), (text + "TRIANGLE_STRIPS 1 4\n", "vtkTriangleFilter")):
            self.assertIn(words, self.convert("mesh", self.put("wrong.vtk", wrong), expect=65))

    def test_files_that_vtk_writes_are_read(self):
        try:
            import vtk
        except ImportError:
            self.skipTest("no vtk")
        points, cells, vertices, mesh = vtk.vtkPoints(), vtk.vtkCellArray(), vtk.vtkCellArray(), vtk.vtkPolyData()
        for point in POINTS:
            points.InsertNextPoint(*map(float, point))
        for triangle in TRIANGLES:
            cells.InsertNextCell(3)
            for corner in triangle:
                cells.InsertCellPoint(int(corner))
        vertices.InsertNextCell(1)
        vertices.InsertCellPoint(0)
        values, pairs = vtk.vtkFloatArray(), vtk.vtkIntArray()
        values.SetName("values")
        pairs.SetName("pairs")
        pairs.SetNumberOfComponents(2)
        pairs.SetComponentName(0, "x")
        for k, value in enumerate((0, 1, 0, 3)):
            values.InsertNextValue(value)
            pairs.InsertNextTuple((k, k))
        mesh.SetPoints(points)
        mesh.SetPolys(cells)
        mesh.SetVerts(vertices)
        mesh.GetPointData().SetScalars(values)
        mesh.GetPointData().AddArray(pairs)
        for version in (42, 51):
            writer = vtk.vtkPolyDataWriter()
            writer.SetInputData(mesh)
            writer.SetFileName(self.path(f"{version}.vtk"))
            writer.SetFileVersion(version)
            writer.Write()
            found = self.convert("mesh", self.path(f"{version}.vtk"))
            np.testing.assert_allclose(found.agg_data("pointset"), POINTS, rtol=1e-5)
            np.testing.assert_array_equal(found.agg_data("triangle"), TRIANGLES)
            np.testing.assert_array_equal(found.darrays[2].data, [0, 1, 0, 3])

    def test_files_are_recognised_by_name_or_first_line(self):
        for name, content, expected in (("a.surf.gii", "", "surface"), ("b.gii.gz", "", "surface"), ("c", "#!ascii x", "surface"),
                                        ("d.vtk", "# vtk DataFile Version 3.0\n", "surface"), ("g.asc", "\ufeff#!ascii x\r\n", "surface"), ("e.txt", "surf/a.gii\n", "other"), ("f.nii", "#!", "other")):
            done = subprocess.run([TOOL, "recognise", self.put(name, content)], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.strip(), expected, name)
        done = subprocess.run([TOOL, "recognise", self.path("missing")], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "other")


class Refused(Case):
    """Each with a message of one line that names the file, what was found and what was expected."""

    def expect_refused(self, content, *words, name="in.surf.gii", what="mesh"):
        message = self.convert(what, self.put(name, content), expect=65)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertIn(self.path(name), message)
        for word in words:
            self.assertIn(word, message)

    def mesh(self, points=POINTS, triangles=TRIANGLES, values=None, encoding="B64GZ"):
        arrays = [array(points, "pointset", encoding), array(triangles, "triangle", encoding)]
        if values is not None:
            arrays.append(array(values, "shape", encoding))
        return gifti.GiftiImage(darrays=arrays).to_xml()

    def test_damaged_files(self):
        good = self.mesh()
        self.expect_refused(good[:len(good) // 2], "truncated")
        self.expect_refused(b"", "not XML")
        self.expect_refused(b"<html></html>", "<html>", "<GIFTI>")
        self.expect_refused(good.replace(b'Dim0="4"', b'Dim0="5"', 1), "48 bytes", "60 bytes", "5 x 3")
        self.expect_refused(good.replace(b'Dim0="4"', b'Dim0="3"', 1), "more bytes", "36 bytes")
        self.expect_refused(good.replace(b'Dim0="4"', b'Dim0="400000000"', 1), "compressed bytes", "4800000000")
        self.expect_refused(good.replace(b'Dim0="4"', b'Dim0="-4"', 1), "Dim0", "-4")
        self.expect_refused(good.replace(b'Dim0="4"', b'Dim0="99999999999999999999"', 1), "Dim0")
        self.expect_refused(good.replace(b"NumberOfDataArrays=\"2\"", b"NumberOfDataArrays=\"3\""), "2 data arrays", '"3"')
        self.expect_refused(good.replace(b"<Data>", b"<Data>*", 1), "base64")
        self.expect_refused(good.replace(b"<Data>", b"<Data>AAAA", 1), "damaged")
        plain = self.mesh(encoding="B64BIN")
        self.expect_refused(plain.replace(b"<Data>", b"<Data>" + b"AAAA" * 1000, 1), "text of more than")
        decimals = self.mesh(encoding="ASCII")
        self.expect_refused(decimals.replace(b"<Data>", b"<Data>x ", 1), "number 1", '"x"')
        self.expect_refused(decimals.replace(b"<Data>", b"<Data>1 ", 1), "more numbers")
        self.expect_refused(decimals.replace(b"</Data>", b"</Data><Data>1</Data>", 1), "text of 1 bytes")

    def test_xml_that_grows_or_is_too_deep(self):
        good = self.mesh()
        bomb = b'<!DOCTYPE GIFTI [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
        self.expect_refused(good.replace(b'<!DOCTYPE GIFTI SYSTEM "http://www.nitrc.org/frs/download.php/115/gifti.dtd">', bomb), "entity")
        self.expect_refused(good.replace(b"<MetaData", b"<x>" * 40 + b"</x>" * 40 + b"<MetaData", 1), "nested")
        self.expect_refused(good.replace(b"<MetaData", b"<MetaData><MD><Name>" + b"a" * (2 << 20) + b"</Name></MD></MetaData><MetaData", 1), "1048576")

    def test_nan_is_no_value_and_infinity_is_refused(self):
        """Metrics of Workbench have NaN on the medial wall."""
        given, expected = np.array([np.nan, 1.5, np.nan, 7], np.float32), [0, 1.5, 0, 7]
        arrays = [array(POINTS, "pointset"), array(TRIANGLES, "triangle"), array(given, "shape")]
        mesh = self.convert("mesh", self.put("in.surf.gii", gifti.GiftiImage(darrays=arrays).to_xml()))
        np.testing.assert_array_equal(mesh.darrays[2].data, expected)
        values = self.convert("values", self.put("in.func.gii", gifti.GiftiImage(darrays=arrays[2:]).to_xml()))
        np.testing.assert_array_equal(values.darrays[0].data, expected)
        text = "#!ascii\n4 1\n0 0 0 nan\n1 0 0 1.5\n0 1 0 NaN\n1 1 1 7\n0 1 2 0\n"
        np.testing.assert_array_equal(self.convert("mesh", self.put("in.asc", text)).darrays[2].data, expected)
        vtk = ("# vtk DataFile Version 3.0\nname\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 1 1 1\nPOLYGONS 1 4\n3 0 1 2\n"
               "POINT_DATA 4\nSCALARS v float\nLOOKUP_TABLE default\nnan 1.5 nan 7\n")
        np.testing.assert_array_equal(self.convert("mesh", self.put("in.vtk", vtk)).darrays[2].data, expected)
        endless = gifti.GiftiImage(darrays=[array(np.array([0, np.inf], np.float32), "shape")]).to_xml()
        self.expect_refused(endless, "vertex 1 has the value inf", what="values")
        self.expect_refused(text.replace("1.5", "inf"), "line 4", "inf", name="in.asc")
        self.expect_refused(vtk.replace("1.5", "-inf"), "-inf", name="in.vtk")

    def test_points_with_the_wrong_order_of_bytes_are_refused(self):
        """Their triangles may be right."""
        for points in (POINTS, np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], np.float32)):
            self.expect_refused(self.mesh(points.byteswap()), "expected millimetres", "Endian")
        self.expect_refused(self.mesh(POINTS * np.float32(1e9)), "expected millimetres")

    def test_arrays_that_do_not_fit_in_memory_are_refused_before_they_are_read(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        large = self.mesh().replace(b'Dim0="4"', b'Dim0="200000000"')
        done = subprocess.run([TOOL, "mesh", self.put("in.gii", large), self.path("out.gii")], capture_output=True, text=True, preexec_fn=limit)
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertIn("200000000 x 3 values would take 2.4 GB of memory, but this process can have only", done.stderr)

    def test_meshes_that_are_none(self):
        self.expect_refused(self.mesh(np.array([[0, 0, 0], [1, np.nan, 0], [0, 1, 0], [1, 1, 1]], np.float32)), "vertex 1", "nan")
        self.expect_refused(self.mesh(triangles=np.array([[0, 1, 4]], np.int32)), "triangle 0", "vertex 4", "0 to 3")
        self.expect_refused(self.mesh(triangles=np.array([[0, 1, -1]], np.int32)), "vertex -1")
        self.expect_refused(self.mesh(values=VALUES[:3]), "3 values", "4 vertices")
        self.expect_refused(self.mesh(values=np.array([0, np.inf, 1, 1], np.float32)), "vertex 1", "inf")
        self.expect_refused(self.mesh(values=np.stack([VALUES, VALUES], 1)), "2 columns")
        self.expect_refused(self.mesh(points=POINTS[:, :2].copy()), "2 columns")
        self.expect_refused(self.mesh(points=TRIANGLES), "integers")
        self.expect_refused(self.mesh(triangles=TRIANGLES.astype(np.float32)), "INT32")
        shape = gifti.GiftiImage(darrays=[array(VALUES, "shape")]).to_xml()
        self.expect_refused(shape, "no points", "white.surf.gii")
        self.expect_refused(self.mesh(), "no values", what="values")
        two = gifti.GiftiImage(darrays=[array(VALUES, "shape"), array(VALUES[:2], "shape")]).to_xml()
        self.expect_refused(two, "array 2", "2 values", "4", what="values")

    def test_text_files_that_are_wrong(self):
        good = "#!ascii\n3 1\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 1 2 0\n"
        for content, words in ((good.replace("3 1\n", "99999999999 1\n"), ("line 2", "99999999999")), (good.replace("1 0 0 0", "1 0 nan 0"), ("line 4", "nan")),
                               (good.replace("0 1 2 0", "0 1 3 0"), ("line 6", "vertex 3")), (good[:-14], ("end of the file",)),
                               (good.replace("1 0 0 0", "1 0 0 0 7"), ("fifth",)), (good.replace("0 1 2 0", "0 1 x 0"), ('"x"',))):
            self.expect_refused(content, *words, name="in.asc")
        vtk = "# vtk DataFile Version 3.0\nname\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\nPOLYGONS 1 4\n3 0 1 2\n"
        for content, words in ((vtk.replace("ASCII", "BINARY"), ("line", "BINARY")), (vtk.replace("3 0 1 2", "4 0 1 2 0"), ("4 corners",)),
                               (vtk.replace("POLYDATA", "STRUCTURED_GRID"), ("STRUCTURED_GRID",)), (vtk + "POINT_DATA 4\n", ("POINT_DATA 4",)),
                               (vtk.split("POLYGONS")[0], ("0 triangles",))):
            self.expect_refused(content, *words, name="in.vtk")
        self.expect_refused("hello", "is not a surface", name="in.txt")


if __name__ == "__main__":
    unittest.main()
