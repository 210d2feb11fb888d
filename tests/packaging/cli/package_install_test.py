"""The .deb is installed, run and removed with dpkg, in a separate root with a separate package database.

The machine's package database is only read. dpkg refuses to run unless as root, so this test needs root or fakeroot."""
import os
import re
import shutil
import subprocess
import unittest

import installed
from installed import run_checked


def setUpModule():
    installed.require("dpkg", "dpkg-query", "dpkg-shlibdeps", "cpack", *(() if os.geteuid() == 0 else ("fakeroot",)))


class PackageInstall(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = installed.temporary_folder(cls)
        cls.deb = installed.make_deb(os.path.join(cls.folder, "made"))

    def setUp(self):
        """A root folder without installed packages."""
        self.root = os.path.join(self.folder, "root")
        self.list = os.path.join(self.root, "var", "lib", "dpkg", "status")
        for name in ("info", "updates", "triggers"):
            os.makedirs(os.path.join(os.path.dirname(self.list), name))
        self.write_list("")
        self.addCleanup(shutil.rmtree, self.root)

    def write_list(self, text):
        with open(self.list, "w", encoding="utf-8") as file:
            file.write(text)

    def dpkg(self, *words):
        pretend = [] if os.geteuid() == 0 else ["fakeroot"]
        environment = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin", LC_ALL="C")
        return subprocess.run([*pretend, "dpkg", f"--root={self.root}", *words], capture_output=True, text=True,
                              timeout=300, env=environment, check=False)

    def dependencies(self):
        """The entries of the machine's package database for the packages that the .deb depends on."""
        names = re.findall(r"([\w.+-]+)(?: \([^)]*\))?(?:, |$)", run_checked("dpkg-deb", "--field", self.deb, "Depends").strip())
        owners = dict(line.split(maxsplit=1) for line in run_checked("dpkg-query", "-W", "-f=${Package} ${Provides}\n").splitlines()
                      if " " in line.strip())
        found = {next((owner for owner, provides in owners.items() if re.search(rf"(^| ){re.escape(name)}( |,|$)", provides)),
                      name) for name in names}
        return "".join(run_checked("dpkg-query", "--status", package) + "\n" for package in sorted(found))

    def test_it_installs_with_its_dependencies_runs_and_is_removed_completely(self):
        self.write_list(self.dependencies())
        done = self.dpkg("--install", self.deb)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("install ok installed", self.dpkg("--status", "voxherd").stdout)
        self.assertEqual(self.dpkg("--verify", "voxherd").stdout, "")

        installed.fit_a_phantom(self, os.path.join(self.root, "usr", "bin", "voxherd"),
                                os.path.join(self.root, "usr", "share", "voxherd", "configs"), self.folder)

        self.assertEqual(self.dpkg("--purge", "voxherd").returncode, 0)
        self.assertEqual(os.path.exists(os.path.join(self.root, "usr")), False)

    def test_it_is_not_configured_if_a_dependency_is_missing(self):
        # libopenmpi3, on Ubuntu libopenmpi3t64.
        mpi = re.search(r"\blibopenmpi\w+", run_checked("dpkg-deb", "--field", self.deb, "Depends"))[0]
        self.write_list(re.sub(rf"(?ms)^Package: {mpi}\n.*?\n\n", "", self.dependencies()))
        done = self.dpkg("--install", self.deb)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(re.findall(r"voxherd depends on (\S+)", done.stderr), [mpi])


if __name__ == "__main__":
    unittest.main()
