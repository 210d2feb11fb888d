"""The example analysis and the example tally of CONTRIBUTING.md and the example model of tests/docs/example build as they are written
there, and give the values of their formulas."""
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
MODEL = os.path.join(ROOT, "tests", "docs", "example")
TALLIES = "kernels/track/tally_list.hpp"
MAX_LINES, MAX_FILES = 120, 3


def example_files(title):
    """The files in a section of the text, by path."""
    with open(os.path.join(ROOT, "CONTRIBUTING.md"), encoding="utf-8") as file:
        text = file.read().split(f"## {title}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^```cpp\n// (\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def model_files():
    """The same of the example model."""
    paths = [os.path.join(at, name) for at, _, names in os.walk(MODEL) for name in names]
    files = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            files[os.path.relpath(path, MODEL)] = file.read()
    return files


def add_words(path, *changes):
    """Replaces a file, which is a link, by one with these changes."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    os.remove(path)
    for pattern, replacement in changes:
        text, changed = re.subn(pattern, replacement, text)
        assert changed == 1, pattern
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def build_with_examples(folder):
    """Builds voxherd with the examples added, from links to this source tree. Returns the program."""
    source, build = os.path.join(folder, "source"), os.path.join(folder, "build")
    shutil.copytree(ROOT, source, copy_function=os.link if os.stat(folder).st_dev == os.stat(ROOT).st_dev else shutil.copy2,
                    ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
    add_words(os.path.join(source, "CMakeLists.txt"), (r"(set\(VOXHERD_ANALYSES [^)]*)\)", r"\1 snr kurtosis)"))
    add_words(os.path.join(source, TALLIES), (r"(using tally_list =\s+tally_types<[^>]*)>", r"\1, spread>"),
              (r'(#include "kernels/track/tallies/lengths.hpp"\n)', r'\1#include "kernels/track/tallies/spread.hpp"\n'))
    for path, content in {**example_files("Add an analysis"), **example_files("Add a tally"), **model_files()}.items():
        os.makedirs(os.path.dirname(os.path.join(source, path)), exist_ok=True)
        with open(os.path.join(source, path), "x", encoding="utf-8") as file:
            file.write(content)
    cuda = "AUTO" if shutil.which("nvidia-smi") else "OFF"
    # Objects that do not depend on the example come from ccache, whatever folder they were compiled in.
    environment = dict(os.environ, CCACHE_BASEDIR=os.path.commonpath([folder, ROOT]), CCACHE_NOHASHDIR="1")
    for words in (["cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", f"-DVOXHERD_CUDA={cuda}",
                   "-DVOXHERD_CPU_ARCH=native", "-DVOXHERD_VIEW=OFF", "-DVOXHERD_TESTS=OFF", "-DVOXHERD_BENCH=OFF", *(["-G", "Ninja"] if shutil.which("ninja") else [])],
                  ["cmake", "--build", build, "--target", "voxherd", "--parallel", str(len(os.sched_getaffinity(0)))]):
        done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout[-4000:]
    return os.path.join(build, "voxherd")


def setUpModule():
    Example.folder = tempfile.mkdtemp(prefix="voxherd_example_", dir=os.environ.get("VOXHERD_EXAMPLE_FOLDER"))
    unittest.addModuleCleanup(shutil.rmtree, Example.folder)
    Example.program = build_with_examples(Example.folder)
    Example.scan = os.path.join(Example.folder, "scan")
    Example.run_program("phantom", "dwi", "--preset", "toy", "--b0", "6", "--threads", "1", "--out", Example.scan)


class Example(unittest.TestCase):
    @classmethod
    def run_program(cls, *words, ranks=1, expect=0):
        launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launch, cls.program, *words], capture_output=True, text=True, timeout=300)
        assert done.returncode == expect, f"{words}: exit {done.returncode}\n{done.stderr}"
        return done


class ExampleAnalysis(Example):
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
        files = example_files("Add an analysis")
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


class ExampleTally(Example):
    """Streamlines from two voxels of one row of straight fibres: in each voxel there are two lengths, equally often."""
    SIZE = (24, 5, 5)

    def setUp(self):
        self.inputs = tempfile.mkdtemp(dir=self.folder)
        for name, value in (("th", np.pi / 2), ("ph", np.pi), ("f", .7)):
            self.save(f"merged_{name}1samples", np.full((*self.SIZE, 2), value))
        inside = np.zeros(self.SIZE)
        inside[1:-1, 1:-1, 1:-1] = 1
        self.save("nodif_brain_mask", inside)

    def save(self, name, values):
        path = os.path.join(self.inputs, f"{name}.nii.gz")
        nibabel.save(nibabel.Nifti1Image(values.astype(np.float32), np.diag([2, 2, 2, 1])), path)
        return path

    def track(self, voxels, *options, ranks=1, expect=0):
        seeds, out = np.zeros(self.SIZE), os.path.join(self.inputs, f"{ranks}.h5")
        seeds[voxels, 2, 2] = 1
        done = self.run_program("track", "--samples", self.inputs, "--seed-image", self.save("seeds", seeds), "--samples-per-seed", "40",
                                "--threads", "1", "--overwrite", "--quiet", "--out", out, *options, ranks=ranks, expect=expect)
        if expect:
            return done.stderr
        with h5py.File(out, "r") as file:
            return {name: values[()][2, 2] for name, values in file["maps"].items()}

    def check(self, *options, ranks=1):
        first, second = (self.track([x], "--lengths", *options)["mean_length"] for x in (8, 13))
        both = self.track([8, 13], "--lengths", "--length-spread", *options, ranks=ranks)
        visited = both["density"] == 80
        self.assertGreater(visited.sum(), 15)
        np.testing.assert_allclose(both["sd_length"][visited], np.abs(first - second)[visited] / 2, rtol=1e-6, atol=1e-6)
        self.assertGreater(both["sd_length"].max(), 4)
        self.assertFalse(both["sd_length"][both["density"] == 0].any())

    def test_takes_two_files_and_a_word(self):
        files = example_files("Add a tally")
        self.assertEqual(sorted(files), ["kernels/track/tallies/spread.hpp", "src/analyses/track/tallies/spread.cpp"])
        self.assertLess(sum(len(text.splitlines()) for text in files.values()), 70)

    def test_has_the_values_of_its_formula_on_one_and_three_ranks(self):
        self.check("--backend", "cpu")
        self.check("--backend", "cpu", ranks=3)

    def test_has_the_values_of_its_formula_on_a_gpu(self):
        if not shutil.which("nvidia-smi"):
            self.skipTest("no GPU")
        self.check("--backend", "cuda")

    def test_is_not_counted_without_its_option_and_refused_without_lengths(self):
        self.assertNotIn("sd_length", self.track([8], "--lengths", "--backend", "cpu"))
        self.assertIn("--lengths", self.track([8], "--length-spread", "--backend", "cpu", expect=2))


class ExampleModel(Example):
    """Kurtosis: S0, D and K of simulated voxels."""
    SHAPE = (6, 6, 4)

    def setUp(self):
        random = np.random.default_rng(33)
        directions = random.normal(size=(3, 36))
        directions /= np.linalg.norm(directions, axis=0)
        self.b = np.repeat([0.0, 700, 1400, 2100], [4, 12, 12, 12])
        self.g = np.concatenate([np.zeros((3, 4)), directions], axis=1)
        count = int(np.prod(self.SHAPE))
        self.truth = {"S0": random.uniform(600, 1400, count), "D": random.uniform(5e-4, 1.1e-3, count), "K": random.uniform(0.3, 1.2, count)}
        self.random, self.series = random, tempfile.mkdtemp(dir=self.folder)

    def signals(self, b):
        S0, D, K = (self.truth[name][:, None] for name in ("S0", "D", "K"))
        return S0 * np.exp(-b * D + b**2 * D**2 * K / 6)

    def save(self, name, rows):
        path = os.path.join(self.series, name)
        nibabel.save(nibabel.Nifti1Image(rows.astype(np.float32).reshape(*self.SHAPE, -1), np.eye(4)), path)
        return path

    def fit(self, rows, *options, ranks=1, expect=0):
        """Maps and samples by name, one row per voxel."""
        out, bvals, bvecs = (os.path.join(self.series, name) for name in (f"{ranks}.h5", "bvals", "bvecs"))
        np.savetxt(bvals, self.b[None], fmt="%g")
        np.savetxt(bvecs, self.g)
        mask = self.save("mask.nii", np.ones(len(rows)))
        done = self.run_program("kurtosis", "--dwi", self.save("data.nii", rows), "--bvals", bvals, "--bvecs", bvecs, "--mask", mask,
                                "--threads", "1", "--backend", "cpu", "--overwrite", "--quiet", "--out", out, *options, ranks=ranks, expect=expect)
        if expect:
            return done.stderr
        with h5py.File(out, "r") as file:
            maps = {name: np.moveaxis(values[()], (0, 1, 2), (2, 1, 0)).reshape(len(rows), -1).squeeze() for name, values in file["maps"].items()}
            self.assertFalse(maps["status"].any())
            # Rows of samples are in the file's order, in which x is first.
            order = np.arange(len(rows)).reshape(self.SHAPE).transpose(2, 1, 0).ravel()
            for name, values in file.get("samples", {}).items():
                maps[name] = np.empty_like(values[()])
                maps[name][order] = values[()]
        return maps

    def test_is_a_header_and_a_file(self):
        self.assertEqual(sorted(model_files()), ["kernels/kurtosis/kurtosis_model.hpp", "src/analyses/kurtosis.cpp"])

    def test_the_fit_recovers_exact_signals(self):
        maps = self.fit(self.signals(self.b))
        self.assertEqual(set(maps), {"S0", "D", "K", "residual", "status"})
        for name, values in self.truth.items():
            np.testing.assert_allclose(maps[name], values, rtol=2e-5, err_msg=name)

    def test_the_fit_corrects_for_the_deviation_of_gradients(self):
        deviation = self.random.normal(0, 0.05, (len(self.truth["D"]), 9))
        matrices = np.eye(3) + deviation.reshape(-1, 3, 3).transpose(0, 2, 1)
        b = self.b * (np.einsum("vij,jk->vik", matrices, self.g)**2).sum(axis=1)
        rows = self.signals(b)
        maps = self.fit(rows, "--grad-dev", self.save("grad_dev.nii", deviation))
        for name, values in self.truth.items():
            np.testing.assert_allclose(maps[name], values, rtol=2e-5, err_msg=name)
        self.assertGreater(np.abs(self.fit(rows)["D"] / self.truth["D"] - 1).max(), 0.05)

    def test_means_of_the_chain_differ_from_the_truth_by_their_standard_deviations(self):
        rows = self.signals(self.b)
        rows += self.random.normal(0, 25, rows.shape)
        options = "--samples", "200", "--sample-every", "10"
        best, chain = self.fit(rows), self.fit(rows, *options)
        for name, values in self.truth.items():
            z = (chain[name] - values) / chain[f"{name}_SD"]
            self.assertLess(abs(np.sqrt(np.mean(z**2)) - 1), 0.2, name)
            self.assertLess(np.sqrt(np.mean(((chain[name] - best[name]) / chain[f"{name}_SD"])**2)), 0.35, name)
            np.testing.assert_allclose(chain[f"{name}_samples"].mean(axis=1), chain[name], rtol=1e-5)
            np.testing.assert_allclose(chain[f"{name}_samples"].std(axis=1, ddof=1), chain[f"{name}_SD"], rtol=1e-4)
        accepted = chain["acceptance"][:, :3]
        self.assertTrue(np.all((accepted > 0.3) & (accepted < 0.7)))
        three = self.fit(rows, *options, "--batch", "20", ranks=3)
        for name, values in chain.items():
            self.assertEqual(values.tobytes(), three[name].tobytes(), name)

    def test_rician_noise_removes_the_bias_of_its_floor(self):
        rows = self.signals(self.b)
        sigma = 120
        rows = np.hypot(rows + self.random.normal(0, sigma, rows.shape), self.random.normal(0, sigma, rows.shape))
        gaussian, rician = self.fit(rows), self.fit(rows, "--noise", "rician", "--samples", "100", "--sample-every", "10")
        known = self.fit(rows, "--noise", "rician", "--sigma", str(sigma))
        bias = {name: abs(np.median(maps["K"] - self.truth["K"])) for name, maps in (("gaussian", gaussian), ("known", known))}
        self.assertLess(bias["known"], bias["gaussian"] / 2)
        np.testing.assert_allclose(np.median(rician["sigma"]), sigma, rtol=0.05)
        self.assertTrue(np.all(known["sigma"] == sigma))

    def test_a_series_with_as_many_volumes_as_parameters_is_refused(self):
        few = [0, 4, 16]
        self.b, self.g = self.b[few], self.g[:, few]
        self.assertIn("3 volumes cannot determine 3 parameters", self.fit(self.signals(self.b), expect=65))


if __name__ == "__main__":
    unittest.main()
