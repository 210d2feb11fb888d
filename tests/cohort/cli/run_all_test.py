"""voxherd cohort --run-all: all subjects in one allocation, several at a time, stopped, killed, shared by two processes, on
simulated GPUs, and what they cost."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from cohort_jobs import ENVIRONMENT, LONG, ON_ONE_CORE, VOXHERD, CohortFolder, call, series
from result_files import batches_done, digest, summary

TOOLS = os.environ.get("VOXHERD_TEST_TOOLS", "")
SIMULATED = os.path.join(TOOLS, "simulated_gpus")
TWO_AT_A_TIME = ("--run-all", "--per-node", "2")


def events(messages):
    """What happened to which subject, in order: [("started", "s1"), ...]."""
    return re.findall(r"subject (\S+): (started|complete|failed|stopped)", messages)


def largest_number_running(messages):
    running = largest = 0
    for _, what in events(messages):
        running += 1 if what == "started" else -1
        largest = max(largest, running)
    return largest


def subjects_of(pid):
    """The processes that compute; MPI may start others."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()
                if os.readlink(f"/proc/{child}/exe") == os.path.realpath(VOXHERD)]


class RunAll(CohortFolder):
    digests = {}  # of an analysis of one subject: all subjects of all tests are copies of the same phantom

    def setUp(self):
        super().setUp()
        self.phantom("s1", "s2", "s3", "s4")

    def manifest(self, analysis, *names):
        self.write("cohort.tsv", "subject\tout\tcommand",
                   *(f"{name}\tout/{name}.h5\t{analysis} {series(name)} --backend cpu" for name in names))

    def run_all(self, *options, expect=0):
        done = call(self.folder, "cohort", "cohort.tsv", *TWO_AT_A_TIME, *options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def start(self):
        """A process that computes all subjects, and a function that waits for it and returns its messages."""
        job = subprocess.Popen([VOXHERD, "cohort", "cohort.tsv", *TWO_AT_A_TIME], cwd=self.folder, env=ENVIRONMENT,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def start_and_wait_for_batches(self):
        """Once the first two subjects have finished batches."""
        job = self.start()
        while any(batches_done(self.path(f"out/{name}.h5.part")) < 2 for name in ("s1", "s2")):
            self.assertIsNone(job.poll(), "the subjects were too short to be stopped")
            time.sleep(0.02)
        return job

    def assert_as_alone(self, analysis, *names):
        if analysis not in self.digests:
            alone = f"{analysis} {series(names[0])} {ON_ONE_CORE} --out alone.h5"
            self.assertEqual(call(self.folder, *alone.split()).returncode, 0)
            self.digests[analysis] = digest(self.path("alone.h5"))
        for name in names:
            self.assertEqual(digest(self.path(f"out/{name}.h5")), self.digests[analysis], name)

    def test_two_subjects_at_a_time_and_a_failed_one_does_not_stop_the_others(self):
        self.write("s2/bvals", "0 1000 1000")
        self.manifest("tensor", "s1", "s2", "s3", "s4")
        messages = self.run_all(expect=65)
        self.assertEqual(largest_number_running(messages), 2, messages)
        self.assertEqual([what for _, what in events(messages)][:2], ["started", "started"])
        failed = re.search(r"error: subject s2: failed with status 65: (.*); its messages are in out/s2.h5.log\n", messages)
        self.assertIn("s2/bvals", failed[1])
        with open(self.path("out/s2.h5.log"), encoding="utf-8") as log:
            self.assertIn(failed[1], log.read())
        self.assertIn("3 of 4 subjects complete, 1 failed; ", messages)
        self.assertIn(" subjects per hour; ", messages)
        self.assertEqual([s["state"] for s in self.table()["subjects"].values()],
                         ["complete", "failed", "complete", "complete"])
        self.assert_as_alone("tensor", "s1", "s3", "s4")

    def test_a_subject_that_would_fail_again_is_not_tried_again_and_named(self):
        self.write("s2/bvals", "0 1000 1000")
        self.manifest("tensor", "s1", "s2")
        self.run_all(expect=65)
        messages = self.run_all(expect=65)
        self.assertEqual(events(messages), [])
        self.assertRegex(messages, r"subject s2 is not tried again: it failed with status 65: .*s2/bvals.*; .* with --run 2\n")

    def test_links_that_have_the_names_of_kept_files_are_not_followed(self):
        self.manifest("tensor", "s1", "s2")
        os.makedirs(self.path("out"), exist_ok=True)
        self.write("precious", "precious")
        for name in ("s1.h5.cost.json", "s1.h5.task.json", "s2.h5.log"):
            os.symlink("../precious", self.path(f"out/{name}"))
        messages = self.run_all(expect=2)
        self.assertIn("s2.h5.log is a symbolic link", messages)
        self.assertEqual([s["state"] for s in self.table()["subjects"].values()], ["complete", "not started"])
        with open(self.path("precious"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious\n")

    def test_nothing_is_done_if_all_are_complete(self):
        self.manifest("tensor", "s1")
        self.run_all()
        before = os.stat(self.path("out/s1.h5"))
        self.assertIn("all subjects are complete", self.run_all())
        after = os.stat(self.path("out/s1.h5"))
        self.assertEqual((after.st_ino, after.st_mtime_ns), (before.st_ino, before.st_mtime_ns))

    def test_a_stopped_cohort_exits_with_75_and_the_same_command_completes_it_with_the_same_bytes(self):
        self.manifest(LONG, "s1", "s2", "s3")
        job = self.start_and_wait_for_batches()
        job.send_signal(signal.SIGTERM)
        messages = job.communicate(timeout=120)[1]
        self.assertEqual(job.returncode, 75, messages)
        self.assertIn("stopping on signal SIGTERM; finished batches are kept, the same command continues", messages)
        self.assertIn("2 stopped, 1 not started", messages)
        stopped = self.table()
        self.assertEqual([s["state"] for s in stopped["subjects"].values()], ["partial", "partial", "not started"])
        self.run_all()
        self.assertGreaterEqual(summary(self.path("out/s1.h5"))["resumed_batches"], 2)
        self.assert_as_alone(LONG, "s1", "s2", "s3")
        for name, subject in self.table()["subjects"].items():
            self.assertGreater(subject["core_hours"], stopped["subjects"][name]["core_hours"])

    def test_the_subjects_end_with_a_killed_parent_and_are_resumed(self):
        self.manifest(LONG, "s1", "s2")
        job = self.start_and_wait_for_batches()
        subjects = subjects_of(job.pid)
        self.assertEqual(len(subjects), 2)
        job.kill()
        job.wait()
        while any(os.path.exists(f"/proc/{pid}") for pid in subjects):
            time.sleep(0.02)
        self.assertEqual([s["state"] for s in self.table()["subjects"].values()], ["partial", "partial"])
        self.run_all()
        self.assert_as_alone(LONG, "s1", "s2")

    def test_a_killed_subject_counts_as_stopped_and_is_resumed(self):
        self.manifest(LONG, "s1", "s2")
        job = self.start_and_wait_for_batches()
        os.kill(subjects_of(job.pid)[0], signal.SIGKILL)
        messages = job.communicate(timeout=300)[1]
        self.assertEqual(job.returncode, 75, messages)
        self.assertRegex(messages, r"subject s[12]: failed with status 75: killed by signal 9, .*; the same command continues it")
        self.assertIn("1 of 2 subjects complete, 1 failed", messages)
        self.run_all()
        self.assertEqual(self.table()["counts"]["complete"], 2)

    def test_two_processes_share_the_subjects(self):
        self.manifest("tensor --batch 16", "s1", "s2", "s3", "s4")
        jobs = [self.start(), self.start()]
        messages = [job.communicate(timeout=300)[1] for job in jobs]
        self.assertEqual([job.returncode for job in jobs], [0, 0], messages)
        self.assertEqual(sorted(name for name, what in events("".join(messages)) if what == "complete"),
                         ["s1", "s2", "s3", "s4"], messages)
        self.assert_as_alone("tensor --batch 16", "s1", "s2", "s3", "s4")

    def test_a_subject_that_an_array_task_computes_is_left_to_it(self):
        self.manifest(LONG, "s1")
        task = subprocess.Popen([VOXHERD, "cohort", "cohort.tsv", "--run", "1", "--more", "--threads 1"], cwd=self.folder,
                                env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        self.addCleanup(task.wait)
        self.addCleanup(task.kill)
        while batches_done(self.path("out/s1.h5.part")) < 1:
            self.assertIsNone(task.poll())
            time.sleep(0.02)
        self.assertEqual(events(self.run_all()), [])
        self.assertEqual(task.wait(timeout=300), 0)

    def test_the_options_of_more_and_of_the_template_reach_the_subjects(self):
        self.write("cohort.tsv", "subject\tout", "s1\tout/s1.h5")
        template = "tensor --dwi '{subject}/data.nii.gz' --bvals {subject}/bvals --bvecs {subject}/bvecs"
        self.run_all("--template", template, "--more", "--backend cpu --threads 1 --fit ols")
        with open(self.path("out/s1.h5.log"), encoding="utf-8") as log:
            self.assertIn("--backend cpu --threads 1 --fit ols", log.read())

    def test_several_processes_on_one_node_are_rejected(self):
        self.manifest("tensor", "s1")
        done = call(self.folder, "cohort", "cohort.tsv", "--run-all", ranks=2)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--run-all: 2 processes on one node", done.stderr)

    def test_options_of_another_form_are_rejected(self):
        self.manifest("tensor", "s1")
        for words in (("--run-all", "--run", "1"), ("--run-all", "--json", "x"), ("--per-gpu", "2"), ("--per-node", "2")):
            self.assertEqual(call(self.folder, "cohort", "cohort.tsv", *words).returncode, 2, words)


@unittest.skipUnless(os.path.exists(SIMULATED), "SKIPPED: simulated_gpus is not built")
class Gpus(CohortFolder):
    def run_all(self, *options, **variables):
        environment = {k: v for k, v in ENVIRONMENT.items() if k != "CUDA_VISIBLE_DEVICES"}
        done = subprocess.run([SIMULATED, "cohort", "cohort.tsv", "--run-all", *options], capture_output=True, text=True,
                              timeout=300, cwd=self.folder, env={**environment, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def manifest(self, command, count):
        self.names = [f"s{i}" for i in range(count)]
        self.write("cohort.tsv", "subject\tout\tcommand", *(f"{name}\tout/{name}.h5\t{command}" for name in self.names))

    def choices(self):
        """Of each subject the GPU, how many it saw, and its threads; as simulated_gpus writes them."""
        for name in self.names:
            with open(self.path(f"out/{name}.h5"), encoding="utf-8") as file:
                yield file.read().split()[2:]

    def test_each_subject_sees_one_gpu_and_its_share_of_the_cores(self):
        self.manifest("ballstick --backend cuda", 6)
        messages = self.run_all(CUDA_VISIBLE_DEVICES="3,1")
        started = dict(re.findall(r"subject (\S+): started on GPU (\d)", messages))
        threads = max(1, len(os.sched_getaffinity(0)) // 4)
        self.assertEqual(list(self.choices()), [[started[name], "1", str(threads)] for name in self.names])
        self.assertEqual([started[name] for name in self.names[:2]], ["3", "1"])
        self.assertLessEqual(largest_number_running(messages), 4)

    def test_one_subject_at_a_time_on_each_gpu(self):
        self.manifest("ballstick --backend cuda", 5)
        messages = self.run_all("--per-gpu", "1", VOXHERD_TEST_GPUS="2")
        self.assertEqual(largest_number_running(messages), 2)
        self.assertEqual(sorted(re.findall(r"started on GPU (\d)", messages)[:2]), ["0", "1"])

    def test_subjects_for_cores_take_no_gpu(self):
        self.manifest("ballstick --backend cpu", 2)
        self.assertNotIn("GPU 0", self.run_all(VOXHERD_TEST_GPUS="2"))
        self.assertEqual({choice[0] for choice in self.choices()}, {"cpu"})

    def test_the_energy_of_the_gpus_is_divided_among_the_subjects(self):
        self.manifest("toy --slowest-ms 20", 3)
        os.symlink(os.path.join(os.path.abspath(TOOLS), "fake_nvml.so"), self.path("libnvidia-ml.so.1"))
        messages = self.run_all(VOXHERD_TEST_GPUS="1", LD_LIBRARY_PATH=self.folder,
                                VOXHERD_TEST_ENERGY=self.path("readings"))
        with open(self.path("readings"), encoding="utf-8") as file:
            joules = [int(line.split()[1]) / 1000 for line in file]
        self.assertEqual(largest_number_running(messages), 2)
        table = self.table(program=SIMULATED)  # which has the command
        # The GPU had subjects from the second reading, before the first of them started, to the last one.
        self.assertAlmostEqual(table["energy_wh"] * 3600, joules[-1] - joules[1], places=9)
        self.assertIn("10.0 % busy", messages)
        for subject in table["subjects"].values():
            self.assertEqual(subject["state"], "complete")
            self.assertGreater(subject["energy_wh"], 0)
            self.assertGreater(subject["gpu_hours"], 0)
            self.assertEqual(subject["core_hours"], 0)
            self.assertAlmostEqual(subject["busy_gpu_hours"], 0.1 * subject["metered_gpu_hours"], places=12)
        shown = call(self.folder, "cohort", "cohort.tsv", program=SIMULATED).stdout
        self.assertRegex(shown, r"(?m)^ task  subject  status +GPU h +Wh +done  detail$")
        self.assertRegex(shown, r"so far .* GPU hours \(10\.0 % busy\), 0 CPU core hours, .* Wh; .* subjects per GPU hour\n")

    def test_without_nvml_energy_is_left_out(self):
        self.manifest("toy", 1)
        self.assertNotIn("Wh", self.run_all(VOXHERD_TEST_GPUS="1"))
        with open(self.path("out/s0.h5.cost.json"), encoding="utf-8") as file:
            cost = json.load(file)
        self.assertGreater(cost["gpu_hours"], 0)
        self.assertEqual((cost["energy_wh"], cost["metered_gpu_hours"]), (0, 0))


if __name__ == "__main__":
    unittest.main()
