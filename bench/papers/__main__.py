"""The four papers' experiments on CPU cores, one GPU and several: python3 bench/papers SUBCOMMAND --help.

`measure` needs only Python and built programs, no MPI. `report` writes the tables of docs/papers.
`tracts` is an experiment by itself."""
import os
import sys

# The module subcommands is in the parent folder.
sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import subcommands  # noqa: E402

if __name__ == "__main__":
    subcommands.run("bench/papers", __doc__, ("measure", "report", "tracts"))
