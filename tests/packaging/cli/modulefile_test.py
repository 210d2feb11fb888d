"""The modulefile's effect on the environment, with plain Tcl and, if installed, with Environment Modules or Lmod."""
import glob
import os
import shutil
import subprocess
import unittest

import installed
from installed import run_checked

# Fake modulefile commands: each prints its name and arguments.
FAKE_COMMANDS = """
foreach word {module-whatis conflict prepend-path append-path setenv module} {
  proc $word {args} [subst -nocommands {puts "$word|[join \\$args |]"}]
}
source [lindex $argv 0]
"""


class Modulefile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        installed.require("cmake", "tclsh")
        cls.folder = installed.temporary_folder(cls)
        cls.prefix = os.path.join(cls.folder, "opt", "vox herd")
        installed.install(cls.prefix)
        cls.modules = os.path.join(cls.prefix, "share", "voxherd", "modulefiles")
        cls.version = run_checked(os.environ["VOXHERD"], "--version").split()[1]

    def modulefile(self):
        [path] = glob.glob(os.path.join(self.modules, "*", "*"))
        return path

    def test_it_is_found_by_name_and_version(self):
        self.assertEqual(os.path.relpath(self.modulefile(), self.modules), f"voxherd/{self.version}")
        with open(self.modulefile(), encoding="utf-8") as file:
            self.assertTrue(file.readline().startswith("#%Module"))  # identifies a modulefile

    def test_tcl_reads_it_and_all_its_paths_exist(self):
        effects = [line.split("|") for line in subprocess.run(["tclsh", "/dev/stdin", self.modulefile()], input=FAKE_COMMANDS, text=True,
                                                           capture_output=True, timeout=60, check=True).stdout.splitlines()]
        self.assertIn(["prepend-path", "PATH", os.path.join(self.prefix, "bin")], effects)
        self.assertIn(["setenv", "VOXHERD", os.path.join(self.prefix, "bin", "voxherd")], effects)
        self.assertIn(["conflict", "voxherd"], effects)
        for words in effects:
            if words[-1].startswith("/"):
                self.assertTrue(os.path.exists(words[-1]), words)
        [whatis] = [words[1] for words in effects if words[0] == "module-whatis"]
        self.assertIn(f"voxherd {self.version}: ", whatis)

    def test_it_loads_and_unloads(self):
        command = module_command()
        if command is None:
            self.skipTest("neither Environment Modules nor Lmod is installed")
        # Lmod 8.6 does not support a space in MODULEPATH.
        prefix = os.path.join(self.folder, "opt", "voxherd")
        installed.install(prefix)
        # As a login shell does: evaluate what the command prints.
        script = ('set -e; module() { eval "$("$@")"; }\n'
                  'module "$@" load voxherd; command -v voxherd; printf "%s\\n" "$VOXHERD" "$VOXHERD_ROOT"\n'
                  'voxherd --version\n'
                  'module "$@" unload voxherd; command -v voxherd || echo none; echo "VOXHERD=${VOXHERD-}"')
        environment = {"PATH": "/usr/bin:/bin", "MODULEPATH": f"{prefix}/share/voxherd/modulefiles", "HOME": self.folder}
        lines = run_checked("bash", "-c", script, "bash", *command, env=environment).splitlines()
        program = os.path.join(prefix, "bin", "voxherd")
        self.assertEqual(lines, [program, program, prefix, run_checked(program, "--version").strip(), "none", "VOXHERD="])


def module_command():
    """The command line before the arguments of `module` in bash, or None. VOXHERD_MODULECMD selects another one."""
    if "VOXHERD_MODULECMD" in os.environ:
        return os.environ["VOXHERD_MODULECMD"].split()
    if shutil.which("modulecmd"):
        return ["modulecmd", "bash"]
    if os.path.exists("/usr/share/lmod/lmod/libexec/lmod"):
        return ["/usr/share/lmod/lmod/libexec/lmod", "bash"]
    return None


if __name__ == "__main__":
    unittest.main()
