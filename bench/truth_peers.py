"""MRtrix3 and DIPY on the phantoms of bench/truth.py, scored by the same program. Needs nibabel, MRtrix3's programs, DIPY;
what is missing is left out."""
import importlib.util
import os
import shutil
import subprocess

HAS_DIPY = importlib.util.find_spec("dipy") is not None
SCORED = os.path.join("truth", "scored.nii.gz")
IFOD2_RUNS, IFOD2_STREAMLINES = 5, 50_000
THRESHOLDS = {"documented": "0.1", "best": "0.5"}  # of peaks: tckgen's cutoff; the best with the truth known


def mrtrix(*words, folder):
    subprocess.run([*map(str, words), "-quiet", "-force", "-nthreads", str(os.cpu_count())], cwd=folder, check=True, capture_output=True)


def write_fibres(folder, directions, fractions, affine):
    """dyadsN and fN: directions (x, y, z, fibre, 3) along the voxel axes."""
    import nibabel
    import numpy as np
    os.makedirs(folder, exist_ok=True)
    for j in range(fractions.shape[-1]):
        for name, values in ((f"dyads{j + 1}", directions[..., j, :]), (f"f{j + 1}", fractions[..., j])):
            nibabel.save(nibabel.Nifti1Image(values.astype(np.float32), affine), os.path.join(folder, name + ".nii.gz"))


def respond(data, shells):
    """Responses, next to the data: one shell with the 300 voxels of highest FA, several by dhollander's algorithm."""
    mrtrix("mrconvert", "data.nii", "-fslgrad", "bvecs", "bvals", "dwi.mif", folder=data)
    how = ["fa", "dwi.mif", "wm.txt", "-number", "300"] if shells == 1 else ["dhollander", "dwi.mif", "wm.txt", "gm.txt", "csf.txt"]
    mrtrix("dwi2response", *how, "-mask", "nodif_brain_mask.nii.gz", folder=data)


def deconvolve(data, shells, where, responses):
    """fod.mif in the mask `where`. `responses`: folder of a phantom whose responses are used."""
    if os.path.exists(os.path.join(data, "fod.mif")):
        return
    if not os.path.exists(os.path.join(responses, "wm.txt")):
        respond(responses, shells)
    mrtrix("mrconvert", "data.nii", "-fslgrad", "bvecs", "bvals", "dwi.mif", folder=data)
    of = lambda tissue: os.path.join(os.path.abspath(responses), tissue + ".txt")
    how = ["csd", "dwi.mif", of("wm"), "fod.mif"]
    if shells > 1:
        how = ["msmt_csd", "dwi.mif", of("wm"), "fod.mif", of("gm"), "gm.mif", of("csf"), "csf.mif"]
    mrtrix("dwi2fod", *how, "-mask", where, folder=data)


def mrtrix_fibres(data, shells, where="nodif_brain_mask.nii.gz", responses=None):
    import nibabel
    import numpy as np
    deconvolve(data, shells, where, responses or data)
    mrtrix("sh2peaks", "fod.mif", "peaks.nii", "-num", "4", "-mask", SCORED, folder=data)
    image = nibabel.load(os.path.join(data, "peaks.nii"))
    peaks = np.nan_to_num(image.get_fdata())
    peaks = peaks.reshape(peaks.shape[:3] + (4, 3)) * [-1, 1, 1]  # world axes; the voxel axes have x reversed
    size = np.linalg.norm(peaks, axis=-1)
    write_fibres(os.path.join(data, "mrtrix"), peaks / np.maximum(size, 1e-9)[..., None], size, image.affine)
    return os.path.join(data, "mrtrix")


def dipy_fibres(data):
    import nibabel
    import numpy as np
    from dipy.core.gradients import gradient_table
    from dipy.data import get_sphere
    from dipy.direction import peaks_from_model
    from dipy.reconst.csdeconv import ConstrainedSphericalDeconvModel, response_from_mask_ssst
    from dipy.reconst.dti import TensorModel
    image = nibabel.load(os.path.join(data, "data.nii"))
    series = image.get_fdata()
    b, g = np.loadtxt(os.path.join(data, "bvals")), np.loadtxt(os.path.join(data, "bvecs")).T
    chosen = (b < 50) | (b > b.max() - 50)  # the outer shell
    series, gtab = series[..., chosen], gradient_table(b[chosen], g[chosen])
    read = lambda name: nibabel.load(os.path.join(data, name)).get_fdata() > 0
    scored, brain = read(SCORED), read("nodif_brain_mask.nii.gz")
    fa = np.nan_to_num(TensorModel(gtab).fit(series, brain).fa)
    best = fa >= np.sort(fa[brain])[-300]
    response, _ = response_from_mask_ssst(gtab, series, best)
    order = 8 if chosen.sum() > 45 else 6
    model = ConstrainedSphericalDeconvModel(gtab, response, sh_order=order)
    found = peaks_from_model(model, series, get_sphere("repulsion724"), relative_peak_threshold=0.5, min_separation_angle=25,
                             mask=scored, npeaks=4, return_sh=False, parallel=True)
    values = found.peak_values / np.maximum(found.peak_values[..., :1], 1e-9)
    write_fibres(os.path.join(data, "dipy"), found.peak_dirs, values, image.affine)
    return os.path.join(data, "dipy")


def network(b, data, key):
    """iFOD2 with seeds in white matter: means of several runs, whose AUC differs by up to 0.05; counts and weights of SIFT2, as
    they are and by shares."""
    scores = {}
    for _ in range(IFOD2_RUNS):
        mrtrix("tckgen", "fod.mif", "tracks.tck", "-seed_image", "white_matter.nii.gz", "-mask", "white_matter.nii.gz", "-select",
               IFOD2_STREAMLINES, folder=data)
        mrtrix("tcksift2", "tracks.tck", "fod.mif", "weights.txt", folder=data)
        for weight, words in (("", []), (", SIFT2", ["-tck_weights_in", "weights.txt"])):
            mrtrix("tck2connectome", "tracks.tck", "truth/ends.nii.gz", "network.txt", "-symmetric", "-assignment_radial_search", "2", *words, folder=data)
            write_shares(os.path.join(data, "network.txt"), os.path.join(data, "shares.txt"))
            for file, how in (("network.txt", ""), ("shares.txt", ", by share")):
                scores.setdefault(weight + how, []).append(b.score(os.path.join(data, file), data))
    for settings, found in scores.items():
        mean = {name: sum(s[name] for s in found) / IFOD2_RUNS for name in b.networks.columns if name in found[0]}
        b.networks.add(**{**key, "settings": key["settings"] + settings}, **mean)


def write_shares(network, out):
    """Each number divided by the root of the product of both rows' sums, as voxherd's `share`."""
    import numpy as np
    with open(network, encoding="utf-8") as file:
        matrix = np.array([[float(v) for v in line.replace(",", " ").split()] for line in file if not line.startswith("#")])
    np.fill_diagonal(matrix, 0)
    both = np.sqrt(np.outer(matrix.sum(0), matrix.sum(1)))
    np.savetxt(out, np.divide(matrix, both, out=np.zeros_like(matrix), where=both > 0))


def read_fibres(folder, least):
    """Directions of the strongest fibre (x, y, z, 3), and how many have a fraction above `least`."""
    import nibabel
    import numpy as np
    read = lambda name: np.asarray(nibabel.load(os.path.join(folder, name)).dataobj, dtype=float)
    fraction = "mean_f{}samples.nii.gz" if os.path.exists(os.path.join(folder, "mean_f1samples.nii.gz")) else "f{}.nii.gz"
    numbers = [n for n in range(1, 5) if os.path.exists(os.path.join(folder, f"dyads{n}.nii.gz"))]
    fractions = np.stack([read(fraction.format(n)) for n in numbers], axis=-1)
    directions = np.stack([read(f"dyads{n}.nii.gz") for n in numbers], axis=-2)
    strongest = np.argmax(fractions, axis=-1)[..., None, None]
    return np.take_along_axis(directions, strongest, axis=-2)[..., 0, :], (fractions > least).sum(axis=-1)


def agree(first, second, least, mask):
    """How well the fibres of two acquisitions agree in the voxels of a mask."""
    import numpy as np
    (d1, n1), (d2, n2) = ([values[mask] for values in read_fibres(folder, least)] for folder in (first, second))
    cosine = np.abs((d1 * d2).sum(-1)) / np.maximum(np.linalg.norm(d1, axis=-1) * np.linalg.norm(d2, axis=-1), 1e-9)
    degrees = np.degrees(np.arccos(np.clip(cosine, 0, 1)))
    return {"voxels": int(mask.sum()), "median_degrees": float(np.median(degrees)), "within10": 100 * float((degrees <= 10).mean()),
            "same_number": 100 * float((n1 == n2).mean()), "mean_number": float((n1.mean() + n2.mean()) / 2)}


def repeat(b, key_of, name):
    """Two acquisitions of the FiberCup phantom, a scan of fibres that were laid by hand: nothing of it is simulated."""
    import nibabel
    import numpy as np
    source = os.path.join(b.arguments.fibercup, "dwi")
    mask = os.path.join(b.arguments.fibercup, "masks", "wm_3x3x3.nii.gz")
    inside = np.asarray(nibabel.load(mask).dataobj) > 0
    for shell in ("1500", "2000"):
        folders = {}
        for acquisition in ("1", "2"):
            data = b.path(f"fibercup-{shell}-{acquisition}")
            os.makedirs(os.path.join(data, "truth"), exist_ok=True)
            nibabel.save(nibabel.load(os.path.join(source, f"acq-{acquisition}_b-{shell}.nii.gz")), os.path.join(data, "data.nii"))
            for to in ("nodif_brain_mask.nii.gz", SCORED):
                shutil.copy(mask, os.path.join(data, to))
            shutil.copy(os.path.join(source, f"bvals_{shell}"), os.path.join(data, "bvals"))
            shutil.copy(os.path.join(source, "bvecs_fsl"), os.path.join(data, "bvecs"))
            for settings, options in (("default", []), ("odds 5", ["--fibre-odds", "5"]), ("model 1, 2 fibres", ["--model", "1", "--fibres", "2"])):
                out = os.path.join(data, f"fsl {settings}")
                if not os.path.exists(out):
                    b.voxherd("export", b.fit(data, "nodif_brain_mask.nii.gz", options), "--to", "fsl", out)
                folders.setdefault(("voxherd ballstick", settings, 0.05), []).append(out)
            if shutil.which("dwi2fod"):
                folders.setdefault(("MRtrix3 csd", "threshold 0.1", 0.1), []).append(mrtrix_fibres(data, 1))
            if HAS_DIPY:
                folders.setdefault(("DIPY csd", "relative threshold 0.5", 0.5), []).append(dipy_fibres(data))
        for (tool, settings, least), (first, second) in folders.items():
            b.repeat.add(**key_of(name, f"b {shell}", 0, tool, settings), **agree(first, second, least, inside))


def measure(b, cross, key_of):
    tools = {name: shutil.which(name) is not None for name in ("dwi2fod", "tckgen")}
    complete = b.cases()[0][:2]
    for geometry, name, protocol, snr in b.cases():
        data = b.phantom(geometry, name, protocol, snr)
        if tools["dwi2fod"]:
            found = mrtrix_fibres(data, 3 if protocol == "MS" else 1)
            tool = "MRtrix3 msmt" if protocol == "MS" else "MRtrix3 csd"
            for word, threshold in THRESHOLDS.items():
                b.add_fibres(key_of(name, protocol, snr, tool, f"{word} threshold {threshold}"),
                             b.score(found, data, "--min-fraction", threshold))
            if protocol != "DTI":
                network(b, data, key_of(name, protocol, snr, "MRtrix3 iFOD2", f"{IFOD2_STREAMLINES:,} selected, mean of {IFOD2_RUNS}"))
        if HAS_DIPY:
            b.add_fibres(key_of(name, protocol, snr, "DIPY csd", "relative threshold 0.5"), b.score(dipy_fibres(data), data))
    for protocol, snr in (("HARDI", 30), ("HARDI", 10), ("MS", 20)):
        if b.arguments.small:
            break
        if HAS_DIPY:
            cross(b, protocol, snr, "DIPY csd", "relative threshold 0.5",
                  lambda data: b.score(dipy_fibres(data), data, "--max-angle", "20"))
        if tools["dwi2fod"]:
            # Two bundles alone have no fluid, which dhollander's algorithm needs.
            shells, responses = (3, b.phantom(*complete, protocol, snr)) if protocol == "MS" else (1, None)
            cross(b, protocol, snr, "MRtrix3", "threshold 0.1",
                  lambda data: b.score(mrtrix_fibres(data, shells, SCORED, responses), data, "--max-angle", "20", "--min-fraction", "0.1"))
