"""Which GPU each rank selects, by the program's own rule, among those that SLURM makes visible. The GPUs are
simulated: SLURM's devices are /dev/null, and a tool in tests/run/tools replaces CUDA."""
import collections
import os
import unittest

from cluster_jobs import SRUN, ClusterJobs, read, study

USAGE = 2
SIMULATED = os.path.join(os.path.abspath(os.environ["VOXHERD_TEST_TOOLS"]), "simulated_gpus")
EACH_ITS_OWN = {(node, gpu): 1 for node in ("n1", "n2") for gpu in "0123"}


class GpuBinding(ClusterJobs):
    def setUp(self):
        super().setUp()
        self.result = study(f"{self.id().split('.')[-1]}.txt")

    def script(self, name, *options):
        return self.submit(f"slurm/{name}", study("subject"), self.result, VOXHERD=SIMULATED, CONFIG=study("none.cfg"),
                           options=("--nodes=2", "--cpus-per-task=1", *options))

    def command(self, launch, *options):
        return self.submit(f"--wrap={launch} {SIMULATED} ballstick --backend cuda --out {self.result}",
                           options=("--nodes=2", "--cpus-per-task=1", *options))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(study("none.cfg"), "w", encoding="utf-8"):
            pass

    def users(self, job):
        """Number of ranks that selected each (host, GPU)."""
        self.assertEqual(self.wait_for_end(job), "COMPLETED", self.job_output(job))
        lines = [line.split() for line in read(self.result).splitlines()]
        return collections.Counter((host, gpu) for host, _, gpu, *_ in lines)

    def assert_refused(self, job, words):
        self.assertEqual(self.wait_for_end(job), "FAILED", self.job_output(job))
        self.assertEqual(self.fields(job)["ExitCode"], f"{USAGE}:0")
        self.assertIn(words, self.job_output(job))
        self.assertFalse(os.path.exists(self.result))

    def test_the_script_for_many_nodes_gives_each_rank_its_own_gpu(self):
        self.assertEqual(self.users(self.script("gpu-multi-node.sbatch")), EACH_ITS_OWN)

    def test_the_script_for_mpirun_gives_each_rank_its_own_gpu(self):
        self.assertEqual(self.users(self.script("mpirun-resume.sbatch")), EACH_ITS_OWN)

    def test_one_visible_gpu_per_task_is_sufficient(self):
        job = self.command(f"{SRUN} --gpus-per-task=1", "--ntasks-per-node=4", "--gpus-per-task=1")
        self.assertEqual(self.users(job), EACH_ITS_OWN)

    def test_more_ranks_than_gpus_are_rejected(self):
        job = self.script("gpu-multi-node.sbatch", "--ntasks-per-node=8")
        self.assert_refused(job, "2 ranks on n1 have the same GPU")

    def test_mpirun_with_one_gpu_per_task_would_share_one_and_is_rejected(self):
        # For SLURM, mpirun's daemon is the only task on the second node.
        job = self.command("mpirun", "--ntasks-per-node=2", "--gpus-per-task=1")
        self.assert_refused(job, "2 ranks on n2 have the same GPU")

    def test_a_node_without_gpus_is_rejected_by_backend_cuda(self):
        self.assert_refused(self.command(SRUN, "--ntasks-per-node=1"), "names no GPU")

    def test_the_script_for_shared_gpus_lets_its_ranks_share_one(self):
        users = self.users(self.script("shared-gpu.sbatch", "--nodes=1"))
        self.assertEqual(list(users.values()), [2])

    def test_jobs_on_one_node_get_different_gpus(self):
        job = self.submit(f"--wrap={SRUN} {SIMULATED} ballstick --out {self.result}.$SLURM_ARRAY_TASK_ID",
                          options=("--array=1-4", "--ntasks=1", "--gres=gpu:1", "--nodelist=n1"))
        self.assertEqual(self.wait_for_end(job), "COMPLETED", [self.job_output(job, task) for task in range(1, 5)])
        taken = {read(f"{self.result}.{task}").split()[2] for task in range(1, 5)}
        self.assertEqual(taken, set("0123"))


if __name__ == "__main__":
    unittest.main()
