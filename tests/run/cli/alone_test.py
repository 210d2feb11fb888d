"""A command that no launcher started needs no MPI: it opens no port, starts no program, and works without PATH."""
import fcntl
import os
import subprocess
import unittest

from process_tree import descendants, listening_sockets
from toy_jobs import TOY, VOXHERD, ToyJobs, begin, digest, run, wait_for_batches


class StoppedAtOutput:
    """A command whose standard output is a full pipe: it stays alive as it was when it printed."""

    def __init__(self, *words):
        self.reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(writer, False)
        try:
            while os.write(writer, b"x"):
                pass
        except BlockingIOError:
            os.set_blocking(writer, True)
        self.job = subprocess.Popen(words, stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)

    def __enter__(self):
        while self.job.poll() is None and not self.is_writing():
            pass
        assert self.job.poll() is None, self.job.stderr.read()
        return self.job.pid

    def is_writing(self):
        with open(f"/proc/{self.job.pid}/syscall", encoding="ascii") as file:
            return file.read().split()[:2] == ["1", "0x1"]  # write() to standard output, on x86-64

    def __exit__(self, *_):
        os.close(self.reader)
        self.job.communicate(timeout=60)


class Alone(ToyJobs):
    def test_printing_commands_open_no_port_and_start_no_program(self):
        out = self.path("o.h5")
        self.assertEqual(run(1, out)[0], 0)
        for words in (["info", out], ["info"], ["--help"], ["--version"], ["verify", out], ["compare", out, out], ["doctor"]):
            with self.subTest(words=words), StoppedAtOutput(VOXHERD, *words) as pid:
                self.assertEqual(listening_sockets(pid), set())
                self.assertEqual(descendants(pid), [pid])

    def test_a_running_analysis_opens_no_port_and_starts_no_program(self):
        out = self.path("o.h5")
        words = [TOY, "toy", "--quiet", "--threads", "1", "--batch", "40", "--slowest-ms", "60", "--out", out]
        with subprocess.Popen(words) as job:
            wait_for_batches(out, 3)
            self.assertEqual(listening_sockets(job.pid), set())
            self.assertEqual(descendants(job.pid), [job.pid])
            job.kill()

    def test_the_ports_of_several_ranks_are_seen(self):
        """Otherwise the tests above show nothing."""
        out = self.path("o.h5")
        job = begin(2, out, "--batch", 40, "--slowest-ms", 60)
        wait_for_batches(out, 3)
        self.assertNotEqual(listening_sockets(job.pid), set())
        job.kill()
        job.communicate(timeout=60)

    def test_results_of_one_process_with_and_without_mpi_and_of_three_have_the_same_bytes(self):
        digests = set()
        for name, launch in (("alone", []), ("one", ["mpirun", "-n", "1"]), ("three", ["mpirun", "--oversubscribe", "-n", "3"])):
            out = self.path(f"{name}.h5")
            subprocess.run([*launch, TOY, "toy", "--quiet", "--threads", "1", "--batch", "90", "--out", out], check=True, timeout=60)
            digests.add(digest(out))
        self.assertEqual(len(digests), 1)

    def test_without_an_environment_the_status_is_the_usual_one(self):
        out = self.path("o.h5")
        self.assertEqual(run(1, out)[0], 0)
        for words, status in ((["--version"], 0), (["info"], 0), (["info", out], 0), (["verify", out], 0),
                              (["compare", out, out], 0), (["info", self.path("none.h5")], 66)):
            done = subprocess.run([os.path.abspath(VOXHERD), *words], capture_output=True, text=True, timeout=60, env={})
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertNotIn("orted", done.stderr)


if __name__ == "__main__":
    unittest.main()
