"""Command lines that are rejected, and results that cannot be read, replaced or continued. Not a test itself."""
import fcntl
import functools
import sys

from bad_image_cases import SPGR
from crafted_inputs import BAD_DATA, DISK, MISSING, USAGE
from input_jobs import Bad, make_result

try:
    import h5py
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)


def option(words, more, command="tensor", status=USAGE):
    return Bad("", None, status, words, command, "", more)


LINES = {
    "unknown command": option(["unknown command `tensro`", "did you mean `tensor`?"], {}, "tensro"),
    "unknown option": option(["unknown option --fitt", "did you mean --fit?"], {"fitt": "ols"}),
    "abbreviated option": option(["unknown option --thread;", "did you mean --threads?"], {"thread": "2"}),
    "repeated option": option(["--fit is given twice"], {"fit": ["ols", "--fit", "wls"]}),
    "option without its value": option(["--trace", "missing"], {"trace": []}),
    "empty value": option(["--mask: its value is empty"], {"mask": ""}),
    "unexpected argument": option(["unexpected argument 'again'"], {"quiet": ["again"]}),
    "fraction for a count": option(["--batch", "3.5"], {"batch": "3.5"}),
    "negative count": option(["--batch -1", "expected 0 to"], {"batch": "-1"}),
    "huge count": option(["--batch", "1e99"], {"batch": "1e99"}),
    "word for a number": option(["--host-memory", "much"], {"host-memory": "much"}),
    "number out of range": option(["--threads 5000", "expected 0 to 4096"], {"threads": "5000"}),
    "wrong word": option(["--fit qls: expected one of ols, wls, iwls"], {"fit": "qls"}),
    "missing option": option(["--dwi FILE is missing"], {"dwi": None}),
    "missing out": option(["--out FILE is missing"], {"out": None}),
    "line feed in a value": option(["--fit", "\\x0a"], {"fit": "o\nls"}),
    "neither times nor spacing": option(["(--times FILE | --spacing S) is missing"], {"times": None}, "perfusion"),
    "haematocrit 1": option(["--haematocrit 1: expected 0 to 0.9"], {"haematocrit": "1"}, "perfusion"),
    "haematocrit -0.1": option(["--haematocrit -0.1: expected 0 to 0.9"], {"haematocrit": "-0.1"}, "perfusion"),
    "TR missing": option(["also needs --tr"], {**SPGR, "tr": None}, "perfusion"),
    "TR 0": option(["--tr 0: expected"], {**SPGR, "tr": "0"}, "perfusion"),
    "flip angle missing": option(["also needs --flip-angle"], {**SPGR, "flip-angle": None}, "perfusion"),
    "flip angle 0": option(["--flip-angle 0: expected"], {**SPGR, "flip-angle": "0"}, "perfusion"),
    "T1 missing": option(["also needs --t1, --t1-map or --vfa"], SPGR, "perfusion"),
    "T1 0": option(["--t1 0: expected"], {**SPGR, "t1": "0"}, "perfusion"),
    "relaxivity 0": option(["--relaxivity 0: expected"], {**SPGR, "relaxivity": "0", "t1": "0.6"}, "perfusion"),
    "baseline of no frames": option(["expected the first and the last frame"], {"signal": "ct", "baseline": "5,2"}, "perfusion"),
    "baseline that is skipped": option(["all of these frames are skipped"], {"signal": "ct", "baseline": "1,2", "skip-frames": "0-3"},
                                       "perfusion", BAD_DATA),
    "frames that do not exist": option(["frame 24", "frames 0 to 23"], {"skip-frames": "20-24"}, "perfusion"),
}


def cut(path):
    with open(path, "wb") as file:
        file.write(make_result()[:3000])


def of_another_program(path):
    with h5py.File(path, "w") as file:
        file["x"] = 1


def finished(path):
    with open(path, "wb") as file:
        file.write(make_result())


@functools.cache
def open_locks():
    return []


def locked(path):
    open_locks().append(open(path, "w"))
    fcntl.flock(open_locks()[-1], fcntl.LOCK_EX)


def result(content, status, words, command="info", name="result"):
    return Bad("a.h5", content, status, words, command, name)


RESULTS = {
    "missing result": result(None, MISSING, ["a.h5", "no such file"]),
    "text as a result": result(b"not HDF5\n" * 100, BAD_DATA, ["a.h5", "HDF5"]),
    "empty result": result(b"", BAD_DATA, ["a.h5", "HDF5"]),
    "truncated result": result(cut, BAD_DATA, ["a.h5"]),
    "result of another program": result(of_another_program, BAD_DATA, ["a.h5", "not a result of this version of voxherd"]),
}


def place(file, content, status, words, more=None):
    """A file in the way of the result out/x.h5."""
    return Bad(file, content, status, words, "tensor", "", more)


PLACES = {
    "existing result": place("out/x.h5", finished, USAGE, ["out/x.h5 exists; --overwrite replaces it"]),
    "unfinished result": place("out/x.h5.part", finished, USAGE, ["was left by a stopped run", "--resume continues it"]),
    "resume with other options": place("out/x.h5.part", finished, USAGE, ["different study", '"iwls" in the file, "ols" now'],
                                       {"fit": "ols", "resume": []}),
    "resume with another series": place("out/x.h5.part", finished, USAGE, ["different study", "inputs"], {"mask": None, "resume": []}),
    "resume what another program wrote": place("out/x.h5.part", of_another_program, BAD_DATA, ["out/x.h5.part"], {"resume": []}),
    "resume a truncated file": place("out/x.h5.part", cut, BAD_DATA, ["out/x.h5.part"], {"resume": []}),
    "another job": place("out/x.h5.lock", locked, USAGE, ["another job is writing it"]),
    "result is an input": place("x", b"", USAGE, ["mask.nii", "--mask"], {"out": "mask.nii", "overwrite": []}),
    "result is a folder": place("x", b"", USAGE, ["out is a folder"], {"out": "out"}),
    "no such folder": place("x", b"", DISK, ["none"], {"out": "none/x.h5"}),
    "long name": place("x", b"", USAGE, ["250 characters", "expected at most"], {"out": "n" * 250}),
    "existing table of times": place("times.json", b"precious", USAGE, ["--json times.json exists"], {"json": "times.json"}),
    "two outputs of one name": place("x", b"", USAGE, ["choose two names"], {"json": "t", "trace": "t"}),
}
