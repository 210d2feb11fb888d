"""Images and gradient tables are read with the values that nibabel and numpy read."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import nibabel
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

DUMP = os.path.join(os.path.dirname(os.environ["VOXHERD"]), "tests", "inputs_dump")
DATA = os.environ.get("VOXHERD_DATA", "")

SCANS = [
    "dipy_files/S0_10slices.nii.gz",
    "dipy_files/aniso_vox.nii.gz",
    "dipy_files/small_101D.nii.gz",
    "dipy_files/small_25.nii.gz",
    "dipy_files/small_64D.nii",
    "dipy_files/test_piesno.nii.gz",
    "fibercup/dwi/acq-1_b-1500.nii.gz",
    "fibercup/dwi/acq-averaged_b-650.nii.gz",
    "fibercup/masks/wm_3x3x3.nii.gz",
    "madym_abdomen_dce/dynamic_4d.nii.gz",
    "madym_abdomen_dce/roi_liver_auto.nii.gz",
    "madym_abdomen_dce/vfa_3fa.nii.gz",
    "mrtrix3_test_data/b0.nii.gz",
    "ballstick_reference/k64/data.nii.gz",
    "ballstick_reference/ms128/data.nii.gz",
    "philips_32dir_b1000/1201_DT_HIGH_32DIR_SENSE.nii.gz",
    "philips_32dir_b1000/ref_mrtrix3/brain_mask.nii.gz",
    "philips_32dir_b1000/ref_mrtrix3/evals.nii.gz",
    "philips_32dir_b1000/ref_dipy/fa_wls.nii.gz",
    "philips_32dir_b1000/parcellation_derived/aal116_in_dwi_approx.nii.gz",
]

TABLES = [
    ("dipy_files/small_101D.bval", "dipy_files/small_101D.bvec"),
    ("dipy_files/small_25.bval", "dipy_files/small_25.bvec"),
    ("dipy_files/small_64D.bval", "dipy_files/small_64D.bvec"),
    ("fibercup/dwi/bvals_1500", "fibercup/dwi/bvecs_fsl"),
    ("ballstick_reference/k64/bvals", "ballstick_reference/k64/bvecs"),
    ("mrtrix3_test_data/nii/dwi.bval", "mrtrix3_test_data/nii/dwi.bvec"),
    ("mrtrix3_test_data/nii/msmt_dwi.bval", "mrtrix3_test_data/nii/msmt_dwi.bvec"),
    ("philips_32dir_b1000/1201_DT_HIGH_32DIR_SENSE.bval", "philips_32dir_b1000/1201_DT_HIGH_32DIR_SENSE.bvec"),
]


def read_dump(*words):
    done = subprocess.run([DUMP, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{words}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


class Images(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def at(self, name):
        return os.path.join(self.folder, name)

    def assert_read_as_by_nibabel(self, path):
        image = nibabel.load(path)
        header = read_dump("image", path, self.at("values"), self.at("copy.nii.gz"))
        expected = image.get_fdata(dtype=numpy.float64).astype(numpy.float32)
        found = numpy.fromfile(self.at("values"), numpy.float32).reshape(image.shape, order="F")
        self.assertEqual(header["size"] + [header["volumes"]], (list(image.shape) + [1, 1])[:4])
        numpy.testing.assert_array_equal(found, expected)
        numpy.testing.assert_allclose(numpy.reshape(header["voxel_to_world"], (4, 4)), image.affine, atol=1e-5)
        self.assert_copy_keeps_geometry(image)
        numpy.testing.assert_array_equal(nibabel.load(self.at("copy.nii.gz")).get_fdata().ravel(), expected.ravel())

    def assert_copy_keeps_geometry(self, image):
        copy = nibabel.load(self.at("copy.nii.gz")).header
        for field in ("qform_code", "sform_code", "quatern_b", "quatern_c", "quatern_d", "qoffset_x", "qoffset_y",
                      "qoffset_z", "srow_x", "srow_y", "srow_z", "xyzt_units"):
            # A NIfTI-2 reference has doubles, the NIfTI-1 copy floats.
            expected = numpy.asarray(image.header[field]).astype(copy[field].dtype)
            numpy.testing.assert_array_equal(copy[field], expected, err_msg=field)
        numpy.testing.assert_array_equal(copy["pixdim"][:4], image.header["pixdim"][:4].astype("f4"))

    def test_every_type_byte_order_version_and_scaling(self):
        rng = numpy.random.default_rng(3)
        for version, kind in ((1, nibabel.Nifti1Header), (2, nibabel.Nifti2Header)):
            for order in "<>":
                for name in ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
                    for slope, intercept in ((1, 0), (0.37, -12.5), (-3, 7)):
                        with self.subTest(version=version, order=order, type=name, slope=slope):
                            header = kind(endianness=order)
                            header.set_data_shape((5, 4, 3, 2))
                            header.set_data_dtype(numpy.dtype(order + name))
                            header.set_sform([[-1.7, 0.1, 0, 90], [0.1, 1.7, 0.2, -80], [0, -0.2, 2.4, -70], [0, 0, 0, 1]], 1)
                            header["pixdim"][1:4] = 1.70294, 1.71464, 2.40832
                            header.set_slope_inter(slope, intercept)
                            header["vox_offset"] = 352 if version == 1 else 544
                            values = rng.integers(0, 120, 120).astype(order + name)
                            if name[0] == "f":
                                values[3:6] = numpy.nan, numpy.inf, -1e30
                            content = header.binaryblock + b"\0\0\0\0" + values.tobytes()
                            path, opened = ("a.nii", open) if slope == 1 else ("a.nii.gz", gzip.open)
                            with opened(self.at(path), "wb") as file:
                                file.write(content)
                            self.assert_read_as_by_nibabel(self.at(path))

    @unittest.skipUnless(os.path.isdir(DATA), "no folder of real scans (VOXHERD_DATA)")
    def test_the_real_scans(self):
        folder = os.path.join(DATA, "mrtrix3_test_data", "nii")
        more = [os.path.join("mrtrix3_test_data", "nii", f) for f in sorted(os.listdir(folder)) if ".nii" in f]
        for scan in SCANS + more:
            with self.subTest(scan):
                self.assert_read_as_by_nibabel(os.path.join(DATA, scan))


class Gradients(unittest.TestCase):
    @unittest.skipUnless(os.path.isdir(DATA), "no folder of real scans (VOXHERD_DATA)")
    def test_the_real_tables(self):
        for bvals, bvecs in TABLES:
            with self.subTest(bvals):
                b = numpy.loadtxt(os.path.join(DATA, bvals)).ravel()
                g = numpy.nan_to_num(numpy.loadtxt(os.path.join(DATA, bvecs)))
                g = g if g.shape[0] == 3 else g.T
                norm = numpy.linalg.norm(g, axis=0)
                table = read_dump("gradients", os.path.join(DATA, bvals), os.path.join(DATA, bvecs), str(b.size))
                numpy.testing.assert_array_equal(table["b"], b)
                expected = g / numpy.where(norm == 0, 1, norm)
                numpy.testing.assert_allclose([table["x"], table["y"], table["z"]], expected, atol=1e-15)


if __name__ == "__main__":
    unittest.main()
