"""Every benchmark program checks its answer and times it, on the smallest of its problems."""
import json
import os
import subprocess
import tempfile
import unittest

FOLDER = os.path.join(os.path.dirname(os.environ["VOXHERD"]), "bench")

# One problem per program: options, filter, number of benchmarks that match.
PROBLEMS = {
    "ballstick_bench": (("--backend", "cpu", "--voxels", "16"), "by_voxels/32/", 2),
    "connect_bench": (("--backend", "cpu", "--threads", "1"), "solve/const/64/selling1/repeatable", 1),
    "geodesic_bench": (("--backend", "cpu"), "paper_2048/hamiltonian/trilinear", 1),
    "geodesic_bytes_bench": (("--backend", "cpu"), "trilinear/256/", 4),
    "geodesic_field_bench": (("--backend", "cpu", "--threads", "1"), "tensor_spline", 1),
    "perfusion_bench": (("--backend", "cpu", "--threads", "1", "--voxels", "64"), "rate/lm/48", 1),
    "perfusion_convolution_bench": (("--backend", "cpu"), "cost/recursion/48", 2),
    "tensor_bench": (("--backend", "cpu", "--voxels", "64"), "K33", 1),
    "threads_bench": (("--backend", "cpu", "--threads", "1", "--voxels", "64"), "ballstick/by_cores|perfusion/by_cores/lm", 3),
}


@unittest.skipUnless(os.path.isdir(FOLDER), "built without benchmarks")
class BenchmarkPrograms(unittest.TestCase):
    def run_problem(self, program):
        options, pattern, expected = PROBLEMS[program]
        with tempfile.NamedTemporaryFile(suffix=".json") as results:
            done = subprocess.run([os.path.join(FOLDER, program), *options, "--benchmark_min_time=0.001", "--benchmark_filter=" + pattern,
                                   "--benchmark_out=" + results.name], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            timed = json.load(results)["benchmarks"]
        self.assertEqual(len(timed), expected, done.stdout)
        for benchmark in timed:
            self.assertNotIn("error_message", benchmark)
            self.assertGreater(benchmark["real_time"], 0)


def add_case(program):
    setattr(BenchmarkPrograms, "test_" + program, lambda self: self.run_problem(program))


for name in PROBLEMS:
    add_case(name)

if __name__ == "__main__":
    unittest.main()
