"""The panels of voxherd view for results of perfusion, ball & stick, connectomes and fibres, in Debian's Chromium and by
keyboard: what they show agrees with the results."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import unittest
import zipfile

import h5py
import numpy as np
from report_pages import ReportJobs
from view_browser_test import FOLDER
from view_jobs import Viewer

NAMES = ("perfusion", "ballstick", "connectome", "geodesic", "surfaces")


class Panels(ReportJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        screenshots = os.path.join(FOLDER, "screenshots")
        os.makedirs(screenshots, exist_ok=True)
        with contextlib.ExitStack() as running:
            viewers = [f"{name}={running.enter_context(Viewer(cls.make(name))).address}" for name in NAMES]
            environment = {**os.environ, "VOXHERD_CHROMIUM": shutil.which("chromium")}
            done = subprocess.run(["node", os.path.join(FOLDER, "panels.mjs"), screenshots, *viewers], capture_output=True, text=True,
                                  timeout=400, env=environment)
        assert done.returncode == 0, done.stderr[-3000:]
        cls.seen = json.loads(done.stdout)

    def file(self, name):
        file = h5py.File(self.make(name))
        self.addCleanup(file.close)
        return file

    def test_a_perfusion_voxel_is_drawn_with_its_fit_and_follows_the_arrow_keys(self):
        seen = self.seen["perfusion"]
        frames = len(self.file("perfusion")["curves/time"])
        self.assertEqual(seen["after"]["shown"], seen["before"]["shown"] + 1)
        for at in ("before", "after"):
            self.assertEqual(seen[at]["shown"], seen[at]["wanted"])
            self.assertEqual(seen[at]["circles"], frames + 1)  # and one in the legend
            self.assertEqual(seen[at]["lines"], 6)  # fit and two inputs, and their legends
        self.assertNotEqual(seen["before"]["answer"]["fit"], seen["after"]["answer"]["fit"])
        self.assertEqual(seen["rows"], frames)
        self.assertRegex(seen["parameters"], r"ka \(ml/100g/min\)[\d.]+± [\d.]+kp")

    def test_a_ballstick_voxel_has_its_signal_and_the_samples_of_both_fibres(self):
        seen = self.seen["ballstick"]
        file = self.file("ballstick")
        weighted = int((file["inputs/bvals"][()] > 50).sum())
        samples = 2 * file["samples/th1"].shape[1]
        shells = 2
        self.assertEqual(seen["circles"], weighted + shells + samples + 3)  # the disc and two rings
        self.assertIn("seen from above", seen["above"])
        self.assertIn("seen from the front", seen["front"])

    def test_a_pair_of_the_matrix_is_chosen_by_keys_and_connected(self):
        seen = self.seen["connectome"]
        costs = self.file("connectome")["connectome/cost"][()]
        self.assertRegex(seen["pair"], f"region 7 → region 8: {costs[0, 1]:.4g}"[:22])
        self.assertEqual(seen["ends"], ["7", "8"])
        self.assertAlmostEqual(seen["cost"] / min(costs[0, 1], costs[1, 0]), 1, delta=0.02)
        self.assertGreater(seen["pixels"], 5)
        self.assertEqual(len(seen["listed"]), 6)
        self.assertTrue(all("region 9" in row for row in seen["listed"]))
        best = [int(label) for label in re.findall(r"region (\d+)", seen["listed"][0])]
        self.assertEqual(seen["searched"], [str(label) for label in best])

    def test_fibres_are_drawn_filtered_cut_and_coloured(self):
        seen = self.seen["geodesic"]
        file = self.file("geodesic")
        stored = len(file["items/voxel"])
        for where in ("all", "planes"):
            self.assertEqual(seen[where], {"fibres": stored, "points": len(file["points/position"])})
        measure = np.sort(file["samples/measure"][()])
        limit = measure[int(seen["threshold"] / 100 * (stored - 1) + 0.5)]
        self.assertGreater(seen["threshold"], 0)
        self.assertEqual(seen["some"]["fibres"], int((measure >= limit).sum()))
        self.assertEqual(seen["status"], f"{seen['some']['fibres']} of {stored} paths are drawn.")
        self.assertEqual(seen["rows"], min(50, seen["some"]["fibres"]))
        self.assertEqual(seen["coloured"], "DPV0")
        self.assertLess(seen["cut"]["points"], seen["some"]["points"] / 2)

    def test_fibres_are_chosen_by_regions_and_groups_and_saved(self):
        seen = self.seen["geodesic"]["chosen"]
        stored = len(self.file("geodesic")["items/voxel"])
        self.assertEqual((seen["before"], seen["after"]), (stored, stored))
        self.assertLess(seen["include"], stored)
        self.assertEqual(seen["regions"], ["touch region 8", "do not touch region 9"])
        self.assertLess(seen["both"], seen["include"])
        self.assertEqual(seen["status"], f"{seen['both']} of {seen['both']} paths that pass regions and groups are drawn; "
                         f"the result has {stored}.")
        self.assertEqual(seen["saved"], f"{seen['both']} paths have been saved.")
        with zipfile.ZipFile(seen["file"]) as trx:
            self.assertEqual(json.loads(trx.read("header.json"))["NB_STREAMLINES"], seen["both"])
        name, count = re.fullmatch(r" (region \d → region \d+) \((\d+)\)", seen["hidden"]["name"]).groups()
        regions = [f"region {a} → region {b}" for a, b in self.file("geodesic")["samples/regions"][()]]
        self.assertEqual(int(count), regions.count(name))
        self.assertEqual(seen["hidden"]["fibres"], stored - int(count))

    def test_the_rays_of_the_nearest_seed_are_drawn(self):
        seen = self.seen["geodesic"]
        file = self.file("geodesic")
        affine = file["image"].attrs["voxel_to_world"].reshape(4, 4)
        nx, ny, _ = file["image"].attrs["size"]
        x, y, z, _ = np.rint(np.linalg.inv(affine) @ [*seen["start"], 1]).astype(int)
        expected = int((file["items/voxel"][()] == x + nx * (y + ny * z)).sum())
        self.assertGreater(expected, 0)
        self.assertEqual((seen["rays"], seen["drawnRays"]), (expected, expected))

    def test_all_rays_of_a_seed_are_traced_again(self):
        seen = self.seen["geodesic"]["traced"]
        self.assertEqual(sum(seen["counts"].values()), seen["seeds"] * 32)
        self.assertEqual((seen["accepted"], self.seen["geodesic"]["rays"]), (seen["counts"]["accepted"],) * 2)
        self.assertGreater(seen["rejected"], 0)
        self.assertRegex(seen["text"], f"Traced in \\d+ ms: {seen['accepted']} accepted, ")
        self.assertEqual(seen["left"], {"fibres": 0, "points": 0})

    def test_surfaces_are_drawn_in_the_colours_of_their_values(self):
        seen = self.seen["surfaces"]
        grey = lambda level: level | level << 8 | level << 16 | 255 << 24
        self.assertEqual([(s["name"], s["points"]) for s in seen["all"]], [("seeds.asc", 169), ("stop.asc", 169), ("target.asc", 169)])
        self.assertEqual((seen["map"], seen["status"]), ("accepted", "3 of 3 surfaces are drawn."))
        file = self.file("surfaces")
        place, accepted = file["seeds/place"][()].astype(int), file["seeds/accepted"][()]
        colours = np.array(seen["all"][0]["colours"], np.uint32)
        np.testing.assert_array_equal(np.flatnonzero(colours == grey(175)), np.setdiff1d(np.arange(169), place))
        np.testing.assert_array_equal(colours[place] == grey(80), accepted == 0)
        self.assertEqual(set(colours[place][accepted >= seen["range"][1]]), {253 | 231 << 8 | 37 << 16 | 255 << 24})
        for surface in seen["all"][1:]:
            self.assertEqual(set(surface["colours"]), {grey(175)})
        at = np.flatnonzero(place == 84)
        self.assertEqual(seen["place"], f"Vertex 84 of seeds.asc, 0.0 mm from the crosshair: accepted {accepted[at[0]]:.0f}")
        self.assertEqual(seen["rows"], 3)
        self.assertEqual(set(seen["density"][0]["colours"]), {grey(175)})
        for surface in seen["density"][1:]:
            self.assertGreater(len(set(surface["colours"])), 2)
        self.assertEqual([s["points"] for s in seen["hidden"]], [0, 169, 169])
        self.assertEqual(seen["left"], "2 of 3 surfaces are drawn.")

    def test_pages_complain_about_nothing_and_fit_small_screens(self):
        for name in NAMES:
            self.assertEqual((name, self.seen[name]["complaints"]), (name, []))
            self.assertLessEqual(self.seen[name]["overflow"], 0, name)

    def test_pages_are_accessible_in_light_and_dark(self):
        for name in NAMES:
            self.assertEqual((name, self.seen[name]["violations"]), (name, []))


del ReportJobs

if __name__ == "__main__":
    unittest.main()
