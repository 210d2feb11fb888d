"""Tasks that srun starts without PMI do not know each other: one clear message instead of several runs that write one result. What is
one process in a job is not affected."""
import os
import subprocess
import unittest

from cluster_jobs import VOXHERD, ClusterJobs, study
from result_files import digest

USAGE, STOPPED = 2, 75


class TasksWithoutPmi(ClusterJobs):
    def words(self, out):
        subject = study("subject")
        return [VOXHERD, "tensor", "--dwi", f"{subject}/data.nii.gz", "--bvals", f"{subject}/bvals", "--bvecs", f"{subject}/bvecs",
                "--mask", f"{subject}/nodif_brain_mask.nii.gz", "--threads", "1", "--quiet", "--out", study(out)]

    def call(self, *words, expect=0):
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def errors(self, done):
        return [line for line in done.stderr.splitlines() if line.startswith("voxherd: error:")]

    def test_an_analysis_is_refused_with_one_message_per_node(self):
        for kind in ("none", "pmi2"):
            done = self.call("srun", f"--mpi={kind}", "-N", "1", "-n", "4", *self.words(f"{kind}.h5"), expect=USAGE)
            self.assertEqual(len(self.errors(done)), 1, done.stderr)
            self.assertIn("the launcher started 4 processes, which do not know each other: use `srun --mpi=pmix`", self.errors(done)[0])
            self.assertNotIn("MPI_ERRORS_ARE_FATAL", done.stderr)
            self.assertFalse(os.path.exists(study(f"{kind}.h5")))

    def test_commands_for_one_process_work(self):
        self.call(*self.words("result.h5"))
        done = self.call("srun", "--mpi=none", "-n", "2", VOXHERD, "compare", study("result.h5"), study("result.h5"))
        self.assertEqual(done.stderr, "")

    def test_one_process_in_a_job_is_legitimate(self):
        self.call(*self.words("usual.h5"))
        script = study("job.sh")
        pmix = " ".join(["srun --mpi=pmix -n 1", *self.words("step1.h5")])
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/bash\nset -e\n" + "\n".join(" ".join(words) for words in (
                self.words("script.h5"), ["srun --mpi=none -n 1", *self.words("step.h5")], [pmix],
                ["mpirun -n 2", *self.words("mpirun.h5")])) + "\n")
        job = self.submit(script, options=("--nodes=1", "--ntasks=4"))
        self.assertEqual(self.wait_for_end(job), "COMPLETED", self.job_output(job))
        self.call("salloc", "-n", "4", *self.words("shell.h5"))
        for name in ("script", "step", "step1", "mpirun", "shell"):
            self.assertEqual(digest(study(f"{name}.h5")), digest(study("usual.h5")), name)

    def test_a_script_of_one_task_may_have_several_commands(self):
        script = " && ".join([" ".join(self.words("first.h5")), " ".join(self.words("second.h5")),
                              f"{VOXHERD} compare {study('first.h5')} {study('second.h5')}"])
        self.call("srun", "--mpi=pmix", "-n", "1", "sh", "-c", script)

    def test_a_second_analysis_of_a_script_of_several_tasks_is_refused(self):
        script = " && ".join([" ".join(self.words("third.h5")), " ".join(self.words("fourth.h5"))])
        done = self.call("srun", "--mpi=pmix", "-n", "2", "sh", "-c", script, expect=USAGE)
        self.assertEqual(len(self.errors(done)), 1, done.stderr)
        self.assertIn("an earlier command of this script has used MPI", done.stderr)


if __name__ == "__main__":
    unittest.main()
