"""voxherd doctor: what it says about this machine, and about faults that can be made here."""
import os
import re
import resource
import signal
import subprocess
import tempfile
import unittest

from program import VOXHERD, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FALSIFIED = os.path.join(os.environ["VOXHERD_TEST_TOOLS"], "falsified_self_test")


def doctor(*words, before=(), rc=0, limits=None, **environment):
    """The findings: (verdict, subject, text)."""
    done = subprocess.run([*before, VOXHERD, "doctor", *words], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment}, preexec_fn=limits)
    assert done.returncode == rc, (done.returncode, done.stdout, done.stderr)
    lines = [line for line in done.stdout.splitlines() if line != "no problem found"]
    return [(line[:9].strip(), line[9:19].strip(), line[19:]) for line in lines]


def about(found, subject):
    return [(how, text) for how, name, text in found if name == subject]


class Doctor(unittest.TestCase):
    def test_every_subject_is_checked_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            found = doctor(folder)
            self.assertEqual(os.listdir(folder), [])
        names = [name for _, name, _ in found]
        for name in ("version", "MPI", "cores", "SLURM", "folder", "locks", "HDF5", "memory", "/dev/shm", "limits"):
            self.assertIn(name, names)
        self.assertTrue([name for name in names if name.startswith("GPU")])
        self.assertIn("written by 1 rank and read again", about(found, "HDF5")[0][1])

    def test_three_ranks_write_one_file(self):
        with tempfile.TemporaryDirectory() as folder:
            text = run("doctor", folder, ranks=3).stdout
            self.assertEqual(os.listdir(folder), [])
        self.assertIn("3 ranks on 1 node", text)
        self.assertIn("written by 3 ranks and read again", text)
        self.assertEqual(text.count("/dev/shm "), 1)  # once per node, not per rank

    def test_a_folder_that_cannot_be_used(self):
        found = doctor("/nowhere/results", rc=1)
        self.assertEqual(about(found, "folder")[0][0], "PROBLEM")
        self.assertIn("/nowhere/results does not exist", about(found, "folder")[0][1])
        self.assertEqual(about(found, "HDF5"), [])
        found = doctor("/proc", rc=1)  # permitted for root by its mode, but the file system has no files to create
        self.assertEqual([how for how, _ in about(found, "folder")], ["PROBLEM"])
        self.assertRegex(about(found, "folder")[0][1], "cannot (create|write into) /proc")
        self.assertEqual(about(found, "HDF5"), [])

    def test_processes_that_do_not_know_each_other(self):
        how, text = about(doctor(rc=1, SLURM_STEP_NUM_TASKS="4"), "MPI")[0]
        self.assertEqual(how, "PROBLEM")
        self.assertIn("the launcher started 4 processes, which do not know each other: use `srun --mpi=pmix`", text)

    def test_a_job_with_more_tasks_than_ranks(self):
        how, text = about(doctor(SLURM_JOB_ID="17", SLURM_NTASKS="8"), "SLURM")[0]
        self.assertEqual((how, text), ("advice", "job 17 has 8 tasks, this command 1 rank: start it with srun or mpirun"))

    @unittest.skipIf(os.cpu_count() < 2, "SKIPPED: one core only")
    def test_ranks_that_are_bound_to_few_cores(self):
        first = min(os.sched_getaffinity(0))
        how, text = about(doctor(before=["taskset", "-c", str(first)]), "cores")[0]
        self.assertEqual(how, "advice")
        self.assertIn(f"1 of the {os.sysconf('SC_NPROCESSORS_ONLN')} cores", text)
        self.assertIn("mpirun --bind-to none", text)

    def test_limits_of_the_shell(self):
        found = doctor(limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
        self.assertEqual(about(found, "limits"), [("advice", "ulimit -n (open files) is 256: many ranks and masks need "
                                                             "more; ulimit -n 4096")])

    def test_a_full_disk_is_a_problem_and_not_a_crash(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))
        with tempfile.TemporaryDirectory() as folder:
            found = doctor(folder, rc=1, limits=small_files, OMPI_MCA_gds="hash", PMIX_MCA_gds="hash")
            self.assertEqual(os.listdir(folder), [])
        how, text = about(found, "HDF5")[0]
        self.assertEqual(how, "PROBLEM")
        self.assertIn("File too large", text)


class SelfTest(unittest.TestCase):
    """Each test also shows that the temporary folder is empty afterwards."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(lambda: self.assertEqual(os.listdir(folder.name), []))
        self.environment = {**os.environ, "TMPDIR": folder.name}
        self.words = [VOXHERD, "doctor", "--self-test"]

    def analyses(self):
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            return re.search(r"(?m)^set\(VOXHERD_ANALYSES ([^)]*)\)", file.read())[1].split()

    def check(self, *words, rc=0, **settings):
        """Verdict and text of each line by subject and device, and the last line."""
        with tempfile.TemporaryDirectory() as here:
            done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=self.environment, cwd=here, check=False, **settings)
            self.assertEqual(os.listdir(here), [])
        self.assertEqual(done.returncode, rc, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        *lines, last = done.stdout.splitlines()
        return {(line[9:19].strip(), line[19:].split(":")[0]): (line[:9].strip(), line[19:]) for line in lines}, last

    def test_every_analysis_computes_the_stored_numbers_on_each_device(self):
        found, last = self.check(*self.words)
        self.assertEqual(last, "no problem found")
        devices = {device for name, device in found if name == "tensor"}
        self.assertTrue(any(device.startswith("CPU (") for device in devices))
        self.assertEqual({key for key in found if key[0] != "GPUs"}, {(name, device) for name in self.analyses() for device in devices})
        for (name, _), (how, text) in found.items():
            if name != "GPUs":
                self.assertEqual(how, "fine", text)
                self.assertRegex(text, r": \d+\.\d\d s$")

    def test_a_wrong_number_is_a_problem_of_its_analysis_only(self):
        for wrong in ("noddi", "connect"):
            found, last = self.check(FALSIFIED, wrong, rc=1)
            self.assertEqual(last, "results are wrong on this machine, see PROBLEM above")
            for (name, device), (how, text) in found.items():
                if name == wrong:
                    self.assertEqual(how, "PROBLEM")
                    self.assertRegex(text, r"mean of \S+: expected [\d.]+ ± [\d.e-]+, found [\d.]+; \d+\.\d\d s$")
                elif device.startswith("CPU"):
                    self.assertEqual(how, "fine", text)

    def test_a_signal_ends_it(self):
        with subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment) as job:
            job.stdout.readline()
            job.send_signal(signal.SIGTERM)
            job.communicate(timeout=60)
        self.assertEqual(job.returncode, 75)

    def test_a_reader_that_leaves_ends_it(self):
        with subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment) as job:
            job.stdout.close()
            self.assertIn("standard output cannot be written: Broken pipe", job.stderr.read())
        self.assertEqual(job.returncode, 74)

    def test_a_disk_without_room_is_a_problem(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))
        done = subprocess.run(self.words, capture_output=True, text=True, timeout=120, env=self.environment, preexec_fn=small_files, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("File too large", done.stdout)

    def test_what_prevents_it_is_named(self):
        for words, environment, rc, message in (
                (["mpirun", "--oversubscribe", "-n", "2", *self.words], {}, 2, "--self-test: expected one process, found 2 ranks"),
                (self.words, {"TMPDIR": "/nowhere"}, 74, "TMPDIR: No such file or directory; set it to a folder that can be written"),
                ([*self.words, "/tmp"], {}, 2, "--folder and --self-test")):
            done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment})
            self.assertEqual(done.returncode, rc, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
