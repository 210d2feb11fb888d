"""The table of docs/coming-from-fsl.md is what the tests replay."""
import ast
import os
import unittest

from command_lines import PAGE, ROWS, filled

HERE = os.path.dirname(os.path.abspath(__file__))


def cases_of(module):
    """Class.test_name of each case in a file of this folder, which may skip itself when it is imported."""
    with open(os.path.join(HERE, f"{module}.py"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    return {f"{group.name}.{case.name}" for group in tree.body if isinstance(group, ast.ClassDef)
            for case in group.body if isinstance(case, ast.FunctionDef) and case.name.startswith("test_")}


class CommandLines(unittest.TestCase):
    def test_all_rows_of_the_survey_are_there(self):
        self.assertEqual([row.number for row in ROWS], [n for n in range(1, 28) if n not in (5, 8, 25)])

    def test_a_row_is_replayed_by_cases_that_exist_or_names_what_is_missing(self):
        for row in ROWS:
            with self.subTest(row.line):
                self.assertNotEqual(bool(row.cases), bool(row.why))
                for case in row.cases:
                    module, name = case.split(".", 1)
                    self.assertIn(name, cases_of(module))

    def test_the_page_holds_the_table(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page, filled(page), "write it with tests/fsl/support/command_lines.py")


if __name__ == "__main__":
    unittest.main()
