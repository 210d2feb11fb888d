"""--stall-minutes: a run in which no batch is finished any more ends with status 75 and says what each rank does."""
import json
import unittest

from toy_jobs import ToyJobs, digest, run, voxherd

STALL = ("--batch", 40, "--stall-minutes", 0.05)  # 64 batches; 3 s


class Stalls(ToyJobs):
    def check_stopped(self, ranks, activity, fewest_finished, *options):
        out = self.path(f"stalled{ranks}.h5")
        rc, output = run(ranks, out, *STALL, *options)
        self.assertEqual(rc, 75, output)
        messages = [line for line in output.splitlines() if line.startswith("voxherd: error: no batch was finished for ")]
        self.assertEqual(len(messages), 1, output)
        self.assertRegex(messages[0], rf"rank \d \(host [^)]+\) has been {activity} for [0-9.]+ min")
        self.assertIn("--resume continues", messages[0])
        self.assertEqual(voxherd("verify", out + ".part")[0], 0)
        table = self.path(f"times{ranks}.json")
        rc, output = run(2, out, "--resume", "--json", table)
        self.assertEqual(rc, 0, output)
        with open(table) as file:
            self.assertGreaterEqual(json.load(file)["resumed_batches"], fewest_finished)
        self.assertEqual(digest(out), self.reference())
        return messages[0]

    def test_a_batch_that_never_ends_stops_the_run_and_the_others_are_kept(self):
        # A rank may have loaded one more batch, which it cannot compute.
        self.check_stopped(1, "computing batch 30", 30, "--hang-at", 30)
        self.assertIn("2 of 3 ranks are waiting", self.check_stopped(3, "computing batch 30", 62, "--hang-at", 30))

    def test_an_input_that_never_arrives_stops_the_run(self):
        # The batch before it may be computed but not written.
        self.check_stopped(1, "reading batch 30", 28, "--hang-at", 30, "--hang-in-reading")
        self.check_stopped(3, "reading batch 30", 1, "--hang-at", 30, "--hang-in-reading")

    def test_slow_batches_do_not_stop_a_run(self):
        for ranks in (1, 3):
            out = self.path(f"slow{ranks}.h5")
            rc, output = run(ranks, out, "--batch", 400, "--slowest-ms", 1000, "--stall-minutes", 1)
            self.assertEqual(rc, 0, output)
            self.assertEqual(digest(out), self.reference())

    def test_a_number_of_minutes_that_is_out_of_range_is_refused(self):
        rc, output = run(1, self.path("never.h5"), "--stall-minutes", -1)
        self.assertEqual(rc, 2, output)
        self.assertIn("--stall-minutes", output)


if __name__ == "__main__":
    unittest.main()
