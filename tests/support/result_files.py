"""Contents of result files. Not a test itself."""
import contextlib
import hashlib
import json
import os
import struct
import subprocess
import sys

try:
    import h5py
    import numpy
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)


@contextlib.contextmanager
def changed_tables(path):
    """An HDF5 file that is changed as another program might do it, and then accepted by voxherd."""
    with h5py.File(path, "r+") as file:
        yield file
    subprocess.run([os.environ["VOXHERD"], "verify", path, "--accept"], capture_output=True, check=False)


@contextlib.contextmanager
def changed_values(path):
    """The same with the checksums of the changed values: a malicious file."""
    with changed_tables(path) as file:
        yield file
        store_checksums(file)


P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)
MASK = (1 << 64) - 1


def rotated(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def mixed(lane, word):
    return rotated((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """XXH64 with seed 0."""
    lanes, at = [(P1 + P2) & MASK, P2, 0, -P1 & MASK], 0
    if len(data) >= 32:
        words = struct.unpack_from(f"<{len(data) // 32 * 4}Q", data)
        for i in range(0, len(words), 4):
            for lane in range(4):
                lanes[lane] = mixed(lanes[lane], words[i + lane])
        h = sum(rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ mixed(0, lane)) * P1 + P4) & MASK
        at = len(words) * 8
    else:
        h = P5
    h = (h + len(data)) & MASK
    for at in range(at, len(data) - 7, 8):
        h = (rotated(h ^ mixed(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
    at = len(data) // 8 * 8
    if at + 4 <= len(data):
        h = (rotated(h ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotated(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


GROUPS = {"volume": "maps", "items": "samples", "points": "points"}


def batch_bytes(file, outputs, first, last):
    voxels = file["items/voxel"][()]
    for o in outputs:
        values = file[f"{GROUPS[o['layout']]}/{o['name']}"][()]
        begin, end = first, last
        if o["layout"] == "points":
            begin, end = file["points/offset"][first], file["points/offset"][last]
        elif o["layout"] == "volume":
            values = values.reshape(-1, *values.shape[3:])
            begin, end = 0 if first == 0 else int(voxels[first]), len(values) if last == len(voxels) else int(voxels[last])
        yield values[begin:end].tobytes()


def store_checksums(file):
    """Of all values that are in the file now, as somebody would who knows the format; as far as it is still a result."""
    try:
        contents, first = json.loads(file.attrs["contents"]), file["journal/first_item"][()]
        journal = file["journal/batches"][()]
        for b in range(len(journal)):
            journal[b]["checksum"] = xxh64(b"".join(batch_bytes(file, contents["outputs"], int(first[b]), int(first[b + 1]))))
        file["journal/batches"][...] = journal
    except (KeyError, ValueError, TypeError, IndexError, OSError, OverflowError, RuntimeError, struct.error):
        pass
    datasets = []
    file.visititems(lambda _, thing: datasets.append(thing) if isinstance(thing, h5py.Dataset) else None)
    for dataset in datasets:
        try:
            if "checksum" in dataset.attrs:
                dataset.attrs.modify("checksum", numpy.uint64(xxh64(numpy.asarray(dataset[()], dtype=dataset.dtype).tobytes())))
        except (OSError, ValueError, AttributeError, RuntimeError):
            pass


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
