"""The Spack recipes and the Apptainer definition, as far as they can be checked without either program."""
import os
import re
import shutil
import subprocess
import sys
import types
import unittest

import installed
from installed import ROOT, run_checked

PACKAGING = os.path.join(ROOT, "cmake", "packaging")
SPACK = os.path.join(PACKAGING, "spack", "spack_repo", "voxherd")

# What CMake looks for -> the Spack package that provides it; "" if it comes with the compiler.
FOUND_IN = {"MPI": "mpi", "HDF5": "hdf5", "Boost": "boost", "fmt": "fmt", "spdlog": "spdlog", "nlohmann_json": "nlohmann-json",
            "OpenMP": "", "Threads": "", "ZLIB": "zlib-api", "nifti/nifti2_io.h": "nifti-clib", "nifti2": "nifti-clib",
            "znz": "nifti-clib", "isa-l/igzip_lib.h": "isa-l", "isal": "isa-l", "xxhash.h": "xxhash",
            "Random123/philox.h": "random123", "CUDAToolkit": "cuda", "GTest": "googletest"}
TOOLS = {"c", "cxx", "cmake", "ninja"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def configure(case, source, *words):
    """The output of a configure run in a separate build folder."""
    build = os.path.join(case.folder, "build")
    case.addCleanup(shutil.rmtree, build, ignore_errors=True)
    done = subprocess.run(["cmake", "-S", source, "-B", build, *words], capture_output=True, text=True, timeout=300, check=False)
    case.assertEqual(done.returncode, 0, done.stderr)
    return done.stdout + done.stderr


class Recorder(types.ModuleType):
    """The part of Spack's module that the recipes use; it records what they declare."""

    def __init__(self):
        super().__init__("spack.package")
        self.declared = {}
        for word in ("license", "version", "variant", "depends_on", "conflicts", "generator"):
            setattr(self, word, lambda *words, word=word, **options: self.declared.setdefault(word, []).append((words, options)))
        self.InstallError = RuntimeError
        self.__all__ = [*(name for name in vars(self) if not name.startswith("_") and name != "declared")]


class CMakePackage:
    def define(self, name, value):
        if isinstance(value, bool):
            value = "ON" if value else "OFF"
        return f"-D{name}={value if isinstance(value, str) else ';'.join(value)}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.spec.satisfies(f"+{variant}"))


class Spec:
    def __init__(self, on, target, cuda_arch=()):
        self.on, self.target = on, target
        self.variants = {"cuda_arch": types.SimpleNamespace(value=cuda_arch)}

    def satisfies(self, condition):
        return condition in self.on


def execute_recipe(package):
    """The recipe's names and its declarations, as Python executes it."""
    recorder = Recorder()
    systems = "spack_repo.builtin.build_systems"
    modules = {"spack": types.ModuleType("spack"), "spack.package": recorder}
    for name, attribute, value in ((f"{systems}.cmake", "CMakePackage", CMakePackage),
                                   (f"{systems}.cuda", "CudaPackage", type("CudaPackage", (), {}))):
        modules[name] = types.ModuleType(name)
        setattr(modules[name], attribute, value)
    for parent in ("spack_repo", "spack_repo.builtin", systems):
        modules[parent] = types.ModuleType(parent)
    sys.modules.update(modules)
    names = {}
    exec(compile(read(SPACK, "packages", package, "package.py"), package, "exec"), names)
    return names, recorder.declared


class Spack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        installed.require("cmake")
        cls.folder = installed.temporary_folder(cls)

    def arguments(self, *spec):
        recipe = execute_recipe("voxherd")[0]["Voxherd"]()
        recipe.spec = Spec(*spec)
        return recipe.cmake_args()

    def test_it_depends_on_exactly_what_cmake_looks_for(self):
        cmake = read(ROOT, "cmake", "dependencies.cmake") + read(ROOT, "tests", "CMakeLists.txt")
        wanted = re.findall(r"find_package\((\w+)", cmake) + re.findall(r"find_(?:path|library)\(\w+ (\S+)", cmake)
        self.assertGreater(len(wanted), 12)
        self.assertEqual([name for name in wanted if name not in FOUND_IN], [], "name their Spack packages in FOUND_IN")
        declared = execute_recipe("voxherd")[1]
        depends = {re.match(r"[\w-]+", words[0])[0] for words, _ in declared["depends_on"]}
        self.assertEqual({FOUND_IN[name] for name in wanted} - {""} - depends, set())
        self.assertEqual(depends - set(FOUND_IN.values()) - TOOLS, set())

    def test_its_versions_are_those_that_setup_requires(self):
        depends = " ".join(words[0] for words, _ in execute_recipe("voxherd")[1]["depends_on"])
        needed = read(ROOT, "script", "setup").split("\nRequirements: ")[1].split("\nHELP")[0]
        for spack, setup in ((r"cmake@([\d.]+):", r"CMake ([\d.]+\d)"), (r"mpi@([\d.]+):", r"MPI (\d)"),
                             (r"hdf5@([\d.]+):\+mpi", r"HDF5 ([\d.]+\d)"), (r"cuda@([\d.]+):", r"CUDA (\d+)")):
            self.assertEqual(re.search(spack, depends)[1], re.search(setup, needed)[1], spack)

    def test_cmake_has_every_option_that_it_sets(self):
        output = configure(self, ROOT, *self.arguments({"+tests"}, {"avx2"}))
        self.assertNotIn("not used by the project", output)
        self.assertIn("CUDA kernels OFF, CPU kernels for x86-64-v3", output)

    def test_gpus_and_vector_instructions_are_those_of_the_spec(self):
        arguments = self.arguments({"+cuda"}, {"avx2", "avx512f", "avx512vl"}, ("80", "90"))
        for argument in ("-DVOXHERD_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=80;90", "-DVOXHERD_CPU_ARCH=x86-64-v4",
                         "-DVOXHERD_TESTS=OFF"):
            self.assertIn(argument, arguments)
        with self.assertRaisesRegex(RuntimeError, "AVX2"):
            self.arguments(set(), {"sse4_2"})

    def test_every_recipe_that_spack_lacks_is_included_and_marked_as_never_run(self):
        self.assertEqual(sorted(os.listdir(os.path.join(SPACK, "packages"))), ["nifti_clib", "voxherd"])
        self.assertIn("namespace: voxherd\n", read(SPACK, "repo.yaml"))
        for package in ("nifti_clib", "voxherd"):
            self.assertIn("Never run by the project", execute_recipe(package)[0]["__doc__"])


class Apptainer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        installed.require("cmake", "bash")
        cls.folder = installed.temporary_folder(cls)
        cls.text = read(PACKAGING, "apptainer.def")
        # [build, final], each a list of (section, lines).
        cls.stages = []
        for line in cls.text.splitlines():
            if line.startswith("Bootstrap:"):
                cls.stages.append([("header", [])])
            elif line.startswith("%"):
                cls.stages[-1].append((line[1:], []))
            if cls.stages and not line.startswith("%"):
                cls.stages[-1][-1][1].append(line.strip())

    def section(self, stage, name):
        [lines] = [lines for title, lines in self.stages[stage] if title == name]
        return [line for line in lines if line]

    def test_its_sections_are_valid_and_it_is_marked_as_never_run(self):
        self.assertIn("Never run by the project", self.text)
        self.assertEqual([title for title, _ in self.stages[0]], ["header", "arguments", "files", "post"])
        self.assertEqual([title for title, _ in self.stages[1]],
                         ["header", "arguments", "files from build", "post", "environment", "runscript", "test", "labels", "help"])
        for stage, name in ((0, "build"), (1, "final")):
            self.assertEqual([line.split(":")[0] for line in self.section(stage, "header") if line[0] != "#"],
                             ["Bootstrap", "From", "Stage"])
            self.assertIn(f"Stage: {name}", self.section(stage, "header"))

    def test_each_argument_has_a_value_and_is_used(self):
        used = set(re.findall(r"\{\{ (\w+) \}\}", self.text))
        for stage in (0, 1):
            self.assertEqual({line.split("=")[0] for line in self.section(stage, "arguments")}, used)
        self.assertEqual(set(re.findall(r"--build-arg (\w+)=", self.text)), used)

    def test_its_commands_are_valid_shell(self):
        scripts = [lines for stage in self.stages for title, lines in stage if title in ("post", "environment", "runscript", "test")]
        self.assertEqual(len(scripts), 5)
        for lines in scripts:
            subprocess.run(["sh", "-n"], input="\n".join(lines), text=True, timeout=60, check=True)

    def test_the_copied_files_are_sufficient_to_configure_and_install(self):
        source = os.path.join(self.folder, "source")
        for line in self.section(0, "files"):
            here, there = line.split()
            self.assertEqual(there, f"/source/{here}")
            copy = shutil.copytree if os.path.isdir(os.path.join(ROOT, here)) else shutil.copy
            os.makedirs(source, exist_ok=True)
            copy(os.path.join(ROOT, here), os.path.join(source, here))
        [preset] = [line for line in self.section(0, "post") if line.startswith("cmake --preset")]
        self.assertEqual(preset.split()[:3], ["cmake", "--preset", "release"])
        run_checked(*preset.split(), "-DVOXHERD_CUDA=OFF", cwd=source)
        self.assertTrue(os.path.exists(os.path.join(source, "build", "release", "CPackConfig.cmake")))
        listed = re.findall(r"install\((?:FILES|DIRECTORY) ([^)]*?) DESTINATION", read(source, "cmake", "packaging", "install.cmake"))
        self.assertGreater(len(listed), 3)
        for name in " ".join(listed).split():
            self.assertTrue(os.path.exists(os.path.join(source, name)), name)

    def test_its_packages_are_those_of_setup_and_of_the_deb(self):
        self.assertIn("script/setup --no-build", self.section(0, "post"))
        known = re.search(r"^build_packages=\((.*?)\)", read(ROOT, "script", "setup"), re.MULTILINE | re.DOTALL)[1].split()
        [line] = [line for line in self.section(1, "post") if "apt-get install" in line]
        packages = [word for word in line.split()[2:] if not word.startswith("-")]
        self.assertEqual(packages[0], "/voxherd.deb")
        self.assertEqual([package for package in packages[1:] if package not in known], [])
        recommended = re.search(r"RECOMMENDS ([\w-]+)\)", read(PACKAGING, "deb.cmake"))[1]
        self.assertIn(recommended, packages)

    def test_its_test_section_runs(self):
        environment = dict(os.environ, PATH=f"{os.path.dirname(os.environ['VOXHERD'])}:{os.environ['PATH']}")
        script = "\n".join(self.section(1, "test")).replace("/tmp/voxherd-test-phantom", os.path.join(self.folder, "phantom"))
        run_checked("sh", "-e", "-c", script, env=environment)


if __name__ == "__main__":
    unittest.main()
