"""The page of voxherd view in Debian's Chromium, used by keyboard: what it shows agrees with voxherd connect."""
import json
import os
import shlex
import shutil
import subprocess
import sys
import unittest

try:
    import nibabel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import numpy as np
from connect_jobs import Maps
from toy_jobs import VOXHERD
from view_jobs import Viewer, ViewJobs

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "browser")
# The packages and the screenshots stay in the build folder.
FOLDER = os.path.join(os.path.dirname(os.path.abspath(VOXHERD)), "view_browser")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def install():
    """playwright-core, once."""
    for program in ("chromium", "node", "npm"):
        if not shutil.which(program):
            skip(f"no {program}")
    os.makedirs(FOLDER, exist_ok=True)
    for name in os.listdir(SCRIPTS):
        shutil.copy(os.path.join(SCRIPTS, name), FOLDER)
    if os.path.isdir(os.path.join(FOLDER, "node_modules", "playwright-core")):
        return
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != 0:
        skip("npm cannot install playwright-core")


install()


class Page(ViewJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        screenshots = os.path.join(FOLDER, "screenshots")
        os.makedirs(screenshots, exist_ok=True)
        with Viewer(cls.tensor, "--parcellation", cls.ends) as viewer:
            cls.port = viewer.port
            environment = {**os.environ, "VOXHERD_CHROMIUM": shutil.which("chromium")}
            done = subprocess.run(["node", os.path.join(FOLDER, "view.mjs"), viewer.address, screenshots], capture_output=True,
                                  text=True, timeout=400, env=environment)
        assert done.returncode == 0, done.stderr[-3000:]
        cls.seen = json.loads(done.stdout)

    def connect(self, shown):
        """The result of the command line that the page shows."""
        words = shlex.split(shown["command"])
        self.assertEqual(words[:2] + words[-2:], ["voxherd", "connect", "--out", "connection.h5"])
        out = self.path("connection.h5")
        done = subprocess.run([VOXHERD, *words[1:-1], out, "--backend", "cpu", "--overwrite"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Maps(out)

    def assert_same(self, shown):
        maps = self.connect(shown)
        self.assertEqual(shown["cost"], maps.pathway["cost"].item())
        self.assertEqual(shown["voxels"], int((maps.inside("pathway") == 1).sum()))
        self.assertGreater(shown["voxels"], 0)
        self.assertIn(f'({shown["voxels"]} voxels)', shown["pathway-volume"])
        self.assertIn(f'{maps.pathway["length_mm"].item():.1f} mm', shown["length"])

    def test_two_points_picked_by_arrow_keys_are_connected_as_on_the_command_line(self):
        moved = [b - a for a, b in zip(self.seen["firstPoint"], self.seen["secondPoint"])]
        self.assertAlmostEqual(moved[0], 8 * 2.5, places=3)
        self.assertEqual(self.seen["afterOne"], "Set the other end.")
        self.assertIn("--from-point=", self.seen["points"]["command"])
        self.assert_same({**self.seen["points"]})

    def test_two_regions_picked_by_keyboard_are_connected_as_on_the_command_line(self):
        self.assertIn("--from-labels 1", self.seen["regions"]["command"])
        self.assert_same(self.seen["regions"])
        self.assertGreater(self.seen["regions"]["triangles"], 50)

    def test_the_slider_needs_no_request_and_shows_the_pathway_of_its_epsilon(self):
        self.assertEqual(self.seen["slider"]["requests"], [])
        self.assertGreater(self.seen["slider"]["voxels"], self.seen["regions"]["voxels"])
        self.assert_same(self.seen["slider"])

    def test_costs_are_painted_and_seen(self):
        self.assertGreater(self.seen["colours"]["shown"], self.seen["regions"]["voxels"])
        self.assertGreater(self.seen["colours"]["blue"], 0)
        self.assertGreater(self.seen["pixelsAfter"], self.seen["pixelsBefore"] + 1000)

    def test_fibres_are_drawn(self):
        self.assertGreater(self.seen["fibres"], 20)
        self.assertEqual(self.seen["drawnFibres"], self.seen["fibres"])
        self.assertGreater(self.seen["volumePixels"], 500)

    def test_saved_images_are_those_of_connect(self):
        self.connect(self.seen["slider"])
        folder = self.path("nifti")
        subprocess.run([VOXHERD, "export", self.path("connection.h5"), "--to", "nifti", folder], check=True, capture_output=True)
        for name in ("total", "pathway"):
            file = next(f for f in os.listdir(folder) if f.startswith(name + "."))
            expected = nibabel.as_closest_canonical(nibabel.load(os.path.join(folder, file)))
            saved = nibabel.load(self.seen["saved"][f"{name}.nii"])
            np.testing.assert_allclose(saved.affine, expected.affine, atol=1e-5)
            np.testing.assert_array_equal(saved.get_fdata(dtype=np.float32), expected.get_fdata(dtype=np.float32))

    def test_saved_pictures_are_not_empty(self):
        for name in ("planes.png", "volume.png"):
            with open(self.seen["saved"][name], "rb") as file:
                content = file.read()
            self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(len(content), 5000)

    def test_of_two_requests_the_second_is_shown(self):
        self.assertIn("--from-labels 1", self.seen["replaced"]["command"])
        self.assertEqual(self.seen["replaced"]["cost"], self.seen["regions"]["cost"])

    def test_a_map_has_values_with_unit(self):
        self.assertRegex(self.seen["map"]["location"], r"MD [0-9.e-]+ mm2/s")
        self.assertIn("mm2/s", self.seen["map"]["high"])
        self.assertGreater(self.seen["map"]["shown"], 1000)

    def test_another_metric_is_solved_as_on_the_command_line(self):
        self.assertIn("--metric inverse", self.seen["metric"]["command"])
        self.assertNotEqual(self.seen["metric"]["cost"], self.seen["regions"]["cost"])
        self.assert_same(self.seen["metric"])

    def test_the_page_asks_only_its_server_and_complains_about_nothing(self):
        self.assertEqual(self.seen["complaints"], [])
        self.assertEqual(self.seen["hosts"], [f"127.0.0.1:{self.port}"])

    def test_the_token_is_not_left_in_the_address(self):
        self.assertNotIn("token", self.seen["address"])

    def test_other_pages_are_refused_and_a_wrong_token_is_explained(self):
        self.assertEqual(self.seen["rebinding"], 403)
        self.assertEqual(self.seen["foreign"][0], "failed")
        self.assertNotIn("basic", self.seen["foreign"])
        self.assertRegex(self.seen["wrongToken"], "Failed: the token is missing or wrong")

    def test_a_small_screen_needs_no_sideways_scrolling(self):
        self.assertLessEqual(self.seen["overflow"], 0)


if __name__ == "__main__":
    unittest.main()
