"""Each bad input ends the program with one line that names the file, what was found and what was expected, the correct
exit status, and no output, on one rank and on three. Unusual but usable inputs give a warning and a result."""

import concurrent.futures
import gzip
import os
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VOXHERD = os.environ["VOXHERD"]
COMPLETE, USAGE, BAD_DATA, MISSING = 0, 2, 65, 66
SIZE = (5, 4, 3)
VOLUMES = 8
FLOAT32 = (16, 32)
NAN = float("nan")


def nifti(values, **fields):
    """A little-endian NIfTI-1 file; fields: offset (as x70 or named below) -> replacement."""
    head = bytearray(352)
    shape = fields.pop("shape", values.shape)
    struct.pack_into("<i", head, 0, fields.pop("sizeof_hdr", 348))
    struct.pack_into("<8h", head, 40, *([len(shape), *shape] + [1] * 7)[:8])
    struct.pack_into("<2h", head, 70, *fields.pop("type", FLOAT32))
    struct.pack_into("<8f", head, 76, fields.pop("qfac", 1), *fields.pop("pixdim", (2, 2, 2)), 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, fields.pop("vox_offset", 352), *fields.pop("scaling", (1, 0)))
    head[123] = fields.pop("units", 0)
    struct.pack_into("<2h", head, 252, *fields.pop("codes", (0, 1)))
    sform = fields.pop("sform", [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]])
    struct.pack_into("<12f", head, 280, *[v for row in sform for v in row])
    head[344:348] = fields.pop("magic", b"n+1\0")
    head[348:] = fields.pop("extensions", bytes(4))
    for name, dim in fields.items():
        struct.pack_into("<h", head, 40 + 2 * int(name[3:]), dim)
    return bytes(head) + values.astype("<f4").tobytes(order="F")


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
    return numpy.random.default_rng(5).uniform(100, 200, (*SIZE, VOLUMES))


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


# name of the case: file that is bad, its content (None: absent; a function makes something else), exit status, words of
# the line
HEADER_CASES = {
    "missing file": ("dwi.nii", None, MISSING, ["No such file"]),
    "directory": ("dwi.nii", os.mkdir, MISSING, ["it is a directory", "expected a file"]),
    "link to itself": ("dwi.nii", link_to_itself, MISSING, ["Too many levels of symbolic links"]),
    "fifo": ("dwi.nii", os.mkfifo, MISSING, ["not a regular file", "expected a file on disk"]),
    "file name of 4096 characters": ("dwi" + "x" * 4096, None, MISSING, ["File name too long"]),
    "half of a pair": ("dwi.img", DWI, BAD_DATA, ["pair", "expected a single .nii"]),
    "empty": ("dwi.nii", b"", BAD_DATA, ["empty"]),
    "truncated header": ("dwi.nii", DWI[:200], BAD_DATA, ["200", "348"]),
    "header only": ("dwi.nii", DWI[:352], BAD_DATA, ["352", "truncated"]),
    "truncated data": ("dwi.nii", DWI[:-1], BAD_DATA, [str(len(DWI) - 1), str(len(DWI))]),
    "text": ("dwi.nii", b"not an image at all\n" * 50, BAD_DATA, ["sizeof_hdr", "348"]),
    "magic": ("dwi.nii", nifti(signals(), magic=b"xyz\0"), BAD_DATA, ["magic", "n+1"]),
    "ANALYZE": ("dwi.nii", nifti(signals(), magic=bytes(4)), BAD_DATA, ["magic", "ANALYZE"]),
    "pair": ("dwi.nii", nifti(signals(), magic=b"ni1\0"), BAD_DATA, ["magic", "pair"]),
    "sizeof_hdr 347": ("dwi.nii", nifti(signals(), sizeof_hdr=347), BAD_DATA, ["sizeof_hdr", "347"]),
    "dim[0] 0": ("dwi.nii", nifti(signals(), dim0=0), BAD_DATA, ["dim[0]", "1 to 7"]),
    "dim[0] 8": ("dwi.nii", nifti(signals(), dim0=8), BAD_DATA, ["dim[0]", "8"]),
    "dim[0] -1": ("dwi.nii", nifti(signals(), dim0=-1), BAD_DATA, ["dim[0]", "-1", "1 to 7"]),
    "dim[0] -100, NIfTI-2": ("dwi.nii", nifti2(-100, *SIZE, VOLUMES), BAD_DATA, ["dim[0]", "-100"]),
    "dim[0] 0, NIfTI-2": ("dwi.nii", nifti2(0, *SIZE, VOLUMES), BAD_DATA, ["dim[0]", "1 to 7"]),
    "dim[0] 200, NIfTI-2": ("dwi.nii", nifti2(200, *SIZE, VOLUMES), BAD_DATA, ["dim[0]", "200"]),
    "overflow, NIfTI-2": ("dwi.nii", nifti2(4, *[2**40] * 4), BAD_DATA, ["dim", "a product that fits a file"]),
    "dim[2] 0": ("dwi.nii", nifti(signals(), dim2=0), BAD_DATA, ["dim[2]", "at least 1"]),
    "dim[3] -3": ("dwi.nii", nifti(signals(), dim3=-3), BAD_DATA, ["dim[3]", "-3"]),
    "overflow": ("dwi.nii", nifti(signals(), shape=(32767,) * 4), BAD_DATA, ["dim"]),
    "one volume": ("dwi.nii", nifti(signals(), shape=(*SIZE, 1)), BAD_DATA, ["dim[4]", "expected a series of at least 2"]),
    "3-D": ("dwi.nii", nifti(signals(), shape=SIZE), BAD_DATA, ["dim[4]", "series"]),
    "5-D": ("dwi.nii", nifti(signals(), shape=(*SIZE, 4, 2)), BAD_DATA, ["dim[5]", "2"]),
    "RGB24": ("dwi.nii", nifti(signals(), type=(128, 24)), BAD_DATA, ["datatype", "RGB24"]),
    "unknown type": ("dwi.nii", nifti(signals(), type=(77, 32)), BAD_DATA, ["datatype", "77", "expected a real type"]),
    "binary type": ("dwi.nii", nifti(signals(), type=(1, 1)), BAD_DATA, ["datatype", "1", "expected a real type"]),
    "float128": ("dwi.nii", nifti(signals(), type=(1536, 128)), BAD_DATA, ["datatype", "1536", "expected a real type"]),
    "complex64": ("dwi.nii", nifti(signals(), type=(32, 64)), BAD_DATA, ["datatype", "complex64"]),
    "bitpix": ("dwi.nii", nifti(signals(), type=(16, 16)), BAD_DATA, ["bitpix", "16", "32"]),
    "vox_offset 0": ("dwi.nii", nifti(signals(), vox_offset=0), BAD_DATA, ["vox_offset", "352"]),
    "vox_offset -352": ("dwi.nii", nifti(signals(), vox_offset=-352), BAD_DATA, ["vox_offset", "-352", "at least 352"]),
    "vox_offset inf": ("dwi.nii", nifti(signals(), vox_offset=float("inf")), BAD_DATA, ["vox_offset", "inf"]),
    "vox_offset 352.5": ("dwi.nii", nifti(signals(), vox_offset=352.5), BAD_DATA, ["vox_offset", "352.5", "an integer"]),
    "vox_offset nan": ("dwi.nii", nifti(signals(), vox_offset=NAN), BAD_DATA, ["vox_offset", "nan"]),
    "vox_offset past the end": ("dwi.nii", nifti(signals(), vox_offset=1e6), BAD_DATA, ["truncated"]),
    "scl_slope nan": ("dwi.nii", nifti(signals(), scaling=(NAN, 0)), BAD_DATA, ["scl_slope", "nan"]),
    "scl_slope inf": ("dwi.nii", nifti(signals(), scaling=(float("inf"), 0)), BAD_DATA, ["scl_slope", "inf"]),
    "scl_inter nan": ("dwi.nii", nifti(signals(), scaling=(1, NAN)), BAD_DATA, ["scl_inter", "nan"]),
    "scl_inter inf": ("dwi.nii", nifti(signals(), scaling=(1, float("inf"))), BAD_DATA, ["scl_inter", "inf"]),
    "pixdim 0": ("dwi.nii", nifti(signals(), pixdim=(2, 0, 2)), BAD_DATA, ["pixdim[2]", "above 0"]),
    "pixdim -2": ("dwi.nii", nifti(signals(), pixdim=(2, -2, 2)), BAD_DATA, ["pixdim[2]", "-2", "above 0"]),
    "pixdim 1e30": ("dwi.nii", nifti(signals(), pixdim=(2, 1e30, 2), codes=(0, 0)), BAD_DATA, ["1e+30 mm", "expected 1e-06"]),
    "pixdim 1e-40": ("dwi.nii", nifti(signals(), pixdim=(2, 1e-40, 2), codes=(0, 0)), BAD_DATA, ["e-41 mm", "expected 1e-06"]),
    "sform 1e30": ("dwi.nii", nifti(signals(), sform=[[1e30, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]]), BAD_DATA, ["1e+30 mm", "sform"]),
    "pixdim nan": ("dwi.nii", nifti(signals(), pixdim=(2, 2, NAN)), BAD_DATA, ["pixdim[3]", "nan"]),
    "singular sform": ("dwi.nii", nifti(signals(), sform=[[2, 2, 0, 0], [2, 2, 0, 0], [0, 0, 2, 0]]), BAD_DATA, ["sform", "singular"]),
    "sform nan": ("dwi.nii", nifti(signals(), sform=[[2, NAN, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]]), BAD_DATA, ["sform", "finite"]),
    "gz longer and damaged": ("dwi.nii.gz", longer_and_damaged(DWI), BAD_DATA, ["damaged", "wrong checksum"]),
    "gz second member damaged": ("dwi.nii.gz", gzip.compress(DWI) + longer_and_damaged(b""), BAD_DATA, ["damaged", "wrong checksum"]),
    "gz header damaged": ("dwi.nii.gz", packed_then(flip(3)), BAD_DATA, ["dwi.nii.gz"]),
    "truncated gz": ("dwi.nii.gz", gzip.compress(DWI)[:-30], BAD_DATA, ["truncated"]),
    "gz checksum": ("dwi.nii.gz", packed_then(flip(-6)), BAD_DATA, ["damaged"]),
    "gz data": ("dwi.nii.gz", packed_then(flip(900)), BAD_DATA, ["dwi.nii.gz"]),
    "gz bomb": ("dwi.nii.gz", gzip.compress(nifti(signals(), shape=(3000, 3000, 3000, 8))), BAD_DATA, ["compressed bytes"]),
}

MASK_CASES = {
    "missing mask": ("mask.nii", None, MISSING, ["No such file"]),
    "mask of another size": ("mask.nii", nifti(numpy.ones((5, 4, 4))), BAD_DATA, ["5 x 4 x 4", "5 x 4 x 3"]),
    "mask in a directory's place": ("mask.nii", os.mkdir, MISSING, ["it is a directory"]),
    "truncated mask": ("mask.nii", MASK[:-1], BAD_DATA, ["truncated"]),
    "empty mask": ("mask.nii", nifti(numpy.zeros(SIZE)), BAD_DATA, ["0 of 60", "at least one"]),
    "nan mask": ("mask.nii", nifti(numpy.full(SIZE, NAN)), BAD_DATA, ["0 of 60", "at least one"]),
    "gz mask, longer and damaged": ("mask.nii", longer_and_damaged(MASK), BAD_DATA, ["damaged", "wrong checksum"]),
    "4-D mask": ("mask.nii", nifti(numpy.ones((*SIZE, 2))), BAD_DATA, ["dim[4]", "expected 1"]),
}

GRADIENT_CASES = {
    "missing bvals": ("bvals", None, MISSING, ["No such file"]),
    "missing bvecs": ("bvecs", None, MISSING, ["No such file"]),
    "one b-value less": ("bvals", table([B[:-1]]), BAD_DATA, ["7", "expected 8"]),
    "one b-value more": ("bvals", table([B + [1000]]), BAD_DATA, ["9", "expected 8"]),
    "one direction less": ("bvecs", table(G[:, :-1]), BAD_DATA, ["7", "expected 8"]),
    "bvecs given as bvals": ("bvals", BVECS, BAD_DATA, ["3 rows", "bvecs"]),
    "bvals given as bvecs": ("bvecs", BVALS, BAD_DATA, ["1 row", "bvals"]),
    "empty bvals": ("bvals", b"", BAD_DATA, ["contains no numbers"]),
    "bvals in a directory's place": ("bvals", os.mkdir, MISSING, ["it is a directory"]),
    "empty value": ("bvals", b"0,0,1000,,1000,1000,1000,1000", BAD_DATA, ["line 1", "an empty value between commas", "a number"]),
    "huge number": ("bvals", BVALS.replace(b"1000", b"1e999"), BAD_DATA, ["line 1", "1e999"]),
    "two rows": ("bvecs", table(G[:2]), BAD_DATA, ["2 rows of 8"]),
    "ragged": ("bvecs", b"0 0 1 0 0 .6 .6 0\n0 0 0 1 0\n0 0 0 0 1 0 .8 .8", BAD_DATA, ["line 2", "5 values"]),
    "decimal comma": ("bvecs", BVECS.replace(b".", b","), BAD_DATA, ["decimal point"]),
    "word": ("bvals", BVALS + b" x", BAD_DATA, ["\"x\""]),
    "nan b": ("bvals", table([changed(B, 3, "nan")]), BAD_DATA, ["volume 3", "nan"]),
    "inf b": ("bvals", table([changed(B, 3, "inf")]), BAD_DATA, ["volume 3", "inf"]),
    "negative b": ("bvals", table([changed(B, 3, -7)]), BAD_DATA, ["volume 3", "-7"]),
    "no b=0": ("bvals", table([[1000] * VOLUMES]), BAD_DATA, ["smallest", "1000"]),
    "all b=0": ("bvals", table([[0] * VOLUMES]), BAD_DATA, ["largest", "0"]),
    "s/m2": ("bvals", table([numpy.multiply(B, 10**6)]), BAD_DATA, ["largest", "s/m2"]),
    "ms/um2": ("bvals", table([numpy.divide(B, 1000)]), BAD_DATA, ["largest", "ms/um2"]),
    "nan direction": ("bvecs", table(changed(G, (1, 4), "nan")), BAD_DATA, ["volume 4", "nan"]),
    "no direction": ("bvecs", table(changed(G, (slice(None), 4), 0)), BAD_DATA, ["volume 4", "unit vector"]),
    "long direction": ("bvecs", table(changed(G, (2, 4), 2)), BAD_DATA, ["volume 4", "length is 2"]),
    "short direction": ("bvecs", table(changed(G, (2, 4), .2)), BAD_DATA, ["volume 4", "length is 0.2"]),
    "infinite direction": ("bvecs", table(changed(G, (1, 4), "inf")), BAD_DATA, ["volume 4", "inf", "finite"]),
    "equal directions": ("bvecs", table(numpy.outer([0, 0, 1], numpy.sign(B))), BAD_DATA, ["do not determine a tensor", "six directions"]),
    "directions in a plane": ("bvecs", table(in_a_plane()), BAD_DATA, ["do not determine a tensor", "one plane"]),
    "too few directions": ("bvecs", table(G[:, [0, 0, 2, 3, 4, 2, 3, 4]]), BAD_DATA, ["do not determine a tensor", "six directions"]),
    "grad_dev of another size": ("grad_dev.nii", nifti(numpy.zeros((5, 4, 4, 9))), BAD_DATA, ["5 x 4 x 4", "5 x 4 x 3"]),
    "missing grad_dev": ("grad_dev.nii", None, MISSING, ["No such file"]),
    "binary": ("bvals", DWI, BAD_DATA, ["binary"]),
    "grad_dev of 8 volumes": ("grad_dev.nii", DWI, BAD_DATA, ["dim[4]", "8", "expected 9"]),
}


FAR = [[2, 0, 0, 900], [0, 2, 0, 0], [0, 0, 2, 0]]
LABELS = numpy.arange(60).reshape(SIZE)
TRACKING_CASES = {
    "missing seeds": ("seeds.nii", None, MISSING, ["No such file"]),
    "no seeds": ("seeds.nii", nifti(numpy.zeros(SIZE)), BAD_DATA, ["0 of 60", "at least one"]),
    "seeds of another subject": ("seeds.nii", nifti(numpy.ones(SIZE), sform=FAR), BAD_DATA, ["inside the image", "another subject"]),
    "4-D seeds": ("seeds.nii", nifti(numpy.ones((*SIZE, 2))), BAD_DATA, ["dim[4]", "expected 1"]),
    "gz seeds, longer and damaged": ("seeds.nii.gz", longer_and_damaged(MASK), BAD_DATA, ["damaged", "wrong checksum"]),
    "no points": ("points", b"", BAD_DATA, ["contains no numbers"]),
    "points of two numbers": ("points", b"1 2\n3 4\n", BAD_DATA, ["line 1", "found 2 values, expected 3"]),
    "nan point": ("points", b"1 2 3\n4 nan 6\n", BAD_DATA, ["line 2", "nan", "a finite number of mm"]),
    "points outside": ("points", b"0 0 900\n", BAD_DATA, ["none of 1 seeds", "world mm"]),
    "fractional label": ("labels.nii", nifti(LABELS + .5), BAD_DATA, ["0.5", "a parcellation of integers up to 16777216"]),
    "huge label": ("labels.nii", nifti(LABELS * 1e6), BAD_DATA, ["a parcellation of integers up to 16777216"]),
    "negative labels": ("labels.nii", nifti(-LABELS), BAD_DATA, ["0 of 60", "at least one"]),
    "labels of another subject": ("labels.nii", nifti(LABELS, sform=FAR), BAD_DATA, ["inside the image", "another subject"]),
    "gz labels, longer and damaged": ("labels.nii.gz", longer_and_damaged(MASK), BAD_DATA, ["damaged", "wrong checksum"]),
}

# Usable: a file, its content, words of the output
USABLE_CASES = {
    "trailing bytes": ("dwi.nii", DWI + b"junk", ["dwi.nii: 4 bytes follow the data; ignored"]),
    "gz, trailing bytes inside": ("dwi.nii.gz", gzip.compress(DWI + b"junk"), ["dwi.nii.gz: 4 bytes follow the data; ignored"]),
    "gz, trailing bytes behind": ("dwi.nii.gz", gzip.compress(DWI) + b"junk", ["dwi.nii.gz: 4 bytes that are not gzip"]),
    "gz mask, trailing bytes": ("mask.nii.gz", gzip.compress(MASK + b"junk"), ["mask.nii.gz: 4 bytes follow the data; ignored"]),
    "gz of several members": ("dwi.nii.gz", gzip.compress(DWI[:1000]) + gzip.compress(DWI[1000:]), []),
    "gz without its ending": ("dwi.nii", gzip.compress(DWI), ["is gzip-compressed although"]),
    "ending of gz, not compressed": ("dwi.nii.gz", DWI, ["is not compressed although"]),
    "scl_slope 0": ("dwi.nii", nifti(signals(), scaling=(0, NAN)), []),
    "negative slope": ("dwi.nii", nifti(-signals(), scaling=(-1, 0)), []),
    "qfac 0": ("dwi.nii", nifti(signals(), qfac=0), []),
    "no orientation": ("dwi.nii", nifti(signals(), codes=(0, 0)), ["the orientation is unknown"]),
    "qform and sform differ": ("dwi.nii", nifti(signals(), codes=(1, 1), sform=[[-2, 0, 0, 9], [0, 2, 0, 0], [0, 0, 2, 0]]),
                               ["qform and sform place the image"]),
    "sheared sform": ("dwi.nii", nifti(signals(), sform=[[2, .5, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]]), ["is sheared"]),
    "extension": ("dwi.nii", with_extension(16), []),
    "extension of negative size": ("dwi.nii", with_extension(-16), ["size field of -16 bytes", "ignored"]),
    "extension of huge size": ("dwi.nii", with_extension(2**30), ["size field of 1073741824 bytes", "ignored"]),
    "metres": ("dwi.nii", nifti(signals(), units=1, pixdim=(.002, .002, .002), codes=(0, 0)), ["multiplied by 1000"]),
    "full mask": ("mask.nii", nifti(numpy.ones(SIZE)), ["every voxel is inside the mask"]),
    "mask at another place": ("mask.nii", nifti(numpy.eye(5, 4)[:, :, None] + numpy.zeros(SIZE), sform=[[2, 0, 0, 99], [0, 2, 0, 0], [0, 0, 2, 0]]),
                              ["places voxels up to 99 mm away"]),
    "mask of fractions": ("mask.nii", nifti(numpy.eye(5, 4)[:, :, None] * 0.9999 + numpy.zeros(SIZE)), []),
    "mask with nan": ("mask.nii", nifti(changed(numpy.ones(SIZE), (1, 1, 1), NAN).astype(float)), ["1 voxels are nan"]),
    "nan signal": ("dwi.nii", nifti(changed(signals(), (3, 1, 1, 2), NAN).astype(float)), ["1 of 36 voxels not fitted: a sample is NaN"]),
    "all-zero series": ("dwi.nii", nifti(0 * signals()), ["36 of 36 voxels not fitted: all samples zero"]),
    "bvals as a column": ("bvals", table(numpy.transpose([B])), []),
    "bvecs as columns": ("bvecs", table(G.T), []),
    "commas": ("bvecs", BVECS.replace(b" ", b","), []),
    "tabs, CRLF, blank lines": ("bvecs", b"\r\n" + BVECS.replace(b" ", b"\t").replace(b"\n", b"\r\n") + b"\r\n\r\n", []),
    "byte order mark": ("bvals", b"\xef\xbb\xbf" + BVALS.replace(b" ", b"\xc2\xa0"), []),
    "exponents": ("bvals", BVALS.replace(b"1000", b"+1e3"), []),
    "b=0 stated as 5 and 50": ("bvals", BVALS.replace(b"0 0 ", b"5 50 ", 1), []),
    "nan directions of b=0": ("bvecs", table(changed(changed(G, (slice(None), 0), "nan"), (slice(None), 1), "nan")), []),
    "directions of length 1.1": ("bvecs", table(1.1 * G), ["not unit vectors"]),
}


def assemble(folder, bad, content):
    """Writes the good inputs, one of them replaced; returns the options that name them."""
    role = bad.split(".")[0]
    options = {"dwi": "dwi.nii", "bvals": "bvals", "bvecs": "bvecs", "mask": "mask.nii"}
    for name, good in zip(options.values(), (DWI, BVALS, BVECS, MASK)):
        if name != bad:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(good)
    path = os.path.join(folder, bad)
    if callable(content):
        content(path)
    elif content is not None:
        with open(path, "wb") as file:
            file.write(content)
    if role.startswith("dwi"):
        role = "dwi"
    names = {"grad_dev": "grad-dev", "seeds": "seed-image", "points": "seed-points", "labels": "targets"}
    if role == "labels":
        options["seed-image"] = options["mask"]
    options[names.get(role, role)] = bad
    return [word for option, name in options.items() for word in ("--" + option, os.path.join(folder, name))]


class BadInputs(unittest.TestCase):
    def run_case(self, ranks, bad, content, command="tensor"):
        """Exit status, lines of stderr, and the contents of the output folder."""
        with tempfile.TemporaryDirectory() as folder:
            options = assemble(folder, bad, content)
            out = os.path.join(folder, "out")
            os.mkdir(out)
            launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
            done = subprocess.run([*launch, VOXHERD, command, "--backend", "cpu", "--threads", "1",
                                   *options, "--out", os.path.join(out, "x.h5")], capture_output=True, timeout=120,
                                  encoding="utf-8", errors="replace")
            return done.returncode, done.stderr.splitlines(), os.listdir(out)

    def run_cases(self, runs, cases, command="tensor"):
        """Runs (case, ranks), several at a time because mpirun takes a second to end after a failure."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return zip(runs, pool.map(lambda run: self.run_case(run[1], *cases[run[0]][:2], command), runs))

    def check_all(self, cases, command="tensor"):
        for (name, ranks), (found, lines, written) in self.run_cases([(name, ranks) for name in cases for ranks in (1, 3)], cases, command):
            bad, _, status, words = cases[name]
            with self.subTest(name, ranks=ranks):
                errors = [line for line in lines if line.startswith("voxherd: error: ")]
                self.assertEqual(len(errors), 1, "\n".join(lines))
                for word in [bad if len(bad) < 100 else bad[-100:]] + words:
                    self.assertIn(word, errors[0])
                self.assertEqual(found, status, errors[0])
                self.assertEqual(written, [])

    def test_good_inputs_are_accepted(self):
        found, lines, written = self.run_case(2, "dwi.nii", DWI)
        self.assertEqual(found, COMPLETE, "\n".join(lines))
        self.assertEqual(written, ["x.h5"])
        self.assertEqual([line for line in lines if "warn" in line], [])

    def test_bad_headers(self):
        self.check_all(HEADER_CASES)

    def test_bad_masks(self):
        self.check_all(MASK_CASES)

    def test_bad_gradients(self):
        self.check_all(GRADIENT_CASES)

    def test_bad_seeds_and_labels(self):
        self.check_all(TRACKING_CASES, "geodesic")

    def test_usable_inputs_are_accepted_with_a_warning(self):
        runs = [(name, 1 + 2 * (number % 2)) for number, name in enumerate(USABLE_CASES)]
        for (name, ranks), (found, lines, written) in self.run_cases(runs, USABLE_CASES):
            words = USABLE_CASES[name][2]
            with self.subTest(name, ranks=ranks):
                self.assertEqual(found, COMPLETE, "\n".join(lines))
                self.assertEqual(written, ["x.h5"])
                for word in words:
                    self.assertEqual(sum(word in line for line in lines), 1, f"{word}\n" + "\n".join(lines))
                if not words:
                    self.assertEqual([line for line in lines if "warn" in line], [])

    def test_any_file_name_is_accepted(self):
        for name in ("dwi of subject 1.nii", "dwi\n.nii", "dwi \u00e9\u4e2d.nii", "dwi'\"$x.nii", "dwi\udcff.nii"):
            with self.subTest(ascii(name)):
                found, lines, written = self.run_case(2, name, DWI)
                self.assertEqual((found, written), (COMPLETE, ["x.h5"]), "\n".join(lines))

    def test_empty_values_are_not_missing_options(self):
        for command, options in (("tensor", ("mask", "grad-dev", "dwi", "json")), ("geodesic", ("targets", "seed-image")),
                                 ("perfusion", ("mask", "times")), ("phantom", ("out",)), ("cohort", ("template",))):
            for option in options:
                for words in (["--" + option, ""], ["--" + option + "="]):
                    done = subprocess.run([VOXHERD, command, *words], capture_output=True, text=True, timeout=120)
                    with self.subTest(command, words=words):
                        self.assertEqual(done.returncode, USAGE, done.stderr)
                        self.assertIn("--" + option, done.stderr)
                        self.assertIn("empty", done.stderr)

    def test_missing_options(self):
        done = subprocess.run([VOXHERD, "tensor", "--out", "never.h5"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("--dwi", done.stderr)


if __name__ == "__main__":
    unittest.main()
