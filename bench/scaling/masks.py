"""Masks of a scan for the study of load balance: some of its voxels, unevenly distributed over its slices."""
import array
import gzip
import os
import struct

from inputs import made_once, size_of
from runs import run_error

LETTERS = {2: "B", 4: "h", 8: "i", 16: "f"}  # of Python's arrays, by NIfTI data type


def image(path):
    """Header (bytes) and voxels (array, x fastest) of a .nii.gz."""
    with gzip.open(path, "rb") as file:
        whole = file.read()
    letter = LETTERS.get(struct.unpack_from("<h", whole, 70)[0])
    if struct.unpack_from("<i", whole)[0] != 348 or letter is None:
        raise run_error(f"{path}: not a NIfTI-1 image with the data type of a mask; remove the phantom's folder so that it is made again")
    offset = int(struct.unpack_from("<f", whole, 108)[0])
    return whole[:offset], array.array(letter, whole[offset:])


def is_corner(x, y, z, size):
    """True within a ball around the corner of voxel 0, with distances relative to the image size; of a head in the
    middle about a quarter, more in lower slices."""
    return sum((at / extent) ** 2 for at, extent in zip((x, y, z), size)) < 0.75 ** 2


def corner(mask):
    """corner.nii.gz next to a scan's mask: its voxels in one corner."""
    def make(at):
        header, kept = image(mask)
        nx, ny, nz = size_of(header)
        for i, inside in enumerate(kept):
            if inside and not is_corner(i % nx, i // nx % ny, i // (nx * ny), (nx, ny, nz)):
                kept[i] = 0
        if not any(kept):
            raise run_error(f"{mask}: no voxels in the corner of voxel 0; use a larger scan")
        with gzip.open(at, "wb", 6) as file:
            file.write(header + kept.tobytes())
    return made_once(os.path.join(os.path.dirname(mask), "corner.nii.gz"), make)


def voxels_in(mask):
    return sum(map(bool, image(mask)[1]))
