"""The script printed by `voxherd slurm` runs unchanged: on two nodes, started by srun or mpirun, with the estimated
memory."""
import subprocess
import unittest

from cluster_jobs import VOXHERD, ClusterJobs, provenance, study

NODES = ("--nodes", "2", "--ranks-per-node", "1", "--cpus-per-rank", "1", "--time", "0:10:00")


class PrintedScript(ClusterJobs):
    def check(self, starter):
        result, script = study(f"{starter}.h5"), study(f"{starter}.sbatch")
        words = ("ballstick", "--config", self.config, *self.subject(), "--backend", "cpu", "--out", result)
        printed = subprocess.run([VOXHERD, "slurm", *words, *NODES, "--launcher", starter, "--script", script],
                                 capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        job = self.submit(script, options=())
        self.assertEqual(self.wait_for_end(job), "COMPLETED", self.job_output(job))
        self.assert_complete_and_identical(result, job)
        self.assertEqual(provenance(result)["hosts"], ["n1", "n2"])

    def test_the_script_runs_with_srun(self):
        self.check("srun")

    def test_the_script_runs_with_mpirun(self):
        self.check("mpirun")


if __name__ == "__main__":
    unittest.main()
