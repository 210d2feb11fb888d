"""voxherd view sends the surfaces of a result of track with their values, and nothing else."""
import os
import shutil
import sys
import unittest

try:
    import h5py
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import numpy as np
from program import run
from report_pages import BROWSER, ReportJobs, browse
from view_jobs import Viewer, open_block

MARK = "\"'><img src=x class=planted onerror=document.title='ran'><svg onload=document.title='ran' class=planted>&lt;"


def load(path):
    """Points (mm) and triangles of FreeSurfer's text."""
    with open(path, encoding="utf-8") as file:
        points, triangles = (int(n) for n in file.read().splitlines()[1].split())
    rows = np.loadtxt(path, skiprows=2)
    return rows[:points, :3].astype("<f4"), rows[points:points + triangles, :3].astype("<u4")


class Surfaces(ReportJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.viewer = Viewer(cls.make("surfaces"))
        cls.addClassCleanup(cls.viewer.end)
        cls.surfaces = cls.viewer.state()["details"]["surfaces"]

    def number(self, name):
        return [s["name"] for s in self.surfaces].index(name)

    def values(self, surface, name):
        at = self.number(surface)
        head, data = open_block(self.viewer.get(f"/api/surface/{at}/{[m['name'] for m in self.surfaces[at]['maps']].index(name)}"))
        self.assertEqual(head, {"vertices": 169, "labels": False})
        return np.frombuffer(data, "<f4")

    def test_the_state_names_surfaces_and_their_maps(self):
        self.assertEqual([(s["name"], s["vertices"], s["why_not"]) for s in self.surfaces],
                         [(f"{name}.asc", 169, "") for name in ("seeds", "stop", "target")])
        self.assertEqual([[m["name"] for m in s["maps"]] for s in self.surfaces],
                         [["accepted", "seeds_to_stop.asc"], ["density"], ["density"]])
        self.assertEqual(self.surfaces[0]["maps"][0], {"name": "accepted", "unit": "1", "meaning": "accepted streamlines", "none": "no seed"})

    def test_a_mesh_is_that_of_its_file(self):
        for name in ("seeds.asc", "stop.asc", "target.asc"):
            points, triangles = load(self.path(name))
            head, data = open_block(self.viewer.get(f"/api/surface/{self.number(name)}"))
            self.assertEqual(head, {"vertices": len(points), "triangles": len(triangles)})
            np.testing.assert_array_equal(np.frombuffer(data, "<f4", points.size).reshape(-1, 3), points)
            np.testing.assert_array_equal(np.frombuffer(data, "<u4", offset=4 * points.size).reshape(-1, 3), triangles)

    def test_values_are_those_of_the_result(self):
        with h5py.File(self.make("surfaces")) as file:
            for name, stored in ("accepted", "accepted"), ("seeds_to_stop.asc", "hits"):
                expected = np.full(169, np.nan)
                expected[file["seeds/place"][()].astype(int)] = file[f"seeds/{stored}"][()].ravel()
                self.assertGreater(np.nansum(expected), 0)
                np.testing.assert_array_equal(self.values("seeds.asc", name), expected)
            affine, density = file["image"].attrs["voxel_to_world"].reshape(4, 4), file["maps/density"][()]
        points, _ = load(self.path("stop.asc"))
        x, y, z = np.rint((points - affine[:3, 3]) @ np.linalg.inv(affine[:3, :3]).T).astype(int).T
        np.testing.assert_array_equal(self.values("stop.asc", "density"), density[z, y, x])

    def test_other_numbers_names_and_requests_without_the_token_are_refused(self):
        for place in ("3", "-1", "x", "", "0/", "0/2", "0/0/0", "0/-1", "/0", "0/accepted", "seeds.asc", "../0", "%2e%2e/0",
                      self.path("seeds.asc"), "99999999999999999999"):
            status, _, body = self.viewer.ask("GET", f"/api/surface/{place}")
            self.assertEqual(status, 400, place)
            self.assertLess(len(body), 100)
        for place in ("0", "0/0"):
            self.assertEqual(self.viewer.ask("GET", f"/api/surface/{place}", X_Token=None)[0], 401)
            self.assertEqual(self.viewer.ask("GET", f"/api/surface/{place}", X_Token="0" * 32)[0], 401)
            self.assertEqual(self.viewer.ask("GET", f"/api/surface/{place}", Host="elsewhere.org")[0], 403)
            self.assertEqual(self.viewer.ask("POST", f"/api/surface/{place}", b"{}")[0], 404)

    def test_a_changed_surface_is_not_sent(self):
        shutil.copy(self.path("target.asc"), self.path("target.kept"))
        self.addCleanup(shutil.move, self.path("target.kept"), self.path("target.asc"))
        with open(self.path("target.asc"), "a", encoding="utf-8") as file:
            file.write("\n")
        with Viewer(self.make("surfaces")) as viewer:
            changed = viewer.state()["details"]["surfaces"][self.number("target.asc")]
            self.assertIn("has changed since the result was computed", changed["why_not"])
            for place in (f"{self.number('target.asc')}", f"{self.number('target.asc')}/0"):
                self.assertEqual(viewer.ask("GET", f"/api/surface/{place}")[0], 400)

    def test_results_without_surfaces_have_none(self):
        with Viewer(self.make("track")) as viewer:
            self.assertIsNone(viewer.state()["details"]["surfaces"])
            self.assertEqual(viewer.ask("GET", "/api/surface/0")[0], 400)

    @unittest.skipUnless(BROWSER, "no chromium")
    def test_names_that_are_markup_are_texts_on_the_page(self):
        folder = self.path("hostile")
        os.makedirs(folder)
        seeds, stop = (os.path.join(folder, f"{MARK}{name}.asc") for name in ("seeds", "stop"))
        for name, path in ("seeds", seeds), ("stop", stop):
            shutil.copy(self.path(f"{name}.asc"), path)
        out = os.path.join(folder, "out.h5")
        run("track", "--samples", self.make("ballstick"), "--seed-image", seeds, "--targets", stop, "--samples-per-seed", "5",
            "--backend", "cpu", "--threads", "1", "--quiet", "--out", out)
        os.remove(stop)
        with Viewer(out) as viewer:
            _, document = browse(viewer.address, self.path("browser"), "--virtual-time-budget=60000")
        self.assertIn('data-ready="yes"', document)
        self.assertIn("1 of 1 surfaces is drawn.", document)
        self.assertIn("planted", document)  # as a text
        self.assertNotIn("<title>ran", document)
        for element in ("<img src=\"x\"", "<svg onload", "class=\"planted\""):
            self.assertNotIn(element, document)


del ReportJobs

if __name__ == "__main__":
    unittest.main()
