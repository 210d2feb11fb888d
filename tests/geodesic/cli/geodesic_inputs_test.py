"""What geodesic tracking starts from: tensors along the world's axes whatever the image's axes and the tensors' origin,
labels of other grids, and one line for each thing that is wrong. MRtrix3 makes the images and is the reference."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import nibabel
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VOXHERD = os.environ["VOXHERD"]
DUMP = os.path.join(os.path.dirname(VOXHERD), "tests", "geodesic_inputs_dump")
DATA = os.environ.get("VOXHERD_DATA", "")
MRTRIX_DATA = os.path.join(DATA, "mrtrix3_test_data", "nii")
PHILIPS = os.path.join(DATA, "philips_32dir_b1000")
USAGE, BAD_DATA, MISSING = 2, 65, 66
MATRIX = numpy.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])  # places of xx, xy, xz, yy, yz, zz


def launch(*words, ranks=1):
    start = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*start, *words], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def tool(*words):
    subprocess.run([*words, "-quiet", "-nthreads", "1"], check=True, capture_output=True, timeout=300)


class Inputs:
    """The output of geodesic_inputs_dump; volumes indexed (x, y, z)."""

    def __init__(self, folder):
        with open(os.path.join(folder, "inputs.json"), encoding="utf-8") as file:
            self.output = json.load(file)
        shape = self.output["size"][::-1]

        def read(name, kind, *more):
            values = numpy.fromfile(os.path.join(folder, name), kind)
            return values.reshape(*shape, *more).transpose(2, 1, 0, *range(3, 3 + len(more)))

        self.tensor, self.inside = read("tensor", "f4", 6), read("inside", "u1") == 1
        self.regions = read("regions", "u4")
        self.seeds = numpy.fromfile(os.path.join(folder, "seeds"), "f8").reshape(-1, 6)
        self.axes = numpy.reshape(self.output["axes_mm"], (3, 3))
        self.origin = numpy.array(self.output["origin_mm"])


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def at(self, name):
        return os.path.join(self.folder, name)

    def dump(self, *words, ranks=1, threads="1"):
        out = tempfile.mkdtemp(dir=self.folder)
        rc, output = launch(DUMP, "geodesic", "--backend", "cpu", "--threads", threads, "--dump", out, *words, ranks=ranks)
        self.assertEqual(rc, 0, output)
        self.output = output
        return Inputs(out)

    def save(self, name, values, affine, kind=numpy.float32):
        image = nibabel.Nifti1Image(numpy.asarray(values, kind), affine)
        image.set_sform(affine, 1)
        nibabel.save(image, self.at(name))
        return self.at(name)


@unittest.skipUnless(os.path.isdir(MRTRIX_DATA), "no folder of real scans (VOXHERD_DATA)")
@unittest.skipUnless(shutil.which("dwi2tensor"), "no MRtrix3")
class Frames(InFolder):
    """The same brain stored along other axes, mirrored, rotated."""

    def variants(self):
        """Name, folder with dwi.nii, bvals, bvecs, mask.nii, dt.nii as MRtrix3 writes them."""
        turn = numpy.eye(4)
        a, b = numpy.radians((25, -40))
        rz = [[numpy.cos(a), -numpy.sin(a), 0], [numpy.sin(a), numpy.cos(a), 0], [0, 0, 1]]
        rx = [[1, 0, 0], [0, numpy.cos(b), -numpy.sin(b)], [0, numpy.sin(b), numpy.cos(b)]]
        turn[:3, :3] = numpy.matmul(rz, rx)
        numpy.savetxt(self.at("turn.txt"), turn)
        source = os.path.join(MRTRIX_DATA, "dwi")
        tool("mrconvert", f"{source}.nii.gz", "-fslgrad", f"{source}.bvec", f"{source}.bval", self.at("as_is.mif"))
        tool("mrtransform", self.at("as_is.mif"), "-linear", self.at("turn.txt"), self.at("tilted.mif"))
        tool("mrconvert", os.path.join(MRTRIX_DATA, "mask.nii.gz"), self.at("mask_as_is.mif"))
        tool("mrtransform", self.at("mask_as_is.mif"), "-linear", self.at("turn.txt"), self.at("mask_tilted.mif"))
        for place in ("as_is", "tilted"):
            for strides in ("-1,2,3", "1,2,3", "2,-3,1", "-3,-1,-2"):
                name = f"{place} {strides}"
                folder = self.at(name.replace(" ", "_").replace(",", "_"))
                os.mkdir(folder)
                self.store(place, strides, folder)
                yield name, folder

    def store(self, place, strides, folder):
        tool("mrconvert", self.at(f"{place}.mif"), "-strides", f"{strides},4", "-export_grad_fsl", f"{folder}/bvecs",
             f"{folder}/bvals", f"{folder}/dwi.nii")
        tool("mrconvert", self.at(f"mask_{place}.mif"), "-strides", strides, f"{folder}/mask.nii")
        tool("dwi2tensor", f"{folder}/dwi.nii", "-fslgrad", f"{folder}/bvecs", f"{folder}/bvals", "-mask",
             f"{folder}/mask.nii", f"{folder}/dt.mif")
        tool("mrconvert", f"{folder}/dt.mif", "-strides", f"{strides},4", f"{folder}/dt.nii")

    def fsl_tensor(self, folder):
        """dtifit's order and frame, from MRtrix3's tensor."""
        image = nibabel.load(f"{folder}/dt.nii")
        world = image.get_fdata()[..., [0, 3, 4, 1, 5, 2]]
        axes = image.affine[:3, :3] / numpy.linalg.norm(image.affine[:3, :3], axis=0)
        frame = axes @ numpy.diag([-1 if numpy.linalg.det(axes) > 0 else 1, 1, 1])
        local = numpy.einsum("ji,...jk,kl->...il", frame, world[..., MATRIX], frame)
        local = local[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
        return self.save(os.path.join(folder, "fsl_tensor.nii"), local, image.affine), world

    def test_every_origin_gives_mrtrix_tensors_along_the_worlds_axes(self):
        determinants = set()
        for name, folder in self.variants():
            with self.subTest(name):
                fsl, world = self.fsl_tensor(folder)
                affine = nibabel.load(f"{folder}/dt.nii").affine
                determinants.add(numpy.sign(numpy.linalg.det(affine)))
                if name.startswith("tilted"):
                    self.assertLess(abs(affine[:3, :3]).max(0).min() / 2.5, 0.9)  # no image axis near a world axis
                series = ["--dwi", f"{folder}/dwi.nii", "--bvals", f"{folder}/bvals", "--bvecs", f"{folder}/bvecs"]
                mask = ["--mask", f"{folder}/mask.nii"]
                seeds = ["--seed-image", f"{folder}/mask.nii"]
                rc, output = launch(VOXHERD, "tensor", *series, *mask, "--threads", "1", "--out", f"{folder}/t.h5")
                self.assertEqual(rc, 0, output)
                for source in (series, ["--tensor", fsl, "--tensor-from", "fsl"], ["--tensor", f"{folder}/t.h5"],
                               ["--tensor", f"{folder}/dt.nii", "--tensor-from", "mrtrix"]):
                    found = self.dump(*source, *mask, *seeds)
                    inside = nibabel.load(f"{folder}/mask.nii").get_fdata() > 0
                    numpy.testing.assert_array_equal(found.inside, inside)
                    # MRtrix3's own test data agree to 1e-9 between versions; bvecs are written with ten digits.
                    numpy.testing.assert_allclose(found.tensor[inside], world[inside], atol=2e-9, rtol=0)
                    numpy.testing.assert_allclose(found.axes, nibabel.load(f"{folder}/dt.nii").affine[:3, :3], atol=1e-5)
        self.assertEqual(determinants, {-1, 1})

    def test_any_number_of_ranks_fits_the_same_bytes(self):
        source = os.path.join(MRTRIX_DATA, "dwi")
        words = ["--dwi", f"{source}.nii.gz", "--bvals", f"{source}.bval", "--bvecs", f"{source}.bvec", "--seed-image",
                 os.path.join(MRTRIX_DATA, "mask.nii.gz"), "--seeding", "random", "--seeds-per-voxel", "3"]
        one = self.dump(*words)
        self.assertEqual(len(one.seeds), 3 * 151)
        for ranks in (2, 3, 5):
            more = self.dump(*words, ranks=ranks)
            for name in ("tensor", "inside", "regions", "seeds"):
                self.assertEqual(getattr(one, name).tobytes(), getattr(more, name).tobytes(), f"{name}, {ranks} ranks")


class Fibres(InFolder):
    """Tensors of a ballstick result."""

    def test_tensors_are_long_along_the_samples_of_the_fibres(self):
        data, fibres = self.at("phantom"), self.at("fibres.h5")
        series = [word for name, file in (("dwi", "data.nii"), ("bvals", "bvals"), ("bvecs", "bvecs"))
                  for word in (f"--{name}", os.path.join(data, file))]
        mask = os.path.join(data, "nodif_brain_mask.nii.gz")
        for words in (["phantom", "dwi", "--size", "6x5x4", "--crossings", "90", "--fibres", "2", "--out", data],
                      ["ballstick", *series, "--mask", mask, "--threads", "1", "--out", fibres]):
            rc, output = launch(VOXHERD, *words)
            self.assertEqual(rc, 0, output)
        found = self.dump("--tensor", fibres, "--seed-image", mask)
        with h5py.File(fibres) as file:
            f, polar, azimuth = (numpy.stack([file[f"samples/{name}{k}"][:] for k in (1, 2, 3)]) for name in ("f", "th", "ph"))
            voxels = file["items/voxel"][:]
        v = numpy.stack([numpy.sin(polar) * numpy.cos(azimuth), numpy.sin(polar) * numpy.sin(azimuth), numpy.cos(polar)], -1)
        dyads = numpy.einsum("kns,knsi,knsj->nij", f, v, v) / f.sum((0, 2))[:, None, None]
        affine = nibabel.load(mask).affine
        axes = affine[:3, :3] / numpy.linalg.norm(affine[:3, :3], axis=0)
        frame = axes @ numpy.diag([-1 if numpy.linalg.det(axes) > 0 else 1, 1, 1])
        expected = 1.7e-3 * (frame @ dyads @ frame.T + 0.1 * numpy.eye(3))
        self.assertEqual(int(found.inside.sum()), len(voxels))
        order = found.tensor.transpose(2, 1, 0, 3).reshape(-1, 6)[voxels]  # x fastest
        numpy.testing.assert_allclose(order[:, MATRIX], expected, atol=2e-9, rtol=0)
        across = numpy.median(numpy.linalg.eigvalsh(expected)[:, 0])
        self.assertLess(across, 0.35e-3)  # two fibres were found: a third of the trace, 0.74e-3, without any


@unittest.skipUnless(os.path.isdir(PHILIPS), "no folder of real scans (VOXHERD_DATA)")
class Brain(InFolder):
    def setUp(self):
        super().setUp()
        scan = os.path.join(PHILIPS, "1201_DT_HIGH_32DIR_SENSE")
        reference = os.path.join(PHILIPS, "ref_mrtrix3")
        self.found = self.dump("--dwi", f"{scan}.nii.gz", "--bvals", f"{scan}.bval", "--bvecs", f"{scan}.bvec",
                               "--mask", f"{reference}/brain_mask.nii.gz", "--connectome",
                               f"{PHILIPS}/parcellation_derived/aal116_in_dwi_approx.nii.gz", "--seed-image",
                               f"{reference}/wm_mask_fa025.nii.gz", ranks=2)
        self.reference = nibabel.load(f"{reference}/dt_wls_iter2.nii.gz").get_fdata()[..., [0, 3, 4, 1, 5, 2]]
        self.fa = nibabel.load(f"{reference}/fa.nii.gz").get_fdata()

    def test_tensors_are_mrtrix_tensors_and_point_where_anatomy_does(self):
        found = self.found
        difference = abs(found.tensor - self.reference)[found.inside]
        self.assertGreater(found.inside.sum(), 190000)
        self.assertLess(numpy.percentile(difference, 99.9), 1e-8)  # mm2/s; diffusivities are about 1e-3
        self.assertLess(difference.max(), 1e-6)

        index = numpy.argwhere(found.inside)
        world = index @ found.axes.T + found.origin
        axis = abs(numpy.linalg.eigh(found.tensor[found.inside][:, MATRIX].astype(float))[1][..., -1])
        x, y, z = world.T
        fa = self.fa[found.inside]
        callosum = (abs(x) < 4) & (z > 20) & (z < 40) & (fa > 0.7)
        self.assertGreater(callosum.sum(), 100)
        self.assertGreater(numpy.median(axis[callosum, 0]), 0.9)  # left-right
        capsule = (abs(x) > 15) & (abs(x) < 30) & (y > -40) & (y < 10) & (z > 10) & (z < 20) & (fa > 0.65)
        self.assertGreater(capsule.sum(), 100)
        self.assertGreater(numpy.median(axis[capsule, 2]), 0.85)  # up-down

        # seeds: at the centres of the white matter's voxels, in the order of memory, along the main axis
        seeds = found.seeds
        white = nibabel.load(f"{PHILIPS}/ref_mrtrix3/wm_mask_fa025.nii.gz").get_fdata() > 0
        place = numpy.argwhere((white & found.inside).transpose(2, 1, 0))[:, ::-1]
        numpy.testing.assert_array_equal(seeds[:, :3], place)
        all_axes = numpy.zeros((*found.inside.shape, 3))
        all_axes[found.inside] = axis
        numpy.testing.assert_allclose(abs(seeds[:, 3:]), all_axes[tuple(place.T)], atol=1e-4)

        # targets: the parcellation's labels in increasing order
        labels = nibabel.load(f"{PHILIPS}/parcellation_derived/aal116_in_dwi_approx.nii.gz").get_fdata().astype(int)
        self.assertEqual(found.output["target_labels"], sorted(set(labels.ravel()) - {0}))
        self.assertTrue(found.output["connectome"])
        self.assertEqual(found.output["configuration"]["rays"], "two-way")
        named = numpy.array([0, *found.output["target_labels"]])
        numpy.testing.assert_array_equal(named[found.regions >> 16], labels)
        numpy.testing.assert_array_equal(found.regions & 1, found.inside)


class Labels(InFolder):
    @unittest.skipUnless(os.path.isdir(MRTRIX_DATA), "no folder of real scans (VOXHERD_DATA)")
    def test_a_finer_parcellation_with_other_axes_is_sampled_by_world_coordinates(self):
        source = os.path.join(MRTRIX_DATA, "sift")
        found = self.dump("--dwi", f"{source}_dwi.nii.gz", "--bvals", f"{source}_dwi.bval", "--bvecs",
                          f"{source}_dwi.bvec", "--mask", f"{source}_mask.nii.gz", "--seed-image",
                          f"{source}_mask.nii.gz", "--targets", f"{source}_parc.nii.gz")
        self.assertIn("is on another grid", self.output)
        fine = nibabel.load(f"{source}_parc.nii.gz").get_fdata().astype(int)
        # 1 mm in 2 mm: each voxel has two by two by two labels.
        blocks = fine.reshape(14, 2, 9, 2, 5, 2).transpose(0, 2, 4, 1, 3, 5).reshape(14, 9, 5, 8)
        counts = numpy.stack([(blocks == label).sum(-1) for label in range(1, fine.max() + 1)], -1)
        expected = numpy.where(counts.any(-1), counts.argmax(-1) + 1, 0)
        numpy.testing.assert_array_equal(found.regions >> 16, expected)
        self.assertEqual(sorted(set(expected.ravel())), [0, 1, 2, 3, 4])
        self.assertEqual(found.output["provenance"]["targets"]["path"], f"{source}_parc.nii.gz")


class Refusals(InFolder):
    def setUp(self):
        super().setUp()
        affine = numpy.diag([2, 2, 3, 1])
        tensor = numpy.zeros((5, 4, 3, 6))
        tensor[..., [0, 1, 2]] = 1e-3, 5e-4, 3e-4
        mask = numpy.ones((5, 4, 3))
        self.tensor = ["--tensor", self.save("dt.nii", tensor, affine), "--tensor-from", "mrtrix"]
        self.seeds = ["--seed-image", self.save("mask.nii", mask, affine)]
        labels = numpy.zeros((5, 4, 3))
        labels[0], labels[4] = 3, 17
        self.labels = self.save("labels.nii", labels, affine)
        self.mask = self.at("mask.nii")
        self.affine = affine

    def assert_rejected(self, status, words, *named, ranks=1):
        rc, output = launch(DUMP, "geodesic", "--backend", "cpu", "--threads", "1", "--dump", self.folder, *words,
                          ranks=ranks)
        errors = [line for line in output.splitlines() if "error:" in line]
        with self.subTest(" ".join(words)):
            self.assertEqual(rc, status, output)
            self.assertEqual(len(errors), 1, output)
            for word in named:
                self.assertIn(word, errors[0])

    def test_a_complete_command_line_is_accepted(self):
        found = self.dump(*self.tensor, *self.seeds, "--include", self.labels, "--include", self.mask, "--ordered",
                          "--exclude", self.labels, "--targets", self.labels, "--target-labels", "17", ranks=2)
        self.assertEqual(found.output["includes"], 2)
        self.assertEqual(found.output["target_labels"], [17])
        self.assertEqual(found.regions[4, 0, 0], 1 | 2 | 4 | 8 | 1 << 16)
        self.assertEqual(found.regions[0, 0, 0], 1 | 2 | 4 | 8)
        self.assertEqual(found.regions[1, 0, 0], 1 | 8)

    def configuration(self, *words):
        return self.dump(*self.tensor, *self.seeds, *words).output["configuration"]

    def test_defaults_depend_on_the_form_and_the_voxel(self):
        usual = self.configuration()
        self.assertEqual([usual[name] for name in ("interpolation", "integrator", "rays", "direction-set", "directions")],
                         ["bspline", "rk4", "one-way", "sphere", 64])
        self.assertEqual([usual[name] for name in ("step", "max-steps", "max-length", "max-angle", "min-fa",
                                                   "output-step")], [1, 250, 250, 180, 0, 1])  # voxels of 2 x 2 x 3 mm
        self.assertEqual([usual[name] for name in ("smooth", "max-ratio")], [0.7, 10])
        line = self.configuration("--form", "streamline")
        self.assertEqual([line[name] for name in ("smooth", "max-ratio")], [0, 100])
        self.assertEqual([line[name] for name in ("interpolation", "integrator", "rays", "direction-set", "directions",
                                                  "step", "max-angle", "min-fa")],
                         ["trilinear", "rk4", "two-way", "axis", 1, 0.5, 60, 0.15])
        paper = self.configuration("--form", "christoffel", "--integrator", "rk2-frozen", "--max-steps", "4096")
        self.assertEqual([paper["step"], paper["max-steps"]], [0.2, 4096])
        self.assertGreater(paper["max-length"], 0.2 * 4096)  # only the number of steps limits
        both = self.configuration("--max-steps", "4096", "--max-length", "90")
        self.assertEqual([both["max-steps"], both["max-length"]], [4096, 90])
        self.assertEqual(self.configuration("--connectome", self.labels)["rays"], "two-way")

    def test_incompatible_options(self):
        base = [*self.tensor, *self.seeds]
        for words, named in (
                (self.seeds, ["--dwi", "--tensor"]),
                (self.tensor, ["--seed-points", "--seed-image"]),
                ([*base, "--dwi", "x"], ["--dwi", "--tensor"]),
                ([*base, "--bvals", "x"], ["--bvals", "--tensor"]),
                ([*self.tensor[:2], *self.seeds], ["--tensor-from", "fsl", "mrtrix"]),
                ([*self.tensor[:3], "dipy", *self.seeds], ["--tensor-from dipy", "mrtrix"]),
                ([*base, "--seed-points", "x"], ["--seed-points", "--seed-image"]),
                ([*self.tensor, "--seed-points", "x", "--seeding", "random"], ["--seeding", "--seed-image"]),
                ([*base, "--seeds-per-voxel", "2"], ["--seeds-per-voxel 2", "random", "grid"]),
                ([*base, "--seeding", "grid", "--seeds-per-voxel", "101"], ["101", "1 to 100"]),
                ([*base, "--seed-labels", "3,x"], ["--seed-labels", '"x"']),
                ([*base, "--seed-labels", "3,,4"], ["--seed-labels", "found nothing"]),
                ([*base, "--target-labels", "3"], ["--target-labels", "--targets"]),
                ([*base, "--targets", "x", "--connectome", "y"], ["--targets", "--connectome"]),
                ([*base, "--ordered", "--include", "x"], ["--ordered", "at least two"]),
                ([*base, "--ordered", "--include", "x", "--include", "y", "--rays", "two-way"], ["--ordered", "one-way"]),
                ([*base, *["--include", "x"] * 15], ["15 times", "at most 14"]),
                ([*base, "--form", "streamlines"], ["--form streamlines", "hamiltonian", "streamline"]),
                ([*base, "--interpolation", "texture"], ["texture", "christoffel"]),
                ([*base, "--form", "christoffel", "--interpolation", "texture"], ["texture", "--backend cuda"]),
                ([*base, "--form", "streamline", "--integrator", "rk2-frozen"], ["rk2-frozen", "hamiltonian"]),
                ([*base, "--form", "streamline", "--metric", "adjugate"], ["--metric", "streamline"]),
                ([*base, "--form", "streamline", "--max-drift", "0.1"], ["--max-drift", "hamiltonian"]),
                ([*base, "--form", "streamline", "--direction-set", "sphere"], ["--direction-set", "streamline"]),
                ([*base, "--form", "streamline", "--directions", "2"], ["--directions 2", "axis"]),
                ([*base, "--form", "finsler4"], ["finsler4", "--dwi"]),
                ([*base, "--alpha", "2"], ["--alpha", "power", "jeong"]),
                ([*base, "--metric", "power", "--alpha", "0"], ["--alpha 0", "0.1 to 10"]),
                ([*base, "--cone", "30"], ["--cone", "--direction-set cone"]),
                ([*base, "--direction-set", "cone", "--cone", "91"], ["--cone 91", "90"]),
                ([*base, "--step", "-1"], ["--step -1", "100"]),
                ([*base, "--step", "nan"], ["--step", "nan"]),
                ([*base, "--step", "0.0001", "--max-length", "100000"], ["--max-length", "--step"]),
                ([*base, "--min-length", "300"], ["--min-length", "--max-length"]),
                ([*base, "--min-fa", "1.5"], ["--min-fa", "0 to 1"]),
                ([*base, "--measure", "weakest", "--min-measure", "2"], ["--min-measure", "0 to 1"]),
                ([*base, "--directions", "0"], ["--directions 0", "1 to 1000000"]),
                ([*base, "--random-seed", "-1"], ["--random-seed -1"]),
                ([*base, "--top", "-1"], ["--top -1"])):
            self.assert_rejected(USAGE, words, *named)

    def test_files_of_the_wrong_kind(self):
        short = self.save("short.nii", numpy.ones((5, 4, 3, 5)), self.affine)
        zero = self.save("zero.nii", numpy.zeros((5, 4, 3, 6)), self.affine)
        half = self.save("half.nii", numpy.full((5, 4, 3), 1.5), self.affine)
        far = numpy.array(self.affine)
        far[:3, 3] = 500
        away = self.save("away.nii", numpy.ones((9, 4, 3)), far)
        empty = self.save("empty.nii", numpy.zeros((5, 4, 3)), self.affine)
        with open(self.at("points"), "w", encoding="utf-8") as file:
            file.write("0 0 0\n0 0\n")
        with open(self.at("outside"), "w", encoding="utf-8") as file:
            file.write("0 0 900\n")
        base = [*self.tensor, *self.seeds]
        for status, words, named in (
                (BAD_DATA, ["--tensor", short, "--tensor-from", "fsl", *self.seeds], ["short.nii", "dim[4] is 5", "6"]),
                (BAD_DATA, ["--tensor", zero, "--tensor-from", "fsl", *self.seeds], ["zero.nii", "0 of 60"]),
                (MISSING, ["--tensor", self.at("absent.h5"), *self.seeds], ["absent.h5"]),
                (BAD_DATA, ["--tensor", self.mask, "--tensor-from", "voxherd", *self.seeds], ["mask.nii"]),
                (MISSING, [*base, "--exclude", self.at("absent.nii")], ["absent.nii"]),
                (BAD_DATA, [*base, "--targets", half], ["half.nii", "1.5", "integers"]),
                (BAD_DATA, [*base, "--targets", empty], ["empty.nii", "0 of 60"]),
                (BAD_DATA, [*base, "--targets", away], ["away.nii", "none of its labels"]),
                (BAD_DATA, [*base, "--targets", self.labels, "--target-labels", "4"], ["labels.nii", "4", "3, 17"]),
                (BAD_DATA, [*self.tensor, "--seed-image", self.labels, "--seed-labels", "18"], ["18", "3, 17"]),
                (BAD_DATA, [*self.tensor, "--seed-image", away], ["away.nii"]),
                (BAD_DATA, [*self.tensor, "--seed-points", self.at("points")], ["points", "line 2"]),
                (BAD_DATA, [*self.tensor, "--seed-points", self.at("outside")], ["outside", "none of 1 seeds", "mm"])):
            self.assert_rejected(status, words, *named)
        with open(self.at("parc.mif"), "w", encoding="utf-8") as file:
            file.write("mrtrix image\n")
        self.assert_rejected(BAD_DATA, [*base, "--connectome", self.at("parc.mif")], "parc.mif", "mrconvert", ranks=2)


if __name__ == "__main__":
    unittest.main()
