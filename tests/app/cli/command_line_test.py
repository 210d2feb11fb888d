"""Output for valid and invalid command lines: one error message, printed once for any number of ranks."""
import os
import re
import subprocess
import unittest

from toy_jobs import TOY, ToyJobs, run_process, h5py, run, voxherd


class Help(ToyJobs):
    def test_help_lists_every_command_and_fits_on_a_screen(self):
        rc, out, _ = voxherd("--help")
        self.assertEqual(rc, 0)
        self.assertLessEqual(len(out.splitlines()), 40)
        for name in ("verify", "compare", "info"):
            self.assertIn(f"  {name} ", out)
            rc, text, _ = voxherd(name, "--help")
            self.assertEqual(rc, 0)
            self.assertIn(f"usage: voxherd {name}", text)
            self.assertLessEqual(len(text.splitlines()), 50)

    def test_help_is_also_a_command(self):
        self.assertEqual(voxherd("help")[:2], voxherd("--help")[:2])
        self.assertEqual(voxherd("help", "verify")[:2], voxherd("verify", "--help")[:2])
        self.assertEqual(voxherd("help", "somethingelse")[0], 2)

    def test_version_is_one_line(self):
        rc, out, _ = voxherd("--version")
        self.assertEqual(rc, 0)
        self.assertRegex(out, r"^voxherd \d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{12}(, changed)?)\)\n$")

    def test_help_is_printed_once_under_mpirun(self):
        self.assertEqual(voxherd("--help", ranks=3)[1].count("usage:"), 1)


class InvalidCommandLines(ToyJobs):
    def expect(self, status, words, *line, ranks=0):
        rc, _, output = voxherd(*line, ranks=ranks)
        self.assertEqual(rc, status, output)
        self.assertEqual(output.count("voxherd: error:"), 1, output)
        for word in words:
            self.assertIn(word, output)

    def test_a_mistyped_command_suggests_the_nearest_one(self):
        self.expect(2, ["did you mean `verify`?"], "verfy")
        self.expect(2, ["did you mean `verify`?"], "verfy", ranks=3)
        self.expect(2, ["--help"], "somethingelse")

    def test_a_missing_command_is_a_usage_error(self):
        self.assertEqual(voxherd()[0], 2)

    def test_a_missing_result_gives_status_66_on_any_number_of_ranks(self):
        for ranks in (0, 1, 3):
            self.expect(66, [self.path("none.h5")], "verify", self.path("none.h5"), ranks=ranks)
            self.expect(66, [self.path("none.h5")], "info", self.path("none.h5"), ranks=ranks)

    def test_a_file_of_another_kind_gives_status_65(self):
        with open(self.path("text.h5"), "w") as f:
            f.write("not HDF5\n" * 100)
        self.expect(65, ["text.h5"], "verify", self.path("text.h5"))
        with h5py.File(self.path("other.h5"), "w") as f:
            f["x"] = 1
        self.expect(65, ["other.h5", "not a result of this version of voxherd"], "info", self.path("other.h5"))

    def test_extra_arguments_unknown_options_and_abbreviated_options_are_rejected(self):
        self.expect(2, ["unexpected argument 'b'", "usage: voxherd verify FILE"], "verify", "a", "b")
        self.expect(2, ["unknown option --nonsense"], "verify", "a", "--nonsense")
        self.expect(2, ["--nonsense"], "verify", "a", "--nonsense=")
        self.expect(2, ["unknown option --resul;", "did you mean --result?"], "verify", "--resul", "a")

    def test_everything_that_is_missing_is_named_at_once(self):
        self.expect(2, ["tensor: --dwi FILE, --bvals FILE, --bvecs FILE, --out FILE are missing"], "tensor")
        self.expect(2, ["tensor: --out FILE is missing"], "tensor", "--dwi", "a", "--bvals", "b", "--bvecs", "c", ranks=2)
        self.expect(2, ["(--dwi FILE --bvals FILE --bvecs FILE | --tensor FILE), ", "--out FILE are missing"], "geodesic")
        self.expect(2, ["phantom: KIND is missing, expected one of dwi, liver, score"], "phantom")

    def test_an_input_without_its_option_is_suggested_with_it(self):
        self.expect(2, ["unexpected argument 'data.nii.gz'; did you mean --dwi data.nii.gz?"], "tensor", "data.nii.gz")

    def test_a_value_in_another_unit_is_explained(self):
        given = ("perfusion", "--dynamic", "d", "--times", "t", "--curves", "c", "--out", "o")
        for option, value, expected in (("tr", "0.004", "0.1 to 10000 ms (0.004 s is 4 ms)"),
                                        ("t1", "600", "0.01 to 10 s (600 ms is 0.6 s)"),
                                        ("haematocrit", "42", "0 to 0.9 (42 % is 0.42)"), ("t1", "-1", "0.01 to 10 s\n")):
            self.expect(2, [f"--{option} {value}: expected {expected}"], *given, f"--{option}={value}")

    def test_the_version_is_a_word_or_an_option(self):
        self.assertEqual(voxherd("version")[1], voxherd("--version")[1])
        self.assertRegex(voxherd("version")[1], r"^voxherd \d+\.\d+\.\d+ \(commit ")


    def test_a_name_with_a_placeholder_of_boost_is_unknown(self):
        # Boost 1.74 never ends its message about such a name.
        self.expect(2, ["unknown option --%canonical_option%"], "tensor", "--%canonical_option%=2")
        self.expect(2, ["unknown option --foo;"], "tensor", "--foo=%original_token%")
        self.expect(66, ["100%.nii"], "tensor", "--dwi=100%.nii", "--bvals", "x", "--bvecs", "x", "--out", "x.h5")
        path = os.path.join(self.folder, "placeholder.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write("x%canonical_option% = 2\n")
        self.expect(2, ["unknown option x%canonical_option%"], "tensor", "--config", path)


class Options(ToyJobs):
    def run_toy(self, status, *options):
        rc, output = run(2, self.path("toy.h5"), *options)
        self.assertEqual(rc, status, output)
        self.assertEqual(output.count("voxherd: error:"), 0 if status == 0 else 1, output)
        return output

    def test_numbers_out_of_range_are_reported(self):
        self.assertIn("--batch -1: expected 0 to", self.run_toy(2, "--batch", "-1"))
        self.assertIn("--seed", self.run_toy(2, "--seed", "3.5"))
        self.assertIn("--batch", self.run_toy(2, "--batch", "1e99"))

    def test_an_invalid_word_is_answered_with_the_valid_ones(self):
        self.assertIn("slices, voxels", self.run_toy(2, "--partition", "slice"))
        self.assertIn("dynamic, static", self.run_toy(2, "--schedule", "guided"))
        self.assertIn("auto, cpu, cuda", self.run_toy(2, "--backend", "gpu"))

    def test_the_command_line_overrides_the_config_file_which_overrides_defaults(self):
        with open(self.path("toy.cfg"), "w") as f:
            f.write("# a comment\nseed = 8\nnx = 9\n")
        self.run_toy(0, "--config", self.path("toy.cfg"), "--seed", 3)
        with h5py.File(self.path("toy.h5"), "r") as f:
            self.assertIn(b'"seed":3', f.attrs["configuration"])
            self.assertEqual(list(f["image"].attrs["size"]), [9, 16, 14])

    def test_a_config_file_of_windows_is_read_and_one_in_utf_16_is_refused(self):
        with open(self.path("toy.cfg"), "wb") as f:
            f.write("\ufeffseed = 8\r\nnx = 9\r\n".encode())
        self.run_toy(0, "--config", self.path("toy.cfg"))
        with h5py.File(self.path("toy.h5"), "r") as f:
            self.assertIn(b'"seed":8', f.attrs["configuration"])
        with open(self.path("wide.cfg"), "wb") as f:
            f.write("seed = 8\n".encode("utf-16"))
        self.assertIn("is a text in UTF-16, expected a text file of options in UTF-8", self.run_toy(2, "--config", self.path("wide.cfg")))

    def test_an_unknown_key_in_the_config_file_is_an_error(self):
        with open(self.path("toy.cfg"), "w") as f:
            f.write("sead = 8\n")
        self.assertIn("sead", self.run_toy(2, "--config", self.path("toy.cfg")))
        self.assertIn("none.cfg", self.run_toy(66, "--config", self.path("none.cfg")))

    def test_a_config_that_is_not_a_file_is_an_error(self):
        self.assertIn(f"--config {self.folder}: is a folder", self.run_toy(2, "--config", self.folder))
        for device in ("/dev/null", "/dev/zero"):
            self.assertIn(f"--config {device}: is not a regular file", self.run_toy(2, "--config", device))

    def test_a_config_file_cannot_name_another(self):
        with open(self.path("toy.cfg"), "w") as f:
            f.write("nx = 9\nconfig = other.cfg\n")
        self.assertIn("contains `config`", self.run_toy(2, "--config", self.path("toy.cfg")))

    def test_a_flag_in_a_config_file_is_on_or_off(self):
        for value, status in (("false", 2), ("no", 2), ("yes", 0), ("", 0), ("maybe", 2)):
            with open(self.path("toy.h5"), "w") as f:
                f.write("precious")
            with open(self.path("toy.cfg"), "w") as f:
                f.write(f"overwrite = {value}\n")
            output = self.run_toy(status, "--config", self.path("toy.cfg"))
            self.assertEqual("--overwrite: is maybe, expected true or false" in output, value == "maybe")

    def test_an_empty_value_is_an_error(self):
        for option in ("--batch", "--schedule", "--out", "--config", "--json"):
            self.assertIn(f"{option}: its value is empty", self.run_toy(2, option, ""))
        with open(self.path("toy.cfg"), "w") as f:
            f.write("json =\n")
        self.assertIn("--json: its value is empty", self.run_toy(2, "--config", self.path("toy.cfg")))

    def test_a_missing_gpu_is_an_error_that_names_the_fix(self):
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES="")
        done = subprocess.run([TOY, "toy", "--backend", "cuda", "--out", self.path("gpu.h5")], capture_output=True,
                              text=True, env=environment, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--backend cpu", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_dry_run_prints_required_resources_and_writes_nothing(self):
        rc, out, output = run_process(TOY, "toy", "--dry-run", "--out", self.path("dry.h5"))
        self.assertEqual(rc, 0, output)
        for word in ("memory", "disk", "time"):
            self.assertIn(word, out)
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_table_of_times_is_printed_with_verbose(self):
        output = run_process(TOY, "toy", "--threads", "1", "--verbose", "--out", self.path("shown.h5"))[2]
        for word in ("reading", "computing", "waiting", "writing", "voxels/s"):
            self.assertIn(word, output)
        for words in ((), ("--quiet",)):
            output = run_process(TOY, "toy", *words, "--out", self.path(f"without{len(words)}.h5"))[2]
            self.assertNotIn("computing", output)
        self.assertEqual(output, "")

    def test_a_run_ends_with_its_result_and_the_next_command(self):
        out = self.path("a result.h5")
        last = run_process(TOY, "toy", "--threads", "1", "--out", out)[2].splitlines()[-1]
        name = re.escape(out)
        self.assertRegex(last, rf"{name} \([0-9.]+ [kM]?B\) written; next: voxherd report '{name}'; "
                               rf"voxherd export '{name}' --to nifti DIR$")

    def test_quiet_and_verbose_exclude_each_other(self):
        rc, _, output = run_process(TOY, "toy", "--quiet", "--verbose", "--out", self.path("no.h5"))
        self.assertEqual((rc, output), (2, "voxherd: error: --verbose has no meaning with --quiet; leave it out\n"))


class Disk(ToyJobs):
    def test_a_result_that_does_not_fit_on_the_disk_is_rejected_before_the_run(self):
        small = self.path("small")
        os.mkdir(small)
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("needs the right to mount a small disk")
        self.addCleanup(subprocess.run, ["umount", small])
        rc, output = run(2, os.path.join(small, "toy.h5"), "--nx", 60)
        self.assertEqual(rc, 74, output)
        self.assertIn("free", output)
        self.assertEqual(os.listdir(small), [])

    def test_a_missing_or_unwritable_folder_is_named(self):
        for out in ("/proc/toy.h5", self.path("none/toy.h5")):
            rc, output = run(2, out)
            self.assertEqual(rc, 74, output)
            self.assertEqual(output.count("voxherd: error:"), 1, output)
            self.assertIn(os.path.dirname(out), output)


if __name__ == "__main__":
    unittest.main()
