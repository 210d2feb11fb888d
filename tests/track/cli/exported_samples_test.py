"""Samples are read from the result in bedpostX's folder while the files that were exported from it are untouched."""
import gzip
import json
import os
import shutil
import struct
import tempfile
import unittest

import numpy as np
from crafted_inputs import nifti
from toy_jobs import h5py, voxherd

SIZE = (9, 8, 7)
READ = "the others were exported"  # in the message that names the result


def run(*words, ranks=0):
    rc, out, output = voxherd(*words, ranks=ranks)
    if rc != 0:
        raise AssertionError(f"{words}: {output}")
    return out + output


class ExportedSamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="voxherd_exported_")
        cls.addClassCleanup(shutil.rmtree, cls.base)
        subject = os.path.join(cls.base, "subject")
        run("phantom", "dwi", "--out", subject, "--size", "9x8x7", "--directions", "12", "--threads", 1)
        run("bedpostx", subject, "-n", "2", "-b", "50", "-j", "50", "-s", "10", "--backend", "cpu", "--threads", 1)

    def setUp(self):
        self.work = tempfile.mkdtemp(dir=self.base)
        self.folder = os.path.join(self.work, "s.bedpostX")
        run_copy = os.path.join(self.base, "subject.bedpostX")
        shutil.copytree(run_copy, self.folder)  # with its times
        self.mask = os.path.join(self.folder, "nodif_brain_mask.nii.gz")
        self.runs = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def track(self, *options, folder=None, mask=None, ranks=0, threads=1):
        """The messages and the result."""
        self.runs += 1
        out = os.path.join(self.work, f"{self.runs}.h5")
        output = run("track", "--samples", (folder or self.folder) + "/merged", "--mask", mask or self.mask, "--seed-image", self.mask,
                     "--samples-per-seed", 3, "--threads", threads, "--out", out, *options, ranks=ranks)
        return output, out

    def inflated(self, **how):
        """The result from the same files without the note."""
        os.rename(self.path("logs/exported_samples.json"), self.path("note"))
        output, out = self.track(**how)
        os.rename(self.path("note"), self.path("logs/exported_samples.json"))
        self.assertNotIn(READ, output)
        return out

    def expect_same(self, one, other):
        self.assertIn("the same bytes", run("compare", one, other))

    def files_read(self, out):
        with h5py.File(out) as file:
            return [os.path.basename(p) for p in json.loads(file.attrs["provenance"])["inputs"]["samples"]["paths"]]

    def falls_back(self, *words, **how):
        output, out = self.track(**how)
        self.assertNotIn(READ, output)
        for word in words:
            self.assertIn(word, output)
        self.assertIn("merged_th1samples.nii.gz", self.files_read(out))
        return out

    def write_mask(self, inside):
        with open(self.path("mask.nii"), "wb") as file:
            file.write(nifti(inside.astype(float), codes=(0, 0)))
        return self.path("mask.nii")

    def scale(self, name, factor):
        with gzip.open(self.path(name)) as file:
            data = bytearray(file.read())
        data[352:] = (np.frombuffer(bytes(data[352:]), "<f4") * np.float32(factor)).tobytes()
        with gzip.open(self.path(name), "wb") as file:
            file.write(data)

    def inside(self):
        with gzip.open(self.mask) as file:
            data = file.read()
        return np.frombuffer(data[int(struct.unpack("<f", data[108:112])[0]):], "<f4").reshape(SIZE, order="F") > 0

    def test_the_result_is_read_and_gives_the_bytes_of_the_files(self):
        output, out = self.track()
        self.assertIn(READ, output)
        self.assertEqual(self.files_read(out), ["voxherd.h5", "nodif_brain_mask.nii.gz"])
        slow = self.inflated()
        self.assertIn("merged_f2samples.nii.gz", self.files_read(slow))
        self.expect_same(out, slow)
        with h5py.File(out) as file:
            self.assertGreater(file["maps/density"][()].sum(), 1000)
        output, other = self.track(ranks=3, threads=2)
        self.assertIn(READ, output)
        self.expect_same(out, other)

    def test_any_mask_gives_the_bytes_of_the_files(self):
        inside = self.inside()
        chance = np.random.default_rng(1)
        self.assertTrue(np.any(inside) and not np.all(inside))
        for wanted in (np.ones(SIZE), inside & (chance.random(SIZE) < .7), (chance.random(SIZE) < .5) | ~inside):
            mask = self.write_mask(wanted)
            output, out = self.track(mask=mask, threads=2)
            self.assertIn(READ, output)
            self.expect_same(out, self.inflated(mask=mask))

    def test_files_that_were_touched_replaced_or_removed_are_read_themselves(self):
        expected = self.inflated()
        os.utime(self.path("merged_ph2samples.nii.gz"))
        self.expect_same(self.falls_back("merged_ph2samples.nii.gz is not as it was"), expected)

    def test_a_replaced_file_is_used(self):
        before = self.inflated()
        self.scale("merged_f1samples.nii.gz", .01)
        out = self.falls_back("merged_f1samples.nii.gz is not as it was")
        with h5py.File(out) as new, h5py.File(before) as old:
            self.assertFalse(np.array_equal(new["maps/density"][()], old["maps/density"][()]))

    def test_a_changed_damaged_or_missing_result_is_not_needed(self):
        expected = self.inflated()
        result = self.path("voxherd.h5")
        state = os.stat(result)
        with open(result, "r+b") as file:
            file.write(b"\0" * 4096)
        os.utime(result, ns=(state.st_atime_ns, state.st_mtime_ns))
        self.expect_same(self.falls_back("are inflated: ", "voxherd.h5"), expected)
        os.utime(result)
        self.expect_same(self.falls_back("voxherd.h5 is not as it was"), expected)
        os.remove(result)
        self.expect_same(self.falls_back("voxherd.h5 is not as it was"), expected)

    def test_a_damaged_note_is_not_used(self):
        with open(self.path("logs/exported_samples.json"), "w") as file:
            file.write('{"result": 3}')
        self.falls_back("exported_samples.json is damaged")

    def test_a_moved_folder_keeps_its_result_and_a_copy_without_times_does_not(self):
        copied = os.path.join(self.work, "copied")
        shutil.copytree(self.folder, copied, copy_function=shutil.copyfile)
        self.falls_back("is not as it was", folder=copied)
        moved = os.path.join(self.work, "moved")
        os.rename(self.folder, moved)
        self.mask = moved + "/nodif_brain_mask.nii.gz"
        self.assertIn(READ, self.track(folder=moved)[0])

    def test_removed_fibres_are_not_read(self):
        for name in ("th", "ph", "f"):
            os.remove(self.path(f"merged_{name}2samples.nii.gz"))
        output, out = self.track()
        self.assertIn(READ, output)
        self.expect_same(out, self.inflated())

    def test_a_file_of_another_program_is_read(self):
        for name in ("th", "ph", "f"):
            shutil.copy2(self.path(f"merged_{name}2samples.nii.gz"), self.path(f"merged_{name}3samples.nii.gz"))
        self.scale("merged_f3samples.nii.gz", .01)
        self.falls_back("was not exported by voxherd")

    def test_an_export_beside_the_result_refers_to_its_path(self):
        folder = os.path.join(self.work, "export")
        run("export", self.path("voxherd.h5"), "--to", "fsl", folder)
        output, out = self.track(folder=folder)
        self.assertIn(READ, output)
        self.expect_same(out, self.inflated())


if __name__ == "__main__":
    unittest.main()
