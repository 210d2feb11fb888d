"""Commands with one bad input: what they print, and what they leave. Not a test itself."""
import concurrent.futures
import functools
import os
import subprocess
import tempfile

from crafted_inputs import COMPLETE, GOOD

VOXHERD = os.environ.get("VOXHERD", "")
ANALYSES = ("tensor", "ballstick", "geodesic", "connect", "perfusion")
NAMED_OTHERWISE = {"points": "seed-points", "grad_dev": "grad-dev", "labels": "targets", "t1": "t1-map"}


class Bad:
    """A command with one bad input. The file's name up to its first dot is the option, unless `option` names it. `content`:
    bytes; None for a file that is missing; a function that makes something else at the path. `more`: further options;
    None removes one, a list has several words or none. `option` "": the file is in the way, but no option names it."""

    def __init__(self, file, content, status, words, command="tensor", option=None, more=None):
        self.file, self.content, self.status, self.words, self.command = file, content, status, words, command
        stem = file.split(".")[0]
        known = [name for name, (good, _) in GOOD.get(command, {}).items() if good.split(".")[0] == stem]
        self.option = option if option is not None else (known[0] if known else NAMED_OTHERWISE.get(stem, "dwi" if stem[:3] == "dwi" else stem))
        self.more = more or {}


class Outcome:
    def __init__(self, done, before, after):
        self.status, self.lines, self.written = done.returncode, done.stderr.splitlines(), sorted(after - before)
        self.errors = [line for line in self.lines if line.startswith("voxherd: error: ")]
        self.output = done.stdout + done.stderr


def save(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if callable(content):
        content(path)
    elif content is not None:
        with open(path, "wb") as file:
            file.write(content)


def make_inputs(folder, case):
    """Writes the good inputs, one of them replaced; returns the options. Names are relative to the folder."""
    good = {name: value for name, value in GOOD.get(case.command, {}).items() if case.more.get(name, "") is not None}
    files = dict(good.values())
    options = {name: file for name, (file, _) in good.items()}
    if case.option:
        files.pop(options.get(case.option), None)
        options[case.option] = case.file
    if case.file:
        files[case.file] = case.content
    for name, content in files.items():
        if content is not None and len(name) < 200:
            save(os.path.join(folder, name), content)
    if case.command in ANALYSES:
        options = {"out": "out/x.h5", "backend": "cpu", "threads": "1", **options}
    options.update(case.more)
    given = {name: [value] if isinstance(value, str) else value for name, value in options.items() if value is not None}
    return [word for name, words in given.items() for word in ("--" + name, *words)]



def files_in(folder):
    """Names of files and folders, with the size and time of files."""
    found = set()
    for at, folders, names in os.walk(folder):
        for name in names + folders:
            path = os.path.join(at, name)
            status = os.lstat(path)
            found.add((os.path.relpath(path, folder), *(() if name in folders else (status.st_size, status.st_mtime_ns))))
    return found


@functools.cache
def make_result():
    """The bytes of a complete result of the good scan."""
    with tempfile.TemporaryDirectory() as folder:
        words = make_inputs(folder, Bad("", None, COMPLETE, [], "tensor", ""))
        os.mkdir(os.path.join(folder, "out"))
        subprocess.run([VOXHERD, "tensor", "--quiet", *words], cwd=folder, check=True, timeout=120)
        with open(os.path.join(folder, "out", "x.h5"), "rb") as file:
            return file.read()


def run_case(case, ranks=1, keep=None, **how):
    """`keep`: called with the folder at the end; its result is kept in the outcome."""
    with tempfile.TemporaryDirectory() as folder:
        words = make_inputs(folder, case)
        os.makedirs(os.path.join(folder, "out"), exist_ok=True)
        before = files_in(folder)
        launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launch, VOXHERD, *case.command.split(), *words], cwd=folder, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace", **how)
        outcome = Outcome(done, before, files_in(folder))
        outcome.kept = keep(folder) if keep else None
        return outcome


def run_cases(cases, ranks=1):
    """(name, case, outcome) of each case, in order. Several at a time: starting and stopping MPI is mostly waiting."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        outcomes = pool.map(lambda case: run_case(case, ranks), cases.values())
        return [(name, case, outcome) for (name, case), outcome in zip(cases.items(), outcomes)]
