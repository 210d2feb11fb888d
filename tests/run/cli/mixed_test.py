"""GPU and CPU ranks in one job. The GPUs are simulated (tests/run/tools): the tests check which rank gets which
device, and how the result records it."""
import csv
import os
import signal
import subprocess
import unittest

from result_files import h5py
from toy_jobs import ToyJobs, digest, mpirun, run, voxherd, wait_for_batches

SIMULATED = os.path.join(os.environ.get("VOXHERD_TEST_TOOLS", ""), "simulated_gpus")
SIZE = ("--nx", 60, "--ny", 60, "--nz", 30)


def mixed(ranks, out, *options, gpus="0", backend="mixed"):
    job = subprocess.run(mpirun(ranks, SIMULATED, "toy", "--quiet", "--backend", backend, "--out", out, *options),
                         capture_output=True, text=True, timeout=120, env=dict(os.environ, CUDA_VISIBLE_DEVICES=gpus))
    return job.returncode, job.stderr


class Mixed(ToyJobs):
    def choices(self, ranks, gpus, *options):
        out = self.path("choices.txt")
        job = subprocess.run(mpirun(ranks, SIMULATED, "ballstick", "--backend", "mixed", "--out", out, *options),
                             capture_output=True, text=True, timeout=120,
                             env=dict(os.environ, CUDA_VISIBLE_DEVICES=gpus))
        self.assertEqual(job.returncode, 0, job.stderr)
        with open(out, encoding="utf-8") as lines:
            return [line.split()[2] for line in lines]

    def test_the_first_ranks_use_the_gpus_and_the_others_the_cores(self):
        self.assertEqual(self.choices(5, "0,1"), ["0", "1", "cpu", "cpu", "cpu"])

    def test_no_rank_uses_cores_if_there_are_more_gpus_than_ranks(self):
        self.assertEqual(self.choices(2, "3,1,2"), ["3", "1"])

    def test_without_a_gpu_the_error_names_the_fix(self):
        rc, output = mixed(2, self.path("none.h5"), gpus="")
        self.assertEqual(rc, 2, output)
        self.assertIn("--backend cpu computes without a GPU", output)

    def test_all_ranks_write_one_result_and_cpu_ranks_start_with_the_smallest_batch(self):
        out, trace = self.path("mixed.h5"), self.path("trace.csv")
        rc, output = mixed(3, out, "--trace", trace, "--slowest-ms", 5)
        self.assertEqual(rc, 0, output)
        self.assertEqual(voxherd("verify", out)[0], 0)
        with open(trace, encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        items = {int(row["batch"]): int(row["items"]) for row in rows}
        self.assertEqual(sorted(items), list(range(len(items))))
        for rank in ("1", "2"):
            first = min((row for row in rows if row["rank"] == rank), key=lambda row: float(row["read_begin"]), default=None)
            if first is not None:
                self.assertLessEqual(int(first["items"]), items[0] // 4)
        rc, output = run(1, self.path("cores.h5"), *SIZE)
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), digest(self.path("cores.h5")), "the toy's values do not depend on the device")
        with h5py.File(out) as result:
            self.assertIn('"backend":"mixed"', str(result.attrs["configuration"]).replace(" ", ""))

    def test_a_mixed_result_is_resumed_only_by_a_mixed_job_of_any_number_of_ranks(self):
        out = self.path("stopped.h5")
        job = subprocess.Popen(mpirun(2, SIMULATED, "toy", "--quiet", "--backend", "mixed", "--out", out,
                                      "--slowest-ms", 400), stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, CUDA_VISIBLE_DEVICES="0"))
        wait_for_batches(out, 3)
        job.send_signal(signal.SIGUSR1)
        output = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, 75, output)
        for backend in ("cpu", "cuda"):
            rc, output = mixed(1, out, "--resume", backend=backend)
            self.assertEqual(rc, 2, output)
            self.assertIn('backend: "mixed" in the file', output)
        rc, output = mixed(3, out, "--resume", gpus="0,1")
        self.assertEqual(rc, 0, output)
        self.assertEqual(run(1, self.path("cores.h5"), *SIZE)[0], 0)
        self.assertEqual(digest(out), digest(self.path("cores.h5")))

    def test_commands_with_dependent_steps_reject_mixed_devices(self):
        inputs = ("--tensor", "tensor.h5")  # not read: devices are chosen first
        for words in (("geodesic", *inputs, "--seed-image", "a.nii", "--targets", "b.nii", "--out", self.path("g.h5")),
                      ("connect", *inputs, "--connectome", "labels.nii", "--out", self.path("c.h5"))):
            rc, _, output = voxherd(*words, "--backend", "mixed")
            self.assertEqual(rc, 2, output)
            self.assertIn("--backend mixed: a later step of this command repeats", output)


if __name__ == "__main__":
    unittest.main()
