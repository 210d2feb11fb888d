"""An installation that was moved as a whole: its files find each other from their own place."""
import glob
import gzip
import os
import re
import shutil
import signal
import subprocess
import unittest
import urllib.request

import installed
from installed import run_checked

# Starts the program of its arguments, as srun does.
SRUN = '#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\necho "$1" >"$PLAY/started"\nexec "$@"\n'


class Moved(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        installed.require("cmake")
        cls.folder = installed.temporary_folder(cls)
        first, cls.prefix = os.path.join(cls.folder, "first"), os.path.join(cls.folder, "moved place")
        installed.install(first)
        run_checked(os.path.join(first, "bin", "voxherd"), "shims", os.path.join(first, "fsl"))
        os.rename(first, cls.prefix)
        cls.program = cls.path("bin", "voxherd")
        cls.play = os.path.join(cls.folder, "play")
        os.mkdir(cls.play)
        run_checked(cls.program, "phantom", "dwi", "--preset", "toy", "--gz", "--out", cls.play)
        cls.environment = {name: value for name, value in os.environ.items() if name != "VOXHERD"}
        cls.fit = ("tensor", "--config", "configs/tensor.cfg", "--dwi", "data.nii.gz", "--bvals", "bvals", "--bvecs", "bvecs", "--mask",
                   "nodif_brain_mask.nii.gz", "--overwrite", "--out", "tensor.h5")
        run_checked(cls.program, *cls.fit, cwd=cls.play)

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.prefix, *names)

    def run_script(self, script, *words, **more):
        done = subprocess.run(["bash", script, *words], env={**self.environment, "PLAY": self.play, "PATH": f"{self.play}:/usr/bin:/bin", **more},
                              cwd=self.play, capture_output=True, text=True, timeout=300, check=False)
        with open(os.path.join(self.play, "started"), encoding="utf-8") as file:
            return done, file.read().strip()

    def add_srun(self):
        path = os.path.join(self.play, "srun")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SRUN)
        os.chmod(path, 0o755)

    def test_configurations_are_found_from_any_folder_unless_the_folder_has_one(self):
        text = run_checked(self.program, "info", "--verbose", "tensor.h5", cwd=self.play)
        self.assertIn('"fit": "iwls"', text)
        os.mkdir(os.path.join(self.play, "configs"))
        self.addCleanup(shutil.rmtree, os.path.join(self.play, "configs"))
        with open(os.path.join(self.play, "configs", "tensor.cfg"), "w", encoding="utf-8") as file:
            file.write("fit = ols\n")
        run_checked(self.program, *self.fit[:-1], "ols.h5", cwd=self.play)
        self.assertIn('"fit": "ols"', run_checked(self.program, "info", "--verbose", "ols.h5", cwd=self.play))

    def test_batch_scripts_start_this_program_with_its_configurations(self):
        self.add_srun()
        done, started = self.run_script(self.path("share", "voxherd", "slurm", "one-study.sbatch"), ".", "fibres.h5", CONFIG="configs/ballstick-quick.cfg")
        self.assertEqual((done.returncode, started), (0, self.program), done.stderr)
        copy = os.path.join(self.folder, "slurm_script")  # SLURM starts a copy
        shutil.copy(self.path("share", "voxherd", "slurm", "one-study.sbatch"), copy)
        for more in ({"VOXHERD": self.program}, {"PATH": f"{self.play}:{self.path('bin')}:/usr/bin:/bin"}):
            done, started = self.run_script(copy, ".", "fibres.h5", CONFIG="configs/ballstick-quick.cfg", **more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(shutil.which(started, path=self.path("bin")), self.program)

    def test_cohort_and_slurm_name_files_of_this_place(self):
        with open(os.path.join(self.play, "manifest.tsv"), "w", encoding="utf-8") as file:
            file.write("subject\tcommand\na\t" + " ".join(self.fit[:-1]) + " later.h5\n")
        self.assertIn(self.program, run_checked(self.program, "slurm", *self.fit, cwd=self.play))
        text = run_checked(self.program, "cohort", "manifest.tsv", cwd=self.play, env=self.environment)
        self.assertIn(self.path("share", "voxherd", "slurm", "cohort.sbatch"), text)

    def test_shims_inside_the_installation_move_with_it(self):
        done = subprocess.run([self.path("fsl", "probtrackx2"), "--help"], capture_output=True, text=True, timeout=60, check=True)
        self.assertTrue(done.stderr.startswith("voxherd probtrackx2: "), done.stderr[:80])
        outside = os.path.join(self.folder, "links")
        run_checked(self.program, "shims", outside)
        self.assertEqual(os.readlink(os.path.join(outside, "dtifit")), self.program)

    def test_man_finds_the_pages_beside_the_program(self):
        if not shutil.which("man"):
            self.skipTest("man is not installed")
        environment = {**self.environment, "PATH": f"{self.path('bin')}:/usr/bin:/bin"}
        environment.pop("MANPATH", None)
        self.assertEqual(run_checked("man", "-w", "voxherd-doctor", env=environment).strip(), self.path("share", "man", "man1", "voxherd-doctor.1.gz"))

    def test_the_modulefile_describes_the_new_place(self):
        if not shutil.which("tclsh"):
            self.skipTest("tclsh is not installed")
        [path] = glob.glob(self.path("share", "voxherd", "modulefiles", "voxherd", "*"))
        commands = 'foreach word {module-whatis conflict prepend-path setenv} {proc $word {args} [subst -nocommands {puts "$word|[join \\$args |]"}]}\n'
        text = subprocess.run(["tclsh", "/dev/stdin", path], input=commands + "source [lindex $argv 0]\nModulesHelp", capture_output=True,
                              text=True, timeout=60, check=True)
        self.assertIn(f"prepend-path|PATH|{self.path('bin')}\n", text.stdout)
        self.assertIn(f"setenv|VOXHERD|{self.program}\n", text.stdout)
        named = [name.rstrip(".") for name in re.findall(re.escape(self.prefix) + r"[\w/.]*", text.stderr)]
        self.assertEqual(len(named), 3, text.stderr)
        for name in named:
            self.assertTrue(os.path.exists(name), name)

    def test_reports_and_the_viewers_page_need_no_file_of_the_old_place(self):
        run_checked(self.program, "report", "tensor.h5", "--overwrite", cwd=self.play)
        self.assertTrue(os.path.getsize(os.path.join(self.play, "tensor.report.html")) > 10000)
        if not os.path.exists(self.path("share", "doc", "voxherd", "viewer-licences.txt")):
            self.skipTest("built without the viewer")
        with subprocess.Popen([self.program, "view", "tensor.h5"], cwd=self.play, stdout=subprocess.PIPE, text=True) as viewer:
            try:
                address = viewer.stdout.readline().split("#")[0]
                with urllib.request.urlopen(address, timeout=60) as page:
                    self.assertIn(b"<html", gzip.decompress(page.read()))
            finally:
                viewer.send_signal(signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
