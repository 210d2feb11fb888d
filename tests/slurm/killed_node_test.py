"""A job that loses a node is requeued by SLURM and goes on where it was, to the same bytes."""
import unittest

from cluster_jobs import SCRIPTS, ClusterJobs, call, study, summary


class KilledNode(ClusterJobs):
    """Of three nodes two compute. SLURM requeues a job whose node died; it goes on without the dead node and without a
    human."""
    nodes = 3

    def check(self, starter, node):
        result = study(f"{starter}_{node}.h5")
        job = self.submit(SCRIPTS[starter], study("subject"), result)
        self.wait_for_batches(result, 4)
        self.cluster.kill_node(node)
        self.addCleanup(self.cluster.start_node, node)
        self.assertEqual(self.wait_for_end(job), "COMPLETED", self.said(job))
        self.assertEqual(self.fields(job)["Restarts"], "1", self.said(job))
        self.assert_whole_and_same(result, job)
        self.assertGreaterEqual(summary(result)["resumed_batches"], 4)
        self.assertNotIn(node, call("scontrol", "show", "hostnames", self.fields(job)["NodeList"]).split())

    def test_a_node_with_ranks_alone(self):
        self.check("srun", "n2")

    def test_the_node_with_the_batch_script(self):
        self.check("srun", "n1")


if __name__ == "__main__":
    unittest.main()
