"""The Apptainer definition, as far as it can be checked without Apptainer."""
import os
import re
import subprocess
import unittest

import installed
from installed import ROOT, run_checked


class Apptainer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = installed.temporary_folder(cls)
        with open(os.path.join(ROOT, "cmake", "packaging", "apptainer.def"), encoding="utf-8") as file:
            cls.text = file.read()
        cls.sections = {"header": []}
        for line in cls.text.splitlines():
            if line.startswith("%"):
                cls.sections[line[1:]] = []
            elif line.strip() and not line.startswith("#"):
                cls.sections[list(cls.sections)[-1]].append(line.strip())

    def test_it_uses_the_image_and_its_sections_are_valid(self):
        self.assertEqual(self.sections["header"], ["Bootstrap: oci-archive", "From: {{ image }}"])
        self.assertEqual(list(self.sections), ["header", "arguments", "runscript", "test", "labels", "help"])

    def test_each_argument_has_a_value_and_is_used(self):
        used = set(re.findall(r"\{\{ (\w+) \}\}", self.text))
        self.assertEqual({line.split("=")[0] for line in self.sections["arguments"]}, used)
        self.assertEqual(set(re.findall(r"--build-arg (\w+)=", self.text)), used)

    def test_its_commands_are_valid_shell(self):
        for name in ("runscript", "test"):
            subprocess.run(["sh", "-n"], input="\n".join(self.sections[name]), text=True, timeout=60, check=True)

    def test_its_test_section_runs(self):
        environment = dict(os.environ, PATH=f"{os.path.dirname(os.environ['VOXHERD'])}:{os.environ['PATH']}")
        script = "\n".join(self.sections["test"]).replace("/tmp/voxherd-test-phantom", os.path.join(self.folder, "phantom"))
        run_checked("sh", "-e", "-c", script, env=environment)


if __name__ == "__main__":
    unittest.main()
