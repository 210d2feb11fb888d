"""A phantom whose series is compressed in different ways, with tensors fitted from the uncompressed file. Not a test
itself."""
import os
import tempfile
import unittest

from program import run


class packed_series(unittest.TestCase):
    phantom = ("--preset", "toy")

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = os.path.join(cls.scratch.name, "phantom")
        run("phantom", "dwi", *cls.phantom, "--out", cls.folder)
        with open(cls.at("data.nii"), "rb") as file:
            cls.content = file.read()
        cls.fit("data.nii", "plain.h5")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def fit(cls, series, out, *options, ranks=1, expect=0):
        return run("tensor", "--fit", "ols", "--dwi", cls.at(series), "--bvals", cls.at("bvals"), "--bvecs", cls.at("bvecs"),
                   "--mask", cls.at("nodif_brain_mask.nii.gz"), "--backend", "cpu", "--threads", "1", "--out", cls.at(out),
                   *options, ranks=ranks, expect=expect)

    def pack(self, *parts):
        with open(self.at("data.nii.gz"), "wb") as file:
            file.write(b"".join(parts))
