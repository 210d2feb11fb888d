"""docs/manual.md describes every command and every option with its default, and no others."""
import functools
import os
import re
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VOXHERD = os.environ["VOXHERD"]
INPUTS, RUN = "Inputs of diffusion analyses", "Options of every run"
# Sections of options that a command has in addition to its own.
SHARED = {"tensor": [INPUTS, RUN], "ballstick": [INPUTS, RUN], "geodesic": [INPUTS, RUN], "connect": [INPUTS, RUN],
          "perfusion": [RUN], "bedpostx": ["voxherd ballstick", RUN]}


@functools.cache
def help_of(*words):
    return subprocess.run([VOXHERD, *words, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout


def commands():
    return re.findall(r"^  (\w+) {2,}\w", help_of(), re.MULTILINE)


def options_of(command):
    """Name -> default ("" if none), from the command's help."""
    line = r"^  (?:-\w \[ )?--([\w-]+)(?: \])?(?: \S+)?(?: \(=([^)]*)\))?(?: |$)"
    found = re.findall(line, help_of(command), re.MULTILINE)
    return {name: default for name, default in found if name != "help"}


def read_manual():
    """Heading -> {option: default} from the tables under it."""
    sections, heading = {}, None
    with open(os.path.join(ROOT, "docs", "manual.md"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                heading = line[3:].strip()
                sections[heading] = {}
            row = re.match(r"\| `--([\w-]+)[^`]*` \| ([^|]*?) ?\|", line)
            if row:
                sections[heading][row[1]] = row[2].strip()
    return sections


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manual = read_manual()
        cls.commands = commands()

    def rows_for(self, command):
        rows = {}
        for heading in [f"voxherd {command}", *SHARED.get(command, [])]:
            rows.update(self.manual[heading])
        return rows

    def test_every_command_has_a_section(self):
        self.assertGreaterEqual(len(self.commands), 6)
        for command in self.commands:
            self.assertIn(f"voxherd {command}", self.manual)

    def test_every_option_is_documented_with_its_default(self):
        for command in self.commands:
            rows = self.rows_for(command)
            for name, default in options_of(command).items():
                with self.subTest(f"{command} --{name}"):
                    self.assertIn(name, rows)
                    self.assertEqual(rows[name], default)

    def test_no_documented_option_is_missing_in_the_program(self):
        for command in self.commands:
            options = options_of(command)
            self.assertGreater(len(options), 0)
            for name in self.manual[f"voxherd {command}"]:
                with self.subTest(f"{command} --{name}"):
                    self.assertIn(name, options)
        for heading in (INPUTS, RUN):
            self.assertGreater(len(self.manual[heading]), 4)
            for name in self.manual[heading]:
                self.assertIn(name, options_of("tensor"))

    def test_every_exit_status_and_status_code_of_the_sources_is_documented(self):
        with open(os.path.join(ROOT, "docs", "manual.md"), encoding="utf-8") as file:
            text = file.read()
        for header, heading in (("core/failure.hpp", "Exit statuses"),
                                ("kernels/portable/voxel_status.hpp", "The status map")):
            section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
            with open(os.path.join(ROOT, header), encoding="utf-8") as file:
                codes = re.findall(r"^  \w+ = (\d+),", file.read(), re.MULTILINE)
            self.assertGreater(len(codes), 5)
            for code in codes:
                self.assertIn(f"| {code} |", section)


class Links(unittest.TestCase):
    def test_links_in_the_documents_lead_to_existing_files_and_headings(self):
        documents = [name for name in os.listdir(ROOT) if name.endswith(".md")]
        documents += [f"docs/{name}" for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md")]
        self.assertIn("README.md", documents)
        for document in documents:
            path = os.path.join(ROOT, document)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if target.startswith("http"):
                    continue
                with self.subTest(f"{document}: {target}"):
                    name, _, anchor = target.partition("#")
                    linked = os.path.join(os.path.dirname(path), name) if name else path
                    self.assertTrue(os.path.exists(linked))
                    if anchor:
                        with open(linked, encoding="utf-8") as file:
                            headings = re.findall(r"^#+ (.*)$", file.read(), re.MULTILINE)
                        anchors = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]
                        self.assertIn(anchor, anchors)


if __name__ == "__main__":
    unittest.main()
