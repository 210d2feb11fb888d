#!/usr/bin/env python3
"""Scores of challenges whose data users download themselves, beside the published ones.

    python3 bench/challenges.py disco NETWORK.h5 --truth DiSCo1_Connectivity_Matrix_Cross-Sectional_Area.txt
    python3 bench/challenges.py ismrm2015 PROGRAM --samples FIBRES.h5 --ends FOLDER --out FOLDER
    python3 bench/challenges.py irontract DENSITY.nii.gz --tracer MASK.nii.gz --within MASK.nii.gz [--without INJECTION.nii.gz]

disco: NETWORK.h5 is `voxherd track --connectome` of the challenge's regions, or a text file with a square matrix.
ismrm2015: FOLDER has the ends of each bundle, NAME_head.nii.gz and NAME_tail.nii.gz; they become the regions of a network.
irontract: DENSITY is `voxherd track` from the injection site; `--within`: voxels that count. Needs numpy, nibabel and h5py.
"""
import argparse
import glob
import json
import os
import subprocess
import sys

import numpy as np

DISCO = {"PRISM": 0.934, "MSMT-CSD": 0.920, "FORCE": 0.894}  # Pearson's r at SNR 50, as their authors published them
# Mean and best of each measure over the entries of 2015, scored again in 2022 with 21 bundles; no entry is best in all.
ISMRM = {"mean": {"valid bundles": 18.5, "valid share, %": 52.5}, "best": {"valid bundles": 21, "valid share, %": 88.6}}
FALSE_RATES = (0.05, 0.1, 0.2, 0.3)


def read_image(path):
    import nibabel
    return nibabel.load(path)


def read_network(path):
    """A square matrix, symmetric: number of streamlines of each pair of regions."""
    if path.endswith(".h5"):
        import h5py
        with h5py.File(path, "r") as file:
            found = file["connectome/count"][()].astype(float)
        matrix = found.reshape(2 * (int(round(found.size ** 0.5)),))
    else:
        matrix = np.loadtxt(path, ndmin=2)
    if matrix.shape[0] != matrix.shape[1]:
        sys.exit(f"{path}: contains {matrix.shape[0]} rows of {matrix.shape[1]} numbers, expected a square matrix")
    return matrix + matrix.T


def correlate(network, truth):
    """Pearson's r over all pairs of different regions."""
    if network.shape != truth.shape:
        sys.exit(f"the network has {len(network)} regions, the truth {len(truth)}")
    pairs = np.triu_indices(len(truth), 1)
    return float(np.corrcoef(network[pairs], truth[pairs])[0, 1])


def write_ends(folder, out):
    """Writes OUT/truth/ends.nii.gz and bundles.json, as `voxherd phantom score` reads them. Returns the bundles' names."""
    import nibabel
    names = sorted(os.path.basename(path)[:-len("_head.nii.gz")] for path in glob.glob(os.path.join(folder, "*_head.nii.gz")))
    if not names:
        sys.exit(f"{folder}: contains no file NAME_head.nii.gz")
    labels, bundles = None, []
    for number, name in enumerate(names):
        ends = [2 * number + 1, 2 * number + 2]
        for label, end in zip(ends, ("head", "tail")):
            image = read_image(os.path.join(folder, f"{name}_{end}.nii.gz"))
            inside = image.get_fdata() > 0
            labels = np.zeros(inside.shape, np.uint16) if labels is None else labels
            labels[inside & (labels == 0)] = label
        bundles.append({"name": name, "ends": ends})
    os.makedirs(os.path.join(out, "truth"), exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(labels, image.affine), os.path.join(out, "truth", "ends.nii.gz"))
    with open(os.path.join(out, "truth", "bundles.json"), "w", encoding="utf-8") as file:
        json.dump({"bundles": bundles}, file)
    return names


def true_rates(density, tracer, counted):
    """True positive rate at FALSE_RATES, of all thresholds of the density; between two of them by lines."""
    value, real = density[counted], tracer[counted]
    order = np.argsort(-value, kind="stable")
    value, real = value[order], real[order]
    last = np.append(value[1:] != value[:-1], True)  # equal densities have one threshold
    found = np.cumsum(real)[last] / max(real.sum(), 1)
    wrong = np.cumsum(~real)[last] / max((~real).sum(), 1)
    return {rate: float(np.interp(rate, np.append(0, wrong), np.append(0, found))) for rate in FALSE_RATES}


def disco(a):
    print(f"voxherd r {correlate(read_network(a.network), read_network(a.truth)):.3f}")
    for name, r in DISCO.items():
        print(f"{name} r {r:.3f} (published)")


def ismrm2015(a):
    names = write_ends(a.ends, a.out)
    network, score = os.path.join(a.out, "network.h5"), os.path.join(a.out, "score.json")
    for words in (["track", "--samples", a.samples, "--connectome", os.path.join(a.out, "truth", "ends.nii.gz"), "--loop-check", "on",
                   "--samples-per-seed", str(a.samples_per_seed), "--out", network, "--overwrite"],
                  ["phantom", "score", network, "--truth", a.out, "--json", score, "--overwrite"]):
        subprocess.run([a.program, *words], check=True)
    with open(score, encoding="utf-8") as file:
        s = json.load(file)
    print(f"voxherd: valid bundles {s['valid']} of {len(names)}, invalid pairs {s['invalid']}, valid share {100 * s['valid_share']:.1f} %")
    for name, row in ISMRM.items():
        print(f"{name} of the challenge (2022): " + ", ".join(f"{k} {v}" for k, v in row.items()))


def irontract(a):
    read = lambda path: read_image(path).get_fdata()
    counted = read(a.within) > 0
    if a.without:
        counted &= read(a.without) == 0
    for rate, found in true_rates(read(a.density), read(a.tracer) > 0, counted).items():
        print(f"true positive rate {found:.3f} at a false positive rate of {rate}")


def main(words):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = p.add_subparsers(dest="what", required=True)
    k = kinds.add_parser("disco")
    k.add_argument("network")
    k.add_argument("--truth", required=True, help="matrix of true strengths, text")
    k = kinds.add_parser("ismrm2015")
    k.add_argument("program", help="path of voxherd")
    k.add_argument("--samples", required=True, help="result of voxherd ballstick, or a bedpostX folder")
    k.add_argument("--ends", required=True, help="folder of NAME_head.nii.gz and NAME_tail.nii.gz")
    k.add_argument("--out", required=True, help="folder for the network and its score")
    k.add_argument("--samples-per-seed", type=int, default=100)
    k = kinds.add_parser("irontract")
    k.add_argument("density", help="image of voxherd export --to nifti")
    k.add_argument("--tracer", required=True, help="image: above 0 where the tracer is")
    k.add_argument("--within", required=True, help="image: above 0 in the voxels that count")
    k.add_argument("--without", help="image: above 0 in voxels that do not count, the injection site")
    a = p.parse_args(words)
    {"disco": disco, "ismrm2015": ismrm2015, "irontract": irontract}[a.what](a)


if __name__ == "__main__":
    main(sys.argv[1:])
