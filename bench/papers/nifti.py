"""NIfTI-1 images with only the standard library, as far as the experiments need them: little endian, no extensions."""
import array
import gzip
import struct

FLOAT32, UINT8, HEADER = 16, 2, 352
CODES = {2: "B", 4: "h", 8: "i", 16: "f", 64: "d", 512: "H"}


def read(path):
    """(header, (nx, ny, nz, nt), slope, intercept, samples as stored)."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        content = file.read()
    dims = struct.unpack_from("<8h", content, 40)
    code, = struct.unpack_from("<h", content, 70)
    offset, slope, intercept = struct.unpack_from("<3f", content, 108)
    size = tuple(dims[i] if i <= dims[0] else 1 for i in range(1, 5))
    samples = array.array(CODES[code])
    count = size[0] * size[1] * size[2] * size[3]
    samples.frombytes(content[int(offset):int(offset) + count * samples.itemsize])
    return content[:HEADER], size, slope or 1.0, intercept if slope else 0.0, samples


def write(path, header, size, values, code=FLOAT32):
    """Values on a grid with the voxel size and axes of `header`."""
    samples = array.array(CODES[code], values)
    changed = bytearray(header)
    struct.pack_into("<8h", changed, 40, 4 if size[3] > 1 else 3, *size, 1, 1, 1)
    struct.pack_into("<2h", changed, 70, code, 8 * samples.itemsize)
    struct.pack_into("<3f", changed, 108, HEADER, 1, 0)
    with gzip.open(path, "wb", compresslevel=1) if path.endswith(".gz") else open(path, "wb") as file:
        file.write(changed)
        file.write(samples.tobytes())
