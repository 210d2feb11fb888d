"""Inputs of the problems: phantoms made by the program, and files made here from them. Each is created once."""
import array
import concurrent.futures
import gzip
import os
import shutil
import struct

from runs import call, run_error

CHUNK = 16 << 20  # bytes per gzip member


def made_once(path, make):
    """`path`, created by make(temporary path) unless it exists; `path` is never incomplete."""
    if not os.path.exists(path):
        unfinished = path + ".part"
        shutil.rmtree(unfinished, ignore_errors=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make(unfinished)
        os.replace(unfinished, path)
    return path


def text_of(size):
    return "x".join(map(str, size))


def phantom(folder, voxherd, kind, preset, size=None, options=()):
    """Folder of a phantom; `size` in voxels, None: that of the preset."""
    name = "_".join([kind, preset, text_of(size) if size else "whole", *(o.lstrip("-") for o in options)])
    words = [voxherd, "phantom", kind, "--preset", preset, *(("--size", text_of(size)) if size else ()), *options]
    return made_once(os.path.join(folder, "inputs", name), lambda at: call([*words, "--out", at], at + ".log"))


def connectome(folder, build, regions):
    """Folder with tensor.nii and labels.nii, as written by connect_inputs."""
    program = os.path.join(build, "bench", "connect_inputs")
    path = os.path.join(folder, "inputs", f"brain_{regions}")
    if not os.path.exists(path) and not os.access(program, os.X_OK):
        raise run_error(f"{program} does not exist; build the target connect_inputs, or omit the problem connect")
    return made_once(path, lambda at: call([program, at, str(regions)], at + ".log"))


def gzip_member(path, offset):
    with open(path, "rb") as file:
        file.seek(offset)
        return gzip.compress(file.read(CHUNK), 6, mtime=0)


def compressed(path):
    """PATH.gz: the file in gzip members of CHUNK bytes, compressed by as many processes as there are processors."""
    def make(at):
        offsets = range(0, os.path.getsize(path), CHUNK)
        with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool, open(at, "wb") as file:
            for member in pool.map(gzip_member, [path] * len(offsets), offsets):
                file.write(member)
    return made_once(path + ".gz", make)


def samples(scan, voxherd):
    """Samples of up to three fibres per voxel, fitted once."""
    words = [voxherd, "ballstick", "--dwi", f"{scan}/data.nii", "--bvals", f"{scan}/bvals", "--bvecs", f"{scan}/bvecs", "--mask",
             f"{scan}/nodif_brain_mask.nii.gz", "--fibres", "3", "--quiet"]
    return made_once(os.path.join(scan, "samples.h5"), lambda at: call([*words, "--out", at], at + ".log"))


def chosen(mask, count):
    """A mask with `count` of the voxels of another one, evenly chosen; all if it has fewer."""
    def make(at):
        with gzip.open(mask, "rb") as file:
            whole = file.read()
        offset, = map(int, struct.unpack_from("<f", whole, 108))
        code, = struct.unpack_from("<h", whole, 70)
        voxels = array.array({2: "B", 4: "h", 8: "i", 16: "f"}[code], whole[offset:])
        inside = [i for i in range(size_of(whole)[0] * size_of(whole)[1] * size_of(whole)[2]) if voxels[i]]
        kept = bytearray(size_of(whole)[0] * size_of(whole)[1] * size_of(whole)[2])
        for i in range(min(count, len(inside))):
            kept[inside[i * len(inside) // min(count, len(inside))]] = 1
        header = bytearray(whole[:352])
        struct.pack_into("<2h", header, 70, 2, 8)
        struct.pack_into("<8h", header, 40, 3, *size_of(header), 1, 1, 1, 1)
        struct.pack_into("<f", header, 108, 352)
        with gzip.open(at, "wb", 1) as file:
            file.write(bytes(header) + bytes(kept))
    return made_once(f"{mask[:-len('.nii.gz')]}_{count}.nii.gz", make)


def size_of(header):
    return struct.unpack_from("<3h", header, 42)


def deviation_header(header):
    """Header of nine float volumes on the grid of the NIfTI-1 image with this header (its first 348 bytes)."""
    if len(header) < 348 or struct.unpack_from("<i", header)[0] != 348:
        raise run_error("the image for grad_dev is not a little-endian NIfTI-1 file; remove the phantom's folder so that it is made again")
    new = bytearray(header[:348])
    struct.pack_into("<8h", new, 40, 4, *size_of(header), 9, 1, 1, 1)
    struct.pack_into("<2h", new, 70, 16, 32)
    struct.pack_into("<3f", new, 108, 352, 1, 0)
    return bytes(new) + bytes(4)


def deviation_volume(number, size):
    """One of the nine volumes of grad_dev, with values as large as HCP's: up to 5 %, smooth. The first six vary
    within a slice and are the same in all slices; the others vary between slices."""
    nx, ny, nz = size
    scale = 0.05 / (1 + number % 3)
    along = lambda i, n: 2 * i / max(1, n - 1) - 1
    if number < 6:
        plane = array.array("f", (scale * (along(x, nx) * along(y, ny) if number % 2 else along(x, nx) ** 2 - along(y, ny) ** 2)
                                  for y in range(ny) for x in range(nx)))
        return plane.tobytes() * nz
    return b"".join(array.array("f", [scale * along(z, nz) ** (number - 5)]).tobytes() * (nx * ny) for z in range(nz))


def gradient_deviation(data):
    """grad_dev.nii next to a series data.nii, on its grid."""
    def make(at):
        with open(data, "rb") as file:
            header = file.read(348)
        with open(at, "wb") as file:
            file.write(deviation_header(header))
            for number in range(9):
                file.write(deviation_volume(number, size_of(header)))
    return made_once(os.path.join(os.path.dirname(data), "grad_dev.nii"), make)
