"""nipype's interfaces of FSL run voxherd where its links are in PATH."""
import os
import shutil
import sys
import tempfile
import unittest

try:
    import nibabel
    from nipype.interfaces import fsl
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import run


class Nipype(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="voxherd_nipype_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        scan = os.path.join(self.folder, "scan")
        run("shims", os.path.join(self.folder, "fsl", "bin"))
        run("phantom", "dwi", "--out", scan, "--size", "9x8x7", "--directions", "32", "--threads", "1")
        os.environ.update(FSLDIR=os.path.join(self.folder, "fsl"), FSLOUTPUTTYPE="NIFTI_GZ",
                          PATH=f"{self.folder}/fsl/bin:{os.environ['PATH']}")
        os.chdir(self.folder)
        self.files = {"dwi": f"{scan}/data.nii", "mask": f"{scan}/nodif_brain_mask.nii.gz", "bvals": f"{scan}/bvals",
                      "bvecs": f"{scan}/bvecs"}
        self.chain = {"n_fibres": 2, "burn_in": 10, "n_jumps": 50, "sample_every": 1}

    def test_DTIFit(self):
        tensors = fsl.DTIFit(base_name="TP", **self.files).run().outputs
        for name in ("FA", "MD", "MO", "S0", "L1", "L2", "L3", "V1", "V2", "V3"):
            self.assertTrue(os.path.exists(getattr(tensors, name)), name)

    def test_XFibres5(self):
        fibres = fsl.XFibres5(logdir="xfibres", **self.chain, **self.files).run().outputs
        self.assertEqual(nibabel.load(fibres.dyads[0]).shape[3], 3)
        self.assertTrue(os.path.exists(fibres.mean_fsamples[0]))

    def test_BEDPOSTX5_and_ProbTrackX2(self):
        bedpostx = fsl.BEDPOSTX5(out_dir="bedpostx", **self.chain, **self.files).run().outputs
        self.assertEqual(nibabel.load(bedpostx.merged_fsamples[0]).shape[3], 50)
        tracks = fsl.ProbTrackX2(seed=self.files["mask"], mask=self.files["mask"], n_samples=2, opd=True,
                                 thsamples=bedpostx.merged_thsamples, phsamples=bedpostx.merged_phsamples,
                                 fsamples=bedpostx.merged_fsamples, out_dir=self.folder).run().outputs
        self.assertGreater(nibabel.load(tracks.fdt_paths if isinstance(tracks.fdt_paths, str) else tracks.fdt_paths[0]).get_fdata().sum(), 0)


if __name__ == "__main__":
    unittest.main()
