"""Unusual inputs that are used, some with a warning. Not a test itself."""
import gzip

import numpy
from crafted_inputs import (B, BVALS, BVECS, COMPLETE, CURVES, DWI, G, LABELS, MASK, NAN, SIZE, changed, nifti, signals, table,
                            with_extension)
from input_jobs import Bad

# Name of the case: a file, its content, words of the output; none: no warning
USABLE = {
    "trailing bytes": ("dwi.nii", DWI + b"junk", ["dwi.nii: 4 bytes follow the data; ignored"]),
    "gz, trailing bytes inside": ("dwi.nii.gz", gzip.compress(DWI + b"junk"), ["dwi.nii.gz: 4 bytes follow the data; ignored"]),
    "gz, trailing bytes behind": ("dwi.nii.gz", gzip.compress(DWI) + b"junk", ["dwi.nii.gz: 4 bytes that are not gzip"]),
    "gz mask, trailing bytes": ("mask.nii.gz", gzip.compress(MASK + b"junk"), ["mask.nii.gz: 4 bytes follow the data; ignored"]),
    "gz of several members": ("dwi.nii.gz", gzip.compress(DWI[:1000]) + gzip.compress(DWI[1000:]), []),
    "gz without its ending": ("dwi.nii", gzip.compress(DWI), ["is gzip-compressed although"]),
    "ending of gz, not compressed": ("dwi.nii.gz", DWI, ["is not compressed although"]),
    "scl_slope 0": ("dwi.nii", nifti(signals(), scaling=(0, NAN)), []),
    "scl_slope nan": ("dwi.nii", nifti(signals(), scaling=(NAN, NAN)), ["dwi.nii: scl_slope is nan; values are read as stored"]),
    "mask of scl_slope nan": ("mask.nii", nifti(changed(numpy.ones(SIZE), (1, 1, 1), 0).astype(float), scaling=(NAN, NAN)), ["mask.nii: scl_slope is nan"]),
    "pixdim -2": ("dwi.nii", nifti(signals(), pixdim=(2, -2, 2), codes=(0, 1)), []),
    "pixdim 0": ("dwi.nii", nifti(signals(), pixdim=(2, 0, 2), codes=(0, 1)), ["pixdim[2] is 0; 2 is used"]),
    "bitpix": ("dwi.nii", nifti(signals(), type=(16, 16)), ["bitpix is 16, expected 32"]),
    "negative slope": ("dwi.nii", nifti(-signals(), scaling=(-1, 0)), []),
    "qfac 0": ("dwi.nii", nifti(signals(), qfac=0), []),
    "no orientation": ("dwi.nii", nifti(signals(), codes=(0, 0)), ["the orientation is unknown"]),
    "qform and sform differ": ("dwi.nii", nifti(signals(), codes=(1, 1), sform=[[-2, 0, 0, 8], [0, 2, 0, 0], [0, 0, 2, 0]]),
                               ["qform and sform place the image"]),
    "sheared sform": ("dwi.nii", nifti(signals(), sform=[[2, .2, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]]), ["is sheared"]),
    "extension": ("dwi.nii", with_extension(16), []),
    "extension of negative size": ("dwi.nii", with_extension(-16), ["size field of -16 bytes", "ignored"]),
    "extension of huge size": ("dwi.nii", with_extension(2**30), ["size field of 1073741824 bytes", "ignored"]),
    "metres": ("dwi.nii", nifti(signals(), units=1, pixdim=(.002, .002, .002), codes=(0, 0)), ["multiplied by 1000"]),
    "full mask": ("mask.nii", nifti(numpy.ones(SIZE)), ["every voxel is inside the mask"]),
    "mask a quarter of a voxel away": ("mask.nii", nifti(numpy.eye(5, 4)[:, :, None] + numpy.zeros(SIZE), sform=[[2, 0, 0, .5], [0, 2, 0, 0], [0, 0, 2, 0]]),
                                       ["places voxels up to 0.5 mm away"]),
    "mask in another order": ("mask.nii", nifti(numpy.eye(3, 5)[:, :, None] + numpy.zeros((3, 5, 4)),
                                                sform=[[0, -2, 0, 8], [0, 0, 2, 0], [2, 0, 0, 0]]), []),
    "mask of fractions": ("mask.nii", nifti(numpy.eye(5, 4)[:, :, None] * 0.9999 + numpy.zeros(SIZE)), []),
    "mask with nan": ("mask.nii", nifti(changed(numpy.ones(SIZE), (1, 1, 1), NAN).astype(float)), ["1 voxel with nan"]),
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
    "directions of length 0.9": ("bvecs", table(.9 * G), ["not unit vectors"]),
    "big endian": ("dwi.nii", nifti(signals(), order=">"), []),
    "int16 beyond its range after scaling": ("dwi.nii", nifti(signals(), dtype="i2", type=(4, 16), scaling=(1e4, 1e6)), []),
    "microns": ("dwi.nii", nifti(signals(), units=3, pixdim=(2000, 2000, 2000), codes=(0, 0)), ["multiplied by 0.001"]),
    "all-nan series": ("dwi.nii", nifti(NAN * signals()), ["36 of 36 voxels not fitted: a sample is NaN"]),
    "infinite sample": ("dwi.nii", nifti(changed(signals(), (3, 1, 1, 2), numpy.inf).astype(float)), ["1 of 36 voxels not fitted: a sample is NaN"]),
    "negative samples": ("dwi.nii", nifti(-signals()), ["36 of 36 voxels not fitted"]),
    "constant samples": ("dwi.nii", nifti(0 * signals() + 7), ["36 of 36 voxels not fitted"]),
}
FAR_LABELS = numpy.where(LABELS > 30, 70000, numpy.where(LABELS > 10, 5, 0))  # neither contiguous nor of 16 bits
OTHERS = {
    "labels with gaps, above 65535": Bad("labels.nii", nifti(FAR_LABELS), COMPLETE, [], "geodesic"),
    "connectome of labels with gaps": Bad("labels.nii", nifti(FAR_LABELS), COMPLETE, [], "connect", more={"region-names": None}),
    "seeds outside the mask": Bad("seeds.nii", nifti(numpy.ones(SIZE)), COMPLETE, ["24 of 60 seeds are at voxels without a tensor"], "geodesic"),
    "curves of a peak at the start": Bad("curves.csv", table([["t", "a", "p"], [0, 9, 9], [60, 1, 2], [120, 1, 1]]).replace(b" ", b","), COMPLETE, [],
                                         "perfusion", more={"arterial-voi": None, "portal-voi": None}),
}

USED = {name: Bad(file, content, COMPLETE, words) for name, (file, content, words) in USABLE.items()}
