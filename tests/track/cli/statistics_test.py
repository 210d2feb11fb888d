"""voxherd export --to csv --statistics-of: means of images in tracts, along paths and between regions."""
import csv
import os
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, USAGE
from toy_jobs import voxherd
from track_jobs import SIZE, TrackJobs, maps
from trx_groups import read_groups


class Statistics(TrackJobs):
    def setUp(self):
        super().setUp()
        self.ramp = np.tile(np.arange(SIZE[0], dtype=float)[:, None, None], (1, *SIZE[1:]))
        self.image = self.write("ramp.nii", self.ramp)

    def export(self, result, *options, out="csv"):
        rc, _, output = voxherd("export", result, "--to", "csv", self.path(out), "--overwrite", *options)
        self.assertEqual(rc, 0, output)
        return self.path(out)

    def table(self, folder, name):
        with open(os.path.join(folder, name), newline="") as file:
            return list(csv.DictReader(file))

    def protocols(self):
        for name, box in (("left", np.s_[5, 3:5, 3]), ("right", np.s_[15, 4, 3])):
            self.mask(f"protocols/{name}/seed", box)
        self.mask("protocols/right/stop", np.s_[18, :, :])
        return self.path("protocols")

    def test_a_tract_has_its_volume_and_means_and_medians_weighted_by_its_density(self):
        out = self.make("tracts.h5", "--samples", self.samples("samples", spread=.05), "--tracts", self.protocols(), "--tract-samples", 200)
        rows = self.table(self.export(out, "--statistics-of", self.image, "--tract-threshold", .1), "tracts.csv")
        self.assertEqual([row["tract"] for row in rows], ["left", "right"])
        for row in rows:
            density = maps(out)[f"density_{row['tract']}"].astype(float)
            waytotal = float(row["waytotal"])
            self.assertGreater(waytotal, 100)
            density[density < .1 * waytotal] = 0
            inside = density > 0
            self.assertEqual(int(row["voxels"]), inside.sum())
            self.assertEqual(float(row["volume_mm3"]), 8 * inside.sum())
            self.assertAlmostEqual(float(row["mean_ramp"]), (self.ramp * density).sum() / density.sum(), places=4)
            values = np.repeat(self.ramp[inside], density[inside].astype(int))
            self.assertAlmostEqual(float(row["median_ramp"]), np.median(values), places=6)
        # Without images: numbers of streamlines and volumes. One tract alone: the same table.
        self.assertEqual(list(self.table(self.export(out, out="plain"), "tracts.csv")[0]),
                         ["tract", "started", "waytotal", "voxels", "volume_mm3"])
        alone = self.make("alone.h5", "--samples", self.path("samples"), "--seed-image", self.path("protocols/left/seed.nii"),
                          "--samples-per-seed", 200)
        again = self.table(self.export(alone, "--statistics-of", self.image, "--tract-threshold", .1, out="alone"), "tracts.csv")[0]
        self.assertEqual({**again, "tract": "left"}, rows[0])

    def test_an_image_on_another_grid_is_read_at_the_same_place_in_the_world(self):
        fine = np.repeat(np.repeat(np.repeat(self.ramp, 2, 0), 2, 1), 2, 2)
        other = self.write("fine.nii", fine, sform=[[1, 0, 0, -.5], [0, 1, 0, -.5], [0, 0, 1, -.5]])
        out = self.make("tracts.h5", "--samples", self.samples(), "--tracts", self.protocols(), "--tract-samples", 20)
        row = self.table(self.export(out, "--statistics-of", self.image, other), "tracts.csv")[0]
        self.assertEqual(row["mean_ramp"], row["mean_fine"])

    def test_regions_have_the_mean_along_the_halves_that_join_them(self):
        labels = self.mask("labels", np.s_[5, 3, 3], np.s_[10, 3, 3], np.s_[15, 3, 3])
        kept = self.path("kept.h5")
        out = self.make("out.h5", "--samples", self.samples(), "--connectome", labels, "--samples-per-seed", 20, "--paths", kept)
        folder = self.export(kept, "--statistics-of", self.image)
        rows = self.table(folder, "paths.csv")
        # Each region that a half reaches, not only the last one.
        self.assertEqual({(row["from"], row["to"]) for row in rows},
                         {("1", "2"), ("1", "3"), ("2", "1"), ("2", "3"), ("3", "1"), ("3", "2")})
        with open(os.path.join(folder, "mean_ramp.csv")) as file:
            text = list(csv.reader(file))
        self.assertEqual([text[0][1:], [row[0] for row in text[1:]]], [["1", "2", "3"]] * 2)
        found = np.array([[float(value) for value in row[1:]] for row in text[1:]])
        # From voxel 10 to the mask's end at 1 or 22, and from 5 and 15 to the other end.
        np.testing.assert_array_equal(np.isnan(found), np.eye(3))
        self.assertNotIn("-nan", str(text))
        np.testing.assert_allclose([found[1, 0], found[1, 2]], [(10 + 1) / 2, (10 + 22) / 2], atol=.5)
        np.testing.assert_allclose([found[0, 1:], found[2, :2]], [[(5 + 22) / 2] * 2, [(15 + 1) / 2] * 2], atol=.5)
        # The connectome's own file: its matrices, and the density as a tract.
        names = os.listdir(self.export(out, "--statistics-of", self.image, out="connectome"))
        self.assertEqual(sorted(names), ["count.csv", "nodes.tsv", "share.csv", "tracts.csv"])

    def test_means_and_groups_are_over_the_streamlines_that_the_matrix_counts(self):
        chance = np.random.default_rng(4)
        parts = np.zeros(SIZE)
        parts[1:-1, 1:-1, 1:-1] = chance.integers(0, 6, tuple(np.array(SIZE) - 2))
        kept = self.path("kept.h5")
        out = self.make("out.h5", "--samples", self.samples(spread=.3), "--connectome", self.write("parts.nii", parts), "--samples-per-seed", 3,
                        "--seed-radius", 1, "--paths", kept, "--max-paths", 10**6)
        with open(os.path.join(self.export(out, out="counts"), "count.csv")) as file:
            count = np.array([[int(value) for value in row] for row in csv.reader(file)])
        rows = self.table(self.export(kept, "--statistics-of", self.image), "paths.csv")
        found = np.zeros_like(count)
        for row in rows:
            found[int(row["from"]) - 1, int(row["to"]) - 1] += 1
        self.assertGreater(count.sum(), 3000)
        np.testing.assert_array_equal(found, count)
        self.assertEqual(voxherd("export", kept, "--to", "trx", self.path("kept.trx"))[0], 0)
        groups = {name: len(fibres) for name, (fibres, _) in read_groups(self.path("kept.trx")).items()}
        self.assertEqual(groups, {f"{i + 1}-{j + 1}": count[i, j] + count[j, i] for i in range(5) for j in range(i + 1, 5)})

    def test_means_and_groups_are_of_the_regions_at_the_ends(self):
        # A region in the middle that all streamlines pass, and two at the ends; the third row of seeds ends in one region only.
        labels = self.mask("labels", np.s_[0:3, 3:5, 3], np.s_[10, 3:6, 3], np.s_[21:24, 3:6, 3])
        seeds, kept = self.mask("seeds", np.s_[8, 3:6, 3]), self.path("kept.h5")
        out = self.make("out.h5", "--samples", self.samples(), "--connectome", labels, "--seed-image", seeds, "--samples-per-seed", 20, "--paths", kept,
                        "--join-regions", "ends")
        with open(os.path.join(self.export(out, out="counts"), "count.csv")) as file:
            self.assertEqual([[int(value) for value in row] for row in csv.reader(file)], [[0, 0, 40], [0, 0, 0], [40, 0, 0]])
        folder = self.export(kept, "--statistics-of", self.image)
        rows = self.table(folder, "paths.csv")
        self.assertEqual(len(rows), 60)
        self.assertEqual(sorted({tuple(sorted((int(row["from"]), int(row["to"])))) for row in rows}), [(0, 3), (1, 3)])
        with open(os.path.join(folder, "mean_ramp.csv")) as file:
            found = np.array([[float(value) for value in row[1:]] for row in list(csv.reader(file))[1:]])
        self.assertEqual(np.argwhere(np.isfinite(found)).tolist(), [[0, 2], [2, 0]])
        np.testing.assert_allclose([found[0, 2], found[2, 0]], (.5 + 22.5) / 2, atol=.5)
        self.assertEqual(voxherd("export", kept, "--to", "trx", self.path("kept.trx"))[0], 0)
        self.assertEqual({name: len(fibres) for name, (fibres, _) in read_groups(self.path("kept.trx")).items()}, {"1-3": 40})

    def test_regions_that_a_table_names_and_the_image_lacks_are_rows_of_zeros(self):
        labels = self.mask("labels", np.s_[5, 3, 3], np.s_[10, 3, 3], np.s_[15, 3, 3])
        names, kept = self.path("names.txt"), self.path("kept.h5")
        with open(names, "w", encoding="utf-8") as file:
            file.write("0 Unknown\n1 a\n2 b\n3 c\n4 d\n9 e\n")
        options = ("--samples", self.samples(), "--connectome", labels, "--samples-per-seed", 5)
        out = self.make("out.h5", *options, "--region-names", names, "--paths", kept)
        plain = self.make("plain.h5", *options)

        def matrix(result, name, *more):
            with open(os.path.join(self.export(result, *more, out=name), f"{name}.csv")) as file:
                return list(csv.reader(file))

        rows, fewer = matrix(out, "count"), matrix(plain, "count")
        self.assertEqual([rows[0], [row[0] for row in rows]], [["", "a", "b", "c", "d", "e"]] * 2)
        self.assertEqual([row[1:4] for row in rows[1:4]], fewer)
        self.assertEqual({value for row in rows[4:] for value in row[1:]} | {value for row in rows[1:] for value in row[4:]}, {"0"})
        self.assertEqual([row[0] for row in matrix(kept, "mean_ramp", "--statistics-of", self.image)], ["", "a", "b", "c", "d", "e"])
        rc, output = self.launch(self.path("warned.h5"), *options, "--region-names", names)
        self.assertEqual(rc, 0, output)
        self.assertIn("2 of the 5 regions", output)

    def test_mistakes_are_named(self):
        out = self.make("out.h5", "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 3, 3]), "--samples-per-seed", 5)
        os.mkdir(self.path("twice"))
        self.write("twice/ramp.nii", self.ramp)
        for words, expected in ((("--to", "nifti", self.path("x"), "--statistics-of", self.image), "--statistics-of has no meaning with --to nifti"),
                                (("--to", "csv", self.path("x"), "--statistics-of", self.image, self.path("twice/ramp.nii")),
                                 "two images are called ramp")):
            rc, _, output = voxherd("export", out, *words)
            self.assertEqual(rc, USAGE, output)
            self.assertIn(expected, output)
        matrix = self.path("m.h5")
        self.make("with.h5", "--samples", self.path("samples"), "--seed-image", self.path("seeds.nii"), "--samples-per-seed", 5, "--matrix1", matrix)
        rc, _, output = voxherd("export", matrix, "--to", "csv", self.path("x"), "--statistics-of", self.image)
        self.assertEqual(rc, BAD_DATA, output)
        self.assertIn("without tracts or paths", output)


if __name__ == "__main__":
    unittest.main()
