"""What a program that knows the language finds in a text that voxherd wrote. Each function throws AssertionError if the text is not
of its language, or if a name in it has become code. Not a test itself."""
import csv
import html.parser
import io
import json
import re
import subprocess


def rows_of_table(text, separator=","):
    """The cells of a table, in which each line is a row, also for programs that split lines before they look for quotes."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    assert len(rows) == text.count("\n"), f"{len(rows)} rows, {text.count(chr(10))} lines"
    assert len({len(row) for row in rows}) == 1, f"rows of different lengths: {text[:300]!r}"
    return rows


def is_number(text):
    return re.fullmatch(r"[-+]{0,2}([0-9.]+(e[-+]?[0-9]+)?|inf|nan|infinity)", text, re.IGNORECASE) is not None


def check_no_formulas(rows):
    for row in rows:
        for cell in row:
            assert cell.lstrip()[:1] not in tuple("=+-@") or is_number(cell), f"a formula: {cell!r}"


class Markup(html.parser.HTMLParser):
    """Elements of a page, and its texts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


def text_of_page(text):
    """The texts of a page of voxherd, which has data and nothing that is executed."""
    page = Markup(text)
    scripts = {attributes.get("type") for tag, attributes in page.elements if tag == "script"}
    assert scripts == {"application/json"}, scripts
    assert not [a for _, attributes in page.elements for a in attributes if a.startswith("on")], "an event handler"
    json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
    return "".join(page.texts)


def check_citation(text):
    """No markup and no HTML but those of its form."""
    assert "<" not in text.replace("<!-- written by voxherd bids -->", ""), text
    assert not re.search(r"(?<!\\)[`\[]", text), text
    for line in text.split("\n"):
        assert re.match(r"(# (Methods|References|Data)$|- sub-|[0-9]+\. |<!-- written|[^#>\-+|]|$)", line), line


def check_batch_script(script):
    """`script`: bytes. Only the lines of a batch script of voxherd are code before its computation starts."""
    parsed = subprocess.run(["bash", "-n"], input=script, capture_output=True, timeout=60)
    assert parsed.returncode == 0, parsed.stderr
    head = script[:script.index(b"\nset -u\n")].decode("utf-8", "surrogateescape")
    assignment = head.index("\nvoxherd=")
    words = head[assignment + 1:]
    lines = [line for line in head[:assignment].split("\n") if line and not line.startswith("#")]
    assert not lines, lines
    # The program's own name may have line feeds in its quotes; the names of files are only in comments here.
    lines = [line for line in words.split("\n") if line and not line.startswith("#")]
    assert all(re.match(r"voxherd=|max_restarts=|srun=", line) for line in lines), lines
    known = {"partition", "account", "chdir", "job-name", "nodes", "ntasks-per-node", "gres", "cpus-per-task", "hint", "exclusive", "mem",
             "time", "signal", "requeue", "open-mode"}
    found = set(re.findall(r"(?m)^#SBATCH --([\w-]+)", head))
    assert found <= known, found - known
