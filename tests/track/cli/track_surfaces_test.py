"""voxherd track and probtrackx2 from and through surfaces: straight fibres and sheets, FSL's results, any ranks, errors."""
import json
import os
import shutil
import tempfile
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, MISSING, USAGE
from surface_files import sheet, sphere, write_labels, write_values
from toy_jobs import digest, h5py, voxherd
from track_jobs import MINUS, SIZE, Probtrackx2Jobs, SurfaceJobs, TractJobs, WarpJobs, bend, constants, inverse_bend, maps, positions
from track_reference_data import RUNS, image, rms, z_values

DATA = os.path.join(os.environ.get("VOXHERD_DATA", ""), "track_spaces_reference")
SAMPLES = os.path.join(os.environ.get("VOXHERD_DATA", ""), "track_reference")


class Masks(SurfaceJobs):
    def test_a_half_ends_at_the_first_point_behind_a_surface_to_stop_at(self):
        np.testing.assert_array_equal(self.row("--stop", self.sheet("stop", 14.1))[1:], [20] * 14 + [0] * 9)

    def test_a_half_that_crosses_a_surface_to_exclude_is_rejected(self):
        out = self.row("--exclude", self.sheet("no", 14.1))
        np.testing.assert_array_equal(out[1:], [20] * 10 + [0] * 13)
        out = self.row("--exclude", self.sheet("no", 14.1), self.sheet("no_more", 6.1))
        self.assertFalse(out.any())

    def test_a_half_ends_before_it_crosses_a_walk_through_stop_again(self):
        gate = self.sheet("gate", 12.1, 15.6)
        np.testing.assert_array_equal(self.row("--walk-through-stop", gate)[1:], [20] * 15 + [0] * 8)
        np.testing.assert_array_equal(self.row("--walk-through-stop", gate, self.mask("box", np.s_[12:14, :, :]))[1:], [20] * 13 + [0] * 10)
        apart = self.row("--walk-through-stop", self.sheet("one", 12.1), self.sheet("other", 15.6))
        self.assertTrue(apart[1:-1].all())

    def test_images_and_surfaces_to_include_are_alike(self):
        far, near = self.sheet("far", 20.1), self.sheet("near", 5.1)
        box, beyond = self.mask("box", np.s_[15, :, :]), self.sheet("beyond", 23.4)
        for masks, rule, passes in (((far, near, box), "and", True), ((far, beyond), "and", False), ((far, beyond), "or", True)):
            self.assertEqual(self.row("--include", *masks, "--include-rule", rule).any(), passes)

    def test_active_vertices_choose_the_triangles(self):
        points, triangles = sheet(14.1)
        beside = (points[:, 1] > 8).astype(float)
        self.assertEqual(self.row("--stop", self.surface("beside", points, triangles, beside))[16], 20)
        self.assertEqual(self.row("--stop", self.surface("here", points, triangles, 1 - beside))[16], 0)
        for value in (0, 2.5):
            self.assertEqual(self.row("--stop", self.surface("all", points, triangles, np.full(len(points), value)))[16], 0)

    def test_the_spaces_of_meshes_give_the_same_counts(self):
        points, triangles = sheet(14.1)
        half = np.array(SIZE) // 2
        stored = points * [-1, 1, 1] + [SIZE[0] - 1, 0, 0]
        freesurfer = np.stack([half[0] - stored[:, 0], stored[:, 2] - half[1], half[2] - stored[:, 1]], axis=1)
        expected = self.row("--stop", self.sheet("caret", 14.1))
        for space, mm in (("vox", stored), ("first", 2 * stored), ("freesurfer", 2 * freesurfer)):
            surface = self.text(space, mm, triangles, np.zeros(len(points)))
            np.testing.assert_array_equal(self.row("--stop", surface, "--mesh-space", space), expected)

    def test_a_list_may_mix_images_and_surfaces(self):
        self.sheet("stop", 14.1)
        self.mask("box", np.s_[5, :, :])
        with open(self.path("list.txt"), "w") as file:
            file.write("stop.asc\nbox\n")
        np.testing.assert_array_equal(self.row("--stop", self.path("list.txt"))[1:16], [0] * 4 + [20] * 10 + [0])

    def test_no_accepted_streamline_names_the_surfaces_that_were_met(self):
        rc, output = self.launch(self.path("none.h5"), "--samples", self.samples(), "--seed-image", self.mask("seed", np.s_[10, 3, 3]),
                                 "--samples-per-seed", 20, "--include", self.sheet("far", 20.1), self.sheet("beyond", 23.4), "--verbose")
        self.assertNotEqual(rc, None)
        if rc == 0:
            self.assertIn("far.asc was reached by 20, beyond.asc by 0", output)


class Hemispheres(SurfaceJobs):
    """Two closed white surfaces with closed pial ones around them, and fibres between them."""

    def setUp(self):
        super().setUp()
        self.white, self.pial, self.white_values, self.pial_values = [], [], [], []
        for side, x, medial in (("L", 17, -1), ("R", 6, 1)):
            for kind, radius, files, values in (("white", 1.6, self.white, self.white_values), ("pial", 2.4, self.pial, self.pial_values)):
                points, triangles = sphere((x, 4, 3), radius)
                files.append(self.surface(f"{kind}.{side}", points, triangles))
                cortex = np.where(medial * (points[:, 0] - x) > .5 * radius, np.nan, 1.)
                structure = "CortexLeft" if side == "L" else "CortexRight"
                values.append(write_values(self.path(f"{kind}.{side}.atlasroi.shape.gii"), cortex, structure))

    def between(self, name, *options, kind="--seed-image"):
        """Counts between and within the hemispheres, and the log."""
        matrix = self.path(name + ".matrix.h5")
        rc, output = self.launch(self.path(name + ".h5"), "--samples", self.samples(), kind, *self.white, "--samples-per-seed", 20, "--matrix1",
                                 matrix, *options)
        self.assertEqual(rc, 0, output)
        place, points = constants(matrix, "matrix"), constants(matrix, "points")
        row = np.repeat(np.arange(len(points["offset"]) - 1), np.diff(points["offset"].astype(int)))
        is_between = place["row_roi"][row] != place["column_roi"][points["column"]]
        return points["count"][is_between].sum(), points["count"][~is_between].sum(), output

    def test_closed_surfaces_stop_all_streamlines_between_them_unless_values_open_the_medial_wall(self):
        warning = "no streamline joins two of the 2 surfaces of seeds"
        for kind in ("--seed-image", "--connectome"):
            closed, within, output = self.between("closed" + kind, "--stop", *self.pial, kind=kind)
            self.assertEqual(closed, 0)
            self.assertIn(warning, output)
            if kind == "--seed-image":
                self.assertGreater(within, 1000)
            opened, _, output = self.between("open" + kind, "--stop", *self.pial, "--surface-values", *self.white_values, *self.pial_values, kind=kind)
            self.assertGreater(opened, 100)
            self.assertNotIn(warning, output)

    def test_values_for_the_seeds_alone_leave_the_masks_closed(self):
        closed, _, output = self.between("seeds", "--stop", *self.pial, "--surface-values", *self.white_values)
        self.assertEqual(closed, 0)
        self.assertIn("no streamline joins", output)

    def test_values_are_as_those_of_the_file_itself(self):
        inside = []
        for kind, radius, x, medial in (("white", 1.6, 17, -1), ("white", 1.6, 6, 1), ("pial", 2.4, 17, -1), ("pial", 2.4, 6, 1)):
            points, triangles = sphere((x, 4, 3), radius)
            inside.append(self.surface(f"{kind}{x}", points, triangles, np.where(medial * (points[:, 0] - x) > .5 * radius, 0, 1.)))
        expected = self.between("values", "--stop", *self.pial, "--surface-values", *self.white_values, *self.pial_values)
        self.white = inside[:2]
        self.assertEqual(self.between("inside", "--stop", *inside[2:])[:2], expected[:2])

    def test_ranks_and_resumed_runs_agree_and_the_values_are_inputs(self):
        words = ("--samples", self.samples(), "--seed-image", *self.white, "--samples-per-seed", 20, "--stop", *self.pial, "--surface-values",
                 *self.white_values, *self.pial_values)
        one, three = self.make("1.h5", *words), self.make("3.h5", *words, ranks=3)
        self.assertEqual(digest(one), digest(three))
        write_values(self.pial_values[0], np.ones(len(sphere((0, 0, 0), 1)[0])), "CortexLeft")
        rc, output = self.launch(one, *words, "--resume")
        self.assertEqual(rc, USAGE, output)
        self.assertIn("surface-values 3", output)

    def test_values_of_another_mesh_are_refused(self):
        short = [write_values(path, np.ones(len(sphere((0, 0, 0), 1)[0]) - 1)) for path in self.pial_values]
        rc, output = self.launch(self.path("no.h5"), "--samples", self.samples(), "--seed-image", *self.white, "--stop", *self.pial,
                                 "--surface-values", *self.white_values, *short)
        self.assertEqual(rc, BAD_DATA, output)
        self.assertIn("as in " + self.pial[0], output)


class Seeds(SurfaceJobs):
    def seeds(self):
        """Two of the vertices inside the samples of two sheets, in a list with an image."""
        self.inside = {}
        for name, x in (("left", 8.), ("right", 14.)):
            points, triangles = sheet(x, cell=1.5, first=-1.5)
            chosen = (points[:, 1] == 3) & (points[:, 2] >= 1.5) & (points[:, 2] <= 3)
            self.inside[name] = np.flatnonzero(chosen)
            self.surface(name, points, triangles, chosen * 1.)
        self.mask("box", np.s_[11, 3:5, 3])
        with open(self.path("seeds.txt"), "w") as file:
            file.write("left.asc box.nii right.asc")
        return self.path("seeds.txt")

    def test_streamlines_start_at_the_vertices_and_results_name_them(self):
        out = self.make("out.h5", "--samples", self.samples(), "--seed-image", self.seeds(), "--samples-per-seed", 30, "--targets",
                        self.sheet("near", 12.1), self.mask("far", np.s_[3, :, 2:4]), "--lengths")
        found = constants(out, "seeds")
        np.testing.assert_array_equal(found["roi"], [0, 0, 1, 1, 2, 2])
        np.testing.assert_array_equal(found["place"], [*self.inside["left"], 0, 1, *self.inside["right"]])
        np.testing.assert_allclose(found["position"][:, 0], [16, 16, 22, 22, 28, 28])
        np.testing.assert_array_equal(found["accepted"], [30] * 6)
        np.testing.assert_array_equal(found["hits"], [[30, 30]] * 6)
        np.testing.assert_allclose(found["mean_length_mm"][:, 0], [8.5, 8.5, 2.5, 2.5, 4, 4])
        density = maps(out)["density"]
        self.assertEqual(density.sum(axis=(1, 2))[10], 180)
        self.assertEqual(density[10, 3, 2] + density[10, 3, 1], 60)  # 1.5 is the border of two voxels
        np.testing.assert_array_equal(maps(out)["accepted"][11, 3:5, 3], [30, 30])
        with h5py.File(out, "r") as file:
            listed = json.loads(file.attrs["configuration"])["seed_surfaces"]
        self.assertEqual([(entry["file"], entry["kind"]) for entry in listed],
                         [("left.asc", "surface"), ("box.nii", "volume"), ("right.asc", "surface")])
        self.assertEqual([entry.get("vertices", entry.get("voxels")) for entry in listed], [81, 2, 81])

    def test_a_matrix_of_vertices_has_the_rings_of_the_vertices_that_are_hit(self):
        left, right = self.sheet("left", 8., cell=1.5, first=-1.5), self.sheet("right", 14., cell=1.5, first=-1.5)
        matrix = self.path("matrix.h5")
        self.make("out.h5", "--samples", self.samples(), "--seed-image", left, right, "--samples-per-seed", 10, "--matrix1", matrix)
        place, points = constants(matrix, "matrix"), constants(matrix, "points")
        np.testing.assert_array_equal(place["row_place"], [*range(81)] * 2)
        np.testing.assert_array_equal(place["column_roi"], [0] * 81 + [1] * 81)
        self.assertEqual(set(place["column_voxel"]), {-1})
        vertex = 3 * 9 + 3  # at (8, 3, 3); fibres lead exactly to the same vertex of the other sheet
        ring = np.array([1, 8, 9, -1, -8, -9]) + vertex
        found = points["column"][points["offset"][vertex]:points["offset"][vertex + 1]]
        np.testing.assert_array_equal(found, np.sort([*ring, *(ring + 81), vertex + 81]))
        self.assertEqual(set(points["count"][points["offset"][vertex]:points["offset"][vertex + 1]]), {10})

    def test_the_corners_of_one_triangle_are_not_connected_by_it(self):
        one, other = self.sheet("one", 8.1, cell=4., first=.5), self.sheet("other", 14.1, cell=4., first=.5)
        with open(self.path("both.txt"), "w") as file:
            file.write("one.asc other.asc")
        for target, pairs in ((one, 0), (self.path("both.txt"), 9)):
            matrix = self.path("matrix.h5")
            self.straight("out.h5", "--matrix3", matrix, "--target3", target, "--overwrite")
            found = constants(matrix, "points")
            np.testing.assert_array_equal(found["count"], [20] * pairs)
        self.straight("out.h5", "--matrix3", matrix, "--target3", one, "--target3-columns", self.mask("box", np.s_[16, 3, 3]), "--overwrite")
        np.testing.assert_array_equal(constants(matrix, "points")["count"], [20] * 3)
        self.assertNotIn("column_roi", constants(matrix, "matrix"))

    def test_values_choose_the_vertices_of_seeds(self):
        import nibabel
        points, triangles = sheet(8., cell=1.5, first=-1.5)
        values = ((points[:, 1] == 3) & (points[:, 2] == 3)).astype(np.float32)
        file = self.path("one.func.gii")
        nibabel.save(nibabel.gifti.GiftiImage(darrays=[nibabel.gifti.GiftiDataArray(values, intent="NIFTI_INTENT_SHAPE")]), file)
        surface = self.surface("seeds", points, triangles)
        out = self.make("out.h5", "--samples", self.samples(), "--seed-image", surface, "--surface-values", file, "--samples-per-seed", 10)
        np.testing.assert_array_equal(constants(out, "seeds")["place"], np.flatnonzero(values))
        short = self.path("short.func.gii")
        nibabel.save(nibabel.gifti.GiftiImage(darrays=[nibabel.gifti.GiftiDataArray(values[:7], intent="NIFTI_INTENT_SHAPE")]), short)
        rc, output = self.launch(self.path("no.h5"), "--samples", self.samples(), "--seed-image", surface, "--surface-values", short)
        self.assertEqual(rc, BAD_DATA)
        self.assertIn("has values of 7 vertices, expected 81", output)

    def test_the_columns_of_a_matrix_may_be_vertices_of_any_surface(self):
        matrix = self.path("matrix.h5")
        self.straight("out.h5", "--matrix2", matrix, "--target2", self.sheet("one", 8.1, cell=4., first=.5))
        np.testing.assert_array_equal(constants(matrix, "points")["count"], [20] * 3)
        self.assertNotIn("row_roi", constants(matrix, "matrix"))

    def test_a_network_may_have_regions_of_both_kinds(self):
        self.seeds()
        out = self.make("out.h5", "--samples", self.samples(), "--connectome", self.path("left.asc"), self.path("box.nii"),
                        self.path("right.asc"), "--samples-per-seed", 30)
        count = constants(out, "connectome")["count"]
        np.testing.assert_array_equal(np.diag(count), [0] * 3)
        np.testing.assert_array_equal(count[[0, 2], [2, 0]], [60, 60])
        self.assertEqual(count[1, 0], 60)  # triangles around the vertices

    def test_nan_chooses_no_vertices(self):
        points, triangles = sheet(8., cell=1.5, first=-1.5)
        chosen = (points[:, 1] == 3) & (points[:, 2] == 3)
        values = write_values(self.path("nan.func.gii"), np.where(chosen, 2., np.nan))
        surface = self.surface("seeds", points, triangles)
        out = self.make("out.h5", "--samples", self.samples(), "--seed-image", surface, "--surface-values", values, "--samples-per-seed", 10)
        np.testing.assert_array_equal(constants(out, "seeds")["place"], np.flatnonzero(chosen))

    def test_a_warning_says_that_the_labels_of_a_surface_are_one_region(self):
        self.seeds()
        keys = write_labels(self.path("keys.label.gii"), np.ones(81), {1: "a"})
        words = "--samples", self.samples(), "--connectome", self.path("left.asc"), self.path("box.nii"), "--samples-per-seed", 3
        rc, output = self.launch(self.path("out.h5"), *words, "--surface-values", keys)
        self.assertEqual(rc, 0, output)
        self.assertIn("keys.label.gii: its labels are one region", output)

    def test_the_bytes_are_the_same_for_any_ranks(self):
        def make(number, ranks):
            files = [self.path(f"{number}_{kind}.h5") for kind in (1, 2, 3)]
            out = self.make(f"{number}.h5", "--samples", self.scattered(), "--seed-image", seeds, "--seed-radius", .3, "--samples-per-seed", 300,
                            "--include", self.sheet("way", 10.2), "--walk-through-stop", self.sheet("gate", 5.3, 18.2), "--targets",
                            self.sheet("near", 12.1), "--matrix1", files[0], "--matrix3", files[1], "--target3", self.path("near.asc"),
                            "--paths", files[2], "--lengths", ranks=ranks)
            return [digest(file) for file in (out, *files)]

        seeds = self.seeds()
        expected = make(0, 0)
        for number, ranks in enumerate((2, 3), 1):
            self.assertEqual(make(number, ranks), expected)


class Origins(SurfaceJobs):
    """What GIFTI says of other coordinates is not applied, as in FSL, but never passed over in silence."""
    MATRIX = ("<CoordinateSystemTransformMatrix><DataSpace><![CDATA[{}]]></DataSpace><TransformedSpace><![CDATA[{}]]></TransformedSpace>"
              "<MatrixData>1 0 0 {} 0 1 0 0 0 0 1 0 0 0 0 1</MatrixData></CoordinateSystemTransformMatrix>")

    def gifti(self, name, centre=None, transform=""):
        points, triangles = sheet(14.1)
        meta = "" if centre is None else "<MetaData>" + "".join(f"<MD><Name>VolGeomC_{axis}</Name><Value>{mm}</Value></MD>"
                                                                 for axis, mm in zip("RAS", centre)) + "</MetaData>"
        array = ('<DataArray Intent="NIFTI_INTENT_{}" DataType="NIFTI_TYPE_{}" ArrayIndexingOrder="RowMajorOrder" Dimensionality="2" Dim0="{}" '
                 'Dim1="3" Encoding="ASCII" Endian="LittleEndian">{}<Data>{}</Data></DataArray>')
        with open(self.path(name), "w") as file:
            file.write('<?xml version="1.0"?><GIFTI Version="1.0" NumberOfDataArrays="2">'
                       + array.format("POINTSET", "FLOAT32", len(points), meta + transform, " ".join(map(str, 2 * points.ravel())))
                       + array.format("TRIANGLE", "INT32", len(triangles), "", " ".join(map(str, triangles.ravel()))) + "</GIFTI>")
        return self.path(name)

    def messages(self, *options):
        rc, output = self.launch(self.path("out.h5"), "--samples", self.samples(), "--seed-image", self.mask("seed", np.s_[10, 3, 3]),
                                 "--samples-per-seed", 5, "--overwrite", *options)
        self.assertEqual(rc, 0, output)
        return output

    def test_an_origin_or_a_transform_of_the_scanner_is_warned_of(self):
        moved = self.gifti("moved.surf.gii", (6, -4, 5))
        self.assertIn("its VolGeomC_R, _A, _S say that they count from the centre of FreeSurfer's volume, at 6, -4, 5 mm", self.messages("--stop", moved))
        mapped = self.gifti("mapped.surf.gii", transform=self.MATRIX.format("NIFTI_XFORM_UNKNOWN", "NIFTI_XFORM_SCANNER_ANAT", 7))
        self.assertIn("CoordinateSystemTransformMatrix maps them to the scanner's space, a shift of 7, 0, 0 mm", self.messages("--stop", mapped))

    def test_coordinates_that_are_those_of_the_world_are_not(self):
        for surface in (self.gifti("zero.surf.gii", (0, 0, 0)), self.gifti("none.surf.gii"),
                        self.gifti("scanner.surf.gii", (6, -4, 5), self.MATRIX.format("NIFTI_XFORM_SCANNER_ANAT", "NIFTI_XFORM_SCANNER_ANAT", 0)),
                        self.gifti("talairach.surf.gii", transform=self.MATRIX.format("NIFTI_XFORM_UNKNOWN", "NIFTI_XFORM_TALAIRACH", 7))):
            self.assertNotIn("are read as mm of the world", self.messages("--stop", surface))
        moved = self.gifti("moved.surf.gii", (6, -4, 5))
        self.assertNotIn("are read as mm of the world", self.messages("--stop", moved, "--mesh-space", "first"))


class Warps(SurfaceJobs, WarpJobs):
    def test_surfaces_and_matrices_through_a_warp_are_the_same_bytes_for_any_ranks(self):
        def shape(name, x, **how):
            points, triangles = sheet(x, **how)
            return self.text(name, points * [-2, 2, 2], triangles, np.zeros(len(points)))

        left, right, way, near = (shape(name, x, cell=1.5, first=1.5, cells=3) for name, x in (("left", 8.), ("right", 14.), ("way", 10.2), ("near", 12.1)))
        gate, mm = shape("gate", 5.3), positions()
        common = (*self.pair(bend(mm), inverse_bend(mm)), "--samples", self.samples("curved", axes=((np.pi / 2, 3.), (1.5, 1.4)), fractions=(.5, .3),
                                                                                     spread=.15, **MINUS))

        def make(number, ranks):
            files = [self.path(f"{number}_{kind}.h5") for kind in (1, 2, 3, 4)]
            out = self.make(f"{number}.h5", *common, "--seed-image", left, right, "--seedref", self.image("seeds", np.s_[8:14, 3:6, 2:4], **MINUS),
                            "--samples-per-seed", 200, "--include", way, "--walk-through-stop", gate, "--targets", near, "--matrix1", files[0],
                            "--matrix2", files[1], "--target2", near, "--matrix3", files[2], "--target3", near, "--target3-columns", way,
                            "--paths", files[3], "--lengths", ranks=ranks)
            return [digest(file) for file in (out, *files)]

        expected = make(0, 0)
        for number in (1, 2, 3):
            self.assertGreater(constants(self.path(f"0_{number}.h5"), "points")["count"].sum(), 100, number)
        for number, ranks in enumerate((2, 3), 1):
            self.assertEqual(make(number, ranks), expected)


class Tracts(SurfaceJobs, TractJobs):
    def test_tracts_with_surfaces_have_the_counts_of_their_own_commands(self):
        folder = self.protocols()
        surfaces = ("--exclude", self.sheet("no", 4.2), "--stop", self.sheet("stop", 19.3, cell=1., first=2.1, cells=2),
                    "--walk-through-stop", self.sheet("gate", 12.1, 17.6))
        options = *self.base(), "--tracts", folder, "--tract-samples", 300, *surfaces
        out = self.make("all.h5", *options)
        self.assertNotEqual(digest(out), digest(self.make("images.h5", *self.base(), "--tracts", folder, "--tract-samples", 300)))
        alone = self.make("cst.h5", *self.base(), "--samples-per-seed", 300, "--seed-image", os.path.join(folder, "cst", "seed.nii"), *surfaces)
        self.assertGreater(maps(alone)["density"].sum(), 1000)
        np.testing.assert_array_equal(maps(out)["density_cst"], maps(alone)["density"])
        masks = {name: os.path.join(folder, "af_l", f"{name}.nii") for name in ("seed", "stop", "exclude", "target1", "target2")}
        own = ("--exclude", surfaces[1], masks["exclude"], "--stop", surfaces[3], masks["stop"], *surfaces[4:])
        common = *self.base(), "--samples-per-seed", 300, "--ordered", *own
        both = [maps(self.make(f"{number}.h5", *common, "--seed-image", masks[way[0]], "--include", *(masks[name] for name in way[1:])))["density"]
                for number, way in enumerate((("seed", "target1", "target2"), ("target2", "target1", "seed")))]
        np.testing.assert_array_equal(maps(out)["density_af_l"], both[0] + both[1])
        self.assertEqual(digest(self.make("ranks.h5", *options, ranks=3)), digest(out))
        with h5py.File(out) as file:
            self.assertEqual([os.path.basename(path) for path in json.loads(file.attrs["provenance"])["inputs"]["surfaces"]["paths"]],
                             ["gate.asc", "no.asc", "stop.asc"])
            self.assertEqual(json.loads(file.attrs["configuration"])["mesh-space"], "caret")


class Errors(SurfaceJobs):
    def refuse(self, status, words, *options):
        rc, output = self.launch(self.path("refused.h5"), "--samples", self.samples(), *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)

    def test_what_is_no_usable_surface_is_rejected(self):
        seed = "--seed-image", self.mask("seed", np.s_[10, 3, 3])
        points, triangles = sheet(14.1)
        self.refuse(BAD_DATA, "none of its 81 vertices is in the image", *seed, "--stop", self.surface("far", points + 100, triangles))
        self.refuse(BAD_DATA, "found 0 triangles", *seed, "--stop", self.surface("open", points, triangles[:0]))
        points[3, 1] = np.nan
        self.refuse(BAD_DATA, "found nan", *seed, "--stop", self.surface("broken", points, triangles))
        self.refuse(MISSING, "gone.surf.gii", *seed, "--stop", self.path("gone.surf.gii"))
        sheet_file = self.sheet("sheet", 14.1)
        self.refuse(USAGE, "is a surface, expected an image", *seed, "--seedref", sheet_file)
        self.refuse(USAGE, "--surface-values has no meaning without surfaces", *seed, "--surface-values", sheet_file)
        self.refuse(USAGE, "2 files, expected 1, one for each of these surfaces in this order: " + sheet_file, "--seed-image", sheet_file,
                    "--surface-values", sheet_file, sheet_file)
        self.refuse(USAGE, "2 files, expected 1 for the seeds, or 3, one for", "--seed-image", sheet_file, "--stop", self.sheet("one", 14.1),
                    self.sheet("two", 15.1), "--surface-values", sheet_file, sheet_file)

    def test_seeds_that_cannot_be_used_are_rejected(self):
        surface = self.sheet("sheet", 14.1)
        self.refuse(USAGE, "twice", "--seed-image", surface, surface)
        self.refuse(USAGE, "is one surface, expected at least two masks", "--connectome", surface)
        np.savetxt(self.path("same.mat"), np.eye(4))
        self.refuse(USAGE, "give --seedref", "--seed-image", surface, "--transform", self.path("same.mat"))
        beside = self.sheet("beside", 0.)
        self.refuse(BAD_DATA, "none of the 81 seeds has samples", "--seed-image", beside)


class Folder(SurfaceJobs, Probtrackx2Jobs):
    def test_targets_of_vertices_are_in_files_of_freesurfer_and_rows_in_order_of_seeding(self):
        Seeds.seeds(self)
        target = self.text_list("targets.txt", self.sheet("near", 12.1), self.mask("far", np.s_[3, :, 2:4]))
        folder = self.trace("out", "-x", self.path("seeds.txt"), "-P", "20", "--opd", "--os2t", "--s2tastext", f"--targetmasks={target}",
                            "--omatrix1", "--meshspace=caret")
        np.testing.assert_array_equal(np.loadtxt(f"{folder}/matrix_seeds_to_all_targets"), [[20, 20]] * 6)
        coords = np.loadtxt(f"{folder}/coords_for_fdt_matrix1")
        np.testing.assert_array_equal(coords[:, 3], [0, 0, 1, 1, 2, 2])
        np.testing.assert_array_equal(coords[:, 4], [*self.inside["left"], 1, 2, *self.inside["right"]])
        with open(f"{folder}/seeds_2_to_near.asc.asc") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[:2], ["#!ascii from CsvMesh", "81 128"])
        values = np.array([line.split() for line in lines[2:83]], dtype=float)
        np.testing.assert_array_equal(np.flatnonzero(values[:, 3]), self.inside["right"])
        self.assertEqual(set(values[:, 3]), {0, 20})
        self.assertTrue(os.path.exists(f"{folder}/seeds_1_to_far.nii.gz"))
        self.assertEqual(len(lines), 2 + 81 + 128)


    def test_densities_of_targets_that_are_surfaces_are_rejected(self):
        folder, targets = self.samples(), self.text_list("targets.txt", self.sheet("near", 12.1), self.mask("far", np.s_[3, :, 2:4]))
        rc, output = self.call("-s", f"{folder}/merged", "-m", f"{folder}/nodif_brain_mask", "-x", self.mask("seeds", np.s_[10, 4, 3]),
                               f"--dir={self.path('refused')}", "--opd", "--os2t", f"--targetmasks={targets}", "--otargetpaths")
        self.assertEqual(rc, USAGE, output)
        self.assertIn("--otargetpaths: the target near.asc is a surface, expected images only", output)


@unittest.skipUnless(os.path.isdir(DATA), "no results of probtrackx2 (VOXHERD_DATA)")
class Reference(unittest.TestCase):
    """Limits: the README of the reference. The command lines are FSL's."""

    def setUp(self):
        try:
            import nibabel  # noqa: F401
        except ImportError:
            self.skipTest("no nibabel")
        self.folder = tempfile.mkdtemp(prefix="voxherd_track_")
        self.addCleanup(shutil.rmtree, self.folder)

    def replay(self, config):
        with open(os.path.join(DATA, "configs.txt")) as file:
            line = dict(entry.strip().split("|") for entry in file)[config]
        for folder, names in ((SAMPLES, ("samples.bedpostX", "rois")), (DATA, ("surf", "warp"))):
            for name in names:
                os.symlink(os.path.join(folder, name), os.path.join(self.folder, name))
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        rc, _, output = voxherd("probtrackx2", "--quiet", "--threads", 1, "-s", "samples.bedpostX/merged", "-m",
                                "samples.bedpostX/nodif_brain_mask", "--dir=out", "--end-samples=half", *line.split())
        self.assertEqual(rc, 0, output)

    @staticmethod
    def load(path):
        if path.endswith(".nii.gz"):
            return image(path)
        if ".dot" not in path:
            return np.loadtxt(path)
        rows = np.loadtxt(path, ndmin=2)
        dense = np.zeros(rows[-1, :2].astype(int))
        dense[rows[:-1, 0].astype(int) - 1, rows[:-1, 1].astype(int) - 1] = rows[:-1, 2]
        return dense

    def compare(self, config, name, tried, largest, fewest=21):
        new = self.load(os.path.join("out", name.removesuffix(".gz") if ".dot" in name else name))
        runs = [self.load(os.path.join(DATA, "runs", config, f"seed{run}", name)) for run in RUNS]
        z = z_values(new, tried, sum(runs), len(runs) * tried)
        print(f"| {config}: {name} | {z.size} | {largest:.2f} | {rms(z):.2f} |", flush=True)
        self.assertGreaterEqual(z.size, fewest)
        self.assertLess(rms(z), largest + .2)
        self.assertLess(np.abs(z).max(), 6)
        return new, runs

    def same_waytotal(self, config, tried):
        found, runs = np.loadtxt("out/waytotal"), [np.loadtxt(os.path.join(DATA, "runs", config, f"seed{run}", "waytotal")) for run in RUNS]
        z = z_values(np.sum(found), tried, np.sum(runs), len(runs) * tried)
        self.assertLess(np.abs(z).max() if z.size else abs(np.sum(found) - np.mean(np.sum(runs) / len(runs))), 4)

    def test_seeds(self):
        self.replay("s_seed")
        self.compare("s_seed", "fdt_paths.nii.gz", 9200, .87)
        self.same_waytotal("s_seed", 9200)

    def test_matrix1_of_vertices(self):
        self.replay("s_matrix1")
        new, runs = self.compare("s_matrix1", "fdt_matrix1.dot.gz", 50, 1.06)
        self.assertFalse(np.diag(new).any())
        everywhere = np.all([run == 50 for run in runs], axis=0)  # neighbours: every streamline that is long enough
        rows = np.flatnonzero(everywhere.any(axis=1))
        self.assertGreater(len(rows), 10)
        for row in rows:
            self.assertEqual(set(new[row, everywhere[row]]), {new[row].max()})
        coords = np.loadtxt("out/coords_for_fdt_matrix1")
        np.testing.assert_array_equal(coords[:, 3:], np.loadtxt(os.path.join(DATA, "runs/s_matrix1/seed1/coords_for_fdt_matrix1"))[:, 3:])

    def test_targets_of_vertices(self):
        self.replay("s_os2t")
        self.compare("s_os2t", "fdt_paths.nii.gz", 11000, .90)
        self.compare("s_os2t", "matrix_seeds_to_all_targets", 100, 1.10)

    def test_waypoints_avoid_and_stop(self):
        self.replay("s_way")
        self.compare("s_way", "density.nii.gz", 18000, .99)
        self.same_waytotal("s_way", 18000)

    def test_stop(self):
        self.replay("s_stop")
        self.compare("s_stop", "fdt_paths.nii.gz", 10800, .90)

    def test_walk_through_stop(self):
        self.replay("s_wtstop")
        self.compare("s_wtstop", "fdt_paths.nii.gz", 10080, .71)

    def test_network(self):
        self.replay("s_network")
        self.compare("s_network", "fdt_paths.nii.gz", 18760, .95)
        self.compare("s_network", "fdt_network_matrix", 18760, 1.01, 8)
        self.same_waytotal("s_network", 18760)

    def test_network_with_distance_correction(self):
        self.replay("s_network_pd")
        self.compare("s_network_pd", "fdt_network_matrix", 18760, .98, 8)

    def test_matrix3_of_vertices(self):
        self.replay("s_matrix3")
        self.compare("s_matrix3", "fdt_matrix3.dot.gz", 12600, 1.02)

    def test_the_closest_vertex(self):
        self.replay("s_matrix1_closest")
        self.compare("s_matrix1_closest", "fdt_matrix1.dot.gz", 50, 1.08)

    def test_matrix3_of_the_closest_vertices(self):
        self.replay("s_matrix3_closest")
        self.compare("s_matrix3_closest", "fdt_matrix3.dot.gz", 12600, 1.02, 6)

    def test_a_list_of_images_and_surfaces(self):
        self.replay("s_mixed")
        self.compare("s_mixed", "fdt_paths.nii.gz", 16800, .81)
        self.compare("s_mixed", "fdt_matrix1.dot.gz", 40, 1.01)
        self.compare("s_mixed", "matrix_seeds_to_all_targets", 40, 1.11)
        coords = np.loadtxt("out/coords_for_fdt_matrix1")
        np.testing.assert_array_equal(coords[:, 3:], np.loadtxt(os.path.join(DATA, "runs/s_mixed/seed1/coords_for_fdt_matrix1"))[:, 3:])

    def test_avoid(self):
        self.replay("s_avoid")
        self.compare("s_avoid", "fdt_paths.nii.gz", 10800, .78)
        self.same_waytotal("s_avoid", 10800)

    def test_seeds_on_a_walk_through_stop_as_in_the_pipeline_of_hcp(self):
        self.replay("s_hcp")
        self.compare("s_hcp", "fdt_paths.nii.gz", 10750, .95)
        self.compare("s_hcp", "fdt_matrix1.dot.gz", 50, 1.08)
        self.same_waytotal("s_hcp", 10750)

    def test_one_of_two_waypoints_for_each_half(self):
        self.replay("s_way_or")
        self.compare("s_way_or", "density.nii.gz", 10800, .93)
        self.same_waytotal("s_way_or", 10800)

    def test_counts_on_a_surface(self):
        import nibabel
        self.replay("s_fopd")
        self.compare("s_fopd", "fdt_paths.nii.gz", 10800, 1.04)
        counts = np.asarray(nibabel.load("out/fdt_paths_alt.gii").darrays[2].data, dtype=float)
        runs = [np.loadtxt(os.path.join(DATA, f"runs/s_fopd/seed{run}/fdt_paths_alt.gii.txt.gz")) for run in RUNS]
        z = z_values(counts, 10800, sum(runs), 5 * 10800)
        self.assertGreater(z.size, 40)
        self.assertLess(rms(z), 1.13 + .2)
        self.assertLess(np.abs(z).max(), 6)

    def test_ordered_waypoints(self):
        # Where one half breaks the order, what it passed does not count for the other: fewer are accepted than in FSL.
        self.replay("s_way_order")
        self.compare("s_way_order", "density.nii.gz", 12800, 1.27)


if __name__ == "__main__":
    unittest.main()
