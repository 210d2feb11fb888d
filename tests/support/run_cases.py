"""usage: run_cases.py FILE_test.py [unittest options]

Runs the cases of one file. Exit status: 1 if a case failed or there are none, otherwise 77 if a case was skipped (ctest shows
the file as skipped), otherwise 0.
"""
import importlib
import os
import sys
import unittest

import helper_folders  # noqa: F401, adds the folders of what the cases import


def exit_status(result):
    if not result.wasSuccessful() or result.testsRun + len(result.skipped) == 0:
        return 1
    return 77 if result.skipped else 0


def main(path, *options):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = importlib.import_module(os.path.splitext(os.path.basename(path))[0])
    program = unittest.main(module=module, argv=[path, *options], exit=False)
    for case, reason in program.result.skipped:
        print(f"skipped: {case}: {reason}", file=sys.stderr)
    return exit_status(program.result)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
