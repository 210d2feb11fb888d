"""A brain of tensors whose white matter is known, and its definition in docs/commands/connect.md, slow and obvious. Not a
test itself."""
import os

import nibabel
import numpy as np

MM = np.diag([2.0, 2, 2, 1])
BESIDE = [(axis, step) for axis in range(3) for step in (-1, 1)]


def shifted(mask, axis, step):
    """The neighbours along an axis; 0 beyond the image."""
    moved = np.zeros_like(mask)
    to, source = [slice(None)] * 3, [slice(None)] * 3
    to[axis], source[axis] = (slice(1, None), slice(None, -1)) if step > 0 else (slice(None, -1), slice(1, None))
    moved[tuple(to)] = mask[tuple(source)]
    return moved


def grow(start, space):
    """The parts of `space` that are connected to `start` by faces."""
    part = start & space
    while True:
        larger = part | (np.any([shifted(part, *beside) for beside in BESIDE], axis=0) & space)
        if (larger == part).all():
            return part
        part = larger


def largest_part(mask):
    largest, rest = np.zeros_like(mask), mask.copy()
    while rest.any():
        first = np.zeros_like(mask)
        first.flat[rest.argmax()] = True
        part = grow(first, mask)
        rest &= ~part
        largest = part if part.sum() > largest.sum() else largest
    return largest


def fractional_anisotropy(values):
    mean = values.mean(axis=-1, keepdims=True)
    return np.sqrt(1.5 * ((values - mean)**2).sum(axis=-1) / np.maximum((values**2).sum(axis=-1), 1e-30))


def find_white_matter(eigenvalues, least_FA):
    inside = eigenvalues.sum(axis=-1) > 0
    sides = np.ones_like(inside)
    sides[1:-1, 1:-1, 1:-1] = False
    outside = grow(sides & ~inside, ~inside)
    rim = np.any([shifted(outside, *beside) for beside in BESIDE], axis=0)
    fits = inside & ~rim & (fractional_anisotropy(eigenvalues) >= least_FA) & (eigenvalues.mean(axis=-1) < 1.2e-3)
    around, all_around = fits.astype(int), np.ones(fits.shape, int)
    for axis in range(3):
        around = around + shifted(around, axis, 1) + shifted(around, axis, -1)
        all_around = all_around + shifted(all_around, axis, 1) + shifted(all_around, axis, -1)
    return largest_part(fits & (2 * around >= all_around))


class WhiteMatterPhantom:
    """Two regions whose white matter is a long way around. Shorter ways are grey matter, an anisotropic rim of the brain, a
    thin line of noise, and anisotropic fluid."""

    along_x, along_y = np.array([[1.7, 0.3, 0.3], [0.3, 1.7, 0.3]]) * 1e-3
    fluid = np.array([3.4, 1.4, 1.4]) * 1e-3  # FA 0.48
    grey = np.array([0.8, 0.7, 0.65]) * 1e-3  # FA 0.10

    def __init__(self, folder):
        values = np.zeros((25, 17, 9, 3), np.float32)
        values[1:-1, 1:-1] = self.grey  # the brain reaches the sides of the image in z
        values[1:-1, 1] = self.along_x
        values[7:18, 5, 4] = self.along_x
        values[7:18, 7:10, 2:7] = self.fluid
        values[3:7, 2:15, 2:7] = values[18:22, 2:15, 2:7] = self.along_y
        values[3:22, 11:15, 2:7] = self.along_x
        values[11:14, 2:5, 3:6] = self.along_x  # an island
        values[4, 8, 4] = 0  # a hole of the mask
        self.values = values
        self.anisotropic = fractional_anisotropy(values) >= 0.2
        self.white = find_white_matter(values, 0.2)
        ends = np.zeros(values.shape[:3], np.int16)
        ends[3:7, 2:4, 2:7], ends[18:22, 2:4, 2:7] = 1, 2
        tensors = np.zeros((*values.shape[:3], 6), np.float32)
        tensors[..., :3] = values  # MRtrix: xx, yy, zz first
        self.tensor, self.ends = self.save(folder, "D", tensors), self.save(folder, "ends", ends)
        self.scan = ("--tensor", self.tensor, "--tensor-from", "mrtrix")

    @staticmethod
    def save(folder, name, image):
        path = os.path.join(folder, f"{name}.nii")
        nibabel.save(nibabel.Nifti1Image(image.astype(np.uint8) if image.dtype == bool else image, MM), path)
        return path
