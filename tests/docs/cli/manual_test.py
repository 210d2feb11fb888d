"""Each command has a page in docs/commands; the commands, options and codes that documents name exist; links resolve."""
import functools
import glob
import os
import re
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VOXHERD = os.environ["VOXHERD"]
PAGES = os.path.join(ROOT, "docs", "commands")
ANALYSES = ["tensor", "ballstick", "noddi", "track", "geodesic", "connect", "perfusion"]
OPTION = re.compile(r"(?<![\w-])--([a-zA-Z][\w-]*)")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def read_page(command):
    return read(os.path.join(PAGES, f"{command}.md"))


@functools.cache
def read_help(*words, flag="--help"):
    return subprocess.run([VOXHERD, *words, flag], capture_output=True, text=True, check=True, timeout=60).stdout


@functools.cache
def commands():
    return re.findall(r"^  (\w+) {2,}\w", read_help(), re.MULTILINE)


@functools.cache
def help_options(command):
    return set(OPTION.findall(read_help(command, flag="--help-all"))) | {"help"}


def without_code_blocks(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def command_lines(text):
    """The voxherd command lines in a document's code blocks, as (command, options)."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in re.sub(r"\\\n", " ", block).splitlines():
            for part in re.split(r"&&|[|>;)]|\s#", line):
                found = re.search(r"voxherd (\w+)(.*)", part)
                if found:
                    yield found[1], re.findall(r"\w+", found[2]), OPTION.findall(found[2])


def options_in_text(text, command):
    """(command, option) of each `--option` in the text. A span may name its command first: `geodesic --top`."""
    for span in re.findall(r"`([^`\n]+)`", without_code_blocks(text)):
        words = span.removeprefix("voxherd ").split()
        if words[0].startswith("--"):
            yield from ((command, option) for option in OPTION.findall(span))
        elif words[0] in commands():
            yield from ((words[0], option) for option in OPTION.findall(span))


class CommandPages(unittest.TestCase):
    def test_every_command_has_a_page_that_the_list_names(self):
        self.assertGreaterEqual(len(commands()), 13)
        contents = read_page("README")
        for command in commands():
            with self.subTest(command):
                self.assertTrue(read_page(command).startswith(f"# voxherd {command}\n"))
                self.assertIn(f"[{command}]({command}.md)", contents)

    def test_no_page_is_about_a_command_that_does_not_exist(self):
        names = {os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(PAGES, "*.md"))}
        self.assertEqual(names - {"README"}, set(commands()))

    def test_every_page_has_places_for_generated_tables(self):
        for command in commands():
            tables = ["options", "outputs"] if command in ANALYSES else ["options"]
            markers = re.findall(r"^<!-- (.*) -->$", read_page(command), re.MULTILINE)
            with self.subTest(command):
                self.assertEqual(markers, [m for table in tables for m in (f"{table}: {command}", "end")])

    def test_every_page_has_an_example(self):
        for command in commands():
            with self.subTest(command):
                self.assertIn(command, [name for name, _, _ in command_lines(read_page(command))])

    def test_options_in_the_text_exist(self):
        for command in [*commands(), "README"]:
            for named, option in options_in_text(read_page(command), command):
                with self.subTest(f"{command}.md: {named} --{option}"):
                    # A page may speak of the options that all analyses share.
                    known = help_options("tensor") | (set() if named == "README" else help_options(named))
                    self.assertIn(option, known)

    def test_options_in_examples_exist(self):
        documents = ["README.md", "docs/quickstart.md", *sorted(glob.glob(os.path.join(PAGES, "*.md")))]
        for document in documents:
            for command, words, options in command_lines(read(document)):
                self.assertIn(command, commands())
                # These commands also take the options of an analysis.
                inner = words[0] if command == "slurm" else "ballstick" if command == "bids" else None
                known = help_options(command) | (help_options(inner) if inner else set())
                for option in options:
                    with self.subTest(f"{os.path.basename(document)}: {command} --{option}"):
                        self.assertIn(option, known)

    def test_configurations_in_the_text_exist(self):
        for document in ["README.md", "docs/quickstart.md", *glob.glob(os.path.join(PAGES, "*.md"))]:
            for name in re.findall(r"configs/([\w.-]+\.cfg)", read(document)):
                with self.subTest(name):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, "configs", name)))

    def test_every_exit_status_and_status_code_of_the_sources_is_there(self):
        text = read_page("README")
        for header, heading in (("failure.hpp", "Exit statuses"), ("voxel_status.hpp", "The status map")):
            section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
            found = [path for folder in ("core", "mpi", "kernels")
                     for path in glob.glob(os.path.join(ROOT, folder, "**", header), recursive=True)]
            self.assertEqual(len(found), 1, header)
            codes = re.findall(r"^  \w+ = (\d+),", read(found[0]), re.MULTILINE)
            self.assertGreater(len(codes), 5)
            for code in codes:
                self.assertIn(f"| {code} |", section)


class Citation(unittest.TestCase):
    def test_the_citation_file_has_the_version_and_the_description_of_the_project(self):
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            project = re.search(r'project\(voxherd VERSION (\S+).*?DESCRIPTION "([^"]+)"', file.read(), re.DOTALL)
        with open(os.path.join(ROOT, "CITATION.cff"), encoding="utf-8") as file:
            fields = dict(line.split(": ", 1) for line in file.read().splitlines() if re.match(r"[\w-]+: ", line))
        self.assertEqual((fields["version"], fields["abstract"]), project.groups())
        self.assertEqual(fields["license"], "Apache-2.0")


class Links(unittest.TestCase):
    def test_files_and_headings_that_the_documents_link_to_are_there(self):
        documents = [name for name in os.listdir(ROOT) if name.endswith(".md")]
        documents += glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)
        self.assertIn("README.md", documents)
        for document in documents:
            path = os.path.join(ROOT, document)
            for target in re.findall(r"\]\(([^)\s]+)\)", read(path)):
                if target.startswith("http"):
                    continue
                with self.subTest(f"{os.path.relpath(path, ROOT)}: {target}"):
                    name, _, anchor = target.partition("#")
                    linked = os.path.join(os.path.dirname(path), name) if name else path
                    self.assertTrue(os.path.exists(linked))
                    if anchor:
                        headings = re.findall(r"^#+ (.*)$", read(linked), re.MULTILINE)
                        anchors = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]
                        self.assertIn(anchor, anchors)


if __name__ == "__main__":
    unittest.main()
