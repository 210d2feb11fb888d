"""Jobs under faults: a crash of mpirun alone is told apart from that of a rank; jobs end with a test that is stopped."""
import os
import signal
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import processes
from processes import Job


class Jobs(unittest.TestCase):
    def test_a_crash_of_the_launcher_alone_is_told_apart(self):
        with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
            job = object.__new__(Job)
            job.log, job.launched = log.name, True
            # Open MPI pads the numbers of processes with zeros.
            for pid, reported, code, is_launcher in ((1222, "01222", -signal.SIGSEGV, True), (112233, "112233", -signal.SIGSEGV, True),
                                                     (1222, "01223", -signal.SIGSEGV, False), (1222, "01222", 139, False)):
                job.process = types.SimpleNamespace(pid=pid, returncode=code)
                log.seek(0)
                log.write(f"[vm:{reported}] *** Process received signal ***\n[vm:{reported}] Signal: Segmentation fault (11)\n")
                log.truncate()
                log.flush()
                self.assertEqual(job.launcher_crashed(), is_launcher, (pid, reported, code))

    def test_a_job_with_a_paused_process_ends_with_the_test(self):
        with tempfile.TemporaryDirectory() as folder:
            job = Job(1, ["sleep", "1000"], os.path.join(folder, "log"))
            job.signal(job.wait_for_ranks(), signal.SIGSTOP)
            processes.end_jobs()
            self.assertIsNone(job.finish(processes.HANG_SECONDS))
            self.assertEqual(job.status, 128 + signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
