"""Files of users are written by one class, JSON becomes text in one function, and names become parts of texts in one file."""
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SOURCES = (".hpp", ".cpp", ".inl", ".cuh", ".cu", ".in")


def sources_with(pattern):
    """The shipped sources, without their ending, that contain it outside of comments."""
    found = set()
    for folder in ("core", "kernels", "mpi", "src"):
        for at, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if not name.endswith(SOURCES):
                    continue
                with open(os.path.join(at, name), encoding="utf-8") as file:
                    text = re.sub(r"//.*", "", file.read())
                if re.search(pattern, text):
                    found.add(os.path.relpath(os.path.splitext(os.path.join(at, name))[0], ROOT))
    return found


class Writers(unittest.TestCase):
    def test_no_file_is_written_in_place(self):
        """Otherwise a write error or a kill leaves a part of it under its final name, and a link is followed."""
        self.assertEqual(sources_with(r"ofstream|\bstd::fstream|\bf(re)?open(64)?\(|\bcreat\("), set())
        self.assertEqual(sources_with(r"(fs|filesystem)::copy|\bcopy_options\b"), set())
        # The temporary file; locks; logs that grow; trials of doctor; memory that processes share.
        self.assertEqual(sources_with(r"\bO_CREAT\b"),
                         {"mpi/result/temporary_file", "mpi/result/output_place", "src/batch/cohort/child_process", "src/commands/doctor/folder_checks",
                          "mpi/comm/launcher", "mpi/comm/node_memory", "mpi/comm/mpi_start"})
        self.assertEqual(sources_with(r"\bmkstemps?\(|\bmkdtemp\("), {"src/view/view", "src/io/temporary_folder"})
        self.assertEqual(sources_with(r"\bH5Fcreate\("), {"mpi/result/result_creation"})

    def test_files_get_their_names_in_one_place(self):
        self.assertEqual(sources_with(r"std::rename\(|filesystem::rename\(|\bfs::rename\(|\brenameat2?\("), {"mpi/result/file_names", "mpi/run/study"})

    def test_json_becomes_text_in_one_function(self):
        """Otherwise a name that is not UTF-8 ends the program with an exception of the library."""
        self.assertEqual(sources_with(r"[\w)]\.dump\("), {"core/json_text"})

    def test_each_language_has_one_function_that_escapes(self):
        self.assertEqual(sources_with(r'"&(lt|amp);"'), {"core/escape"})
        self.assertEqual(sources_with(r"\\uFFFD"), {"core/escape"})


if __name__ == "__main__":
    unittest.main()
