"""A GPU with too little memory, or one that is lost, in every analysis: batches are split, or the run ends with status 71
and --resume completes it; the bytes are the same. The device is simulated at the call that computes a batch."""
import collections
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../faults"))

from processes import HANG_SECONDS, Job
from studies import STUDIES, Studies

FAULTY = os.path.join(os.environ.get("VOXHERD_TEST_TOOLS", ""), "device_faults")
if not os.access(FAULTY, os.X_OK) or not shutil.which("mpirun"):
    print("skipped: needs mpirun, and device_faults in the folder named by VOXHERD_TEST_TOOLS")
    sys.exit(77)


class DeviceFaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="voxherd_device_")
        cls.addClassCleanup(folder.cleanup)
        cls.studies = Studies(os.environ["VOXHERD"], folder.name)
        for study in STUDIES:
            cls.studies.prepare(study, 1)

    def run_faulty(self, study, ranks, out, fault, number, *options):
        """Status, output, and number of failed calls."""
        log = out + ".faults"
        words = self.studies.command(study, self.studies.inputs, out, *options)
        job = Job(ranks, [FAULTY, *words[1:]], out + ".log",
                  {"VOXHERD_DEVICE_FAULT": fault, "VOXHERD_DEVICE_FAULT_CALL": str(number), "VOXHERD_DEVICE_FAULT_LOG": log})
        self.assertIsNone(job.finish(HANG_SECONDS))
        failed = 0
        if os.path.exists(log):
            with open(log) as file:
                failed = len(file.readlines())
        return job.status, job.output(), failed

    def path(self, study, name):
        return os.path.join(self.studies.folder, f"{study.name}_{name}.h5")

    def check_same(self, study, out):
        self.assertEqual(self.studies.difference(study, out, study.reference), "")

    def test_too_little_memory_at_any_time_splits_batches_and_gives_the_same_bytes(self):
        for study in STUDIES:
            # With seed 6 the first call of each rank fails: a rank of three may get a single batch.
            for ranks, seed in ((1, 1), (3, 6)):
                with self.subTest(study.name, ranks=ranks):
                    out = self.path(study, f"memory{ranks}")
                    status, output, failed = self.run_faulty(study, ranks, out, "memory", seed)
                    self.assertEqual(status, 0, output)
                    self.assertGreater(failed, 0)
                    self.check_same(study, out)

    def test_a_lost_device_ends_the_run_with_status_71_and_resume_gives_the_same_bytes(self):
        for study in STUDIES:
            for ranks, call in ((1, 3), (3, 0)):
                with self.subTest(study.name, ranks=ranks, call=call):
                    out = self.path(study, f"lost{ranks}{call}")
                    status, output, failed = self.run_faulty(study, ranks, out, "lost", call)
                    self.assertEqual(status, 71, output)
                    self.assertEqual(output.count("voxherd: error: "), 1, output)
                    self.assertGreater(failed, 0)
                    self.assertFalse(os.path.exists(out))
                    self.studies.complete(study, self.studies.inputs, out, 4 - ranks, "--resume")
                    self.check_same(study, out)

    def test_an_allocation_that_fails_splits_the_batch_or_ends_with_status_71_and_resume_gives_the_same_bytes(self):
        for study in STUDIES:
            ends = collections.Counter()
            for number in range(1, 5):
                ranks = 1 if number % 2 else 3
                with self.subTest(study.name, ranks=ranks, allocation=number):
                    out = self.path(study, f"allocation{number}")
                    status, output, failed = self.run_faulty(study, ranks, out, "allocation", number)
                    self.assertGreater(failed, 0)
                    self.assertIn(status, (0, 71), output)
                    self.assertEqual(output.count("voxherd: error: "), int(status == 71), output)
                    if status == 71:
                        self.studies.complete(study, self.studies.inputs, out, 4 - ranks, "--resume")
                    self.check_same(study, out)
                    ends[status] += 1
            self.assertGreater(ends[71], 0, f"{study.name}: the first allocation is not part of a batch")
            if study.name != "connect":  # its batches have one item here
                self.assertGreater(ends[0], 0, f"{study.name}: no batch was split")


if __name__ == "__main__":
    unittest.main()
