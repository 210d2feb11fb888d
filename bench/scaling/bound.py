"""Runs a rank bound to its own cores, so that other load on these cores slows down only this rank: bound.py THREADS
PROGRAM WORDS..."""
import os
import sys


def cores_of(rank, threads):
    """Cores of a rank on a node: the next `threads` after those of the previous ranks, of all that this process may
    use."""
    cores = sorted(os.sched_getaffinity(0))
    return [cores[(rank * threads + i) % len(cores)] for i in range(threads)]


def rank_on_node():
    for name in ("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"):
        if name in os.environ:
            return int(os.environ[name])
    sys.exit("error: not started by mpirun or srun")


if __name__ == "__main__":
    os.sched_setaffinity(0, cores_of(rank_on_node(), int(sys.argv[1])))
    os.execvp(sys.argv[2], sys.argv[2:])
