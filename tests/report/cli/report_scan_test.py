"""voxherd report of scans and of folders of bedpostX: pages without a result."""
import gzip
import json
import os
import shutil
import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import unittest

from program import run
from report_pages import Page, ReportJobs, call


class Image:
    """An uncompressed float32 NIfTI-1 file, changed in place: volumes(x, y, z, t)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            header = file.read(352)
        dim, start = np.frombuffer(header[40:56], "<i2"), int(np.frombuffer(header[108:112], "<f4")[0])
        assert int(np.frombuffer(header[70:72], "<i2")[0]) == 16
        shape = [max(1, int(n)) for n in dim[1:5]]
        self.volumes = np.memmap(path, "<f4", "r+", start, tuple(shape), order="F")


def noise(volume, inside):
    """Median of the differences between voxels and the mean of their neighbours, as a standard deviation."""
    found = []
    for place in np.argwhere(inside):
        around = [volume[tuple(place + step * np.eye(3, dtype=int)[a])] for a in range(3) for step in (-1, 1)
                  if 0 < place[a] < volume.shape[a] - 1]
        if around:
            found.append(abs(volume[tuple(place)] - np.mean(around)) * np.sqrt(len(around) / (len(around) + 1)))
    return 1.4826 * np.median(found)


def unpacked(name):
    """The path of an image as .nii."""
    if os.path.exists(name + ".nii.gz"):
        with gzip.open(name + ".nii.gz") as packed, open(name + ".nii", "wb") as plain:
            shutil.copyfileobj(packed, plain)
        os.remove(name + ".nii.gz")
    return name + ".nii"


class Scan(ReportJobs):
    def copy(self, name):
        path = self.path(name)
        shutil.copy(f"{self.scan}/data.nii", path)
        return path

    def numbers(self, image, *options):
        run("report", image, "--overwrite", *options)
        with open(image.replace(".nii", ".report.json"), encoding="utf-8") as file:
            return json.load(file)

    @property
    def gradients(self):
        return ["--bvals", f"{self.scan}/bvals", "--bvecs", f"{self.scan}/bvecs"]

    @property
    def mask(self):
        return ["--mask", f"{self.scan}/nodif_brain_mask.nii.gz"]

    def inside(self):
        with h5py.File(self.make("tensor")) as file:
            size, voxels = file["image"].attrs["size"], file["items/voxel"][()]
        inside = np.zeros(int(np.prod(size)), bool)
        inside[voxels] = True
        return inside.reshape(size, order="F")

    def test_has_signal_and_noise_of_each_volume(self):
        path = self.copy("scan1.nii")
        numbers, image, inside = self.numbers(path, *self.gradients, *self.mask), Image(path), self.inside()
        volumes = image.volumes.astype(float)
        np.testing.assert_allclose(numbers["volume_mean"], volumes[inside].mean(axis=0), rtol=1e-6)
        for k in (0, 5):
            self.assertAlmostEqual(numbers["volume_noise"][k] / noise(volumes[..., k], inside), 1, places=4)
        b = np.loadtxt(f"{self.scan}/bvals").ravel()
        self.assertEqual(sum(s["volumes"] for s in numbers["signal"]), len(b))
        for shell in numbers["signal"]:
            of_shell = np.abs(b - shell["b"]) <= 100
            self.assertEqual(shell["volumes"], of_shell.sum())
            median = np.median(volumes[inside][:, of_shell].mean(axis=1))
            self.assertAlmostEqual(shell["median"] / median, 1, places=5)
        self.assertEqual(numbers["object_voxels"], inside.sum())
        self.assertEqual(numbers["warnings"], [])

    def test_every_pixel_of_the_mean_shows_its_voxel(self):
        path = self.copy("scan2.nii")
        numbers, inside = self.numbers(path, *self.gradients, *self.mask), self.inside()
        page = Page(path.replace(".nii", ".report.html"))
        name = f"mean signal at b = {np.loadtxt(f'{self.scan}/bvals').max():g}"
        b = np.loadtxt(f"{self.scan}/bvals").ravel()
        mean = Image(path).volumes[..., b == b.max()].astype(float).mean(axis=3)
        m, last = numbers["mosaic"], numbers["pictures"][name]["last"]
        turned = np.where(inside, 255 * np.clip(mean / last, 0, 1), 0)
        turned = np.moveaxis(turned, [abs(a) - 1 for a in m["file_axes"]], (0, 1, 2))
        turned = np.flip(turned, [i for i, a in enumerate(m["file_axes"]) if a < 0])
        (a0, a1), (d0, d1) = [(m["first"][m[k]], m["last"][m[k]] + 1) for k in ("across", "down")]
        tile = np.moveaxis(turned, (m["through"], m["down"], m["across"]), (0, 1, 2))[m["slices"][0]][d0:d1, a0:a1][::-1]
        np.testing.assert_allclose(page.picture(f"{name} in")[:tile.shape[0], :tile.shape[1], 0], tile, atol=0.51)
        self.assertIn("Gradients", [text for _, text in page.headings])

    def test_warns_about_b_values_in_another_order_and_about_dropouts(self):
        path = self.copy("scan3.nii")
        b = np.loadtxt(f"{self.scan}/bvals").ravel()
        with open(self.path("turned"), "w", encoding="utf-8") as file:
            file.write(" ".join(f"{v:g}" for v in np.where(b > 50, 0, b.max())))
        directions = np.loadtxt(f"{self.scan}/bvecs")
        directions[:, np.abs(directions).sum(axis=0) == 0] = np.array([[1], [0], [0]])
        np.savetxt(self.path("turned.bvecs"), directions)
        numbers = self.numbers(path, "--bvals", self.path("turned"), "--bvecs", self.path("turned.bvecs"), *self.mask)
        self.assertIn("do --bvals belong to this scan", " ".join(numbers["warnings"]))
        image = Image(path)
        middle = int(np.median(np.argwhere(self.inside())[:, 2]))
        self.assertEqual(self.numbers(path, *self.gradients, *self.mask)["slices_with_low_signal"], 0)
        image.volumes[:, :, middle, 3] *= np.float32(0.4)
        image.volumes.flush()
        numbers = self.numbers(path, *self.gradients, *self.mask)
        self.assertEqual(numbers["slices_with_low_signal"], 1)
        self.assertIn("1 slice has less than 60 %", numbers["warnings"][0])

    def test_warns_about_repeated_directions(self):
        path = self.copy("scan4.nii")
        directions = np.loadtxt(f"{self.scan}/bvecs")
        weighted = np.abs(directions).sum(axis=0) > 0
        directions[:, weighted] = np.array([[0.6], [0.8], [0]])
        np.savetxt(self.path("same.bvecs"), directions)
        numbers = self.numbers(path, "--bvals", f"{self.scan}/bvals", "--bvecs", self.path("same.bvecs"))
        self.assertIn("have only 1 distinct direction;", " ".join(numbers["warnings"]))
        self.assertIn("leave a gap", " ".join(numbers["warnings"]))

    def test_finds_flips_and_swaps_of_the_directions(self):
        path, given = self.copy("scan7.nii"), np.loadtxt(f"{self.scan}/bvecs")
        for change, name in ((lambda g: g, None), (lambda g: g * np.array([[1], [-1], [1]]), "y negated"),
                             (lambda g: g[[1, 0, 2]], "x and y swapped"), (lambda g: g[[1, 2, 0]], "components in the order z, x, y")):
            np.savetxt(self.path("changed.bvecs"), change(given))
            numbers = self.numbers(path, "--bvals", f"{self.scan}/bvals", "--bvecs", self.path("changed.bvecs"), *self.mask)
            check, warnings = numbers["gradient_check"], " ".join(numbers["warnings"])
            with self.subTest(name):
                self.assertEqual(check["is_right"], name is None, check)
                if name is not None:
                    self.assertEqual(check["best_other"], name)
                    self.assertIn(f"mm with {name}", warnings)
                else:
                    self.assertNotIn("do not fit the image", warnings)

    def test_of_a_real_scan_has_the_right_directions(self):
        folder = os.path.join(os.environ.get("VOXHERD_DATA", ""), "philips_32dir_b1000")
        if not os.path.isdir(folder):
            self.skipTest("no brain scan (VOXHERD_DATA)")
        name, page = os.path.join(folder, "1201_DT_HIGH_32DIR_SENSE"), self.path("philips.html")
        run("report", f"{name}.nii.gz", "--bvals", f"{name}.bval", "--bvecs", f"{name}.bvec", "--out", page)
        with open(page.replace(".html", ".json"), encoding="utf-8") as file:
            numbers = json.load(file)
        self.assertTrue(numbers["gradient_check"]["is_right"], numbers["gradient_check"])
        self.assertLess(numbers["gradient_check"]["best_other_length_mm"], 0.9 * numbers["gradient_check"]["length_mm"])
        with open(page, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"further than 4[45]° from a direction \(about 17° if they were evenly spread\)")

    def test_needs_neither_gradients_nor_a_mask(self):
        path = self.copy("scan5.nii")
        numbers = self.numbers(path)
        self.assertIn("temporal SNR", numbers["outputs"])
        self.assertGreater(numbers["object_voxels"], 0)
        self.assertNotIn("shells", numbers)

    def test_refuses_options_that_do_not_belong_together(self):
        path = self.copy("scan6.nii")
        for words in ((path, "--bvals", f"{self.scan}/bvals"), (self.make("tensor"), *self.gradients),
                      (self.make("tensor"), *self.mask)):
            done = call("report", *words)
            self.assertEqual((done.returncode, len(done.stderr.strip().splitlines())), (2, 1), done.stderr)
        self.assertEqual(call("report", path, "--out", f"{self.scan}/bvals", *self.gradients, "--overwrite").returncode, 2)
        self.assertEqual(call("report", self.path("none.nii.gz")).returncode, 66)


class Folder(ReportJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bedpostx = cls.path("fibres.bedpostX")
        if not os.path.exists(cls.bedpostx):
            run("export", cls.make("ballstick"), "--to", "fsl", cls.bedpostx, "--quiet")

    def numbers(self, folder):
        run("report", folder + "/", "--overwrite")
        with open(folder + ".report.json", encoding="utf-8") as file:
            return json.load(file)

    def test_has_the_numbers_and_pictures_of_the_result_that_it_came_from(self):
        numbers = self.numbers(self.bedpostx)
        html, _ = self.report("ballstick")
        with open(html.replace(".html", ".json"), encoding="utf-8") as file:
            expected = json.load(file)
        for name in ("mean_f1", "mean_f2", "dyads1_dispersion", "mean_d", "mean_S0"):
            for key in ("min", "q25", "median", "q75", "max"):
                self.assertAlmostEqual(numbers["outputs"][name][key], expected["outputs"][name][key],
                                       delta=2e-5 * abs(expected["outputs"][name]["max"]), msg=name)
        self.assertEqual(numbers["voxels_with_fibre"], expected["voxels_with_fibre"])
        folder, result = Page(self.bedpostx + ".report.html"), Page(html)
        difference = folder.picture("dyads1 in").astype(int) - result.picture("dyads1 in")
        self.assertLessEqual(np.abs(difference).max(), 1)

    def test_is_averaged_from_its_samples_if_it_has_no_means(self):
        folder = self.path("samples.bedpostX")
        shutil.copytree(self.bedpostx, folder)
        for name in os.listdir(folder):
            if not name.startswith(("merged_", "nodif_brain_mask")):
                path = os.path.join(folder, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        expected, numbers = self.numbers(self.bedpostx), self.numbers(folder)
        for name in ("mean_f1", "dyads1_dispersion"):
            self.assertAlmostEqual(numbers["outputs"][name]["median"], expected["outputs"][name]["median"], places=3)
        a, b = (Page(path + ".report.html").picture("dyads1 in").astype(int) for path in (folder, self.bedpostx))
        self.assertLess(np.abs(a - b).mean(), 1)

    def test_of_bedpostx_shows_the_result_in_it_that_its_images_are_from(self):
        folder = self.path("both.bedpostX")
        shutil.copytree(self.bedpostx, folder)
        shutil.copy(self.make("ballstick"), f"{folder}/voxherd.h5")
        self.assertEqual(self.numbers(folder)["analysis"], "ballstick")
        image = Image(unpacked(f"{folder}/mean_f1samples"))
        image.volumes += np.float32(0.25)
        image.volumes.flush()
        numbers = self.numbers(folder)
        self.assertEqual(numbers["folder"], folder + "/")
        self.assertIn("voxherd.h5 belongs to other images than those in the folder", " ".join(numbers["warnings"]))

    def test_that_was_interrupted_or_of_probtrackx2_shows_its_result(self):
        for name, file in (("stopped.bedpostX", "voxherd.h5.part"), ("ptx", "voxherd.h5")):
            os.makedirs(self.path(name))
            shutil.copy(self.make("ballstick"), self.path(name, file))
            self.assertEqual(self.numbers(self.path(name))["analysis"], "ballstick")

    def test_without_samples_is_refused(self):
        folder = self.path("empty.bedpostX")
        os.makedirs(folder)
        done = call("report", folder)
        self.assertEqual((done.returncode, len(done.stderr.strip().splitlines())), (66, 1), done.stderr)
        self.assertIn("expected a folder of bedpostX", done.stderr)


if __name__ == "__main__":
    unittest.main()
