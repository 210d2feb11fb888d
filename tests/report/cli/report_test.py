"""voxherd report: the page of each analysis is complete, safe and agrees with the result file."""
import base64
import json
import os
import re
import shutil
import sys

try:
    import h5py
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import unittest

from program import run
from report_pages import RESULTS, Page, ReportJobs, call, decode_png
from result_files import changed_tables, changed_values


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def quantiles(values):
    """Those of numpy."""
    at = lambda q: float(np.quantile(values.astype(np.float64), q))
    return {"min": at(0), "q25": at(0.25), "median": at(0.5), "q75": at(0.75), "max": at(1)}


class Maps:
    """Maps of a result at its fitted voxels, and as pictures."""

    def __init__(self, path, numbers):
        self.file, self.numbers = h5py.File(path), numbers
        self.voxels = self.file["items/voxel"][()]
        self.affine = self.file["image"].attrs["voxel_to_world"].reshape(4, 4)

    def inside(self, name):
        status = self.file["maps/status"][()].ravel()[self.voxels] if "maps/status" in self.file else np.zeros(1)
        values = self.file[f"maps/{name}"][()]
        return values.reshape(-1, *values.shape[3:])[self.voxels][np.isin(status, (0, 10)) | (len(status) == 1)]

    def view(self, name):
        """A map with the axes to the right, to the front and upwards."""
        values = np.moveaxis(self.file[f"maps/{name}"][()], (0, 1, 2), (2, 1, 0))
        return self.turned(values)

    def turned(self, values):
        axes = self.numbers["mosaic"]["file_axes"]
        values = np.moveaxis(values, [abs(a) - 1 for a in axes], (0, 1, 2))
        return np.flip(values, [i for i, a in enumerate(axes) if a < 0])

    def mask(self):
        size = self.file["image"].attrs["size"]
        inside = np.zeros(int(np.prod(size)), bool)
        inside[self.voxels] = True
        return self.turned(inside.reshape(size[::-1]).transpose(2, 1, 0))

    def mosaic(self, values):
        """Slices of a turned map as the page arranges them, with its tiles as (height, width, ...)."""
        m = self.numbers["mosaic"]
        (a0, a1), (d0, d1) = [(m["first"][m[k]], m["last"][m[k]] + 1) for k in ("across", "down")]
        tiles = []
        for s in m["slices"]:
            plane = np.moveaxis(values, (m["through"], m["down"], m["across"]), (0, 1, 2))[s]
            tiles.append(plane[d0:d1, a0:a1][::-1])
        while len(tiles) % m["columns"]:
            tiles.append(np.zeros_like(tiles[0]))
        rows = [np.concatenate(tiles[i:i + m["columns"]], axis=1) for i in range(0, len(tiles), m["columns"])]
        return np.concatenate(rows, axis=0)


class EveryPage(ReportJobs):
    def test_is_well_formed_loads_nothing_and_repeats_the_numbers_of_the_json_file(self):
        for name in RESULTS:
            with self.subTest(name):
                html, numbers = self.report(name)
                page = Page(html)
                self.assertEqual(len(page.ids), len(set(page.ids)))
                self.assertEqual(json.loads(page.data), json.loads(read(numbers)))
                for link in page.links:
                    self.assertTrue(link.startswith("https://doi.org/10.") or link[1:] in page.ids, link)
                policy = [a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
                self.assertIn("default-src 'none'", policy[0])
                self.assertNotIn("script-src", policy[0])
                self.assertEqual([a for t, a in page.elements if t == "script" and a.get("type") != "application/json"], [])
                self.assertEqual([k for t, a in page.elements for k in a if k.startswith("on")], [])
                self.assertLess(os.path.getsize(html), 5e6)

    def test_has_images_that_decode_texts_for_them_and_one_main_heading(self):
        for name in RESULTS:
            with self.subTest(name):
                page = Page(self.report(name)[0])
                shown = list(page.decoded())
                self.assertGreater(len(shown), 0)
                self.assertGreater(max(len(np.unique(image.reshape(-1, 3), axis=0)) for image in shown), 3)
                for tag, given in page.elements:
                    if tag == "img":
                        self.assertIn("alt", given)
                    if tag == "svg":
                        self.assertTrue(given.get("aria-label") or given.get("aria-hidden"), given)
                    if tag == "th":
                        self.assertIn(given.get("scope"), ("row", "col"))
                self.assertEqual([h for h in page.headings if h[0] == "h1"], [("h1", page.headings[0][1])])
                self.assertIn("Methods", [text for _, text in page.headings])
                self.assertNotRegex(page.source, r"</h2>\s*</section>")
                regions = [a["aria-label"] for _, a in page.elements if a.get("role") == "region"]
                regions += [text for tag, text in page.headings if tag == "h2"]
                self.assertEqual(len(regions), len(set(regions)), regions)
                self.assertIn("voxherd 0.", page.text)

    def test_has_the_quantiles_of_each_output(self):
        for name in ("tensor", "ballstick", "perfusion"):
            with self.subTest(name):
                numbers = json.loads(read(self.report(name)[1]))
                maps = Maps(self.make(name), numbers)
                self.assertGreater(len(numbers["outputs"]), 4)
                for output, found in numbers["outputs"].items():
                    dataset = maps.file[f"maps/{output}"]
                    self.assertEqual((found["unit"], found["meaning"]),
                                     tuple(dataset.attrs[k].decode() for k in ("unit", "meaning")))
                    for key, value in quantiles(maps.inside(output)).items():
                        self.assertAlmostEqual(found[key], value, delta=1e-6 * abs(value), msg=f"{output} {key}")


class Pictures(ReportJobs):
    def setUp(self):
        html, numbers = self.report("tensor")
        self.page, self.numbers = Page(html), json.loads(read(numbers))
        self.maps = Maps(self.make("tensor"), self.numbers)

    def test_every_pixel_of_a_map_shows_its_voxel(self):
        for name in ("FA", "MD", "S0"):
            first, last = (self.numbers["pictures"][name][k] for k in ("first", "last"))
            value = np.clip((self.maps.view(name).astype(float) - first) / (last - first), 0, 1)
            grey = np.where(self.maps.mask(), 255 * value, 0)
            picture = self.page.picture(f"{name} in")
            np.testing.assert_allclose(picture[..., 0], self.maps.mosaic(grey), atol=0.5001)
            self.assertTrue((picture[..., 0] == picture[..., 1]).all())

    def test_directions_have_the_colours_of_the_world_axes(self):
        directions, FA = self.maps.view("V1").astype(float), self.maps.view("FA")
        rotation = self.maps.affine[:3, :3] / np.linalg.norm(self.maps.affine[:3, :3], axis=0)
        if np.linalg.det(rotation) > 0:
            directions[..., 0] *= -1
        world = np.abs(directions @ rotation.T) * np.clip(FA, 0, 1)[..., None]
        expected = self.maps.mosaic(np.where(self.maps.mask()[..., None], 255 * world, 0))
        np.testing.assert_allclose(self.page.picture("V1 in"), expected, atol=0.51)

    def test_have_letters_at_their_sides_and_the_positions_of_their_slices(self):
        marks = re.findall(r'<span class="mark (\w+)"[^>]*>([^<]+)</span>', self.page.source.split("FA in")[1].split("</div>")[0])
        m = self.numbers["mosaic"]
        rows = -(-len(m["slices"]) // m["columns"])
        sides = {0: ("L", "R"), 1: ("P", "A")}[m["across"]]
        for place, letter in zip(("begin", "end"), sides):
            self.assertEqual([text for kind, text in marks if kind == place], [letter] * rows)
        # On the phantom's grid the axes are those of the world.
        axis = [abs(a) - 1 for a in m["file_axes"]].index(m["through"])
        size = self.maps.file["image"].attrs["size"][axis]
        places = [size - 1 - s if m["file_axes"][m["through"]] < 0 else s for s in m["slices"]]
        mm = [self.maps.affine[m["through"], axis] * s + self.maps.affine[m["through"], 3] for s in places]
        shown = [float(text.replace(" mm", "")) for kind, text in marks if kind == "foot"]
        np.testing.assert_allclose(shown, mm, atol=0.501)

    def test_are_mirrored_in_the_radiological_view(self):
        run("report", self.make("tensor"), "--radiological", "--out", self.path("radiological.html"), "--overwrite")
        page, numbers = Page(self.path("radiological.html")), json.loads(read(self.path("radiological.json")))
        self.assertEqual(numbers["mosaic"]["file_axes"][0], -self.numbers["mosaic"]["file_axes"][0])
        m = numbers["mosaic"]
        self.assertEqual(m["across"], 0)
        width = m["last"][0] - m["first"][0] + 1
        tiles = [p.picture("FA in")[:m["last"][1] - m["first"][1] + 1, :width] for p in (self.page, page)]
        np.testing.assert_array_equal(tiles[1], tiles[0][:, ::-1])
        self.assertGreater((tiles[0] != tiles[1]).sum(), 0)
        self.assertIn("the subject's right is on the left", page.text)
        self.assertRegex(page.source, r'mark begin"[^>]*>R<')

    def test_crop_to_the_processed_voxels(self):
        places, m = np.argwhere(self.maps.mask()), self.numbers["mosaic"]
        self.assertEqual(m["first"], places.min(axis=0).tolist())
        self.assertEqual(m["last"], places.max(axis=0).tolist())


class Layout(ReportJobs):
    def test_pictures_follow_the_warnings_and_the_run_comes_before_the_records(self):
        titles = [text for tag, text in Page(self.report("tensor")[0]).headings if tag == "h2"]
        self.assertEqual(titles[:2], ["Warnings", "Maps"])
        self.assertEqual(titles[-3:], ["Run", "Records", "Methods"])

    def test_words_of_the_command_line_are_not_broken(self):
        page = Page(self.report("tensor")[0])
        words = re.findall(r'<span class="word">([^<]*)</span>', page.source)
        self.assertIn("--bvals", words)
        self.assertIn(json.loads(page.data)["provenance"]["command_line"], page.text)

    def test_the_histogram_of_FA_is_from_0_to_1_and_the_signals_unit_is_called_signal(self):
        html, numbers = self.report("tensor")
        shown = json.loads(read(numbers))["histograms"]["FA"]
        self.assertEqual((shown["first"], shown["last"]), (0, 1))
        self.assertIn("S0 (signal)", Page(html).text)
        self.assertNotIn("(input)", Page(html).text)

    def test_a_map_with_one_value_is_a_sentence(self):
        copy = self.path("constant.h5")
        shutil.copy(self.make("tensor"), copy)
        with changed_values(copy) as file:
            file["maps/MD"][...] = np.float32(0.0015)
        run("report", copy)
        page = Page(self.path("constant.report.html"))
        self.assertIn("MD is 0.0015 mm2/s in every voxel.", page.text)
        self.assertNotIn('alt="MD in', page.source)

    def test_an_image_without_an_orientation_is_noted(self):
        copy = self.path("made_up.h5")
        shutil.copy(self.make("tensor"), copy)
        note = "The orientation looks made up"
        with h5py.File(copy, "r+") as file:
            file["image"].attrs["voxel_to_world"] = np.eye(4).ravel()
        run("verify", "--accept", copy)
        run("report", copy)
        self.assertIn(note, json.loads(read(self.path("made_up.report.json")))["notes"][0])
        page = Page(self.path("made_up.report.html"))
        self.assertIn(note, page.text)
        self.assertRegex(page.source, r'mark begin"[^>]*>L\?<')
        self.assertNotIn("the subject's left", page.text)
        self.assertEqual(json.loads(read(self.report("tensor")[1]))["notes"], [])

    def test_perfusion_shows_the_anatomy(self):
        html, numbers = self.report("perfusion")
        page, shown = Page(html), json.loads(read(numbers))
        maps = Maps(self.make("perfusion"), shown)
        outside = ~maps.mosaic(maps.mask())
        mean = maps.turned(np.asarray(nibabel.load(self.path("liver", "dce.nii")).dataobj).mean(axis=3))
        grey = page.picture("ka in")[..., 0][outside]
        self.assertGreater(np.corrcoef(grey, maps.mosaic(mean)[outside])[0, 1], 0.9)

    def test_input_curves_in_plasma_are_called_so(self):
        plasma = "in plasma: blood divided by 1 - 0.42"
        run("perfusion", *self.liver(), "--haematocrit", "0.42", "--backend", "cpu", "--threads", "1", "--quiet", "--out",
            self.path("plasma.h5"))
        run("report", self.path("plasma.h5"))
        self.assertIn(plasma, Page(self.path("plasma.report.html")).text)
        self.assertNotIn("plasma", Page(self.report("perfusion")[0]).text.split("Numbers of")[0])


class Numbers(ReportJobs):
    def numbers(self, name):
        return json.loads(read(self.report(name)[1]))

    def test_histograms_count_every_voxel_once(self):
        numbers = self.numbers("tensor")
        maps = Maps(self.make("tensor"), numbers)
        for name, h in numbers["histograms"].items():
            values = maps.inside(name).astype(float)
            self.assertEqual(sum(h["counts"]) + h["below"] + h["above"], len(values))
            self.assertEqual(h["above"], int((values > h["last"]).sum()), name)

    def test_curves_and_bounds_of_perfusion_are_those_of_the_file(self):
        numbers = self.numbers("perfusion")
        maps = Maps(self.make("perfusion"), numbers)
        for name, values in numbers["curves"].items():
            np.testing.assert_array_equal(values, maps.file[f"curves/{name}"][()])
        self.assertEqual(numbers["voxels_at_bound"], int((maps.inside("at_bound") != 0).sum()))

    def test_curves_of_single_voxels_have_the_residual_of_the_fit(self):
        numbers = self.numbers("perfusion")
        maps = Maps(self.make("perfusion"), numbers)
        fitted = maps.inside("r_squared")
        for name, expected in (("best", fitted.max()), ("median", None), ("worst", fitted.min())):
            shown = numbers["example_curves"][name]
            voxel = np.unravel_index(shown["voxel"], maps.file["maps/r_squared"].shape)
            if expected is not None:
                self.assertEqual(maps.file["maps/r_squared"][voxel], expected)
            rest = np.array(shown["concentration"]) - np.array(shown["fit"])
            self.assertEqual(len(rest), len(maps.file["curves/time"]))
            self.assertAlmostEqual(np.sum(rest**2) / maps.file["maps/sum_of_squares"][voxel], 1, delta=1e-4)
        self.assertGreater(Page(self.report("perfusion")[0]).source.count("Voxel with the "), 3)

    def test_a_series_in_several_files_has_the_same_curves_of_voxels(self):
        image = nibabel.load(self.path("liver", "dce.nii"))
        values = np.asarray(image.dataobj)
        names = []
        for first in range(0, values.shape[3], 10):
            names.append(self.path("liver", f"part{first:03}.nii"))
            nibabel.save(nibabel.Nifti1Image(values[..., first:first + 10], None, image.header), names[-1])
        words = self.liver()
        at = words.index(self.path("liver", "dce.nii"))
        run("perfusion", *words[:at], *names, *words[at + 1:], "--backend", "cpu", "--threads", "1", "--quiet", "--out",
            self.path("parts.h5"))
        run("report", self.path("parts.h5"))
        with open(self.path("parts.report.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["example_curves"], self.numbers("perfusion")["example_curves"])

    def test_without_the_series_the_page_says_why_it_has_no_curves_of_voxels(self):
        copy = self.path("gone.h5")
        shutil.copy(self.make("perfusion"), copy)
        os.rename(self.path("liver", "dce.nii"), self.path("liver", "elsewhere.nii"))
        try:
            run("report", copy)
        finally:
            os.rename(self.path("liver", "elsewhere.nii"), self.path("liver", "dce.nii"))
        page = Page(self.path("gone.report.html"))
        self.assertIn("Curves of single voxels are not shown: the series", page.text)
        self.assertIn("Voxels with the best, the median and the worst fit", page.source)

    def test_matrices_and_pathways_are_those_of_the_file(self):
        numbers = self.numbers("connectome")
        with h5py.File(self.make("connectome")) as file:
            for name, matrix in numbers["matrices"].items():
                stored = file[f"connectome/{name}"][()].ravel()
                found = np.array([np.inf if v is None else v for v in matrix["values"]])
                np.testing.assert_array_equal(np.where(np.isfinite(stored), stored, np.inf), found)
            self.assertEqual([float(r) for r in numbers["regions"]], file["connectome/labels"][()].tolist())
        numbers = self.numbers("pathway")
        with h5py.File(self.make("pathway")) as file:
            self.assertEqual(set(numbers["pathway"]), set(file["pathway"]))
            for name, values in numbers["pathway"].items():
                np.testing.assert_array_equal(values, file[f"pathway/{name}"][()])

    def test_fibres_are_counted_as_the_run_counted_them(self):
        numbers = self.numbers("geodesic")
        with h5py.File(self.make("geodesic")) as file:
            summary = json.loads(file["journal/summary"][()])
            self.assertEqual(numbers["counts"]["rays_ended_by"], summary["rays_ended_by"])
            self.assertEqual(numbers["paths_shown"], len(file["items/voxel"]))
            length = quantiles(file["samples/length_mm"][()])
        self.assertAlmostEqual(numbers["outputs"]["length_mm"]["median"], length["median"], places=4)

    def test_a_status_code_is_a_warning_and_counted_without_the_voxels_outside(self):
        copy = self.path("codes.h5")
        shutil.copy(self.make("tensor"), copy)
        with changed_values(copy) as file:
            voxels, status = file["items/voxel"][()], file["maps/status"][()]
            status.ravel()[voxels[:3]] = 6
            file["maps/status"][...] = status
        run("report", copy)
        numbers = json.loads(read(self.path("codes.report.json")))
        self.assertEqual(numbers["status"]["6"], 3)
        self.assertEqual(sum(numbers["status"].values()), len(voxels))
        self.assertIn(f"3 of {len(voxels)} voxels not fitted: fit diverged (status 6)", numbers["warnings"][0])
        self.assertEqual(numbers["outputs"]["FA"]["values"], len(voxels) - 3)

    def test_what_the_run_warned_of_is_stored_and_shown(self):
        directions = np.loadtxt(f"{self.scan}/bvecs")
        np.savetxt(self.path("long.bvecs"), 1.2 * directions)
        words = [self.path("long.bvecs") if word == f"{self.scan}/bvecs" else word for word in self.series]
        out = self.path("warned.h5")
        done = call("tensor", *words, "--backend", "cpu", "--threads", "1", "--quiet", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        logged = [line.split("warning: ", 1)[1] for line in done.stderr.splitlines() if "warning: " in line]
        with h5py.File(out) as file:
            stored = json.loads(file["journal/summary"][()])["warnings"]
        self.assertIn("directions are not unit vectors", " ".join(stored))
        self.assertLessEqual(set(stored), set(logged))
        run("report", out)
        shown = json.loads(read(self.path("warned.report.json")))["warnings"]
        for text in stored:
            self.assertIn(f"The run warned: {text}.", shown)
        with h5py.File(self.make("tensor")) as file:
            warnings = json.loads(file["journal/summary"][()])["warnings"]
        self.assertEqual([text.split(",")[0] for text in warnings], ["b is up to 2000 s/mm2"])

    def test_matrices_are_sorted_so_that_connected_regions_are_neighbours(self):
        n, copy = 8, self.path("sorted.h5")
        shutil.copy(self.make("network"), copy)
        of_group = np.array([0, 1, 0, 1, 1, 0, 1, 0])
        count = np.where(of_group[:, None] == of_group[None], 50, 0) + 1
        with changed_values(copy) as file:
            stored = file["connectome/count"]
            self.assertGreaterEqual(stored.shape[0], n)
            large = np.zeros(stored.shape)
            large[:n, :n] = count
            stored[...] = large
        run("report", copy)
        numbers = json.loads(read(self.path("sorted.report.json")))
        order = numbers["region_order"]
        self.assertEqual(sorted(order), list(range(len(order))))
        groups = [of_group[i] for i in order if i < n]
        self.assertEqual(sum(a != b for a, b in zip(groups, groups[1:])), 1, order)
        page = Page(self.path("sorted.report.html"))
        best = count * (1 - np.eye(n, dtype=int))
        sources = [a["href"] for tag, a in page.elements if tag == "image"]
        picture = decode_png(base64.b64decode(sources[0].split(",")[1]))
        largest = tuple(picture.reshape(-1, 3)[picture.reshape(-1, 3)[:, 1].argmax()])
        for y, i in enumerate(order):
            for x, k in enumerate(order):
                if i < n and k < n:
                    self.assertEqual(tuple(picture[y, x]) == largest, best[i, k] == 51, (i, k))

    def test_the_density_of_fibres_counts_each_once_per_voxel(self):
        html, numbers = self.report("geodesic")
        numbers = json.loads(read(numbers))
        with h5py.File(self.make("geodesic")) as file:
            points, offsets = file["points/position"][()].astype(float), file["points/offset"][()]
            affine = np.linalg.inv(file["image"].attrs["voxel_to_world"].reshape(4, 4))
        counts = {}
        for a, b in zip(offsets, offsets[1:]):
            mm = np.concatenate([points[a:b - 1] + t * (points[a + 1:b] - points[a:b - 1]) for t in np.linspace(0, 1, 9)])
            for voxel in set(map(tuple, np.round(mm @ affine[:3, :3].T + affine[:3, 3]).astype(int))):
                counts[voxel] = counts.get(voxel, 0) + 1
        self.assertAlmostEqual(numbers["voxels_with_paths"] / len(counts), 1, delta=0.02)
        self.assertAlmostEqual(numbers["max_paths_in_voxel"] / max(counts.values()), 1, delta=0.05)
        self.assertGreater(Page(html).picture("paths in").max(), 0)
        self.assertNotIn("fibres", Page(html).text)

    def test_an_unfinished_result_shows_its_finished_batches_and_says_so(self):
        run("tensor", *self.series, "--backend", "cpu", "--threads", "1", "--quiet", "--batch", "200", "--out",
            self.path("small.h5"))
        os.rename(self.path("small.h5"), self.path("small.h5.part"))
        with changed_tables(self.path("small.h5.part")) as file:
            journal = file["journal/batches"][()]
            self.assertGreater(len(journal), 2)
            journal["done"][1:] = 0
            file["journal/batches"][...] = journal
            file.attrs["complete"] = np.uint8(0)
            first = int(file["journal/first_item"][1])
        run("report", self.path("small.h5.part"))
        numbers = json.loads(read(self.path("small.h5.part.report.json")))
        self.assertIn(f"1 of {len(journal)} batches", numbers["warnings"][0])
        self.assertEqual(sum(numbers["status"].values()), first)


class Streamlines(ReportJobs):
    def setUp(self):
        html, numbers = self.report("track")
        self.page, self.numbers = Page(html), json.loads(read(numbers))
        self.maps = Maps(self.make("track"), self.numbers)

    def test_every_pixel_of_the_density_has_the_colour_of_its_count(self):
        density = self.maps.mosaic(self.maps.view("density").astype(float))
        inside, picture = self.maps.mosaic(self.maps.mask()), self.page.picture("density in")
        self.assertTrue((picture[inside & (density == 0)] == 45).all())
        self.assertTrue((picture[~inside] == 0).all())
        largest = self.maps.file["maps/density"][()].max()
        self.assertEqual(self.numbers["pictures"]["density"]["last"], largest)
        scale = np.log1p(density) / np.log1p(largest)
        for low, high in ((0.02, 0.3), (0.3, 0.6), (0.6, 0.9)):  # viridis: green grows with the value
            if (scale == low).any() or (scale >= high).any():
                a, b = picture[(scale > 0) & (scale <= low)], picture[scale >= high]
                if len(a):
                    self.assertLess(a[:, 1].max(), b[:, 1].min())
        same = picture[density == np.median(density[density > 0])]
        self.assertEqual(len(np.unique(same, axis=0)), 1)

    def test_views_show_the_largest_count_behind_each_pixel(self):
        above = self.maps.view("density").max(axis=2).T[::-1]
        places = np.argwhere(self.maps.mask())
        (x0, y0, _), (x1, y1, _) = places.min(axis=0), places.max(axis=0) + 1
        n = above.shape[0]
        picture = self.page.picture("density seen from above")
        visited = above[n - y1:n - y0, x0:x1]
        np.testing.assert_array_equal((picture[..., 1] > 45) | (picture[..., 0] != picture[..., 1]), visited > 0)

    def test_numbers_are_those_of_the_file(self):
        file = self.maps.file
        for name, value in self.numbers["streamlines"].items():
            self.assertEqual(value, file[f"streamlines/{name}"][()][0])
        density, accepted = file["maps/density"][()], file["streamlines/waytotal"][()][0]
        ml = np.prod(file["image"].attrs["voxel_size_mm"]) / 1000
        for row in self.numbers["volume_above"]:
            voxels = int(((density > 0) & (density >= row["percent"] / 100 * accepted)).sum())
            self.assertEqual(row["voxels"], voxels)
            self.assertAlmostEqual(row["ml"], voxels * ml, places=6)
        self.assertEqual(self.numbers["outputs"]["density"]["values"], int((density > 0).sum()))
        self.assertIn("mean_length", self.numbers["histograms"])

    def test_the_network_has_its_matrix_and_the_streamlines_of_each_region(self):
        numbers = json.loads(read(self.report("network")[1]))
        with h5py.File(self.make("network")) as file:
            self.assertEqual(numbers["matrices"]["count"]["values"], file["connectome/count"][()].ravel().tolist())
            self.assertEqual(numbers["waytotal_of_regions"], file["connectome/waytotal"][()].tolist())

    def test_a_tract_without_streamlines_is_a_warning(self):
        out = self.path("nothing.h5")
        run("track", "--samples", self.make("ballstick"), "--seed-image", self.ends, "--samples-per-seed", "2", "--min-half-length",
            "10000", "--backend", "cpu", "--threads", "1", "--quiet", "--out", out)
        run("report", out)
        numbers = json.loads(read(self.path("nothing.report.json")))
        self.assertIn("no streamline was accepted", numbers["warnings"][0])


class Texts(ReportJobs):
    def test_of_files_are_never_markup(self):
        folder = self.path("<img src=x onerror=alert(1)>\"'&lt;")
        os.makedirs(folder)
        name = os.path.join(folder, "<script><b onmouseover=alert(1)>.h5")
        run("tensor", *self.series, "--backend", "cpu", "--threads", "1", "--quiet", "--out", name)
        run("report", name)
        page = Page(name.replace(".h5", ".report.html"))
        for tag, given in page.elements:
            self.assertFalse(any(key.startswith("on") for key in given), given)
        self.assertNotIn("b", [tag for tag, _ in page.elements])
        self.assertEqual([t for t, _ in page.elements].count("script"), 1)
        self.assertIn("<img src=x onerror=alert(1)>\"'&lt;", page.text)
        self.assertIn(os.path.basename(name), page.headings[0][1])

    def test_of_the_result_cannot_end_the_json_and_may_be_in_any_encoding(self):
        copy = self.path("texts.h5")
        shutil.copy(self.make("tensor"), copy)
        with changed_tables(copy) as file:
            provenance = json.loads(file.attrs["provenance"])
            provenance["command_line"] = "</script><script>alert(1)</script>"
            text = json.dumps(provenance).encode().replace(b"voxherd tensor", b"voxherd \xff\xfe")
            del file.attrs["provenance"]
            file.attrs["provenance"] = np.bytes_(text)
        run("report", copy)
        page = Page(self.path("texts.report.html"))
        self.assertEqual([t for t, _ in page.elements].count("script"), 1)
        self.assertEqual(json.loads(page.data)["provenance"]["command_line"], "</script><script>alert(1)</script>")


class OtherResults(ReportJobs):
    def test_of_an_analysis_without_a_chapter_all_maps_are_shown(self):
        copy = self.path("other.h5")
        shutil.copy(self.make("tensor"), copy)
        with changed_tables(copy) as file:
            del file.attrs["analysis"]
            file.attrs["analysis"] = np.bytes_("snr")
        run("report", copy)
        page = Page(self.path("other.report.html"))
        for name in ("FA", "L3", "residual"):
            self.assertGreater(page.picture(f"{name} in").max(), 0)
        self.assertIn("L3", json.loads(page.data)["histograms"])

    def test_a_result_without_fibres_has_a_page(self):
        out = self.path("empty.h5")
        run("geodesic", *self.series, "--seed-image", self.ends, "--seed-labels", "7", "--targets", self.ends, "--target-labels",
            "8,9", "--directions", "4", "--min-length", "240", "--backend", "cpu", "--threads", "1", "--quiet", "--out", out)
        run("report", out)
        page = Page(self.path("empty.report.html"))
        self.assertEqual(json.loads(page.data)["items"], 0)
        self.assertNotIn("Paths, coloured by direction", page.text)

    def test_numbers_that_are_not_finite_are_magenta_and_null(self):
        copy = self.path("infinite.h5")
        shutil.copy(self.make("tensor"), copy)
        with changed_values(copy) as file:
            FA, voxels = file["maps/FA"][()], file["items/voxel"][()]
            FA.ravel()[voxels[::2]] = np.inf
            FA.ravel()[voxels[1]] = np.nan
            file["maps/FA"][...] = FA
        run("report", copy)
        page = Page(self.path("infinite.report.html"))
        self.assertTrue((page.picture("FA in") == (200, 0, 200)).all(axis=2).any())
        self.assertEqual(json.loads(page.data)["outputs"]["FA"]["not_finite"], len(voxels[::2]) + 1)
        self.assertTrue(np.isfinite(json.loads(page.data)["outputs"]["FA"]["max"]))


class Output(ReportJobs):
    def test_existing_files_and_inputs_are_not_replaced(self):
        result = self.make("tensor")
        copy = self.path("kept.h5")
        shutil.copy(result, copy)
        run("report", copy)
        before = os.stat(self.path("kept.report.html")).st_ino
        self.assertIn("--overwrite", call("report", copy).stderr)
        self.assertEqual(call("report", copy).returncode, 2)
        self.assertEqual(os.stat(self.path("kept.report.html")).st_ino, before)
        run("report", copy, "--overwrite")
        os.remove(self.path("kept.report.html"))
        self.assertEqual(call("report", copy).returncode, 2)  # the JSON file exists
        self.assertFalse(os.path.exists(self.path("kept.report.html")))
        self.assertEqual(call("report", copy, "--overwrite", "--out", copy).returncode, 2)
        self.assertEqual(call("report", copy, "--overwrite", "--out", f"{self.scan}/bvals").returncode, 2)
        self.assertEqual(call("verify", copy).returncode, 0)
        shutil.copy(copy, self.path("numbers.json"))
        os.symlink("kept.h5", self.path("link.json"))
        for given, page in (("numbers.json", "numbers.html"), ("kept.h5", "link.html"), ("link.json", "link.html")):
            done = call("report", self.path(given), "--out", self.path(page), "--overwrite")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("is also the input --result", done.stderr)
        self.assertEqual(read_bytes(self.path("numbers.json")), read_bytes(copy))

    def test_a_link_that_has_the_name_of_a_file_not_given_is_replaced_and_its_target_stays(self):
        with open(self.path("precious"), "w", encoding="ascii") as file:
            file.write("precious")
        shutil.copy(self.make("tensor"), self.path("implied.h5"))
        for name, words in (("given.json", ["--out", self.path("given.html")]), ("implied.report.html", [])):
            with self.subTest(name=name):
                os.symlink("precious", self.path(name))
                self.assertIn(f"{name} exists", call("report", self.path("implied.h5"), *words).stderr)
                run("report", self.path("implied.h5"), *words, "--overwrite")
                self.assertEqual(read(self.path("precious")), "precious")
                self.assertFalse(os.path.islink(self.path(name)))

    def test_the_same_result_gives_the_same_page(self):
        html, _ = self.report("tensor")
        first = read(html)
        run("report", self.make("tensor"), "--out", self.path("again.html"))
        self.assertEqual(read(self.path("again.html")), first)
        self.assertTrue(os.path.exists(self.path("again.json")))

    def test_what_is_not_a_result_is_refused(self):
        with open(self.path("text.h5"), "w", encoding="utf-8") as file:
            file.write("no")
        for path, status in ((self.path("text.h5"), 65), (self.path("none.h5"), 66)):
            done = call("report", path)
            self.assertEqual((done.returncode, len(done.stderr.strip().splitlines())), (status, 1), done.stderr)
        self.assertEqual(call("report").returncode, 2)
        self.assertFalse(os.path.exists(self.path("text.report.html")))


class Cohort(ReportJobs):
    """Eleven copies of a result; the values of one are far from the others, one is not complete."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(cls.path("cohort.tsv"), "w", encoding="utf-8") as file:
            file.write(f"# template: tensor {' '.join(cls.series)} --backend cpu\nsubject\tout\n")
            for i in range(12):
                out = cls.path(f"subject {i}.h5")
                file.write(f"<b>{i}\t{out}\n")
                if i == 11:
                    continue
                shutil.copy(cls.make("tensor"), out)
                with changed_values(out) as result:
                    result["maps/FA"][...] *= np.float32(0.5 if i == 7 else 1 + 0.001 * i)
        run("report", cls.path("subject 7.h5"))
        run("cohort", cls.path("cohort.tsv"), "--report", cls.path("cohort.html"))
        cls.page = Page(cls.path("cohort.html"))

    def test_names_outliers_first_and_links_them_to_their_pages(self):
        first = [a for tag, a in self.page.elements if tag == "a"][-1]
        self.assertEqual(first["href"], "./subject%207.report.html")
        numbers = json.loads(self.page.data)
        self.assertEqual(numbers["warnings"][0], "1 of 12 subjects are not complete.")
        self.assertEqual(len(numbers["warnings"]), 2, numbers["warnings"])
        self.assertRegex(numbers["warnings"][1], r"^<b>7: the median of FA is far")
        self.assertNotIn("b", [tag for tag, _ in self.page.elements])
        rows = re.findall(r'<th scope="row">(.*?)</th>', self.page.source)
        self.assertIn(">&lt;b&gt;7</a>", rows[0])

    def test_has_the_medians_of_each_subject(self):
        numbers = json.loads(self.page.data)
        self.assertEqual(numbers, json.loads(read(self.path("cohort.json"))))
        for i, name in enumerate(numbers["subjects"]):
            with h5py.File(self.path(f"subject {name[3:]}.h5")) as file:
                inside = file["maps/FA"][()].ravel()[file["items/voxel"][()]]
            self.assertAlmostEqual(numbers["medians"]["FA"][i], quantiles(inside)["median"], places=6)
        fa = np.array(numbers["medians"]["FA"])
        distance = 0.6745 * (fa - np.median(fa)) / np.median(np.abs(fa - np.median(fa)))
        np.testing.assert_allclose(numbers["distances"]["FA"], distance, rtol=1e-6)

    def test_is_not_replaced_without_being_asked_and_not_with_run(self):
        words = ["cohort", self.path("cohort.tsv"), "--report", self.path("cohort.html")]
        self.assertEqual(call(*words).returncode, 2)
        self.assertEqual(call(*words, "--run", "1").returncode, 2)
        done = call(*words, "--overwrite")
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"{self.path('cohort.html')} written, with its numbers in {self.path('cohort.json')}", done.stderr)


class Open(ReportJobs):
    def start(self, name, **variables):
        shutil.copy(self.make("tensor"), self.path(name))
        at = self.path("bin")
        os.makedirs(at, exist_ok=True)
        with open(os.path.join(at, "xdg-open"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" > "{self.path("opened")}"\nexit ${{XDG_STATUS:-0}}\n')
        os.chmod(os.path.join(at, "xdg-open"), 0o755)
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        environment.update(variables, PATH=f"{at}:{os.environ['PATH']}")
        return call("report", name, "--open", env=environment, cwd=self.folder)

    def test_gives_the_page_to_xdg_open_without_a_shell(self):
        name = "a b;$(touch made)`touch made`.h5"
        done = self.start(name, DISPLAY=":9")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.path(name.replace(".h5", ".report.html"))
        self.assertEqual(read(self.path("opened")).splitlines(), ["1", page])
        self.assertFalse(os.path.exists(self.path("made")))

    def test_given_a_second_time_it_shows_the_page_that_exists(self):
        self.assertEqual(self.start("twice.h5", DISPLAY=":9").returncode, 0)
        page = self.path("twice.report.html")
        before = os.stat(page).st_ino
        os.remove(self.path("opened"))
        done = self.start("twice.h5", DISPLAY=":9")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("twice.report.html exists and is shown as it is; --overwrite makes it anew", done.stdout)
        self.assertEqual(read(self.path("opened")).splitlines(), ["1", page])
        self.assertEqual(os.stat(page).st_ino, before)

    def test_without_a_display_or_browser_it_says_which_page_to_open(self):
        done = self.start("nowhere.h5")
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"no display; open {self.path('nowhere.report.html')}", done.stdout)
        done = self.start("failing.h5", WAYLAND_DISPLAY="w", XDG_STATUS="3")
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"open {self.path('failing.report.html')}", done.stdout)


if __name__ == "__main__":
    unittest.main()
