"""Processes of a job under faults."""
import atexit
import os
import re
import shutil
import signal
import subprocess
import time


CRASH_SIGNALS = {signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV}
HANG_SECONDS = 300  # a process that takes longer hangs: usual are 0.1 to 2 s, on a busy machine with slow disks a minute
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # as in containers


def launch(ranks, words):
    """A command line: one rank needs no launcher."""
    return list(words) if ranks == 1 else ["mpirun", "--oversubscribe", "-n", str(ranks), *words]


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


jobs = []  # that have not been waited for


@atexit.register
def end_jobs():
    """If the test is stopped, no job goes on without it, above all none with a rank that is paused."""
    for job in jobs:
        job.signal(job.processes(), signal.SIGKILL)


class Job:
    """A started job in its own session, in which all its processes stay, whatever happens to the launcher."""

    def __init__(self, ranks, words, log, environment=None):
        self.started, self.ended = time.monotonic(), None
        self.log = log
        self.launched = ranks > 1
        with open(log, "w") as output:
            self.process = subprocess.Popen(launch(ranks, words), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            env={**os.environ, **AS_ROOT, **(environment or {})}, start_new_session=True)
        self.program = os.path.basename(words[0])
        jobs.append(self)

    def processes(self):
        """Command of each living process, by number."""
        found = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            command, _, rest = read(f"/proc/{name}/stat").partition("(")[2].rpartition(")")
            fields = rest.split()
            if fields and int(fields[3]) == self.process.pid and fields[0] != "Z":
                found[int(name)] = command
        return found

    def ranks(self):
        return sorted(pid for pid, command in self.processes().items() if command == self.program)

    def wait_for_ranks(self):
        """The ranks, once there is one; none if the job has ended."""
        while not self.ranks() and self.process.poll() is None:
            time.sleep(0.005)
        return self.ranks()

    def signal(self, pids, number):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def wait_until(self, fraction, seconds):
        """Waits for this moment of a run that takes `seconds`."""
        time.sleep(max(0, self.started + fraction * seconds - time.monotonic()))

    def finish(self, seconds):
        """Waits until all processes have ended. Kills those that have not after so long, and returns the verdict on that
        ("launcher" if only mpirun hangs) and what they did."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None and not self.processes():
                self.ended = time.monotonic()
                jobs.remove(self)
                return None
            time.sleep(0.02)
        stuck = ("hung" if self.ranks() else "launcher", self.describe())
        self.signal(self.processes(), signal.SIGKILL)
        self.process.wait()
        jobs.remove(self)
        return stuck

    def launcher_crashed(self):
        """Whether a defect ended mpirun itself, and no rank: then it is the only process that reports a signal. SIGPIPE: about one
        in 40 if all processes are told to end; for a rank that ends so mpirun returns 128 + 13."""
        if not self.launched or -self.process.returncode not in CRASH_SIGNALS | {signal.SIGPIPE}:
            return False
        # "[host:01222]": Open MPI writes at least five digits.
        return {int(pid) for pid in re.findall(r":(\d+)\] \*\*\* Process received signal", self.output())} <= {self.process.pid}

    @property
    def status(self):
        """128 + its number if a signal ended the job, as a shell says."""
        return self.process.returncode if self.process.returncode >= 0 else 128 - self.process.returncode

    def output(self):
        return read(self.log)

    def describe(self):
        """What each process does, with its stacks where there is a debugger."""
        lines = []
        for pid, command in sorted(self.processes().items()):
            state = read(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1]
            lines.append(f"{pid} {command} {''.join(state)} {read(f'/proc/{pid}/wchan')}")
            if shutil.which("gdb"):
                try:
                    words = ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 20"]
                    stacks = subprocess.run(words, capture_output=True, text=True, timeout=30).stdout
                    lines += [line for line in stacks.splitlines() if line.startswith(("#", "Thread"))]
                except subprocess.TimeoutExpired:
                    pass
        return "\n".join(lines)
