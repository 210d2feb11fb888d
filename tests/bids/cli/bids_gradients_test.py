"""voxherd bids finds maps of gradient deviations, and reads those of HCP and of QSIPrep."""
import sys
import unittest

try:
    import nibabel
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from bids_jobs import Layouts, commands, read, read_json
from program import run


class GradientDeviation(Layouts):
    """QSIPrep's map beside the series, and HCP's: matrices I + L or L, column by column."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        scan = nibabel.load(f"{cls.phantom()}/data.nii.gz")
        # The sum of L and I is exact, so that both maps mean the same bytes. L is not symmetric.
        L = numpy.random.default_rng(1).integers(-256, 256, (*scan.shape[:3], 9)).astype(numpy.float32) / 4096
        cls.describe("qsiprep", "derivative")
        cls.stem = "qsiprep/sub-7/dwi/sub-7_space-ACPC"
        cls.add_series(cls.stem, desc="_desc-preproc")
        cls.add_mask(cls.stem)
        nibabel.save(nibabel.Nifti1Image(L + numpy.eye(3, dtype=numpy.float32).ravel(), scan.affine),
                     cls.path(f"{cls.stem}_graddev.nii.gz"))
        for name in ("data.nii.gz", "bvals", "bvecs", "nodif_brain_mask.nii.gz"):
            cls.copy(f"{cls.phantom()}/{name}", f"hcp/7/T1w/Diffusion/{name}")
        nibabel.save(nibabel.Nifti1Image(L, scan.affine), cls.path("hcp/7/T1w/Diffusion/grad_dev.nii.gz"))

    def test_both_maps_are_found_and_give_the_same_bytes(self):
        found = commands(self.participant("qsiprep", analysis="tensor,ballstick"))
        self.assertEqual(found["sub-7_space-ACPC"]["--grad-dev"], self.path(f"{self.stem}_graddev.nii.gz"))
        one = f"work{self.id()}{self.count}/sub-7/dwi/sub-7_space-ACPC"
        out = self.path(f"out{self.id()}{self.count}")
        sources = read_json(out, "sub-7/dwi/sub-7_space-ACPC_model-tensor_param-fa_dwimap.json")["Sources"]
        self.assertTrue(any(source.endswith("_graddev.nii.gz") for source in sources), sources)
        self.participant("hcp", analysis="tensor,ballstick")
        other = f"work{self.id()}{self.count}/sub-7/dwi/sub-7_space-T1w"
        for analysis in ("tensor", "ballstick"):
            a, b = (self.path(f"{stem}_{analysis}.h5") for stem in (one, other))
            self.assertIn("the same bytes", run("compare", a, b).stdout)
            self.assertIn("grad_dev   read as I + L (QSIPrep, TORTOISE)\n", run("info", a).stdout)
            self.assertIn("grad_dev   read as L (HCP, FSL)\n", run("info", b).stdout)
            run("report", a, "--out", f"{a}.html")
            self.assertIn("_graddev.nii.gz: I + L (QSIPrep, TORTOISE)", read(f"{a}.html").decode())


if __name__ == "__main__":
    unittest.main()
