"""Runs the program under test as a user would."""
import os
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


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)
