"""Cohorts of phantoms in a folder of their own. Not a test itself."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

VOXHERD = os.environ["VOXHERD"]
ON_ONE_CORE = "--backend cpu --threads 1"
LONG = "ballstick --fibres 1 --model 1 --burn-in 20000 --jumps 20000 --sample-every 400 --batch 16"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}


def call(folder, *words, ranks=1, program=VOXHERD, **more):
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    return subprocess.run([*launch, program, *words], capture_output=True, text=True, timeout=300, cwd=folder,
                          env=dict(ENVIRONMENT, **more))


def series(at):
    return f"--dwi {at}/data.nii.gz --bvals {at}/bvals --bvecs {at}/bvecs --mask {at}/nodif_brain_mask.nii.gz"


class CohortFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_cohort_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, *lines):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))

    def phantom(self, *names):
        done = call(self.folder, "phantom", "dwi", "--out", names[0], "--size", "9x8x7", "--directions", "12", "--gz",
                    "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in names[1:]:
            shutil.copytree(self.path(names[0]), self.path(name))

    def table(self, ranks=1, program=VOXHERD):
        """The cohort as printed by --json, with subjects by name."""
        done = call(self.folder, "cohort", "cohort.tsv", "--json", "-", ranks=ranks, program=program)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = json.loads(done.stdout)
        table["subjects"] = {s["subject"]: s for s in table["subjects"]}
        return table
