"""Disks that fail or fill up during a run: one message with the system's reason, status 74, and nothing lost."""
import errno
import os
import resource
import subprocess
import sys
import time
import unittest

from result_files import digest
from toy_jobs import TOY, ToyJobs, mpirun, run, voxherd

FAULTS = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "write_faults.so")
if not os.path.exists(FAULTS):
    print("skipped: needs write_faults.so in the folder named by VOXHERD_TEST_TOOLS")
    sys.exit(77)

LONGEST_SECONDS = 30  # ten to notice, the rest to start and end processes on a busy machine
BATCHES = ("--batch", 40, "--slowest-ms", 10)


def toy(ranks, out, *options, **more):
    """The toy's exit status and error output; without mpirun for one rank."""
    words = ["toy", "--quiet", "--threads", "1", "--out", out, *map(str, options)]
    command = [TOY, *words] if ranks == 1 else mpirun(ranks, TOY, *words)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LONGEST_SECONDS, **more)
    return done.returncode, done.stderr


def faults(file, after, error, rank=None):
    """An environment in which writes to files with `file` in their path fail."""
    variables = {"LD_PRELOAD": FAULTS, "VOXHERD_FAULT_FILE": file, "VOXHERD_FAULT_AFTER": str(after),
                 "VOXHERD_FAULT_ERRNO": str(error)}
    if rank is not None:
        variables["VOXHERD_FAULT_RANK"] = str(rank)
    return {**os.environ, **variables}


class WriteErrors(ToyJobs):
    def check_failed_and_resume(self, out, rc, output, reason):
        self.assertEqual(rc, 74, output)
        messages = [line for line in output.splitlines() if line.startswith("voxherd: error: ")]
        self.assertEqual(len(messages), 1, output)
        self.assertIn(reason, messages[0])
        self.assertFalse(os.path.exists(out + ".part.new"), output)
        rc, output = run(2, out, "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), self.expected)
        self.assertEqual(voxherd("verify", out)[0], 0)

    def fail_each_write(self, ranks, broken_rank):
        """Lets every write of the run fail in turn, and all that follow it, until a run needs fewer writes."""
        self.expected = self.reference()
        errors = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
        # Creating a file takes about 30 writes, each batch 3; then only every seventh.
        for after in [*range(0, 45), *range(45, 1000, 7)]:
            error = errors[after % len(errors)]
            out = self.path(f"broken{after}.h5")
            rc, output = toy(ranks, out, "--batch", 900, env=faults(".h5.part", after, error, broken_rank))
            if rc == 0:
                return self.assertGreater(after, 6)
            with self.subTest(after=after):
                self.check_failed_and_resume(out, rc, output, os.strerror(error))
        self.fail("the run never succeeded")

    def test_any_failing_write_of_a_single_process_ends_it_with_74_and_the_reason(self):
        self.fail_each_write(1, None)


if __name__ == "__main__":
    unittest.main()
