"""Exports and other files that a command writes, with errors of the disk: each file is complete, or as it was before, or not there."""
import errno
import json
import os
import re
import shutil
import subprocess

from cases import Judged
from processes import HANG_SECONDS

COMPLETE, DISK = 0, 74
# The words of a command, and the file or folder that it writes.
WRITERS = [
    ("export matrix1.h5 --to dot", "out"), ("export matrix2.h5 --to dot", "out"), ("export matrix3.h5 --to dot", "out"), ("export matrix4.h5 --to dot", "out"),
    ("export fibres.h5 --to fsl", "out"), ("export fibres.h5 --to nifti", "out"), ("export noddi.h5 --to cudimot", "out"),
    ("export tensor.h5 --to bids --subject 1", "out"), ("export network.h5 --to csv", "out"), ("export paths.h5 --to tck", "out.tck"),
    ("export paths.h5 --to trk", "out.trk"), ("export paths.h5 --to trx", "out.trx"), ("export streamlines.h5 --statistics-of mask.nii.gz --to csv", "out"),
    ("export vertices1.h5 --to cifti", "out.dconn.nii"), ("export vertices.h5 --to cifti", "out.dscalar.nii"),
    ("export network.h5 --matrix cost --to cifti", "out.pconn.nii"),
]
ERRORS = [errno.ENOSPC, errno.EIO, errno.EDQUOT]


# FSL's sign that a folder is complete: it is removed first and written last.
LAST = os.path.join("xfms", "eye.mat")


def without_times(name, content):
    """TCK has the time of writing; the note on exported samples has those of the files, and is compared as far as it is JSON."""
    if name.endswith("exported_samples.json") and content.startswith(b"{"):
        return sorted(json.loads(content))
    return re.sub(rb"\ntimestamp: .*", b"", content)


def files_of(path):
    """The content of a file, or of all files in a folder, by name."""
    names = [path] if os.path.isfile(path) else sorted(os.path.join(at, name) for at, _, found in os.walk(path) for name in found)
    content = {}
    for name in names:
        with open(name, "rb") as file:
            content[os.path.relpath(name, path)] = without_times(name, file.read())
    return content


class WriteErrorCase(Judged):
    def __init__(self, number, chance, fault, setup):
        super().__init__(number, chance, fault)
        self.inputs, self.library, self.complete = setup.inputs, os.path.abspath(os.path.join(setup.tools, "file_faults.so")), setup.written
        self.folder = os.path.join(setup.folder, f"case{number}")
        self.text, self.out = chance.choice(WRITERS)

    def call(self, *more, **environment):
        return subprocess.run([self.inputs.program, *self.text.split(), self.out, *more], cwd=self.folder, capture_output=True, text=True,
                              timeout=HANG_SECONDS, check=False, env={**os.environ, **environment})

    def expected(self):
        """The files of an undisturbed run."""
        if self.text not in self.complete:
            done = self.call()
            if done.returncode != COMPLETE:
                raise RuntimeError(f"an undisturbed run failed: {self.text}: {done.stderr}")
            at = os.path.join(self.folder, self.out)
            self.complete[self.text] = files_of(at)
            shutil.rmtree(at) if os.path.isdir(at) else os.remove(at)
        return self.complete[self.text]

    def put_old_files(self, expected):
        """Files with the same names, which the command is to replace."""
        at = os.path.join(self.folder, self.out)
        old = {name: b"old " + name.encode() for name in expected}
        for name, content in old.items():
            path = os.path.normpath(os.path.join(at, name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        return old

    def run(self):
        shutil.copytree(self.inputs.folder, self.folder, symlinks=True)
        expected = self.expected()
        old = self.put_old_files(expected) if self.chance.random() < 0.5 and " bids" not in self.text else {}  # it refuses files of other programs
        error, largest = self.chance.choice(ERRORS), sum(map(len, expected.values()))
        after = self.chance.choice([0, 1, self.chance.randrange(max(map(len, expected.values())) + 1), self.chance.randrange(largest + 1)])
        self.detail = f"{errno.errorcode[error]} after {after} bytes{', of old files' if old else ''}"
        done = self.call(*(["--overwrite"] if old else []), LD_PRELOAD=self.library, VOXHERD_FAULT_FILE=f"{self.folder}/out", VOXHERD_FAULT_AFTER=str(after),
                         VOXHERD_FAULT_ERRNO=str(error), VOXHERD_FAULT_CALLS="write")
        self.status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        self.judge(expected, old, f"{self.text}: {done.stderr[-600:]!a}")
        if not self.complaints:
            shutil.rmtree(self.folder)

    def title(self):
        return f"{self.number:4} {self.fault.name:<18} {self.text}"

    def judge(self, expected, old, shown):
        self.check_crash(shown)
        if self.status not in (COMPLETE, DISK):
            self.complain("status", f"status {self.status}: {shown}")
        found = files_of(os.path.join(self.folder, self.out))
        for name, content in found.items():
            if content not in (expected.get(name), old.get(name)):
                self.complain("lost", f"{name} is neither complete nor as it was, {len(content)} long: {shown}")
        missing = sorted(expected.keys() - found.keys() if self.status == COMPLETE else old.keys() - found.keys() - {LAST})
        if missing:
            self.complain("lost", f"{missing} are missing: {shown}")
        if self.status == COMPLETE and any(found[name] != expected[name] for name in expected if name in found):
            self.complain("wrong", f"status 0 without all files: {shown}")
        if self.status == DISK and shown.count("voxherd: error: ") != 1:
            self.complain("message", shown)


class WriteError:
    """A kind of fault: the disk refuses what an export writes."""

    root, name = False, "write-error"

    def new_case(self, number, chance, setup):
        return WriteErrorCase(number, chance, self, setup)
