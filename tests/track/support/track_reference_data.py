"""Results of FSL's probtrackx2 (track_reference in VOXHERD_DATA), and how counts are compared with them."""
import os

import numpy as np
from toy_jobs import h5py

DATA = os.path.join(os.environ.get("VOXHERD_DATA", ""), "track_reference")
RUNS = range(1, 6)


def image(path):
    import nibabel
    return np.asarray(nibabel.load(path).dataobj, dtype=float)


def z_values(counts, tried, reference, tried_reference):
    """Differences of rates in binomial deviations, where ten or more are expected."""
    p = (counts + reference) / (tried + tried_reference)
    enough = (np.minimum(p * tried, p * tried_reference) >= 10) & (p < 1 - 1e-12)
    p = p[enough]
    difference = counts[enough] / tried - reference[enough] / tried_reference
    return difference / np.sqrt(p * (1 - p) * (1 / tried + 1 / tried_reference))


def rms(values):
    return np.sqrt((values * values).mean())


def read_matrix(path, shape, value="count"):
    """A sparse matrix of track, dense."""
    dense = np.zeros(shape)
    with h5py.File(path, "r") as file:
        begin, column, count = (np.asarray(file["points"][name]) for name in ("offset", "column", value))
    dense[np.repeat(np.arange(shape[0]), np.diff(begin)), column] = count
    return dense
