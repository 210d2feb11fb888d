"""The command line of a folder of modules, each of which is a subcommand."""
import argparse
import importlib
import importlib.util
import sys


def run(program, description, names):
    """Runs the subcommand that the command line names. `names`: modules with add_arguments(parser) and main(args); the
    first line of a module's docstring is its help text. Modules that do not exist are left out."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    chosen = parser.add_subparsers(required=True, metavar="SUBCOMMAND")
    for name in filter(importlib.util.find_spec, names):
        module = importlib.import_module(name)
        sub = chosen.add_parser(name, help=module.__doc__.splitlines()[0], description=module.__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_arguments(sub)
        sub.set_defaults(main=module.main)
    args = parser.parse_args()
    sys.exit(args.main(args))
