"""How analyses scale over ranks, GPUs and nodes: python3 bench/scaling SUBCOMMAND --help. Charts need matplotlib."""
import argparse
import importlib
import importlib.util
import os
import sys

# The modules figures and tables are in the parent folder.
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Modules with add_arguments(parser) and main(args); the first line of their docstrings is their help text.
SUBCOMMANDS = ("measure", "balance", "report")


def main():
    parser = argparse.ArgumentParser(prog="bench/scaling", description=__doc__)
    chosen = parser.add_subparsers(required=True, metavar="SUBCOMMAND")
    for name in filter(importlib.util.find_spec, SUBCOMMANDS):
        module = importlib.import_module(name)
        sub = chosen.add_parser(name, help=module.__doc__.splitlines()[0], description=module.__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_arguments(sub)
        sub.set_defaults(main=module.main)
    args = parser.parse_args()
    sys.exit(args.main(args))


if __name__ == "__main__":
    main()
