"""The measurements behind the defaults of `voxherd geodesic`: geodesics of a real brain by form, smoothing, minimum
eigenvalue, integrator and step. Usage: VOXHERD=build/voxherd geodesic_defaults.py PHILIPS_FOLDER OUT.csv

500 random positions in white matter, 12 directions each, followed for 61.25 mm (a multiple of all steps) within the
brain mask. The reference is rk4 with an eighth of the usual step in the same field: `distance` is the distance between
the ends of rays that have full length in the reference. Steps/s: one thread, 64 directions, the best of three runs."""
import csv
import itertools
import os
import subprocess
import sys
import tempfile

import h5py
import nibabel
import numpy

LENGTH_MM, VOXEL_MM, DIRECTIONS, SEEDS = 61.25, 1.75, 12, 500
WHOLE, DEGENERATE = 5, 10  # stop reasons: maximum length, not a number
SCHEMES = [("rk2", 0.875), ("rk2", 0.4375), ("rk4", 1.75), ("rk4", 0.875), ("rk4", 0.4375)]
FORMS = [("hamiltonian", "bspline"), ("hamiltonian", "trilinear"), ("christoffel", "trilinear")]
METRICS = {"inverse": [], "adjugate": [], "power": ["--alpha", "2"]}


def tensors(philips, folder):
    """Fits the tensors and samples the seeds. Returns the options that all runs share."""
    scan, mask = os.path.join(philips, "1201_DT_HIGH_32DIR_SENSE"), f"{philips}/ref_mrtrix3/brain_mask.nii.gz"
    subprocess.run([os.environ["VOXHERD"], "tensor", "--dwi", f"{scan}.nii.gz", "--bvals", f"{scan}.bval", "--bvecs",
                    f"{scan}.bvec", "--mask", mask, "--threads", "1", "--out", f"{folder}/tensor.h5"],
                   check=True, capture_output=True)
    white = nibabel.load(f"{philips}/ref_mrtrix3/wm_mask_fa025.nii.gz")
    index = numpy.argwhere(white.get_fdata() > 0)
    random = numpy.random.default_rng(1)
    index = index[random.choice(len(index), SEEDS, replace=False)] + random.uniform(-0.5, 0.5, (SEEDS, 3))
    numpy.savetxt(f"{folder}/seeds.txt", index @ white.affine[:3, :3].T + white.affine[:3, 3], fmt="%.4f")
    return ["--tensor", f"{folder}/tensor.h5", "--mask", mask, "--seed-points", f"{folder}/seeds.txt"]


def follow(folder, words, directions=DIRECTIONS):
    """Ends in mm, stop reasons, drifts and steps by ray number, and the seconds of the scoring pass."""
    out = os.path.join(folder, "rays.h5")
    done = subprocess.run([os.environ["VOXHERD"], "geodesic", *words, "--max-length", str(LENGTH_MM), "--directions",
                           str(directions), "--loop-check", "off", "--output-step", "1000", "--backend", "cpu", "--threads",
                           "1", "--out", out, "--overwrite"], check=True, capture_output=True, text=True)
    tables = [line for line in (done.stdout + done.stderr).splitlines() if "1 CPU thread" in line]
    with h5py.File(out) as file:
        cells = file["VTKHDF/CellData"]
        number = cells["fibre"][()]
        end = numpy.full((SEEDS * directions, 3), numpy.nan)
        end[number] = file["VTKHDF/Points"][()][file["VTKHDF/Offsets"][()][1:] - 1]
        stop = numpy.zeros(SEEDS * directions, int)
        stop[number] = cells["stops"][:, 0]
        return end, stop, cells["drift"][()], cells["steps"][()].sum(), float(tables[0].split()[4])


def rows(folder, common):
    speed = {}
    for metric, smooth, ratio in itertools.product(METRICS, (0, 0.5, 0.7, 1), (100, 10)):
        for form, reading in FORMS:
            if reading == "trilinear" and smooth != 0.7:
                continue
            field = [*common, "--metric", metric, *METRICS[metric], "--smooth", str(smooth), "--max-ratio",
                     str(ratio), "--form", form, "--interpolation", reading]
            end, stop = follow(folder, [*field, "--integrator", "rk4", "--step", "0.109375"])[:2]
            for integrator, step in SCHEMES:
                scheme = [*field, "--integrator", integrator, "--step", str(step)]
                if (form, reading, integrator) not in speed:
                    speed[form, reading, integrator] = max(
                        steps / seconds for *_, steps, seconds in (follow(folder, scheme, 64) for _ in range(3)))
                found, why, drift, _, _ = follow(folder, scheme)
                distance = numpy.nan_to_num(numpy.linalg.norm(found - end, axis=1)[stop == WHOLE], nan=LENGTH_MM)
                yield {"metric": metric, "form": form, "interpolation": reading, "smooth_voxels": smooth,
                       "max_ratio": ratio, "integrator": integrator, "step_mm": step,
                       "drift_median": "%.2g" % numpy.median(drift), "drift_p95": "%.2g" % numpy.percentile(drift, 95),
                       "degenerate_percent": "%.2f" % (100 * (why == DEGENERATE).mean()),
                       "apart_median_mm": "%.3f" % numpy.median(distance),
                       "apart_p90_mm": "%.2f" % numpy.percentile(distance, 90),
                       "apart_over_a_voxel_percent": "%.1f" % (100 * (distance > VOXEL_MM).mean()),
                       "million_steps_per_s": "%.2f" % (1e-6 * speed[form, reading, integrator])}


def main(philips, out):
    with tempfile.TemporaryDirectory() as folder, open(out, "w", newline="", encoding="utf-8") as file:
        table = None
        for row in rows(folder, tensors(philips, folder)):
            if table is None:
                table = csv.DictWriter(file, row, lineterminator="\n")
                table.writeheader()
            table.writerow(row)
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
