"""A cohort with the project's scripts: as a job array, one subject per task, and in one allocation, whose nodes share the
subjects; one subject is invalid."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from cluster_jobs import VOXHERD, ClusterJobs, call, digest, study, summary
from cluster import wait_until

BAD_DATA = 65
SCRIPT, NODE_SCRIPT = "slurm/cohort.sbatch", "slurm/cohort-node.sbatch"
OPTIONS = ("--cpus-per-task=1",)


class Cohort(ClusterJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for i in range(1, 5):
            shutil.copytree(study("subject"), study(f"s{i}"))
        with open(study("s2", "data.nii.gz"), "r+b") as file:
            file.truncate(1000)

    def manifest(self, name, analysis):
        """Subjects 1 to 4 in a manifest of this name, results in a folder of this name; subject 2 cannot be read."""
        path = study(f"{name}.tsv")
        with open(path, "w", encoding="utf-8") as file:
            print("subject", "command", "out", sep="\t", file=file)
            for i in range(1, 5):
                words = (*analysis, *self.subject(f"s{i}"), "--backend", "cpu")
                print(f"s{i}", " ".join(words), self.result(name, i), sep="\t", file=file)
        return path

    def result(self, name, i):
        return study(name, f"s{i}.h5")

    def table(self, manifest):
        subprocess.run([VOXHERD, "cohort", manifest, "--json", f"{manifest}.json", "--overwrite"], capture_output=True,
                       timeout=60, check=False)
        with open(f"{manifest}.json", encoding="utf-8") as file:
            return json.load(file)

    def submit_array(self, manifest):
        tasks = call(VOXHERD, "cohort", manifest, "--array").strip()
        self.assertEqual(tasks, "1-4")
        return self.submit(SCRIPT, manifest, options=(f"--array={tasks}", *OPTIONS))

    def state(self, job, task):
        return self.fields(f"{job}_{task}")["JobState"]

    def assert_all_but_the_second(self, manifest, job):
        states = [self.state(job, task) for task in range(1, 5)]
        self.assertEqual(states, ["COMPLETED", "FAILED", "COMPLETED", "COMPLETED"], self.job_output(job, 2))
        self.assertEqual(self.fields(f"{job}_2")["ExitCode"], f"{BAD_DATA}:0")
        self.assertIn("s2/data.nii.gz", self.job_output(job, 2))
        subjects = self.table(manifest)["subjects"]
        self.assertEqual([s["state"] for s in subjects], ["complete", "failed", "complete", "complete"])
        self.assertIn("s2/data.nii.gz", json.dumps(subjects[1]))

    def test_an_unreadable_subject_fails_with_its_reason_and_the_others_are_computed(self):
        manifest = self.manifest("tensors", ("tensor",))
        job = self.submit_array(manifest)
        self.wait_for_end(job)
        self.assert_all_but_the_second(manifest, job)
        call(VOXHERD, "tensor", *self.subject(), "--backend", "cpu", "--out", study("tensor.h5"))
        for i in (1, 3, 4):
            self.assertEqual(digest(self.result("tensors", i)), digest(study("tensor.h5")))

    def test_only_the_stopped_task_is_requeued(self):
        manifest = self.manifest("fibres", ("ballstick", "--config", self.config))
        job = self.submit_array(manifest)
        # The last task: SLURM gives it the ID of the array.
        last = self.result("fibres", 4)
        self.wait_for_batches(last, 4)
        frozen = [pid for _, pid in self.ranks(job)]
        self.assertEqual(len(frozen), 1)
        os.kill(frozen[0], signal.SIGSTOP)
        # All other tasks have ended, so only this one can be stopped.
        wait_until("the end of the other tasks", lambda: self.states(job).count("RUNNING") == 1)
        call("scancel", "--signal=USR1", f"{job}_4")
        os.kill(frozen[0], signal.SIGCONT)
        self.wait_for_end(job)
        self.assert_all_but_the_second(manifest, job)
        self.assertEqual([self.fields(f"{job}_{task}")["Restarts"] for task in range(1, 5)], ["0", "0", "0", "1"])
        self.assertGreaterEqual(summary(last)["resumed_batches"], 4)
        for i in (1, 3, 4):
            self.assertEqual(digest(self.result("fibres", i)), self.expected())

    def submit_nodes(self, manifest):
        return self.submit(NODE_SCRIPT, manifest, options=("--nodes=2", "--cpus-per-task=1"))

    def assert_all_but_the_second_on_nodes(self, manifest, job):
        self.assertEqual(self.wait_for_end(job), "FAILED", self.job_output(job))
        self.assertEqual(self.fields(job)["ExitCode"], f"{BAD_DATA}:0", self.job_output(job))
        self.assertEqual([s["state"] for s in self.table(manifest)["subjects"]],
                         ["complete", "failed", "complete", "complete"], self.job_output(job))

    def test_the_nodes_of_one_job_share_the_subjects(self):
        manifest = self.manifest("shared", ("tensor",))
        job = self.submit_nodes(manifest)
        self.assert_all_but_the_second_on_nodes(manifest, job)
        messages = self.job_output(job)
        for i, end in enumerate(("complete", "failed", "complete", "complete"), 1):
            self.assertEqual(len(re.findall(rf"subject s{i}: {end}", messages)), 1, messages)
        self.assertEqual(set(re.findall(r"info: (\w+): subject s\d: started", messages)), {"n1", "n2"}, messages)
        call(VOXHERD, "tensor", *self.subject(), "--backend", "cpu", "--overwrite", "--out", study("tensor.h5"))
        for i in (1, 3, 4):
            self.assertEqual(digest(self.result("shared", i)), digest(study("tensor.h5")))

    def test_a_stopped_job_is_requeued_and_continues_its_subjects(self):
        manifest = self.manifest("continued", ("ballstick", "--config", self.config))
        job = self.submit_nodes(manifest)
        self.wait_for_batches(self.result("continued", 1), 2)
        call("scancel", "--signal=USR1", job)
        # The subject that failed before the signal is not tried again.
        self.assert_all_but_the_second_on_nodes(manifest, job)
        self.assertEqual(self.fields(job)["Restarts"], "1", self.job_output(job))
        self.assertGreaterEqual(summary(self.result("continued", 1))["resumed_batches"], 2)
        for i in (1, 3, 4):
            self.assertEqual(digest(self.result("continued", i)), self.expected())


if __name__ == "__main__":
    unittest.main()
