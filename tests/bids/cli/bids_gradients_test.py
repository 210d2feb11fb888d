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
    """QSIPrep's map beside the series, and HCP's: I + L along the axes of the image, or L in the frame of the bvecs."""

    def make(self, left_handed):
        """The data sets `qsiprep` and `hcp` of one scan. Its deviations are not symmetric, and their sums with I exact, so that
        both maps mean the same bytes."""
        scan = nibabel.load(f"{self.phantom()}/data.nii.gz")
        is_mirrored = left_handed != (numpy.linalg.det(scan.affine) < 0)
        affine = scan.affine * [-1 if is_mirrored else 1, 1, 1, 1]
        frame = numpy.diag([1 if left_handed else -1, 1, 1])  # from the image axes to those of the bvecs
        L = numpy.random.default_rng(1).integers(-256, 256, (*scan.shape[:3], 3, 3)) / 4096
        maps = {"qsiprep": frame @ (numpy.eye(3) + L) @ frame, "hcp": L}
        self.describe("qsiprep", "derivative")
        stem = "qsiprep/sub-7/dwi/sub-7_space-ACPC"
        names = {"qsiprep": [f"{stem}_{end}" for end in ("desc-preproc_dwi.nii.gz", "desc-preproc_dwi.bval", "desc-preproc_dwi.bvec",
                                                         "desc-brain_mask.nii.gz", "graddev.nii.gz")],
                 "hcp": [f"hcp/7/T1w/Diffusion/{name}" for name in ("data.nii.gz", "bvals", "bvecs", "nodif_brain_mask.nii.gz",
                                                                    "grad_dev.nii.gz")]}
        for data_set, (data, bvals, bvecs, mask, deviation) in names.items():
            for name, file in ((bvals, "bvals"), (bvecs, "bvecs"), (data, "data.nii.gz"), (mask, "nodif_brain_mask.nii.gz")):
                self.copy(f"{self.phantom()}/{file}", name)
            for name in (data, mask):
                image = nibabel.load(self.path(name))
                nibabel.save(nibabel.Nifti1Image(image.get_fdata().astype(numpy.float32), affine), self.path(name))
            columns = maps[data_set].transpose(0, 1, 2, 4, 3).reshape(*scan.shape[:3], 9).astype(numpy.float32)
            nibabel.save(nibabel.Nifti1Image(columns, affine), self.path(deviation))

    def result(self, data_set, name):
        """The log of the run, and the stem of its results."""
        log = self.participant(data_set, analysis="tensor,ballstick")
        return log, self.path(f"work{self.id()}{self.count}/sub-7/dwi/{name}")

    def test_both_maps_are_found_and_give_the_same_bytes(self):
        for left_handed in (False, True):
            with self.subTest(left_handed=left_handed):
                self.make(left_handed)
                log, one = self.result("qsiprep", "sub-7_space-ACPC")
                self.assertEqual(commands(log)["sub-7_space-ACPC"]["--grad-dev"],
                                 self.path("qsiprep/sub-7/dwi/sub-7_space-ACPC_graddev.nii.gz"))
                out = self.path(f"out{self.id()}{self.count}")
                sources = read_json(out, "sub-7/dwi/sub-7_space-ACPC_model-tensor_param-fa_dwimap.json")["Sources"]
                self.assertTrue(any(source.endswith("_graddev.nii.gz") for source in sources), sources)
                _, other = self.result("hcp", "sub-7_space-T1w")
                for analysis in ("tensor", "ballstick"):
                    a, b = f"{one}_{analysis}.h5", f"{other}_{analysis}.h5"
                    self.assertIn("the same bytes", run("compare", a, b).stdout)
                    self.assertIn("grad_dev   read as I + L (QSIPrep, TORTOISE)\n", run("info", a).stdout)
                    self.assertIn("grad_dev   read as L (HCP, FSL)\n", run("info", b).stdout)
                run("report", a, "--out", f"{a}.html")
                self.assertIn("_graddev.nii.gz: I + L (QSIPrep, TORTOISE)", read(f"{a}.html").decode())


if __name__ == "__main__":
    unittest.main()
