"""The official validator of BIDS on the data sets that the tests make and on what voxherd bids writes."""
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import unittest

import perfusion_jobs  # noqa: F401  # skips this test where its tools are missing
from bids_jobs import BRIEF, BidsJobs
from program import VOXHERD

# The package runs without the packages that it names: its programs are bundled.
PACKAGE = "bids-validator@1.15.0"
SHA512 = "gZ0UUTLBt5L3nuhLia/VfvK5OaM0yoTBPJvGmC4slQ8yDzpanWZOHHBS+PAua0riQ7Cwa51HER/Fnd9v17MHUw=="
FOLDER = os.path.join(os.path.dirname(os.path.abspath(VOXHERD)), "bids_validator")
PROGRAM = os.path.join(FOLDER, "package/bin/bids-validator")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def install():
    """The validator in the build folder, once."""
    for program in ("node", "npm"):
        if not shutil.which(program):
            skip(f"no {program}")
    if os.path.exists(PROGRAM):
        return
    os.makedirs(FOLDER, exist_ok=True)
    done = subprocess.run(["npm", "pack", "--json", "--fetch-retries=1", PACKAGE], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != 0:
        skip(f"npm cannot download {PACKAGE}")
    archive = os.path.join(FOLDER, json.loads(done.stdout)[0]["filename"])
    with open(archive, "rb") as file:
        if base64.b64encode(hashlib.sha512(file.read()).digest()).decode() != SHA512:
            sys.exit(f"{archive} is not the package that this test names")
    with tarfile.open(archive) as packed:
        packed.extractall(FOLDER)
    os.remove(archive)


install()


class Validator(BidsJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.describe("raw")
        cls.write("raw/README", "Phantoms with known truth, made by `voxherd phantom`.\n")
        for seed, label in enumerate(("01", "02", "03"), 1):
            cls.add_series(f"raw/sub-{label}/dwi/sub-{label}", seed)
        cls.add_mask("raw/derivatives/pre/sub-01/dwi/sub-01")
        cls.add_regions("raw/derivatives/pre/sub-01/dwi/sub-01_seg-ends")
        cls.bids("raw", "out", "participant", "--analysis", "tensor,ballstick,track,connect", "-d", "raw/derivatives/pre",
                 "--participant-label", "01", "--paths", "-w", "work", *BRIEF)
        cls.bids("raw", "out", "group", "--analysis", "tensor,ballstick", "-w", "work")
        cls.describe("dynamic")
        cls.write("dynamic/README", "Series with known flows.\n")
        cls.write("dynamic/.bidsignore", "perf/\n")  # BIDS has no name for them
        cls.add_dynamic("dynamic/sub-01", VolumeTiming=[2.5 * i for i in range(60)])
        cls.write("filter.json", json.dumps({"dynamic": {"suffix": "dce"}, "mask": {"label": "liver"},
                                             "arterial": {"label": "aorta"}, "portal": {"label": "portalvein"}}))
        words = ["--analysis", "perfusion", "--bids-filter-file", "filter.json", "-w", "work"]
        cls.bids("dynamic", "out_dynamic", "participant", *words, "--nprocs", "1", "--more", "--backend cpu")
        cls.bids("dynamic", "out_dynamic", "group", *words)

    def errors(self, data_set, ignored=()):
        self.write("config.json", json.dumps({"ignore": list(ignored)}))
        done = subprocess.run(["node", PROGRAM, self.path(data_set), "--json", "--config", self.path("config.json")],
                              capture_output=True, text=True, timeout=100)
        report = json.loads(done.stdout)
        self.files = report["summary"]["totalFiles"]
        return sorted({issue["key"] for issue in report["issues"]["errors"]})

    def test_the_raw_data_set_of_the_tests_is_valid(self):
        self.assertEqual(self.errors("raw"), [])
        self.assertGreaterEqual(self.files, 11)
        os.rename(self.path("raw/sub-02/dwi/sub-02_dwi.bvec"), self.path("bvec"))
        self.addCleanup(os.rename, self.path("bvec"), self.path("raw/sub-02/dwi/sub-02_dwi.bvec"))
        self.assertEqual(self.errors("raw"), ["DWI_MISSING_BVEC"])

    def test_the_derivatives_are_valid(self):
        # It does not know the names of derivatives: .bidsignore lists all of them, so that no subject is left.
        for out in ("out", "out_dynamic"):
            self.assertEqual(self.errors(out, ["SUBJECT_FOLDERS"]), [], out)
            os.rename(self.path(out, ".bidsignore"), self.path("bidsignore"))
            self.addCleanup(os.rename, self.path("bidsignore"), self.path(out, ".bidsignore"))
            self.assertIn("NOT_INCLUDED", self.errors(out, ["SUBJECT_FOLDERS"]), out)
            self.doCleanups()


if __name__ == "__main__":
    unittest.main()
