"""Configuring stops at mistakes in the list of analyses, and does not rebuild for the version number."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.dirname(os.path.abspath(os.environ["VOXHERD"]))


class Configure(unittest.TestCase):
    def test_a_misspelt_analysis_is_an_error_that_names_the_missing_file(self):
        tree = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, tree)
        for name in ("bench", "cmake", "configs", "core", "docs", "kernels", "mpi", "slurm", "src", "tests"):
            os.symlink(os.path.join(ROOT, name), os.path.join(tree, name))
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            text, count = re.subn(r"(?m)^(set\(VOXHERD_ANALYSES .*)\)", r"\1 tensr)", file.read())
        self.assertEqual(count, 1)
        with open(os.path.join(tree, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run(["cmake", "-S", tree, "-B", os.path.join(tree, "build"), "-DVOXHERD_CUDA=OFF", "-DVOXHERD_VIEW=OFF",
                               "-DVOXHERD_TESTS=OFF", "-DVOXHERD_BENCH=OFF"], capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("src/analyses/tensr.cpp", "".join(done.stderr.split()).replace("\n", ""))

    def configure_without_npm(self, *options):
        build = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, build)
        done = subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DVOXHERD_CUDA=OFF", "-DVOXHERD_TESTS=OFF", "-DVOXHERD_BENCH=OFF",
                               "-DNPM_PROGRAM=/bin/false", "-DNODE_PROGRAM=/bin/false", *options], capture_output=True, text=True,
                              timeout=300)
        return build, done.returncode, " ".join(done.stdout.split()), " ".join(done.stderr.split())

    def test_without_the_packages_of_the_viewer_a_release_is_not_built(self):
        _, status, _, errors = self.configure_without_npm("-DVOXHERD_VIEW=ON")
        self.assertNotEqual(status, 0)
        self.assertRegex(errors, r"the viewer cannot be built: npm could not install its packages .*-DVOXHERD_VIEW=OFF builds")

    def test_the_program_is_built_without_the_viewer_and_says_so(self):
        _, status, output, errors = self.configure_without_npm("-DVOXHERD_VIEW=OFF")
        self.assertEqual(status, 0, errors)
        self.assertNotIn("viewer", errors)
        self.assertIn("-- voxherd: no viewer: VOXHERD_VIEW is OFF", output)
        build, status, _, errors = self.configure_without_npm()
        self.assertEqual(status, 0, errors)
        self.assertRegex(errors, "CMake Warning.* no viewer: npm could not install its packages")
        with open(os.path.join(build, "view_page", "no_page.cpp"), encoding="utf-8") as file:
            self.assertIn('why_no_page() { return "npm could not install its packages', file.read())

    def test_optional_libraries_are_left_out_if_asked(self):
        build, status, output, errors = self.configure_without_npm(
            "-DVOXHERD_VIEW=OFF", "-DVOXHERD_USE_SYSTEM_ISAL=OFF", "-DVOXHERD_USE_SYSTEM_RANDOM123=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        self.assertEqual(status, 0, errors)
        self.assertIn("-- voxherd: compression and decompression by zlib, without ISA-L", output)
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            commands = file.read()
        for part in ("inflater", "deflater"):
            self.assertIn(f"zlib_{part}.cpp", commands)
            self.assertNotIn(f"isal_{part}.cpp", commands)
        self.assertIn("-isystem " + os.path.join(ROOT, "kernels", "portable", "random123"), commands)

    def test_one_file_is_compiled_with_the_version_number(self):
        commands = os.path.join(BUILD, "build.ninja")
        if not os.path.exists(commands):
            self.skipTest("not built with Ninja")
        with open(commands, encoding="utf-8") as file:
            edges = re.findall(r"(?m)^build (\S+\.o):.*\n((?:  .*\n)*)", file.read())
        self.assertGreater(len(edges), 30)
        self.assertEqual([os.path.basename(name) for name, settings in edges if "VOXHERD_VERSION" in settings],
                         ["text.cpp.o"])


if __name__ == "__main__":
    unittest.main()
