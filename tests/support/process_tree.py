"""Processes of a command and what they listen to. Not a test itself."""
import glob
import os

LISTENING = "0A"  # in /proc/net/tcp


def descendants(pid):
    found = [pid]
    for process in found:
        for tasks in glob.glob(f"/proc/{process}/task/*/children"):
            with open(tasks, encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    return found


def listening_sockets(pid):
    """Addresses and ports, in hexadecimal, on which a process or one that it started listens."""
    held = set()
    for process in descendants(pid):
        for link in glob.glob(f"/proc/{process}/fd/*"):
            try:
                held.add(os.readlink(link))
            except FileNotFoundError:  # closed meanwhile
                pass
    addresses = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            for line in file.readlines()[1:]:
                fields = line.split()
                if fields[3] == LISTENING and f"socket:[{fields[9]}]" in held:
                    addresses.add(fields[1])
    return addresses
