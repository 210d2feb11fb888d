"""Runs the program under test as a user would."""
import os
import resource
import signal
import subprocess

from option_reader import refusal

VOXHERD = os.environ["VOXHERD"]


def run(*words, ranks=1, expect=0):
    refused = refusal(*words) if expect == 2 and ranks == 1 else None
    if refused:
        assert refused[0] == expect, f"{words}: {refused}"
        return subprocess.CompletedProcess(words, expect, "", f"{refused[1]}\n")
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*launch, VOXHERD, *words], capture_output=True, text=True)
    assert done.returncode == expect, f"{words}: exit {done.returncode}, expected {expect}\n{done.stderr}"
    return done


def run_on_full_disk(*words, largest_bytes):
    """As if the disk were full: no file may have more than `largest_bytes`. Returns the ended process, whatever its status."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_bytes, largest_bytes))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    return subprocess.run([VOXHERD, *words], capture_output=True, text=True, timeout=120, preexec_fn=limit)


def read_bytes(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)
