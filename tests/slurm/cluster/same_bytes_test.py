"""Ranks on two nodes, started by srun or mpirun, write the same bytes as one process."""
import unittest

from cluster_jobs import ROOT, SCRIPTS, SRUN, VOXHERD, ClusterJobs, call, digest, provenance, study

STARTERS = {"srun": SRUN, "mpirun": "mpirun --bind-to none"}


class SameBytes(ClusterJobs):
    def launch(self, starter, words):
        job = self.submit(f"--wrap={STARTERS[starter]} {VOXHERD} {' '.join(words)}",
                          options=("--nodes=2", "--ntasks-per-node=2", "--cpus-per-task=1"))
        self.assertEqual(self.wait_for_end(job), "COMPLETED", self.job_output(job))

    def check(self, *words):
        words = (*words, "--backend", "cpu", "--threads", "1", "--out")
        call(VOXHERD, *words, study("reference.h5"), "--overwrite")
        for starter in STARTERS:
            result = study(f"{starter}.h5")
            self.launch(starter, (*words, result, "--overwrite"))
            self.assertEqual(digest(result), digest(study("reference.h5")), starter)
            made = provenance(result)
            self.assertEqual((made["ranks"], made["hosts"]), (4, ["n1", "n2"]), starter)

    def test_tensor(self):
        self.check("tensor", *self.subject(), "--batch", "64")

    def test_perfusion(self):
        liver = study("liver")
        call(VOXHERD, "phantom", "liver", "--out", liver, "--size", "16x16x6", "--signal", "concentration")
        self.check("perfusion", "--config", f"{ROOT}/configs/perfusion-quick.cfg", "--dynamic", f"{liver}/dce.nii", "--times",
                   f"{liver}/times.txt", "--mask", f"{liver}/liver.nii.gz", "--arterial-voi", f"{liver}/aorta.nii.gz",
                   "--portal-voi", f"{liver}/portal.nii.gz", "--batch", "16")

    def test_ballstick_with_the_projects_scripts(self):
        for starter, script in SCRIPTS.items():
            result = study(f"script_{starter}.h5")
            job = self.submit(script, study("subject"), result)
            self.assertEqual(self.wait_for_end(job), "COMPLETED", self.job_output(job))
            self.assert_complete_and_identical(result, job)
            self.assertEqual(provenance(result)["hosts"], ["n1", "n2"], starter)


if __name__ == "__main__":
    unittest.main()
