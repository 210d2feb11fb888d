"""The page of voxherd view in Debian's Chromium, used by keyboard: what it shows agrees with voxherd connect."""
import json
import os
import shlex
import shutil
import subprocess
import sys
import unittest
import zipfile

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
    """playwright-core and axe-core, once."""
    for program in ("chromium", "node", "npm"):
        if not shutil.which(program):
            skip(f"no {program}")
    os.makedirs(FOLDER, exist_ok=True)
    for name in os.listdir(SCRIPTS):
        shutil.copy(os.path.join(SCRIPTS, name), FOLDER)
    if all(os.path.isdir(os.path.join(FOLDER, "node_modules", name)) for name in ("playwright-core", "axe-core")):
        return
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != 0:
        skip("npm cannot install playwright-core and axe-core")


install()


class Page(ViewJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        screenshots = os.path.join(FOLDER, "screenshots")
        os.makedirs(screenshots, exist_ok=True)
        with Viewer(cls.tensor, "--parcellation", cls.ends, "--within-fa", "0") as viewer:
            cls.port = viewer.port
            cls.seen = cls.use(viewer, "view.mjs", screenshots)
            cls.axe = cls.use(viewer, "axe.mjs", screenshots)

    @classmethod
    def use(cls, viewer, script, *words):
        """What a script of the browser sees."""
        environment = {**os.environ, "VOXHERD_CHROMIUM": shutil.which("chromium")}
        done = subprocess.run(["node", os.path.join(FOLDER, script), viewer.address, *words], capture_output=True, text=True,
                              timeout=400, env=environment)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

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

    def test_a_path_between_regions_is_brought_into_view(self):
        regions = self.seen["regions"]
        self.assertLess(max(abs(a - b) for a, b in zip(regions["middle"], regions["crosshair"])), 2.5)

    def test_pictures_have_a_window_letters_at_all_sides_and_a_radiological_view(self):
        pictures = self.seen["pictures"]
        self.assertEqual(pictures["window"], ["0", "0.8"])
        self.assertEqual(pictures["sides"], [[False, True, 18], [True, True, 18]])
        self.assertEqual(pictures["step"], 1)  # the arrow to the left leads to the subject's right

    def test_a_smallest_FA_is_that_of_the_command_line_and_its_failure_is_forgotten_elsewhere(self):
        failed, later = self.seen["tooMuch"]
        self.assertRegex(failed, "^Failed: within-fa 1: no white matter: of ")
        self.assertEqual(later, "")
        self.assertIn("--within-fa 0.3", self.seen["withinFA"]["command"])
        self.assertEqual(self.seen["withinFA"]["shown"], "0.30")
        self.assert_same(self.seen["withinFA"])

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

    def test_the_command_line_is_not_broken_within_its_options(self):
        options = [word for word in self.seen["words"] if word["text"].startswith("--")]
        self.assertGreaterEqual(len(options), 8)
        self.assertEqual([word["text"] for word in options if word["lines"] != 1 and not word["fills"]], [])

    def test_mean_FA_along_the_path_is_shown(self):
        self.assertEqual(self.seen["points"]["path-FA"], f'{self.seen["points"]["pathFA"]:.3f}')
        self.assertGreater(self.seen["points"]["pathFA"], 0.1)

    def test_glyphs_are_drawn_and_removed(self):
        glyphs = self.seen["glyphs"]
        self.assertEqual(glyphs["count"], self.seen["slider"]["voxels"])
        self.assertEqual(glyphs["triangles"], 140 * glyphs["count"])
        self.assertGreater(glyphs["newPixels"], 300)
        self.assertFalse(glyphs["after"])

    def test_kept_pathways_stay_in_their_colours(self):
        kept = self.seen["kept"]
        self.assertEqual(kept["first"], self.seen["slider"]["voxels"])
        self.assertEqual(kept["paintedAfterTheNext"], kept["first"])
        self.assertEqual(kept["painted"], kept["second"])
        self.assertEqual(kept["colours"], ["#00e0e0", "#ffe000"])
        self.assertEqual(kept["names"], ["region 1 – region 2", "region 1 – region 3"])
        self.assertEqual(kept["left"], [0, 0])

    def test_each_front_can_be_shown(self):
        kept = self.seen["kept"]
        self.assertGreater(kept["from"]["blue"], 0)
        self.assertEqual(len({json.dumps(kept[name]) for name in ("from", "to", "total")}), 3)

    def test_a_scene_is_the_same_when_it_is_loaded_again(self):
        scene = self.seen["scene"]
        self.assertEqual(scene["loaded"], scene["saved"])
        self.assertEqual(len(scene["saved"]["kept"]), 2)
        self.assertEqual(scene["image"], "FA")
        self.assertIn("not a scene", scene["wrong"])

    def test_the_page_is_accessible_in_light_and_dark(self):
        for scheme in "light", "dark":
            self.assertEqual(self.axe[scheme]["violations"], [])
            self.assertGreater(self.axe[scheme]["passes"], 20)
        self.assertNotEqual(self.axe["light"]["background"], self.axe["dark"]["background"])

    def test_saved_fibres_are_those_shown(self):
        with zipfile.ZipFile(self.seen["saved"]["paths.trx"]) as trx:
            self.assertEqual(json.loads(trx.read("header.json"))["NB_STREAMLINES"], self.seen["fibres"])

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
        refused = "Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)"
        self.assertEqual(self.seen["complaints"], [refused])  # the FA that no voxel has
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
