"""Folders depend only on what is below them (ARCHITECTURE.md): in their includes, and in the symbols that their compiled files
need. Nothing names the machine that it was written on."""
import os
import re
import shutil
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.dirname(os.path.abspath(os.environ["VOXHERD"]))
SOURCES = (".hpp", ".cpp", ".inl", ".cuh", ".cu")
SHIPPED = ("core", "kernels", "mpi", "src")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"][^>"]+[>"])', re.MULTILINE)


def kernel_folders_of_analyses():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        names = re.search(r"^set\(VOXHERD_ANALYSES ([^)]+)\)", file.read(), re.MULTILINE)[1].split()
    return tuple(f"kernels/{name}" for name in names)


# From top to bottom: a folder may include its own files, and those of folders further down.
LAYERS = (("src/app",), ("src/batch",), ("src/report", "src/view", "src/fsl", "src/phantom", "src/commands"), ("src/analyses",),
          ("src/show",), ("src/scan", "src/export"), ("src/io",), ("mpi/run",), ("mpi/result",), ("mpi/comm",), ("kernels/launchers", "kernels/phantom"),
          kernel_folders_of_analyses(), ("kernels/voxel_model",), ("kernels/tensor_field",), ("kernels/device",), ("kernels/portable",), ("core",))


# The configuration, and what the system says about this process.
FILES_OF_CORE = ("core/command_line.cpp", "core/control_groups.cpp", "core/main_memory.cpp", "core/own_program.cpp")


def files_below(*folders, ends):
    for folder in folders:
        for at, below, names in os.walk(os.path.join(ROOT, folder)):
            below[:] = [name for name in below if not name.startswith((".git", "__pycache__"))]
            yield from (os.path.join(at, name) for name in sorted(names) if name.endswith(ends))


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def includes_of(*folders):
    """Pairs of a file and what one of its lines includes, as <mpi.h> or "mpi/run/run.hpp"."""
    for path in files_below(*folders, ends=SOURCES):
        for what in INCLUDE.findall(text_of(path)):
            yield os.path.relpath(path, ROOT), what


def modules():
    """A module is a header with its sources, files of one name: the modules that each one includes."""
    def module(path):
        return os.path.splitext(path)[0]
    includes = {module(os.path.relpath(path, ROOT)): set() for path in files_below(*SHIPPED, ends=SOURCES)}
    for path, what in includes_of(*SHIPPED):
        if what.startswith('"') and module(what.strip('"')) in includes:
            includes[module(path)].add(module(what.strip('"')))
    return {name: needed - {name} for name, needed in includes.items()}


def find_cycle(needs):
    """The first names that need each other in a circle; empty if there are none."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return []
        path.append(name)
        for other in sorted(needs[name]):
            cycle = visit(other)
            if cycle:
                return cycle
        path.pop()
        done.add(name)
        return []

    return next((cycle for cycle in map(visit, sorted(needs)) if cycle), [])


def layer(path):
    """Index into LAYERS, None for a file that belongs to none."""
    for index, folders in enumerate(LAYERS):
        for folder in folders:
            if path.startswith(folder + "/"):
                return index, folder
    return None


def sources_of(folder, path):
    """The sources that an object file was compiled from, as mpi/run/run.cpp: one, or those that a unit of several includes. Without
    removed sources; none for several levels of a processor linked into one."""
    inside = re.search(r"CMakeFiles/[^/]+\.dir/(.*)\.o$", path)
    if not inside:
        return ()
    unit = path[:-len(".o")]
    sources = [os.path.join(folder, inside[1])]
    if inside[1].startswith("Unity/") and os.path.exists(unit):
        sources = [os.path.relpath(name, ROOT) for name in re.findall(r'^#include "(.*)"$', text_of(unit), re.MULTILINE)]
    return tuple(source for source in sources if os.path.exists(os.path.join(ROOT, source)))


def compiled_objects():
    """The sources of each object file of the shipped folders, by its path. Sources of one object have one folder."""
    found = {}
    for folder in SHIPPED:
        for at, _, names in os.walk(os.path.join(BUILD, folder)):
            for path in (os.path.join(at, name) for name in names):
                sources = sources_of(folder, path)
                if sources:
                    found[path] = sources
    return found


def needed_symbols():
    """Names that the sources of each object take from elsewhere."""
    objects = compiled_objects()
    listed = subprocess.run(["nm", "-A", "--undefined-only", *objects], capture_output=True, text=True, check=True, timeout=120)
    needed = {sources: set() for sources in objects.values()}
    for line in listed.stdout.splitlines():
        path, name = re.fullmatch(r"(.*?):\s+[UwvV] (\S+)", line).groups()
        needed[objects[path]].add(name.split("@")[0])
    return needed


def inline_functions(folders):
    """Functions of headers that sources of these folders compiled: of several copies the linker keeps one."""
    paths = [path for path, sources in compiled_objects().items() if sources[0].split("/")[0] in folders]
    listed = subprocess.run(["nm", "-C", "--defined-only", *paths], capture_output=True, text=True, check=True, timeout=120)
    return set(re.findall(r"^[0-9a-f]+ W (voxherd::.*)$", listed.stdout, re.MULTILINE))


def built_with_cuda():
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        return re.search("^CMAKE_CUDA_COMPILER:", file.read(), re.MULTILINE) is not None


def is_optimised():
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        return "CMAKE_BUILD_TYPE:STRING=Release\n" in file.read()


class Includes(unittest.TestCase):
    def expect_none(self, folders, forbidden):
        found = list(includes_of(*folders))
        self.assertGreater(len(found), 10, f"nothing to check in {folders}")
        broken = [f"{path} includes {what}" for path, what in found if re.match(forbidden, what, re.IGNORECASE)]
        self.assertEqual(broken, [])

    def test_every_source_is_in_a_folder_of_the_layout(self):
        self.assertEqual([path for path in (os.path.relpath(p, ROOT) for p in files_below(*SHIPPED, ends=SOURCES))
                          if layer(path) is None], [])

    def test_no_file_includes_one_of_a_folder_above_it(self):
        broken = set()
        for path, what in includes_of(*SHIPPED):
            own, other = layer(path), layer(what.strip('"'))
            if what.startswith('"') and other and (other[0] < own[0] or (other[0] == own[0] and other[1] != own[1])):
                broken.add((path, what.strip('"')))
        self.assertEqual(broken, set())

    def test_no_module_needs_itself_through_others(self):
        needs = modules()
        self.assertGreater(len(needs), 400)
        self.assertEqual(find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])
        self.assertEqual(find_cycle(needs), [])

    def test_kernels_and_mpi_do_not_include_each_other(self):
        self.expect_none(["mpi"], '"kernels/')
        self.expect_none(["kernels"], '"mpi/')

    def test_core_and_kernels_include_no_mpi_no_files_and_no_command_line(self):
        self.expect_none(["kernels"], r"<(mpi|hdf5|H5|zlib|boost/|spdlog/|nlohmann/|fstream|filesystem)")
        self.expect_none(["core"], r"<(mpi|hdf5|H5|zlib|spdlog/|cuda)")
        with_files = {path for path, what in includes_of("core") if re.match("<(fstream|filesystem|fcntl)", what)}
        own = {"core/command_line.cpp", "core/control_groups.cpp", "core/main_memory.cpp", "core/own_program.hpp"}
        self.assertEqual(with_files, {*own, "core/current_failure.cpp"})  # the latter words their exceptions

    def test_only_cuda_files_include_cuda_headers(self):
        broken = [f"{path} includes {what}" for path, what in includes_of(*SHIPPED)
                  if re.match(r'<cu(da|fft)|".*\.cuh"', what) and not path.endswith((".cu", ".cuh"))]
        self.assertEqual(broken, [])

    def test_nothing_that_ships_includes_tests_or_benchmarks(self):
        self.expect_none(SHIPPED, '"(tests|bench)/')

    def test_benchmarks_include_only_the_tests_references(self):
        self.expect_none(["bench"], '"tests/(?![a-z_]+/reference/)')
        references = [os.path.join("tests", name, "reference") for name in os.listdir(os.path.join(ROOT, "tests"))]
        self.expect_none(references, '"tests/([a-z_]+/)?support/')

    def test_a_source_includes_the_header_of_its_name(self):
        for path in files_below(*SHIPPED, ends=(".cpp", ".cu")):
            header = os.path.splitext(path)[0] + ".hpp"
            if os.path.exists(header):
                self.assertIn(f'"{os.path.relpath(header, ROOT)}"', INCLUDE.findall(text_of(path)), path)

    def test_threads_are_started_and_the_process_is_found_in_one_place_each(self):
        """Otherwise a refused thread, or a missing /proc, has another message or none."""
        for what, place in ((r"std::j?thread\(|std::async\(std::launch::async|pthread_create", "core/threads"),
                            ("/proc/self/exe|/proc/self/cmdline|/proc/self/environ", "core/own_program"),
                            (r"/sys/fs/cgroup|/proc/self/cgroup", "core/control_groups"), (r"\bf(data)?sync\(", "mpi/result/file_names")):
            found = {os.path.relpath(path, ROOT) for path in files_below(*SHIPPED, ends=SOURCES) if re.search(what, text_of(path))}
            self.assertEqual({os.path.splitext(path)[0] for path in found}, {place}, what)

    def test_headers_are_included_once_per_file(self):
        broken = [path for path in files_below(*SHIPPED, ends=(".hpp", ".cuh")) if "#pragma once" not in text_of(path)]
        self.assertEqual(broken, [])


@unittest.skipUnless(shutil.which("nm"), "nm is not installed")
class Symbols(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.needed = needed_symbols()

    def test_the_program_was_compiled_in_this_build_folder(self):
        compiled = {layer(source)[1] for sources in self.needed for source in sources}
        of_headers = {"kernels/portable"} | (set() if built_with_cuda() else {"kernels/device"})
        self.assertEqual(compiled, {folder for folders in LAYERS for folder in folders} - of_headers)

    def test_sources_compiled_together_are_of_one_folder(self):
        self.assertEqual([sources for sources in self.needed if len({layer(source) for source in sources}) > 1], [])

    def sources_that_need(self, pattern, but=()):
        """The first source of each object that needs such a name, except objects of folders or with sources in `but`."""
        return {sources[0] for sources, names in self.needed.items() if any(re.match(pattern, name) for name in names)
                and not any(source.startswith(but) for source in sources)}

    @unittest.skipUnless(is_optimised(), "SKIPPED: without optimisation nothing is inlined")
    def test_functions_that_compute_are_compiled_with_the_flags_of_kernels_only(self):
        kernels, others = inline_functions(["kernels"]), inline_functions(["core", "mpi", "src"])
        self.assertGreater(len(kernels), 20)
        self.assertGreater(len(others), 20)
        made_by_compiler = re.compile(r"::~|::release_memory\(\)|(\w+)::\1\(")  # or without numbers
        computing = {name for name in kernels & others if not made_by_compiler.search(name)}
        self.assertEqual(computing, set())

    def test_kernels_define_no_variables_that_processor_levels_would_share(self):
        paths = [path for path, sources in compiled_objects().items() if sources[0].startswith("kernels/")]
        listed = subprocess.run(["nm", "--extern-only", "--defined-only", *paths], capture_output=True, text=True, check=True, timeout=120)
        self.assertIn(" T ", listed.stdout)
        self.assertEqual(re.findall(r"^[0-9a-f]+ ([BCDGRS] .*)$", listed.stdout, re.MULTILINE), [])

    def test_only_mpi_comm_calls_mpi(self):
        self.assertEqual(self.sources_that_need(r"P?MPI_[A-Z]", ("mpi/comm/",)), set())

    def test_only_mpi_result_calls_hdf5(self):
        self.assertEqual(self.sources_that_need(r"H5[A-Z]{1,2}[a-z_]", ("mpi/result/",)), set())

    def test_only_cuda_files_call_cuda(self):
        pattern = r"cuda[A-Z]|__cuda|cu[A-Z][a-z]+[A-Z]|cufft"
        self.assertEqual({s for s in self.sources_that_need(pattern) if not s.endswith(".cu")}, set())

    def test_only_io_calls_libraries_of_image_files(self):
        pattern = r"(isal_|XML_[A-Z]|gz(open|read|write|close)|inflate|deflate)"
        self.assertEqual(self.sources_that_need(pattern, ("src/io/",)), set())

    def test_core_and_kernels_open_no_files_except_the_configuration_and_those_of_the_system(self):
        pattern = r"(fopen|open|openat|mmap)(64)?$|_ZNSt1[34]basic_[io]?f(ile)?stream|_ZNSt10filesystem"
        self.assertEqual(self.sources_that_need(pattern, ("mpi/", "src/", *FILES_OF_CORE)), set())


class Places(unittest.TestCase):
    def test_no_file_knows_the_machine_it_was_written_on(self):
        places = re.compile(r"(?<![\w.$}])/(work|root|home|Users)/\w")
        folders = ["core", "kernels", "mpi", "src", "tests", "bench", "cmake", "configs", "slurm", "script", "docs", ".ci", ".github"]
        paths = [os.path.join(ROOT, name) for name in os.listdir(ROOT) if name.endswith((".md", ".txt", ".json"))]
        paths += files_below(*folders, ends=("",))
        broken = []
        for path in paths:
            with open(path, encoding="utf-8", errors="replace") as file:
                broken += [f"{os.path.relpath(path, ROOT)}:{number}" for number, line in enumerate(file, 1)
                           if places.search(line)]
        self.assertEqual(broken, [])


if __name__ == "__main__":
    unittest.main()
