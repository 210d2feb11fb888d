"""Disks that fail or fill up during a run: one message with the system's reason, status 74, and nothing lost."""
import errno
import json
import os
import resource
import subprocess
import sys
import unittest

from result_files import digest
from toy_jobs import TOY, VOXHERD, ToyJobs, mpirun, run, voxherd

FAULTS = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "file_faults.so")
if not os.path.exists(FAULTS):
    print("skipped: needs file_faults.so in the folder named by VOXHERD_TEST_TOOLS")
    sys.exit(77)

LONGEST_SECONDS = 30  # ten to notice, the rest to start and end processes on a busy machine
BATCHES = ("--batch", 40, "--slowest-ms", 10)


def toy(ranks, out, *options, command="toy", **more):
    """The toy's exit status and error output; without mpirun for one rank."""
    words = [command, "--quiet", "--threads", "1", "--out", out, *map(str, options)]
    launch = [TOY, *words] if ranks == 1 else mpirun(ranks, TOY, *words)
    done = subprocess.run(launch, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LONGEST_SECONDS, **more)
    return done.returncode, done.stderr


def faults(file, after, error, rank=None, calls="write"):
    """An environment in which writes to (or reads of) files with `file` in their path fail."""
    variables = {"LD_PRELOAD": FAULTS, "VOXHERD_FAULT_FILE": file, "VOXHERD_FAULT_AFTER": str(after),
                 "VOXHERD_FAULT_ERRNO": str(error), "VOXHERD_FAULT_CALLS": calls}
    if rank is not None:
        variables["VOXHERD_FAULT_RANK"] = str(rank)
    return {**os.environ, **variables}


class WriteErrors(ToyJobs):
    def check_failed(self, out, rc, output, reason):
        self.assertEqual(rc, 74, output)
        messages = [line for line in output.splitlines() if line.startswith("voxherd: error: ")]
        self.assertEqual(len(messages), 1, output)
        self.assertIn(reason, messages[0])
        self.assertFalse(os.path.exists(out + ".part.new"), output)
        self.assertFalse(os.path.exists(out + ".lock"), output)

    def check_failed_and_resume(self, out, rc, output, reason):
        self.check_failed(out, rc, output, reason)
        rc, output = run(2, out, "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), self.expected)
        self.assertEqual(voxherd("verify", out)[0], 0)

    def fail_each_write(self, ranks, broken_rank):
        """Lets every write of the run fail in turn, and all that follow it, until a run needs fewer writes."""
        self.expected = self.reference()
        errors = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
        # About 16 writes create the file; each batch needs about 20.
        for after in [*range(0, 20), *range(20, 1000, 15)]:
            error = errors[after % len(errors)]
            out = self.path(f"broken{after}.h5")
            rc, output = toy(ranks, out, "--batch", 900, env=faults(out + ".part", after, error, broken_rank))
            if rc == 0:
                return self.assertGreater(after, 6)
            check = self.check_failed if after < 16 else self.check_failed_and_resume
            with self.subTest(after=after):
                check(out, rc, output, os.strerror(error))
        self.fail("the run never succeeded")

    def test_any_failing_write_of_a_single_process_ends_it_with_74_and_the_reason(self):
        self.fail_each_write(1, None)

    def test_a_full_session_folder_of_mpi_is_a_message(self):
        out = self.path("o.h5")
        rc, output = toy(3, out, *BATCHES, env=faults("voxherd-trial", 0, errno.ENOSPC))
        self.check_failed(out, rc, output, "the session folder of MPI, cannot hold another file: No space left on device")

    def test_a_failing_disk_of_one_of_three_ranks_ends_all_with_74_within_seconds(self):
        self.expected = self.reference()
        for broken_rank, after, error in ((0, 0, errno.EDQUOT), (0, 12, errno.ENOSPC), (0, 30, errno.EIO), (1, 0, errno.EDQUOT),
                                          (1, 2, errno.ENOSPC), (2, 4, errno.EIO)):
            with self.subTest(rank=broken_rank, after=after):
                out = self.path(f"broken{broken_rank}_{after}.h5")
                rc, output = toy(3, out, *BATCHES, env=faults(out + ".part", after, error, broken_rank))
                self.check_failed_and_resume(out, rc, output, os.strerror(error))

    def test_a_disk_that_fails_while_lines_are_written_ends_all_ranks(self):
        for after in range(27, 48, 2):  # rank 0 writes them with calls 29 to 44
            out = self.path(f"lines{after}.h5")
            rc, output = toy(3, out, "--batch", 100, env=faults(out + ".part", after, errno.EDQUOT, 0), command="ragged")
            with self.subTest(after=after):
                self.check_failed(out, rc, output, os.strerror(errno.EDQUOT))
        rc, output = run(2, out, "--resume", command="ragged")
        self.assertEqual(rc, 0, output)
        self.assertEqual(voxherd("verify", out)[0], 0)

    def test_a_limit_of_the_file_size_is_reported(self):
        out = self.path("limited.h5")
        limit = 6 << 20  # more than the files of Open MPI
        rc, output = toy(1, out, "--nz", 200, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.check_failed(out, rc, output, "File too large")
        self.assertFalse(os.path.exists(out + ".lock"))


class ReadErrors(ToyJobs):
    """Of the result itself, which is read before it is resumed and before it gets its name."""

    def check_failed(self, rc, output):
        """The message, which has the reason unless Open MPI reads the file: it reports a failed read as an empty one."""
        self.assertEqual(rc, 74, output)
        messages = [line for line in output.splitlines() if line.startswith("voxherd: error: ")]
        self.assertEqual(len(messages), 1, output)
        return messages[0]

    def fail_each_read(self, out, *options):
        """Lets every 25th read of the run fail, until a run needs fewer reads; their number."""
        for after in range(0, 2000, 25):
            rc, output = toy(1, out, *options, env=faults(out + ".part", after, errno.EIO, calls="read"))
            if rc == 0:
                return after
            with self.subTest(after=after):
                self.check_failed(rc, output)
                self.assertFalse(os.path.exists(out))
        self.fail("the run never succeeded")

    def test_any_failing_read_of_the_result_ends_the_run_with_74_and_loses_nothing(self):
        expected = self.reference()
        for name, kept, options in (("new", 0, ["--overwrite"]), ("resumed", 4, ["--resume"]),
                                    ("both", 4, ["--resume", "--overwrite"])):
            out = self.path(f"{name}.h5")
            rc, output = toy(1, out, "--batch", 400, "--break-at", 4)
            self.assertEqual(rc, 70, output)
            self.assertGreater(self.fail_each_read(out, "--batch", 400, *options, "--json", self.path(f"{name}.json")), 0)
            self.assertEqual(digest(out), expected)
            with open(self.path(f"{name}.json")) as file:
                self.assertGreaterEqual(json.load(file)["resumed_batches"], kept)

    def test_a_result_that_cannot_be_read_is_not_called_damaged(self):
        self.reference()
        path = self.path("reference.h5")
        for command in ("verify", "info"):
            done = subprocess.run([VOXHERD, command, path], capture_output=True, text=True, timeout=LONGEST_SECONDS,
                                  env=faults(path, 10, errno.EIO, calls="read"))
            self.assertIn(os.strerror(errno.EIO), self.check_failed(done.returncode, done.stderr))


class LostMessages(ToyJobs):
    """Messages that cannot be printed must not end a run."""

    def run_with(self, redirection, *words):
        return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", TOY, "toy", *map(str, words)], timeout=LONGEST_SECONDS,
                              stdout=subprocess.DEVNULL).returncode

    def test_a_run_without_standard_error_is_complete(self):
        expected = self.reference()
        for number, redirection in enumerate(("2>&-", "0<&- 1>&- 2>&-", "2>/dev/full")):
            out = self.path(f"silent{number}.h5")
            self.assertEqual(self.run_with(redirection, "--out", out), 0, redirection)
            self.assertEqual(digest(out), expected)
            self.assertEqual(voxherd("verify", out)[0], 0)

    def test_failures_keep_their_status(self):
        for redirection in ("2>&-", "2>/dev/full"):
            self.assertEqual(self.run_with(redirection, "--nx", "none", "--out", self.path("x.h5")), 2)
            self.assertEqual(self.run_with(redirection, "--out", self.path("missing/x.h5")), 74)


class LongNames(ToyJobs):
    def test_a_result_can_be_in_a_folder_with_a_long_path(self):
        expected = self.reference()
        folder = self.path("/".join(letter * 120 for letter in "abc"))
        os.makedirs(folder)
        for ranks in (1, 3):
            out = os.path.join(folder, f"result{ranks}.h5")
            rc, output = toy(ranks, out, "--batch", 400)
            self.assertEqual(rc, 0, output)
            self.assertEqual(digest(out), expected)
            self.assertEqual(sorted(os.listdir(folder))[-1], f"result{ranks}.h5")

    def test_a_name_that_is_too_long_is_refused(self):
        for length in (191, 230, 255, 300):
            rc, output = toy(1, self.path("n" * length))
            self.assertEqual(rc, 2, output)
            self.assertIn(f"{length} characters, expected at most 190", output)
        rc, output = toy(1, self.path("n" * 190))
        self.assertEqual(rc, 0, output)


if __name__ == "__main__":
    unittest.main()
