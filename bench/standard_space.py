"""A standard grid beside a phantom's, with warps to and from it."""
import array
import math
import os
import struct
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "papers"))
import nifti  # noqa: E402

STANDARD_MM = 2.0


def displacement_mm(y_mm):
    """From the standard grid to the phantom's."""
    return 3 * math.sin(y_mm / 20), 0.0, 2 * math.cos(y_mm / 30)


def nearest(mm, voxel_mm, voxels):
    return min(max(math.floor(mm / voxel_mm + 0.5), 0), voxels - 1)


class Standard:
    """The standard grid: the phantom's axes and corner, other voxels. In FSL's millimetres the warps shift x and z by an amount
    that depends on y only, so each is the exact inverse of the other."""

    def __init__(self, mask, brain_size=1.0):
        """`brain_size`: diameter of the brain as a fraction of the image's."""
        header, self.source, _, _, _ = nifti.read(mask)
        self.header_of_source = header
        sizes_mm = struct.unpack_from("<3f", header, 80)
        self.size = tuple(int((n - 1) * d / STANDARD_MM) + 1 for n, d in zip(self.source, sizes_mm)) + (1,)
        changed = bytearray(header)
        struct.pack_into("<3f", changed, 80, *(STANDARD_MM,) * 3)
        self.rows = [list(struct.unpack_from("<4f", header, 280 + 16 * row)) for row in range(3)]
        for row in range(3):
            for axis in range(3):
                self.rows[row][axis] *= STANDARD_MM / sizes_mm[axis]
            struct.pack_into("<4f", changed, 280 + 16 * row, *self.rows[row])
        self.header = bytes(changed)
        self.centre = [(n - 1) * d / (2 * STANDARD_MM) for n, d in zip(self.source, sizes_mm)]  # voxels, of the brain
        self.half = [brain_size * n * d / (2 * STANDARD_MM) for n, d in zip(self.source, sizes_mm)]

    def world(self, unit):
        """Millimetres of a point in units of the brain's half axes."""
        voxel = [c + h * u for c, h, u in zip(self.centre, self.half, unit)]
        return [sum(row[axis] * voxel[axis] for axis in range(3)) + row[3] for row in self.rows]

    def radii(self):
        """(radius squared in units of the brain's half axes, linear index) of each voxel."""
        nx, ny, nz, _ = self.size
        index = 0
        for z in range(nz):
            for y in range(ny):
                rest = ((z - self.centre[2]) / self.half[2]) ** 2 + ((y - self.centre[1]) / self.half[1]) ** 2
                for x in range(nx):
                    yield rest + ((x - self.centre[0]) / self.half[0]) ** 2, index
                    index += 1

    def write_mask(self, path, voxels):
        inside = bytearray(self.size[0] * self.size[1] * self.size[2])
        for v in voxels:
            inside[v] = 1
        nifti.write(path, self.header, self.size, inside, nifti.UINT8)

    def write_warps(self, to_scan, to_standard):
        """`to_scan` resamples images of the standard grid, as standard2diff of FSL: a field on the scan's grid; `to_standard` the
        other way."""
        self.write_field(to_scan, self.header_of_source, self.source, struct.unpack_from("<3f", self.header_of_source, 80)[1], -1)
        self.write_field(to_standard, self.header, self.size, STANDARD_MM, 1)

    def write_field(self, path, header, size, y_mm, sign):
        field = bytearray(header)
        struct.pack_into("<h", field, 68, 2006)  # a displacement field of FNIRT
        plane = {name: array.array("f") for name in "xyz"}
        for y in range(size[1]):
            for name, value in zip("xyz", displacement_mm(y * y_mm)):
                plane[name].extend([sign * value] * size[0])
        values = array.array("f")
        for name in "xyz":
            for _ in range(size[2]):
                values.extend(plane[name])
        nifti.write(path, bytes(field), (*size[:3], 3), values)

    def labels(self, size, samples):
        """The labels of an image on the phantom's grid, at the voxels of the standard grid: those of the nearest voxels there.
        FSL's millimetres are distances along the axes, as the phantom's determinant is negative."""
        sizes_mm = struct.unpack_from("<3f", self.header_of_source, 80)
        found = bytearray(self.size[0] * self.size[1] * self.size[2])
        for y in range(self.size[1]):
            shift = displacement_mm(y * STANDARD_MM)
            at_y = nearest(y * STANDARD_MM + shift[1], sizes_mm[1], size[1])
            at_x = [nearest(x * STANDARD_MM + shift[0], sizes_mm[0], size[0]) for x in range(self.size[0])]
            for z in range(self.size[2]):
                at_z = nearest(z * STANDARD_MM + shift[2], sizes_mm[2], size[2])
                begin, to = (at_z * size[1] + at_y) * size[0], (z * self.size[1] + y) * self.size[0]
                found[to:to + self.size[0]] = bytes(int(samples[begin + x]) for x in at_x)
        return found
