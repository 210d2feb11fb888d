"""voxherd doctor: what it says about this machine, and about faults that can be made here."""
import os
import resource
import subprocess
import tempfile
import unittest

from program import VOXHERD, run


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


if __name__ == "__main__":
    unittest.main()
