"""voxherd cohort: the state of many subjects, what to submit, the run of one subject, and invalid manifests."""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from cohort_jobs import ENVIRONMENT, LONG, ON_ONE_CORE, VOXHERD, CohortFolder, call, series
from result_files import changed_tables


class Folder(CohortFolder):
    def task(self, number, expect=0, ranks=1, **more):
        done = call(self.folder, "cohort", "cohort.tsv", "--run", str(number), "--more", ON_ONE_CORE, ranks=ranks, **more)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def done_by_journal(self, part):
        with h5py.File(self.path(part), "r") as file:
            first, done = file["journal/first_item"][()], file["journal/batches"]["done"]
            return int(((first[1:] - first[:-1]) * (done == 1)).sum()) / int(first[-1])

    def begin(self, number, batches, ranks=1):
        """The task's process, once its journal contains this many batches."""
        launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        job = subprocess.Popen([*launch, VOXHERD, "cohort", "cohort.tsv", "--run", str(number), "--more", ON_ONE_CORE],
                               cwd=self.folder, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        while job.poll() is None:
            try:
                if self.batches() >= batches:
                    return job
            except OSError:
                pass
            time.sleep(0.02)
        self.fail("the job ended before it could be stopped")

    def batches(self):
        with h5py.File(self.path("out/long.h5.part"), "r") as file:
            return int((file["journal/batches"]["done"] == 1).sum())


class Cohort(Folder):
    def setUp(self):
        super().setUp()
        self.phantom("whole", "long", "bad")
        with open(self.path("bad/bvals"), "w", encoding="utf-8") as file:
            file.write("0 1000 1000\n")
        self.write("cohort.tsv", "subject\tout\tcommand",
                   f"whole\tout/whole.h5\ttensor {series('whole')}",
                   f"long\tout/long.h5\t{LONG} {series('long')}",
                   f"bad\tout/bad.h5\ttensor {series('bad')}",
                   f"later\tout/later.h5\ttensor {series('whole')}")

    def test_before_any_run_all_subjects_are_to_be_submitted(self):
        table = self.table()
        self.assertEqual(table["counts"], {"complete": 0, "running": 0, "partial": 0, "failed": 0, "not started": 4})
        self.assertEqual((table["resubmit"], table["repair"], table["gpu_hours"]), ("1-4", "", 0))

    def test_complete_partial_failed_and_unstarted_subjects_are_distinguished_and_the_rest_is_submitted(self):
        self.task(1)
        output = self.task(3, expect=65)
        job = self.begin(2, batches=3)
        running = self.table()["subjects"]["long"]
        job.send_signal(signal.SIGKILL)
        job.wait()
        self.assertEqual((running["state"], running["resubmit"]), ("running", False))
        done = self.done_by_journal("out/long.h5.part")
        self.assertTrue(0 < done < 1, done)
        for ranks in (1, 3):
            table = self.table(ranks)
            whole, partial, bad, later = (table["subjects"][name] for name in ("whole", "long", "bad", "later"))
            self.assertEqual([s["state"] for s in (whole, partial, bad, later)],
                             ["complete", "partial", "failed", "not started"])
            self.assertAlmostEqual(partial["done"], done, places=12)
            self.assertIn("ended without a message", partial["detail"])
            self.assertEqual(bad["exit_status"], 65)
            self.assertIn("bad/bvals", bad["detail"])
            self.assertIn(bad["detail"], output)
            self.assertEqual((table["resubmit"], table["repair"]), ("2,4", "3"))
            self.assertEqual(table["gpu_hours"], 0)
            self.assertGreater(partial["core_hours"], 0)
        lists = call(self.folder, "cohort", "cohort.tsv", "--array").stdout
        self.assertEqual(lists, "2,4\n")

    def summary(self, name):
        with h5py.File(self.path(name), "r") as file:
            return json.loads(bytes(file["journal/summary"][()]).rstrip(b"\0"))

    def test_the_hours_of_a_complete_subject_are_those_of_its_run_on_cores_or_gpus(self):
        self.task(1, ranks=2)
        hours = 2 * self.summary("out/whole.h5")["seconds"] / 3600
        table = self.table()
        self.assertAlmostEqual(table["core_hours"], hours, places=12)
        self.assertEqual(table["gpu_hours"], 0)
        for gpus in (1, 2):  # as if first one rank, then both had used a GPU
            with changed_tables(self.path("out/whole.h5")) as file:
                words = file.attrs["provenance"]
                provenance = json.loads(words)
                self.assertEqual(provenance["devices"][gpus - 1], {"kind": "cpu", "threads": 1})
                provenance["devices"][gpus - 1] = {"kind": "cuda", "name": "NVIDIA H200", "uuid": "GPU-0"}
                file.attrs["provenance"] = np.bytes_(json.dumps(provenance))
            table = self.table()
            self.assertAlmostEqual(table["gpu_hours"], gpus * hours / 2, places=12)
            self.assertAlmostEqual(table["core_hours"], (2 - gpus) * hours / 2, places=12)

    def test_the_table_shows_the_same_as_json(self):
        self.task(3, expect=65)
        self.begin(2, batches=2).kill()
        shown = ""
        for _ in range(100):  # until the killed process has released its lock
            shown = call(self.folder, "cohort", "cohort.tsv").stdout
            if "running" not in shown:
                break
            time.sleep(0.05)
        percent = int(100 * self.done_by_journal("out/long.h5.part"))
        self.assertRegex(shown, rf"(?m)^    2  long     partial +[\d.e-]+ +{percent} %  ended without a message")
        self.assertRegex(shown, r"(?m)^    3  bad      failed +0 +0 %  status 65: ")
        self.assertIn("4 subjects: 1 partial, 1 failed, 2 not started\n", shown)
        script = re.search(r"(?m)^to submit: sbatch --array=1-2,4 (/.*/slurm/cohort.sbatch) cohort\.tsv$", shown)[1]
        self.assertTrue(os.path.exists(script))
        self.assertIn("to repair first (they would fail again as they are): --array=3\n", shown)

    def test_a_stopped_subject_exits_with_75_and_its_task_resumes_to_the_same_bytes(self):
        job = self.begin(2, batches=2)
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(job.wait(timeout=120), 75)
        before = self.table()["subjects"]["long"]
        self.assertEqual((before["state"], before["detail"], before["resubmit"]), ("partial", "", True))
        self.assertIn("resuming", self.task(2, ranks=2))
        complete, last = self.table()["subjects"]["long"], self.summary("out/long.h5")
        self.assertEqual(complete["state"], "complete")
        resumed, batches = last["resumed_batches"], last["all"]["batches"]
        self.assertGreaterEqual(resumed, 2)
        expected = 2 * last["seconds"] / 3600 * (batches + resumed) / batches
        self.assertAlmostEqual(complete["core_hours"], expected, places=12)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["long.h5"])
        words = f"{LONG} {series('long')} {ON_ONE_CORE} --out alone.h5".split()
        self.assertEqual(call(self.folder, *words).returncode, 0)
        self.assertEqual(call(self.folder, "compare", "out/long.h5", "alone.h5").returncode, 0)

    def test_a_repaired_subject_is_complete_after_another_run(self):
        self.task(3, expect=65)
        shutil.copy(self.path("whole/bvals"), self.path("bad/bvals"))
        self.task(3)
        self.assertEqual(self.table()["subjects"]["bad"]["state"], "complete")

    def test_a_failure_during_the_work_of_several_ranks_is_explained(self):
        with gzip.open(self.path("long/data.nii.gz")) as packed, open(self.path("long/data.nii"), "wb") as plain:
            shutil.copyfileobj(packed, plain)
        self.write("cohort.tsv", "subject\tout\tcommand",
                   f"long\tout/long.h5\t{LONG} {series('long').replace('data.nii.gz', 'data.nii')}")
        job = self.begin(1, batches=2, ranks=2)
        os.truncate(self.path("long/data.nii"), 1000)
        self.assertNotIn(job.wait(timeout=120), (0, 75))
        failed = self.table()["subjects"]["long"]
        self.assertEqual((failed["state"], failed["exit_status"] in (65, 74)), ("failed", True), failed)
        self.assertIn("data.nii", failed["detail"])
        self.assertGreater(failed["done"], 0)

    def test_a_truncated_series_has_failed(self):
        with open(self.path("bad/data.nii.gz"), "r+b") as file:
            file.truncate(os.path.getsize(self.path("bad/data.nii.gz")) * 2 // 3)
        shutil.copy(self.path("whole/bvals"), self.path("bad/bvals"))
        done = call(self.folder, "cohort", "cohort.tsv", "--run", "3", "--more", ON_ONE_CORE, ranks=2)
        self.assertNotEqual(done.returncode, 0)
        bad = self.table()["subjects"]["bad"]
        self.assertEqual((bad["state"], bad["resubmit"]), ("failed", False))
        self.assertIn("data.nii.gz", bad["detail"])

    def test_a_lost_gpu_or_a_full_disk_is_tried_again_but_not_a_defect(self):
        os.makedirs(self.path("out"))
        for status, again in ((71, True), (74, True), (70, False)):
            note = {"ended": True, "status": status, "message": "what happened", "command_line": "",
                    "begun_at": "2026-01-01T00:00:00Z", "host": "node7", "ranks": 1, "job": ""}
            with open(self.path("out/long.h5.task.json"), "w", encoding="utf-8") as file:
                json.dump(note, file)
            failed = self.table()["subjects"]["long"]
            self.assertEqual((failed["state"], failed["exit_status"], failed["resubmit"]), ("failed", status, again))

    def test_the_slurm_job_of_a_subject_that_died_is_named(self):
        self.write("out.task.json", "")
        os.makedirs(self.path("out"))
        note = {"ended": False, "status": 0, "message": "", "command_line": "", "begun_at": "2026-01-01T00:00:00Z",
                "host": "node7", "ranks": 1, "job": "SLURM job 12_2"}
        with open(self.path("out/long.h5.task.json"), "w", encoding="utf-8") as file:
            json.dump(note, file)
        died = self.table()["subjects"]["long"]
        self.assertEqual((died["state"], died["resubmit"]), ("failed", True))
        for word in ("node7", "SLURM job 12_2"):
            self.assertIn(word, died["detail"])

    def test_a_result_that_cannot_be_read_has_failed(self):
        os.makedirs(self.path("out"))
        self.write("out/whole.h5", "not HDF5")
        whole = self.table()["subjects"]["whole"]
        self.assertEqual((whole["state"], whole["exit_status"], whole["resubmit"]), ("failed", 65, False))


class OtherResults(Folder):
    """A result that another command left under a subject's name."""

    def setUp(self):
        super().setUp()
        self.phantom("one", "moved", "two")
        with open(self.path("one/bvals"), encoding="utf-8") as file:
            bvals = file.read()
        with open(self.path("two/bvals"), "w", encoding="utf-8") as file:
            file.write(bvals.replace("1000", "990"))
        self.write("cohort.tsv", "subject\tout\tcommand", f"a\tx.h5\ttensor {series('one')} --fit ols")
        self.task(1)

    def state(self, command):
        self.write("cohort.tsv", "subject\tout\tcommand", f"a\tx.h5\t{command}")
        s = self.table()["subjects"]["a"]
        return s["state"], s["exit_status"], s["resubmit"], s["detail"]

    def test_a_result_of_another_command_other_inputs_or_other_options_is_not_complete(self):
        for command, found in ((f"ballstick {series('one')}", 'analysis: "tensor" in the file, "ballstick" now'),
                               (f"tensor {series('two')} --fit ols", "/one/bvals in the file, "),
                               (f"tensor {series('one')} --fit wls", 'fit: "ols" in the file, "wls" now'),
                               (f"tensor {series('one')}", 'fit: "ols" in the file, "iwls" now'),
                               (f"tensor {series('one')} --fit ols --shells 0,1000", "shells: "),
                               (f"tensor {series('one').split(' --mask')[0]} --fit ols", "inputs.mask: ")):
            with self.subTest(command):
                state = self.state(command)
                self.assertEqual(state[:3], ("failed", 2, False), state)
                self.assertIn("x.h5 belongs to a different study (", state[3])
                self.assertIn(found, state[3])
        done = call(self.folder, "cohort", "cohort.tsv", "--run-all")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("subject a is not tried again", done.stderr)

    def test_a_result_with_texts_of_another_form_fails_only_its_own_subject(self):
        with changed_tables(self.path("x.h5")) as file:
            file.attrs["provenance"] = np.bytes_(json.dumps({**json.loads(file.attrs["provenance"]), "command_line": 7}))
        shutil.rmtree(self.path("one"))  # the stored command is compared where the inputs no longer exist
        state, status, _, detail = self.state(f"tensor {series('one')} --fit ols")
        self.assertEqual((state, status), ("failed", 65), detail)
        self.assertIn("x.h5: its JSON has another form than expected", detail)

    def test_the_same_command_from_moved_inputs_and_on_other_ranks_is_complete(self):
        for command in (f"tensor {series('one')} --fit ols --threads 3 --batch 9", f"tensor {series('moved')} --fit=ols",
                        f"tensor {series(self.path('one'))} --fit ols --quiet"):
            with self.subTest(command):
                self.assertEqual(self.state(command), ("complete", 0, False, ""))

    def test_the_options_are_compared_where_inputs_no_longer_exist(self):
        shutil.rmtree(self.path("one"))
        state = self.state(f"tensor {series('one')} --fit ols")
        self.assertEqual(state[:3], ("complete", 0, False), state)
        self.assertIn("only its options are compared", state[3])
        for command, found in ((f"tensor {series('one')} --fit wls", 'fit: "ols" in the file, "wls" now'),
                               (f"tensor {series('one')}", 'fit: "ols" in the file, "iwls" now'),
                               (f"tensor {series('one').split(' --mask')[0]} --fit ols", "mask.nii.gz in the file, not given now"),
                               (f"tensor {series('gone')} --fit ols", "gone/data.nii.gz does not exist, and is not an input")):
            with self.subTest(command):
                state = self.state(command)
                self.assertEqual(state[:3], ("failed", 2, False), state)
                self.assertIn(found, state[3])

    def test_an_input_with_another_content_and_a_wrong_command_are_not_complete(self):
        self.assertEqual(self.state(f"tensor {series('one')} --fit olss")[:3], ("failed", 2, False))
        shutil.copy(self.path("two/bvals"), self.path("one/bvals"))
        state = self.state(f"tensor {series('one')} --fit ols")
        self.assertEqual(state[:3], ("failed", 2, False), state)
        self.assertIn("inputs.bvals", state[3])


class Manifests(Folder):
    def test_the_line_to_submit_contains_the_template(self):
        self.write("cohort.tsv", "subject\tout", "a\ta.h5")
        template = "tensor --dwi {subject}.nii --bvals b --bvecs v"
        shown = call(self.folder, "cohort", "cohort.tsv", "--template", template).stdout
        self.assertRegex(shown, rf"to submit: sbatch --array=1 \S*slurm/cohort.sbatch cohort.tsv --template '{template}'\n")

    def refusal(self, *lines, template=None, status=65):
        self.write("cohort.tsv", *lines)
        done = call(self.folder, "cohort", "cohort.tsv", *(["--template", template] if template else []))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        return done.stderr

    def test_errors_are_reported_by_line_and_column(self):
        head = "subject\tout\tcommand"
        for lines, expected in (
                ([head, "a\ta.h5\ttensor", "b\tb.h5"], "line 3: found 2 cells separated by tabs, expected 3"),
                ([head, "a\ta.h5\ttensor", "", "a\tb.h5\ttensor"], "line 4, column subject: a is already used in line 2"),
                ([head, "a\ta.h5\ttensor", "b\t./a.h5\ttensor"], "line 3, column out: a.h5 is already used in line 2"),
                ([head, "\ta.h5\ttensor"], "line 2, column subject: empty"),
                ([head, "a\t\ttensor"], "line 2: a: no result file"),
                ([head, "a\ta.h5\t"], "line 2, column command: empty"),
                ([head, "a\ta.h5\ttensor --dwi 'x"], "line 2, column command: the quote ' at character 14"),
                ([head, "a\ta.h5\ttensor --out b.h5"], "line 2, column out: a.h5, but the command has --out b.h5"),
                ([head], "no subjects"), ([], "no subjects"),
                (["subject,out,command", "a,a.h5,tensor"], "line 1: expected column names"),
                (["subject\tout\tout\tcommand", "a\tb\tc\td"], "line 1: column out appears twice"),
                (["subject\t\tcommand", "a\tb\tc"], "line 1: column 2 has no name"),
                (["subject\tout", "a\ta.h5"], "no column `command` and no template")):
            with self.subTest(expected):
                self.assertIn(f"cohort.tsv{' ' if expected.startswith('line') else ': '}{expected}",
                              self.refusal(*lines))

    def test_no_two_subjects_have_one_result_however_it_is_written(self):
        head = "subject\tout\tcommand"
        os.mkdir(self.path("real"))
        os.symlink("real", self.path("link"))
        os.symlink("b.h5", self.path("pointer.h5"))
        for name in ("real/old.h5", "real/alone.h5"):
            self.write(name)
        os.link(self.path("real/old.h5"), self.path("hard.h5"))
        for first, second in (("a.h5", self.path("a.h5")), ("real/a.h5", "link/a.h5"), ("b.h5", "pointer.h5"),
                              ("real/old.h5", "hard.h5"), ("link/new/../a.h5", "real/a.h5")):
            with self.subTest(second):
                self.assertIn("is already used in line 2", self.refusal(head, f"a\t{first}\ttensor", f"b\t{second}\ttensor"))
        for second in ("a.h5.log", self.path("a.h5.cost.json"), "./a.h5.part", "link/../a.h5.task.json"):
            for lines in (("a\ta.h5\ttensor", f"b\t{second}\ttensor"), (f"b\t{second}\ttensor", "a\ta.h5\ttensor")):
                with self.subTest(lines):
                    self.assertIn("as the files that are kept next to that one", self.refusal(head, *lines))
        self.write("cohort.tsv", head, "a\ta.h5\ttensor", "b\ta2.h5\ttensor", "c\treal/a.h5\ttensor", "d\treal/alone.h5\ttensor")
        self.assertEqual(len(self.table()["subjects"]), 4)

    def contents(self):
        found = {}
        for name in os.listdir(self.folder):
            with open(self.path(name), encoding="utf-8") as file:
                found[name] = file.read()
        return found

    def test_no_table_and_no_page_replaces_the_manifest_or_a_subjects_files(self):
        manifest = ["subject\tout\tcommand", "a\tx.h5\ttensor --dwi d.nii --bvals b.json --bvecs v"]
        self.write("m.json", *manifest)
        for name in ("x.h5", "b.json", "x.h5.cost.json", "x.h5.log"):
            self.write(name, "precious")
        before = self.contents()
        for option, output, role in (("--report", "m.html", "also the input --manifest"), ("--json", "x.h5", "the result of a"),
                                     ("--json", self.path("x.h5.log"), "the result of a"),
                                     ("--report", "b.html", "also the input --bvals of a"), ("--report", "x.h5", "the result of a"),
                                     ("--report", "x.h5.cost.html", "the result of a")):
            with self.subTest(f"{option} {output}"):
                done = call(self.folder, "cohort", "m.json", option, output, "--overwrite")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(role, done.stderr)
        done = call(self.folder, "cohort", "m.json", "--json", "t.json", "--report", "t.html")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("t.json is also the file of --json", done.stderr)
        self.assertEqual(self.contents(), before)

    def test_an_invalid_template_is_reported(self):
        lines = ["subject\tout\tdwi", "a\ta.h5\tn/a"]
        self.assertIn("`{dwo}` does not name a column", self.refusal(*lines, template="tensor --dwi {dwo}", status=2))
        self.assertIn("line 2, column dwi: `n/a`", self.refusal(*lines, template="tensor --dwi {dwi}"))
        self.assertIn("the quote", self.refusal(*lines, template="tensor '", status=2))

    def test_an_invalid_command_line_fails_only_its_own_subject(self):
        self.write("cohort.tsv", "subject\tout\tcommand", "a\ta.h5\ttensr --dwi x", "b\tb.h5\ttensor --dwii x",
                   "c\tc.h5\tinfo", "d\td.h5\ttensor --dwi x --bvals x --bvecs x")
        table = self.table()
        details = [table["subjects"][name]["detail"] for name in "abcd"]
        self.assertIn("line 2 of the manifest (a): unknown command `tensr`", details[0])
        self.assertIn("dwii", details[1])
        self.assertIn("`info` does not write a result", details[2])
        self.assertEqual((details[3], table["repair"], table["resubmit"]), ("", "1-3", "4"))
        self.assertIn("line 3 of the manifest", self.task(2, expect=2))

    def test_a_missing_task_or_file_is_reported(self):
        self.write("cohort.tsv", "subject\tout\tcommand", "a\ta.h5\ttensor")
        self.assertIn("has subjects 1 to 1", self.task("2", expect=2))
        self.assertIn("--run 0: expected 1 or more", self.task("0", expect=2))
        self.assertEqual(call(self.folder, "cohort", "none.tsv").returncode, 66)

    def test_a_manifest_that_is_no_file_is_reported(self):
        os.symlink("loop.tsv", self.path("loop.tsv"))
        for name, why in ((self.folder, "is a directory"), ("loop.tsv", "Too many levels of symbolic links"),
                          ("x" * 300, "File name too long")):
            done = call(self.folder, "cohort", name)
            self.assertEqual(done.returncode, 66, done.stderr)
            self.assertIn(f"{name}: ", done.stderr)
            self.assertIn(why, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_missing_manifest_is_a_usage_error(self):
        self.assertEqual(call(self.folder, "cohort").returncode, 2)


class Templates(Folder):
    def test_a_template_makes_the_subjects_of_a_table_of_participants(self):
        self.phantom("sub 01", "sub-02")
        words = "--dwi '{folder}/data.nii.gz' --bvals {folder}/bvals --bvecs {folder}/bvecs " \
                "--mask {folder}/nodif_brain_mask.nii.gz --out derivatives/{participant_id}/tensor.h5"
        self.write("cohort.tsv", f"# template: voxherd tensor {words}", "# made by hand", "participant_id\tage\tfolder",
                   "sub-01\t30\tsub 01", "", "sub-02\t31\tsub-02")
        self.task(1)
        self.task(2)
        self.assertEqual(self.table()["counts"]["complete"], 2)
        for name in ("sub-01", "sub-02"):
            self.assertTrue(os.path.exists(self.path(f"derivatives/{name}/tensor.h5")))

    def test_the_option_overrides_the_line(self):
        self.write("cohort.tsv", "\ufeff# template: ballstick", "subject\tout\r", "a\ta.h5\r")
        done = call(self.folder, "cohort", "cohort.tsv", "--template", "tensr", "--json", "-")
        self.assertIn("tensr", json.loads(done.stdout)["subjects"][0]["detail"])


if __name__ == "__main__":
    unittest.main()
