"""A job that loses a rank keeps finished batches; the next job computes the others, with the same bytes as result."""
import unittest

from cluster_jobs import SCRIPTS, ClusterJobs, study, summary


class KilledRank(ClusterJobs):
    def check(self, starter):
        result = study(f"{starter}.h5")
        job = self.submit(SCRIPTS[starter], study("subject"), result)
        self.wait_for_batches(result, 4)
        self.kill_rank_on("n2", job)
        # The job fails without waiting, neither for the dead rank nor to be requeued, which would not help.
        self.assertEqual(self.wait_for_end(job), "FAILED", self.job_output(job))
        self.assertEqual(self.fields(job)["Restarts"], "0")
        again = self.submit(SCRIPTS[starter], study("subject"), result)
        self.assertEqual(self.wait_for_end(again), "COMPLETED", self.job_output(again))
        self.assert_complete_and_identical(result, again)
        self.assertGreaterEqual(summary(result)["resumed_batches"], 4)

    def test_under_srun(self):
        self.check("srun")

    def test_under_mpirun(self):
        self.check("mpirun")


if __name__ == "__main__":
    unittest.main()
