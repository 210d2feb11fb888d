"""voxherd export and the result file itself, read by other programs."""
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
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import files_below, run
from result_files import changed_tables

SAMPLES, FIBRES = 10, 2


def tilted(source, target, mask=None):
    """The image on an oblique grid with voxels of three different sizes; sform and qform disagree by a shift."""
    image = nibabel.load(source)
    a, b = np.radians(20), np.radians(-35)
    turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]) @ \
        np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    affine = np.eye(4)
    affine[:3, :3] = turn @ np.diag([-1.5, 1.75, 2.25])
    affine[:3, 3] = [31.5, -17.25, 12]
    data = np.asarray(image.dataobj)
    if mask is not None:
        data = data * mask
    new = nibabel.Nifti1Image(data, affine)
    shifted = affine.copy()
    shifted[:3, 3] += 1
    new.set_sform(affine, 2)
    new.set_qform(shifted, 1)
    new.header.set_xyzt_units("mm", "sec")
    nibabel.save(new, target)


class Exported(unittest.TestCase):
    """A ball & stick result of an oblique, anisotropic series, its mask with holes."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_export_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        phantom = cls.path("phantom")
        run("phantom", "dwi", "--out", phantom, "--size", "11x9x7", "--directions", "16", "--threads", "1")
        holes = np.random.default_rng(1).random((11, 9, 7)) > 0.2
        tilted(f"{phantom}/data.nii", cls.path("data.nii.gz"))
        tilted(f"{phantom}/nodif_brain_mask.nii.gz", cls.path("mask.nii.gz"), holes.astype(np.float32))
        cls.result = cls.path("result.h5")
        run("ballstick", "--dwi", cls.path("data.nii.gz"), "--bvals", f"{phantom}/bvals", "--bvecs",
            f"{phantom}/bvecs", "--mask", cls.path("mask.nii.gz"), "--fibres", str(FIBRES), "--burn-in", "100",
            "--jumps", "100", "--sample-every", "10", "--backend", "cpu", "--threads", "1", "--out", cls.result)
        cls.mask = nibabel.load(cls.path("mask.nii.gz"))
        cls.inside = cls.mask.get_fdata() > 0

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def load(self, *names):
        """Values of an exported image; first compares its geometry with the mask's."""
        image = nibabel.load(self.path(*names))
        self.assertEqual(image.get_data_dtype(), np.float32)
        for field in ("qform_code", "sform_code", "quatern_b", "quatern_c", "quatern_d", "qoffset_x", "qoffset_y",
                      "qoffset_z", "srow_x", "srow_y", "srow_z"):
            np.testing.assert_array_equal(image.header[field], self.mask.header[field], field)
        np.testing.assert_array_equal(image.header["pixdim"][:4], self.mask.header["pixdim"][:4])
        self.assertEqual(image.header.get_xyzt_units()[0], "mm")
        return np.asarray(image.dataobj)

    def read_range(self, *names):
        header = nibabel.load(self.path(*names)).header
        return float(header["cal_min"]), float(header["cal_max"])

    def stored_map(self, name):
        with h5py.File(self.result) as file:
            return np.moveaxis(file["maps"][name][()], [0, 2], [2, 0])

    def stored_samples(self, name):
        """(nx, ny, nz, samples), zero outside the mask."""
        with h5py.File(self.result) as file:
            rows, voxels, shape = file["samples"][name][()], file["items/voxel"][()], file["image"].attrs["size"]
        volume = np.zeros((int(np.prod(shape)), rows.shape[1]), np.float32)
        volume[voxels] = rows
        return volume.reshape(*shape[::-1], -1).transpose(2, 1, 0, 3)


class FslFolder(Exported):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run("export", cls.result, "--to", "fsl", cls.path("fsl"), "--threads", "2")

    def test_contains_exactly_the_files_of_bedpostx(self):
        expected = ["bvals", "bvecs", "commands.txt", "logs/exported_samples.json", "logs/voxherd.json", "xfms/eye.mat", "nodif_brain_mask.nii.gz",
                    "dyads2_thr0.05.nii.gz", "dyads2_thr0.05_modf2.nii.gz"]
        for k in "12":
            expected += [f"merged_{n}{k}samples.nii.gz" for n in ("th", "ph", "f")]
            expected += [f"mean_{n}{k}samples.nii.gz" for n in ("th", "ph", "f")]
            expected += [f"dyads{k}.nii.gz", f"dyads{k}_dispersion.nii.gz"]
        expected += [f"mean_{n}samples.nii.gz" for n in ("d", "d_std", "S0", "fsum")]
        self.assertEqual(files_below(self.path("fsl")), sorted(expected))

    def test_samples_match_the_result(self):
        for k in "12":
            for name, largest in (("th", 0), ("ph", 0), ("f", 1)):
                file = f"merged_{name}{k}samples.nii.gz"
                values = self.load("fsl", file)
                self.assertEqual(values.shape, (11, 9, 7, SAMPLES))
                np.testing.assert_array_equal(values, self.stored_samples(name + k), file)
                self.assertTrue(np.any(values[self.inside]))
                self.assertEqual(self.read_range("fsl", file), (0, largest))

    def test_means_match_the_result(self):
        for name in ("mean_f1", "mean_f2", "mean_fsum", "mean_d", "mean_d_std", "mean_S0"):
            np.testing.assert_array_equal(self.load("fsl", f"{name}samples.nii.gz"), self.stored_map(name), name)
        for name in ("dyads1", "dyads2", "dyads1_dispersion", "dyads2_dispersion"):
            np.testing.assert_array_equal(self.load("fsl", f"{name}.nii.gz"), self.stored_map(name), name)
        self.assertEqual(self.read_range("fsl", "mean_f1samples.nii.gz"), (0, 1))
        self.assertEqual(self.read_range("fsl", "dyads1.nii.gz"), (-1, 1))

    def test_mean_angles_match_the_dyads(self):
        for k in "12":
            th, ph = self.load("fsl", f"mean_th{k}samples.nii.gz"), self.load("fsl", f"mean_ph{k}samples.nii.gz")
            direction = np.stack([np.sin(th) * np.cos(ph), np.sin(th) * np.sin(ph), np.cos(th)], -1)
            np.testing.assert_allclose(direction[self.inside], self.stored_map(f"dyads{k}")[self.inside], atol=1e-6)
            self.assertFalse(np.any(th[~self.inside]) or np.any(ph[~self.inside]))

    def test_thresholded_dyads_are_kept_where_the_fraction_reaches_5_percent(self):
        f1, f2, dyads = self.stored_map("mean_f1"), self.stored_map("mean_f2"), self.stored_map("dyads2")
        supported = f2 >= np.float32(0.05)
        self.assertTrue(np.any(supported) and np.any(self.inside & ~supported))
        np.testing.assert_array_equal(self.load("fsl", "dyads2_thr0.05.nii.gz"), dyads * supported[..., None])
        ratio = np.divide(f2, f1, out=np.zeros_like(f2), where=supported)
        np.testing.assert_allclose(self.load("fsl", "dyads2_thr0.05_modf2.nii.gz"), dyads * ratio[..., None],
                                   rtol=1e-6)

    def test_mask_is_the_given_one(self):
        np.testing.assert_array_equal(self.load("fsl", "nodif_brain_mask.nii.gz"), self.inside.astype(np.float32))

    def test_gradients_are_the_given_ones(self):
        for name in ("bvals", "bvecs"):
            written, given = np.loadtxt(self.path("fsl", name), ndmin=2), np.loadtxt(self.path("phantom", name), ndmin=2)
            np.testing.assert_allclose(written, given, atol=1e-6)

    def test_finished_mark_is_the_identity(self):
        np.testing.assert_array_equal(np.loadtxt(self.path("fsl", "xfms/eye.mat")), np.eye(4))

    def test_log_contains_the_command_and_the_options(self):
        with open(self.path("fsl", "logs/voxherd.json")) as file:
            log = json.load(file)
        self.assertEqual(log["configuration"]["fibres"], FIBRES)
        with open(self.path("fsl", "commands.txt")) as file:
            self.assertIn("voxherd ballstick --dwi", file.read())

    def test_any_number_of_ranks_and_threads_writes_the_same_bytes(self):
        run("export", self.result, "--to", "fsl", self.path("by3"), "--threads", "1", ranks=3)
        self.assertEqual(files_below(self.path("by3")), files_below(self.path("fsl")))
        for name in files_below(self.path("fsl")):
            if name == "logs/exported_samples.json":  # their times
                continue
            with open(self.path("fsl", name), "rb") as one, open(self.path("by3", name), "rb") as other:
                self.assertEqual(one.read(), other.read(), name)

    def test_mrtrix_reads_it(self):
        if not shutil.which("mrinfo"):
            self.skipTest("mrtrix3 is not installed")
        for name, size in (("dyads1", "11 9 7 3"), ("merged_th1samples", f"11 9 7 {SAMPLES}")):
            image = self.path("fsl", name + ".nii.gz")
            output = subprocess.run(["mrinfo", "-size", "-quiet", image], capture_output=True, text=True, check=True)
            self.assertEqual(output.stdout.strip(), size)
            output = subprocess.run(["mrinfo", "-spacing", "-quiet", image], capture_output=True, text=True, check=True)
            np.testing.assert_allclose([float(x) for x in output.stdout.split()[:3]], [1.5, 1.75, 2.25], rtol=1e-5)

    def test_files_are_only_overwritten_on_request(self):
        target = self.path("again")
        run("export", self.result, "--to", "fsl", target)
        os.remove(f"{target}/xfms/eye.mat")
        with open(f"{target}/dyads1.nii.gz", "w") as file:
            file.write("mine")
        done = run("export", self.result, "--to", "fsl", target, expect=2)
        self.assertIn("--overwrite", done.stderr)
        with open(f"{target}/dyads1.nii.gz") as file:
            self.assertEqual(file.read(), "mine")
        self.assertFalse(os.path.exists(f"{target}/xfms/eye.mat"))
        run("export", self.result, "--to", "fsl", target, "--overwrite")
        np.testing.assert_array_equal(self.load("again", "dyads1.nii.gz"), self.stored_map("dyads1"))
        self.assertTrue(os.path.exists(f"{target}/xfms/eye.mat"))


class BidsFolder(Exported):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run("export", cls.result, "--to", "bids", cls.path("bids"), "--subject", "01", "--session", "a")
        run("export", cls.result, "--to", "bids", cls.path("bids"), "--subject", "02")
        cls.prefix = "bids/sub-01/ses-a/dwi/sub-01_ses-a_model-bs_"

    def values(self, middle):
        return self.load(f"{self.prefix}{middle}_dwimap.nii.gz")

    def sidecar(self, middle):
        with open(self.path(f"{self.prefix}{middle}_dwimap.json")) as file:
            return json.load(file)

    def test_names_are_those_of_bep016(self):
        expected = [".bidsignore", "README.md", "dataset_description.json"]
        for prefix in ("sub-01/ses-a/dwi/sub-01_ses-a", "sub-02/dwi/sub-02"):
            for middle in [f"param-{p}_desc-mean" for p in ("s0", "polar", "vector", "vf", "vfsum", "diffusivity",
                                                            "dstd")] + \
                    [f"param-{p}_desc-merged" for p in ("polar", "vf")]:
                expected += [f"{prefix}_model-bs_{middle}_dwimap.{ending}" for ending in ("nii.gz", "json")]
        self.assertEqual(files_below(self.path("bids")), sorted(expected))

    def test_every_sidecar_names_the_model(self):
        for name in files_below(self.path("bids")):
            if not name.endswith("_dwimap.json"):
                continue
            with open(self.path("bids", name)) as file:
                model = json.load(file)["Model"]
            self.assertEqual(set(model), {"Description", "URL", "Parameters", "BootstrapParameters"})
            self.assertEqual(model["Parameters"], {"ARDFudgeFactor": 1, "Fibers": FIBRES})
            self.assertEqual(model["BootstrapParameters"], {"Burnin": 100, "Jumps": 100, "SampleEvery": 10})

    def test_orientations_are_described(self):
        polar = {"EncodingAxis": 3, "Reference": "bvec", "Type": "unitspherical"}
        for middle, encoding in (("param-polar_desc-mean", polar), ("param-polar_desc-merged", polar),
                                 ("param-vector_desc-mean", {**polar, "Type": "unit3vector"}),
                                 ("param-vf_desc-mean", {"Type": "scalar"}),
                                 ("param-vf_desc-merged", {"Type": "scalar"})):
            self.assertEqual(self.sidecar(middle)["OrientationEncoding"], encoding, middle)
            axis = self.sidecar(middle).get("BootstrapAxis")
            self.assertEqual(axis, 4 if "merged" in middle else None, middle)
        for middle in ("s0", "vfsum"):
            self.assertEqual(set(self.sidecar(f"param-{middle}_desc-mean")), {"Model", "Units", "GeneratedBy"})
        for middle in ("diffusivity", "dstd"):
            self.assertEqual(self.sidecar(f"param-{middle}_desc-mean")["Units"], "mm^2/s")

    def test_description_names_the_program(self):
        with open(self.path("bids", "dataset_description.json")) as file:
            description = json.load(file)
        self.assertEqual(description["DatasetType"], "derivative")
        self.assertEqual(description["GeneratedBy"][0]["Name"], "voxherd")
        self.assertTrue({"Name", "BIDSVersion"} <= set(description))

    def test_means_match_the_result(self):
        for parameter, name in (("s0", "S0"), ("vfsum", "fsum"), ("diffusivity", "d"), ("dstd", "d_std")):
            np.testing.assert_array_equal(self.values(f"param-{parameter}_desc-mean"), self.stored_map(f"mean_{name}"))
        fractions = np.stack([self.stored_map(f"mean_f{k}") for k in "12"], -1)
        np.testing.assert_array_equal(self.values("param-vf_desc-mean"), fractions)
        vectors = np.concatenate([self.stored_map(f"dyads{k}") for k in "12"], -1)
        np.testing.assert_array_equal(self.values("param-vector_desc-mean"), vectors)
        polar = self.values("param-polar_desc-mean")
        self.assertEqual(polar.shape, (11, 9, 7, 2 * FIBRES))
        th, ph = polar[..., 0::2], polar[..., 1::2]
        np.testing.assert_allclose(np.cos(th)[self.inside], vectors[..., 2::3][self.inside], atol=1e-6)
        np.testing.assert_allclose((np.sin(th) * np.sin(ph))[self.inside], vectors[..., 1::3][self.inside], atol=1e-6)

    def test_samples_match_the_result(self):
        polar = np.stack([self.stored_samples(name) for name in ("th1", "ph1", "th2", "ph2")], -2)
        np.testing.assert_array_equal(self.values("param-polar_desc-merged"), polar)
        fractions = np.stack([self.stored_samples(name) for name in ("f1", "f2")], -2)
        self.assertEqual(fractions.shape, (11, 9, 7, FIBRES, SAMPLES))
        np.testing.assert_array_equal(self.values("param-vf_desc-merged"), fractions)


class NiftiFolder(Exported):
    def expect_all_maps(self, result, folder):
        run("export", result, "--to", "nifti", folder)
        with h5py.File(result) as file:
            names = sorted(file["maps"])
        self.assertEqual(files_below(folder), [name + ".nii.gz" for name in names])
        self.result = result
        for name in names:
            np.testing.assert_array_equal(self.load(folder, name + ".nii.gz"), self.stored_map(name), name)

    def test_every_map_of_ballstick_is_written(self):
        self.expect_all_maps(self.result, self.path("nifti"))

    def test_every_map_of_tensor_is_written(self):
        p = self.path("phantom")
        run("tensor", "--dwi", self.path("data.nii.gz"), "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs", "--mask",
            self.path("mask.nii.gz"), "--backend", "cpu", "--threads", "1", "--out", self.path("tensor.h5"))
        self.expect_all_maps(self.path("tensor.h5"), self.path("tensor"))
        done = run("export", self.path("tensor.h5"), "--to", "fsl", self.path("no"), expect=65)
        self.assertIn("is a result of tensor, expected one of ballstick", done.stderr)


class Refusals(Exported):
    def refuse(self, status, words, *options):
        done = run("export", *options, expect=status)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(self.path("no")))

    def test_wrong_options_are_named(self):
        no = self.path("no")
        self.refuse(2, "--to vtk", self.result, "--to", "vtk", no)
        self.refuse(2, "--subject is missing", self.result, "--to", "bids", no)
        self.refuse(2, "--subject a_b", self.result, "--to", "bids", no, "--subject", "a_b")
        self.refuse(2, "--session has no meaning with --to fsl", self.result, "--to", "fsl", no, "--session", "1")
        self.refuse(2, "PATH is missing", self.result, "--to", "fsl")
        self.refuse(2, "--threads 1000", self.result, "--to", "fsl", no, "--threads", "1000")
        self.refuse(66, "absent.h5", self.path("absent.h5"), "--to", "fsl", no)

    def test_what_is_in_the_way_of_a_shared_text_is_named(self):
        for make, words in ((os.mkdir, "it is a directory"), (os.mkfifo, "it is not a regular file")):
            folder = self.path(make.__name__)
            os.mkdir(folder)
            make(os.path.join(folder, "dataset_description.json"))
            self.refuse(66, f"dataset_description.json: cannot be opened: {words}", self.result, "--to", "bids", folder, "--subject", "1")

    def test_an_incomplete_result_is_rejected(self):
        part = self.path("stopped.h5.part")
        shutil.copy(self.result, part)
        with changed_tables(part) as file:
            journal = file["journal/batches"][()]
            journal["done"][-1] = 0
            file["journal/batches"][...] = journal
            file.attrs["complete"] = np.uint8(0)
        count = len(journal)
        self.refuse(65, f"{count - 1} of {count} batches are done", part, "--to", "fsl", self.path("no"))

    def test_a_whole_journal_is_enough(self):
        part = self.path("unmarked.h5.part")
        shutil.copy(self.result, part)
        with changed_tables(part) as file:
            file.attrs["complete"] = np.uint8(0)
        run("export", part, "--to", "nifti", self.path("unmarked"))


class Scores(Exported):
    def test_results_of_ballstick_and_their_exports_score_the_same(self):
        run("export", self.result, "--to", "fsl", self.path("scored_fsl"))
        run("export", self.result, "--to", "nifti", self.path("scored_nifti"))
        scores = []
        for estimate in (self.result, self.path("scored_fsl"), self.path("scored_nifti")):
            run("phantom", "score", estimate, "--truth", self.path("phantom"), "--json", self.path("score.json"),
                "--overwrite")
            with open(self.path("score.json")) as file:
                scores.append(json.load(file))
        result, fsl, nifti = scores
        self.assertEqual(fsl, nifti)
        self.assertEqual(result["voxels"], int(self.inside.sum()))
        self.assertGreater(result["all"]["fibres"], 50)
        self.assertLess(result["fibre"][0]["median_degrees"], 5)
        self.assertLess(result["fibre"][0]["mean_fraction_error"], 0.2)
        # Exported folders have no mask: voxels outside count as missed and add no direction.
        self.assertEqual(fsl["all"]["mean_degrees"], result["all"]["mean_degrees"])


class SeenByVtk(Exported):
    def test_its_reader_opens_the_result(self):
        try:
            from vtkmodules.util.numpy_support import vtk_to_numpy
            from vtkmodules.vtkIOHDF import vtkHDFReader
        except ImportError as missing:
            self.skipTest(str(missing))
        reader = vtkHDFReader()
        reader.SetFileName(self.result)
        reader.Update()
        image = reader.GetOutput()
        self.assertEqual(image.GetExtent(), (0, 10, 0, 8, 0, 6))
        points = image.GetPointData()
        names = {points.GetArrayName(i) for i in range(points.GetNumberOfArrays())}
        with h5py.File(self.result) as file:
            self.assertEqual(names, set(file["maps"]))
        np.testing.assert_allclose(image.GetSpacing(), [1.5, 1.75, 2.25], rtol=1e-5)
        x, y, z = np.argwhere(self.inside)[37]
        voxel = int(x + 11 * (y + 9 * z))
        # GetPoint() of VTK 9.1 loses the direction that its reader has read.
        direction = np.array([[image.GetDirectionMatrix().GetElement(i, j) for j in range(3)] for i in range(3)])
        place = np.array(image.GetOrigin()) + direction @ (np.array(image.GetSpacing()) * [x, y, z])
        np.testing.assert_allclose(place, (self.mask.affine @ [x, y, z, 1])[:3], atol=1e-4)
        for name in ("mean_f1", "dyads1", "acceptance", "status"):
            values = vtk_to_numpy(points.GetArray(name))
            np.testing.assert_array_equal(values[voxel], self.stored_map(name)[x, y, z], name)


if __name__ == "__main__":
    unittest.main()
