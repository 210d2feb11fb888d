"""A running `voxherd view` of a scan, and a folder with what its browser scripts need. Not a program itself."""
import contextlib
import os
import shutil
import subprocess
import tempfile

BROWSER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "view", "browser")


@contextlib.contextmanager
def brain_viewer(voxherd, scan, mask, as_tensors=False):
    """Yields the folder and the address. `scan`: NAME.nii.gz with NAME.bval and NAME.bvec beside it. `as_tensors`: a result of
    tensor is shown, with its maps, instead of the scan."""
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(BROWSER):
            shutil.copy(os.path.join(BROWSER, name), folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
        stem = scan.removesuffix(".nii.gz")
        for source, name in (scan, "brain.nii.gz"), (stem + ".bval", "brain.bval"), (stem + ".bvec", "brain.bvec"), (
                mask, "nodif_brain_mask.nii.gz"):
            os.symlink(os.path.abspath(source), os.path.join(folder, name))
        shown = "brain.nii.gz"
        if as_tensors:
            shown = "tensor.h5"
            subprocess.run([voxherd, "tensor", "--dwi", "brain.nii.gz", "--bvals", "brain.bval", "--bvecs", "brain.bvec", "--mask",
                            "nodif_brain_mask.nii.gz", "--out", shown], cwd=folder, check=True)
        viewer = subprocess.Popen([voxherd, "view", shown], stdout=subprocess.PIPE, text=True, cwd=folder)
        try:
            yield folder, viewer.stdout.readline().strip()
        finally:
            viewer.terminate()
            viewer.wait()
