"""A job that loses a node is requeued by SLURM and resumes, with the same bytes as result."""
import unittest

from cluster_jobs import SCRIPTS, ClusterJobs, call, study, summary


class KilledNode(ClusterJobs):
    """Two of the three nodes compute. SLURM requeues a job whose node fails; it resumes without the failed node and
    without user action."""
    nodes = 3

    def check(self, node):
        jobs = {}
        for starter, script in SCRIPTS.items():
            result = study(f"{starter}_without_{node}.h5")
            jobs[starter] = result, self.submit(script, study("subject"), result)
        with self.stopped_with_batches(jobs.values(), 4):
            self.cluster.kill_node(node)
        self.addCleanup(self.cluster.start_node, node)
        for starter, (result, job) in jobs.items():
            with self.subTest(starter):
                self.assertEqual(self.wait_for_end(job), "COMPLETED", self.job_output(job))
                self.assertEqual(self.fields(job)["Restarts"], "1", self.job_output(job))
                self.assertNotIn(node, call("scontrol", "show", "hostnames", self.fields(job)["NodeList"]).split())
                self.assert_complete_and_identical(result, job)
                self.assertGreaterEqual(summary(result)["resumed_batches"], 4)

    def test_a_node_that_only_has_ranks(self):
        self.check("n2")

    def test_the_node_with_the_batch_script(self):
        self.check("n1")


if __name__ == "__main__":
    unittest.main()
