"""Values of a result that become indices: no export reads or writes outside of its memory."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import run
from result_files import changed_values

MAKE = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "matrix_result")
ROWS = 40
EXPORTS = (("dot", "dot"), ("cifti", "o.dconn.nii", "--structures", "THALAMUS_LEFT"), ("cifti", "o.dscalar.nii", "--structures", "THALAMUS_LEFT"))


class HostileMatrices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_hostile_matrix_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.good = cls.path("good.h5")
        subprocess.run([MAKE, "matrix", "--rows", str(ROWS), "--entries", "5", "--out", cls.good, "--backend", "cpu", "--threads", "1", "--quiet"],
                       check=True, capture_output=True)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def changed(self, dataset, index, value):
        copy = self.path("changed.h5")
        shutil.copy(self.good, copy)
        with changed_values(copy) as file:
            values = file[dataset][()]
            values.reshape(-1)[index] = value
            file[dataset][...] = values
        return copy

    def check_refused(self, path, *words):
        for kind, out, *more in EXPORTS:
            done = run("export", path, "--to", kind, self.path(out), *more, expect=65)
            for word in ("changed.h5", *words):
                self.assertIn(word, done.stderr)
            self.assertFalse(os.path.exists(self.path(out)) and os.listdir(self.path(out)), out)

    def test_an_undamaged_matrix_is_exported(self):
        for kind, out, *more in EXPORTS:
            out = self.path("good_" + out)
            run("export", self.good, "--to", kind, out, *more)
            self.assertTrue(os.path.exists(out))

    def test_a_column_number_that_does_not_exist_is_refused(self):
        for column in (ROWS, 200000, 2**32 - 2):
            self.check_refused(self.changed("points/column", 7, column), "`column` of row 7", f"expected a number below {ROWS}")

    def test_the_voxel_of_a_column_is_in_its_image(self):
        for voxel in (1e18, 10000, 0.5, float("nan"), float("inf")):
            self.check_refused(self.changed("matrix/column_voxel", 2, voxel), "/matrix/column_voxel[2]")
        self.check_refused(self.changed("matrix/column_voxel", 2, -1))

    def test_the_image_of_the_columns_is_one(self):
        for size in (0, -1, 2**31, float("nan")):
            self.check_refused(self.changed("matrix/column_image_size", 0, size), "column_image_size")
        self.check_refused(self.changed("matrix/column_voxel_to_world", 3, float("nan")), "column_image_size")

    def test_the_matrix_has_a_number_of_fsl(self):
        for number in (0, 5, -1, 1.5):
            self.check_refused(self.changed("matrix/number", 0, number), "/matrix/number")

    def test_offsets_are_increasing(self):
        for offset in (-1, 10**6):
            self.check_refused(self.changed("points/offset", 3, offset), "/points/offset")

    def test_another_number_of_values_is_refused(self):
        for name in ("matrix/column_voxel_to_world", "matrix/column_image_size", "matrix/number"):
            copy = self.path("changed.h5")
            shutil.copy(self.good, copy)
            with changed_values(copy) as file:
                attributes = dict(file[name].attrs)
                del file[name]
                file.create_dataset(name, data=np.zeros((100,))).attrs.update(attributes)
                contents = file.attrs["contents"].decode()
                old = {"matrix/column_voxel_to_world": "[4,4]", "matrix/column_image_size": "[3]", "matrix/number": "[1]"}[name]
                before, found, after = contents.partition(f'"name":"{name[7:]}","shape":{old}')
                self.assertTrue(found, contents)
                file.attrs["contents"] = np.bytes_(f'{before}"name":"{name[7:]}","shape":[100]{after}')
            self.check_refused(copy, f"/{name} has 100 values")

    def test_a_damaged_batch_is_noticed(self):
        copy = self.path("changed.h5")
        shutil.copy(self.good, copy)
        with h5py.File(copy, "r") as file:
            at = file["points/count"].id.get_offset()
        with open(copy, "r+b") as file:
            file.seek(at)
            file.write(b"\x37")
        self.check_refused(copy, "is damaged: batch 0", "voxherd verify")


if __name__ == "__main__":
    unittest.main()
