"""How analyses scale over ranks, GPUs and nodes: python3 bench/scaling SUBCOMMAND --help. Charts need matplotlib."""
import os
import sys

# The module subcommands is in the parent folder.
sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import subcommands  # noqa: E402

if __name__ == "__main__":
    subcommands.run("bench/scaling", __doc__, ("measure", "balance", "report"))
