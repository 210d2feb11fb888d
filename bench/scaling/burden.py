"""Slows one rank of a run down on purpose, for the duration of the run."""
import contextlib
import os
import subprocess
import sys
import time

from bound import cores_of
from runs import environment, run_error

MAX_SECONDS_TO_START = 300


@contextlib.contextmanager
def none():
    yield


@contextlib.contextmanager
def busy_cores(rank, threads):
    """A busy loop on each core of a CPU rank, which leaves half of each core to the rank."""
    loops = [subprocess.Popen([sys.executable, "-c", f"import os\nos.sched_setaffinity(0, [{core}])\nwhile True: pass"])
             for core in cores_of(rank, threads)]
    try:
        yield
    finally:
        end(loops)


@contextlib.contextmanager
def busy_gpu(number, command, out):
    """Another run of the program on the same GPU, which takes turns with the rank. `number`: as counted by CUDA;
    `command`: a computation that is longer than the measured run, with the result `out`."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpu = visible.split(",")[number] if visible else str(number)
    with open(out + ".log", "w", encoding="utf-8") as log:
        other = subprocess.Popen(command, env={**environment(), "CUDA_VISIBLE_DEVICES": gpu}, stdout=log,
                                 stderr=subprocess.STDOUT)
    try:
        wait_until_it_computes(other, out)
        yield
    finally:
        end([other])
        for left in (out + ".part", out + ".lock"):
            if os.path.exists(left):
                os.remove(left)


def wait_until_it_computes(other, out):
    """OUT.part exists when everything is ready to compute."""
    for _ in range(10 * MAX_SECONDS_TO_START):
        if other.poll() is not None:
            raise run_error(f"the run that slows a GPU down ended too early; see {out}.log")
        if os.path.exists(out + ".part"):
            time.sleep(1)
            return
        time.sleep(0.1)
    raise run_error(f"the run that slows a GPU down did not start within {MAX_SECONDS_TO_START} s; see {out}.log")


def end(processes):
    for process in processes:
        process.kill()
        process.wait()
