"""What voxherd view says of voxels, matrices and fibres agrees with the result, its series, and the models written down here
once more."""
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import h5py
    import nibabel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import numpy as np
from report_pages import ReportJobs, run
from surface_files import image_space, sphere, write_labels, write_surface
from view_jobs import Viewer, open_block, pieces_in_voxels


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

    def flip_last_byte(self, path):
        """The file keeps its size."""
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))

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

    def test_the_program_names_the_kind_of_panel(self):
        self.assertEqual(self.viewer.state()["details"]["voxel"], "curves")

    def test_a_voxel_outside_the_mask_has_no_curve(self):
        outside = np.setdiff1d(np.arange(np.prod(self.size)), self.file["items/voxel"][()])[0]
        self.assertEqual(self.ask(int(outside)), {"haematocrit": 0, "status": "outside the mask", "unit": "mM"})

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

    def split_series(self, folder, per_file):
        """The series in several files, some of them compressed."""
        image = nibabel.load(self.path("liver", "dce.nii"))
        values = np.asarray(image.dataobj)
        names = []
        for first in range(0, values.shape[3], per_file):
            names.append(os.path.join(folder, f"part{first:03}.nii{'.gz' if first == per_file else ''}"))
            nibabel.save(nibabel.Nifti1Image(values[..., first:first + per_file], None, image.header), names[-1])
        return names

    def test_a_series_in_several_files_gives_the_same_and_a_changed_one_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            names = self.split_series(folder, 7)
            self.assertGreater(len(names), 3)
            listed = os.path.join(folder, "list.txt")
            with open(listed, "w") as file:
                file.write("\n".join(os.path.basename(name) for name in names))
            out = self.run_on(os.path.join(folder, "run"), listed)
            with h5py.File(out) as file:
                stored = json.loads(file.attrs["provenance"])["inputs"]["dynamic"]
            self.assertEqual((stored["files"], stored["path"], stored["paths"]), (len(names), names[0], names))
            with Viewer(out) as viewer:
                for voxel in self.some_voxels():
                    self.assertEqual(self.ask(voxel, viewer), self.ask(voxel))
            out = self.run_on(os.path.join(folder, "again"), listed)
            self.flip_last_byte(names[2])
            self.check_refused(out)
            os.remove(names[2])
            self.check_refused(out, f"{names[2]} no longer exists")

    def check_refused(self, out, expected="has changed since the result was computed"):
        with Viewer(out) as viewer:
            status, _, why = viewer.ask("GET", f"/api/voxel/{self.on_page(int(self.some_voxels()[0]))}")
            self.assertEqual(status, 422)
            self.assertIn(expected, why.decode())


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

    def test_the_program_names_the_kind_of_panel(self):
        self.assertEqual(self.viewer.state()["details"]["voxel"], "orientations")

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
        settings = {name: state["connect"][name] for name in ("metric", "alpha", "smooth", "max-ratio", "within-fa")}
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


class JoinedEnds(ReportJobs):
    def test_both_orders_of_two_ends_are_one_group(self):
        lines = self.path("joined.h5")
        run("track", "--samples", self.make("ballstick"), "--seed-image", self.ends, "--connectome", self.ends, "--join-regions", "ends",
            "--samples-per-seed", "20", "--paths", lines, "--max-paths", "300", "--backend", "cpu", "--threads", "1", "--quiet", "--out", self.path("whole.h5"))
        with h5py.File(lines) as file:
            regions = file["samples/regions"][()]
        pairs, counts = np.unique(np.sort(regions, axis=1), axis=0, return_counts=True)
        self.assertGreater(len(np.unique(regions, axis=0)), len(pairs))
        with Viewer(lines) as viewer:
            grouping, = viewer.state()["details"]["streamlines"]["groupings"]
        self.assertEqual(sorted(grouping["fibres"]), sorted(counts))
        name = {0: "no region"}
        self.assertEqual(set(grouping["groups"]), {f"{name.get(a, f'region {a}')} – {name.get(b, f'region {b}')}" for a, b in pairs})


class Streamlines(DetailJobs):
    name = "geodesic"

    def fibres(self, address, viewer=None):
        return self.open_fibres((viewer or self.viewer).get(address))

    def choose(self, viewer=None, **choice):
        status, _, body = (viewer or self.viewer).post("/api/streamlines", choice)
        self.assertEqual(status, 200, body)
        return self.open_fibres(body)

    def open_fibres(self, body):
        head, data = open_block(body)
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

    def trace(self, voxel, viewer=None):
        return self.fibres(f"/api/traced/{self.on_page(int(voxel))}", viewer)

    def test_traced_rays_are_those_of_the_run(self):
        voxels, measure = self.file["items/voxel"][()], self.file["samples/measure"][()]
        offsets, points = self.file["points/offset"][()], self.file["points/position"][()]
        for voxel in np.unique(voxels)[::7]:
            head, found = self.trace(voxel)
            self.assertEqual((head["seeds"], sum(head["counts"].values())), (1, 32))
            own = np.flatnonzero(voxels == voxel)
            own = own[np.argsort(-measure[own], kind="stable")]
            self.assertEqual((head["accepted"], head["counts"]["accepted"]), (len(own), len(own)))
            np.testing.assert_array_equal(found["verdict"] == 0, np.arange(head["fibres"]) < len(own))
            for name in ("measure", "length_mm", "drift"):
                np.testing.assert_array_equal(found[name][:len(own)], self.file[f"samples/{name}"][()][own])
            self.assertTrue((np.diff(found["measure"][len(own):]) <= 0).all())
            for rank, fibre in enumerate(own):
                first, last = found["offsets"][rank:rank + 2]
                np.testing.assert_array_equal(found["positions"].reshape(-1, 3)[first:last], points[offsets[fibre]:offsets[fibre + 1]])
        labels = np.asarray(nibabel.load(self.ends).dataobj).T.ravel()
        head, _ = self.trace(np.flatnonzero(labels == 8)[0])
        self.assertEqual((head["seeds"], head["fibres"]), (0, 0))

    def run_geodesic(self, folder, *words):
        """A result of a copy of the series."""
        series = shutil.copy(f"{self.scan}/data.nii", folder)
        out = os.path.join(folder, "out.h5")
        scan = [word.replace(f"{self.scan}/data.nii", series) for word in self.series]
        subprocess.run([os.environ["VOXHERD"], "geodesic", *scan, "--backend", "cpu", "--threads", "1", "--quiet", *words, "--out",
                        out], check=True, timeout=120)
        return out, series

    def test_rays_that_were_not_stored_are_traced_with_all_settings_of_the_run(self):
        seeds = ["--seed-image", self.ends, "--seed-labels", "9"]
        settings = ["--seeding", "random", "--seeds-per-voxel", "3", "--direction-set", "random", "--directions", "5", "--rays",
                    "two-way", "--metric", "power", "--alpha", "2", "--smooth", "0.5", "--max-drift", "0.5", "--min-length", "4",
                    "--integrator", "rk2", "--measure", "weakest", "--random-seed", "7", "--include", f"{self.scan}/truth/ends.nii.gz"]
        with tempfile.TemporaryDirectory() as folder:
            out, _ = self.run_geodesic(folder, *seeds, *settings)
            with h5py.File(out) as file:
                expected = {name: file[f"samples/{name}"][()] for name in ("measure", "length_mm", "mean_FA")}
                voxels = file["items/voxel"][()]
            out, series = self.run_geodesic(folder, *seeds, *settings, "--top", "4", "--overwrite")
            with Viewer(out) as viewer:
                for voxel in np.unique(voxels)[::5]:
                    head, found = self.trace(voxel, viewer)
                    own = np.flatnonzero(voxels == voxel)
                    own = own[np.argsort(-expected["measure"][own], kind="stable")]
                    self.assertEqual((head["seeds"], head["accepted"]), (3, len(own)))
                    for name, values in expected.items():
                        np.testing.assert_array_equal(found[name][:len(own)], values[own])
            self.flip_last_byte(series)
            with Viewer(out) as viewer:
                address = self.on_page(int(voxels[0]))
                status, _, why = viewer.ask("GET", f"/api/traced/{address}")
                self.assertEqual(status, 422)
                self.assertIn(f"{series} has changed since the result was computed", why.decode())
                self.assertEqual(viewer.ask("GET", f"/api/rays/{address}")[0], 200)

    def test_rays_of_surfaces_are_traced_with_the_labels_and_coordinates_of_the_run(self):
        size, affine = image_space(self.ends)
        labels = np.asarray(nibabel.load(self.ends).dataobj)
        points, triangles = sphere(np.argwhere(labels == 9).mean(axis=0) + .1, 1.7, rings=5)
        stored = points * [-1, 1, 1] + [size[0] - 1, 0, 0] if np.linalg.det(affine) > 0 else points
        with tempfile.TemporaryDirectory() as folder:
            ball = write_surface(os.path.join(folder, "ball.asc"), stored, triangles)
            keys = write_labels(os.path.join(folder, "ball.label.gii"), np.where(points[:, 2] > points[:, 2].mean(), 4, 6), {})
            out, _ = self.run_geodesic(folder, "--seed-image", ball, "--seed-labels", "4", "--surface-values", keys, "--mesh-space", "vox",
                                       "--directions", "8", "--exclude", self.ends)
            with h5py.File(out) as file:
                voxels, measure = file["items/voxel"][()], file["samples/measure"][()]
            self.assertGreater(len(voxels), 20)
            with Viewer(out) as viewer:
                for voxel in np.unique(voxels)[::3]:
                    head, found = self.trace(voxel, viewer)
                    self.assertEqual(head["accepted"], (voxels == voxel).sum())
                    np.testing.assert_array_equal(found["measure"][:head["accepted"]], np.sort(measure[voxels == voxel])[::-1])

    def touched(self, file):
        """The labels that each fibre touches."""
        labels = np.asarray(nibabel.load(self.ends).dataobj)
        from_mm = np.linalg.inv(file["image"].attrs["voxel_to_world"].reshape(4, 4))
        offsets, points = file["points/offset"][()], file["points/position"][()].astype(float)
        places = points @ from_mm[:3, :3].T + from_mm[:3, 3]
        found = []
        for first, last in zip(offsets, offsets[1:]):
            fibre = places[first:last]
            voxels = np.array([voxel for a, b in zip(fibre, fibre[1:]) for voxel, _ in pieces_in_voxels(a, b)] or np.rint(fibre).astype(int))
            voxels = voxels[((voxels >= 0) & (voxels < labels.shape)).all(axis=1)]
            found.append(set(labels[tuple(voxels.T)].tolist()) - {0})
        return found

    def test_fibres_are_chosen_by_regions_that_they_touch_or_do_not_touch(self):
        touched = self.touched(self.file)
        measure = self.file["samples/measure"][()]
        choices = ([7], []), ([7, 8], []), ([], [8]), ([9], [7, 8]), ([7, 9], []), ([], [7, 8, 9, 10])
        counts = set()
        for include, exclude in choices:
            expected = np.array([set(include) <= labels and not labels & set(exclude) for labels in touched])
            head, found = self.choose(include=include, exclude=exclude)
            self.assertEqual((head["fibres"], head["stored"]), (expected.sum(), expected.sum()), (include, exclude))
            np.testing.assert_array_equal(found["measure"], measure[expected])
            counts.add(int(expected.sum()))
        self.assertGreater(len(counts), 3)

    def test_groups_are_switched_off_by_pair_and_by_start(self):
        regions = self.file["samples/regions"][()]
        pairs, starts = self.viewer.state()["details"]["streamlines"]["groupings"]
        self.assertEqual((pairs["name"], starts["name"]), ("pairs of regions", "regions where they start"))
        self.assertEqual(pairs["fibres"], sorted(pairs["fibres"], reverse=True))
        self.assertEqual((sum(pairs["fibres"]), sum(starts["fibres"])), (len(regions), len(regions)))
        self.assertGreater(len(pairs["groups"]), 1)
        for number, (name, count) in enumerate(zip(pairs["groups"], pairs["fibres"])):
            is_own = [f"region {a} → region {b}" == name for a, b in regions]
            self.assertEqual(sum(is_own), count)
            head, found = self.choose(grouping=0, hidden=[number])
            self.assertEqual(head["fibres"], len(regions) - count)
            np.testing.assert_array_equal(found["measure"], self.file["samples/measure"][()][np.logical_not(is_own)])
        first = int(starts["groups"][0].split()[1])
        head, _ = self.choose(grouping=1, hidden=[0], include=[8])
        expected = [a != first and 8 in labels for (a, _), labels in zip(regions, self.touched(self.file))]
        self.assertEqual(head["fibres"], sum(expected))

    def test_the_choice_is_saved_with_all_data(self):
        measure = self.file["samples/measure"][()]
        limit = float(np.sort(measure)[len(measure) // 3])
        chosen = np.flatnonzero([8 in labels and m >= limit for labels, m in zip(self.touched(self.file), measure)])
        self.assertGreater(len(chosen), 1)
        status, _, body = self.viewer.post("/api/streamlines/trx", {"include": [8], "measure": "measure", "at_least": limit})
        self.assertEqual(status, 200, body[:300])
        offsets = self.file["points/offset"][()]
        points = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in chosen])
        with zipfile.ZipFile(io.BytesIO(body)) as trx:
            header = json.loads(trx.read("header.json"))
            read = lambda name, kind: np.frombuffer(trx.read(name), kind)
            self.assertEqual((header["NB_STREAMLINES"], header["NB_VERTICES"]), (len(chosen), len(points)))
            np.testing.assert_array_equal(read("positions.3.float32", "<f4").reshape(-1, 3), self.file["points/position"][()][points])
            np.testing.assert_array_equal(np.diff(read("offsets.uint64", "<u8")), np.diff(offsets)[chosen])
            np.testing.assert_array_equal(read("dps/measure.float32", "<f4"), measure[chosen])
            np.testing.assert_array_equal(read("dps/regions.2.int32", "<i4").reshape(-1, 2), self.file["samples/regions"][()][chosen])
            np.testing.assert_array_equal(read("dpv/FA.float32", "<f4"), self.file["points/FA"][()][points])

    def test_wrong_choices_are_refused(self):
        for choice in ({"include": [0]}, {"include": 7}, {"include": ["7"]}, {"hidden": [1]}, {"grouping": 2}, {"count": 20001},
                       {"at_least": 1}, {"measure": "nothing", "at_least": 1}, {"measure": 1}, {"other": 1}, []):
            self.assertEqual(self.viewer.post("/api/streamlines", choice)[0], 400, choice)
        status, _, why = self.viewer.post("/api/streamlines", {"exclude": [7, 77]})
        self.assertEqual(status, 422)
        self.assertIn(b"77", why)

    def test_streamlines_of_track_are_in_the_groups_of_all_regions_that_they_reach(self):
        with Viewer(self.make("lines")) as viewer, h5py.File(self.path("lines.h5")) as file:
            start, points, offset = file["samples/region"][()], file["points/reached"][()], file["points/offset"][()]
            reached = [set(points[begin:end].tolist()) - {0} for begin, end in zip(offset[:-1], offset[1:])]
            pairs, starts = viewer.state()["details"]["streamlines"]["groupings"]
            self.assertGreater(len(pairs["groups"]), 3)
            for number, name in enumerate(pairs["groups"]):
                a, b = (0 if region == "no region" else int(region.split()[1]) for region in name.split(" → "))
                own = (start == a) & np.array([b in regions or (b == 0 and not regions) for regions in reached])
                self.assertEqual(pairs["fibres"][number], own.sum(), name)
            only = [n for n in range(len(pairs["groups"])) if n != 1]
            self.assertEqual(self.choose(viewer, grouping=0, hidden=only)[0]["fibres"], pairs["fibres"][1])
            self.assertEqual(sum(starts["fibres"]), len(start))
            expected = sum(8 in labels for labels in self.touched(file))
            self.assertEqual(self.choose(viewer, include=[8])[0]["fibres"], expected)

    def test_regions_do_not_need_the_series(self):
        with tempfile.TemporaryDirectory() as folder:
            out, series = self.run_geodesic(folder, "--seed-image", self.ends, "--seed-labels", "7", "--targets", self.ends,
                                            "--target-labels", "7,8")
            os.remove(series)
            with Viewer(out) as viewer, h5py.File(out) as file:
                state = viewer.state()
                self.assertFalse(state["connect"]["available"])
                self.assertIn({"label": 7, "name": "region 7"}, state["regions"])
                expected = sum({7, 8} <= labels for labels in self.touched(file))
                self.assertEqual(self.choose(viewer, include=[7, 8])[0]["fibres"], expected)
                self.assertEqual(viewer.ask("GET", "/api/regions")[0], 200)


del DetailJobs, ReportJobs

if __name__ == "__main__":
    unittest.main()
