"""A result with one changed value is refused by every command that uses it as an input."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
from program import VOXHERD, files_below, run
from result_files import changed_tables, changed_values, h5py

SCAN = "--dwi p/data.nii --bvals p/bvals --bvecs p/bvecs --mask p/nodif_brain_mask.nii.gz".split()
BRIEF = "--backend cpu --threads 1 --quiet".split()


class DamagedInputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_damaged_input_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        here = os.getcwd()
        cls.addClassCleanup(os.chdir, here)
        os.chdir(cls.folder)
        run("phantom", "dwi", "--preset", "toy", "--fibres", "2", "--out", "p")
        run("ballstick", *SCAN, *BRIEF, "--fibres", "2", "--burn-in", "20", "--jumps", "20", "--sample-every", "5", "--out", "fibres.h5")
        run("tensor", *SCAN, *BRIEF, "--out", "tensor.h5")
        run("connect", *SCAN, *BRIEF, "--connectome", "p/truth/ends.nii.gz", "--paths", "paths.h5", "--out", "network.h5")

    @staticmethod
    def damage(name, dataset):
        """Changes one bit of a value."""
        shutil.copy(name, "damaged.h5")
        with h5py.File(name, "r") as file:
            at = file[dataset].id.get_offset() + file[dataset].nbytes // 2
        with open("damaged.h5", "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 4]))

    def check_refused(self, *words):
        before = files_below(".")
        done = run(*words, expect=65)
        self.assertIn("damaged.h5 is damaged: batch ", done.stderr)
        self.assertIn("`voxherd verify damaged.h5` lists all damage", done.stderr)
        self.assertEqual(files_below("."), before)
        self.assertEqual(run("verify", "damaged.h5", expect=65).stdout.count("batch "), 1)

    def test_samples_of_streamlines(self):
        self.damage("fibres.h5", "samples/th1")
        self.check_refused("track", "--samples", "damaged.h5", "--seed-image", "p/truth/ends.nii.gz", "--samples-per-seed", "2", *BRIEF, "--out", "o.h5")

    def test_tensors_of_paths(self):
        for name, dataset in (("tensor.h5", "maps/tensor"), ("fibres.h5", "samples/f1")):
            self.damage(name, dataset)
            self.check_refused("geodesic", "--tensor", "damaged.h5", "--seed-image", "p/truth/ends.nii.gz", "--directions", "8", *BRIEF, "--out", "o.h5")
            self.check_refused("connect", "--tensor", "damaged.h5", "--connectome", "p/truth/ends.nii.gz", *BRIEF, "--out", "o.h5")

    def test_exports_and_pages(self):
        for name, dataset, kinds in (("tensor.h5", "maps/FA", ["nifti maps", "bids b --subject 1"]), ("fibres.h5", "samples/ph2", ["fsl d", "nifti maps"]),
                                     ("paths.h5", "points/position", ["tck o.tck", "trx o.trx"])):
            self.damage(name, dataset)
            self.check_refused("report", "damaged.h5", "--out", "page.html")
            for kind in kinds:
                self.check_refused("export", "damaged.h5", "--to", *kind.split())

    def test_missing_outputs_are_found_before_an_export_writes(self):
        labels = {"fsl": (), "bids": ("--subject", "1")}
        refused = dict.fromkeys(labels, 0)
        with h5py.File("fibres.h5", "r") as file:
            outputs = [o["name"] for o in json.loads(file.attrs["contents"])["outputs"]]
        for output in outputs:
            shutil.copy("fibres.h5", "lacking.h5")
            with changed_values("lacking.h5") as file:
                contents = json.loads(file.attrs["contents"])
                next(o for o in contents["outputs"] if o["name"] == output)["name"] = "other"
                group = "maps" if f"maps/{output}" in file else "samples"
                file.move(f"{group}/{output}", f"{group}/other")
                file.attrs["contents"] = np.bytes_(json.dumps(contents))
            for kind, more in labels.items():
                before = files_below(".")
                done = subprocess.run([VOXHERD, "export", "lacking.h5", "--to", kind, *more, "--out", "o"], capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    refused[kind] += 1
                    self.assertEqual(done.returncode, 65, done.stderr)
                    self.assertIn("lacking.h5", done.stderr)
                    self.assertEqual(files_below("."), before, done.stderr)
                shutil.rmtree("o", ignore_errors=True)
        self.assertGreater(refused["fsl"], 10)
        self.assertGreater(refused["bids"], 8)

    def test_scores_and_comparisons(self):
        self.damage("tensor.h5", "maps/V1")
        self.check_refused("compare", "damaged.h5", "tensor.h5")
        self.check_refused("compare", "tensor.h5", "damaged.h5")
        self.check_refused("phantom", "score", "damaged.h5", "--truth", "p")

    def test_a_repacked_result_is_used_as_before(self):
        shutil.copy("fibres.h5", "repacked.h5")
        with changed_tables("repacked.h5") as file:
            for name in ("samples/th1", "maps/mean_f1", "inputs/bvals"):
                values, attributes = file[name][()], dict(file[name].attrs)
                del file[name]
                file.create_dataset(name, data=values, compression="gzip", shuffle=True).attrs.update(attributes)
        run("verify", "repacked.h5")
        for name in ("fibres", "repacked"):
            run("track", "--samples", f"{name}.h5", "--seed-image", "p/truth/ends.nii.gz", "--samples-per-seed", "2", *BRIEF, "--out", f"of_{name}.h5")
            run("export", f"{name}.h5", "--to", "nifti", f"maps_{name}")
        run("compare", "of_fibres.h5", "of_repacked.h5")


if __name__ == "__main__":
    unittest.main()
