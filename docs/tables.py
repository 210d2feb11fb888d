#!/usr/bin/env python3
"""Fills the tables of docs/commands from the program's own option and output tables.

    python3 docs/tables.py build/cpu/voxherd            write the tables
    python3 docs/tables.py --check build/cpu/voxherd    exit with 1 if a table is out of date

A page marks the places: `<!-- options: NAME -->` or `<!-- outputs: NAME -->`, the table, `<!-- end -->`. NAME is a command,
or `shared` for the options that all analyses have. `<!-- commands: all -->` is the list of commands.
"""
import functools
import glob
import os
import re
import subprocess
import sys

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "commands")
SHARED = ("Output", "Running")
PLACE = re.compile(r"(<!-- (options|outputs|commands): (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@functools.cache
def sections(program, command):
    """Heading -> table, from `voxherd COMMAND --help=markdown`."""
    text = subprocess.run([program, command, "--help=markdown"], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^### (.*)\n\n", text, flags=re.MULTILINE)[1:]
    return {heading: table.strip() for heading, table in zip(parts[::2], parts[1::2]) if heading != "Help"}


def is_analysis(tables):
    return "--dry-run" in tables.get("Running", "")


def is_shared(heading):
    """Also "Running, for experiments and tuning"."""
    return heading.split(",")[0] in SHARED


def options(program, command):
    tables = sections(program, "tensor" if command == "shared" else command)
    tables = {heading: table for heading, table in tables.items() if heading != "Outputs"}
    shared = {heading: table for heading, table in tables.items() if is_shared(heading)}
    if command == "shared":
        tables = shared
    elif is_analysis(tables):
        tables = {heading: table for heading, table in tables.items() if not is_shared(heading)}
    text = "\n\n".join(f"### {heading}\n\n{table}" for heading, table in tables.items())
    if command != "shared" and is_analysis(shared):
        text += "\n\nAlso the [options that all analyses share](README.md#options-that-all-analyses-share)."
    return text


def commands(program):
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    text = re.sub(r"\n {10,}", " ", text)  # lines that are continued
    rows = re.findall(r"^  (\w+) {2,}(\w.*)$", text, re.MULTILINE)
    return "| command | what it does |\n|---|---|\n" + "\n".join(f"| [{name}]({name}.md) | {what} |" for name, what in rows)


def filled(program, page):
    def fill(place):
        begin, kind, command, _, end = place.groups()
        if kind == "commands":
            text = commands(program)
        elif kind == "options":
            text = options(program, command)
        else:
            text = sections(program, command).get("Outputs", "")
        return begin + (text + "\n" if text else "") + end

    return PLACE.sub(fill, page)


def main(arguments):
    check = "--check" in arguments
    programs = [word for word in arguments if word != "--check"]
    if len(programs) != 1:
        sys.exit(__doc__)
    outdated = []
    for path in sorted(glob.glob(os.path.join(PAGES, "*.md"))):
        with open(path, encoding="utf-8") as file:
            page = file.read()
        new = filled(os.path.abspath(programs[0]), page)
        if new == page:
            continue
        outdated.append(path)
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    for path in outdated:
        print(f"{path}: {'out of date' if check else 'written'}")
    sys.exit(1 if check and outdated else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
