"""MRtrix3's SIFT phantom, converted for voxherd. It has two straight bundles of 3 x 3 voxels, 12 and 4 voxels long;
regions 1 and 2 are at the ends of the upper one, 3 and 4 at those of the lower one. Nothing else is connected:
MRtrix3's own connectome has zeros there. Not a test itself."""
import os
import shutil
import subprocess

import nibabel
import numpy as np

FOLDER = os.path.join(os.environ.get("VOXHERD_DATA", ""), "mrtrix3_test_data", "SIFT_phantom")
TRUE = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])


def convert(folder):
    """Converts the scan to NIfTI in a new folder and returns the folder; there is no signal outside the bundles."""
    os.mkdir(folder)
    for words in (("dwi.mif", "-export_grad_fsl", f"{folder}/bvecs", f"{folder}/bvals", f"{folder}/data.nii"),
                  ("mask.mif", f"{folder}/nodif_brain_mask.nii.gz"), ("parc.mif", f"{folder}/parc.nii")):
        subprocess.run(["mrconvert", "-quiet", os.path.join(FOLDER, words[0]), *words[1:]], check=True, timeout=60)
    return folder


def in_grey_matter(sift, folder):
    """The same scan with a background of grey matter (0.8e-3 mm2/s)."""
    os.mkdir(folder)
    image = nibabel.load(f"{sift}/data.nii")
    signal, b = image.get_fdata(dtype=np.float32), np.loadtxt(f"{sift}/bvals")
    tract = nibabel.load(f"{sift}/nodif_brain_mask.nii.gz").get_fdata() > 0
    signal[~tract] = 10 * np.exp(-b * 0.8e-3)
    nibabel.save(nibabel.Nifti1Image(signal, image.affine), f"{folder}/data.nii")
    nibabel.save(nibabel.Nifti1Image(np.ones(tract.shape, np.uint8), image.affine), f"{folder}/nodif_brain_mask.nii.gz")
    for name in ("bvals", "bvecs"):
        shutil.copy(f"{sift}/{name}", folder)
    return folder
