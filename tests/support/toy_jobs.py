"""Jobs of the toy analysis under mpirun, and their results. Not a test itself."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

from result_files import batches_done, digest, h5py

TOY = os.path.join(os.environ.get("VOXHERD_TEST_TOOLS", ""), "toy_run")
VOXHERD = os.environ.get("VOXHERD", "")
if not os.access(TOY, os.X_OK) or not shutil.which("mpirun"):
    print("skipped: needs mpirun, and toy_run in the folder named by VOXHERD_TEST_TOOLS")
    sys.exit(77)


def mpirun(ranks, *words):
    return ["mpirun", "--oversubscribe", "-n", str(ranks), *map(str, words)]


def toy_words(out, *options, command="toy"):
    return [TOY, command, "--quiet", "--threads", 1, "--out", out, *options]


def begin(ranks, out, *options, command="toy"):
    return subprocess.Popen(mpirun(ranks, *toy_words(out, *options, command=command)), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def run(ranks, out, *options, command="toy"):
    """One rank needs no launcher."""
    words = toy_words(out, *options, command=command)
    rc, _, output = run_process(*(mpirun(ranks, *words) if ranks > 1 else words))
    return rc, output


def run_process(program, *words):
    """Runs a program, or mpirun, to its end. All ranks fail together: mpirun need not wait a second before it kills those
    that end last."""
    environment = {**os.environ, "OMPI_MCA_odls_base_sigkill_timeout": "0"}
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=120, env=environment)
    return done.returncode, done.stdout, done.stderr


def voxherd(*words, ranks=0):
    return run_process(*mpirun(ranks, VOXHERD, *words)) if ranks else run_process(VOXHERD, *words)


def rank_processes(job, program="toy_run"):
    """Process IDs of a job's ranks: mpirun's children that have started the program."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat") as stat:
                command, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
        except (OSError, IndexError):
            continue
        state, parent = rest.split()[:2]
        if command == program and state != "Z" and int(parent) == job.pid:
            found.append(int(name))
    return sorted(found)


def kill_any(pids, chance):
    """Kills one of these processes, unless it has just ended."""
    try:
        os.kill(chance.choice(pids), signal.SIGKILL)
    except ProcessLookupError:
        pass


def remaining_output(job, program="toy_run"):
    """The error output of a job with a killed rank, once it has ended."""
    try:
        return job.communicate(timeout=30)[1]
    except subprocess.TimeoutExpired:
        # mpirun of Open MPI 4.1.4 can deadlock (PMIx_server_finalize) if a rank is killed while it starts.
        if rank_processes(job, program):
            raise
        job.kill()
        return job.communicate()[1]


def wait_for_ranks(job, count, program="toy_run"):
    """All ranks, once they have started; none if the job has ended."""
    while job.poll() is None:
        pids = rank_processes(job, program)
        if len(pids) == count:
            return pids
        time.sleep(0.01)
    return []


def stores_from_the_start():
    """Steps write their files at once, not only after ten seconds."""
    return unittest.mock.patch.dict(os.environ, VOXHERD_UNSTORED_SECONDS="0")


def wait_for_batches(out, count):
    """Waits until the journal of the unfinished file lists `count` batches as done."""
    deadline = time.time() + 60
    while time.time() < deadline:
        if batches_done(out + ".part") >= count:
            return
        time.sleep(0.02)
    raise AssertionError("the job did not finish that many batches")


class ToyJobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_toy_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def reference(self):
        rc, output = run(1, self.path("reference.h5"), "--overwrite")
        self.assertEqual(rc, 0, output)
        return digest(self.path("reference.h5"))
