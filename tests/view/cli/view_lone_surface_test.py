"""voxherd view shows a surface without an image: its mesh, its own values and those of other files."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import nibabel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import numpy as np
from report_pages import BROWSER, browse
from surface_files import sphere, write_labels, write_surface
from toy_jobs import VOXHERD
from view_jobs import Viewer, open_block


class LoneSurface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_view_surface_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        points, cls.triangles = sphere([-30, 12, 25], 40.5)
        cls.points = points.astype("<f4")
        cls.count = len(points)
        cls.own = np.arange(cls.count) % 5
        cls.keys = np.where(cls.points[:, 2] > 25, 7, 3)
        cls.surface = write_surface(cls.path("ball.asc"), points, cls.triangles, cls.own)
        cls.labels = write_labels(cls.path("ball.label.gii"), cls.keys, {0: "???", 3: "lower", 7: "upper"})
        cls.values = np.random.default_rng(1).normal(size=(2, cls.count)).astype("<f4")
        cls.values[1] = 0
        cls.func = cls.write_func("ball.func.gii", cls.values)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def write_func(cls, name, arrays):
        image = nibabel.gifti.GiftiImage()
        for values in arrays:
            image.add_gifti_data_array(nibabel.gifti.GiftiDataArray(values, intent="NIFTI_INTENT_SHAPE",
                                                                    meta=nibabel.gifti.GiftiMetaData({"Name": "same"})))
        nibabel.save(image, cls.path(name))
        return cls.path(name)

    def numbers(self, viewer, number):
        head, data = open_block(viewer.get(f"/api/surface/0/{number}"))
        return np.frombuffer(data, "<i4" if head["labels"] else "<f4")

    def test_the_mesh_and_its_own_values_are_those_of_the_file(self):
        with Viewer(self.surface) as viewer:
            state = viewer.state()
            found, = state["details"]["surfaces"]
            self.assertEqual((found["name"], found["vertices"], found["why_not"]), ("ball.asc", self.count, ""))
            self.assertEqual([(m["meaning"], m["none"]) for m in found["maps"]], [("values of ball.asc", "no value")])
            _, data = open_block(viewer.get("/api/surface/0"))
            np.testing.assert_array_equal(np.frombuffer(data, "<f4", self.points.size).reshape(-1, 3), self.points)
            np.testing.assert_array_equal(np.frombuffer(data, "<u4", offset=self.points.nbytes).reshape(-1, 3), self.triangles)
            np.testing.assert_array_equal(self.numbers(viewer, 0), self.own)
            self.assertEqual((state["analysis"], state["grid"]["has_image"]), ("", False))
            self.assertEqual(state["connect"], {"available": False, "why_not": "a surface has no tensors"})
            for address in ("/api/surface/1", "/api/surface/0/1"):
                self.assertEqual(viewer.ask("GET", address)[0], 400)

    def test_the_page_has_an_empty_image_around_the_surface(self):
        with Viewer(self.surface) as viewer:
            grid = viewer.state()["grid"]
            image = nibabel.Nifti1Image.from_bytes(viewer.get("/api/map/0"))
        affine = np.array(grid["affine"]).reshape(4, 4)
        np.testing.assert_allclose(image.affine, affine, rtol=1e-6)
        self.assertFalse(image.get_fdata().any())
        voxels = (self.points - affine[:3, 3]) @ np.linalg.inv(affine[:3, :3]).T
        self.assertGreaterEqual(voxels.min(), 1)
        self.assertTrue((voxels <= np.array(grid["size"]) - 2).all())
        self.assertEqual(grid["voxel_mm"], [1, 1, 1])

    def test_each_array_of_other_files_is_a_map_and_labels_have_their_names(self):
        with Viewer(self.surface, "--surface-values", self.func, self.labels) as viewer:
            maps = viewer.state()["details"]["surfaces"][0]["maps"]
            self.assertEqual([m["name"] for m in maps], ["same", "same (2)", "ball.label.gii", "ball.asc"])
            self.assertEqual([m.get("names") for m in maps], [None, None, {"0": "???", "3": "lower", "7": "upper"}, None])
            for number, values in enumerate((*self.values, self.keys, self.own)):
                np.testing.assert_array_equal(self.numbers(viewer, number), values)

    def test_what_has_no_use_and_values_of_another_surface_are_refused(self):
        short = self.write_func("short.func.gii", self.values[:1, :-1])
        image = self.path("image.nii")
        nibabel.save(nibabel.Nifti1Image(np.zeros((3, 3, 3), "f4"), np.eye(4)), image)
        for status, text, words in ((65, f"has values of {self.count - 1} vertices, expected {self.count} as in", (self.surface, "--surface-values", short)),
                                    (2, "--surface-values has no use here", (image, "--surface-values", self.func)),
                                    (2, "--bvals has no use here: a surface has no tensors", (self.surface, "--bvals", short, "--bvecs", short)),
                                    (2, "--parcellation has no use here: a surface has no tensors", (self.surface, "--parcellation", image))):
            done = subprocess.run([VOXHERD, "view", *words], capture_output=True, text=True, timeout=60)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.returncode, status, done.stderr)

    @unittest.skipUnless(BROWSER, "no chromium")
    def test_the_page_draws_it(self):
        with Viewer(self.surface, "--surface-values", self.labels) as viewer:
            complaints, document = browse(viewer.address, self.path("browser"), "--virtual-time-budget=60000")
        self.assertIn('data-ready="yes"', document)
        self.assertIn("1 of 1 surfaces is drawn.", document)
        self.assertIn("No connections: a surface has no tensors.", document)
        self.assertNotIn("no image 0", document)
        self.assertRegex(document, r"Vertex \d+ of ball.asc, [01]\.\d mm from the crosshair: ball.label.gii (3 \(lower\)|7 \(upper\))")
        self.assertEqual([line for line in complaints if "rror" in line], [])


if __name__ == "__main__":
    unittest.main()
