"""Masks of a scan for the study of load balance: a few of its voxels, unevenly over its slices."""
import gzip
import os
import struct

from inputs import made_once, size_of
from runs import run_error

UINT8 = 2  # NIfTI's data type


def uint8_image(path):
    """Header and voxels of a .nii.gz of bytes, as bytes; x fastest."""
    with gzip.open(path, "rb") as file:
        image = file.read()
    offset = int(struct.unpack_from("<f", image, 108)[0])
    if struct.unpack_from("<i", image)[0] != 348 or struct.unpack_from("<h", image, 70)[0] != UINT8:
        raise run_error(f"{path}: no NIfTI-1 image of bytes; make the phantom again (remove its folder)")
    return image[:offset], image[offset:]


def is_corner(x, y, z, size):
    """Within a ball around the corner of voxel 0, in parts of the image; of a head in the middle about a quarter, more in
    each slice the lower it lies."""
    return sum((at / extent) ** 2 for at, extent in zip((x, y, z), size)) < 0.75 ** 2


def corner(mask):
    """corner.nii.gz beside a scan's mask: its voxels in one corner."""
    def make(at):
        header, voxels = uint8_image(mask)
        nx, ny, nz = size_of(header)
        kept = bytearray(len(voxels))
        for i, inside in enumerate(voxels):
            kept[i] = inside and is_corner(i % nx, i // nx % ny, i // (nx * ny), (nx, ny, nz))
        if not any(kept):
            raise run_error(f"{mask}: has no voxels in the corner of voxel 0; take a larger scan")
        with gzip.open(at, "wb", 6) as file:
            file.write(header + bytes(kept))
    return made_once(os.path.join(os.path.dirname(mask), "corner.nii.gz"), make)


def voxels_in(mask):
    return sum(map(bool, uint8_image(mask)[1]))
