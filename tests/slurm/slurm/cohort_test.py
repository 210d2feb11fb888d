"""A cohort as a job array with the project's script: one subject per task, many tasks per node, one invalid subject."""
import json
import os
import shutil
import signal
import subprocess
import unittest

from cluster_jobs import VOXHERD, ClusterJobs, call, digest, study, summary
from cluster import wait_until

BAD_DATA = 65
SCRIPT = "slurm/cohort.sbatch"
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


if __name__ == "__main__":
    unittest.main()
