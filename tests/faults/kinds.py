"""The kinds of faults. Each strikes at one moment of a running job, is removed, and knows what the job may do."""
import errno
import os
import signal
import subprocess
import time

from cases import Case
from changed_commands import changed_kinds
from input_cases import input_kinds
from name_cases import Names
from processes import Job
from result_inputs import HostileResult
from studies import change_image, h5py
from viewer_requests import ViewRequest
from write_cases import WriteError

COMPLETE, USAGE, BAD_DATA, DEVICE, DISK, INTERRUPTED = 0, 2, 65, 71, 74, 75


class Fault:
    statuses = {COMPLETE}  # of the job, or of the job and its resumed one if it `may_refuse`
    may_refuse = False  # --resume may be refused because the file or the inputs are not what they were
    root = False  # needs root

    def new_case(self, number, chance, setup):
        return Case(number, chance, self, setup)

    def prepare(self, case):
        """Environment of the job."""
        return {}

    def strike(self, case, job):
        pass

    def remove(self, case):
        pass


class Signal(Fault):
    def __init__(self, name, number, targets):
        self.name, self.number, self.targets = name, number, targets
        # A job that is told to end, or whose rank or launcher ends, has mpirun's status or the signal's.
        self.statuses = {COMPLETE, 128 + number} | ({INTERRUPTED, 1} if number == signal.SIGTERM else set())

    def strike(self, case, job):
        if self.targets == "rank":
            pids = case.one_rank(job)
        else:
            pids = [job.process.pid] if self.targets == "launcher" else list(job.processes())
        case.detail = f"{len(pids)} processes"
        job.signal(pids, self.number)


class Pause(Fault):
    name = "pause"

    def strike(self, case, job):
        chosen = case.one_rank(job)
        seconds = case.chance.uniform(0.1, 3)
        case.detail = f"{seconds:.1f} s"
        job.signal(chosen, signal.SIGSTOP)
        time.sleep(seconds)
        job.signal(chosen, signal.SIGCONT)


class FileError(Fault):
    statuses = {COMPLETE, DISK}

    def __init__(self, calls, errors):
        self.name, self.calls, self.errors = f"{calls}-error", calls, errors

    def prepare(self, case):
        self.switch = os.path.join(case.folder, "broken")
        error = case.chance.choice(self.errors)
        image = os.path.join(case.inputs, case.study.image)
        file = case.chance.choice([image, case.out]) if self.calls == "read" else case.out
        count, rank = case.chance.choice(["1", ""]), case.chance.choice([str(int(case.choice * case.ranks)), ""])
        rank = rank if case.ranks > 1 else ""
        times = "once" if count else "from then on"
        case.detail = f"{errno.errorcode[error]} {os.path.basename(file)} {times} rank {rank or 'all'}"
        return {"LD_PRELOAD": case.faults_library, "VOXHERD_FAULT_FILE": file.replace(".h5", "."),
                "VOXHERD_FAULT_CALLS": self.calls, "VOXHERD_FAULT_BEGIN": self.switch, "VOXHERD_FAULT_ERRNO": str(error),
                "VOXHERD_FAULT_COUNT": count, "VOXHERD_FAULT_RANK": rank}

    def strike(self, case, job):
        open(self.switch, "w").close()


class FullDisk(Fault):
    name, statuses, root = "full-disk", {COMPLETE, DISK}, True

    def prepare(self, case):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", case.results], check=True)
        self.filler = os.path.join(case.results, "filler")
        return {}

    def strike(self, case, job):
        with open(self.filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass

    def remove(self, case):
        os.remove(self.filler)


def places(path):
    """Ranges of bytes of an unfinished result, by what they hold; only one if h5py is missing or cannot read it."""
    size = os.path.getsize(path)
    found = {"any": [(0, size)]}
    if h5py is None or size == 0:
        return found

    def note(name, thing):
        if isinstance(thing, h5py.Dataset) and thing.id.get_offset() is not None and thing.nbytes > 0:
            kind = "journal" if name.startswith("journal") else "data"
            found.setdefault(kind, []).append((thing.id.get_offset(), thing.nbytes))

    try:
        with h5py.File(path, "r") as file:
            file.visititems(note)
        first = min((at for kind in ("journal", "data") for at, _ in found.get(kind, [])), default=size)
        found["metadata"] = [(0, first)]
    except (OSError, RuntimeError):
        pass
    return found


class Damage(Fault):
    """The job is killed, then bits of an unfinished file are flipped."""

    name, may_refuse = "damage", True
    statuses = {COMPLETE, 137, USAGE, BAD_DATA}

    def strike(self, case, job):
        job.signal(job.processes(), signal.SIGKILL)

    def remove(self, case):
        unfinished = sorted(name for name in os.listdir(case.results) if name.endswith(".part"))
        if not unfinished:
            case.detail = "no file yet"
            return
        path = os.path.join(case.results, case.chance.choice(unfinished))
        by_kind = places(path)
        kind = case.chance.choice(sorted(by_kind))
        bits = case.chance.choice([1, 8])
        case.detail = f"{bits} bits of {kind} in {os.path.basename(path)}"
        with open(path, "r+b") as file:
            for _ in range(bits):
                at, size = case.chance.choice(by_kind[kind])
                if size == 0:
                    continue
                place = at + case.chance.randrange(size)
                file.seek(place)
                byte = file.read(1)[0] ^ (1 << case.chance.randrange(8))
                file.seek(place)
                file.write(bytes([byte]))


class SecondJob(Fault):
    name, statuses = "second-job", {COMPLETE, USAGE}

    def strike(self, case, job):
        option = case.chance.choice(["", "--resume", "--overwrite"])
        ranks = case.chance.choice([1, 3])
        self.second = Job(ranks, case.command(*[option] * bool(option)), os.path.join(case.folder, "second.log"))
        case.detail = f"{option or 'no option'}, {ranks} ranks"

    def remove(self, case):
        case.finish(self.second, "the second job")
        case.detail += f", status {self.second.status}"
        case.others.append(self.second)
        if COMPLETE not in (self.second.status, case.status):
            case.complain("lost", "neither of two jobs ended with status 0: " + self.second.output())


class ReplacedInput(Fault):
    name, may_refuse, statuses = "replaced-input", True, {COMPLETE, USAGE, BAD_DATA, DISK}

    def prepare(self, case):
        case.own_inputs()
        return {}

    def strike(self, case, job):
        change_image(os.path.join(case.inputs, case.study.image))

    def remove(self, case):
        case.restore_inputs()


class DeviceMemory(Fault):
    """One allocation of device memory fails on each rank (tests/run/tools/device_faults.cpp)."""

    name, statuses = "device-memory", {COMPLETE, DEVICE}

    def prepare(self, case):
        case.program = case.device_faults
        number = case.chance.randrange(1, 20)
        case.detail = f"allocation {number}"
        return {"VOXHERD_DEVICE_FAULT": "allocation", "VOXHERD_DEVICE_FAULT_CALL": str(number),
                "VOXHERD_DEVICE_FAULT_LOG": os.path.join(case.folder, "failed")}

    def remove(self, case):
        case.program = case.studies.program
        if not os.path.exists(os.path.join(case.folder, "failed")):
            case.detail += " (late)"


def kinds(are_inputs):
    """Bad inputs, or faults of runs, in the order in which they take turns."""
    if are_inputs:
        return [*input_kinds(), Names(), ViewRequest(), *changed_kinds(), WriteError(), *([HostileResult()] if h5py else [])]
    kill, term = signal.SIGKILL, signal.SIGTERM
    return [Signal("kill-rank", kill, "rank"), FileError("write", [errno.ENOSPC, errno.EDQUOT, errno.EIO]), Damage(),
            Signal("terminate-rank", term, "rank"), Pause(), FullDisk(), SecondJob(), Signal("kill-launcher", kill, "launcher"),
            ReplacedInput(), FileError("read", [errno.EIO]), Signal("kill-all", kill, "all"),
            Signal("terminate-launcher", term, "launcher"), Signal("terminate-all", term, "all"), DeviceMemory()]
