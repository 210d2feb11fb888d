"""`cmake --install` installs all files, which contain the prefix and no other folder, and work from an empty folder."""
import filecmp
import glob
import gzip
import os
import re
import stat
import subprocess
import unittest

import installed
from installed import BUILD, ROOT


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        installed.require("cmake")
        cls.folder = installed.temporary_folder(cls)
        cls.prefix = os.path.join(cls.folder, "opt", "vox herd")
        installed.install(cls.prefix)
        cls.program = os.path.join(cls.prefix, "bin", "voxherd")
        cls.share = os.path.join(cls.prefix, "share", "voxherd")
        cls.documents = os.path.join(cls.prefix, "share", "doc", "voxherd")

    def test_the_program_fits_a_phantom_with_an_installed_configuration(self):
        self.assertEqual(installed.run_checked(self.program, "--version"), installed.run_checked(os.environ["VOXHERD"], "--version"))
        installed.fit_a_phantom(self, self.program, os.path.join(self.share, "configs"), self.folder)

    def test_configurations_documents_and_licence_are_those_of_the_source_tree(self):
        pairs = [(os.path.join(self.share, "configs"), "configs"), (os.path.join(self.documents, "docs"), "docs")]
        for there, name in pairs:
            here = os.path.join(ROOT, name)
            self.assertEqual(files_below(there), files_below(here))
            same, different, errors = compare(here, there)
            self.assertGreater(len(same), 2)
            self.assertEqual((different, errors), ([], []))
        same, different, errors = compare(ROOT, self.documents, ["LICENSE", "README.md", "CHANGELOG.md"])
        self.assertEqual((len(same), different, errors), (3, [], []))

    def test_links_between_installed_documents_are_valid(self):
        followed = 0
        for document in glob.glob(os.path.join(self.documents, "**", "*.md"), recursive=True):
            with open(document, encoding="utf-8") as file:
                text = re.sub(r"^```.*?^```", "", file.read(), flags=re.MULTILINE | re.DOTALL)
            targets = re.findall(r"\]\((?!http)([^)\s#]+)", text)
            for target in targets:
                if not target.startswith("script/"):  # for developers
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(document), target)), (document, target))
                    followed += 1
        self.assertGreater(followed, 5)

    def test_no_file_contains_the_source_or_build_folder(self):
        installed.require_build_without_line_info()
        self.assertEqual(installed.find_names(self.prefix, ROOT, BUILD), [])

    def test_all_users_can_read_all_files(self):
        own = [path for path in glob.glob(os.path.join(self.prefix, "**"), recursive=True) if "/voxherd" in path]
        self.assertGreater(len(own), 20)
        for path in own:
            mode = stat.S_IMODE(os.stat(path).st_mode)
            wanted = 0o755 if os.path.isdir(path) or path == self.program else 0o644
            self.assertEqual(oct(mode), oct(wanted), path)

    def test_paths_in_batch_scripts_are_installed(self):
        scripts = sorted(glob.glob(os.path.join(self.share, "slurm", "*.sbatch")))
        self.assertEqual([os.path.basename(path) for path in scripts],
                         sorted(name for name in os.listdir(os.path.join(ROOT, "slurm")) if name.endswith(".sbatch")))
        for script in scripts:
            with open(script, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(re.findall(re.escape(self.prefix) + r"[\w./-]*", text), [self.program], script)
            for path in re.findall(r"[- ]((?:configs|slurm)/[\w.-]+)", text):
                self.assertTrue(os.path.exists(os.path.join(self.share, path)), (script, path))

    def test_a_batch_script_starts_the_installed_program_from_any_folder(self):
        play = os.path.join(self.folder, "play")
        os.makedirs(play)
        with open(os.path.join(play, "srun"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nprintf "%s\\n" "$@" >"$PLAY/launched"\n')
        os.chmod(file.name, 0o755)
        environment = dict(os.environ, PATH=f"{play}:{os.environ['PATH']}", PLAY=play)
        del environment["VOXHERD"]
        script = os.path.join(self.share, "slurm", "one-study.sbatch")
        done = subprocess.run(["bash", script, "subject", "out.h5"], env=environment, cwd=play, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        with open(os.path.join(play, "launched"), encoding="utf-8") as file:
            words = file.read().splitlines()
        self.assertIn(self.program, words)
        # The program finds it: what is missing is the subject.
        done = subprocess.run(words[words.index(self.program):], capture_output=True, text=True, env=environment, cwd=play, timeout=60, check=False)
        self.assertEqual(done.returncode, 66)
        self.assertIn("subject/data.nii.gz: cannot be opened", done.stderr)

    def test_destdir_receives_the_files_and_appears_in_none(self):
        staging = os.path.join(self.folder, "staging")
        installed.install("/opt/voxherd", destdir=staging)
        below = os.path.join(staging, "opt", "voxherd")
        self.assertEqual(os.listdir(staging), ["opt"])
        self.assertEqual(files(below), files(self.prefix))
        self.assertEqual(installed.find_names(staging, staging), [])
        self.assertTrue(installed.find_names(below, "/opt/voxherd/bin/voxherd"))

    def test_the_prefix_usr_has_no_modulefile(self):
        staging = os.path.join(self.folder, "usr-staging")
        installed.install("/usr", destdir=staging)
        there = files(os.path.join(staging, "usr"))
        # Debian's zsh searches another folder than zsh itself.
        there = [name.replace("vendor-completions", "site-functions") for name in there]
        self.assertEqual(set(files(self.prefix)) - set(there), {name for name in files(self.prefix) if "modulefiles" in name})
        self.assertEqual(len(files(self.prefix)) - len(there), 1)

    def test_every_command_has_a_manual_page_with_its_options(self):
        commands = re.findall(r"^  (\w+) {2,}\w", installed.run_checked(self.program, "--help"), re.MULTILINE)
        pages = os.path.join(self.prefix, "share", "man", "man1")
        self.assertEqual(sorted(os.listdir(pages)), sorted(["voxherd.1.gz", *(f"voxherd-{name}.1.gz" for name in commands)]))
        with gzip.open(os.path.join(pages, "voxherd-tensor.1.gz"), "rt") as file:
            self.assertEqual(file.read(), installed.run_checked(self.program, "tensor", "--help=man"))
        with gzip.open(os.path.join(pages, "voxherd.1.gz"), "rt") as file:
            overview = file.read()
        for name in commands:
            self.assertIn(f".BR voxherd\\-{name} (1)\n", overview)

    def test_completions_are_those_that_the_program_prints(self):
        for shell, path in (("bash", "bash-completion/completions/voxherd"), ("zsh", "zsh/site-functions/_voxherd")):
            with open(os.path.join(self.prefix, "share", path), encoding="utf-8") as file:
                self.assertEqual(file.read(), installed.run_checked(self.program, "--completion", shell))


def files(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(base, name), folder) for base, _, names in os.walk(folder) for name in names)


def compare(here, there, names=None):
    """Names that are the same in both folders, that differ, that cannot be read: by their bytes."""
    return filecmp.cmpfiles(here, there, names or files_below(here), shallow=False)


if __name__ == "__main__":
    unittest.main()
