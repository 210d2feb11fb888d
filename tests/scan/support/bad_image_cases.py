"""Images that are rejected: headers, masks, seeds and labels. Not a test itself."""
import gzip
import os

import numpy
from crafted_inputs import (BAD_DATA, DWI, LABELS, MASK, MISSING, NAN, SIZE, VOLUMES, flip, link_to_itself, longer_and_damaged, nifti,
                            nifti2, packed_then, signals)
from input_jobs import Bad

# Name of the case: file that is bad, its content (None: absent; a function makes something else), exit status, words of
# the line, and what input_jobs.Bad takes
HEADERS = {
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
    "vox_offset 0": ("dwi.nii", nifti(signals(), vox_offset=0), BAD_DATA, ["vox_offset", "352"]),
    "vox_offset -352": ("dwi.nii", nifti(signals(), vox_offset=-352), BAD_DATA, ["vox_offset", "-352", "at least 352"]),
    "vox_offset inf": ("dwi.nii", nifti(signals(), vox_offset=float("inf")), BAD_DATA, ["vox_offset", "inf"]),
    "vox_offset nan": ("dwi.nii", nifti(signals(), vox_offset=NAN), BAD_DATA, ["vox_offset", "nan"]),
    "vox_offset past the end": ("dwi.nii", nifti(signals(), vox_offset=1e6), BAD_DATA, ["truncated"]),
    "scl_inter nan": ("dwi.nii", nifti(signals(), scaling=(1, NAN)), BAD_DATA, ["scl_inter", "nan"]),
    "scl_inter inf": ("dwi.nii", nifti(signals(), scaling=(1, float("inf"))), BAD_DATA, ["scl_inter", "inf"]),
    "pixdim 1e30": ("dwi.nii", nifti(signals(), pixdim=(2, 1e30, 2), codes=(0, 0)), BAD_DATA, ["1e+30 mm", "expected 1e-06"]),
    "pixdim 1e-40": ("dwi.nii", nifti(signals(), pixdim=(2, 1e-40, 2), codes=(0, 0)), BAD_DATA, ["e-41 mm", "expected 1e-06"]),
    "sform 1e30": ("dwi.nii", nifti(signals(), sform=[[1e30, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]]), BAD_DATA, ["1e+30 mm", "sform"]),
    "singular sform": ("dwi.nii", nifti(signals(), sform=[[2, 2, 0, 0], [2, 2, 0, 0], [0, 0, 2, 0]]), BAD_DATA, ["sform", "singular"]),
    "sform nan": ("dwi.nii", nifti(signals(), sform=[[2, NAN, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]]), BAD_DATA, ["sform", "finite"]),
    "gz longer and damaged": ("dwi.nii.gz", longer_and_damaged(DWI), BAD_DATA, ["damaged", "wrong checksum"]),
    "gz second member damaged": ("dwi.nii.gz", gzip.compress(DWI) + longer_and_damaged(b""), BAD_DATA, ["damaged", "wrong checksum"]),
    "gz header damaged": ("dwi.nii.gz", packed_then(flip(3)), BAD_DATA, ["dwi.nii.gz"]),
    "truncated gz": ("dwi.nii.gz", gzip.compress(DWI)[:-30], BAD_DATA, ["truncated"]),
    "gz checksum": ("dwi.nii.gz", packed_then(flip(-6)), BAD_DATA, ["damaged"]),
    "gz data": ("dwi.nii.gz", packed_then(flip(900)), BAD_DATA, ["dwi.nii.gz"]),
    "gz bomb": ("dwi.nii.gz", gzip.compress(nifti(signals(), shape=(3000, 3000, 3000, 8))), BAD_DATA, ["compressed bytes"]),
    "hdr without img": ("dwi.hdr", DWI[:348], BAD_DATA, ["pair", "expected a single .nii"]),
    "dim[0] 200": ("dwi.nii", nifti(signals(), dim0=200), BAD_DATA, ["dim[0]", "200", "1 to 7"]),
    "dim[0] -100": ("dwi.nii", nifti(signals(), dim0=-100), BAD_DATA, ["dim[0]", "-100", "1 to 7"]),
    "dim[0] 8, NIfTI-2": ("dwi.nii", nifti2(8, *SIZE, VOLUMES), BAD_DATA, ["dim[0]", "8", "1 to 7"]),
    "dim[0] -1, NIfTI-2": ("dwi.nii", nifti2(-1, *SIZE, VOLUMES), BAD_DATA, ["dim[0]", "-1", "1 to 7"]),
    "quaternion above 1": ("dwi.nii", nifti(signals(), codes=(1, 0), quaternion=(.9, .9, .9)), BAD_DATA, ["quatern", "1"]),
    "quaternion nan": ("dwi.nii", nifti(signals(), codes=(1, 0), quaternion=(NAN, 0, 0)), BAD_DATA, ["quatern", "nan"]),
}

MASKS = {
    "missing mask": ("mask.nii", None, MISSING, ["No such file"]),
    "mask of another size": ("mask.nii", nifti(numpy.ones((5, 4, 4))), BAD_DATA, ["5 x 4 x 4", "5 x 4 x 3"]),
    "mask at another place": ("mask.nii", nifti(numpy.eye(5, 4)[:, :, None] + numpy.zeros(SIZE), sform=[[2, 0, 0, 99], [0, 2, 0, 0], [0, 0, 2, 0]]),
                              BAD_DATA, ["places voxels up to 99 mm away", "less than half a voxel"]),
    "mask in a directory's place": ("mask.nii", os.mkdir, MISSING, ["it is a directory"]),
    "truncated mask": ("mask.nii", MASK[:-1], BAD_DATA, ["truncated"]),
    "empty mask": ("mask.nii", nifti(numpy.zeros(SIZE)), BAD_DATA, ["0 of 60", "at least one"]),
    "nan mask": ("mask.nii", nifti(numpy.full(SIZE, NAN)), BAD_DATA, ["0 of 60", "at least one"]),
    "gz mask, longer and damaged": ("mask.nii", longer_and_damaged(MASK), BAD_DATA, ["damaged", "wrong checksum"]),
    "4-D mask": ("mask.nii", nifti(numpy.ones((*SIZE, 2))), BAD_DATA, ["dim[4]", "expected 1"]),
}

FAR = [[2, 0, 0, 900], [0, 2, 0, 0], [0, 0, 2, 0]]
POINTS = ("geodesic", None, {"seed-image": None})  # instead of an image
TRACKING = {
    "missing seeds": ("seeds.nii", None, MISSING, ["No such file"]),
    "no seeds": ("seeds.nii", nifti(numpy.zeros(SIZE)), BAD_DATA, ["0 of 60", "at least one"]),
    "seeds of another subject": ("seeds.nii", nifti(numpy.ones(SIZE), sform=FAR), BAD_DATA, ["inside the image", "another subject"]),
    "4-D seeds": ("seeds.nii", nifti(numpy.ones((*SIZE, 2))), BAD_DATA, ["dim[4]", "expected 1"]),
    "gz seeds, longer and damaged": ("seeds.nii.gz", longer_and_damaged(MASK), BAD_DATA, ["damaged", "wrong checksum"]),
    "no points": ("points", b"", BAD_DATA, ["contains no numbers"], *POINTS),
    "points of two numbers": ("points", b"1 2\n3 4\n", BAD_DATA, ["line 1", "found 2 values, expected 3"], *POINTS),
    "nan point": ("points", b"1 2 3\n4 nan 6\n", BAD_DATA, ["line 2", "nan", "a finite number of mm"], *POINTS),
    "points outside": ("points", b"0 0 900\n", BAD_DATA, ["none of 1 seeds", "world mm"], *POINTS),
    "fractional label": ("labels.nii", nifti(LABELS + .5), BAD_DATA, ["0.5", "a parcellation of integers up to 16777216"]),
    "huge label": ("labels.nii", nifti(LABELS * 1e6), BAD_DATA, ["a parcellation of integers up to 16777216"]),
    "negative labels": ("labels.nii", nifti(-LABELS), BAD_DATA, ["0 of 60", "at least one"]),
    "labels of another subject": ("labels.nii", nifti(LABELS, sform=FAR), BAD_DATA, ["inside the image", "another subject"]),
    "gz labels, longer and damaged": ("labels.nii.gz", longer_and_damaged(MASK), BAD_DATA, ["damaged", "wrong checksum"]),
}

OTHER_SIZE = nifti(numpy.ones((5, 4, 4)))
DAMAGED = longer_and_damaged(MASK)
CURVES = {
    "series of a few frames": ("dynamic.nii", nifti(numpy.ones((*SIZE, 5))), BAD_DATA, ["5 frames", "at least 6"]),
    "arterial VOI of another size": ("artery.nii", OTHER_SIZE, BAD_DATA, ["5 x 4 x 4", "5 x 4 x 3"]),
    "empty portal VOI": ("vein.nii", nifti(numpy.zeros(SIZE)), BAD_DATA, ["0 of 60 voxels are above 0"]),
    "damaged VOI": ("artery.nii", DAMAGED, BAD_DATA, ["damaged", "wrong checksum"]),
    "zero T1": ("t1.nii", nifti(numpy.zeros(SIZE)), BAD_DATA, ["T1 is above 0 in none"]),
    "nan T1": ("t1.nii", nifti(numpy.full(SIZE, NAN)), BAD_DATA, ["T1 is above 0 in none"]),
    "T1 in ms": ("t1.nii", nifti(numpy.full(SIZE, 800.)), BAD_DATA, ["--t1-map-unit ms"]),
    "T1 map of another size": ("t1.nii", OTHER_SIZE, BAD_DATA, ["5 x 4 x 4", "5 x 4 x 3"]),
}
SPGR = {"signal": "spgr", "relaxivity": "4", "tr": "4", "flip-angle": "20"}

IMAGES = {name: Bad(*case) for name, case in {**HEADERS, **MASKS}.items()}
TRACKS = {name: Bad(*case[:4], *(case[4:] or ("geodesic",))) for name, case in TRACKING.items()}
SERIES = {name: Bad(*case, "perfusion", None, SPGR if "T1" in name else None) for name, case in CURVES.items()}
