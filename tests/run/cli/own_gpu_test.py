"""Before MPI starts each rank makes only its own GPU visible to CUDA. The GPUs are simulated (tests/run/tools)."""
import os
import subprocess
import unittest

from toy_jobs import ToyJobs, mpirun

SIMULATED = os.path.join(os.environ.get("VOXHERD_TEST_TOOLS", ""), "simulated_gpus")


class OwnGpu(ToyJobs):
    def start(self, ranks, *options, before=(), **variables):
        """Exit status, messages, and of each rank the GPU and how many were visible."""
        out = self.path("choices.txt")
        environment = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
        job = subprocess.run(mpirun(ranks, *before, SIMULATED, "ballstick", "--out", out, *options), capture_output=True,
                             text=True, timeout=60, env={**environment, **variables})
        if job.returncode != 0:
            return job.returncode, job.stderr, []
        with open(out, encoding="utf-8") as lines:
            return 0, job.stderr, [tuple(line.split()[2:4]) for line in lines]

    def choices(self, ranks, *options, **variables):
        rc, output, chosen = self.start(ranks, *options, **variables)
        self.assertEqual(rc, 0, output)
        return chosen

    def test_each_rank_sees_only_its_own_gpu(self):
        self.assertEqual(self.choices(3, VOXHERD_TEST_GPUS="4"), [("0", "1"), ("1", "1"), ("2", "1")])
        self.assertEqual(self.choices(2, CUDA_VISIBLE_DEVICES="3,1,2"), [("3", "1"), ("1", "1")])

    def test_ranks_that_share_gpus_take_them_in_turn(self):
        self.assertEqual(self.choices(3, "--share-gpu", VOXHERD_TEST_GPUS="2"), [("0", "1"), ("1", "1"), ("0", "1")])
        rc, output, _ = self.start(3, VOXHERD_TEST_GPUS="2")
        self.assertEqual(rc, 2, output)
        self.assertIn("2 ranks on", output)
        self.assertIn("have the same GPU (simulated GPU, GPU-00000000-0000-0000-0000-000000000000)", output)

    def test_all_gpus_are_visible_again_if_ranks_have_different_lists(self):
        lists = ("sh", "-c", 'CUDA_VISIBLE_DEVICES=$((2 * OMPI_COMM_WORLD_RANK)),1 exec "$@"', "sh")
        rc, output, chosen = self.start(2, before=lists)
        self.assertEqual((rc, chosen), (0, [("0", "2"), ("1", "2")]), output)

    def test_all_gpus_are_visible_again_if_the_launcher_counts_otherwise_than_mpi(self):
        swapped = ("sh", "-c", 'OMPI_COMM_WORLD_LOCAL_RANK=$((1 - OMPI_COMM_WORLD_RANK)) exec "$@"', "sh")
        rc, output, chosen = self.start(2, before=swapped, VOXHERD_TEST_GPUS="2")
        self.assertEqual((rc, chosen), (0, [("0", "2"), ("1", "2")]), output)

    def test_all_gpus_are_visible_again_if_cuda_rejects_the_chosen_one(self):
        chosen = self.choices(3, "--share-gpu", VOXHERD_TEST_GPUS="2", VOXHERD_TEST_GPU_FILES="4")
        self.assertEqual(chosen, [("0", "1"), ("1", "1"), ("0", "2")])

    def test_the_cores_are_divided_among_the_ranks_with_gpus(self):
        def threads(ranks, *options, bind=()):
            rc, output, _ = self.start(ranks, *options, before=bind, VOXHERD_TEST_GPUS="2")
            self.assertEqual(rc, 0, output)
            with open(self.path("choices.txt"), encoding="utf-8") as lines:
                return [int(line.split()[4]) for line in lines]
        cores = len(os.sched_getaffinity(0))
        self.assertEqual(threads(2, bind=("taskset", "-c", ",".join(map(str, os.sched_getaffinity(0))))),
                         2 * [max(1, cores // 2)])
        self.assertEqual(threads(2, "--threads", "3"), [3, 3])

    def test_backend_cpu_ignores_all_of_it(self):
        self.assertEqual(self.choices(2, "--backend", "cpu", VOXHERD_TEST_GPUS="2"), [("cpu", "1"), ("cpu", "1")])


if __name__ == "__main__":
    unittest.main()
