"""One fault: a run that it strikes, the checks after it, the resumed run, and the verdict."""
import os
import shutil
import subprocess

from processes import HANG_SECONDS, Job
from studies import finished_batches, resumed_batches

# done: no harm. launcher: mpirun itself hangs or crashes after all ranks have ended, defects of Open MPI 4.1.4.
# message: it names no file.
# status: ended with a status that is not documented for this, or left files. lost: finished work or a file of the user is
# gone, or the run cannot be completed. wrong: other bytes. A case gets the last that applies.
VERDICTS = ["done", "launcher", "message", "status", "lost", "wrong", "crashed", "hung"]
HARMLESS = {"done", "launcher"}
CRASHES = {128 + n for n in (4, 6, 7, 8, 11)} | {70}
CRASH_WORDS = ("*** Process received signal", "terminate called", "Segmentation fault", "buffer overflow detected")


class Judged:
    """A case with complaints. It has a line for the output and one for the table (`row`)."""

    was_late = False

    def __init__(self, number, chance, fault):
        self.number, self.chance, self.fault = number, chance, fault
        self.status, self.seconds, self.detail, self.complaints = None, 0, "", []

    def __str__(self):
        text = f"{self.title()}: status {self.status}, {self.verdict} ({self.detail})"
        return "\n".join([text, *(f"     {verdict}: {words}" for verdict, words in self.complaints)])

    def title(self):
        return f"{self.number:4} {self.fault.name:<18}"

    def row(self):
        return {"number": self.number, "kind": self.fault.name, "status": self.status, "verdict": self.verdict, "detail": self.detail}

    @property
    def verdict(self):
        return max((verdict for verdict, _ in self.complaints), key=VERDICTS.index, default="done")

    def complain(self, verdict, words):
        self.complaints.append((verdict, words))

    def check_crash(self, shown):
        if self.status in CRASHES or any(words in shown for words in CRASH_WORDS):
            self.complain("crashed", f"status {self.status}: {shown}")


class Case(Judged):
    def __init__(self, number, chance, fault, setup):
        super().__init__(number, chance, fault)
        studies, tools = setup.studies, setup.tools
        self.studies = studies
        self.study = chance.choice(setup.analyses)
        self.ranks = chance.choice([1, 3, 3])
        self.resume_ranks = chance.choice([n for n in (1, 2, 3) if n != self.ranks])
        self.fraction, self.choice = chance.random(), chance.random()
        self.folder = os.path.join(studies.folder, f"case{number}")
        self.results = os.path.join(self.folder, "results")
        self.out = os.path.join(self.results, "out.h5")
        self.inputs = studies.inputs
        self.program, self.device_faults = studies.program, os.path.abspath(os.path.join(tools, "device_faults"))
        self.faults_library = os.path.abspath(os.path.join(tools, "file_faults.so"))
        self.others = []

    def title(self):
        return (f"{super().title()} {self.study.name:<10} {self.ranks} ranks, then {self.resume_ranks}, at "
                f"{self.fraction:.2f}{' (late)' if self.was_late else ''}")

    def row(self):
        return {**super().row(), "analysis": self.study.name, "ranks": self.ranks, "resumed on": self.resume_ranks,
                "fraction": f"{self.fraction:.3f}", "late": int(self.was_late), "seconds": f"{self.seconds:.1f}"}

    def command(self, *options):
        words = self.studies.command(self.study, self.inputs, self.out, *options)
        return [self.program, *words[1:]]

    def one_rank(self, job):
        """The process of one rank, as a list; empty if the job has ended."""
        ranks = job.wait_for_ranks()
        return [ranks[int(self.choice * len(ranks))]] if ranks else []

    def own_inputs(self):
        """Inputs that this case may change."""
        self.inputs = os.path.join(self.folder, "inputs")
        shutil.copytree(self.studies.inputs, self.inputs)

    def restore_inputs(self):
        """The same content again, in the same file."""
        with open(os.path.join(self.studies.inputs, self.study.image), "rb") as good:
            with open(os.path.join(self.inputs, self.study.image), "r+b") as file:
                file.write(good.read())
                file.truncate()

    def run(self):
        self.studies.prepare(self.study, self.ranks)
        os.makedirs(self.results)
        environment = self.fault.prepare(self)
        self.bystanders = self.make_bystanders()
        try:
            job = self.run_with_fault(environment)
            self.check_ending("the run with the fault", job, self.fault.statuses)
            for other in self.others:
                self.check_ending("another job", other, self.fault.statuses)
            self.check_results()
            self.resume()
            self.check_files()
        finally:
            if self.fault.root:
                subprocess.run(["umount", "--lazy", self.results])
        if not self.complaints:
            shutil.rmtree(self.folder)

    def make_bystanders(self):
        """Files of the user in the folder of the result."""
        content = {"notes.txt": b"precious", "out.h5.bak": b"an older result", "out.csv": b"1,2,3\n"}
        for name, text in content.items():
            with open(os.path.join(self.results, name), "wb") as file:
                file.write(text)
        return content

    def run_with_fault(self, environment):
        usual = self.study.seconds[self.ranks]
        job = Job(self.ranks, self.command(), os.path.join(self.folder, "log"), environment)
        job.wait_until(self.fraction, usual)
        self.was_late = not job.processes()
        if self.was_late:  # the machine is less busy than before
            self.study.seconds[self.ranks] = 0.8 * usual
        self.fault.strike(self, job)
        self.finish(job, "the run with the fault")
        self.status, self.seconds = job.status, (job.ended or job.started + HANG_SECONDS) - job.started
        self.fault.remove(self)
        return job

    def finish(self, job, who):
        stuck = job.finish(HANG_SECONDS)
        if stuck:
            self.complain(stuck[0], f"{who}: {stuck[1]}")

    def check_ending(self, who, job, expected):
        status, output = job.status, job.output()
        if job.launcher_crashed():
            self.complain("launcher", f"{who}: status {status}: {output}")
        elif status in CRASHES or any(words in output for words in CRASH_WORDS):
            self.complain("crashed", f"{who}: status {status}: {output}")
        elif status not in expected and self.verdict not in ("hung", "launcher"):
            self.complain("status", f"{who}: status {status}: {output}")

    def check_results(self):
        """A result with its final name is complete, even if the run failed after that."""
        if os.path.exists(self.out):
            self.compare("after the fault", self.may_have_other_input())
        elif self.status == 0:
            self.complain("lost", "status 0 without a result")

    def may_have_other_input(self):
        return self.fault.name == "replaced-input"

    def compare(self, when, other_input=False):
        wrong = self.studies.difference(self.study, self.out, self.study.reference)
        if wrong and other_input:
            changed = self.studies.difference(self.study, self.out, self.studies.changed_reference(self.study))
            wrong = changed and f"{wrong}; and {changed}"
        if wrong:
            self.complain("wrong", f"{when}: {wrong}")

    def resume(self):
        finished = finished_batches(self.study, self.out)
        status, output = self.continue_with("--resume")
        if status != 0 and self.fault.may_refuse and status in self.fault.statuses:
            self.detail += f", refused with {status}"
            status, output = self.continue_with("--overwrite")
        if status != 0:
            self.complain("lost", f"it cannot be completed: status {status}: {output}")
            return
        self.compare("after resuming")
        if finished and not self.fault.may_refuse and resumed_batches(self.out) < finished:
            self.complain("lost", f"{finished} batches were finished, {resumed_batches(self.out)} were kept")

    def continue_with(self, option):
        job = Job(self.resume_ranks, self.command(option), os.path.join(self.folder, f"log{option}"))
        self.finish(job, f"the run with {option}")
        self.check_ending(f"the run with {option}", job, {job.status})
        return job.status, job.output()

    def check_files(self):
        for name, text in self.bystanders.items():
            path = os.path.join(self.results, name)
            content = open(path, "rb").read() if os.path.exists(path) else b""
            if content != text:
                self.complain("lost", f"{name} of the user has changed")
        known = {*self.bystanders, *(os.path.basename(path) for path in self.study.results(self.out))}
        left = sorted(set(os.listdir(self.results)) - known)
        if left and not self.complaints:
            self.complain("status", f"files are left: {', '.join(left)}")
