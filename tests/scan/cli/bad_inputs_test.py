"""Each bad input ends the program with one line that names the file, the correct exit status, and no output."""

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
USAGE, BAD_DATA, MISSING = 2, 65, 66
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
    struct.pack_into("<8f", head, 76, 1, *fields.pop("pixdim", (2, 2, 2)), 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, fields.pop("vox_offset", 352), *fields.pop("scaling", (1, 0)))
    struct.pack_into("<2h", head, 252, 0, 1)
    sform = fields.pop("sform", [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]])
    struct.pack_into("<12f", head, 280, *[v for row in sform for v in row])
    head[344:348] = fields.pop("magic", b"n+1\0")
    for name, dim in fields.items():
        struct.pack_into("<h", head, 40 + 2 * int(name[3:]), dim)
    return bytes(head) + values.astype("<f4").tobytes(order="F")


def nifti2_with_dimension_count(count):
    head = bytearray(544)
    struct.pack_into("<i8s2h", head, 0, 540, b"n+2\0\r\n\032\n", *FLOAT32)
    struct.pack_into("<8q", head, 16, count, *SIZE, VOLUMES, 1, 1, 1)
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


# name of the case: (file that is bad, its content; None for absent), exit status, words of the line
HEADER_CASES = {
    "missing file": ("dwi.nii", None, MISSING, ["No such file"]),
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
    "dim[0] -100, NIfTI-2": ("dwi.nii", nifti2_with_dimension_count(-100), BAD_DATA, ["dim[0]", "-100"]),
    "dim[0] 200, NIfTI-2": ("dwi.nii", nifti2_with_dimension_count(200), BAD_DATA, ["dim[0]", "200"]),
    "dim[2] 0": ("dwi.nii", nifti(signals(), dim2=0), BAD_DATA, ["dim[2]", "at least 1"]),
    "dim[3] -3": ("dwi.nii", nifti(signals(), dim3=-3), BAD_DATA, ["dim[3]", "-3"]),
    "overflow": ("dwi.nii", nifti(signals(), shape=(32767,) * 4), BAD_DATA, ["dim"]),
    "3-D": ("dwi.nii", nifti(signals(), shape=SIZE), BAD_DATA, ["dim[4]", "series"]),
    "5-D": ("dwi.nii", nifti(signals(), shape=(*SIZE, 4, 2)), BAD_DATA, ["dim[5]", "2"]),
    "RGB24": ("dwi.nii", nifti(signals(), type=(128, 24)), BAD_DATA, ["datatype", "RGB24"]),
    "complex64": ("dwi.nii", nifti(signals(), type=(32, 64)), BAD_DATA, ["datatype", "complex64"]),
    "bitpix": ("dwi.nii", nifti(signals(), type=(16, 16)), BAD_DATA, ["bitpix", "16", "32"]),
    "vox_offset 0": ("dwi.nii", nifti(signals(), vox_offset=0), BAD_DATA, ["vox_offset", "352"]),
    "vox_offset nan": ("dwi.nii", nifti(signals(), vox_offset=NAN), BAD_DATA, ["vox_offset", "nan"]),
    "vox_offset past the end": ("dwi.nii", nifti(signals(), vox_offset=1e6), BAD_DATA, ["truncated"]),
    "scl_slope nan": ("dwi.nii", nifti(signals(), scaling=(NAN, 0)), BAD_DATA, ["scl_slope", "nan"]),
    "scl_inter inf": ("dwi.nii", nifti(signals(), scaling=(1, float("inf"))), BAD_DATA, ["scl_inter", "inf"]),
    "pixdim 0": ("dwi.nii", nifti(signals(), pixdim=(2, 0, 2)), BAD_DATA, ["pixdim[2]", "above 0"]),
    "pixdim nan": ("dwi.nii", nifti(signals(), pixdim=(2, 2, NAN)), BAD_DATA, ["pixdim[3]", "nan"]),
    "singular sform": ("dwi.nii", nifti(signals(), sform=[[2, 2, 0, 0], [2, 2, 0, 0], [0, 0, 2, 0]]), BAD_DATA, ["sform", "singular"]),
    "sform nan": ("dwi.nii", nifti(signals(), sform=[[2, NAN, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]]), BAD_DATA, ["sform", "finite"]),
    "truncated gz": ("dwi.nii.gz", gzip.compress(DWI)[:-30], BAD_DATA, ["truncated"]),
    "gz checksum": ("dwi.nii.gz", packed_then(flip(-6)), BAD_DATA, ["damaged"]),
    "gz data": ("dwi.nii.gz", packed_then(flip(900)), BAD_DATA, ["dwi.nii.gz"]),
    "gz bomb": ("dwi.nii.gz", gzip.compress(nifti(signals(), shape=(3000, 3000, 3000, 8))), BAD_DATA, ["compressed bytes"]),
}

MASK_CASES = {
    "missing mask": ("mask.nii", None, MISSING, ["No such file"]),
    "mask of another size": ("mask.nii", nifti(numpy.ones((5, 4, 4))), BAD_DATA, ["5 x 4 x 4", "5 x 4 x 3"]),
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
    "binary": ("bvals", DWI, BAD_DATA, ["binary"]),
    "grad_dev of 8 volumes": ("grad_dev.nii", DWI, BAD_DATA, ["dim[4]", "8", "expected 9"]),
}


class BadInputs(unittest.TestCase):
    def run_case(self, ranks, bad, content):
        """Exit status, lines of stderr, and the contents of the output folder."""
        with tempfile.TemporaryDirectory() as folder:
            files = {"dwi.nii": DWI, "bvals": BVALS, "bvecs": BVECS, "mask.nii": MASK}
            for name, good in files.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(good)
            path = os.path.join(folder, bad)
            if content is not None:
                with open(path, "wb") as file:
                    file.write(content)
            elif os.path.exists(path):
                os.remove(path)
            dwi = bad if bad.startswith("dwi") else "dwi.nii"
            out = os.path.join(folder, "out")
            os.mkdir(out)
            line = ["mpirun", "--oversubscribe", "-n", str(ranks), VOXHERD, "tensor", "--backend", "cpu"]
            for option, name in (("dwi", dwi), ("bvals", "bvals"), ("bvecs", "bvecs"), ("mask", "mask.nii")):
                line += ["--" + option, os.path.join(folder, name)]
            if bad.startswith("grad_dev"):
                line += ["--grad-dev", path]
            done = subprocess.run(line + ["--out", os.path.join(out, "x.h5")], capture_output=True, text=True, timeout=120)
            return done.returncode, done.stderr.splitlines(), os.listdir(out)

    def check_all(self, cases):
        """On one rank and on two, several at a time because mpirun takes a second to end after a failure."""
        runs = [(name, ranks) for name in cases for ranks in (1, 2)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            endings = pool.map(lambda run: self.run_case(run[1], *cases[run[0]][:2]), runs)
            for (name, ranks), (found, lines, written) in zip(runs, endings):
                bad, _, status, words = cases[name]
                with self.subTest(name, ranks=ranks):
                    errors = [line for line in lines if line.startswith("voxherd: error: ")]
                    self.assertEqual(len(errors), 1, "\n".join(lines))
                    for word in [bad] + words:
                        self.assertIn(word, errors[0])
                    self.assertEqual(found, status, errors[0])
                    self.assertEqual(written, [])

    def test_good_inputs_are_accepted(self):
        found, lines, written = self.run_case(2, "dwi.nii", DWI)
        self.assertEqual(found, 0, "\n".join(lines))
        self.assertEqual(written, ["x.h5"])

    def test_bad_headers(self):
        self.check_all(HEADER_CASES)

    def test_bad_masks(self):
        self.check_all(MASK_CASES)

    def test_bad_gradients(self):
        self.check_all(GRADIENT_CASES)

    def test_missing_options(self):
        done = subprocess.run([VOXHERD, "tensor", "--out", "never.h5"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("--dwi", done.stderr)


if __name__ == "__main__":
    unittest.main()
