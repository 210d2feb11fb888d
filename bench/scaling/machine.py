"""Describes the machine of a study in FOLDER/machine.json."""
import datetime
import json
import os
import platform
import shutil
import subprocess


def first_line(*words):
    """The first match in a program's output; "" if there is none or the program fails."""
    if not shutil.which(words[0]):
        return ""
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.stdout.strip().splitlines()[0].strip() if done.returncode == 0 and done.stdout.strip() else ""


def value_in(path, key):
    """The value after `key :` in a file such as /proc/cpuinfo; "" if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(key)), "")
    except OSError:
        return ""


def allowed_processors():
    """Logical processors that this process may use: its affinity, or the container's quota if that is less."""
    count = len(os.sched_getaffinity(0))
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="utf-8") as file:
            quota, period = file.read().split()
        return count if quota == "max" else max(1, min(count, int(quota) // int(period)))
    except (OSError, ValueError):
        return count


def cores():
    """Number of physical cores among the processors that may be used: hardware threads of one core count once."""
    seen = set()
    for cpu in os.sched_getaffinity(0):
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", encoding="utf-8") as file:
                seen.add(file.read().strip())
        except OSError:
            seen.add(str(cpu))
    return min(len(seen), allowed_processors())


def gpus():
    """Name, memory and driver of each GPU, from nvidia-smi."""
    if not shutil.which("nvidia-smi"):
        return []
    done = subprocess.run(["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"],
                          capture_output=True, text=True, timeout=60)
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []


def describe(voxherd):
    """`voxherd`: path of the program."""
    return {"cpu": value_in("/proc/cpuinfo", "model name") or platform.machine(), "processors": allowed_processors(),
            "cores": cores(), "memory": value_in("/proc/meminfo", "MemTotal"), "gpus": gpus(), "kernel": platform.release(),
            "mpi": first_line("mpirun", "--version"), "program": first_line(voxherd, "--version"),
            "python": platform.python_version(), "date": datetime.date.today().isoformat()}


def write(folder, voxherd):
    """Returns the description and writes it to FOLDER/machine.json."""
    found = describe(voxherd)
    with open(os.path.join(folder, "machine.json"), "w", encoding="utf-8") as file:
        json.dump(found, file, indent=2)
        file.write("\n")
    return found
