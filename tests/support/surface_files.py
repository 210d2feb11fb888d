"""Surfaces made by formulas, their files, and the voxels that they touch by exact arithmetic. Not a test itself."""
import gzip
import struct
from fractions import Fraction

import numpy as np
from crafted_inputs import nifti


def write_surface(path, points_mm, triangles, values=None):
    """FreeSurfer's text."""
    values = np.zeros(len(points_mm)) if values is None else values
    with open(path, "w") as file:
        file.write(f"#!ascii surface\n{len(points_mm)} {len(triangles)}\n")
        for point, value in zip(points_mm, values):
            file.write("{:.9g} {:.9g} {:.9g} {:g}\n".format(*point, value))
        for triangle in triangles:
            file.write("{} {} {} 0\n".format(*triangle))
    return path


def write_labels(path, keys, names, structure=None):
    """GIFTI labels of vertices; `names`: by key; `structure`: in GIFTI's words."""
    about = "" if structure is None else f"<MetaData><MD><Name>AnatomicalStructurePrimary</Name><Value>{structure}</Value></MD></MetaData>"
    table = "".join(f'<Label Key="{key}"><![CDATA[{name}]]></Label>' for key, name in names.items())
    with open(path, "w") as file:
        file.write(f'<?xml version="1.0"?><GIFTI Version="1.0" NumberOfDataArrays="1">{about}<LabelTable>{table}</LabelTable>'
                   '<DataArray Intent="NIFTI_INTENT_LABEL" DataType="NIFTI_TYPE_INT32" ArrayIndexingOrder="RowMajorOrder" '
                   f'Dimensionality="1" Dim0="{len(keys)}" Encoding="ASCII" Endian="LittleEndian"><Data>'
                   f'{" ".join(str(int(key)) for key in keys)}</Data></DataArray></GIFTI>')
    return path


def write_values(path, values, structure=None):
    """GIFTI values of vertices, as a shape."""
    about = "" if structure is None else f"<MetaData><MD><Name>AnatomicalStructurePrimary</Name><Value>{structure}</Value></MD></MetaData>"
    with open(path, "w") as file:
        file.write(f'<?xml version="1.0"?><GIFTI Version="1.0" NumberOfDataArrays="1">{about}'
                   '<DataArray Intent="NIFTI_INTENT_SHAPE" DataType="NIFTI_TYPE_FLOAT32" ArrayIndexingOrder="RowMajorOrder" '
                   f'Dimensionality="1" Dim0="{len(values)}" Encoding="ASCII" Endian="LittleEndian"><Data>'
                   f'{" ".join(f"{value:g}" for value in values)}</Data></DataArray></GIFTI>')
    return path


def sheet(x, cell=3., first=-3., cells=8):
    """Points and triangles of a plane across the first axis."""
    n = cells + 1
    points = np.array([[x, first + cell * i, first + cell * k] for k in range(n) for i in range(n)])
    triangles = []
    for k in range(cells):
        for i in range(cells):
            a, b, c, d = k * n + i, k * n + i + 1, (k + 1) * n + i, (k + 1) * n + i + 1
            triangles += [(a, b, c), (d, c, b)]
    return points, np.array(triangles)


def sphere(centre, radius, rings=8):
    """Points and triangles between two poles."""
    angles, turns = np.pi * np.arange(1, rings) / rings, 2 * np.pi * np.arange(2 * rings) / (2 * rings)
    points = [[0, 0, 1]] + [[np.sin(a) * np.cos(t), np.sin(a) * np.sin(t), np.cos(a)] for a in angles for t in turns] + [[0, 0, -1]]
    n, triangles = len(turns), []
    for i in range(n):
        j = (i + 1) % n
        triangles.append((0, 1 + i, 1 + j))
        triangles.append((len(points) - 1, len(points) - 1 - n + j, len(points) - 1 - n + i))
        for ring in range(rings - 2):
            a, b = 1 + ring * n, 1 + (ring + 1) * n
            triangles += [(a + i, b + i, b + j), (a + i, b + j, a + j)]
    return np.asarray(centre) + radius * np.array(points), np.array(triangles)


def clipped(polygon, axis, limit, sign):
    """The part of a polygon where sign * (coordinate - limit) <= 0."""
    kept = []
    for i, end in enumerate(polygon):
        start = polygon[i - 1]
        from_, to = sign * (start[axis] - limit), sign * (end[axis] - limit)
        if (from_ < 0 < to) or (to < 0 < from_):
            share = from_ / (from_ - to)
            kept.append([a + share * (b - a) for a, b in zip(start, end)])
        if to <= 0:
            kept.append(end)
    return kept


def touched_voxels(points, triangle, size):
    """Voxels that a triangle touches: their cubes hold a point of it, faces included. `points` in voxels, as float32."""
    corners = [[Fraction(float(np.float32(x))) for x in points[c]] for c in triangle]
    low, high = ([f(corner[d] for corner in corners) for d in range(3)] for f in (min, max))
    half = Fraction(1, 2)
    ranges = [range(max(0, int(np.floor(float(low[d]))) - 1), min(size[d], int(np.ceil(float(high[d]))) + 2)) for d in range(3)]
    found = []
    for x in ranges[0]:
        for y in ranges[1]:
            for z in ranges[2]:
                polygon = corners
                for axis, centre in enumerate((x, y, z)):
                    polygon = clipped(clipped(polygon, axis, centre + half, 1), axis, centre - half, -1)
                if polygon:
                    found.append((x, y, z))
    return found


def voxel_labels(points, triangles, labels, size):
    """The most frequent label of the corners of the triangles that touch a voxel, the smaller one in a tie."""
    votes = {}
    for triangle in triangles:
        own = [labels[c] for c in triangle if labels[c] > 0]
        for voxel in touched_voxels(points, triangle, size) if own else ():
            votes.setdefault(voxel, []).extend(own)
    image = np.zeros(size, int)
    for voxel, all_labels in votes.items():
        found, counts = np.unique(all_labels, return_counts=True)
        image[voxel] = found[np.argmax(counts)]
    return image


def image_space(path):
    """Size and voxel-to-world matrix of a NIfTI image."""
    with gzip.open(path) as file:
        head = file.read(348)
    rows = struct.unpack_from("<12f", head, 280)
    return struct.unpack_from("<3h", head, 42), np.vstack([np.reshape(rows, (3, 4)), [0, 0, 0, 1]])


class SurfacesInImage:
    """Mixin of a test case: surfaces and masks in the image `self.ends`. Points are in voxels of its file."""

    def space(self):
        return image_space(self.ends)

    def to_mm(self, points):
        affine = self.space()[1]
        return np.asarray(points) @ affine[:3, :3].T + affine[:3, 3]

    def surface(self, name, points, triangles, values=None):
        return write_surface(self.path(name + ".asc"), self.to_mm(points), triangles, values)

    def image(self, name, labels):
        size, affine = self.space()
        sides = np.linalg.norm(affine[:3, :3], axis=0)
        with open(self.path(name + ".nii"), "wb") as file:
            file.write(nifti(np.asarray(labels, float).reshape(size), sform=affine[:3].tolist(), pixdim=sides))
        return self.path(name + ".nii")

    def both(self, name, points, triangles):
        """A surface, and the mask of the voxels that it touches."""
        labels = voxel_labels(points, triangles, np.ones(len(points), int), self.space()[0])
        return self.surface(name, points, triangles), self.image(name, labels), int(labels.sum())
