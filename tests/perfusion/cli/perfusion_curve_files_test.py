"""OUT.curves.csv replaces no file of the user's."""
import fcntl
import os
import unittest

from perfusion_jobs import PerfusionJobs


def content(path):
    with open(path, "rb") as file:
        return file.read()


def write(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("precious\n")
    return path


class CurveFiles(PerfusionJobs):
    def curves(self, out="out"):
        return [self.path(f"{out}.curves.csv")]

    def refused(self, expected, *options, scan=None):
        files = sorted(os.listdir(self.folder))
        rc, output = self.launch(self.path("out.h5"), *options, scan=scan)
        self.assertEqual(rc, 2, output)
        self.assertEqual(output.count("voxherd: error:"), 1, output)
        self.assertIn(expected, output)
        self.assertEqual(sorted(os.listdir(self.folder)), files)

    def test_its_input_is_never_replaced(self):
        self.fit(name="first.h5")
        table = self.curves()[0]
        os.rename(self.curves("first")[0], table)
        scan = (*self.study.words()[:6], "--curves", table)
        before = content(table)
        self.refused(f"{table} exists; --overwrite replaces it", scan=scan)
        self.refused(f"{table} is the input --curves", "--overwrite", scan=scan)
        self.assertEqual(content(table), before)

    def test_another_file_is_replaced_only_with_overwrite(self):
        for path in self.curves():
            write(path)
            self.refused(f"{path} exists; --overwrite replaces it")
            self.refused(f"{path} exists; --overwrite replaces it", "--resume")
            self.assertEqual(content(path), b"precious\n")
            self.fit()
            self.assertNotIn(b"precious", content(path))
            for name in os.listdir(self.folder):
                os.remove(self.path(name))

    def test_a_link_that_has_their_name_is_replaced_and_its_target_stays(self):
        write(self.path("precious"))
        os.symlink("precious", self.curves()[0])
        self.refused(f"{self.curves()[0]} exists; --overwrite replaces it")
        self.fit(name="out.h5")
        self.assertEqual(content(self.path("precious")), b"precious\n")
        self.assertIn(b"t_s,arterial", content(self.curves()[0]))

    def test_they_are_no_other_output(self):
        for option in ("--json", "--trace"):
            self.refused(f"is also the file of {option}", option, self.curves()[0], "--overwrite")

    def test_files_of_a_stopped_run_stay(self):
        self.fit(name="out.h5")
        before = [content(path) for path in self.curves()]
        os.remove(self.path("out.h5"))  # as if it was killed before it made the result
        rc, output = self.launch(self.path("out.h5"), "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual([content(path) for path in self.curves()], before)

    def test_a_run_that_is_refused_leaves_none(self):
        with open(self.path("out.h5.lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused("another job is writing it")


if __name__ == "__main__":
    unittest.main()
