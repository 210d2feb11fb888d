"""voxherd slurm: the printed batch script parses, behaves like the scripts in slurm/, and runs. SLURM's programs are
fakes."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from fake_programs import FakePrograms

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VOXHERD = os.environ["VOXHERD"]
SERIES = ["--dwi", "data.nii.gz", "--bvals", "bvals", "--bvecs", "bvecs", "--mask", "nodif_brain_mask.nii.gz"]
TENSOR = ["tensor", *SERIES, "--out", "out.h5"]
# Skips options with or without a value, then runs the program: the arguments of srun and mpirun.
LAUNCHER = '#!/bin/bash\necho "$@" >>"$FAKE_FOLDER/launched"\nwhile [[ $1 == -* || $1 == none ]]; do shift; done\n'


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def directives(script):
    return dict(re.findall(r"(?m)^#SBATCH --([\w-]+)(?:=(.*))?$", script))


class Slurm(FakePrograms, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.subject = tempfile.mkdtemp(prefix="voxherd_slurm_")
        cls.addClassCleanup(shutil.rmtree, cls.subject)
        subprocess.run([VOXHERD, "phantom", "dwi", "--out", cls.subject, "--size", "9x8x7", "--directions", "12", "--gz",
                        "--threads", "1"], check=True, capture_output=True, timeout=120)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_slurm_play_")
        self.addCleanup(shutil.rmtree, self.folder)
        self.add_program("srun", LAUNCHER + 'exit "$FAKE_STATUS"\n')
        self.add_program("mpirun", LAUNCHER + 'exit "$FAKE_STATUS"\n')
        self.add_program("scontrol", '#!/bin/sh\necho "$@" >>"$FAKE_FOLDER/requeues"\n')

    def call(self, *words, expect=0):
        done = subprocess.run([VOXHERD, "slurm", *words], capture_output=True, text=True, timeout=120, cwd=self.subject)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def script(self, *words):
        return self.call(*words).stdout

    def environment(self, **more):
        return dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", FAKE_FOLDER=self.folder, SLURM_JOB_ID="7",
                    SLURM_CPUS_PER_TASK="1", **more)

    def submit(self, script, **more):
        """Exit status, arguments of the launcher, arguments of scontrol."""
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120, cwd=self.subject,
                              env=self.environment(**more))
        return done.returncode, self.read_log("launched"), self.read_log("requeues")


class Script(Slurm):
    VARIANTS = ([], ["--launcher", "mpirun"], ["--backend", "cpu"], ["--backend", "cpu", "--launcher", "mpirun"],
                ["--exclusive", "--module", "openmpi/4.1", "--module", "cuda", "--account", "brain",
                 "--slurm-partition", "a100", "--mpi", "pmix_v4", "--nodes=4", "--gpus-per-node=8"],
                ["--ranks-per-node", "8", "--share-gpu", "--time", "30"])

    def test_every_script_parses_and_passes_shellcheck(self):
        checked = 0
        for words in self.VARIANTS:
            script = self.script(*TENSOR, *words)
            parsed = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((parsed.returncode, parsed.stderr), (0, ""), words)
            if shutil.which("shellcheck"):
                found = subprocess.run(["shellcheck", "--shell=bash", "-"], input=script, capture_output=True, text=True,
                                       timeout=60, check=False)
                self.assertEqual((found.returncode, found.stdout), (0, ""), words)
                checked += 1
        if checked == 0:
            self.skipTest("shellcheck is not installed; bash -n found nothing")

    def test_the_same_settings_give_the_directives_of_the_scripts_in_slurm(self):
        for name, words in (("one-study", ["--time", "1:00:00"]),
                            ("gpu-multi-node", ["--time", "1:00:00", "--nodes", "4"]),
                            ("mpirun-resume", ["--time", "1:00:00", "--nodes", "2", "--launcher", "mpirun"]),
                            ("cpu", ["--time", "8:00:00", "--nodes", "2", "--backend", "cpu"])):
            with self.subTest(name):
                printed = directives(self.script(*TENSOR, "--slurm-partition", "gpu", *words))
                wanted = directives(read("slurm", f"{name}.sbatch"))
                wanted["partition"] = "gpu"
                self.assertEqual({key: printed.get(key) for key in wanted}, wanted)
                self.assertEqual(set(printed) - set(wanted), {"mem", "chdir"})

    def test_all_but_head_and_command_is_the_text_of_the_script_in_slurm(self):
        for name, words in (("one-study", []), ("mpirun-resume", ["--launcher", "mpirun"])):
            with self.subTest(name):
                printed, original = self.script(*TENSOR, *words), read("slurm", f"{name}.sbatch")
                ending = original[original.rindex('"$result"') + len('"$result"'):]
                self.assertGreater(len(ending.splitlines()), 5)
                self.assertTrue(printed.endswith(ending), printed)
                start = original.index("\n", original.index("\nresult=") + 1)
                before = original[start:original.rindex("\n", 0, original.rindex('"$voxherd"'))]
                self.assertIn(before, printed)
                for line in re.findall(r"(?m)^srun=\(.*$", original):
                    self.assertIn(line, printed)

    def test_the_job_has_the_programs_status_and_is_requeued_only_on_75_until_the_restarts_are_used(self):
        for launcher in ("srun", "mpirun"):
            script = self.script(*TENSOR, "--launcher", launcher, "--max-restarts", "3")
            for status in (0, 2, 65, 75, 137):
                with self.subTest(f"{launcher} {status}"):
                    rc, launched, scontrol = self.submit(script, FAKE_STATUS=str(status))
                    self.assertEqual(rc, status)
                    self.assertIn("--resume", launched)
                    self.assertEqual(scontrol, "requeue 7\n" if status == 75 else "")
            self.assertEqual(self.submit(script, FAKE_STATUS="75", SLURM_RESTART_COUNT="2")[2], "requeue 7\n")
            self.assertEqual(self.submit(script, FAKE_STATUS="75", SLURM_RESTART_COUNT="3")[2], "")

    def test_the_signal_reaches_mpirun_and_its_status_becomes_the_jobs(self):
        self.add_program("mpirun", '#!/bin/bash\ntrap "sleep 0.2; exit 75" USR1\ntouch "$FAKE_FOLDER/ready"\n'
                            'for i in {1..300}; do sleep 0.1; done\nexit 3\n')
        job = subprocess.Popen(["bash", "-c", self.script(*TENSOR, "--launcher", "mpirun")], cwd=self.subject,
                               env=self.environment())
        while not os.path.exists(os.path.join(self.folder, "ready")):
            self.assertIsNone(job.poll())
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(job.wait(timeout=60), 75)
        self.assertEqual(self.read_log("requeues"), "requeue 7\n")

    def test_a_printed_script_computes_the_result(self):
        self.add_program("srun", LAUNCHER + 'exec "$@"\n')
        odd = os.path.join(self.subject, "it's a $mask")
        os.makedirs(odd)
        shutil.copy(os.path.join(self.subject, "nodif_brain_mask.nii.gz"), os.path.join(odd, "mask.nii.gz"))
        words = ["tensor", *SERIES[:-1], f"{odd}/mask.nii.gz", "--out", "made.h5", "--backend", "cpu"]
        rc, launched, scontrol = self.submit(self.script(*words))
        self.assertEqual((rc, scontrol), (0, ""))
        self.assertIn("--threads 1", launched)
        direct = subprocess.run([VOXHERD, *words[:-3], "direct.h5", "--backend", "cpu"], cwd=self.subject, timeout=120,
                                capture_output=True, check=False)
        self.assertEqual(direct.returncode, 0, direct.stderr)
        same = subprocess.run([VOXHERD, "compare", "made.h5", "direct.h5"], cwd=self.subject, timeout=120,
                              capture_output=True, text=True, check=False)
        self.assertEqual(same.returncode, 0, same.stdout)

    def test_the_settings_are_in_the_script(self):
        script = self.script(*TENSOR, *self.VARIANTS[4])
        output = directives(script)
        for name, value in (("account", "brain"), ("partition", "a100"), ("nodes", "4"), ("gres", "gpu:8"),
                            ("ntasks-per-node", "8"), ("exclusive", ""), ("mem", "0"), ("chdir", self.subject)):
            self.assertEqual(output[name], value)
        for line in ("module load openmpi/4.1", "module load cuda"):
            self.assertIn(f"\n{line}\n", script)
        self.assertIn("--mpi=pmix_v4", script)
        self.assertIn("--backend cuda", script)
        self.assertIn(f"voxherd=${{VOXHERD:-{os.path.realpath(VOXHERD)}}}", script)
        shared = self.script(*TENSOR, *self.VARIANTS[5])
        self.assertEqual(directives(shared)["time"], "00:30:00")
        self.assertIn("--share-gpu", shared)

    def test_the_script_is_written_to_the_named_file(self):
        path = os.path.join(self.folder, "job.sbatch")
        done = self.call(*TENSOR, "--time", "60", "--script", path)
        self.assertEqual(done.stdout, "")
        self.assertIn("Estimate of tensor", done.stderr)
        with open(path, encoding="utf-8") as file:
            written = file.read()
        # The estimate differs between calls.
        without = [line for line in written.splitlines() if not line.startswith("# ")]
        again = self.script(*TENSOR, "--time", "60", "--mem", directives(written)["mem"]).splitlines()
        self.assertEqual(without, [line for line in again if not line.startswith("# ")])
        self.call(*TENSOR, "--time", "60", "--script", os.path.join(self.folder, "none", "job.sbatch"), expect=74)

    def test_the_script_never_replaces_a_file_of_the_analysis(self):
        before = {name: os.stat(os.path.join(self.subject, name)).st_ino for name in os.listdir(self.subject)}
        for name, role in (("bvals", "also the input --bvals"), (os.path.join(self.subject, "data.nii.gz"), "also the input --dwi"),
                           ("./out.h5.part", "a temporary file of --out")):
            done = self.call(*TENSOR, "--time", "60", "--script", name, "--overwrite-script", expect=2)
            self.assertIn(role, done.stderr)
        self.assertEqual({name: os.stat(os.path.join(self.subject, name)).st_ino for name in os.listdir(self.subject)}, before)


class Estimate(Slurm):
    def test_time_and_memory_come_from_a_dry_run_that_leaves_no_files(self):
        before = sorted(os.listdir(self.subject))
        script = self.script("ballstick", *SERIES, "--out", "new.h5", "--backend", "cpu")
        self.assertEqual(sorted(os.listdir(self.subject)), before)
        voxels = int(re.search(r"# Estimate of ballstick: (\d+) voxels", script)[1])
        self.assertGreater(voxels, 50)
        output = directives(script)
        self.assertRegex(output["mem"], r"^\d+G$")
        self.assertGreaterEqual(int(output["mem"][:-1]), 2)
        self.assertRegex(output["time"], r"^00:[1-9]0:00$")
        for word in ("time ", "memory ", "disk "):
            self.assertRegex(script, rf"(?m)^#   {word}")

    def test_a_limit_below_the_estimate_reports_the_number_of_restarts(self):
        words = ["ballstick", *SERIES, "--out", "long.h5", "--burn-in", "50000", "--backend", "cpu", "--ranks-per-node",
                 "1", "--cpus-per-rank", "1", "--time", "0:40", "--signal-before", "39"]
        script = self.script(*words, "--max-restarts", "0")
        self.assertRegex(script, r"longer than --time: .* about \d+ times, more than --max-restarts allows")
        self.assertEqual(directives(script)["time"], "00:00:40")

    def test_without_inputs_there_is_no_estimate_and_time_is_required(self):
        missing = ["tensor", "--dwi", "none.nii", *SERIES[2:], "--out", "none.h5"]
        self.assertRegex(self.call(*missing, expect=2).stderr, "--time is missing, and cannot be estimated: .*none.nii: cannot be")
        script = self.script(*missing, "--time", "1-02:03:04")
        self.assertRegex(script, r"(?m)^# No estimate of time and memory: .*none.nii")
        self.assertEqual(directives(script)["time"], "1-02:03:04")
        self.assertNotIn("mem", directives(script))

    def test_gpus_that_the_program_cannot_use_are_a_warning(self):
        built = subprocess.run([VOXHERD, "info"], capture_output=True, text=True, timeout=120, check=True).stdout
        warns = re.search(r"(?m)^CUDA +not built in$", built) is not None
        self.assertEqual("built without CUDA and will fail there: give --backend cpu" in self.call(*TENSOR).stderr, warns)
        for words in (["--backend", "cpu"], ["--program", "/opt/voxherd"]):
            self.assertNotIn("built without CUDA", self.call(*TENSOR, *words).stderr)

    def test_more_devices_than_a_short_computation_needs_are_a_warning(self):
        done = self.call(*TENSOR, "--nodes", "4")
        self.assertRegex(done.stderr, r"one GPU would compute this in about 0:0\d; 16 are asked for: "
                                      "give --nodes 1 --gpus-per-node 1")
        self.assertIn("one node would compute", self.call(*TENSOR, "--nodes", "4", "--backend", "cpu").stderr)
        for words in (["--gpus-per-node", "1"], ["--backend", "cpu"]):
            self.assertNotIn("are asked for", self.call(*TENSOR, *words).stderr)

    def test_a_folder_that_chdir_cannot_name_is_a_warning(self):
        folder = os.path.join(self.folder, "a b\nc")
        shutil.copytree(self.subject, folder)
        done = subprocess.run([VOXHERD, "slurm", *TENSOR], capture_output=True, text=True, timeout=120, cwd=folder, check=True)
        self.assertNotIn("chdir", directives(done.stdout))
        self.assertIn("the script has no --chdir: submit it in this folder", done.stderr)

    def test_errors_that_would_fail_the_job_are_reported_now(self):
        self.assertIn("--fit best", self.call(*TENSOR, "--fit", "best", expect=2).stderr)
        self.assertIn("dwii", self.call("tensor", "--dwii", "x", "--time", "60", expect=2).stderr)
        swapped = ["tensor", "--dwi", "data.nii.gz", "--bvals", "bvecs", "--bvecs", "bvals", "--out", "x.h5"]
        self.call(*swapped, "--time", "60", expect=65)


class Options(Slurm):
    def test_invalid_options_are_named(self):
        for words, expected in ((["--time", "soon"], "--time soon"), (["--time", "1:2:3:4"], "--time 1:2:3:4"),
                                (["--time", "1:30"], "not longer than --signal-before"),
                                (["--mem", "much"], "--mem much"), (["--nodes", "0"], "--nodes 0"),
                                (["--launcher", "qsub"], "--launcher qsub"),
                                (["--ranks-per-node", "8"], "--share-gpu"), (["--ranks-per-node", "2"], "GPUs without"),
                                (["--backend", "cpu", "--gpus-per-node", "2"], "--gpus-per-node"),
                                (["--account", "a b"], "--account a b"), (["--dry-run"], "--dry-run"),
                                (["--mpi", "x)"], "--mpi x)"), (["--launcher", "mpirun", "--mpi", "pmi2"], "--mpi")):
            with self.subTest(expected):
                self.assertIn(expected, self.call(*TENSOR, *words, expect=2).stderr)
        self.assertIn("ANALYSIS ... is missing", self.call(expect=2).stderr)
        self.assertIn("unknown command `tensr`", self.call("tensr", expect=2).stderr)
        self.assertIn("a command that writes a result", self.call("info", expect=2).stderr)

    def test_no_option_is_also_an_option_of_an_analysis(self):
        def help_options(command):
            output = subprocess.run([VOXHERD, command, "--help"], capture_output=True, text=True, timeout=60, check=True)
            return set(re.findall(r"(?m)^  (?:-\w \[ )?--([\w-]+)", output.stdout))
        own = help_options("slurm") - {"help"}
        self.assertGreater(len(own), 15)
        for command in ("tensor", "ballstick", "geodesic", "connect", "perfusion", "bedpostx"):
            self.assertEqual(own & help_options(command), set(), command)


if __name__ == "__main__":
    unittest.main()
