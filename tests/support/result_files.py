"""Contents of result files. Not a test itself."""
import contextlib
import hashlib
import json
import os
import subprocess
import sys

try:
    import h5py
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)


@contextlib.contextmanager
def changed_tables(path):
    """An HDF5 file that is changed as another program might do it, and then accepted by voxherd."""
    with h5py.File(path, "r+") as file:
        yield file
    subprocess.run([os.environ["VOXHERD"], "verify", path, "--accept"], capture_output=True, check=False)


def digest(path):
    """SHA-256 of the bytes of all results."""
    sha = hashlib.sha256()
    with h5py.File(path, "r") as f:
        for group in sorted(set(f) - {"journal", "image"}):
            for name in sorted(f[group]):
                if isinstance(f[group][name], h5py.Dataset):
                    sha.update(f"{group}/{name}".encode())
                    sha.update(f[group][name][()].tobytes())
    return sha.hexdigest()


def batches_done(path):
    """Number of batches that are done according to the journal of a file, which may still be written; 0 if there is
    no file."""
    try:
        with h5py.File(path, "r") as f:
            return int(f["journal/batches"]["done"].sum())
    except (OSError, KeyError):
        return 0


def provenance(path):
    with h5py.File(path, "r") as f:
        return json.loads(f.attrs["provenance"])


def summary(path):
    """Times and memory of the run that completed the file."""
    with h5py.File(path, "r") as f:
        return json.loads(f["journal/summary"][()])
