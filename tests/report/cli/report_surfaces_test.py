"""Surfaces in voxherd report: their pictures agree with a slow drawing of the values that the results hold."""
import html
import json
import re
import shutil
import sys
import unittest

try:
    import h5py
    import nibabel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import numpy as np
from program import run
from report_pages import RESULTS, Page, ReportJobs

VIRIDIS = np.array([(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99),
                    (170, 220, 50), (253, 231, 37)], float)
NO_VALUE, ZERO = (175, 175, 175), (80, 80, 80)


def colours(values, window):
    """Of counts: logarithmic."""
    t = np.clip(np.log1p(values) / np.log1p(window["last"]), 0, 1) if window["logarithmic"] else np.clip(
        (values - window["first"]) / (window["last"] - window["first"]), 0, 1)
    shown = np.stack([np.interp(t * (len(VIRIDIS) - 1), np.arange(len(VIRIDIS)), VIRIDIS[:, k]) for k in range(3)], axis=-1)
    shown[values == 0] = ZERO
    return shown


def load(path):
    """Points (mm) and triangles of FreeSurfer's text."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    points, triangles = (int(n) for n in lines[0].split())
    rows = np.array([line.split() for line in lines[1:]], float)
    return rows[:points, :3], rows[points:points + triangles, :3].astype(int)


class Drawing:
    """A flat surface that faces the viewer, drawn slowly."""

    def __init__(self, picture, shape, points, triangles):
        self.axis = {"x": 0, "y": 1, "z": 2}
        across, up = picture["across"], picture["up"]
        self.picture, self.shape, self.triangles = picture, shape, triangles
        self.sign = -1 if across.startswith("-") else 1
        self.flat = np.stack([points[:, self.axis[across[-1]]], points[:, self.axis[up]]], axis=1)

    def pixel(self, vertex):
        """Row and column."""
        mm, p = self.flat[vertex], self.picture
        return (int((p["top_mm"] - mm[1]) / p["mm_per_pixel"]), int(self.sign * (mm[0] - p["left_mm"]) / p["mm_per_pixel"]))

    def draw(self, values, window):
        """Colours where all four parts of a pixel are inside triangles with three values, elsewhere not a number."""
        p, fine = self.picture, 2
        height, width = fine * np.array(self.shape[:2])
        x = p["left_mm"] + self.sign * p["mm_per_pixel"] * (np.arange(width) + 0.5) / fine
        y = p["top_mm"] - p["mm_per_pixel"] * (np.arange(height) + 0.5) / fine
        x, y = np.meshgrid(x, y)
        drawn = np.full((height, width), np.nan)
        for corners in self.triangles:
            a, b, c = self.flat[corners]
            area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
            u = ((b[0] - x) * (c[1] - y) - (b[1] - y) * (c[0] - x)) / area
            v = ((c[0] - x) * (a[1] - y) - (c[1] - y) * (a[0] - x)) / area
            inside = (u > 1e-6) & (v > 1e-6) & (1 - u - v > 1e-6)
            drawn[inside] = (u * values[corners[0]] + v * values[corners[1]] + (1 - u - v) * values[corners[2]])[inside]
        fine_colours = colours(drawn, window)
        fine_colours[np.isnan(drawn)] = np.nan
        return fine_colours.reshape(height // fine, fine, width // fine, fine, 3).mean(axis=(1, 3))


class SurfacePages(ReportJobs):
    def open(self, result):
        """The page and its numbers of surfaces."""
        out = self.path("shown.html")
        run("report", result, "--out", out, "--overwrite")
        page = Page(out)
        return page, json.loads(page.data).get("surfaces", {})

    def seed_values(self, name="accepted", columns=1, points=169):
        with h5py.File(self.make("surfaces")) as file:
            values = np.full(points, np.nan)
            values[file["seeds/place"][()].astype(int)] = file[f"seeds/{name}"][()].reshape(-1, columns)[:, 0]
        return values

    def compare(self, page, shown, name, file, values):
        pictures = [p for p in shown[name]["pictures"] if p["surface"] == file]
        points, triangles = load(self.path(file))
        checked = 0
        for picture in pictures:
            if "x" in picture["across"]:
                continue  # seen along its plane
            image = page.picture(f"{name} on {file} seen {picture['seen']}")
            drawing = Drawing(picture, image.shape, points, triangles)
            expected = drawing.draw(values, shown[name])
            known = np.isfinite(expected).all(axis=-1)
            self.assertGreater(known.sum(), 1000)
            self.assertLessEqual(np.abs(expected[known] - image[known]).max(), 1.5, (name, picture))
            inside = np.all((drawing.flat > drawing.flat.min(0) + 1) & (drawing.flat < drawing.flat.max(0) - 1), axis=1)
            for vertex in np.flatnonzero(np.isnan(values) & inside):
                if points[vertex, 2] < points[np.isfinite(values), 2].min() - 3:
                    row, column = drawing.pixel(vertex)
                    self.assertEqual(tuple(image[row, column]), NO_VALUE)
                    checked += 1
        self.assertEqual(len(pictures), 3)
        return checked

    def test_seeds_have_the_colours_of_their_accepted_streamlines_and_others_are_light_grey(self):
        page, shown = self.open(self.make("surfaces"))
        accepted = self.seed_values()
        self.assertGreater(len(np.unique(accepted[np.isfinite(accepted)])), 1)
        self.assertEqual((shown["accepted"]["first"], shown["accepted"]["last"]), (0, np.nanmax(accepted)))
        self.assertNotIn("is not drawn", page.text)
        self.assertGreater(self.compare(page, shown, "accepted", "seeds.asc", accepted), 10)
        self.compare(page, shown, "seeds_to_stop.asc", "seeds.asc", self.seed_values("hits"))

    def test_other_surfaces_have_the_density_of_their_vertices_voxels(self):
        page, shown = self.open(self.make("surfaces"))
        with h5py.File(self.make("surfaces")) as file:
            density, affine = file["maps/density"][()], file["image"].attrs["voxel_to_world"].reshape(4, 4)
        for name in ("stop.asc", "target.asc"):
            points, _ = load(self.path(name))
            x, y, z = np.rint((points - affine[:3, 3]) @ np.linalg.inv(affine[:3, :3]).T).astype(int).T
            self.assertGreater(density[z, y, x].max(), 0)
            self.compare(page, shown, "density", name, density[z, y, x].astype(float))
        self.assertNotIn("seeds.asc", [p["surface"] for p in shown["density"]["pictures"]])

    def test_the_figure_has_letters_a_bar_a_table_and_names_of_sides(self):
        page, shown = self.open(self.make("surfaces"))
        figure = re.search(r"<figure[^>]*>\s*<h3>accepted on surfaces</h3>.*?</figure>", page.source, re.S)[0]
        self.assertEqual(re.findall(r'<span class="mark (begin|end)"[^>]*>(\w)<', figure),
                         [("begin", "A"), ("end", "P"), ("begin", "P"), ("end", "A"), ("begin", "L"), ("end", "R")])
        self.assertIn("accepted on seeds.asc seen from the left.", figure)
        self.assertIn("Dark grey vertices have a count of 0", figure)
        accepted = self.seed_values()
        row = re.search(r'<th scope="row">seeds.asc</th>(.*?)</tr>', figure)[1]
        self.assertEqual([int(n) for n in re.findall(r"<td>(\d+)</td>", row)][:3],
                         [169, np.isfinite(accepted).sum(), (accepted > 0).sum()])
        run("report", self.make("surfaces"), "--out", self.path("shown.html"), "--overwrite", "--radiological")
        turned = Page(self.path("shown.html"))
        self.assertIn("accepted on seeds.asc seen from below.", turned.source)
        figure = re.search(r"<h3>accepted on surfaces</h3>.*?</figure>", turned.source, re.S)[0]
        self.assertEqual(re.findall(r'<span class="mark (?:begin|end)"[^>]*>(\w)<', figure)[-2:], ["R", "L"])

    def test_a_surface_of_a_known_hemisphere_is_seen_from_both_of_its_sides(self):
        points, triangles = load(self.path("seeds.asc"))
        arrays = [nibabel.gifti.GiftiDataArray(points.astype("f4"), intent="NIFTI_INTENT_POINTSET",
                                               meta=nibabel.gifti.GiftiMetaData({"AnatomicalStructurePrimary": "CortexRight"})),
                  nibabel.gifti.GiftiDataArray(triangles.astype("i4"), intent="NIFTI_INTENT_TRIANGLE")]
        nibabel.save(nibabel.gifti.GiftiImage(darrays=arrays), self.path("R.surf.gii"))
        out = self.path("right.h5")
        run("track", "--samples", self.make("ballstick"), "--seed-image", self.path("R.surf.gii"), "--samples-per-seed", "2",
            "--backend", "cpu", "--threads", "1", "--quiet", "--out", out, "--overwrite")
        _, shown = self.open(out)
        self.assertEqual([p["seen"] for p in shown["accepted"]["pictures"]], ["lateral, from the right", "medial, from the left"])
        with open(self.path("shown.html"), encoding="utf-8") as file:
            methods = html.unescape(re.search("<blockquote><p>(.*?)</p>", file.read(), re.S)[1])
        self.assertIn("2 streamlines per seed,", methods)
        self.assertIn("Streamlines started in 169 seeds.", methods)

    def test_a_matrix_has_the_sums_of_its_rows_and_columns(self):
        self.make("surfaces")
        one, two, three = (self.path(f"matrix{n}.h5") for n in (1, 2, 3))
        run("track", "--samples", self.make("ballstick"), "--seed-image", self.path("seeds.asc"), "--samples-per-seed", "20",
            "--matrix1", one, "--matrix2", two, "--target2", self.path("target.asc"), "--matrix3", three, "--target3",
            self.path("stop.asc"), "--backend", "cpu", "--threads", "1", "--quiet", "--out", self.path("sums.h5"), "--overwrite")
        for path, sides in (one, ("row", "column")), (two, ("row", "column")), (three, ("both",)):
            page, shown = self.open(path)
            with h5py.File(path) as file:
                offset = file["points/offset"][()]
                row, column, count = np.repeat(np.arange(len(offset) - 1), np.diff(offset)), file["points/column"][()], file["points/count"][()]
                place = {side: file[f"matrix/{side}_place"][()].astype(int) for side in ("row", "column")}
            self.assertGreater(count.sum(), 0)
            for side in sides:
                values = np.full(169, np.nan)
                at, sums = (row, place["row"]) if side != "column" else (column, place["column"])
                values[sums] = np.bincount(at, count, len(sums))
                if side == "both":
                    values[sums] += np.bincount(column, count * (row != column), len(sums))
                name = {"both": "row_sum", "row": "row_sum", "column": "column_sum"}[side]
                self.compare(page, shown, name, {one: "seeds.asc", two: "target.asc" if side == "column" else "seeds.asc",
                                                 three: "stop.asc"}[path], values)

    def test_a_matrix_by_fibre_has_the_sums_of_the_rows_of_its_surface(self):
        self.make("surfaces")
        four = self.path("matrix4.h5")
        mask = f"{self.scan}/nodif_brain_mask.nii.gz"
        run("track", "--samples", self.make("ballstick"), "--seed-image", mask, "--samples-per-seed", "1", "--matrix4", four,
            "--target4", mask, "--matrix4-rows", self.path("stop.asc"), "--backend", "cpu", "--threads", "1", "--quiet", "--out",
            self.path("fibres.h5"), "--overwrite")
        page, shown = self.open(four)
        with h5py.File(four) as file:
            sums = np.add.reduceat(np.append(file["points/count"][()], 0), file["points/offset"][:-1])
            sums[np.diff(file["points/offset"][()]) == 0] = 0
            values = np.full(169, np.nan)
            values[file["matrix/row_place"][()].astype(int)] = sums
        self.assertGreater(sums.sum(), 0)
        self.compare(page, shown, "row_sum", "stop.asc", values)

    def test_a_missing_or_changed_surface_is_a_sentence(self):
        result = self.make("surfaces")
        shutil.move(self.path("stop.asc"), self.path("kept.asc"))
        self.addCleanup(shutil.move, self.path("kept.asc"), self.path("stop.asc"))
        shutil.copy(self.path("target.asc"), self.path("target.kept"))
        self.addCleanup(shutil.move, self.path("target.kept"), self.path("target.asc"))
        with open(self.path("target.asc"), "a", encoding="utf-8") as file:
            file.write("\n")
        page, shown = self.open(result)
        self.assertIn("target.asc is not drawn: ", page.text)
        self.assertIn("has changed since the result was computed", page.text)
        self.assertEqual([p["surface"] for p in shown["accepted"]["pictures"]], ["seeds.asc"] * 3)
        self.assertNotIn("density", shown)

    def test_results_without_surfaces_have_no_such_chapter(self):
        for name in set(RESULTS) - {"surfaces"}:
            page, shown = self.open(self.make(name))
            self.assertEqual(shown, {})
            self.assertNotIn("Surfaces", [text for _, text in page.headings])


del ReportJobs

if __name__ == "__main__":
    unittest.main()
