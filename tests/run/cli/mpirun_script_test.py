"""Several commands in one script that mpirun starts: a rank can start MPI only once."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import VOXHERD, run

if not shutil.which("mpirun"):
    print("skipped: needs mpirun")
    sys.exit(77)

STOPPED, USAGE = 75, 2
# Each command of the rest, with its status and what it printed.
SCRIPT = """for words in {words}; do
  {program} $words > "printed.$OMPI_COMM_WORLD_RANK" 2> "errors.$OMPI_COMM_WORLD_RANK"
  echo "$? $words" >> "statuses.$OMPI_COMM_WORLD_RANK"
  cat "printed.$OMPI_COMM_WORLD_RANK" >> "all.$OMPI_COMM_WORLD_RANK"
done"""


class MpirunScripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="voxherd_script_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        run("phantom", "dwi", "--preset", "toy", "--out", self.path("p"))
        run(*self.tensor(self.path("a.h5")))

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def tensor(self, out):
        p = self.path("p")
        return ["tensor", "--dwi", f"{p}/data.nii", "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs", "--mask",
                f"{p}/nodif_brain_mask.nii.gz", "--threads", "1", "--quiet", "--out", out]

    def script(self, ranks, *commands):
        """The statuses on each rank."""
        words = " ".join(f"'{' '.join(command)}'" for command in commands)
        subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), "sh", "-c", SCRIPT.format(words=words, program=VOXHERD)],
                       cwd=self.folder, timeout=120, stderr=subprocess.PIPE, check=True)
        return [[int(line.split()[0]) for line in self.read(f"statuses.{rank}").splitlines()] for rank in range(ranks)]

    def test_every_command_works_in_the_script_of_a_single_rank(self):
        statuses = self.script(1, self.tensor("b.h5"), ["compare", "a.h5", "b.h5"], self.tensor("c.h5"), ["--version"], ["info", "c.h5"],
                               ["verify", "c.h5"], ["export", "c.h5", "--to", "nifti", "maps"], ["report", "c.h5"], ["doctor"],
                               ["phantom", "dwi", "--preset", "toy", "--out", "p2"])
        self.assertEqual(statuses, [[0] * 10], self.read("errors.0"))

    def test_commands_for_one_process_run_on_the_first_rank_in_any_number(self):
        one = ["compare", "a.h5", "a.h5"], ["info", "a.h5"], ["export", "a.h5", "--to", "nifti", "maps"], ["--help"]
        statuses = self.script(3, *one, self.tensor("b.h5"), *one[:2])
        self.assertEqual(statuses, [[0] * 7] * 3, self.read("errors.0"))
        self.assertIn("usage:", self.read("all.0"))
        self.assertEqual([self.read("all.1"), self.read("all.2")], ["", ""])
        self.assertTrue(os.path.exists(self.path("maps")))
        run("compare", self.path("a.h5"), self.path("b.h5"))

    def test_a_difference_has_its_status_on_the_first_rank(self):
        run(*self.tensor(self.path("other.h5")), "--fit", "ols")
        self.assertEqual(self.script(2, ["compare", "a.h5", "other.h5"]), [[1], [0]])

    def test_a_second_analysis_of_several_ranks_is_refused_with_a_message(self):
        statuses = self.script(2, self.tensor("b.h5"), self.tensor("c.h5"))
        self.assertEqual(statuses, [[0, USAGE]] * 2)
        self.assertEqual(self.read("errors.0").count("\n"), 1, self.read("errors.0"))
        self.assertIn("voxherd: error: an earlier command of this script has used MPI", self.read("errors.0"))
        self.assertFalse(os.path.exists(self.path("c.h5")))

    def test_ranks_that_mpi_does_not_connect_are_refused(self):
        """As under the mpirun of another MPI: each would compute everything."""
        environment = {**os.environ, "PMI_RANK": "0", "PMI_SIZE": "4"}
        done = subprocess.run([VOXHERD, *self.tensor(self.path("b.h5"))], capture_output=True, text=True, timeout=60, env=environment, check=False)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("voxherd: error: the launcher started 4 processes, which do not know each other: use `srun --mpi=pmix`", done.stderr)
        self.assertFalse(os.path.exists(self.path("b.h5")))


if __name__ == "__main__":
    unittest.main()
