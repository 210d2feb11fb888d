"""Names and texts that are markup, in files, regions, subjects and every text of a result: no page has an element or runs
a script that is not its own. Without Chromium only the pages' sources are read."""
import glob
import html
import json
import os
import re
import shutil
import unittest

import h5py
import numpy as np
from report_pages import BROWSER, RESULTS, Page, ReportJobs, browse, call
from result_files import changed_tables

from program import run

# Runs wherever it becomes markup, in a text, an attribute or a script. Without a slash, so that it may be a file's name.
MARK = ("\"'>]]>--><img src=x class=planted onerror=top.ran=1><script class=planted>top.ran=1;<\\script>"
        "<svg onload=top.ran=1 class=planted>&lt;&amp;\n;top.ran=1")
IN_TEXTS = MARK.replace("<\\script>", "</script></title></style></textarea>")
# Shows pages without their policy, which would stop the scripts, and counts what was planted.
AROUND = """<!DOCTYPE html><meta charset=utf-8><title>around</title>FRAMES<pre id=found></pre>
<script>
onload = () => document.getElementById("found").textContent = JSON.stringify({ran: window.ran ?? 0,
  planted: [...document.querySelectorAll("iframe")].map(f => f.contentDocument.querySelectorAll(
      ".planted, img:not([src^='data:']), script:not([type='application/json'])").length)});
</script>"""


def poisoned(value):
    """JSON with the mark before every text but keys."""
    if isinstance(value, str):
        return IN_TEXTS + value
    if isinstance(value, list):
        return [poisoned(v) for v in value]
    if isinstance(value, dict):
        return {name: poisoned(v) for name, v in value.items()}
    return value


def texts_of(path):
    """Place, name and text of each attribute that is a text."""
    found = []
    with h5py.File(path) as file:
        def note(place, thing):
            for name in thing.attrs:
                text = thing.attrs[name]
                if isinstance(text, (bytes, str)) and name != "Type":
                    found.append((place, name, text.decode() if isinstance(text, bytes) else text))

        note("/", file)
        file.visititems(note)
    return found


def changed_text(text):
    try:
        value = json.loads(text)
    except ValueError:
        return IN_TEXTS + text
    return json.dumps(poisoned(value)) if isinstance(value, (dict, list)) else IN_TEXTS


class HostileNames(ReportJobs):
    def tearDown(self):
        if not BROWSER:
            self.skipTest("no chromium: only the pages' sources were read")

    def check(self, paths):
        """Pages that have no element of the mark, in their source and in the browser."""
        frames = ""
        for path in paths:
            page = Page(path)
            with self.subTest(path):
                self.assertEqual([t for t, given in page.elements if "planted" in given.get("class", "")], [])
                self.assertEqual([k for _, given in page.elements for k in given if k.startswith("on")], [])
                self.assertEqual([t for t, _ in page.elements].count("script"), 1)
                json.loads(page.data)
            source = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", page.source)
            self.assertNotEqual(source, page.source)
            frames += f'<iframe srcdoc="{html.escape(source)}"></iframe>\n'
        if BROWSER:
            with open(self.path("around.html"), "w", encoding="utf-8") as file:
                file.write(AROUND.replace("FRAMES", frames))
            document = browse(f"file://{self.path('around.html')}", self.path("browser"))[1]
            found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', document, re.DOTALL)[1]))
            self.assertEqual(found, {"ran": 0, "planted": [0] * len(paths)})

    def test_every_text_of_a_result_may_be_markup(self):
        for result in RESULTS:
            original, pages = self.make(result), []
            texts = texts_of(original)
            names = sorted({name for _, name, _ in texts})
            for name in names:
                copy = self.path(f"{name}_of_{result}.h5")
                shutil.copy(original, copy)
                with changed_tables(copy) as file:
                    for place, _, text in (t for t in texts if t[1] == name):
                        del file[place].attrs[name]
                        file[place].attrs[name] = np.bytes_(changed_text(text).encode())
                done = call("report", copy)
                with self.subTest(result, name=name):
                    self.assertIn(done.returncode, (0, 65), done.stderr)
                pages += [copy.replace(".h5", ".report.html")] if done.returncode == 0 else []
                os.remove(copy)
            self.assertGreater(len(pages), 2, names)
            self.check(pages)

    def hostile(self, *names):
        """A folder with such a name."""
        folder = self.path(MARK)
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, *names)

    def scan_in(self):
        """The scan in files with such names; the options of its series."""
        words = []
        for option, path in zip(self.series[::2], self.series[1::2]):
            copy = self.hostile(MARK + os.path.basename(path))
            shutil.copy(path, copy)
            words += [option, copy]
        return words

    def test_files_regions_and_targets_may_have_such_names(self):
        series, brief = self.scan_in(), ("--backend", "cpu", "--threads", "1", "--quiet", "--overwrite")
        ends, names = self.hostile(MARK + "ends.nii.gz"), self.hostile("names.txt")
        shutil.copy(self.ends, ends)
        line = MARK.replace("\n", " ").replace('"', "")
        with open(names, "w", encoding="utf-8") as file:
            file.writelines(f"{label}\t{line}{label}\n" for label in (7, 8, 9, 10))
        made = []
        for words in (["tensor", *series], ["connect", *series, "--connectome", ends, "--labels", "7,8,9,10", "--region-names", names],
                      ["track", "--samples", self.make("ballstick"), "--seed-image", ends, "--targets", ends, "--samples-per-seed", "2"],
                      ["track", "--samples", self.make("ballstick"), "--connectome", ends, "--region-names", names, "--samples-per-seed", "2"]):
            made.append(self.hostile(f"{MARK}{len(made)}.h5"))
            run(*words, *brief, "--out", made[-1])
        folder = self.hostile(MARK + ".bedpostX")
        run("export", self.make("ballstick"), "--to", "fsl", folder, "--overwrite")
        for what in (*made, series[1], folder):
            run("report", what, "--out", what + ".html")
        run("report", series[1], *series[2:], "--out", series[1] + ".all.html")
        self.check(sorted(glob.glob(os.path.join(glob.escape(self.path(MARK)), "*.html"))))

    def test_subjects_of_a_cohort_may_have_such_names(self):
        name = IN_TEXTS.replace("\n", " ")
        lines, manifest = ["subject\tout\tcommand"], self.hostile(MARK + "m.tsv")
        for number in range(3):
            out = self.path(f"subject{number}.h5")
            words = f"tensor {' '.join(self.series)} --backend cpu --threads 1 --out {out}"
            run(*words.split(), "--overwrite")
            lines.append(f"{name}{number}\t{out}\t{words}")
        with open(manifest, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        page = self.hostile("cohort.html")
        run("cohort", manifest, "--report", page, "--overwrite")
        self.assertIn("3 of 3 subjects", Page(page).text)
        self.check([page])


del ReportJobs

if __name__ == "__main__":
    unittest.main()
