"""The rooms of the house stay apart: what each folder may include, and that no file knows the machine it was written on."""
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SOURCES = (".hpp", ".cpp", ".inl", ".cuh", ".cu")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"][^>"]+[>"])', re.MULTILINE)


def files_below(*folders, ends):
    for folder in folders:
        for at, below, names in os.walk(os.path.join(ROOT, folder)):
            below[:] = [name for name in below if not name.startswith((".git", "__pycache__"))]
            yield from (os.path.join(at, name) for name in sorted(names) if name.endswith(ends))


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def includes_of(*folders):
    """Pairs of a file and what one of its lines includes, as <mpi.h> or "mpi/run/run.hpp"."""
    for path in files_below(*folders, ends=SOURCES):
        for what in INCLUDE.findall(text_of(path)):
            yield os.path.relpath(path, ROOT), what


class Layering(unittest.TestCase):
    def expect_none(self, folders, forbidden):
        found = list(includes_of(*folders))
        self.assertGreater(len(found), 10, f"nothing to check in {folders}")
        broken = [f"{path} includes {what}" for path, what in found if re.match(forbidden, what, re.IGNORECASE)]
        self.assertEqual(broken, [])

    def test_kernels_know_no_mpi_no_files_and_no_other_room(self):
        self.expect_none(["kernels"], r'<(mpi|hdf5|H5|nifti|znz|zlib|boost/|spdlog/|nlohmann/)|"(mpi|src|tests|bench)/')

    def test_the_run_knows_no_analysis_and_no_command(self):
        self.expect_none(["mpi"], r'<(nifti|znz|boost/|cuda)|"(kernels|src|tests|bench)/')

    def test_only_the_run_includes_mpi_and_hdf5(self):
        self.expect_none(["kernels", "src"], r"<(mpi|hdf5|H5\w*)\.h>")

    def test_the_program_makes_no_cuda_call(self):
        self.expect_none(["src", "mpi"], r'<cuda|".*\.cuh"')

    def test_nothing_that_ships_includes_tests(self):
        self.expect_none(["kernels", "mpi", "src"], r'"tests/')

    def test_headers_are_included_once_a_file(self):
        broken = [path for path in files_below("kernels", "mpi", "src", ends=(".hpp", ".cuh"))
                  if "#pragma once" not in text_of(path)]
        self.assertEqual(broken, [])


class Places(unittest.TestCase):
    def test_no_file_knows_the_machine_it_was_written_on(self):
        places = re.compile(r"(?<![\w.$}])/(work|root|home|Users)/\w")
        folders = ["kernels", "mpi", "src", "tests", "bench", "cmake", "configs", "slurm", "script", "docs", ".ci"]
        paths = [os.path.join(ROOT, name) for name in os.listdir(ROOT) if name.endswith((".md", ".txt", ".json"))]
        paths += files_below(*folders, ends=("",))
        broken = []
        for path in paths:
            with open(path, encoding="utf-8", errors="replace") as file:
                broken += [f"{os.path.relpath(path, ROOT)}:{number}" for number, line in enumerate(file, 1)
                           if places.search(line)]
        self.assertEqual(broken, [])


if __name__ == "__main__":
    unittest.main()
