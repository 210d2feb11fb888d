"""voxherd view without a browser: what it answers agrees with voxherd connect and with the result, and it answers nothing to
others."""
import gzip
import io
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

try:
    import nibabel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import numpy as np
from connect_jobs import Maps
from geodesic_jobs import Result
from process_tree import descendants, listening_sockets
from toy_jobs import VOXHERD
from view_jobs import SETTINGS, Viewer, ViewJobs, open_block, pieces_in_voxels
from white_matter_phantom import WhiteMatterPhantom


class WhiteMatter(ViewJobs):
    def test_paths_of_a_tensor_image_stay_in_it_unless_the_user_or_a_result_has_chosen(self):
        brain = WhiteMatterPhantom(self.folder)
        rc, output = self.launch(self.path("all.h5"), "--connectome", brain.ends, scan=brain.scan)
        self.assertEqual(rc, 0, output)
        scan = [self.path("all.h5"), "--parcellation", brain.ends]
        for words, expected in ((self.tensor,), 0.2), ((self.tensor, "--within-fa", "0"), 0), (scan, 0), (
                (*scan, "--within-fa", "0.2"), 0.2), ((self.tensor, "--within", f"{self.toy}/nodif_brain_mask.nii.gz"), 0):
            with Viewer(*words) as viewer:
                self.assertEqual(viewer.state()["connect"]["within-fa"], expected, words)

    def test_the_part_of_a_pathway_outside_it_is_told(self):
        brain = WhiteMatterPhantom(self.folder)
        rc, output = self.launch(self.path("all.h5"), "--connectome", brain.ends, scan=brain.scan)
        self.assertEqual(rc, 0, output)
        with Viewer(self.path("all.h5"), "--parcellation", brain.ends) as viewer:
            for least in 0, 0.2:
                numbers, _, level = self.solve(viewer, 1, 2, metric="inverse", **{"within-fa": least})
                passable = np.frombuffer(open_block(viewer.get("/api/passable"))[1], "<u4")
                inside = passable[self.inside(numbers, level, 0.05)]
                outside = ~brain.white.ravel(order="F")[inside]
                self.assertAlmostEqual(numbers["part_outside"], outside.mean(), places=9)
                self.assertEqual(numbers["part_outside"] > viewer.state()["connect"]["white_matter"]["max_part_outside"], least == 0)


class Answers(ViewJobs):
    """Compared with the command line, byte by byte."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.viewer = Viewer(cls.tensor, "--parcellation", cls.ends)
        cls.addClassCleanup(cls.viewer.end)

    def connect(self, *options):
        self.maps = Maps(self.make("out.h5", *options, scan=("--tensor", self.tensor)))
        return self.maps

    def assert_same(self, viewer, start, end, options, **settings):
        """The connection is that of connect, and its levels are the pathway for each epsilon."""
        for epsilon in (0.02, 0.2):
            words = [*options, "--epsilon", str(epsilon), "--overwrite"]
            maps = self.connect(*words)
            numbers, total, level = self.solve(viewer, start, end, **settings)
            np.testing.assert_array_equal(total, maps.inside("total"))
            np.testing.assert_array_equal(self.inside(numbers, level, epsilon), maps.inside("pathway") == 1)
            for name in ("cost", "gap", "joining_excess", "length_mm", "path_cost"):
                self.assertAlmostEqual(numbers[name] / maps.pathway[name].item(), 1, places=6, msg=name)
            volumes = np.array(numbers["curve"]["voxels"]) * viewer.state()["connect"]["voxel_mm3"]
            np.testing.assert_allclose(volumes, maps.pathway["volume_mm3"], rtol=1e-9)
            self.assertGreater(np.count_nonzero(maps.inside("pathway")), 10)

    def test_a_connection_of_regions_equals_connect(self):
        self.assert_same(self.viewer, 1, 2, self.end_regions(1, 2))

    def test_a_connection_of_points_equals_connect(self):
        self.assert_same(self.viewer, [-8.75, 1.25, 1.25], [11.25, 1.25, 1.25],
                         ("--from-point=-8.75,1.25,1.25", "--to-point", "11.25,1.25,1.25"))

    def test_another_metric_equals_connect_and_so_does_the_first_again(self):
        self.assert_same(self.viewer, 1, 2, (*self.end_regions(1, 2), "--metric", "power", "--alpha", "2", "--smooth", "0.7",
                                             "--max-ratio", "10"), metric="power", alpha=2, smooth=0.7, **{"max-ratio": 10})
        self.assert_same(self.viewer, 1, 2, self.end_regions(1, 2))

    def test_controls_are_those_that_the_program_describes(self):
        connect = self.viewer.state()["connect"]
        epsilon = connect["epsilon"]
        self.assertEqual((epsilon["name"], epsilon["default"], epsilon["max"]), ("epsilon", "0.05", 0.5))
        self.assertIn("jeong", connect["options"][0]["words"])
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../src/view/page")
        for name in os.listdir(page):
            if name.endswith((".html", ".js")):
                with open(os.path.join(page, name)) as file:
                    text = file.read()
                for option in connect["options"]:
                    self.assertNotRegex(text, rf"""["'#]{option["name"]}["']""", name)

    def test_a_smallest_FA_equals_connect_and_can_be_switched_off_again(self):
        for least in 0.5, 0:
            maps = self.connect(*self.end_regions(1, 2), *(("--within-fa", str(least)) if least else ()), "--overwrite")
            numbers, total, level = self.solve(self.viewer, 1, 2, **{"within-fa": least})
            passable = np.frombuffer(open_block(self.viewer.get("/api/passable"))[1], "<u4")
            FA = nibabel.Nifti1Image.from_bytes(self.viewer.get("/api/map/FA")).get_fdata().ravel(order="F")[passable]
            white = ~np.isnan(total)
            self.assertEqual(white.all(), not least)
            self.assertTrue((FA[white] >= least).all())
            np.testing.assert_array_equal(total[white], maps.inside("total"))
            inside = self.inside(numbers, level, 0.05)
            np.testing.assert_array_equal(inside[white], maps.inside("pathway") == 1)
            self.assertFalse(inside[~white].any())
            self.assertEqual("--within-fa" in numbers["words"], bool(least))

    def test_messages_are_in_the_words_of_the_page(self):
        FA = nibabel.Nifti1Image.from_bytes(self.viewer.get("/api/map/FA"))
        corner, grey = (nibabel.affines.apply_affine(FA.affine, np.argwhere(which)[0]).tolist()
                        for which in (FA.get_fdata() == 0, (FA.get_fdata() > 0) & (FA.get_fdata() < 0.1)))
        for start, more, expected in ((corner, {}, "From: no tensor here; click inside the brain"),
                                      ([900, 0, 0], {}, "From: no tensor here; click inside the brain"),
                                      (grey, {"within-fa": 0.3}, "From: no path may pass here; click in white matter"),
                                      (1, {"within-fa": 0.99}, "no white matter")):
            status, _, why = self.viewer.post("/api/solve", {"from": start, "to": 2, **SETTINGS, **more})
            self.assertEqual(status, 422, why)
            self.assertIn(expected, why.decode())

    def test_fibres_equal_those_of_connect(self):
        numbers, _, _ = self.solve(self.viewer, 1, 2)
        request = {"connection": numbers["connection"], "epsilon": 0.1, "count": 50}
        head, arrays = open_block(self.viewer.post("/api/fibres", request)[2])
        n = head["fibres"]
        offsets = np.frombuffer(arrays[:4 * (n + 1)], "<u4")
        points = np.frombuffer(arrays[4 * (2 * n + 1):], "<f4").reshape(-1, 3)
        out = self.path("paths.h5")
        self.connect(*self.end_regions(1, 2), "--epsilon", "0.1", "--paths", out, "--max-paths", "50")
        expected = Result(out)
        self.assertGreater(n, 30)
        np.testing.assert_array_equal(offsets, expected.offset)
        np.testing.assert_array_equal(points, expected.position)
        # Of an older connection there are none.
        self.solve(self.viewer, 1, 2)
        status, _, why = self.viewer.post("/api/fibres", request)
        self.assertEqual((status, b"another one has been solved" in why), (400, True))

    def test_trx_has_the_same_fibres(self):
        numbers, _, _ = self.solve(self.viewer, 1, 2)
        request = {"connection": numbers["connection"], "epsilon": 0.1, "count": 50}
        head, arrays = open_block(self.viewer.post("/api/fibres", request)[2])
        status, _, body = self.viewer.post("/api/trx", request)
        self.assertEqual(status, 200, body[:200])
        with zipfile.ZipFile(io.BytesIO(body)) as trx:
            header = json.loads(trx.read("header.json"))
            positions, cost = (trx.read(name) for name in ("positions.3.float32", "dps/cost.float32"))
        n = head["fibres"]
        self.assertEqual((header["NB_STREAMLINES"], header["NB_VERTICES"]), (n, head["points"]))
        self.assertEqual(cost, arrays[4 * (n + 1):4 * (2 * n + 1)])
        self.assertEqual(positions, arrays[4 * (2 * n + 1):])
        self.assertEqual([name for name in os.listdir(tempfile.gettempdir()) if name.startswith("voxherd-view-")], [])

    def test_mean_FA_along_the_path_is_that_of_its_voxels(self):
        numbers, _, _ = self.solve(self.viewer, 1, 2)
        path = self.least_path.reshape(-1, 3).astype(np.float64)
        self.assertEqual(len(path), numbers["path_points"])
        lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
        self.assertAlmostEqual(lengths.sum() / numbers["length_mm"], 1, places=4)
        FA = nibabel.Nifti1Image.from_bytes(self.viewer.get("/api/map/FA"))
        places, values = nibabel.affines.apply_affine(np.linalg.inv(FA.affine), path), FA.get_fdata()
        mean = sum(length * part * values[tuple(voxel)] for a, b, length in zip(places, places[1:], lengths)
                   for voxel, part in pieces_in_voxels(a, b)) / lengths.sum()
        self.assertAlmostEqual(numbers["path_FA"], mean, places=4)

    def test_both_fronts_add_up_to_the_total(self):
        numbers, total, _ = self.solve(self.viewer, 1, 2)
        fronts = []
        for end in "from", "to":
            head, times = open_block(self.viewer.get(f"/api/arrivals/{end}"))
            self.assertEqual(head["connection"], numbers["connection"])
            fronts.append(np.frombuffer(times, "<f4"))
        np.testing.assert_array_equal(fronts[0] + fronts[1], total)
        self.assertEqual(self.viewer.ask("GET", "/api/arrivals/other")[0], 404)

    def test_glyphs_are_tensors_of_the_pathway(self):
        numbers, _, level = self.solve(self.viewer, 1, 2)
        request = {"connection": numbers["connection"], "epsilon": 0.1, "count": 2000}
        head, arrays = open_block(self.viewer.post("/api/glyphs", request)[2])
        n = head["glyphs"]
        voxels = np.frombuffer(arrays[:4 * n], "<u4")
        eigen = np.frombuffer(arrays[4 * n:], "<f4").reshape(n, 12)
        passable = np.frombuffer(open_block(self.viewer.get("/api/passable"))[1], "<u4")
        self.assertEqual(head["stride"], 1)
        self.assertEqual(sorted(voxels), sorted(passable[self.inside(numbers, level, 0.1)]))
        FA = nibabel.Nifti1Image.from_bytes(self.viewer.get("/api/map/FA")).get_fdata().ravel(order="F")[voxels]
        values = eigen[:, :3]
        mean = values.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(np.sqrt(1.5 * ((values - mean)**2).sum(axis=1) / (values**2).sum(axis=1)), FA, atol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(eigen[:, 3:6], axis=1), 1, atol=1e-5)
        few = open_block(self.viewer.post("/api/glyphs", {**request, "count": n // 2})[2])[0]
        self.assertGreater(few["stride"], 1)
        self.assertLessEqual(few["glyphs"], n // 2)
        self.assertEqual(self.viewer.post("/api/glyphs", {**request, "count": 2001})[0], 400)

    def test_maps_are_those_of_the_result_with_axes_to_the_right_front_and_top(self):
        subprocess.run([VOXHERD, "export", self.tensor, "--to", "nifti", self.path("nifti")], check=True, capture_output=True)
        maps = self.viewer.state()["maps"]
        for name in ("FA", "MD"):
            number = [m["name"] for m in maps].index(name)
            sent = nibabel.Nifti1Image.from_bytes(self.viewer.get(f"/api/map/{number}"))
            file = next(os.path.join(self.path("nifti"), f) for f in os.listdir(self.path("nifti")) if f.startswith(name))
            expected = nibabel.as_closest_canonical(nibabel.load(file))
            np.testing.assert_allclose(sent.affine, expected.affine, atol=1e-5)
            np.testing.assert_array_equal(sent.get_fdata(dtype=np.float32), expected.get_fdata(dtype=np.float32))
        self.assertEqual(next(m["unit"] for m in maps if m["name"] == "MD"), "mm2/s")

    def test_regions_have_their_labels_and_names(self):
        self.assertEqual([r["label"] for r in self.viewer.state()["regions"]][:2], [1, 2])
        sent = nibabel.Nifti1Image.from_bytes(self.viewer.get("/api/regions")).get_fdata()
        expected = nibabel.as_closest_canonical(nibabel.load(self.ends)).get_fdata()
        np.testing.assert_array_equal(sent, expected)

    def test_an_end_without_a_path_is_explained(self):
        for start, end, expected in ([-8.75, 1.25, 1.25], [-8.75, 1.25, 1.25], "share 1 voxels"), (1, [900, 0, 0], "no tensor here"), (
                1, 77, "77"):
            status, _, why = self.viewer.post("/api/solve", {"from": start, "to": end, **SETTINGS})
            self.assertEqual(status, 422, why)
            self.assertIn(expected, why.decode())
        self.solve(self.viewer, 1, 2)

    def test_of_several_requests_the_last_is_answered(self):
        statuses = {}

        def ask(n):
            statuses[n] = self.viewer.post("/api/solve", {"from": 1, "to": 2, **SETTINGS})[0]

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(statuses.values()), {200, 409})
        self.assertIn(200, statuses.values())


class Replaces(ViewJobs):
    """A request ends the computation of an older one."""

    def make_scan(self, side):
        """Fibres that point anywhere: with large ratios fronts go on changing for long."""
        draw = np.random.default_rng(1)
        gradients = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], float)
        gradients /= np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1)
        fibre = draw.normal(size=(side, side, side, 3))
        fibre /= np.linalg.norm(fibre, axis=-1, keepdims=True)
        diffusivity = 0.02e-3 + 2e-3 * (fibre @ gradients.T)**2
        b = np.where(gradients.any(axis=1), 1000, 0)
        signal = 10000 * np.exp(-b * diffusivity)
        nibabel.save(nibabel.Nifti1Image(signal.astype(np.float32), np.diag([2.0, 2, 2, 1])), self.path("scan.nii"))
        np.savetxt(self.path("scan.bval"), b[None], fmt="%d")
        np.savetxt(self.path("scan.bvec"), gradients.T)
        nibabel.save(nibabel.Nifti1Image(np.ones((side,) * 3, np.uint8), np.diag([2.0, 2, 2, 1])), self.path("mask.nii"))
        return self.path("scan.nii")

    def test_a_solve_ends_when_a_newer_one_is_asked_for(self):
        with Viewer(self.make_scan(side=40), "--mask", self.path("mask.nii")) as viewer:
            slow = {**SETTINGS, "max-ratio": 10000, "alpha": 10, "from": [4, 4, 4], "to": [70, 70, 70]}
            statuses = []
            asking = threading.Thread(target=lambda: statuses.append(viewer.post("/api/solve", slow)[0]))
            asking.start()
            while "/api/solve: started" not in viewer.job.stderr.readline():
                pass
            quick = {**slow, "alpha": 1, "max-ratio": 1.5}
            self.assertEqual(viewer.post("/api/solve", quick)[0], 200)
            asking.join()
            self.assertEqual(statuses, [409])
            self.assertIn("/api/solve: stopped", viewer.end()[1])


class Sources(ViewJobs):
    """What can be shown besides a result of tensor."""

    def test_a_series_is_found_with_its_gradients_and_mask(self):
        with Viewer(f"{self.toy}/data.nii", "--parcellation", self.ends) as viewer:
            numbers, total, _ = self.solve(viewer, 1, 2)
            maps = Maps(self.make("out.h5", *self.end_regions(1, 2)))
            np.testing.assert_array_equal(total, maps.inside("total"))
            self.assertIn("--bvals", viewer.state()["connect"]["words"])
            self.assertEqual(len(viewer.state()["maps"]), 66)

    def test_a_table_of_mrtrix_beside_a_series_decides_the_frame_of_its_directions(self):
        with open(f"{self.toy}/data.nii", "rb") as file:
            image = bytearray(file.read())
        image[252:256] = np.array([0, 1], "<i2").tobytes()  # only the sform, with a positive determinant
        image[280:328] = np.array([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]], "<f4").tobytes()
        series, b, g = self.path("dwi.nii"), np.loadtxt(f"{self.toy}/bvals").ravel(), np.loadtxt(f"{self.toy}/bvecs")
        with open(series, "wb") as file:
            file.write(image)
        np.savetxt(self.path("dwi.bval"), b)
        np.savetxt(self.path("dwi.bvec"), g)  # along the image axes, here those of the world
        for has_table in (False, True):
            if has_table:
                np.savetxt(self.path("dwi.b"), np.vstack([g, b]).T)
            with self.subTest(has_table), Viewer(series) as viewer:
                words = viewer.state()["connect"]["words"]
                self.assertEqual("--bvecs-frame image" in " ".join(words), has_table, words)

    def test_a_result_of_connect_has_its_settings(self):
        out = self.make("out.h5", *self.end_regions(1, 2), "--metric", "inverse", "--smooth", "0.5", "--scheme", "hl26")
        with Viewer(out, "--parcellation", self.ends) as viewer:
            state = viewer.state()["connect"]
            self.assertEqual((state["metric"], state["smooth"]), ("inverse", 0.5))
            self.assertEqual(state["words"][-2:], ["--scheme", "hl26"])
            _, total, _ = self.solve(viewer, 1, 2, metric="inverse", alpha=state["alpha"], smooth=0.5)
            np.testing.assert_array_equal(total, Maps(out).inside("total"))

    def test_an_image_alone_is_shown_without_connections(self):
        with Viewer(self.ends) as viewer:
            state = viewer.state()
            self.assertFalse(state["connect"]["available"])
            self.assertIn("no b-values", state["connect"]["why_not"])
            self.assertEqual(viewer.post("/api/solve", {"from": 1, "to": 2, **SETTINGS})[0], 400)


class Refusals(ViewJobs):
    """Requests of others, and wrong ones. Each is a 4xx, and the viewer goes on."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.viewer = Viewer(cls.tensor)
        cls.addClassCleanup(cls.viewer.end)

    def tearDown(self):
        self.assertEqual(self.viewer.state()["analysis"], "tensor")

    def expect(self, status, *request, **headers):
        found, sent, body = self.viewer.ask(*request, **headers)
        self.assertEqual(found, status, body[:200])
        self.assertNotIn("Access-Control-Allow-Origin", sent)
        return body

    def test_the_page_needs_no_token_and_has_a_strict_policy(self):
        for target, kind in ("/", "text/html"), ("/?timing", "text/html"), ("/view.js", "text/javascript"), (
                "/style.css", "text/css"), ("/licences.txt", "text/plain"):
            status, headers, body = self.viewer.ask("GET", target, X_Token=None, Origin=None)
            self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, kind))
            self.assertTrue(headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';"))
            self.assertNotIn("unsafe", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertGreater(len(body), 500)

    def test_the_page_calls_a_stored_curve_a_path(self):
        page = gzip.decompress(self.expect(200, "GET", "/", X_Token=None, Origin=None)).decode()
        self.assertIn("Paths (TRX)", page)
        self.assertNotRegex(page, r'(?i)>[^<]*fibre|aria-label="[^"]*fibre')

    def test_data_need_the_token(self):
        for target in "/api/state", "/api/map/0", "/api/passable", "/api/alive":
            self.expect(401, "GET", target, X_Token=None)
            self.expect(401, "GET", target, X_Token="0" * 32)
        self.expect(401, "POST", "/api/solve", b"{}", X_Token=None)

    def test_another_host_is_refused(self):
        for host in "evil.example", f"evil.example:{self.viewer.port}", "127.0.0.1.evil.example", "127.0.0.1:x@evil.example", "":
            self.expect(403, "GET", "/", Host=host, Origin=None)
            self.expect(403, "GET", "/api/state", Host=host, Origin=f"http://{host}")

    def test_another_origin_is_refused_and_a_forwarded_port_is_not(self):
        for origin in "http://evil.example", "null", f"http://127.0.0.1:{self.viewer.port + 1}", f"https://{self.viewer.host}":
            self.expect(403, "GET", "/api/state", Origin=origin)
            self.expect(403, "POST", "/api/solve", b"{}", Origin=origin)
        self.expect(403, "POST", "/api/solve", b"{}", Origin=None)
        self.expect(200, "GET", "/api/state", Host="localhost:8080", Origin="http://localhost:8080")

    def test_wrong_requests_are_explained(self):
        self.expect(405, "PUT", "/api/state")
        self.expect(405, "OPTIONS", "/api/solve")
        for target in "/nothing", "/api/nothing", "/api/map/-1", "/api/map/99999999999999999999", "/api/map/1x", "/../etc/passwd":
            self.expect(404, "GET", target)
        self.expect(404, "POST", "/api/state", b"{}")
        for body in b"", b"{", b"[]", b'{"from":1}', b'{"from":1,"to":2,"metric":"jeong","alpha":1e999,"smooth":0,"max-ratio":1}':
            self.expect(400, "POST", "/api/solve", body)
        self.expect(400, "POST", "/api/fibres", b'{"connection":1,"epsilon":0.1,"count":1000000}')
        self.assertIn(b"--parcellation", self.expect(400, "POST", "/api/solve", json.dumps(
            {"from": 1, "to": 2, **SETTINGS}).encode()))

    def test_large_requests_are_refused(self):
        self.expect(413, "POST", "/api/solve", b" " * 20000)
        self.expect(431, "GET", "/api/state", Cookie="x" * 9000)

    def test_what_is_not_http_is_refused(self):
        for text, expected in (b"nonsense\r\n\r\n", b"HTTP/1.1 400"), (b"\0" * 100, b"HTTP/1.1 400"), (
                b"GET / HTTP/1.1\r\nX: " + b"a" * 100000, b"HTTP/1.1 431"):
            with socket.create_connection(("127.0.0.1", self.viewer.port), timeout=30) as s:
                try:
                    s.sendall(text)
                    self.assertEqual(s.recv(12), expected)
                except ConnectionError:  # the answer is lost if the rest of a flood arrives after it
                    self.assertGreater(len(text), 10000)

    def test_only_its_port_on_this_computer_is_listened_to(self):
        self.assertEqual(listening_sockets(self.viewer.job.pid), {f"0100007F:{self.viewer.port:04X}"})
        self.assertEqual(descendants(self.viewer.job.pid), [self.viewer.job.pid])

    def test_strangers_cannot_keep_the_owner_out(self):
        """Connections of other users, without the token: with half a request, or with answers that they do not read."""
        page = f"GET / HTTP/1.1\r\nHost: {self.viewer.host}\r\n\r\n".encode()
        for text in (b"", b"GET / HTTP/1.1\r\nHost: 127", page * 20):
            strangers = [socket.create_connection(("127.0.0.1", self.viewer.port), timeout=30) for _ in range(200)]
            for stranger in strangers:
                try:
                    stranger.sendall(text)
                except ConnectionError:  # closed for a newer one
                    pass
            for _ in range(5):
                self.viewer.state()
            for stranger in strangers:
                stranger.close()


class Lives(ViewJobs):
    """How it starts and ends."""

    def test_it_ends_when_nobody_uses_it(self):
        messages = Viewer(self.tensor, "--idle-minutes", "0.02").wait()
        self.assertIn("no page has been open for 0.02 minutes", messages)

    def test_an_interrupt_ends_it_with_status_0(self):
        status, messages = Viewer(self.tensor).end()
        self.assertEqual((status, "error" in messages), (0, False))

    def test_open_passes_the_token_in_a_file_that_only_the_user_can_read(self):
        tools = self.path("tools")
        os.mkdir(tools)
        with open(f"{tools}/xdg-open", "w", encoding="ascii") as script:
            script.write(f'#!/bin/sh\nprintf "%s " "$1" >{self.path("opened")}\nstat -c %a "$1" >>{self.path("opened")}\n'
                         f'cat "$1" >{self.path("page")}\n')
        os.chmod(f"{tools}/xdg-open", stat.S_IRWXU)
        viewer = Viewer(self.tensor, "--open", environment={"PATH": f"{tools}:{os.environ['PATH']}", "DISPLAY": ":0"})
        viewer.get("/api/state")
        self.assertEqual(viewer.end()[0], 0)
        with open(self.path("opened"), encoding="utf-8") as file:
            name, mode = file.read().split()
        with open(self.path("page"), encoding="utf-8") as file:
            self.assertIn(viewer.address, file.read())
        self.assertEqual(mode, "600")
        self.assertNotIn(viewer.token, name)
        self.assertFalse(os.path.exists(name))

    def test_a_scene_is_passed_to_the_page(self):
        with open(self.path("scene.json"), "w", encoding="utf-8") as file:
            json.dump({"voxherd_scene": 1, "epsilon": 12}, file)
        with open(self.path("deep.json"), "w", encoding="utf-8") as file:
            file.write('{"voxherd_scene": 1, "a": ' + "[" * 100000 + "]" * 100000 + "}")
        with Viewer(self.tensor, "--scene", self.path("scene.json")) as viewer:
            self.assertEqual(viewer.state()["scene"]["epsilon"], 12)
        with Viewer(self.tensor) as viewer:
            self.assertIsNone(viewer.state()["scene"])
        for name, status, expected in (self.ends, 65, "expected a scene"), (self.path("none.json"), 66, "cannot be opened: No such file"), (
                self.folder, 66, "it is a directory"), (self.path("deep.json"), 65, "has too many levels"):
            done = subprocess.run([VOXHERD, "view", self.tensor, "--scene", name], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(expected, done.stderr)

    def test_a_port_in_use_and_other_mistakes_have_one_message(self):
        with Viewer(self.tensor) as viewer:
            for words, status, expected in ((self.tensor, "--port", str(viewer.port)), 2, "choose another port"), (
                    (self.path("none.h5"),), 66, "none.h5"), ((), 2, "FILE is missing"), (
                    (self.ends, "--parcellation", self.ends), 2, "--parcellation has no use here"):
                done = subprocess.run([VOXHERD, "view", *words], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    unittest.main()
