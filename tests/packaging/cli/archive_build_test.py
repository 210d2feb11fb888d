"""The archive of a release is built and installed without network and npm, and the installed program passes its self-test."""
import glob
import os
import shutil
import unittest

import installed
from installed import BUILD, ROOT, run_checked


class ArchiveBuild(unittest.TestCase):
    def test_it_is_built_without_network_and_passes_its_self_test(self):
        installed.require("git", "cmake", "ninja")
        installed.require_viewer()
        alone, folder = installed.without_network(), installed.temporary_folder(type(self))
        clone, out, prefix = (os.path.join(folder, name) for name in ("clone", "out", "prefix"))
        run_checked("git", "clone", "--quiet", ROOT, clone)
        run_checked(os.path.join(clone, "script", "release"), "--source-only", "--built", BUILD, out)
        [archive] = glob.glob(os.path.join(out, "*.tar.gz"))
        run_checked("tar", "--extract", "--file", archive, "--directory", folder)
        source = os.path.join(folder, os.path.basename(archive).removesuffix(".tar.gz"))
        environment = {name: value for name, value in os.environ.items() if name != "VOXHERD"}
        environment["PATH"] = os.path.join(folder, "programs")
        os.mkdir(environment["PATH"])
        for place in ("/usr/bin", "/bin"):  # all but these
            for name in set(os.listdir(place)) - {"npm", "npx", "node", "nodejs", "git", *os.listdir(environment["PATH"])}:
                os.symlink(os.path.join(place, name), os.path.join(environment["PATH"], name))
        run_checked(*alone, "cmake", "--preset", "cpu", "-DVOXHERD_TESTS=OFF", "-DVOXHERD_BENCH=OFF", cwd=source, env=environment)
        run_checked(*alone, "cmake", "--build", "--preset", "cpu", cwd=source, env=environment, seconds=7200)
        run_checked(*alone, "cmake", "--install", "build/cpu", "--prefix", prefix, cwd=source, env=environment)
        shutil.rmtree(source)
        program = os.path.join(prefix, "bin", "voxherd")
        self.assertIn(run_checked("git", "-C", ROOT, "rev-parse", "HEAD")[:12], run_checked(program, "--version"))
        self.assertTrue(os.path.exists(os.path.join(prefix, "share", "doc", "voxherd", "viewer-licences.txt")))
        self.assertIn("no problem found", run_checked(*alone, program, "doctor", "--self-test"))


if __name__ == "__main__":
    unittest.main()
