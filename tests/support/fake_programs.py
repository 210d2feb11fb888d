"""Fake programs of a cluster, as scripts in a folder, for tests of batch scripts."""

import os
import stat


class FakePrograms:
    """For a test case with a `folder` that is first in PATH."""

    def add_program(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def read_log(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.remove(path)
        return text
