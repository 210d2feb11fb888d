"""A SLURM cluster on one machine for the duration of a test: munged, slurmctld and some slurmd. Each slurmd has its
own network, host name, /dev/shm and process table, so that MPI treats them as separate machines. They share the file
system, as the nodes of a cluster do. For an interactive shell in a cluster: python3 tests/slurm/support/cluster.py bash"""
import os
import subprocess
import sys
import time

import cluster_files as files
from namespaces import UNSHARE, enter

# The first process of a node. It waits for the other processes of its node, so that no zombies remain.
NODE = """hostname "$1" && mount -t tmpfs -o size=512m tmpfs /dev/shm && { slurmd -D & wait; }"""


class cluster_error(Exception):
    """The cluster itself does not work; the message contains the output of its daemons."""


def call(*words):
    """The output of a command; raises cluster_error if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise cluster_error(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def wait_until(what, condition, seconds=60):
    """The value of `condition` when it becomes true; raises cluster_error with `what` after a timeout."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    state = [subprocess.run(words, capture_output=True, text=True, timeout=60).stdout
             for words in (["squeue", "--long"], ["sinfo", "-N", "--long"])]
    raise cluster_error(f"in {seconds} s never: {what}\n{''.join(state)}{logs()}")


def logs(lines=15):
    text = ""
    folder = os.path.join(files.FOLDER, "log")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            text += f"-- {name}\n" + "".join(file.readlines()[-lines:])
    return text


class cluster:
    """`with cluster(nodes=3, gpus=2):` starts nodes n1, n2, ... with `gpus` simulated GPUs each and waits until all
    are idle. Call namespaces.enter() first; the kernel's resources of the cluster are released when the process
    ends."""

    def __init__(self, nodes=2, gpus=4):
        self.nodes, self.gpus = nodes, gpus
        self.first_processes = {}

    def __enter__(self):
        call("mount", "-t", "tmpfs", "tmpfs", "/run")
        # Two clusters have equal host names and process numbers, from which Open MPI makes the names of its files.
        call("mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
        os.mkdir("/run/tmp")
        os.environ["TMPDIR"] = "/run/tmp"
        self.write_files()
        self.make_network()
        call("munged", "--force", f"--key-file={files.FOLDER}/munge/key", f"--socket={files.FOLDER}/munge.socket",
             f"--pid-file={files.FOLDER}/munged.pid", f"--log-file={files.FOLDER}/log/munged",
             f"--seed-file={files.FOLDER}/munge/seed")
        call("slurmctld")
        for i in range(1, self.nodes + 1):
            self.start_node(f"n{i}")
        wait_until("an answer from slurmctld", lambda: subprocess.run(["scontrol", "ping"], capture_output=True).returncode == 0)
        wait_until("all nodes idle", lambda: len(self.idle_nodes()) == self.nodes)
        return self

    def __exit__(self, *_):
        for process in self.first_processes.values():
            process.kill()

    def write_files(self):
        os.environ["SLURM_CONF"] = files.write("slurm/slurm.conf", files.slurm_conf(self.nodes, self.gpus))
        files.write("slurm/gres.conf", files.gres_conf(self.nodes, self.gpus))
        # slurmd reads this file even if cgroups are not used; 22.05 does not have "disabled".
        files.write("slurm/cgroup.conf", "CgroupPlugin=cgroup/v1\n")
        files.write("munge/key", os.urandom(1024), mode=0o400)
        os.chmod(os.path.join(files.FOLDER, "munge"), 0o700)
        call("mount", "--bind", files.write("hosts", files.hosts(self.nodes)), "/etc/hosts")
        for name in ("log", "state", "dev"):
            os.mkdir(os.path.join(files.FOLDER, name))
        for i in range(self.gpus):
            # SLURM needs device files: these are /dev/null.
            os.mknod(os.path.join(files.FOLDER, f"dev/gpu{i}"), 0o20666, os.makedev(1, 3))

    def make_network(self):
        call("hostname", "head")
        call("ip", "link", "set", "lo", "up")
        call("ip", "link", "add", "bridge0", "type", "bridge")
        call("ip", "addr", "add", f"{files.HEAD}/24", "dev", "bridge0")
        call("ip", "link", "set", "bridge0", "up")
        for i in range(1, self.nodes + 1):
            name = f"n{i}"
            call("ip", "netns", "add", name)
            call("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
            call("ip", "link", "set", name, "master", "bridge0")
            call("ip", "-n", name, "link", "set", "lo", "up")
            call("ip", "-n", name, "addr", "add", f"{files.NETWORK}.{i}/24", "dev", "eth0")
            call("ip", "-n", name, "link", "set", "eth0", "up")
            for folder in ("spool", "tmp"):
                os.makedirs(os.path.join(files.FOLDER, name, folder))

    def start_node(self, name):
        """Starts a node, for the first time or again."""
        call("ip", "link", "set", name, "up")
        apart = [word for word in UNSHARE if word != "--net"]
        self.first_processes[name] = subprocess.Popen(["ip", "netns", "exec", name, *apart, "sh", "-c", NODE, name, name],
                                                      stderr=subprocess.DEVNULL)

    def kill_node(self, name):
        """Simulates a power failure: the processes end immediately, and the address does not answer."""
        call("ip", "link", "set", name, "down")
        process = self.first_processes.pop(name)
        process.kill()
        process.wait()

    def idle_nodes(self):
        return call("sinfo", "-h", "-N", "-t", "idle", "-p", "gpu", "-o", "%N").split()


if __name__ == "__main__":
    enter()
    with cluster():
        sys.exit(subprocess.call(sys.argv[1:] or ["sinfo", "-N", "--long"]))
