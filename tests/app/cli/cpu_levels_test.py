"""The versions of the CPU kernels that the program contains: each runs when VOXHERD_CPU_LEVEL selects it, others are refused."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

VOXHERD = os.environ["VOXHERD"]
FLAGS = {"x86-64-v2": "sse4_2 popcnt ssse3", "x86-64-v3": "avx2 bmi1 bmi2 f16c fma movbe",
         "x86-64-v4": "avx2 fma avx512f avx512bw avx512cd avx512dq avx512vl"}


def run(*words, level=None, expect=0):
    environment = {name: value for name, value in os.environ.items() if name != "VOXHERD_CPU_LEVEL"}
    if level:
        environment["VOXHERD_CPU_LEVEL"] = level
    done = subprocess.run([VOXHERD, *words], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == expect, f"{words}, {level}: exit {done.returncode}, expected {expect}\n{done.stderr}"
    return done.stdout + done.stderr


def levels(level=None):
    """The one that runs, and all that were built."""
    running, built = re.search(r"(?m)^kernels +(\S+) runs; built for (.*)$", run("info", level=level)).groups()
    return running, built.split(", ")


def processor_supports(level):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"(?m)^flags\s*: (.*)$", file.read())
    return level not in FLAGS or found is not None and set(FLAGS[level].split()) <= set(found[1].split())


class Gpus(unittest.TestCase):
    def test_a_missing_gpu_is_one_plain_line(self):
        lines = [line for line in run("info").splitlines() if line.startswith("GPU")]
        if lines[0].startswith("GPU 0"):
            self.skipTest("this machine has a GPU")
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"^GPUs       none \((no NVIDIA driver|no GPU is visible|built without CUDA)\)$")


class CpuLevels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_levels_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("phantom", "dwi", "--preset", "toy", "--out", os.path.join(cls.folder, "toy"))

    def scan(self):
        at = lambda name: os.path.join(self.folder, "toy", name)
        return ("--dwi", at("data.nii"), "--bvals", at("bvals"), "--bvecs", at("bvecs"), "--mask",
                at("nodif_brain_mask.nii.gz"), "--backend", "cpu", "--overwrite", "--quiet")

    def test_the_highest_level_that_the_processor_supports_runs(self):
        running, built = levels()
        supported = [level for level in built if processor_supports(level)]
        self.assertEqual(running, supported[-1])

    def test_each_supported_level_runs_when_it_is_selected(self):
        for level in levels()[1]:
            if not processor_supports(level):
                continue
            with self.subTest(level):
                self.assertEqual(levels(level)[0], level)
                for command in (("tensor",), ("ballstick", "--burn-in", "20", "--jumps", "20", "--sample-every", "5")):
                    out = os.path.join(self.folder, f"{command[0]}-{level}.h5")
                    run(*command, *self.scan(), "--out", out, level=level)
                    run("verify", out, level=level)
                    again = os.path.join(self.folder, "again.h5")
                    run(*command, *self.scan(), "--out", again, level=level)
                    run("compare", out, again)

    def test_a_level_that_is_missing_or_not_supported_is_refused(self):
        refused = ["x86-64-v9"] + [level for level in levels()[1] if not processor_supports(level)]
        for level in refused:
            output = run("tensor", *self.scan(), "--out", os.path.join(self.folder, "never.h5"), level=level, expect=2)
            self.assertIn(f"VOXHERD_CPU_LEVEL={level}: ", output)
            self.assertEqual(output.count("voxherd: error:"), 1, output)


if __name__ == "__main__":
    unittest.main()
