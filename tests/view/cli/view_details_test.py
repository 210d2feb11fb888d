"""What voxherd view says of voxels, matrices and fibres agrees with the result, its series, and the models written down here
once more."""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import nibabel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import numpy as np
from report_pages import ReportJobs
from view_jobs import Viewer, open_block


class DetailJobs(ReportJobs):
    """A viewer of one result, and the file."""

    name = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path_of_result = cls.make(cls.name)
        cls.viewer = Viewer(cls.path_of_result)
        cls.addClassCleanup(cls.viewer.end)
        cls.file = h5py.File(cls.path_of_result)
        cls.addClassCleanup(cls.file.close)
        cls.affine = cls.file["image"].attrs["voxel_to_world"].reshape(4, 4)
        cls.size = cls.file["image"].attrs["size"]
        cls.page_affine = np.array(cls.viewer.state()["grid"]["affine"]).reshape(4, 4)

    def on_page(self, voxel):
        """The page's number of a voxel of the file: axes to the right, to the front and upwards."""
        nx, ny, _ = self.size
        place = np.array([voxel % nx, voxel // nx % ny, voxel // nx // ny, 1])
        x, y, z, _ = np.rint(np.linalg.inv(self.page_affine) @ self.affine @ place).astype(int)
        nx, ny, _ = self.viewer.state()["grid"]["size"]
        return x + nx * (y + ny * z)

    def in_world(self, directions):
        """From the frame of the bvecs: the image axes, the first one negated if the image is right-handed."""
        axes = self.affine[:3, :3] / np.linalg.norm(self.affine[:3, :3], axis=0)
        sign = np.array([-1 if np.linalg.det(axes) > 0 else 1, 1, 1])
        return (np.asarray(directions) * sign) @ axes.T

    def map(self, name, voxel):
        values = self.file[f"maps/{name}"][()]
        return values.reshape(-1, *values.shape[3:])[voxel]

    def ask(self, voxel, viewer=None):
        return json.loads((viewer or self.viewer).get(f"/api/voxel/{self.on_page(voxel)}"))

    def some_voxels(self):
        voxels = self.file["items/voxel"][()]
        return voxels[self.file["maps/status"][()].ravel()[voxels] == 0][:: len(voxels) // 5]


class Perfusion(DetailJobs):
    name = "perfusion"

    def test_a_voxel_has_its_parameters_and_a_fit_with_the_residual_of_the_result(self):
        for voxel in self.some_voxels():
            shown = self.ask(voxel)
            self.assertEqual((shown["status"], shown["unit"]), ("fitted", "mM"))
            rest = np.array(shown["concentration"]) - np.array(shown["fit"])
            self.assertAlmostEqual(np.sum(rest**2) / self.map("sum_of_squares", voxel), 1, delta=1e-4)
            self.assertAlmostEqual(shown["sum_of_squares"], np.sum(rest**2))
            found = {p["name"]: p for p in shown["parameters"]}
            for name in ("ka", "kp", "kl", "tau_a", "tau_p", "sd_ka", "r_squared"):
                self.assertEqual(np.float32(found[name]["value"]), self.map(name, voxel))
            self.assertEqual(found["ka"]["unit"], "ml/100g/min")

    def test_concentrations_are_those_of_the_signal_equation(self):
        series = np.asarray(nibabel.load(self.path("liver", "dce.nii")).dataobj, np.float64)
        first, last = json.loads(self.file.attrs["configuration"])["baseline"]
        repetition_s, angle, relaxivity = 0.0035, np.deg2rad(15), 4.5
        nx, ny, _ = self.size
        for voxel in self.some_voxels():
            signal = series[voxel % nx, voxel // nx % ny, voxel // nx // ny]
            before = signal[first:last + 1].mean()
            decay = np.exp(-repetition_s / self.map("t1_before", voxel).astype(float))
            part = signal / before * (1 - decay) / (1 - decay * np.cos(angle))
            rate = -np.log((1 - part) / (1 - part * np.cos(angle))) / repetition_s
            expected = (rate - 1 / self.map("t1_before", voxel)) / relaxivity
            np.testing.assert_allclose(self.ask(voxel)["concentration"], expected, atol=2e-5 * expected.max())

    def test_input_curves_are_those_of_the_result(self):
        shown = self.ask(self.some_voxels()[0])
        for name in ("time", "arterial", "portal"):
            np.testing.assert_array_equal(shown[name], self.file[f"curves/{name}"][()])

    def test_a_voxel_outside_the_mask_has_no_curve(self):
        outside = np.setdiff1d(np.arange(np.prod(self.size)), self.file["items/voxel"][()])[0]
        self.assertEqual(self.ask(int(outside)), {"kind": "perfusion", "status": "outside the mask", "unit": "mM"})

    def test_wrong_voxels_are_refused(self):
        for number in ("-1", "x", "", "1.5", str(np.prod(self.size)), "99999999999999999999", "1/2"):
            self.assertEqual(self.viewer.ask("GET", f"/api/voxel/{number}")[0], 400, number)
        self.assertEqual(self.viewer.ask("POST", "/api/voxel/1", b"{}")[0], 404)
        self.assertEqual(self.viewer.ask("GET", "/api/voxel/1", X_Token=None)[0], 401)
        self.assertEqual(self.viewer.ask("GET", "/api/rays/1")[0], 404)

    def run_on(self, folder, series):
        """A result of a copy of the series."""
        os.makedirs(folder)
        words = [w.replace(self.path("liver", "dce.nii"), series) for w in self.liver()]
        out = os.path.join(folder, "out.h5")
        subprocess.run([os.environ["VOXHERD"], "perfusion", *words, "--backend", "cpu", "--threads", "1", "--quiet", "--out", out],
                       check=True, timeout=120)
        return out

    def test_a_compressed_series_gives_the_same_and_a_changed_one_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            series = os.path.join(folder, "dce.nii.gz")
            with open(self.path("liver", "dce.nii"), "rb") as plain, gzip.open(series, "wb", 1) as packed:
                shutil.copyfileobj(plain, packed)
            out = self.run_on(os.path.join(folder, "run"), series)
            with Viewer(out) as viewer:
                for voxel in self.some_voxels():
                    self.assertEqual(self.ask(voxel, viewer)["concentration"], self.ask(voxel)["concentration"])
            self.flip_last_byte(series)
            self.check_refused(out)
            with open(series, "ab") as file:
                file.write(b"\0")
            self.check_refused(out)

    def flip_last_byte(self, path):
        """The file keeps its size."""
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))

    def check_refused(self, out):
        with Viewer(out) as viewer:
            status, _, why = viewer.ask("GET", f"/api/voxel/{self.on_page(int(self.some_voxels()[0]))}")
            self.assertEqual(status, 422)
            self.assertIn(b"has changed since the result was computed", why)


class Ballstick(DetailJobs):
    name = "ballstick"

    def test_the_signal_is_that_of_the_series_and_the_angle_that_to_the_first_fibre(self):
        series = np.asarray(nibabel.load(f"{self.scan}/data.nii").dataobj, np.float32)
        b, g = self.file["inputs/bvals"][()], self.file["inputs/bvecs"][()]
        nx, ny, _ = self.size
        for voxel in self.some_voxels():
            shown = self.ask(voxel)
            np.testing.assert_array_equal(shown["signal"], series[voxel % nx, voxel // nx % ny, voxel // nx // ny])
            np.testing.assert_array_equal(shown["b"], b)
            cosine = np.abs(self.map("dyads1", voxel).astype(float) @ g)
            expected = np.degrees(np.arccos(np.minimum(cosine, 1)))
            angle = np.array([np.nan if a is None else a for a in shown["angle"]])
            np.testing.assert_array_equal(np.isnan(angle), b == 0)
            np.testing.assert_allclose(angle[b > 0], expected[b > 0], atol=1e-3)

    def test_the_fit_is_the_model_at_the_posterior_means(self):
        b, g = self.file["inputs/bvals"][()], self.file["inputs/bvecs"][()]
        for voxel in self.some_voxels():
            S0, d, sd = (float(self.map(f"mean_{name}", voxel)) for name in ("S0", "d", "d_std"))
            fall = lambda x: (1 + x * sd**2 / d) ** (-(d / sd) ** 2)
            expected, rest = 0, 1
            for k in (1, 2):
                f = float(self.map(f"mean_f{k}", voxel))
                expected, rest = expected + f * fall(b * (self.map(f"dyads{k}", voxel).astype(float) @ g) ** 2), rest - f
            np.testing.assert_allclose(self.ask(voxel)["fit"], S0 * (expected + rest * fall(b)), rtol=1e-5)

    def test_samples_have_the_directions_of_the_file(self):
        items = {v: i for i, v in enumerate(self.file["items/voxel"][()])}
        for voxel in self.some_voxels():
            for k, fibre in enumerate(self.ask(voxel)["fibres"], 1):
                th, ph = (self.file[f"samples/{name}{k}"][items[voxel]].astype(float) for name in ("th", "ph"))
                directions = np.stack([np.sin(th) * np.cos(ph), np.sin(th) * np.sin(ph), np.cos(th)], axis=1)
                np.testing.assert_allclose(fibre["samples"], self.in_world(directions), atol=1e-6)
                np.testing.assert_allclose(fibre["direction"], self.in_world(self.map(f"dyads{k}", voxel)), atol=1e-6)
                self.assertEqual(np.float32(fibre["fraction"]), self.map(f"mean_f{k}", voxel))


class Matrices(DetailJobs):
    name = "connectome"

    def test_matrices_are_those_of_the_result(self):
        listed = self.viewer.state()["details"]["matrices"]
        self.assertEqual(listed["labels"], [7, 8, 9, 10])
        self.assertEqual(listed["names"][0], "region 7")
        self.assertEqual((listed["matrices"][0]["name"], listed["matrices"][0]["small_is_best"]), ("cost", True))
        self.assertGreater(len(listed["matrices"]), 3)
        for number, matrix in enumerate(listed["matrices"]):
            head, values = open_block(self.viewer.get(f"/api/matrix/{number}"))
            self.assertEqual(head, {"regions": 4})
            stored = self.file[f"connectome/{matrix['name']}"]
            np.testing.assert_array_equal(np.frombuffer(values, "<f4"), stored[()].astype(np.float32).ravel())
            self.assertEqual(matrix["unit"], stored.attrs["unit"].decode())
        self.assertEqual(self.viewer.ask("GET", f"/api/matrix/{len(listed['matrices'])}")[0], 400)

    def test_its_regions_can_be_connected_without_naming_the_parcellation_again(self):
        state = self.viewer.state()
        self.assertEqual(state["connect"]["parcellation"], self.ends)
        self.assertLessEqual({7, 8, 9, 10}, {r["label"] for r in state["regions"]})
        settings = {name: state["connect"][name] for name in ("metric", "alpha", "smooth", "max_ratio")}
        status, _, body = self.viewer.post("/api/solve", {"from": 7, "to": 8, **settings})
        self.assertEqual(status, 200)
        costs = self.file["connectome/cost"][()]
        self.assertAlmostEqual(open_block(body)[0]["cost"] / min(costs[0, 1], costs[1, 0]), 1, delta=0.02)

    def test_a_network_of_streamlines_is_connected_by_the_series_of_its_samples(self):
        with Viewer(self.make("network")) as viewer:
            state = viewer.state()
            self.assertEqual(state["details"]["matrices"]["matrices"][0]["name"], "count")
            self.assertTrue(state["connect"]["available"], state["connect"])
            self.assertEqual(state["connect"]["parcellation"], self.ends)


class Streamlines(DetailJobs):
    name = "geodesic"

    def fibres(self, address, viewer=None, result=None):
        head, data = open_block((viewer or self.viewer).get(address))
        n, points, at = head["fibres"], head["points"], 0
        arrays = {}
        for name, kind, count in (("offsets", "<u4", n + 1), ("positions", "<f4", 3 * points), ("starts", "<u4", n)):
            arrays[name] = np.frombuffer(data, kind, count, at)
            at += 4 * count
        for m in head["measures"]:
            arrays[m["name"]] = np.frombuffer(data, "<f4", n, at)
            at += 4 * n
        for m in head["along"]:
            arrays[m["name"] + " along"] = np.frombuffer(data, "<f4", points, at)
            at += 4 * points
        self.assertEqual(at, len(data))
        return head, arrays

    def test_all_fibres_are_those_of_the_result(self):
        head, found = self.fibres("/api/streamlines/20000")
        self.assertEqual(head["fibres"], len(self.file["items/voxel"]))
        np.testing.assert_array_equal(found["offsets"], self.file["points/offset"][()])
        np.testing.assert_array_equal(found["positions"].reshape(-1, 3), self.file["points/position"][()])
        for name in ("measure", "length_mm", "mean_FA"):
            np.testing.assert_array_equal(found[name], self.file[f"samples/{name}"][()])
        np.testing.assert_array_equal(found["FA along"], self.file["points/FA"][()])
        np.testing.assert_array_equal(found["starts"], [self.on_page(int(v)) for v in self.file["items/voxel"][()]])

    def test_fewer_fibres_are_evenly_spread(self):
        stored = len(self.file["items/voxel"])
        head, found = self.fibres(f"/api/streamlines/{stored // 3}")
        self.assertEqual(head["stored"], stored)
        self.assertLessEqual(head["fibres"], stored // 3)
        self.assertGreaterEqual(head["fibres"], stored // 6)
        self.assertTrue(np.isin(found["measure"], self.file["samples/measure"][()]).all())
        for number in ("20001", "-1", "x"):
            self.assertEqual(self.viewer.ask("GET", f"/api/streamlines/{number}")[0], 400)

    def test_the_rays_of_a_seed_are_all_that_start_in_its_voxel(self):
        voxels = self.file["items/voxel"][()]
        for voxel in np.unique(voxels)[:5]:
            head, found = self.fibres(f"/api/rays/{self.on_page(int(voxel))}")
            self.assertEqual(head["fibres"], int((voxels == voxel).sum()))
            np.testing.assert_array_equal(found["measure"], self.file["samples/measure"][()][voxels == voxel])
        empty = np.setdiff1d(np.arange(np.prod(self.size)), voxels)[0]
        self.assertEqual(self.fibres(f"/api/rays/{self.on_page(int(empty))}")[0]["fibres"], 0)

    def test_a_result_without_maps_is_shown_as_the_density_of_its_fibres(self):
        maps = self.viewer.state()["maps"]
        self.assertEqual([m["name"] for m in maps], ["density"])
        density = nibabel.Nifti1Image.from_bytes(self.viewer.get("/api/map/0")).get_fdata()
        self.assertLessEqual(density.max(), len(self.file["items/voxel"]))
        # Each voxel with a point has a fibre.
        points = self.file["points/position"][()].astype(float)
        places = np.rint((points - self.page_affine[:3, 3]) @ np.linalg.inv(self.page_affine[:3, :3]).T).astype(int)
        self.assertGreater(np.mean(density[tuple(places.T)] > 0), 0.999)

    def test_the_paths_of_connect_are_fibres_too(self):
        with Viewer(self.make("paths")) as viewer, h5py.File(self.path("paths.h5")) as file:
            _, found = self.fibres("/api/streamlines/20000", viewer)
            np.testing.assert_array_equal(found["positions"].reshape(-1, 3), file["points/position"][()])
            np.testing.assert_array_equal(found["cost"], file["samples/cost"][()])


del DetailJobs, ReportJobs

if __name__ == "__main__":
    unittest.main()
