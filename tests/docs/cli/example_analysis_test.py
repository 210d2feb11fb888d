"""The example analysis of CONTRIBUTING.md builds as it is written there, and gives the values of its formulas."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

try:
    import h5py
    import nibabel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
MAX_LINES, MAX_FILES = 120, 3


def example_files():
    """The files in the text, by path."""
    with open(os.path.join(ROOT, "CONTRIBUTING.md"), encoding="utf-8") as file:
        text = file.read().split("## Add an analysis\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^```cpp\n// (\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def build_with_example(folder):
    """Builds voxherd with the example added, from links to this source tree. Returns the program."""
    source, build = os.path.join(folder, "source"), os.path.join(folder, "build")
    shutil.copytree(ROOT, source, copy_function=os.link if os.stat(folder).st_dev == os.stat(ROOT).st_dev else shutil.copy2,
                    ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
    lists = os.path.join(source, "CMakeLists.txt")
    with open(lists, encoding="utf-8") as file:
        text = file.read()
    os.remove(lists)  # a link: the original must not change
    text, added = re.subn(r"(set\(VOXHERD_ANALYSES [^)]*)\)", r"\1 snr)", text)
    assert added == 1
    with open(lists, "w", encoding="utf-8") as file:
        file.write(text)
    for path, content in example_files().items():
        os.makedirs(os.path.dirname(os.path.join(source, path)), exist_ok=True)
        with open(os.path.join(source, path), "x", encoding="utf-8") as file:
            file.write(content)
    cuda = "AUTO" if shutil.which("nvidia-smi") else "OFF"
    # Objects that do not depend on the example come from ccache, whatever folder they were compiled in.
    environment = dict(os.environ, CCACHE_BASEDIR=os.path.commonpath([folder, ROOT]), CCACHE_NOHASHDIR="1")
    for words in (["cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", f"-DVOXHERD_CUDA={cuda}",
                   "-DVOXHERD_CPU_ARCH=native", "-DVOXHERD_TESTS=OFF", "-DVOXHERD_BENCH=OFF", *(["-G", "Ninja"] if shutil.which("ninja") else [])],
                  ["cmake", "--build", build, "--target", "voxherd", "--parallel", str(len(os.sched_getaffinity(0)))]):
        done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout[-4000:]
    return os.path.join(build, "voxherd")


class ExampleAnalysis(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_example_", dir=os.environ.get("VOXHERD_EXAMPLE_FOLDER"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.program = build_with_example(cls.folder)
        cls.scan = os.path.join(cls.folder, "scan")
        cls.run_program("phantom", "dwi", "--preset", "toy", "--b0", "6", "--threads", "1", "--out", cls.scan)

    @classmethod
    def run_program(cls, *words, ranks=1, expect=0):
        launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launch, cls.program, *words], capture_output=True, text=True, timeout=300)
        assert done.returncode == expect, f"{words}: exit {done.returncode}\n{done.stderr}"
        return done

    def compute(self, ranks, *options, expect=0):
        out = os.path.join(self.folder, f"snr_{ranks}.h5")
        gradients = () if "--bvals" in options else ("--bvals", f"{self.scan}/bvals", "--bvecs", f"{self.scan}/bvecs")
        done = self.run_program("snr", "--dwi", f"{self.scan}/data.nii", *gradients, "--mask",
                                f"{self.scan}/nodif_brain_mask.nii.gz", "--threads", "1", "--overwrite", "--quiet", "--out", out, *options, ranks=ranks, expect=expect)
        return out if expect == 0 else done.stderr

    def check_values(self, out):
        signals = np.asarray(nibabel.load(f"{self.scan}/data.nii").dataobj, float)
        bvals = np.loadtxt(f"{self.scan}/bvals").ravel()
        inside = np.asarray(nibabel.load(f"{self.scan}/nodif_brain_mask.nii.gz").dataobj) > 0
        rows = signals[inside][:, bvals <= 50]
        self.assertEqual(rows.shape[1], 6)
        expected = {"mean": rows.mean(axis=1), "SD": rows.std(axis=1, ddof=1)}
        expected["SNR"] = expected["mean"] / expected["SD"]
        with h5py.File(out, "r") as file:
            self.assertEqual(set(file["maps"]), {"mean", "SD", "SNR", "status"})
            self.assertEqual(file["maps/SD"].attrs["unit"], b"input")
            maps = {name: file["maps"][name][()].transpose(2, 1, 0) for name in file["maps"]}
        self.assertFalse(maps["status"][inside].any())
        for name, values in expected.items():
            # float keeps 24 binary digits
            np.testing.assert_allclose(maps[name][inside], values, rtol=1e-6, err_msg=name)
            self.assertFalse(maps[name][~inside].any())

    def test_fits_into_the_promised_lines_and_files(self):
        files = example_files()
        self.assertEqual(sorted(files), ["kernels/snr/snr_estimator.hpp", "src/analyses/snr.cpp"])
        self.assertLessEqual(sum(len(text.splitlines()) for text in files.values()), MAX_LINES)
        self.assertLess(len(files), MAX_FILES)

    def test_has_the_values_of_its_formulas_on_one_and_three_ranks(self):
        one = self.compute(1, "--backend", "cpu")
        three = self.compute(3, "--backend", "cpu", "--batch", "100")
        self.check_values(one)
        self.check_values(three)
        self.run_program("compare", one, three)

    def test_its_own_table_shows_its_maps_in_the_report(self):
        out, page = self.compute(1, "--backend", "cpu"), os.path.join(self.folder, "snr.html")
        self.run_program("report", out, "--out", page, "--overwrite")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for sentence in ("It is high in tissue and low near air.", "It is even where the noise is."):
            self.assertIn(sentence, text)
        with open(os.path.join(self.folder, "snr.json"), encoding="utf-8") as file:
            self.assertEqual(set(json.load(file)["histograms"]), {"SNR", "SD"})

    def test_its_own_table_names_its_maps_in_bids(self):
        out, folder = self.compute(1, "--backend", "cpu"), os.path.join(self.folder, "bids")
        self.run_program("export", out, "--to", "bids", folder, "--subject", "01", "--overwrite")
        files = sorted(os.listdir(f"{folder}/sub-01/dwi"))
        self.assertEqual(files, [f"sub-01_model-snr_param-{name}_dwimap.{ending}" for name in ("noise", "snr") for ending in ("json", "nii.gz")])
        with h5py.File(out, "r") as file:
            stored = file["maps/SNR"][()].transpose(2, 1, 0)
        written = np.asarray(nibabel.load(f"{folder}/sub-01/dwi/sub-01_model-snr_param-snr_dwimap.nii.gz").dataobj)
        np.testing.assert_array_equal(written, stored)
        with open(f"{folder}/sub-01/dwi/sub-01_model-snr_param-snr_dwimap.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["Description"], "mean divided by standard deviation")

    def test_has_the_values_of_its_formulas_on_a_gpu(self):
        if not shutil.which("nvidia-smi"):
            self.skipTest("no GPU")
        self.check_values(self.compute(1, "--backend", "cuda"))

    def test_without_cuda_names_the_remedy(self):
        if shutil.which("nvidia-smi"):
            self.skipTest("built with CUDA")
        self.assertIn("--backend cpu", self.compute(1, "--backend", "cuda", expect=2))

    def test_refuses_a_series_with_one_such_volume(self):
        bvals, bvecs = np.loadtxt(f"{self.scan}/bvals").ravel(), np.loadtxt(f"{self.scan}/bvecs")
        weighted = np.flatnonzero(bvals <= 50)[1:]
        bvals[weighted] = 1000
        bvecs[:, weighted] = [[1], [0], [0]]
        paths = os.path.join(self.folder, "bvals_one_b0"), os.path.join(self.folder, "bvecs_one_b0")
        np.savetxt(paths[0], bvals[None], fmt="%g")
        np.savetxt(paths[1], bvecs, fmt="%g")
        self.assertIn("--max-b", self.compute(1, "--backend", "cpu", "--bvals", paths[0], "--bvecs", paths[1], expect=65))


if __name__ == "__main__":
    unittest.main()
