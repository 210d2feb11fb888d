"""Jobs on a test cluster: base class of the cluster tests. Importing it moves the program into namespaces, or skips
it."""
import contextlib
import os
import re
import signal
import subprocess
import unittest

import namespaces

namespaces.enter()

from cluster import call, cluster, wait_until
from result_files import batches_done, digest, provenance, summary

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VOXHERD = os.path.abspath(os.environ["VOXHERD"])
STUDY = "/run/study"  # shared by the nodes, removed with the test
SRUN = "env SLURM_PMIX_FENCE=ring srun --mpi=pmix"  # as in the scripts
SCRIPTS = {"srun": "slurm/cpu.sbatch", "mpirun": "slurm/mpirun-resume.sbatch"}
# 24 batches on the toy phantom, a few seconds of work.
CONFIG = "fibres = 2\nmodel = 1\nburn-in = 500\njumps = 1000\nsample-every = 20\nbatch = 64\nthreads = 1\n"

UNFINISHED = {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "REQUEUED"}


def read(path):
    """The text of a file; "" if it does not exist."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def study(*names):
    return os.path.join(STUDY, *names)


def send(pids, number):
    """Sends a signal to those processes that have not ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class ClusterJobs(unittest.TestCase):
    nodes, gpus = 2, 4  # as many GPUs as the scripts request

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(cluster(cls.nodes, cls.gpus))
        os.makedirs(STUDY)
        call(VOXHERD, "phantom", "dwi", "--out", study("subject"), "--gz")
        cls.config = study("test.cfg")
        with open(cls.config, "w", encoding="utf-8") as file:
            file.write(CONFIG)

    def setUp(self):
        self.addCleanup(lambda: subprocess.run(["scancel", "--user=root"], check=False))

    @classmethod
    def subject(cls, folder="subject"):
        """The options for a subject's files."""
        return ("--dwi", study(folder, "data.nii.gz"), "--bvals", study(folder, "bvals"), "--bvecs", study(folder, "bvecs"),
                "--mask", study(folder, "nodif_brain_mask.nii.gz"))

    @classmethod
    def expected(cls):
        """The result of one process with one thread for the subject with the test's configuration."""
        one = study("one.h5")
        if not os.path.exists(one):
            call(VOXHERD, "ballstick", "--config", cls.config, *cls.subject(), "--out", one, "--backend", "cpu")
        return digest(one)

    def submit(self, *script, options=("--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1"), **environment):
        """Submits one of the project's batch scripts and returns the job ID; `options` override those in the script."""
        environment = {"VOXHERD": VOXHERD, "CONFIG": self.config, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **environment}
        done = subprocess.run(["sbatch", "--parsable", f"--output={study('job.%A.%a')}", *options, *script], cwd=ROOT,
                              env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def fields(self, job):
        """SLURM's description of a job: JobState, ExitCode, Restarts, NodeList, ..."""
        first = call("scontrol", "--oneliner", "show", "job", job).splitlines()[0]
        return dict(word.split("=", 1) for word in first.split() if "=" in word)

    def states(self, job):
        """States of all tasks of an array."""
        return re.findall(r"JobState=(\w+)", call("scontrol", "--oneliner", "show", "job", job))

    def job_output(self, job, task=4294967294):
        """Everything that a job wrote, over all of its runs."""
        return read(study(f"job.{job}.{task}"))

    def wait_for_end(self, job, seconds=120):
        """The final state, once the job is neither running nor pending; for an array the alphabetically last state
        of its tasks."""
        wait_until(f"end of job {job}", lambda: not UNFINISHED.intersection(self.states(job)), seconds)
        return max(self.states(job))

    def wait_for_batches(self, result, count):
        wait_until(f"{count} batches of {result}", lambda: batches_done(result + ".part") >= count)

    @contextlib.contextmanager
    def stopped_with_batches(self, jobs, count):
        """Runs its block while each of the jobs, pairs of result and ID, has at least `count` batches and computes no
        more: else one could end before another has so many."""
        left, stopped = list(jobs), []

        def stop_those_with_batches():
            for result, job in list(left):
                if batches_done(result + ".part") >= count:
                    stopped.extend(pid for _, pid in self.ranks(job))
                    send(stopped, signal.SIGSTOP)
                    left.remove((result, job))
            return not left

        wait_until(f"{count} batches of each job", stop_those_with_batches)
        try:
            yield
        finally:
            send(stopped, signal.SIGCONT)

    def ranks(self, job):
        """Processes of a job that compute: {(node, process ID)}, with IDs as seen by this process."""
        found = set()
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    environment = file.read().split(b"\0")
                program = os.readlink(f"/proc/{name}/exe")
            except OSError:
                continue
            if program == os.path.realpath(VOXHERD) and f"SLURM_JOB_ID={job}".encode() in environment:
                found.add((self.find_node(name), int(name)))
        return found

    def find_node(self, pid):
        """Identified by the network namespace."""
        return call("ip", "netns", "identify", str(pid)).strip()

    def kill_rank_on(self, node, job):
        os.kill(next(pid for where, pid in self.ranks(job) if where == node), signal.SIGKILL)

    def assert_complete_and_identical(self, result, job):
        self.assertTrue(os.path.exists(result), self.job_output(job))
        self.assertEqual(digest(result), self.expected(), self.job_output(job))
