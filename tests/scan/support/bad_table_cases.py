"""Tables of numbers and other texts that are rejected: gradients, times, curves, names, settings, subjects. Not a test
itself."""
import os

import numpy
from crafted_inputs import BAD_DATA, BVALS, BVECS, B, DWI, G, MISSING, SIZE, TIMES, USAGE, VOLUMES, changed, in_a_plane, nifti, table
from input_jobs import Bad

# The columns are those of bad_image_cases.
GRADIENTS = {
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
    "grad_dev in per cent": ("grad_dev.nii", nifti(numpy.full((5, 4, 3, 9), 3.0)), BAD_DATA, ["the diagonal is about 0 in 0 %"]),
    "bvals and bvecs swapped": ("bvecs", BVECS, BAD_DATA, ["bvecs", "3 rows"], {"bvals": "bvecs", "bvecs": "bvals"}),
    "bvals given twice": ("bvals", BVALS, BAD_DATA, ["1 row"], {"bvecs": "bvals"}),
}


FRAMES = table(numpy.transpose([TIMES])).decode().splitlines()
CURVE = {"arterial-voi": None, "portal-voi": None}
PERFUSION = {
    "missing times": ("times", None, MISSING, ["No such file"]),
    "a time less": ("times", "\n".join(FRAMES[:-1]), BAD_DATA, ["23 numbers in 23 rows", "expected 24"]),
    "a time more": ("times", "\n".join([*FRAMES, "99"]), BAD_DATA, ["25 numbers in 25 rows", "expected 24"]),
    "times in the wrong order": ("times", "\n".join([*FRAMES[:7], FRAMES[8], FRAMES[7], *FRAMES[9:]]), BAD_DATA, ["line 9", "not after"]),
    "a repeated time": ("times", "\n".join([*FRAMES[:7], FRAMES[6], *FRAMES[8:]]), BAD_DATA, ["line 8", "times must increase"]),
    "nan time": ("times", "\n".join(["nan", *FRAMES[1:]]), BAD_DATA, ["nan"]),
    "times in ms": ("times", "\n".join(time + "000" for time in FRAMES), BAD_DATA, ["hours", "give times in seconds"]),
    "times in minutes": ("times", table(numpy.transpose([TIMES]) / 60), BAD_DATA, ["apart", "not in minutes"]),
    "a word between times": ("times", "\n".join(["about 0", *FRAMES[1:]]), BAD_DATA, ["\"about\"", "expected a number"]),
    "curves of two columns": ("curves.csv", "t,a\n0,0\n200,1\n", BAD_DATA, ["2 columns", "at least 3"], CURVE),
    "one row of curves": ("curves.csv", "t,a,p\n0,0,0\n", BAD_DATA, ["1 row of numbers"], CURVE),
    "curves backwards": ("curves.csv", "t,a,p\n0,0,0\n20,1,1\n10,2,2\n", BAD_DATA, ["line 4", "10 s is not after 20 s"], CURVE),
    "short curves": ("curves.csv", "t,a,p\n0,0,0\n60,1,1\n", BAD_DATA, ["0 to 60 s", "0 to 92 s"], CURVE),
    "nan in a curve": ("curves.csv", "t,a,p\n0,0,0\n60,nan,1\n120,1,1\n", BAD_DATA, ["line 3", "60 nan", "expected numbers"], CURVE),
    "curves of zeros": ("curves.csv", "t,a,p\n0,0,0\n60,0,0\n120,0,0\n", BAD_DATA, ["no value above 0"], CURVE),
    "infinite curve": ("curves.csv", "t,a,p\n0,0,0\n60,inf,1\n120,1,1\n", BAD_DATA, ["line 3", "60 inf", "expected numbers"], CURVE),
}

NAMES = {
    "missing names": ("names", None, MISSING, ["No such file"]),
    "a name without a label": ("names", "3 A\nB 2\n", BAD_DATA, ["line 2", "expected a label and a name"]),
    "a label without a name": ("names", "3\n", BAD_DATA, ["line 1", "expected a label and a name"]),
    "two names of a label": ("names", "3 A\n3 B\n", BAD_DATA, ["line 2", "label 3 already has a name"]),
    "names of other labels": ("names", "777 Z\n", BAD_DATA, ["has no name for any of the"]),
    "binary names": ("names", DWI, BAD_DATA, ["names"]),
}

HEAD = "subject\tout\tcommand\n"
SUBJECTS = {
    "missing manifest": ("manifest", None, MISSING, ["No such file"]),
    "manifest without subjects": ("manifest", HEAD, BAD_DATA, ["no subjects"]),
    "manifest with commas": ("manifest", "subject,out,command\na,a.h5,tensor\n", BAD_DATA, ["line 1", "separated by tabs"]),
    "manifest with a short line": ("manifest", HEAD + "a\ta.h5\n", BAD_DATA, ["line 2", "2 cells separated by tabs", "expected 3"]),
    "a subject twice": ("manifest", HEAD + "a\ta.h5\ttensor\na\tb.h5\ttensor\n", BAD_DATA, ["line 3, column subject", "used in line 2"]),
    "a result twice": ("manifest", HEAD + "a\ta.h5\ttensor\nb\t./a.h5\ttensor\n", BAD_DATA, ["line 3, column out", "used in line 2"]),
    "a subject without a result": ("manifest", HEAD + "a\t\ttensor\n", BAD_DATA, ["line 2", "no result file"]),
    "a quote without its end": ("manifest", HEAD + "a\ta.h5\ttensor --dwi 'x\n", BAD_DATA, ["line 2, column command", "the quote '"]),
    "manifest without commands": ("manifest", "subject\tout\na\ta.h5\n", BAD_DATA, ["no column `command` and no template"]),
}

SETTINGS = {
    "missing config": ("config.cfg", None, MISSING, ["config.cfg"]),
    "config is a directory": ("config.cfg", os.mkdir, USAGE, ["--config config.cfg", "is a folder"]),
    "unknown setting": ("config.cfg", "sead = 8\n", USAGE, ["sead"]),
    "setting without a value": ("config.cfg", "fit =\n", USAGE, ["--fit", "empty"]),
    "setting out of range": ("config.cfg", "batch = -1\n", USAGE, ["--batch -1", "expected 0 to"]),
    "switch with a wrong value": ("config.cfg", "quiet = maybe\n", USAGE, ["--quiet", "maybe", "expected true or false"]),
    "config of another config": ("config.cfg", "config = other.cfg\n", USAGE, ["contains `config`"]),
    "line without =": ("config.cfg", "fit ols\n", USAGE, ["fit"]),
    "binary config": ("config.cfg", DWI, USAGE, ["config.cfg"]),
}


def made(table, command, option=None):
    def content(text):
        return text.encode() if isinstance(text, str) else text

    return {name: Bad(case[0], content(case[1]), *case[2:4], command, option, *case[4:]) for name, case in table.items()}


GRADIENTS = made(GRADIENTS, "tensor")
PERFUSION = made(PERFUSION, "perfusion")
NAMES = made(NAMES, "connect")
SUBJECTS = made(SUBJECTS, "cohort")
SETTINGS = made(SETTINGS, "tensor", "config")
