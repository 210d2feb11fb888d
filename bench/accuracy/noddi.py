#!/usr/bin/env python3
"""Bias of NODDI's maps on simulated voxels with known truth, as a table for docs/accuracy.md.

    python3 bench/accuracy/noddi.py build/voxherd ../shared/data/noddi_reference

2,000 voxels, 99 volumes; needs nibabel. The series of SNR 30
is that of the data; others get their Rician noise here. AMICO is its algorithm in own code (README of the data).
"""
import os
import subprocess
import sys
import tempfile

import nibabel
import numpy as np

MAPS = {"NDI": "ndi", "ODI": "odi", "FWF": "fwf"}
TISSUES = {1: "white matter", 2: "grey matter", 3: "partial CSF"}


def image(*path):
    return nibabel.load(os.path.join(*path)).get_fdata()


def fit(program, series, data, folder, *options):
    result, maps = os.path.join(folder, "noddi.h5"), os.path.join(folder, "maps")
    sim = os.path.join(data, "sim")
    subprocess.run([program, "noddi", "--dwi", series, "--bvals", f"{sim}/bvals", "--bvecs", f"{sim}/bvecs", "--mask", f"{sim}/mask.nii.gz",
                    "--out", result, "--overwrite", "--quiet", *options], check=True)
    subprocess.run([program, "export", result, "--to", "nifti", maps, "--overwrite", "--quiet"], check=True)
    return {name: image(maps, f"{name}.nii.gz") for name in MAPS}


def rows(label, maps, truth, group):
    for number, tissue in TISSUES.items():
        inside = group == number
        errors = [(maps[name] - truth[name])[inside] for name in MAPS]
        yield f"| {label} | {tissue} | " + " | ".join(f"{e.mean():+.3f} ± {e.std():.3f}" for e in errors) + " |"


def main(program, data, *options):
    truth = {name: image(data, "sim", f"truth_{other}.nii.gz") for name, other in MAPS.items()}
    group = image(data, "sim", "truth_group.nii.gz")
    exact = nibabel.load(os.path.join(data, "sim", "dwi_snrinf.nii.gz"))
    print("| SNR, noise | tissue | NDI | ODI | FWF |\n|---|---|---|---|---|")
    amico = {name: image(data, "fits", f"amico_rerun_snr30_{name}.nii.gz") for name in MAPS}
    print("\n".join(rows("30, AMICO", amico, truth, group)))
    with tempfile.TemporaryDirectory() as folder:
        for snr in (30, 20, 15, 10):
            series = os.path.join(data, "sim", "dwi_snr30.nii.gz")
            if snr != 30:
                random, sigma, signal = np.random.default_rng(snr), 1000 / snr, exact.get_fdata(dtype=np.float32)
                noisy = np.hypot(signal + random.normal(0, sigma, signal.shape), random.normal(0, sigma, signal.shape))
                series = os.path.join(folder, "noisy.nii.gz")
                nibabel.save(nibabel.Nifti1Image(noisy.astype(np.float32), exact.affine), series)
            for noise in ("gaussian", "rician"):
                maps = fit(program, series, data, folder, "--noise", noise, *options)
                print("\n".join(rows(f"{snr}, {noise}", maps, truth, group)))
            if snr == 30:
                maps = fit(program, series, data, folder, "--noise", "rician", "--samples", "200", "--sample-every", "20")
                print("\n".join(rows("30, rician, posterior mean", maps, truth, group)))


if __name__ == "__main__":
    main(*sys.argv[1:])
