"""A rank bound to cores of its own, so that what else runs on these slows it down alone: bound.py THREADS PROGRAM WORDS..."""
import os
import sys


def cores_of(rank, threads):
    """Those of a node's rank: the next `threads` after those of the ranks before it, of all that this process may use."""
    cores = sorted(os.sched_getaffinity(0))
    return [cores[(rank * threads + i) % len(cores)] for i in range(threads)]


def rank_on_node():
    for name in ("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"):
        if name in os.environ:
            return int(os.environ[name])
    sys.exit("error: neither mpirun nor srun started this")


if __name__ == "__main__":
    os.sched_setaffinity(0, cores_of(rank_on_node(), int(sys.argv[1])))
    os.execvp(sys.argv[2], sys.argv[2:])
