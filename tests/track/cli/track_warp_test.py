"""voxherd track through warps made by formulas: identity, shift, FLIRT's affine as a field, coefficients, ITK's fields and
affines, ranks, errors."""
import os
import struct
import subprocess
import time
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, MISSING, USAGE
from kill_and_resume import KillAndResume
from toy_jobs import VOXHERD, digest, h5py, mpirun, stores_from_the_start, voxherd
from track_jobs import FNIRT, MINUS, MM, SIZE, TractJobs, WarpJobs, bend, constants, inverse_bend, maps, positions

CUBIC, COSINES, QUADRATIC, VECTOR = 2007, 2008, 2009, 1007


def cubic(t):
    t = np.abs(t)
    return np.where(t < 1, 2 / 3 - t ** 2 + t ** 3 / 2, np.where(t < 2, (2 - t) ** 3 / 6, 0))


def quadratic(t):
    t = np.abs(t)
    return np.where(t < .5, .75 - t ** 2, np.where(t < 1.5, (1.5 - t) ** 2 / 2, 0))


def cosines(n, count):
    basis = np.cos(np.pi * np.outer(2 * np.arange(n) + 1, np.arange(count)) / (2 * n)) * np.sqrt(2 / n)
    basis[:, 0] = np.sqrt(1 / n)
    return basis


class Fields(WarpJobs):
    def test_the_identity_gives_the_same_bytes_as_no_warp(self):
        options = self.all_options()
        zero = np.zeros((*SIZE, 3))
        grid = np.stack(np.meshgrid(*(np.arange(n) * MM for n in SIZE), indexing="ij"), -1)[::-1]  # FSL's first axis is backwards
        fields = dict(sform=[[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]])
        both = self.field("zero.nii", zero, **fields), self.field("absolute.nii", grid, intent=0, **fields)

        def make(name, *more, ranks=0):
            files = [self.path(f"{name}{number}.h5") for number in (1, 2, 3, 4)]
            out = self.make(f"{name}.h5", *options, "--samples-per-seed", 100, "--local-directions", "--matrix1", files[0], "--matrix2", files[1],
                            "--target2", self.path("left.nii"), "--matrix3", files[2], "--target3", self.path("seeds.nii"), "--paths",
                            files[3], *more, ranks=ranks)
            return [digest(path) for path in (out, *files)]

        expected = make("plain")
        self.assertEqual(make("zero", "--transform", both[0], "--inverse-transform", both[0]), expected)
        self.assertEqual(make("absolute", "--transform", both[1], "--inverse-transform", both[0], ranks=3), expected)

    def test_a_shift_moves_seeds_and_counts(self):
        # Samples' voxel x is seed voxel x - 3.
        shift = np.zeros((*SIZE, 3))
        shift[..., 0] = -6
        out = self.make("out.h5", *self.straight(), "--samples-per-seed", 20, *self.pair(shift, -shift))
        density = maps(out)["density"]
        np.testing.assert_array_equal(density[:20, 4, 3], [20] * 20)
        self.assertEqual(density.sum(), density[:21, 4, 3].sum())

    def test_an_affine_map_as_fields_is_that_of_the_matrix(self):
        turn = np.array([[.99, .08, .02, 1.3], [-.07, 1.02, -.01, -.8], [.01, .02, .97, .6], [0, 0, 0, 1]])
        mm = positions()
        there, back = (mm @ m[:3, :3].T + m[:3, 3] - mm for m in (np.linalg.inv(turn), turn))
        plain = self.make("matrix.h5", *self.curved(), "--transform", self.flirt("turn.mat", turn[:3]))
        warped = self.make("fields.h5", *self.curved(), *self.pair(there, back))
        self.expect_close(warped, plain)

    def test_a_warp_and_its_inverse_are_measured_and_stored(self):
        mm = positions()
        out = self.make("out.h5", *self.curved(), *self.pair(bend(mm), inverse_bend(mm)))
        with h5py.File(out, "r") as file:
            configuration = str(dict(file.attrs)) + str({k: str(v) for k, v in file.get("configuration", {}).items()})
        self.assertIn("warp-error-median", configuration)

    def test_densities_end_where_the_warped_samples_end(self):
        # Stretched by 1.5 along x about x = 0: streamlines reach seed voxels beyond the image of the samples' centres.
        mm = positions()
        there, back = np.zeros_like(mm), np.zeros_like(mm)
        there[..., 0], back[..., 0] = mm[..., 0] / 2, -mm[..., 0] / 3
        out = self.make("out.h5", *self.straight(), "--step", .4, "--samples-per-seed", 20, *self.pair(there, back, ))
        density = maps(out)["density"]
        self.assertTrue((density[2:, 4, 3] == 20).all())  # of 24 voxels: those from 1 * 1.5 on

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        mm = positions()
        options = *self.curved(), *self.pair(bend(mm), inverse_bend(mm))
        self.assertEqual(digest(self.make("three.h5", *options, ranks=3)), digest(self.make("one.h5", *options)))


class Coefficients(WarpJobs):
    def check(self, intent, basis, counts, spacing):
        """Coefficients and the field that numpy makes of them give the same densities."""
        chance = np.random.default_rng(intent)
        values = chance.normal(0, 3 if intent == COSINES else 1.2, (*counts, 3))
        affine = np.array([[1.02, .03, 0, -.7], [-.02, .98, .01, .4], [0, .02, 1.01, -.3], [0, 0, 0, 1]])
        mm = positions()
        start = np.linalg.inv(affine)
        field = mm @ start[:3, :3].T + start[:3, 3] - mm + np.einsum("xi,yj,zk,ijkc->xyzc", *basis, values)
        coefficients = self.write("coefficients.nii", values, intent=(intent, MM, MM, MM), pixdim=spacing, qoffset=SIZE,
                                  sform=affine[:3].tolist(), codes=(1, 1))
        back = np.zeros_like(mm)
        out = []
        for name, file in (("coefficients", coefficients), ("field", self.field("field.nii", field))):
            out.append(self.make(f"{name}.h5", *self.curved(), "--inverse-transform", file, "--transform", self.field("none.nii", back)))
        self.expect_close(*out, share=.002)
        plain = self.make("plain.h5", *self.curved())
        self.assertFalse(np.array_equal(maps(plain)["density"], maps(out[0])["density"]))

    def splines(self, intent, function, spacing):
        counts = [int(np.ceil((n + 1) / s)) + 2 if s > 1 else n for n, s in zip(SIZE, spacing)]
        basis = [function(np.arange(n)[:, None] / s - (np.arange(count) - (s > 1))) for n, s, count in zip(SIZE, spacing, counts)]
        self.check(intent, basis, counts, spacing)

    def test_cubic_splines_are_the_field_that_they_stand_for(self):
        self.splines(CUBIC, cubic, (5, 3, 2))

    def test_knots_at_each_voxel(self):
        self.splines(CUBIC, cubic, (4, 1, 1))

    def test_quadratic_splines_are_the_field_that_they_stand_for(self):
        self.splines(QUADRATIC, quadratic, (4, 3, 2))

    def test_cosines_are_the_field_that_they_stand_for(self):
        counts = (4, 3, 2)
        self.check(COSINES, [cosines(n, count) for n, count in zip(SIZE, counts)], counts, (2, 2, 2))


class ItkJobs(WarpJobs):
    """World axes to the left and to the back. The images have turned and shifted axes, so that a mistake shows."""

    GRID = dict(sform=[[0, -2, 0, 11], [-2, 0, 0, 31], [0, 0, 2, -17]])

    def setUp(self):
        super().setUp()
        rows = np.vstack([self.GRID["sform"], [0, 0, 0, 1]])
        voxels = np.stack(np.meshgrid(*map(np.arange, SIZE), indexing="ij"), -1)
        self.ras = voxels @ rows[:3, :3].T + rows[:3, 3]
        self.inputs = ("--samples", self.samples("s", axes=((np.pi / 2, 3.), (1.5, 1.4)), fractions=(.5, .3), spread=.15, **self.GRID),
                       "--seed-image", self.image("seeds", np.s_[8:14, 3:6, 2:4], **self.GRID), "--samples-per-seed", 100)
        # A map of world points (to the right and to the front), and the same as a matrix of FLIRT.
        self.map = np.array([[.98, .1, .03, 1.9], [-.08, 1.03, -.02, -1.4], [.02, .01, 1.02, .9], [0, 0, 0, 1]])
        to_fsl = np.diag([2, 2, 2, 1]) @ np.linalg.inv(rows)  # the determinant is negative: as stored
        flirt = to_fsl @ self.map @ np.linalg.inv(to_fsl)
        self.expected = self.make("flirt.h5", *self.inputs, "--transform", self.flirt("flirt.mat", np.linalg.inv(flirt)[:3]))

    @staticmethod
    def affine_numbers(matrix):
        """y = M (x - c) + c + t of ITK for a map of world points."""
        flip = np.diag([-1, -1, 1, 1])
        lps, centre = flip @ matrix @ flip, np.array([3., -5, 7])
        return [*lps[:3, :3].ravel(), *(lps[:3, 3] - centre + lps[:3, :3] @ centre)], centre

    def affine(self, name, matrix, text, kind="AffineTransform_double_3_3"):
        numbers, centre = self.affine_numbers(matrix)
        path = self.path(name)
        if text:
            with open(path, "w") as file:
                file.write(f"#Insight Transform File V1.0\n#Transform 0\nTransform: {kind}\nParameters: {' '.join(map(repr, map(float, numbers)))}\n"
                           f"FixedParameters: {' '.join(map(repr, map(float, centre)))}\n")
        else:
            with open(path, "wb") as file:
                for word, values in ((kind, numbers), ("fixed", centre)):
                    file.write(struct.pack("<5i", 0, len(values), 1, 0, len(word) + 1) + word.encode() + b"\0" + struct.pack(f"<{len(values)}d", *values))
        return path

    def itk_field(self, name, displacement, intent=VECTOR, **fields):
        """Displacements of world points to the right and to the front."""
        return self.write(name, (displacement * [-1, -1, 1]).reshape(*SIZE, 1, 3), intent=(intent,), **{**self.GRID, **fields})

    def moved(self, matrix):
        return self.ras @ matrix[:3, :3].T + matrix[:3, 3] - self.ras


class Itk(ItkJobs):
    def test_an_affine_maps_points_of_the_new_image_to_the_old_one(self):
        # The new image is that of the samples.
        for text in (False, True):
            out = self.make(f"{text}.h5", *self.inputs, "--transform", self.affine(f"affine{text}", self.map, text))
            self.expect_close(out, self.expected, 1e-3)
        inverse = self.affine("inverse.mat", np.linalg.inv(self.map), False)
        self.expect_close(self.make("inverse.h5", *self.inputs, "--transform", f"[{inverse},1]"), self.expected, 1e-3)

    def test_a_field_has_displacements_in_world_millimetres(self):
        out = self.make("out.h5", *self.inputs, "--transform", self.itk_field("there.nii", self.moved(self.map)), "--inverse-transform",
                        self.itk_field("back.nii", self.moved(np.linalg.inv(self.map))))
        self.expect_close(out, self.expected)

    def test_several_files_are_in_the_order_of_antsApplyTransforms(self):
        # From the samples' points: first the field, then the affine; back: first the affine, then the field.
        part = np.array([[1, .02, 0, 1], [-.03, 1, 0, -.5], [0, 0, 1.01, .3], [0, 0, 0, 1]])
        rest = self.map @ np.linalg.inv(part)
        there = self.itk_field("there.nii", self.moved(part)), self.affine("rest.mat", rest, False)
        back = f"[{there[1]},1]", self.itk_field("back.nii", self.moved(np.linalg.inv(part)))
        out = self.make("out.h5", *self.inputs, "--transform", *there, "--inverse-transform", *back)
        self.expect_close(out, self.expected)

    def test_what_is_not_a_transform_of_itk_is_rejected(self):
        matrix = self.affine("matrix.mat", self.map, False)
        there = self.itk_field("there.nii", self.moved(self.map))
        back = "--inverse-transform", there
        cases = [
            (BAD_DATA, "has intent code 0, expected 1007", self.itk_field("plain.nii", self.moved(self.map), 0), *back),
            (BAD_DATA, "is a deformation of SPM", self.itk_field("spm.nii", self.ras, intent_name=b"Mapping"), *back),
            (BAD_DATA, "is a Euler3DTransform_double_3_3, expected an AffineTransform", self.affine("e.mat", self.map, False, "Euler3DTransform_double_3_3")),
            (USAGE, "a displacement field is not inverted here", f"[{there},1]", *back),
            (USAGE, "expected [FILE,1]", f"[{matrix},2]"),
            (USAGE, "two displacement fields cannot be joined here", there, there, *back),
            (USAGE, "transforms of FSL cannot be joined here", matrix, self.path("flirt.mat")),
            (USAGE, "has no meaning without a warp", matrix, "--inverse-transform", matrix),
        ]
        for status, words, *options in cases:
            with self.subTest(words):
                self.refuse(status, words, *self.inputs, "--transform", *options)
        with open(matrix, "rb") as file:
            whole = file.read()
        for end in (10, 40, 60, len(whole) - 3):
            with open(self.path("short.mat"), "wb") as file:
                file.write(whole[:end])
            self.refuse(BAD_DATA, "is not an affine transform of ITK", *self.inputs, "--transform", self.path("short.mat"))


class Composites(ItkJobs):
    """Files of antsRegistration --write-composite-transform: what is applied first is stored last."""

    def composite(self, name, *parts, field_type=float, misspelt=False):
        """Parts: class, parameters, fixed parameters."""
        word = "Tranform" if misspelt else "Transform"
        with h5py.File(self.path(name), "w") as file:
            for number, (kind, *numbers) in enumerate((("CompositeTransform_double_3_3",), *parts)):
                group = file.create_group(f"TransformGroup/{number}")
                group.create_dataset("TransformType", data=[kind], dtype=h5py.string_dtype())
                for what, values in zip(("Parameters", "FixedParameters"), numbers):
                    group.create_dataset(word + what, data=np.asarray(values, field_type if len(values) > 30 else float))
        return self.path(name)

    def affine_part(self, matrix):
        numbers, centre = self.affine_numbers(matrix)
        return "AffineTransform_double_3_3", numbers, centre

    def field_part(self, displacement):
        """ITK's values, x fastest; size, origin, spacing and axes of the grid."""
        rows, flip = np.array(self.GRID["sform"]), np.array([-1, -1, 1])
        sides = np.linalg.norm(rows[:, :3], axis=0)
        values = (displacement * flip).astype(np.float32).transpose(2, 1, 0, 3).ravel()
        return "DisplacementFieldTransform_double_3_3", values, [*SIZE, *(rows[:, 3] * flip), *sides, *((rows[:, :3] / sides).T * flip).T.ravel()]

    def setUp(self):
        super().setUp()
        self.part = np.array([[1, .02, 0, 1], [-.03, 1, 0, -.5], [0, 0, 1.01, .3], [0, 0, 0, 1]])
        self.rest = self.map @ np.linalg.inv(self.part)
        self.fields = self.moved(self.part), self.moved(np.linalg.inv(self.part))

    def test_a_composite_gives_the_same_bytes_as_its_parts(self):
        there, back = (self.itk_field(f"{name}.nii", field) for name, field in zip(("there", "back"), self.fields))
        affines = [self.affine(f"{name}.mat", matrix, False) for name, matrix in (("rest", self.rest), ("inverse", np.linalg.inv(self.rest)))]
        expected = digest(self.make("parts.h5", *self.inputs, "--transform", there, affines[0], "--inverse-transform", affines[1], back))
        inverse = np.linalg.inv(self.rest)
        for number, how in enumerate((dict(), dict(field_type=np.float32), dict(misspelt=True))):
            words = (self.composite("C.h5", self.affine_part(self.rest), self.field_part(self.fields[0]), **how), "--inverse-transform",
                     self.composite("I.h5", self.field_part(self.fields[1]), self.affine_part(inverse), **how))
            self.assertEqual(digest(self.make(f"{number}.h5", *self.inputs, "--transform", *words)), expected, how)

    def test_a_composite_of_affine_maps_is_inverted_as_one_file(self):
        composite = self.composite("C.h5", self.affine_part(self.rest), self.affine_part(self.part))
        out = self.make("out.h5", *self.inputs, "--transform", composite)
        self.expect_close(out, self.expected, 1e-3)
        inverse = self.composite("I.h5", self.affine_part(np.linalg.inv(self.part)), self.affine_part(np.linalg.inv(self.rest)))
        self.expect_close(self.make("inverse.h5", *self.inputs, "--transform", f"[{inverse},1]"), self.expected, 1e-3)

    def test_what_is_no_usable_composite_is_rejected(self):
        kind, values, fixed = self.field_part(self.fields[0])
        field = self.composite("good.h5", (kind, values, fixed))
        open(self.path("empty.h5"), "w").close()
        with h5py.File(self.path("other.h5"), "w") as file:
            file["data"] = [1, 2]
        nan = np.array(values)
        nan[7] = np.nan
        cases = [
            (BAD_DATA, "is not a readable HDF5 file", self.path("empty.h5")),
            (BAD_DATA, "has no /TransformGroup/0", self.path("other.h5")),
            (BAD_DATA, "is a composite transform without parts", self.composite("none.h5")),
            (BAD_DATA, "is missing", self.composite("short.h5", (kind, values))),
            (BAD_DATA, "parameters, expected 3 for", self.composite("few.h5", (kind, values[:30], fixed))),
            (BAD_DATA, "17 fixed parameters, expected 18", self.composite("fixed.h5", (kind, values, fixed[1:]))),
            (BAD_DATA, "size -24 along axis 1", self.composite("size.h5", (kind, values, [-24, *fixed[1:]]))),
            (BAD_DATA, "axes that are not those of a grid", self.composite("flat.h5", (kind, values, [*fixed[:9], *[0] * 9]))),
            (BAD_DATA, "1 voxel without a displacement in mm", self.composite("nan.h5", (kind, nan, fixed))),
            (USAGE, "two displacement fields cannot be joined here", self.composite("two.h5", (kind, values, fixed), (kind, values, fixed))),
            (USAGE, "antsApplyTransforms -o [NAME.nii.gz,1]", self.composite("spline.h5", ("BSplineTransform_double_3_3", values, fixed))),
            (BAD_DATA, "is a Euler3DTransform_double_3_3", self.composite("euler.h5", ("Euler3DTransform_double_3_3", values[:6], fixed[:3]))),
            (MISSING, "gone.h5", self.path("gone.h5")),
        ]
        for status, words, file in cases:
            with self.subTest(words):
                self.refuse(status, words, *self.inputs, "--transform", file, *(() if "euler" in file else ("--inverse-transform", field)))
        self.refuse(USAGE, "is a warp; give --inverse-transform", *self.inputs, "--transform", field)


class Killed(KillAndResume, WarpJobs):
    @stores_from_the_start()
    def test_a_killed_job_with_a_warp_resumes_to_the_same_bytes_on_other_ranks(self):
        mm = positions()
        options = [*self.curved(), *self.pair(bend(mm), inverse_bend(mm)), "--batch", 1, "--lengths"]
        options[options.index("--samples-per-seed") + 1] = 2000

        def words(out):
            return "track", "--quiet", "--threads", 1, "--resume", "--out", out, *options, "--matrix1", out + ".matrix"

        def resume(out, ranks):
            rc, _, output = voxherd(*words(out), ranks=ranks)
            self.assertEqual(rc, 0, output)
            self.assertEqual([digest(out), digest(out + ".matrix")], expected)

        reference, start = self.path("reference.h5"), time.time()
        rc, _, output = voxherd(*words(reference))
        self.assertEqual(rc, 0, output)
        seconds, expected = time.time() - start, [digest(reference), digest(reference + ".matrix")]
        self.kill_at_random_times(lambda ranks, out: subprocess.Popen(mpirun(ranks, VOXHERD, *words(out)), stdout=subprocess.PIPE,
                                                                      stderr=subprocess.PIPE, text=True), resume, seconds)


class Protocols(WarpJobs, TractJobs):
    def test_tracts_in_a_warped_space_are_those_of_single_commands(self):
        folder, size = self.protocols(), (*SIZE, 3)
        shift = np.zeros(size)
        options = *self.base(), "--tracts", folder, "--tract-samples", 200
        plain = digest(self.make("plain.h5", *options))
        fields = dict(sform=[[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]])
        self.assertEqual(digest(self.make("same.h5", *options, *self.pair(shift, shift, **fields), ranks=2)), plain)


PROTOCOLS = os.path.join(os.environ.get("VOXHERD_DATA", ""), "autoptx_protocols")


@unittest.skipUnless(os.path.isdir(PROTOCOLS), "no protocols of autoPtx (VOXHERD_DATA)")
class AutoPtx(WarpJobs):
    """Real protocols on the grid of MNI152 (1 mm), fibres from front to back in a head of another shape and voxel size."""

    def test_tracts_in_mni_space_in_one_command(self):
        size, mm, mni = (30, 36, 30), 6.0, (182, 218, 182)
        chance = np.random.default_rng(3)
        inside = np.zeros(size)
        inside[1:-1, 1:-1, 1:-1] = 1
        for name, value, spread in (("th", np.pi / 2, .2), ("ph", np.pi / 2, .2), ("f", .7, 0)):
            self.write(f"head/merged_{name}1samples.nii", np.full((*size, 2), value) + chance.normal(0, 1, (*size, 2)) * spread,
                       sform=[[-mm, 0, 0, 90], [0, mm, 0, -126], [0, 0, mm, -72]], pixdim=(mm,) * 3)
        self.write("head/nodif_brain_mask.nii", inside, sform=[[-mm, 0, 0, 90], [0, mm, 0, -126], [0, 0, mm, -72]], pixdim=(mm,) * 3)

        def coordinates(shape, step):
            return np.stack(np.meshgrid(*(np.arange(n, dtype=np.float32) * step for n in shape), indexing="ij"), -1)

        def to_head(points):  # of MNI's millimetres to those of the head
            return points * .97 + 1.5 * np.sin(points[..., [1, 2, 0]] / 40) + 1

        def to_mni(points):
            found = points.copy()
            for _ in range(30):
                found = (points - 1 - 1.5 * np.sin(found[..., [1, 2, 0]] / 40)) / .97
            return found

        grid, head = coordinates(mni, 1), coordinates(size, mm)
        minus = dict(sform=[[-1, 0, 0, 90], [0, 1, 0, -126], [0, 0, 1, -72]], pixdim=(1, 1, 1))
        back = self.write("mni_to_head.nii", to_head(grid) - grid, intent=(FNIRT,), **minus)
        there = self.write("head_to_mni.nii", to_mni(head) - head, intent=(FNIRT,), sform=[[-mm, 0, 0, 90], [0, mm, 0, -126], [0, 0, mm, -72]],
                           pixdim=(mm,) * 3)
        with open(self.path("list"), "w") as file:
            file.write("ifo_l 1 150\nfmi 1 45\nilf_r 1 20\n")
        options = ("--samples", self.path("head"), "--transform", there, "--inverse-transform", back)
        out = self.make("tracts.h5", *options, "--tracts", PROTOCOLS, "--tract-list", self.path("list"), "--tract-samples", 2, "--loop-check", "on")
        found = maps(out)
        with h5py.File(out, "r") as file:
            accepted = np.asarray(file["tracts/waytotal"])
        self.assertEqual(found["density_ifo_l"].shape, mni)
        self.assertGreater(accepted[0], 20)
        single = self.make("ifo_l.h5", *options, "--seed-image", f"{PROTOCOLS}/ifo_l/seed.nii.gz", "--include", f"{PROTOCOLS}/ifo_l/target.nii.gz",
                           "--exclude", f"{PROTOCOLS}/ifo_l/exclude.nii.gz", "--samples-per-seed", 2, "--loop-check", "on")
        np.testing.assert_array_equal(found["density_ifo_l"], maps(single)["density"])
        self.assertEqual(accepted[0], constants(single, "streamlines")["waytotal"][0])


class Errors(WarpJobs):
    def test_what_is_not_a_warp_is_rejected(self):
        zero = np.zeros((*SIZE, 3))
        good = self.field("good.nii", zero)
        nan = zero.copy()
        nan[3, 3, 3, 1] = np.nan
        knots = dict(intent=(CUBIC, MM, MM, MM), codes=(1, 1), qoffset=SIZE, sform=np.eye(4)[:3].tolist())
        cases = [
            (BAD_DATA, "has 2 volumes, expected the 3 of a warp", self.field("two.nii", zero[..., :2])),
            (BAD_DATA, "1 voxel without a displacement in mm", self.field("nan.nii", nan)),
            (BAD_DATA, "is a field of topup", self.field("topup.nii", zero, intent=2016)),
            (BAD_DATA, "expected the whole number of voxels between two knots", self.write("half.nii", zero[:8, :6, :5], pixdim=(5.5, 3, 2), **knots)),
            (BAD_DATA, "coefficients along axis 1", self.write("few.nii", zero[:4, :6, :6], pixdim=(5, 3, 2), **knots)),
            (BAD_DATA, "expected the field's size as fnirt writes it", self.write("size.nii", zero[:8, :6, :6], pixdim=(5, 3, 2), **{**knots, "qoffset": (0, 9, 7)})),
            (BAD_DATA, "has 1024 x 1024 x 1024 voxels", self.write("huge.nii", zero[:1, :1, :1], **{**knots, "intent": (COSINES, MM, MM, MM), "qoffset": (1024,) * 3})),
            (MISSING, "none.nii", self.path("none.nii")),
        ]
        for status, words, file in cases:
            with self.subTest(words):
                self.refuse(status, words, *self.straight(), "--transform", good, "--inverse-transform", file)
        self.refuse(USAGE, "is a warp; give --inverse-transform", *self.straight(), "--transform", good)
        self.refuse(USAGE, "--inverse-transform has no meaning without --transform", *self.straight(), "--inverse-transform", good)

    def test_a_warp_of_another_image_is_refused_or_warned_of(self):
        zero = np.zeros((*SIZE, 3))
        good = self.field("good.nii", zero)
        # ITK's fields are placed by their headers: this one is elsewhere.
        far = self.write("far.nii", zero.reshape(*SIZE, 1, 3), intent=(VECTOR,), sform=[[-2, 0, 0, 500], [0, 2, 0, 0], [0, 0, 2, 0]])
        near = self.write("near.nii", zero.reshape(*SIZE, 1, 3), intent=(VECTOR,), **MINUS)
        self.refuse(BAD_DATA, "its grid holds 0 % of the voxels with samples", *self.straight(), "--transform", far, "--inverse-transform", near)
        self.refuse(BAD_DATA, "its grid holds 0 % of the image of --seedref", *self.straight(), "--transform", near, "--inverse-transform", far)
        shift = zero.copy()
        shift[..., 1] = 3
        rc, _, output = voxherd("track", "--threads", 1, "--out", self.path("out.h5"), *self.straight(), "--samples-per-seed", 2, "--transform",
                                good, "--inverse-transform", self.field("shift.nii", shift))
        self.assertEqual(rc, 0, output)
        self.assertIn("points return within 3 mm (median) and 3 mm (95 %), expected below 2 mm", output)


if __name__ == "__main__":
    unittest.main()
