"""One command with bad inputs or outputs, and the verdict on what it does."""
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import time

from cases import Judged
from commands import MAKERS, Word, command_line
from hostile_files import ODD_NAMES, PLACES, changes, kind_of, spellings
from mesh_inputs import CIFTI_ARGUMENTS, MESH_MAKERS
from processes import HANG_SECONDS

MAX_GB = 3
USUAL = {0, 2, 65, 66, 74}
# Texts of exceptions that nobody has put into words.
ALL_MAKERS = {**MAKERS, **MESH_MAKERS}
RAW = re.compile(r"filesystem error|basic_|std::|json\.exception|regex|\bsto[ild]\b|vector::|bad_|invalid_argument|Boost|HDF5-DIAG")


def digest(path):
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        return "link to " + os.readlink(path)
    if not stat.S_ISREG(found.st_mode):
        return "no file"
    with open(path, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()


def snapshot(folder):
    """Digest of each file and link below a folder, by its name."""
    return {os.path.relpath(os.path.join(at, name), folder): digest(os.path.join(at, name))
            for at, folders, names in os.walk(folder) for name in names + [f for f in folders if os.path.islink(os.path.join(at, f))]}


def files_of(path):
    """An input's file, or the files of its folder."""
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(at, name) for at, _, names in os.walk(path) for name in names)


class InputCase(Judged):
    """Some changes to the inputs, outputs and files of one command. `kind.commands` is one of ALL_MAKERS."""

    def __init__(self, number, chance, fault, setup):
        super().__init__(number, chance, fault)
        self.inputs = setup.inputs
        self.top = os.path.join(setup.folder, f"case{number}")
        self.folder = os.path.join(self.top, "work")
        self.command = chance.choice(fault.make_commands())
        self.words = list(self.command.words)
        self.noticed = self.is_changed = self.is_vague = False
        self.named, self.may_replace = set(), set()

    def title(self):
        return f"{self.number:4} {self.fault.name:<18} {self.words[0].text}"

    def run(self):
        shutil.copytree(self.inputs.folder, self.folder, symlinks=True)
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            self.change()
            self.before = snapshot(self.folder)
            self.start()
            self.judge()
        finally:
            os.chdir(here)
        if not self.complaints:
            shutil.rmtree(self.top)

    # The changes

    def change(self):
        ways = [self.damage_input, self.damage_input, self.damage_input, self.rename_input, self.change_output, self.change_output,
                self.put_in_the_way, *self.fault.own_changes(self)]
        for _ in range(self.chance.choice([1, 1, 1, 2])):
            self.chance.choice(ways)()
        if self.command.overwrite and self.chance.random() < 0.3:
            self.words.append(Word(self.command.overwrite, ""))
            self.note(self.command.overwrite)
            outs = tuple(w.text for w in self.words if w.role == "output")
            self.may_replace |= {os.path.realpath(out) for out in outs}
            # An export replaces a link itself, and so does a report whose name was not given.
            links = outs if self.words[0].text == "export" else ["tensor.report.html"] if self.words[0].text == "report" and not outs else []
            self.may_replace |= {os.path.abspath(out) for out in links}
            # What a run keeps next to its result: OUT.part, OUT.groups.
            self.may_replace |= {os.path.abspath(name) for name in os.listdir(".") if name.startswith(tuple(os.path.normpath(out) + "." for out in outs))}
            # A page's file of numbers; a link with its name is replaced itself.
            self.may_replace |= {os.path.abspath(os.path.splitext(w.text)[0] + ".json") for w in self.words if w.role == "output"}

    def note(self, text, *named):
        self.detail += (", " if self.detail else "") + text
        self.named |= set(named)

    def choose(self, role):
        """A word, by its place; None if there is none with this role."""
        places = [i for i, w in enumerate(self.words) if w.role == role and w.text]
        return self.chance.choice(places) if places else None

    def damage_input(self):
        paths = [w.text for w in self.words if w.role == "input"] + list(self.command.more_inputs)
        top = self.chance.choice(sorted(paths))
        path = self.chance.choice(files_of(top) or [top]) if self.chance.random() < 0.9 else top
        if not os.path.isfile(path) and not os.path.isdir(path):
            return
        change = self.chance.choice(PLACES if os.path.isdir(path) else changes(path))
        noticed = change(self.chance, path)
        # A file of a folder may be left out, as the mask of a tract.
        self.noticed = self.noticed or (noticed and (path == top or change not in PLACES))
        self.is_vague = self.is_vague or not noticed  # a number that is wrong elsewhere
        self.note(f"{path}: {change.__name__.replace('_', ' ')}", *self.names_of(path), *self.names_of(top))

    def names_of(self, path):
        """What a message may call it."""
        own = os.path.basename(path)
        options = {w.option.strip("=") for w in self.words if w.role and path.startswith(w.text) and w.option}
        return {own, own.split(".")[0], *options, os.path.basename(os.path.dirname(path)) or own}

    def rename_input(self):
        place = self.choose("input")
        if place is None or not os.path.exists(self.words[place].text):
            return
        kind, name = spellings(self.chance, self.words[place].text)
        old = self.words[place]
        self.words[place] = old._replace(text=name)
        self.note(f"{old.text}: {kind}", *self.names_of(name), *self.names_of(old.text))

    def change_output(self):
        place = self.choose("output")
        if place is None:
            return
        old = self.words[place]
        name = self.chance.choice([self.same_as_input, self.same_as_input, self.link, self.nonsense, self.nonsense, self.other_output])()
        self.words[place] = old._replace(text=name)
        self.is_changed = True
        self.note(f"{old.option}{old.text} is {ascii(name[:60])}", old.option.strip("="), name[:30], *self.names_of(name))

    def same_as_input(self):
        path = self.chance.choice(sorted(w.text for w in self.words if w.role == "input"))
        path = self.chance.choice([p for p in files_of(path) if os.path.exists(p)] or ["user/notes.txt"])
        self.named |= self.names_of(path)
        return spellings(self.chance, path)[1] if self.chance.random() < 0.7 else path

    def link(self):
        target = self.chance.choice(["user/notes.txt", "user/image.h5", "user/new", "none/new", "out_link", "user", "/dev/null"])
        if not os.path.lexists("out_link"):
            os.symlink(target, "out_link")
        self.named |= self.names_of(os.readlink("out_link"))
        return "out_link"

    def nonsense(self):
        odd = self.chance.choice(ODD_NAMES)
        return self.chance.choice([odd, odd + ".h5", f"user/../{odd}", "none/x.h5", "scan/bvals/x.h5", "n" * 300, "n/" * 3000 + "x", "user", ".",
                                   "..", "user/", "/dev/full", "/dev/null", "user/notes.txt", f"{odd}/{odd}"])

    def other_output(self):
        names = [w.text for w in self.words if w.role == "output"]
        end = self.chance.choice(["", "", ".part", ".lock", ".part.new", ".groups", ".log", ".json"])
        return self.chance.choice(names) + end

    def put_in_the_way(self):
        """A file of the user with a name that the command may use."""
        outs = [w.text for w in self.words if w.role == "output"] or ["tensor.report.html"]
        end = self.chance.choice(["", "", ".part", ".groups", ".matrix1-sizes", ".streamline-sizes", ".curves.csv", ".report.html"])
        path = self.chance.choice(outs) + end
        if self.chance.random() < 0.3:
            path = os.path.splitext(path)[0] + ".json"
        if os.path.lexists(path) or not os.path.isdir(os.path.dirname(path) or ".") or len(path) > 200:
            return
        if self.chance.random() < 0.4:
            os.symlink(os.path.abspath("user/notes.txt"), path)
        else:
            shutil.copy("user/notes.txt", path)
        self.is_changed = True
        self.note(f"{path[:60]!a} exists", *self.names_of(path))

    # The run

    def start(self):
        line = [self.inputs.program, *command_line(self.words)]
        with open(os.path.join(self.top, "log"), "w+b") as log:
            job = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            self.status, usage = self.fault.wait_for(job, log, HANG_SECONDS)
            log.seek(0)
            self.output = log.read().decode("utf-8", "replace")
        if self.status is None:
            self.complain("hung", self.shown())
        if usage and usage.ru_maxrss > MAX_GB << 20:
            self.complain("status", f"it took {usage.ru_maxrss >> 20} GB")

    def shown(self):
        return f"{' '.join(ascii(w)[:200] for w in command_line(self.words))}\n{self.output[-1500:]}"

    # The verdict

    def judge(self):
        self.check_crash(self.shown())
        if self.status is None:
            return
        if self.status not in USUAL and self.verdict != "crashed":
            self.complain("status", f"status {self.status}: {self.shown()}")
        self.check_files()
        self.fault.check(self)
        if self.status != 0:
            self.check_message()
        elif self.noticed and not self.is_changed and "warning" not in self.output:
            difference = self.inputs.difference(self.folder, self.command)
            if difference:
                self.complain("wrong", f"status 0 without a warning, but {difference}: {self.shown()}")

    def check_files(self):
        after = snapshot(self.folder)
        own = self.command.own
        if own:
            own += tuple(os.path.normpath(w.text) + "/" for w in self.words if w.role == "output")
        for name, content in self.before.items():
            if after.get(name) == content or os.path.realpath(name) in self.may_replace or os.path.abspath(name) in self.may_replace:
                continue
            if not name.startswith(own):
                self.complain("lost", f"{name} was {'changed' if name in after else 'removed'}: {self.shown()}")
        new = [name for name in after if name not in self.before and not name.startswith(own)]
        if self.status == 74:  # a table may be complete when the page cannot be written
            new = [name for name in new if name not in {os.path.normpath(w.text) for w in self.words if w.role == "output"}]
        if self.status != 0 and new:
            self.complain("status", f"status {self.status} leaves {new}: {self.shown()}")
        if [name for name in after if "pwned" == os.path.basename(name)]:
            self.complain("crashed", f"a name was executed: {self.shown()}")

    def check_message(self):
        errors = [line for line in self.output.splitlines() if line.startswith("voxherd: error: ")]
        if len(errors) != 1 and not (self.command.messages and errors):
            return self.complain("message", f"{len(errors)} errors: {self.shown()}")
        text = " ".join(errors)
        if len(text) > 2100 * len(errors):
            self.complain("message", f"a message of {len(text)} characters: {text[:300]}")
        if RAW.search(text):
            self.complain("message", f"the text of an exception: {self.shown()}")
        plain = {re.sub(r"[^ -~].*", "", name, flags=re.DOTALL)[:20] for name in self.named} - {""}
        if plain and not self.is_vague and not any(name in text for name in plain):
            self.complain("message", f"names none of {sorted(plain)}: {self.shown()}")
        return None


class BadInput:
    """A kind of fault: a command with bad inputs."""

    root = False

    def __init__(self, commands):
        self.commands, self.name = commands, f"{commands}-input"

    def new_case(self, number, chance, setup):
        return InputCase(number, chance, self, setup)

    def make_commands(self):
        return ALL_MAKERS[self.commands]()

    def own_changes(self, case):
        return []

    def wait_for(self, job, log, seconds):
        """Exit status, as a shell says, and usage; (None, None) for a command that hung and was killed."""
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(job.pid, signal.SIGKILL))
        signal.alarm(seconds)
        _, status, usage = os.wait4(job.pid, 0)
        was_late = signal.alarm(0) == 0
        job.returncode = os.waitstatus_to_exitcode(status)
        return (None, None) if was_late else (job.returncode if job.returncode >= 0 else 128 - job.returncode, usage)

    def check(self, case):
        pass


class Cohort(BadInput):
    """Also tables in which two subjects have one result, however it is written."""

    def own_changes(self, case):
        return [lambda: self.repeat_result(case)] * 3

    def repeat_result(self, case):
        if not os.path.isfile("m.tsv") or kind_of("m.tsv") != "text" or "m.tsv" not in [w.text for w in case.words]:
            return
        os.makedirs("c", exist_ok=True)
        if not os.path.lexists("linked"):
            os.symlink("c", "linked")
        name = case.chance.choice(["c/a.h5", os.path.abspath("c/a.h5"), "./c/a.h5", "c//a.h5", "c/../c/a.h5", "linked/a.h5", "none/../c/a.h5",
                                   "c/a.h5.log", "c/a.h5.part", "c/a.h5.cost.json", "c/./a.h5.task.json"])
        with open("m.tsv", encoding="latin-1") as file:
            text = file.read()
        if text.count("c/b.h5") != 2:
            return
        with open("m.tsv", "w", encoding="latin-1") as file:
            file.write(text.replace("c/b.h5", name))
        case.is_repeated = True
        case.note(f"b has the result {name}", name, "m.tsv")

    def check(self, case):
        if getattr(case, "is_repeated", False) and case.status == 0:
            case.complain("wrong", f"two subjects with one result: {case.shown()}")


class Slurm(BadInput):
    """A printed script must be one, and its words must be those of the command."""

    def check(self, case):
        script = next((w.text for w in case.words if w.option == "--script"), "")
        text = case.output if not script else ""
        if script and os.path.isfile(script):
            with open(script, encoding="utf-8", errors="surrogateescape") as file:
                text = file.read()
        if case.status != 0 or not text.startswith("#!"):
            return
        done = subprocess.run(["bash", "-n"], input=text.encode("utf-8", "surrogateescape"), capture_output=True)
        if done.returncode != 0:
            case.complain("wrong", f"not a script: {done.stderr[:300]}: {case.shown()}")


class Cifti(BadInput):
    """Also options that do not fit the result or each other."""

    def own_changes(self, case):
        return [lambda: self.add_options(case)] * 5

    def add_options(self, case):
        option, *values = case.chance.choice(CIFTI_ARGUMENTS).split(" ")
        if option in [w.option for w in case.words]:
            case.words = [w for w in case.words if w.option != option]
        case.words += [Word(option, values[0] if values else ""), *(Word("", v) for v in values[1:])]
        case.is_changed = case.is_vague = True
        case.note(" ".join([option, *values]))


class ViewInput(BadInput):
    """The viewer is ended once it has printed its address."""

    def wait_for(self, job, log, seconds):
        is_ended = False
        for _ in range(seconds * 50):
            pid, status, usage = os.wait4(job.pid, os.WNOHANG)
            if pid:
                job.returncode = os.waitstatus_to_exitcode(status)
                return (job.returncode if job.returncode >= 0 else 128 - job.returncode), usage
            if not is_ended and b"#token=" in os.pread(log.fileno(), 1 << 20, 0):
                is_ended = True
                os.kill(job.pid, signal.SIGINT)
            time.sleep(0.02)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        return None, None


def input_kinds():
    own = {"cohort": Cohort, "slurm": Slurm, "view": ViewInput, "cifti": Cifti}
    return [own.get(name, BadInput)(name) for name in ALL_MAKERS]
