"""The test cluster: it leaves nothing behind however it ends, and several can run at the same time."""
import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest
import uuid

import namespaces

REASON = namespaces.missing_requirements()
if REASON:
    print(f"skipped: {REASON}")
    sys.exit(77)
PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support", "cluster.py")


def find_processes(mark):
    """All processes that were started with this mark in their environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if mark.encode() in file.read():
                found.append(int(name))
    return found


class Cluster(unittest.TestCase):
    def begin(self, *command):
        mark = f"VOXHERD_TEST_MARK={uuid.uuid4()}"
        name, value = mark.split("=")
        job = subprocess.Popen([sys.executable, PROGRAM, *command], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, name: value})
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.kill)
        return job, mark

    def outside(self):
        """What a cluster could leave on the machine: mounts, network links, shared memory."""
        links = sorted(os.listdir("/sys/class/net"))
        with open("/proc/mounts", encoding="utf-8") as file:
            mounts = sorted(line.split()[1] for line in file)
        return links, [mount for mount in mounts if "netns" in mount], os.path.exists("/run/cluster")

    def test_nothing_is_left_when_it_ends_or_is_killed(self):
        before = self.outside()
        for how in (None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            job, mark = self.begin("sh", "-c", "srun --nodes=2 hostname; exec sleep 1000" if how else "srun --nodes=2 hostname")
            self.assertEqual({job.stdout.readline(), job.stdout.readline()}, {"n1\n", "n2\n"})
            if how:
                self.assertGreater(len(find_processes(mark)), 5)
                job.send_signal(how)
            job.wait(timeout=60)
            deadline = time.monotonic() + 60
            while find_processes(mark) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(find_processes(mark), [], how)
            self.assertEqual(self.outside(), before)

    def test_a_command_in_it_returns_its_status(self):
        self.assertEqual(self.begin("sh", "-c", "exit 3")[0].wait(timeout=60), 3)

    def test_two_clusters_at_the_same_time_do_not_interfere(self):
        jobs = [self.begin("sh", "-c", f"sbatch --wait --output=/run/out --wrap='echo {i}' >/dev/null; cat /run/out")[0]
                for i in range(2)]
        self.assertEqual([job.communicate(timeout=60)[0] for job in jobs], ["0\n", "1\n"])


if __name__ == "__main__":
    unittest.main()
