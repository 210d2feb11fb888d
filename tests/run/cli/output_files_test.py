"""Files that the user names for output replace nothing that was not to be replaced, and losing one is not silent."""
import os
import shutil
import stat
import subprocess
import tempfile
import threading
import unittest

from program import VOXHERD, run
from toy_jobs import ToyJobs, begin, digest, remaining_output, run as run_toy, wait_for_batches

SLOW = ("--batch", 40, "--slowest-ms", 60)  # 64 batches


def content(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text="precious\n"):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def call(*words, **how):
    """Exit status and errors of a command."""
    done = subprocess.run([VOXHERD, *map(str, words)], stderr=subprocess.PIPE, text=True, timeout=120,
                          **{"stdout": subprocess.PIPE, **how})
    return done.returncode, done.stderr


class Study(unittest.TestCase):
    """A study of tensors, with a copy of its inputs for each test."""

    @classmethod
    def setUpClass(cls):
        cls.original = tempfile.mkdtemp(prefix="voxherd_outputs_")
        run("phantom", "dwi", "--size", "6x5x4", "--out", os.path.join(cls.original, "p"), "--threads", "1")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.original)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_outputs_")
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(os.path.join(self.original, "p"), self.path("p"))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def tensor(self, *options, out="o.h5", **how):
        p = self.path("p")
        return call("tensor", "--dwi", f"{p}/data.nii", "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs", "--mask",
                    f"{p}/nodif_brain_mask.nii.gz", "--threads", 1, "--quiet", "--out", self.path(out), *options, **how)

    def result(self):
        status, errors = self.tensor()
        self.assertEqual(status, 0, errors)
        return self.path("o.h5")

    def refused(self, status, errors, expected, text):
        self.assertEqual(status, expected, errors)
        self.assertEqual(errors.count("voxherd: error:"), 1, errors)
        self.assertIn(text, errors)


class Replaced(Study):
    def test_no_output_replaces_an_input_not_even_with_overwrite(self):
        os.symlink(self.path("p", "bvals"), self.path("soft"))
        os.link(self.path("p", "bvecs"), self.path("hard"))
        config = write(self.path("config"), "batch = 64\n")
        for name, option in (("p/data.nii", "--dwi"), ("soft", "--bvals"), ("hard", "--bvecs"), ("config", "--config")):
            before = content(self.path(name))
            for output in ("--json", "--trace", "--out"):
                as_out = output == "--out"
                words = () if as_out else (output, self.path(name))
                status, errors = self.tensor("--config", config, "--overwrite", *words, out=name if as_out else "o.h5")
                self.refused(status, errors, 2, f"is also the input {option}")
                self.assertEqual(content(self.path(name)), before)
                self.assertFalse(os.path.exists(self.path("o.h5")))

    def test_an_existing_file_is_replaced_only_with_overwrite(self):
        for option in ("--json", "--trace"):
            notes = write(self.path("notes" + option))
            status, errors = self.tensor(option, notes)
            self.refused(status, errors, 2, f"{option} {notes} exists; --overwrite replaces it")
            self.assertEqual(content(notes), b"precious\n")
            self.assertFalse(os.path.exists(self.path("o.h5")))
            status, errors = self.tensor(option, notes, "--overwrite", out=f"o{option}.h5")
            self.assertEqual(status, 0, errors)
            self.assertNotIn(b"precious", content(notes))

    def test_two_outputs_are_two_files(self):
        for option, name in (("--json", "o.h5"), ("--trace", "o.h5.part"), ("--json", "p/../o.h5.lock")):
            status, errors = self.tensor(option, self.path(name), "--overwrite")
            self.refused(status, errors, 2, "--out; choose another name")
        os.symlink("missing.json", self.path("link.json"))
        status, errors = self.tensor("--json", self.path("missing.json"), "--trace", self.path("link.json"))
        self.refused(status, errors, 2, "choose two names")
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.json", "p"])

    def test_a_complete_result_does_not_conflict_with_its_own_table(self):
        words = ("--json", self.path("t.json"), "--trace", self.path("t.csv"), "--resume")
        for _ in range(2):
            status, errors = self.tensor(*words)
            self.assertEqual(status, 0, errors)

    def test_tables_of_tools_replace_a_file_only_with_overwrite(self):
        result = self.result()
        manifest = write(self.path("m.tsv"), f"subject\tout\tcommand\na\t{result}\ttensor --dwi x --bvals x --bvecs x\n")
        tensor = ("tensor", "--dwi", "d.nii", "--bvals", "b", "--bvecs", "v", "--out", self.path("n.h5"), "--time", 60)
        for words, option, overwrite in (
                (("phantom", "score", result, "--truth", self.path("p")), "--json", "--overwrite"),
                (("cohort", manifest), "--json", "--overwrite"), (("slurm", *tensor), "--script", "--overwrite-script")):
            notes = write(self.path(words[0]))
            status, errors = call(*words, option, notes)
            self.refused(status, errors, 2, f"{option} {notes} exists")
            self.assertEqual(content(notes), b"precious\n")
            status, errors = call(*words, option, notes, overwrite)
            self.assertEqual(status, 0, errors)
            self.assertNotIn(b"precious", content(notes))
        before = content(manifest)
        status, errors = call("cohort", manifest, "--json", manifest, "--overwrite")
        self.refused(status, errors, 2, "is also the input --manifest")
        self.assertEqual(content(manifest), before)

    def test_a_link_as_out_is_followed(self):
        os.mkdir(self.path("scratch"))
        os.symlink(os.path.join("scratch", "target.h5"), self.path("o.h5"))
        status, errors = self.tensor()
        self.assertEqual(status, 0, errors)
        self.assertTrue(os.path.islink(self.path("o.h5")))
        self.assertEqual(os.listdir(self.path("scratch")), ["target.h5"])
        self.refused(*self.tensor(), 2, "exists")
        self.assertEqual(self.tensor("--resume")[0], 0)

    def test_a_link_in_the_place_of_an_unfinished_result_is_no_stopped_run(self):
        other = self.result()
        before = content(other)
        for target in (other, "nothing"):
            os.symlink(target, self.path("n.h5.part"))
            for options in ((), ("--resume",)):
                self.refused(*self.tensor(*options, out="n.h5"), 2, "n.h5.part is a link, expected a file that a stopped run has left; remove it")
            status, errors = self.tensor("--resume", "--overwrite", out="n.h5")
            self.assertEqual(status, 0, errors)
            self.assertFalse(os.path.lexists(self.path("n.h5.part")))
            os.remove(self.path("n.h5"))
        self.assertEqual(content(other), before)
        self.assertFalse(os.path.lexists(self.path("nothing")))

    def test_a_name_that_cannot_be_a_result_is_an_error_of_usage(self):
        os.mkfifo(self.path("pipe"))
        os.symlink("loop", self.path("loop"))
        os.makedirs(self.path("f.h5.part", "file"))
        for out, text in (("pipe", "a device or a pipe"), ("loop", "leads back to itself"), ("f.h5", "a folder"),
                          ("n" * 250, "characters, expected at most")):
            for options in ((), ("--overwrite",)):
                status, errors = self.tensor(*options, out=out)
                self.refused(status, errors, 2, "")
                self.assertIn(text, errors.replace("File", "file").lower())
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))


class Devices(Study):
    def device(self, name, minor):
        path = self.path(name)
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            with open(path, "wb"):
                pass
        except OSError as error:
            self.skipTest(f"needs the right to make devices: {error}")
        return path

    def test_a_device_is_written_to_and_stays_a_device(self):
        null = self.device("null", 3)
        for option in ("--json", "--trace"):
            status, errors = self.tensor(option, null, out=f"o{option}.h5")
            self.assertEqual(status, 0, errors)
            self.assertTrue(stat.S_ISCHR(os.stat(null).st_mode))

    def test_a_full_device_is_a_disk_error(self):
        full = self.device("full", 7)
        for option in ("--json", "--trace"):
            status, errors = self.tensor(option, full, out=f"o{option}.h5")
            self.refused(status, errors, 74, f"{option} {full}: No space left on device")
            self.assertTrue(stat.S_ISCHR(os.stat(full).st_mode))
            self.assertTrue(os.path.exists(self.path(f"o{option}.h5")), "the result itself is complete")

    def test_a_pipe_gets_the_text_and_stays_a_pipe(self):
        pipe, received = self.path("pipe"), []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: received.append(content(pipe)), daemon=True)
        reader.start()
        status, errors = self.tensor("--json", pipe)
        reader.join(10)
        self.assertEqual(status, 0, errors)
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
        self.assertIn(b'"rank_count"', received[0])

    def test_an_open_descriptor_is_written_to_even_if_it_is_a_file(self):
        with open(self.path("log"), "w+b") as log:
            log.write(b"before\n")
            log.flush()
            status, errors = self.tensor("--json", "/dev/fd/1", stdout=log)
        self.assertEqual(status, 0, errors)
        text = content(self.path("log"))
        self.assertTrue(text.startswith(b"before\n{"), text)
        self.assertIn(b'"rank_count"', text)


class Unwritable(Study):
    def test_an_unwritable_file_is_found_before_the_inputs_are_read(self):
        os.mkdir(self.path("folder"))
        write(self.path("p", "bvals"), "wrong\n")  # would be found next
        for option in ("--json", "--trace"):
            status, errors = self.tensor(option, self.path("none", "x"))
            self.refused(status, errors, 74, f"folder {self.path('none')} does not exist")
            status, errors = self.tensor(option, self.path("folder"))
            self.refused(status, errors, 2, "is a folder, expected a file")
            status, errors = self.tensor(option, self.path("p", "bvecs", "x"))
            self.refused(status, errors, 74, "Not a directory")

    def test_a_result_is_not_named_like_a_file_of_another_format(self):
        for name in ("o.nii.gz", "o.tck"):
            status, errors = self.tensor(out=name)
            self.refused(status, errors, 2, f"{name}: a result is an HDF5 file, expected a name such as result.h5")

    def test_a_lost_standard_output_is_a_disk_error(self):
        result = self.result()
        manifest = write(self.path("m.tsv"), f"subject\tout\tcommand\na\t{self.path('n.h5')}\ttensor --dwi x --bvals x --bvecs x\n")
        tensor = ("tensor", "--dwi", "d.nii", "--bvals", "b", "--bvecs", "v", "--out", "n.h5", "--time", 60)
        for words in (("verify", result), ("compare", result, result), ("info", result), ("--version",), ("slurm", *tensor),
                      ("phantom", "score", result, "--truth", self.path("p")), ("cohort", manifest, "--array"),
                      ("cohort", manifest, "--json", "-")):
            with open("/dev/full", "wb") as full:
                status, errors = call(*words, stdout=full)
            self.refused(status, errors, 74, "standard output cannot be written: No space left on device")
        status, errors = call("verify", result, stdout=None, preexec_fn=lambda: os.close(1))
        self.refused(status, errors, 74, "standard output cannot be written: Bad file descriptor")

    def test_a_missing_standard_output_does_not_matter_to_a_run_that_prints_nothing(self):
        expected = digest(self.result())
        status, errors = self.tensor(out="closed.h5", stdout=None, preexec_fn=lambda: os.close(1))
        self.assertEqual(status, 0, errors)
        self.assertEqual(digest(self.path("closed.h5")), expected)


class Running(ToyJobs):
    def test_a_file_that_appears_during_the_run_is_kept(self):
        for ranks in (1, 3):
            out = self.path(f"o{ranks}.h5")
            job = begin(ranks, out, *SLOW)
            wait_for_batches(out, 2)
            write(out)
            errors = job.communicate(timeout=60)[1]
            self.assertEqual(job.returncode, 74, errors)
            self.assertEqual(errors.count(f"{out} was created by another program during the run"), 1, errors)
            self.assertEqual(content(out), b"precious\n")
            status, errors = run_toy(1, out, "--resume")
            self.assertEqual(status, 2, errors)
            self.assertEqual(content(out), b"precious\n")
            os.remove(out)
            status, errors = run_toy(1, out, "--resume")
            self.assertEqual(status, 0, errors)
            self.assertEqual(digest(out), self.reference())

    def test_a_table_that_appears_during_the_run_is_kept(self):
        out, table = self.path("o.h5"), self.path("t.json")
        job = begin(1, out, "--json", table, *SLOW)
        wait_for_batches(out, 2)
        write(table)
        errors = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, 74, errors)
        self.assertEqual(content(table), b"precious\n")
        self.assertEqual(digest(out), self.reference())

    def test_a_removed_folder_ends_the_run_at_once(self):
        for ranks in (1, 2):
            folder = self.path(f"folder{ranks}")
            os.mkdir(folder)
            out = os.path.join(folder, "o.h5")
            # Hours of work: the run ends in this test's time only if it notices.
            job = begin(ranks, out, "--batch", 1, "--slowest-ms", 1000)
            self.addCleanup(job.terminate)
            wait_for_batches(out, 1)
            shutil.rmtree(folder)
            errors = remaining_output(job)
            self.assertEqual(job.returncode, 74, errors)
            self.assertEqual(errors.count(f"{out}.part was removed while the run was writing it"), 1, errors)

    def test_resume_removes_what_a_killed_job_left_next_to_a_complete_result(self):
        for command, names in (("toy", ("lock", "part.new")),
                               ("ragged", ("lock", "scores", "scores.part", "scores.part.new", "scores.lock"))):
            out = self.path(f"{command}.h5")
            status, errors = run_toy(1, out, command=command)
            self.assertEqual(status, 0, errors)
            for name in names:
                write(f"{out}.{name}", "")  # a file with content is not of voxherd, and is kept
            status, errors = run_toy(2, out, "--resume", command=command)
            self.assertEqual(status, 0, errors)
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(f"{command}.")],
                             [f"{command}.h5"])

    def test_traces_of_steps_are_protected_before_the_first_step(self):
        out, trace = self.path("o.h5"), self.path("trace")
        write(trace + ".scores")
        status, errors = run_toy(1, out, "--trace", trace, command="ragged")
        self.assertEqual(status, 2, errors)
        self.assertIn(f"--trace {trace}.scores exists", errors)
        self.assertEqual(content(trace + ".scores"), b"precious\n")
        os.remove(trace + ".scores")
        status, errors = run_toy(1, out, "--trace", trace, command="ragged")
        self.assertEqual(status, 0, errors)

    def test_a_link_with_the_name_of_a_steps_trace_is_replaced_and_not_followed(self):
        trace = self.path("trace")
        os.symlink(write(self.path("notes.txt")), trace + ".scores")
        status, errors = run_toy(1, self.path("o.h5"), "--trace", trace, "--overwrite", command="ragged")
        self.assertEqual(status, 0, errors)
        self.assertEqual(content(self.path("notes.txt")), b"precious\n")
        self.assertTrue(content(trace + ".scores").startswith(b"batch,"))


if __name__ == "__main__":
    unittest.main()
