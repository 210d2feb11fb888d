"""Files and regions whose names are markup, in the viewer's page in Chromium: no script runs, no element appears."""
import os
import shutil
import sys
import unittest

from report_pages import BROWSER, browse
from view_jobs import Viewer, ViewJobs

if not BROWSER:
    print("skipped: no chromium")
    sys.exit(77)

MARK = "\"'><img src=x class=planted onerror=document.title='ran'><svg onload=document.title='ran' class=planted>&lt;"


class HostileNames(ViewJobs):
    def test_files_and_regions_may_have_such_names(self):
        folder = self.path(MARK)
        os.makedirs(folder)
        result, names = os.path.join(folder, MARK + ".h5"), os.path.join(folder, "names")
        shutil.copy(self.tensor, result)
        with open(names, "w", encoding="utf-8") as file:
            file.writelines(f"{label}\t{MARK.replace(chr(34), '')}<script class=planted>document.title='ran'</script>{label}\n"
                            for label in range(1, 7))
        with Viewer(result, "--parcellation", self.ends, "--region-names", names) as viewer:
            _, document = browse(viewer.address, self.path("browser"), "--virtual-time-budget=60000")
        self.assertIn('data-ready="yes"', document)
        self.assertIn("planted", document)  # as a text
        self.assertNotIn("<title>ran", document)
        for element in ("<img src=\"x\"", "<svg onload", "<script class=\"planted\"", "class=\"planted\""):
            self.assertNotIn(element, document)


if __name__ == "__main__":
    unittest.main()
