"""voxherd cudimot: called again, killed, and in a folder that cuDIMOT has made."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from program import VOXHERD, files_below, run

CALL = ["--runMCMC", "-b", "3000", "-j", "100", "-s", "2", "--backend", "cpu", "--threads", "1", "--batch", "8"]


class Cudimot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_cudimot_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("phantom", "dwi", "--out", cls.path("scan"), "--size", "8x8x4", "--directions", "12", "--threads", "1")
        run("cudimot", cls.path("scan"), *CALL)
        cls.expected = cls.contents(cls.path("scan.NODDI_Watson"))

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @staticmethod
    def contents(folder):
        found = {}
        for name in files_below(folder):
            if not name.endswith(".h5"):
                with open(os.path.join(folder, name), "rb") as file:
                    found[name] = file.read()
        return found

    def subject(self, name):
        shutil.copytree(self.path("scan"), self.path(name))
        return self.path(name)

    def kill(self, subject, call):
        part = f"{subject}.NODDI_Watson/voxherd.h5.part"
        job = subprocess.Popen([VOXHERD, "cudimot", subject, *call], stderr=subprocess.DEVNULL)
        while not os.path.exists(part):
            self.assertIsNone(job.poll(), "the job ended before it could be killed")
            time.sleep(0.001)
        job.send_signal(signal.SIGKILL)
        job.wait()
        self.assertTrue(os.path.exists(part))

    def check(self, subject):
        self.assertEqual(self.contents(f"{subject}.NODDI_Watson"), self.expected)
        self.assertEqual([name for name in files_below(f"{subject}.NODDI_Watson") if name.endswith(".part")], [])
        self.assertIn("same", run("compare", self.path("scan.NODDI_Watson", "voxherd.h5"), f"{subject}.NODDI_Watson/voxherd.h5").stdout)

    def test_it_continues_after_a_kill_and_where_it_computes_again(self):
        subject = self.subject("killed")
        self.kill(subject, CALL)
        self.assertIn("resuming", run("cudimot", subject, *CALL).stderr)
        self.check(subject)
        self.kill(subject, CALL)
        self.assertIn("resuming", run("cudimot", subject, *CALL).stderr)
        self.check(subject)

    def test_what_another_call_has_begun_is_not_continued(self):
        subject = self.subject("other")
        self.kill(subject, [*CALL, "--rician"])
        self.assertNotIn("resuming", run("cudimot", subject, *CALL).stderr)
        self.check(subject)

    def test_images_of_cuDIMOT_are_not_replaced(self):
        subject = self.subject("foreign")
        os.mkdir(f"{subject}.NODDI_Watson")
        image = f"{subject}.NODDI_Watson/mean_fintra.nii.gz"
        with open(image, "w") as file:
            file.write("of another program")
        refused = run("cudimot", subject, *CALL, expect=2).stderr
        self.assertIn("mean_fintra.nii.gz is of another program", refused)
        self.assertEqual(files_below(f"{subject}.NODDI_Watson"), ["mean_fintra.nii.gz"])
        with open(image) as file:
            self.assertEqual(file.read(), "of another program")
        run("cudimot", subject, *CALL, "--overwrite")
        self.check(subject)

    def test_a_refused_call_leaves_no_folder(self):
        subject = self.subject("wrong")
        with open(f"{subject}/bvals", "w") as file:
            file.write("0 1000\n")
        run("cudimot", subject, *CALL, expect=65)
        self.assertFalse(os.path.exists(f"{subject}.NODDI_Watson"))
        run("cudimot", self.subject("dry"), *CALL, "--dry-run")
        self.assertFalse(os.path.exists(self.path("dry.NODDI_Watson")))


if __name__ == "__main__":
    unittest.main()
