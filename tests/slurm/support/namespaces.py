"""Runs a process in separate namespaces: everything that a test cluster starts, mounts or configures is in its own
namespaces. Nothing remains however the test ends, and two clusters do not affect each other."""
import os
import shutil
import signal
import subprocess
import sys

INSIDE = "VOXHERD_TEST_NAMESPACES"
PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "munged": "munge", "ip": "iproute2",
            "unshare": "util-linux", "setpriv": "util-linux"}
# Debian installs daemons in folders that are not in a user's PATH.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
# When the test process ends, all processes in its namespaces end too (--kill-child), and their networks and mounts are
# removed.
UNSHARE = ["unshare", "--pid", "--net", "--uts", "--ipc", "--mount", "--fork", "--kill-child", "--mount-proc"]
# The kernel features that the cluster needs.
TRIAL = """mount -t tmpfs tmpfs /run && hostname head && mknod /run/gpu c 1 3 && : >/run/gpu &&
  ip link add bridge0 type bridge && ip netns add n1 && ip link add n1 type veth peer name eth0 netns n1"""


def missing_requirements():
    """What this machine lacks for a cluster; "" if nothing."""
    missing = sorted({package for program, package in PROGRAMS.items() if not shutil.which(program, path=PATH)})
    if missing:
        return f"not installed: {', '.join(missing)} (script/setup --tests installs them)"
    if os.geteuid() != 0:
        return "only root may make the namespaces that a cluster's nodes live in"
    tried = subprocess.run([*UNSHARE, "sh", "-c", TRIAL], capture_output=True, text=True, timeout=60,
                           env=dict(os.environ, PATH=PATH))
    return f"the kernel forbids namespaces: {tried.stderr.strip()}" if tried.returncode else ""


def enter():
    """Runs this program again as the first process of new namespaces and exits with its status, or with 77 if that
    is not possible."""
    if INSIDE in os.environ:
        return
    reason = missing_requirements()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    # unshare itself ignores SIGTERM and SIGINT.
    inner = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *UNSHARE, sys.executable, *sys.argv],
                             env={**os.environ, INSIDE: "1", "PATH": PATH})
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: inner.kill())
    status = inner.wait()
    sys.exit(status if status >= 0 else 128 - status)
