"""All scripts parse. Batch scripts return the program's exit status and requeue only on 75. SLURM's programs are
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


def scripts_in(folder):
    return sorted(os.path.join(ROOT, folder, name) for name in os.listdir(os.path.join(ROOT, folder)))


class Scripts(unittest.TestCase):
    def test_all_parse(self):
        for path in [*scripts_in("script"), *scripts_in("slurm"), os.path.join(ROOT, ".ci", "run")]:
            done = subprocess.run(["bash", "-n", path], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)

    def test_no_batch_script_names_a_partition_or_memory_of_a_site(self):
        for path in scripts_in("slurm"):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for option in ("partition", "account", "mem"):
                self.assertNotRegex(text, rf"(?m)^#SBATCH --{option}\b", path)
            self.assertRegex(text, r"(?m)^# #SBATCH --partition=\w+$", path)

    def test_scripts_print_their_usage_and_reject_unknown_options(self):
        for path in scripts_in("script"):
            self.assertTrue(os.access(path, os.X_OK), path)
            helped = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=60)
            self.assertEqual(helped.returncode, 0)
            self.assertIn(f"usage: script/{os.path.basename(path)}", helped.stdout)
            refused = subprocess.run([path, "--nonsense"], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(refused.returncode, 0)


class Slurm(FakePrograms, unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        # The launcher only exits with the given status.
        launcher = '#!/bin/sh\necho "$@" >>"$FAKE_FOLDER/launched"\nexit "$FAKE_STATUS"\n'
        self.add_program("srun", launcher)
        self.add_program("mpirun", launcher)
        self.add_program("scontrol", '#!/bin/sh\necho "$@" >>"$FAKE_FOLDER/requeues"\n')

    def script_arguments(self, script):
        """One argument per word of the script's usage, in lower case."""
        with open(script, encoding="utf-8") as file:
            return re.search(r"usage: sbatch (?:--\S+ )?slurm/\S+ ([\w. ]+)", file.read())[1].lower().split()

    def submit(self, script, status, restarts=None):
        """Exit status, arguments of the launcher, arguments of scontrol."""
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", FAKE_FOLDER=self.folder,
                           FAKE_STATUS=str(status), SLURM_JOB_ID="7", SLURM_CPUS_PER_TASK="4", SLURM_ARRAY_JOB_ID="7",
                           SLURM_ARRAY_TASK_ID="3")
        if restarts is not None:
            environment["SLURM_RESTART_COUNT"] = str(restarts)
        done = subprocess.run(["bash", script, *self.script_arguments(script)], capture_output=True, text=True, timeout=60,
                              env=environment, cwd=ROOT)
        return done.returncode, self.read_log("launched"), self.read_log("requeues")

    def requeued(self, script):
        """An array task needs its own ID: the job ID of the last task is the ID of the array, which means all tasks."""
        return "requeue 7_3\n" if script.endswith("cohort.sbatch") else "requeue 7\n"

    def expected_option(self, script):
        """With which the command continues what is there."""
        own = {"cohort.sbatch": "--run 3", "cohort-node.sbatch": "--run-all"}
        return own.get(os.path.basename(script), "--resume")

    def test_a_job_has_the_programs_status_and_is_requeued_only_on_75(self):
        for script in scripts_in("slurm"):
            for status in (0, 2, 65, 75, 137):
                with self.subTest(f"{os.path.basename(script)} {status}"):
                    rc, launched, scontrol = self.submit(script, status)
                    self.assertEqual(rc, status)
                    self.assertIn(self.expected_option(script), launched)
                    self.assertEqual(scontrol, self.requeued(script) if status == 75 else "")

    def test_the_launched_command_has_all_options_that_are_passed(self):
        for script in scripts_in("slurm"):
            words = self.submit(script, 0)[1].split()
            command = words[words.index(os.environ["VOXHERD"]) + 1]
            known = subprocess.run([os.environ["VOXHERD"], command, "--help-all"], capture_output=True, text=True, timeout=60)
            given = [word for word in words[words.index(command):] if word.startswith("--")]
            self.assertGreater(len(given), 0)
            self.assertEqual([word for word in given if f"{word} " not in known.stdout], [], script)
            if command != "cohort":
                self.assertTrue(os.path.exists(os.path.join(ROOT, words[words.index("--config") + 1])), script)

    def test_the_number_of_restarts_is_limited(self):
        for script in scripts_in("slurm"):
            self.assertEqual(self.submit(script, 75, restarts=9)[2], self.requeued(script))
            self.assertEqual(self.submit(script, 75, restarts=10)[2], "")

    def test_slurm_is_asked_for_a_signal_before_the_time_limit(self):
        for script in scripts_in("slurm"):
            with open(script, encoding="utf-8") as file:
                text = file.read()
            target = "B:" if re.search(r"^mpirun", text, re.MULTILINE) else ""
            self.assertRegex(text, rf"(?m)^#SBATCH --signal={target}USR1@\d+$")

    def test_site_settings_are_together_at_the_top(self):
        for script in scripts_in("slurm"):
            with open(script, encoding="utf-8") as file:
                top, rest = re.split(r"(?m)^set -u\n", file.read())
            before, own = re.split(r"(?m)^# Site settings", top)
            words = r"(?m)^(#SBATCH|# module|voxherd=|config=|srun=|max_restarts=)"
            self.assertGreater(len(re.findall(words, own)), 10, script)
            self.assertEqual(re.findall(words, before + rest), [], script)

    def test_srun_does_not_wait_for_a_killed_rank(self):
        for script in scripts_in("slurm"):
            with open(script, encoding="utf-8") as file:
                text = file.read()
            if "mpirun " not in text:
                self.assertRegex(text, r"(?m)^srun=\(srun .*--kill-on-bad-exit=0 --wait=\d+\)$")

    def test_the_signal_reaches_mpirun_and_its_status_becomes_the_jobs(self):
        self.add_program("mpirun", '#!/bin/bash\ntrap "sleep 0.2; exit 75" USR1\ntouch "$FAKE_FOLDER/ready"\n'
                            'for i in {1..300}; do sleep 0.1; done\nexit 3\n')
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", FAKE_FOLDER=self.folder, SLURM_JOB_ID="7")
        job = subprocess.Popen(["bash", os.path.join(ROOT, "slurm", "mpirun-resume.sbatch"), "subject", "out.h5"],
                               env=environment, cwd=ROOT)
        while not os.path.exists(os.path.join(self.folder, "ready")):
            self.assertIsNone(job.poll())
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(job.wait(timeout=60), 75)
        self.assertEqual(self.read_log("requeues"), "requeue 7\n")


if __name__ == "__main__":
    unittest.main()
