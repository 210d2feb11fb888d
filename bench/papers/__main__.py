"""The four papers' experiments on CPU cores, one GPU and several: python3 bench/papers SUBCOMMAND --help.

`measure` needs only Python and built programs, no MPI. `report` writes the tables of docs/papers."""
import argparse
import importlib
import os
import sys

# The module tables is in the parent folder.
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Modules with add_arguments(parser) and main(args); the first line of their docstrings is their help text.
SUBCOMMANDS = ("measure", "report")


def main():
    parser = argparse.ArgumentParser(prog="bench/papers", description=__doc__)
    chosen = parser.add_subparsers(required=True, metavar="SUBCOMMAND")
    for name in SUBCOMMANDS:
        module = importlib.import_module(name)
        sub = chosen.add_parser(name, help=module.__doc__.splitlines()[0], description=module.__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_arguments(sub)
        sub.set_defaults(main=module.main)
    args = parser.parse_args()
    sys.exit(args.main(args))


if __name__ == "__main__":
    main()
