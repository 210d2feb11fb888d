"""Every option of every command that names an input file, with a file that is missing and one that is damaged. Not a test
itself."""
import os

from bad_image_cases import SPGR
from crafted_inputs import BAD_DATA, BVALS, BVECS, CURVES, DWI, G, MASK, MISSING, USAGE, VFA, longer_and_damaged, nifti, table
from input_jobs import Bad

NO_SCAN = {"dwi": None, "bvals": None, "bvecs": None}
NO_VOIS = {"arterial-voi": None, "portal-voi": None}
NO_MATRIX = {"connectome": None, "region-names": None}
T1 = {**SPGR, "vfa-flip-angles": "2,5,10", "t1-blood": "1.4"}
IMAGES = [
    ("tensor", "grad-dev", {}), ("ballstick", "dwi", {}), ("ballstick", "mask", {}), ("ballstick", "grad-dev", {}),
    *(("geodesic", option, {}) for option in ("dwi", "mask", "seed-image", "exclude", "include", "targets")),
    ("geodesic", "connectome", {"seed-image": "seeds.nii"}), ("geodesic", "tensor", {**NO_SCAN, "tensor-from": "fsl"}),
    *(("connect", option, {}) for option in ("dwi", "mask", "connectome", "within")),
    ("connect", "from", {**NO_MATRIX, "to": "mask.nii"}), ("connect", "to", {**NO_MATRIX, "from": "mask.nii"}),
    ("connect", "tensor", {**NO_SCAN, "tensor-from": "fsl"}),
    *(("perfusion", option, {}) for option in ("dynamic", "mask", "arterial-voi", "portal-voi")),
    ("perfusion", "t1-map", SPGR), ("perfusion", "vfa", T1), ("perfusion", "delay-roi", {"delays": "two-stage"}),
    ("perfusion", "regions", {}),
]
TABLES = [
    ("ballstick", "bvals", {}), ("ballstick", "bvecs", {}), ("geodesic", "bvals", {}), ("geodesic", "seed-points", {"seed-image": None}),
    ("connect", "bvecs", {}), ("connect", "region-names", {}), ("perfusion", "times", {}), ("perfusion", "curves", NO_VOIS),
    ("perfusion", "arterial-curve", {"arterial-voi": None}), ("perfusion", "portal-curve", {"portal-voi": None}),
    ("perfusion", "region-names", {"regions": "liver.nii"}),
]
RESULTS = [
    ("info", "result", {}), ("verify", "result", {}), ("compare", "first", {"second": "bad.h5"}), ("compare", "second", {"first": "bad.h5"}),
    ("export", "result", {"to": "nifti", "out": "out/maps"}),
    ("geodesic", "tensor", NO_SCAN), ("connect", "tensor", NO_SCAN),
]
SETTINGS = [(command, "config", {}) for command in ("ballstick", "geodesic", "connect", "perfusion")]
OWN = {"dwi": DWI, "dynamic": nifti(CURVES), "vfa": VFA}  # images of several volumes
DAMAGED = {".nii.gz": b"", "": b"\x01\0binary", ".h5": b"not HDF5\n" * 100, ".cfg": b"\x01\0binary"}


def subject(bad, content):
    """Makes a folder for bedpostx in which one file is bad."""
    def make(path):
        os.mkdir(path)
        for name, good in {"data.nii": DWI, "bvals": BVALS, "bvecs": BVECS, "nodif_brain_mask.nii": MASK, bad: content}.items():
            if name != bad or content is not None:
                with open(os.path.join(path, name), "wb") as file:
                    file.write(good)

    return make


def bedpostx(bad, content, status):
    return Bad("subject", subject(bad, content), status, [bad], "bedpostx", "subject")


READERS = {}
for end, options in ((".nii.gz", IMAGES), ("", TABLES), (".h5", RESULTS), (".cfg", SETTINGS)):
    for command, option, more in options:
        name = f"{command} --{option}"
        READERS[f"{name}, missing"] = Bad("bad" + end, None, MISSING, ["bad" + end], command, option, more)
        damaged = DAMAGED[end] or longer_and_damaged(OWN.get(option, MASK))
        READERS[f"{name}, damaged"] = Bad("bad" + end, damaged, USAGE if end == ".cfg" else BAD_DATA, ["bad" + end], command, option, more)
for name, damaged in (("data.nii", DWI[:-1]), ("bvals", b"\x01\0binary"), ("bvecs", table(G[:2])), ("nodif_brain_mask.nii", MASK[:-1])):
    READERS[f"bedpostx {name}, missing"] = bedpostx(name, None, MISSING)
    READERS[f"bedpostx {name}, damaged"] = bedpostx(name, damaged, BAD_DATA)

# One of each reader for several ranks.
ON_SEVERAL_RANKS = ["geodesic --seed-points, missing", "ballstick --mask, damaged", "ballstick --grad-dev, damaged", "geodesic --targets, damaged", "geodesic --tensor, damaged",
                    "connect --region-names, damaged", "perfusion --dynamic, damaged", "perfusion --curves, damaged", "perfusion --vfa, damaged",
                    "info --result, damaged", "compare --second, missing", "export --result, damaged", "ballstick --config, damaged",
                    "bedpostx bvals, damaged"]
