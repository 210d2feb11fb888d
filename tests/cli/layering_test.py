"""The rooms of the house: kernels and mpi never see each other, nor src; mpi.h and hdf5.h stay where they belong."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
SOURCES = {".hpp", ".cpp", ".cuh", ".cu", ".h"}


def includes(room):
    for path in sorted((ROOT / room).rglob("*")):
        if path.suffix in SOURCES:
            for name in INCLUDE.findall(path.read_text()):
                yield path.relative_to(ROOT), name


class Layering(unittest.TestCase):
    def expect_none(self, room, forbidden):
        found = list(includes(room))
        self.assertGreater(len(found), 10, f"{room} was not read")
        wrong = [f"{path} includes {name}" for path, name in found if re.match(forbidden, name)]
        self.assertEqual(wrong, [])

    def test_kernels_know_no_mpi_no_files_and_no_program(self):
        self.expect_none("kernels", r"(mpi/|src/|tests/|mpi\.h|hdf5\.h|H5|nifti|fstream|filesystem)")

    def test_mpi_knows_no_kernels_and_no_program(self):
        self.expect_none("mpi", r"(kernels/|src/|tests/|cuda|omp\.h|nifti)")

    def test_the_program_leaves_hdf5_data_to_mpi(self):
        self.expect_none("src", r"(tests/|hdf5\.h|cuda)")


if __name__ == "__main__":
    unittest.main()
