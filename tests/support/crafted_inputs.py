"""Small inputs made byte by byte, and ways to damage them. Not a test itself."""
import gzip
import os
import struct
import sys

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

COMPLETE, USAGE, BAD_DATA, MISSING, DISK = 0, 2, 65, 66, 74
SIZE = (5, 4, 3)
VOLUMES = 8
FLOAT32 = (16, 32)
NAN = float("nan")


def nifti(values, **fields):
    """A NIfTI-1 file, little-endian unless `order` is >. Fields: as named below, or dim0 to dim7."""
    order, dtype = fields.pop("order", "<"), fields.pop("dtype", "f4")
    head = bytearray(352)
    shape = fields.pop("shape", values.shape)
    struct.pack_into(order + "i", head, 0, fields.pop("sizeof_hdr", 348))
    struct.pack_into(order + "8h", head, 40, *([len(shape), *shape] + [1] * 7)[:8])
    struct.pack_into(order + "2h", head, 70, *fields.pop("type", FLOAT32))
    struct.pack_into(order + "8f", head, 76, fields.pop("qfac", 1), *fields.pop("pixdim", (2, 2, 2)), 1, 1, 1, 1)
    struct.pack_into(order + "3f", head, 108, fields.pop("vox_offset", 352), *fields.pop("scaling", (1, 0)))
    head[123] = fields.pop("units", 0)
    code, *parameters = fields.pop("intent", (0, 0, 0, 0))
    struct.pack_into(order + "3f", head, 56, *parameters or (0, 0, 0))
    struct.pack_into(order + "h", head, 68, code)
    struct.pack_into(order + "3f", head, 268, *fields.pop("qoffset", (0, 0, 0)))
    head[328:344] = fields.pop("intent_name", b"").ljust(16, b"\0")
    struct.pack_into(order + "2h", head, 252, *fields.pop("codes", (0, 1)))
    struct.pack_into(order + "3f", head, 256, *fields.pop("quaternion", (0, 0, 0)))
    sform = fields.pop("sform", [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]])
    struct.pack_into(order + "12f", head, 280, *[v for row in sform for v in row])
    head[344:348] = fields.pop("magic", b"n+1\0")
    head[348:] = fields.pop("extensions", bytes(4))
    for name, dim in fields.items():
        struct.pack_into(order + "h", head, 40 + 2 * int(name[3:]), dim)
    return bytes(head) + values.astype(order + dtype).tobytes(order="F")


def nifti2(*dim):
    head = bytearray(544)
    struct.pack_into("<i8s2h", head, 0, 540, b"n+2\0\r\n\032\n", *FLOAT32)
    struct.pack_into("<8q", head, 16, *dim, *[1] * (8 - len(dim)))
    struct.pack_into("<8d", head, 104, 1, 2, 2, 2, 1, 1, 1, 1)
    struct.pack_into("<q", head, 168, 544)
    return bytes(head) + bytes(4 * 60 * VOLUMES)


def table(rows):
    return "\n".join(" ".join(str(v) for v in row) for row in rows).encode()


def signals():
    """The two volumes of b=0 are brighter, as diffusion makes them."""
    values = numpy.random.default_rng(5).uniform(100, 110, (*SIZE, VOLUMES))
    values[..., :2] += 200
    return values


B = [0, 0, 1000, 1000, 1000, 1000, 1000, 1000]
G = numpy.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [.6, .8, 0], [.6, 0, .8], [0, .6, .8]]).T
DWI = nifti(signals())
MASK = nifti(numpy.ones(SIZE) * (numpy.arange(5) > 1)[:, None, None])
BVALS, BVECS = table([B]), table(G)


def in_a_plane():
    angles = numpy.arange(6) / 2
    return numpy.array([[0, 0, *numpy.cos(angles)], [0, 0, *numpy.sin(angles)], [0] * 8])


def changed(values, index, value):
    values = numpy.array(values, dtype=object)
    values[index] = value
    return values


def packed_then(change):
    content = bytearray(gzip.compress(DWI))
    change(content)
    return bytes(content)


def longer_and_damaged(content):
    packed = bytearray(gzip.compress(content + bytes(8)))
    packed[-8] ^= 1
    return bytes(packed)


def flip(at):
    def change(content):
        content[at] ^= 0x10

    return change


def link_to_itself(path):
    os.symlink(os.path.basename(path), path)


def extension(size):
    """An extension of 16 bytes that states another size."""
    return b"\1\0\0\0" + struct.pack("<2i", size, 4) + bytes(8)


def with_extension(size):
    return nifti(signals(), vox_offset=368, extensions=extension(size))


# A dynamic series: a bolus in the artery (first voxel) and the vein (second), a slow rise elsewhere.
TIMES = [4 * k for k in range(24)]
RISE = numpy.maximum(numpy.array(TIMES, float) - 12, 0)
BOLUS = .9 * RISE**2 * numpy.exp(-RISE / 3.5) + .9 * (1 - numpy.exp(-RISE / 8))
PORTAL = 1.4 * (1 - numpy.exp(-(RISE / 14)**2)) * numpy.exp(-RISE / 150)
CURVES = numpy.broadcast_to(.3 * PORTAL, (*SIZE, 24)).copy()
CURVES[0, 0, 0], CURVES[1, 0, 0] = BOLUS, PORTAL
LIVER = numpy.ones(SIZE)
LIVER[:, 0] = 0
VFA = nifti(numpy.full((*SIZE, 3), 50.))


def only(x):
    """A mask of one voxel."""
    mask = numpy.zeros(SIZE)
    mask[x, 0, 0] = 1
    return nifti(mask)


LABELS = numpy.arange(60).reshape(SIZE)
NAMES = "\n".join(f"{label} region{label}" for label in (3, 17)).encode()
CONFIG = b"# settings\nseed = 3\n"
MANIFEST = b"subject\tout\tcommand\na\ta.h5\ttensor --dwi d.nii\n"

SCAN = {"dwi": ("dwi.nii", DWI), "bvals": ("bvals", BVALS), "bvecs": ("bvecs", BVECS), "mask": ("mask.nii", MASK)}
# The options of a good command, each with its file's name and content.
GOOD = {
    "tensor": SCAN,
    "ballstick": SCAN,
    "geodesic": {**SCAN, "seed-image": ("seeds.nii", MASK)},
    "connect": {**SCAN, "connectome": ("labels.nii", nifti(LABELS)), "region-names": ("names", NAMES)},
    "perfusion": {"dynamic": ("dynamic.nii", nifti(CURVES)), "times": ("times", table(numpy.transpose([TIMES]))),
                  "mask": ("liver.nii", nifti(LIVER)), "arterial-voi": ("artery.nii", only(0)), "portal-voi": ("vein.nii", only(1))},
    "cohort": {"manifest": ("manifest", MANIFEST)},
}
