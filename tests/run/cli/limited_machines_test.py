"""Machines with less than usual: few threads, containers with limits of memory and cores, no /proc, a /dev/shm that cannot be written,
file systems that cannot flush a file."""
import errno
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import VOXHERD, run
from result_files import digest, provenance

FAULTS = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "file_faults.so")
if not os.path.exists(FAULTS) or not shutil.which("mpirun"):
    print("skipped: needs mpirun, and file_faults.so in the folder named by VOXHERD_TEST_TOOLS")
    sys.exit(77)

INTERNAL, DISK, SKIPPED = 70, 74, 77
NOBODY = 54321  # a user without processes
OWN_MOUNTS = ["unshare", "--mount", "sh", "-c"]


class LimitedMachines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="voxherd_limited_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        os.chmod(cls.folder, 0o777)
        run("phantom", "dwi", "--preset", "toy", "--out", cls.path("p"))
        run(*cls.tensor("usual.h5"))

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def tensor(cls, out, *more):
        p = cls.path("p")
        return ["tensor", "--dwi", f"{p}/data.nii", "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs", "--mask",
                f"{p}/nodif_brain_mask.nii.gz", "--quiet", "--overwrite", "--out", cls.path(out), *more]

    def call(self, *words, **how):
        return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=100, check=False, **how)

    def mounted(self, script, *words, expect=0, **how):
        """Runs a command with mounts of its own, which only root can make."""
        done = self.call(*OWN_MOUNTS, f'{script} || exit {SKIPPED}; exec "$@"', "sh", *words, **how)
        if done.returncode == SKIPPED or "unshare" in done.stderr:
            self.skipTest("needs root: own mounts")
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def with_threads(self, limit, *words):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become a user without processes")

        def become_nobody():
            os.setgroups([])
            os.setgid(NOBODY)
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
            os.setuid(NOBODY)
        return self.call(VOXHERD, *words, preexec_fn=become_nobody)

    def test_few_threads_are_enough_or_refused_with_a_message(self):
        statuses = set()
        for limit in (*range(1, 14), 20, 40):
            done = self.with_threads(limit, *self.tensor("few.h5", "--threads", "8"))
            with self.subTest(limit=limit):
                self.assertIn(done.returncode, (0, INTERNAL), done.stderr)
                self.assertNotIn("libgomp", done.stderr)
                if done.returncode:
                    self.assertRegex(done.stderr, "voxherd: error: cannot start a thread that .*: Resource temporarily unavailable; ulimit -u is "
                                     f"{limit}, .*raise the limit")
                else:
                    self.assertEqual(digest(self.path("few.h5")), digest(self.path("usual.h5")))
                    self.assertEqual("only" in done.stderr, limit < 30, done.stderr)  # the warning
            statuses.add(done.returncode)
        self.assertEqual(statuses, {0, INTERNAL})

    def test_little_address_space_has_a_message(self):
        for megabytes in (60, 100, 150, 200, 400):
            limit = megabytes << 20
            done = self.call(VOXHERD, *self.tensor("small.h5", "--threads", "8"),
                             preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            if done.returncode == 127:
                continue  # the libraries do not fit
            self.assertIn(done.returncode, (0, INTERNAL), done.stderr)
            self.assertEqual(done.stderr.count("voxherd: error:"), int(done.returncode != 0), done.stderr)

    def test_doctor_tells_how_many_threads_are_possible(self):
        found = self.with_threads(6, "doctor", "/tmp").stdout
        self.assertRegex(found, r"(?m)^PROBLEM +limits +only \d more threads can be started \(ulimit -u is 6, ")

    def test_limits_of_a_container_with_its_own_namespace_are_seen(self):
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            if "0::/\n" not in file.read():
                self.skipTest("this machine's control groups have names, or are of version 1")
        script = "mount -t tmpfs tmpfs /sys/fs/cgroup && echo 1073741824 > /sys/fs/cgroup/memory.max && echo 50000 100000 > /sys/fs/cgroup/cpu.max"
        found = self.mounted(script, VOXHERD, "doctor", self.folder).stdout
        self.assertRegex(found, " memory .*this job may use 1.1 GB")
        self.assertRegex(found, " cores .*allows the time of 0.5")
        self.mounted(script, VOXHERD, *self.tensor("container.h5"))
        self.assertEqual(provenance(self.path("container.h5"))["devices"][0]["threads"], 1)
        self.assertEqual(digest(self.path("container.h5")), digest(self.path("usual.h5")))

    def test_a_file_system_that_cannot_flush_a_file_is_enough(self):
        for error in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            environment = {**os.environ, "LD_PRELOAD": FAULTS, "VOXHERD_FAULT_FILE": "flush.h5", "VOXHERD_FAULT_CALLS": "sync",
                           "VOXHERD_FAULT_ERRNO": str(error)}
            done = self.call(VOXHERD, *self.tensor("flush.h5"), env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(digest(self.path("flush.h5")), digest(self.path("usual.h5")))
        environment["VOXHERD_FAULT_ERRNO"] = str(errno.EIO)
        done = self.call(VOXHERD, *self.tensor("flush.h5"), env=environment)
        self.assertEqual(done.returncode, DISK, done.stderr)
        self.assertRegex(done.stderr, "voxherd: error: flushing .*flush.h5.part.*: Input/output error")

    def test_several_ranks_without_a_shared_memory_that_can_be_written_are_told_so(self):
        words = ["mpirun", "--oversubscribe", "-n", "3", VOXHERD, *self.tensor("ranks.h5", "--threads", "1")]
        done = self.mounted("mount -t tmpfs -o ro tmpfs /dev/shm", *words, expect=DISK)
        errors = [line for line in done.stderr.splitlines() if line.startswith("voxherd: error:")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn("/dev/shm, which several ranks on a node need, cannot be written: Read-only file system; mount a tmpfs there", errors[0])

    def test_without_proc_a_program_finds_itself(self):
        script = "mount -t tmpfs tmpfs /proc"
        with open(self.path("cohort.tsv"), "w", encoding="utf-8") as file:
            words = self.tensor("none.h5")
            file.write(f"subject\tout\tcommand\na\t{self.path('a.h5')}\t{' '.join(words[:words.index('--overwrite')])}\n")
        self.mounted(script, VOXHERD, "cohort", self.path("cohort.tsv"), "--run-all")
        self.assertEqual(digest(self.path("a.h5")), digest(self.path("usual.h5")))
        text = self.mounted(script, VOXHERD, "slurm", "--time", "1:00:00", *self.tensor("job.h5")).stdout
        self.assertIn(os.path.realpath(VOXHERD), text)
        self.mounted(script, VOXHERD, "shims", self.path("links"))
        self.assertEqual(os.path.realpath(self.path("links/bedpostx")), os.path.realpath(VOXHERD))
        self.mounted(script, VOXHERD, *self.tensor("noproc.h5"))
        self.assertEqual(digest(self.path("noproc.h5")), digest(self.path("usual.h5")))


if __name__ == "__main__":
    unittest.main()
