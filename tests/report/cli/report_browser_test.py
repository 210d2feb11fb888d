"""Pages of voxherd report in Debian's Chromium: no console message, no broken picture, no horizontal scrolling on a small
screen."""
import html
import json
import os
import re
import sys
import unittest

from report_pages import BROWSER, RESULTS, ReportJobs, browse

if not BROWSER:
    print("skipped: no chromium")
    sys.exit(77)

# The page is shown in a frame; its script policy does not concern the page around it.
AROUND = """<!DOCTYPE html><meta charset=utf-8><body>
<iframe id=frame style="border:0;width:WIDTHpx;height:900px" srcdoc="PAGE"></iframe><pre id=found></pre>
<script>
document.getElementById("frame").onload = event => {
  const page = event.target.contentDocument, root = page.documentElement;
  const wide = [...page.querySelectorAll("body *")].filter(e => !e.closest(".scroll") &&
      e.getBoundingClientRect().right > root.clientWidth + 1).map(e => e.tagName + ":" + e.textContent.slice(0, 40));
  document.getElementById("found").textContent = JSON.stringify({
    width: root.clientWidth, scroll: root.scrollWidth, wide: wide.slice(0, 5),
    images: page.images.length, broken: [...page.images].filter(i => !i.naturalWidth).length,
    text: getComputedStyle(page.body).color, background: getComputedStyle(page.body).backgroundColor});
};
</script>"""


class Browser(ReportJobs):
    def visit(self, page, *options):
        """What the browser prints, and the document after all scripts."""
        return browse(f"file://{page}", self.path("browser"), *options)

    def framed(self, name, width, *options):
        with open(self.report(name)[0], encoding="utf-8") as file:
            around = AROUND.replace("WIDTH", str(width)).replace("PAGE", html.escape(file.read()))
        with open(self.path("around.html"), "w", encoding="utf-8") as file:
            file.write(around)
        messages, document = self.visit(self.path("around.html"), *options)
        found = re.search(r'<pre id="found">(.*?)</pre>', document, re.DOTALL)
        return messages, json.loads(html.unescape(found[1]))

    def test_no_page_causes_a_console_message_or_has_a_broken_picture(self):
        for name in RESULTS:
            with self.subTest(name):
                self.assertEqual(self.visit(self.report(name)[0])[0], [])
                messages, found = self.framed(name, 1200)
                self.assertEqual(messages, [])
                self.assertEqual(found["broken"], 0)

    def test_no_page_scrolls_sideways_on_a_screen_of_320_pixels(self):
        for name in RESULTS:
            with self.subTest(name):
                _, found = self.framed(name, 320)
                self.assertLessEqual(found["width"], 320)
                self.assertEqual((found["scroll"] <= found["width"], found["wide"]), (True, []))

    def test_light_and_dark_pages_have_contrast(self):
        def luminance(text):
            parts = [int(v) / 255 for v in re.findall(r"\d+", text)[:3]]
            parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        seen = []
        for scheme in ("1", "0"):  # light, dark
            _, found = self.framed("tensor", 800, f"--blink-settings=preferredColorScheme={scheme}")
            text, background = luminance(found["text"]), luminance(found["background"])
            self.assertGreater((max(text, background) + 0.05) / (min(text, background) + 0.05), 7)
            seen.append(background)
        self.assertGreater(seen[0], seen[1])


if __name__ == "__main__":
    unittest.main()
