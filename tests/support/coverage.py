"""usage: coverage.py BUILD [FILE]: prints the line coverage of each folder of the program that was built with --coverage in BUILD,
of its files below 85 %, and writes the lines that no test reached to FILE."""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("src", "mpi", "core", "kernels")
LOW = 85


def counter_files(build):
    """Notes of all compiled files of these folders: without a .gcda of its own, a file was never run."""
    for folder in FOLDERS:
        for at, _, names in os.walk(os.path.join(build, folder)):
            yield from (os.path.join(at, name) for name in names if name.endswith(".gcno"))


def read_reports(folder):
    for name in os.listdir(folder):
        if name.endswith(".gcov.json.gz"):
            with gzip.open(os.path.join(folder, name), "rt") as file:
                yield json.load(file)


def count_lines(build):
    """By source file: how often each of its lines was run, in the object where that was most often."""
    lines = collections.defaultdict(dict)
    notes = sorted(os.path.abspath(path) for path in counter_files(build))
    for first in range(0, len(notes), 50):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcov", "--json-format", "--preserve-paths", "--hash-filenames", *notes[first:first + 50]], cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            for report in read_reports(folder):
                for file in report["files"]:
                    path = os.path.relpath(os.path.join(report["current_working_directory"], file["file"]), ROOT)
                    if path.split(os.sep)[0] in FOLDERS:
                        for line in file["lines"]:
                            known = lines[path].get(line["line_number"], 0)
                            lines[path][line["line_number"]] = max(known, line["count"])
    return lines


def percent(counts):
    return 100 * sum(count > 0 for count in counts) / len(counts)


def main():
    build, listing = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    lines = {path: counts for path, counts in count_lines(build).items() if counts}
    if not lines:
        sys.exit(f"coverage.py: error: {build}: no objects that were compiled with --coverage")
    for folder in FOLDERS:
        counts = [count for path in lines if path.startswith(folder + os.sep) for count in lines[path].values()]
        if counts:
            print(f"{folder:<8} {percent(counts):5.1f} % of {len(counts)} lines")
    for path in sorted(lines, key=lambda path: percent(lines[path].values())):
        if percent(lines[path].values()) < LOW:
            print(f"  {percent(lines[path].values()):5.1f} % {path}")
    if listing:
        with open(listing, "w", encoding="utf-8") as file:
            for path in sorted(lines):
                file.writelines(f"{path}:{number}\n" for number in sorted(lines[path]) if lines[path][number] == 0)


if __name__ == "__main__":
    main()
