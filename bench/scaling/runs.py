"""One run of the program: launched, timed, checked and recorded. All studies here run the program with this module."""
import csv
import dataclasses
import os
import shlex
import shutil
import subprocess
import time

from phases import phases, read_summary

COLUMNS = ("study", "problem", "analysis", "backend", "ranks", "threads_per_rank", "partition", "schedule", "repeat", "items",
           "wall_s", "launch_s", "start_s", "work_s", "end_s", "busy_s", "json", "trace")


class run_error(Exception):
    """A run that failed or whose result is wrong: what, where, what to do."""


@dataclasses.dataclass(frozen=True)
class job:
    """What to run. `words`: the options of the analysis, without those of every run. `reference`: results with the
    same name and backend must have the same bytes. `threads`: per rank, 0: its share of the cores. `more`:
    additional options (such as --batch 64); `wrap`: words between launcher and program (such as a script that slows
    one rank down)."""
    study: str
    problem: str
    analysis: str
    words: tuple
    backend: str
    ranks: int
    threads: int
    reference: str
    partition: str = "voxels"
    schedule: str = "dynamic"
    repeat: int = 1
    more: tuple = ()
    wrap: tuple = ()

    def name(self):
        return "-".join(str(word) for word in (self.study, self.problem, self.backend, f"{self.ranks}x{self.threads}",
                                               self.partition, self.schedule, self.repeat))


@dataclasses.dataclass(frozen=True)
class launcher:
    """How ranks are started. `kind`: mpirun or srun; `options`: its options."""
    voxherd: str
    kind: str = "mpirun"
    options: tuple = ("--bind-to", "none", "--oversubscribe")

    def words(self, ranks, threads):
        if self.kind == "srun":
            cores = ("-c", str(threads)) if threads else ()
            return ("srun", "--mpi=pmix", "-n", str(ranks), *cores, *self.options)
        return ("mpirun", "-n", str(ranks), *self.options)


def launcher_for(voxherd, kind="mpirun", options=None):
    """`options`: text, quoted as in a shell; None for the default of the kind."""
    if not os.access(voxherd, os.X_OK):
        raise run_error(f"{voxherd} does not exist; give a build folder, for example build/cuda")
    if not shutil.which(kind):
        raise run_error(f"{kind}: not found; install it or select another --launcher")
    if options is None:
        return launcher(voxherd, kind, () if kind == "srun" else launcher.options)
    return launcher(voxherd, kind, tuple(shlex.split(options)))


def environment():
    """Containers often run as root, which Open MPI refuses without these variables."""
    more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    return {**os.environ, **more}


def call(words, log):
    """Runs a command with its output in the file `log`; returns the seconds. Throws run_error with its first error
    if it fails."""
    with open(log, "w", encoding="utf-8") as file:
        file.write(shlex.join(words) + "\n")
        file.flush()
        begin = time.perf_counter()
        status = subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, env=environment()).returncode
        seconds = time.perf_counter() - begin
    if status != 0:
        with open(log, encoding="utf-8", errors="replace") as file:
            errors = [line.strip() for line in file if "error" in line.lower()] or [f"exit status {status}"]
        raise run_error(f"{shlex.join(words)}: {errors[0]}; complete output: {log}")
    return seconds


def results_folder(folder):
    return os.path.join(folder, "results")


def reference_path(folder, what):
    return os.path.join(results_folder(folder), f"{what.reference}-{what.backend}.h5")


def keep_or_compare(folder, what, result, voxherd):
    """The first result of its kind is verified and kept; others must have the same bytes and are removed."""
    first, log = reference_path(folder, what), os.path.join(folder, "runs", what.name() + ".check.log")
    if os.path.exists(first):
        try:
            call([voxherd, "compare", first, result], log)
        except run_error as e:
            raise run_error(f"the result is not that of {first} ({e}); its time does not count. If the program or the "
                            "options have changed, use another FOLDER") from e
        os.remove(result)
    else:
        call([voxherd, "verify", result], log)
        os.replace(result, first)


def command(how, what, result, summary, trace):
    threads = ("--threads", str(what.threads)) if what.threads else ()
    return [*how.words(what.ranks, what.threads), *what.wrap, how.voxherd, what.analysis, *what.words,
            "--backend", what.backend, *threads, "--partition", what.partition, "--schedule", what.schedule, *what.more,
            "--out", result, "--overwrite", "--json", summary, "--trace", trace]


def run(folder, how, what):
    """Runs a job, checks its result, adds a row to FOLDER/runs.csv and returns it. If it throws run_error, no row is
    added."""
    os.makedirs(results_folder(folder), exist_ok=True)
    os.makedirs(os.path.join(folder, "runs"), exist_ok=True)
    name = os.path.join("runs", what.name())
    base = os.path.join(folder, name)
    result = os.path.join(results_folder(folder), what.name() + ".h5")
    os.sync()  # so that earlier writes do not slow this run down
    wall = call(command(how, what, result, base + ".json", base + ".trace.csv"), base + ".log")
    keep_or_compare(folder, what, result, how.voxherd)
    row = row_of(what, wall, phases(read_summary(base + ".json"), base + ".trace.csv", wall), name)
    append(os.path.join(folder, "runs.csv"), COLUMNS, row)
    return row


def row_of(what, wall, times, name):
    start = times["start"] + times["awaited"]
    seconds = {"wall_s": wall, "launch_s": times["launch"], "start_s": start, "work_s": times["work"], "end_s": times["end"],
               "busy_s": times["busy"]}
    return {"study": what.study, "problem": what.problem, "analysis": what.analysis, "backend": what.backend,
            "ranks": what.ranks, "threads_per_rank": what.threads, "partition": what.partition, "schedule": what.schedule,
            "repeat": what.repeat, "items": times["items"], **{key: f"{value:.6f}" for key, value in seconds.items()},
            "json": name + ".json", "trace": name + ".trace.csv"}


def append(path, columns, row):
    """Adds a row to a CSV file, with a header before the first row."""
    begun = os.path.exists(path)
    with open(path, "a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        if not begun:
            writer.writeheader()
        writer.writerow(row)


def read_runs(folder):
    """Rows of FOLDER/runs.csv, as text; none if there is no such file."""
    path = os.path.join(folder, "runs.csv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_done(rows, what):
    """Whether one of the rows belongs to this job."""
    names = {os.path.basename(row["json"]) for row in rows}
    return what.name() + ".json" in names
