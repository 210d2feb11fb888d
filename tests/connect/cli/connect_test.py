"""voxherd connect: costs, pathways, connectomes, paths, errors."""
import csv
import json
import os
import re
import unittest

import numpy as np
from connect_jobs import ConnectJobs, Maps
from geodesic_jobs import Result
from toy_jobs import h5py, voxherd
from trx_groups import read_groups

try:
    import nibabel
    from white_matter_phantom import WhiteMatterPhantom
except ImportError:
    nibabel = None

USAGE, BAD_DATA, MISSING = 2, 65, 66
needs_nibabel = unittest.skipIf(nibabel is None, "python3-nibabel is not installed")


@needs_nibabel
class Units(ConnectJobs):
    """Free diffusion, where arrival times are distance over the square root of the diffusivity."""
    SIDE, ZOOM = 21, np.array([2.0, 2.0, 2.5])

    def tensors(self, diffusivity):
        path = self.path(f"D{diffusivity}.nii")
        data = np.zeros((self.SIDE,) * 3 + (6,), np.float32)
        data[..., :3] = diffusivity  # MRtrix: xx, yy, zz first
        nibabel.save(nibabel.Nifti1Image(data, np.diag([*self.ZOOM, 1])), path)
        return path

    def arrival(self, diffusivity, *options):
        tensors, out = self.tensors(diffusivity), self.path("out.h5")
        rc, output = self.launch(out, "--from-point", "20,20,25", "--to-point", "34,20,25", "--overwrite", *options,
                               scan=("--tensor", tensors, "--tensor-from", "mrtrix"))
        self.assertEqual(rc, 0, output)
        result = Maps(out)
        return result, result.maps["arrival_from"].transpose(2, 1, 0)

    def test_costs_are_distance_over_the_root_of_the_diffusivity(self):
        middle = np.array([10, 10, 10])
        place = np.stack(np.meshgrid(*[np.arange(self.SIDE)] * 3, indexing="ij"), -1)
        distance = np.linalg.norm((place - middle) * self.ZOOM, axis=-1)
        for metric in ("jeong", "inverse"):
            for diffusivity in (0.0007, 0.003):
                result, arrival = self.arrival(diffusivity, "--metric", metric)
                expected = distance / np.sqrt(diffusivity)
                axis = (arrival[:, 10, 10], expected[:, 10, 10])
                np.testing.assert_allclose(*axis, rtol=1e-5)
                # Second order, exact within three voxels: the error is largest along diagonals.
                self.assertLess(np.abs(arrival - expected).sum() / expected.sum(), 0.01)
                self.assertEqual(result.unit["arrival_from"], "s^(1/2)")
                self.assertAlmostEqual(result.pathway["cost"][0], 14 / np.sqrt(diffusivity), delta=1e-3 * 14 / np.sqrt(diffusivity))
                self.assertAlmostEqual(result.pathway["length_mm"][0], 14, delta=0.5)

    def test_the_other_metrics_have_costs_in_their_own_unit(self):
        for metric, factor in ((("power", "--alpha", "2"), 1 / 0.0007), (("adjugate",), 0.0007)):
            result, arrival = self.arrival(0.0007, "--metric", *metric)
            self.assertAlmostEqual(arrival[17, 10, 10] / (14 * factor), 1, delta=1e-5)
            self.assertEqual(result.unit["total"], "metric")


class Pathway(ConnectJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.whole = os.path.join(cls.shared, "whole")
        os.mkdir(cls.whole)
        cls.out, cls.paths, cls.arrivals = (os.path.join(cls.whole, f"{n}.h5") for n in ("out", "paths", "arrivals"))
        case = cls("run_once")
        rc, cls.output = case.launch(cls.out, *case.end_regions(1, 2), "--paths", cls.paths, "--arrivals", cls.arrivals,
                                   "--epsilon", "0.1")
        assert rc == 0, cls.output
        cls.result = Maps(cls.out)

    def run_once(self):
        pass

    def test_the_steps_files_are_the_requested_ones(self):
        self.assertEqual(sorted(os.listdir(self.whole)), ["arrivals.h5", "out.h5", "paths.h5"])
        for name in (self.out, self.paths, self.arrivals):
            self.assertEqual(voxherd("verify", name)[0], 0)

    def test_maps_match_their_names(self):
        r = self.result
        start, total = r.inside("arrival_from"), r.inside("total")
        self.assertEqual((start == 0).sum(), 20)
        np.testing.assert_array_equal(total, start + r.inside("arrival_to"))
        least = r.pathway["cost"][0]
        self.assertEqual(total.min(), np.float32(least))
        np.testing.assert_allclose(r.inside("excess"), (total - least) / least, atol=1e-6)
        rows = Maps(self.arrivals).samples
        np.testing.assert_array_equal(rows["arrival"], [start, r.inside("arrival_to")])
        self.assertEqual(rows["cost"][0, 1], r.pathway["cost_from_at_to"][0])
        costs = [r.pathway[f"cost{n}"][0] for n in ("", "_from_at_to", "_to_at_from")]
        self.assertAlmostEqual(r.pathway["gap"][0], max(costs) / min(costs) - 1, places=6)
        self.assertLess(r.pathway["gap"][0], 0.1)

    def test_the_pathway_is_connected_and_as_large_as_in_the_curve(self):
        r = self.result
        inside = r.maps["pathway"].astype(bool)
        limit = 1.1 * (1 + r.pathway["joining_excess"][0]) - 1
        self.assertLessEqual(r.maps["excess"][inside].max(), limit)
        place = np.argwhere(inside)
        reached, border = {tuple(place[0])}, [place[0]]
        everything = set(map(tuple, place))
        while border:
            at = border.pop()
            for step in np.ndindex(3, 3, 3):
                other = tuple(at + np.array(step) - 1)
                if other in everything - reached:
                    reached.add(other)
                    border.append(np.array(other))
        self.assertEqual(reached, everything)
        for end in ("arrival_from", "arrival_to"):
            self.assertTrue((r.maps[end][inside] == 0).any())
        volume, epsilon = r.pathway["volume_mm3"], r.pathway["epsilon"]
        self.assertEqual(len(epsilon), 40)
        self.assertTrue((np.diff(volume) >= 0).all() and volume[0] > 0)
        own = inside.sum() * 2.5 ** 3
        self.assertTrue(volume[epsilon < 0.1][-1] <= own <= volume[epsilon > 0.1][0])
        self.assertRegex(self.output, rf"pathway at --epsilon 0.1: {inside.sum()} voxels")
        self.assertTrue((r.pathway["min_FA"] <= r.pathway["mean_FA"]).all())

    def test_paths_run_from_region_to_region_at_the_cost_of_their_voxel(self):
        fibres = Result(self.paths)
        self.assertGreater(len(fibres), 50)
        with h5py.File(self.out) as f:
            to_world = f["image"].attrs["voxel_to_world"].reshape(4, 4)
        inverse = np.linalg.inv(to_world)
        total, start, end = (self.result.maps[n].ravel() for n in ("total", "arrival_from", "arrival_to"))
        for i, points in enumerate(fibres):
            length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
            self.assertAlmostEqual(length, fibres.samples["length_mm"][i], delta=1e-3)
            self.assertEqual(fibres.samples["cost"][i], total[fibres.voxel[i]])
            self.assertAlmostEqual(fibres.samples["path_cost"][i] / fibres.samples["cost"][i], 1, delta=0.25)
            for point, arrival in ((points[0], start), (points[-1], end)):
                x, y, z = np.rint(inverse[:3, :3] @ point + inverse[:3, 3]).astype(int)
                self.assertEqual(arrival[x + 20 * (y + 20 * z)], 0)
        self.assertTrue((fibres.samples["regions"] == (1, 2)).all())

    @needs_nibabel
    def test_nibabel_reads_the_exported_paths(self):
        fibres = Result(self.paths)
        tck = self.path("paths.tck")
        self.assertEqual(voxherd("export", self.paths, "--to", "tck", tck)[0], 0)
        streamlines = nibabel.streamlines.load(tck).streamlines
        self.assertEqual(len(streamlines), len(fibres))
        for mine, theirs in zip(fibres, streamlines):
            np.testing.assert_allclose(mine, theirs, atol=1e-4)

    def test_fewer_paths_are_sampled_from_the_complete_pathway(self):
        paths = self.path("few.h5")
        rc, output = self.launch(self.path("out.h5"), *self.end_regions(1, 2), "--paths", paths, "--max-paths", "7",
                               "--epsilon", "0.1")
        self.assertEqual(rc, 0, output)
        few, all_costs = Result(paths).samples["cost"], Result(self.paths).samples["cost"]
        self.assertEqual(len(few), 7)
        self.assertEqual(few[0], all_costs.min())
        self.assertGreater(few[-1], np.median(all_costs))

    def test_another_order_of_the_ends_gives_the_same_pathway(self):
        out = self.make("back.h5", *self.end_regions(2, 1), "--epsilon", "0.1")
        back = Maps(out)
        np.testing.assert_array_equal(back.maps["arrival_to"], self.result.maps["arrival_from"])
        np.testing.assert_array_equal(back.maps["pathway"], self.result.maps["pathway"])


def smoothed(values, times):
    for _ in range(times):
        for axis in range(3):
            values = (np.roll(values, 1, axis) + 2 * values + np.roll(values, -1, axis)) / 4
    return values


@needs_nibabel
class Neighbours(ConnectJobs):
    """16 regions side by side in noisy, curved fibres. Stencils reach across voxels whose tensors point elsewhere."""
    SIZE = (20, 20, 10)

    def save(self, name, values):
        nibabel.save(nibabel.Nifti1Image(values, np.diag([2, 2, 2, 1])), self.path(name))
        return self.path(name)

    def tensors(self):
        random = np.random.default_rng(2)
        fibre = smoothed(random.normal(size=(*self.SIZE, 3)), 4)
        fibre /= np.linalg.norm(fibre, axis=-1, keepdims=True)
        size = 2e-4 * np.exp(0.5 * smoothed(random.normal(size=(*self.SIZE, 1, 1)), 1))
        d = size * (np.eye(3) + 2 * fibre[..., :, None] * fibre[..., None, :])
        return self.save("tensors.nii", np.stack([d[..., i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
                                                 -1).astype(np.float32))

    def regions(self, gap):
        """16 blocks of 5 x 5 x 6 voxels that touch, or that have `gap` voxels between them."""
        labels = np.zeros(self.SIZE, np.int16)
        for i in range(16):
            x, y = 5 * (i // 4), 5 * (i % 4)
            labels[x + gap:x + 5, y + gap:y + 5, 2:8] = i + 1
        return self.save(f"regions{gap}.nii", labels)

    def test_paths_of_neighbouring_regions_cost_at_most_twice_the_arrival_time(self):
        tensors = self.tensors()
        for gap in (0, 1):
            out, arrivals, paths = (self.path(f"{name}{gap}.h5") for name in ("out", "arrivals", "paths"))
            labels = self.regions(gap)
            rc, output = self.launch(out, "--connectome", labels, "--arrivals", arrivals, "--paths", paths,
                                     scan=("--tensor", tensors, "--tensor-from", "mrtrix"))
            self.assertEqual(rc, 0, output)
            m, rows, off = Maps(out).connectome, Maps(arrivals).samples, ~np.eye(16, dtype=bool)
            # From one side only, some paths are detours.
            self.assertGreater((rows["path_cost"][off] / rows["cost"][off]).max(), 2.5)
            self.assertLess((m["path_cost"][off] / ((m["cost"] + m["cost"].T) / 2)[off]).max(), 2)
            np.testing.assert_array_equal(m["path_cost"], np.minimum(rows["path_cost"], rows["path_cost"].T))
            asymmetry = m["asymmetry"][np.triu_indices(16, 1)]
            self.assertIn(f"largest {100 * asymmetry.max():.2g} %", output)
            self.assertRegex(output, r"asymmetry median [\d.]+ %")
            self.assertIn("path_cost over cost: median", output)
            self.check_detours(m, Result(paths).samples, output)
            self.check_fibres(Result(paths), nibabel.load(labels).get_fdata().astype(int), m["path_cost"])

    def check_detours(self, m, fibres, output):
        """Flagged are the pairs that the log counts: above 1.5 times the cost of the end from which the path is traced."""
        np.testing.assert_array_equal(m["detour"], m["detour"].T)
        excess = m["path_cost"] / np.where(np.eye(len(m["cost"])), np.inf, m["cost"])
        self.assertTrue((np.maximum(excess, excess.T) > 1.5)[m["detour"] == 1].all())
        self.assertFalse((np.minimum(excess, excess.T) > 1.5)[m["detour"] == 0].any())
        flagged = int(m["detour"].sum()) // 2
        self.assertGreater(flagged, 0)
        self.assertIn(f"{flagged} of 120 paths cost more than 1.5 times the arrival time", output)
        np.testing.assert_array_equal(fibres["detour"], fibres["path_cost"] / fibres["cost"] > 1.5)
        self.assertEqual(fibres["detour"].sum(), flagged)

    def check_fibres(self, fibres, labels, path_cost):
        """Each begins and ends in the regions that it names, whichever of them it was traced from."""
        self.assertEqual(len(fibres), 120)
        for i, fibre in enumerate(fibres):
            first, last = fibres.samples["regions"][i]
            self.assertLess(first, last)
            ends = [labels[tuple(np.rint(place / 2).astype(int))] for place in (fibre[0], fibre[-1])]
            self.assertEqual(ends, [first, last])
            self.assertEqual(fibres.samples["path_cost"][i], path_cost[first - 1, last - 1])


class Connectome(ConnectJobs):
    def test_matrices_maps_and_rows_are_consistent(self):
        arrivals, paths = self.path("arrivals.h5"), self.path("paths.h5")
        rc, output = self.launch(self.path("out.h5"), "--connectome", self.ends, "--arrivals", arrivals, "--paths", paths)
        self.assertEqual(rc, 0, output)
        r, rows, fibres = Maps(self.path("out.h5")), Maps(arrivals).samples, Result(paths)
        m = r.connectome
        self.assertEqual(m["labels"].tolist(), list(range(1, 15)))
        for name in ("cost", "mean_cost"):
            np.testing.assert_array_equal(m[name], rows[name])
        cheaper = rows["path_cost"] <= rows["path_cost"].T
        for name in ("length_mm", "path_cost"):
            np.testing.assert_array_equal(m[name], m[name].T)
            np.testing.assert_array_equal(m[name][cheaper], rows[name][cheaper])
        off = ~np.eye(14, dtype=bool)
        self.assertTrue((np.diag(m["cost"]) == 0).all() and (m["cost"][off] > 0).all())
        self.assertTrue((m["mean_cost"] >= m["cost"]).all())
        np.testing.assert_allclose(m["mean_speed"][off], (m["length_mm"][off] / m["cost"][off]))
        np.testing.assert_allclose(m["asymmetry"], np.where(off, 2 * abs(m["cost"] - m["cost"].T) /
                                                            np.where(off, m["cost"] + m["cost"].T, 1), 0))
        order = np.sort(rows["arrival"], axis=0)
        np.testing.assert_array_equal(r.inside("first_cost"), order[0])
        np.testing.assert_array_equal(r.inside("second_cost"), order[1])
        np.testing.assert_array_equal(r.inside("nearest_region"), rows["arrival"].argmin(0) + 1)
        for j in range(14):
            self.assertEqual(rows["cost"][0, j], rows["arrival"][0, rows["best_voxel"][0, j]])
        pairs = [tuple(p) for p in fibres.samples["regions"]]
        is_there = [rows["path_cost"][i - 1, j - 1] <= rows["path_cost"][j - 1, i - 1] for i, j in pairs]
        # By the region that they were traced from, so that a batch solves for few fronts.
        traced = [(i if there else j, i, j) for (i, j), there in zip(pairs, is_there)]
        self.assertEqual(traced, sorted(set(traced)))
        self.assertTrue(0 < sum(is_there) < len(pairs))
        self.assertGreater(len(pairs), 85)
        for (i, j), there, cost, length in zip(pairs, is_there, fibres.samples["cost"], fibres.samples["length_mm"]):
            self.assertLess(i, j)
            self.assertEqual((cost, length), (m["cost"][(i - 1, j - 1) if there else (j - 1, i - 1)],
                                              m["length_mm"][i - 1, j - 1]))

    def test_the_least_cost_partner_of_each_end_is_that_of_its_bundle(self):
        # A straight bundle, a fan, and two arcs that touch; with a sharpened metric, since bundles have edges and
        # neighbours.
        out = self.make("out.h5", "--connectome", self.ends, "--labels", "7,8,9,10,11,12,13,14", "--smooth", "0.7",
                        "--alpha", "5", "--max-ratio", "1000")
        cost = Maps(out).connectome["cost"]
        np.fill_diagonal(cost, np.inf)
        self.assertEqual((cost.argmin(axis=1) + 7).tolist(), [8, 7, 10, 9, 12, 11, 14, 13])

    def test_trx_has_one_group_per_pair_of_regions(self):
        paths = self.path("paths.h5")
        rc, output = self.launch(self.path("out.h5"), "--connectome", self.ends, "--labels", "2,5,14", "--paths", paths)
        self.assertEqual(rc, 0, output)
        for name in ("first.trx", "second.trx"):
            self.assertEqual(voxherd("export", paths, "--to", "trx", self.path(name))[0], 0)
        with open(self.path("first.trx"), "rb") as first, open(self.path("second.trx"), "rb") as second:
            self.assertEqual(first.read(), second.read())
        fibres, groups = Result(paths).samples, read_groups(self.path("first.trx"))
        self.assertEqual({name: members.tolist() for name, (members, _) in groups.items()},
                         {"-".join(map(str, sorted(pair))): [f] for f, pair in enumerate(fibres["regions"].tolist())})
        for members, means in groups.values():
            for name in ("cost", "path_cost", "length_mm"):
                np.testing.assert_array_equal(means[name], fibres[name][members])

    def test_names_head_the_rows_and_columns_of_the_csv(self):
        names = self.path("names.txt")
        with open(names, "w", encoding="utf-8") as file:
            file.write("# toy\n" + "".join(f"{i},Bundle_{i},{2000 + i}\n" for i in range(1, 14)) + '14 "the, last"\n')
        out = self.make("out.h5", "--connectome", self.ends, "--labels", "2,5,14", "--region-names", names)
        self.assertEqual(voxherd("export", out, "--to", "csv", self.path("csv"))[0], 0)
        with open(self.path("csv/cost.csv"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], ',Bundle_2,Bundle_5,"the, last"')
        self.assertTrue(lines[1].startswith("Bundle_2,0,") and lines[3].startswith('"the, last",'))
        self.assertEqual(len(lines), 4)
        with open(self.path("csv/nodes.tsv"), encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines()[1:], ["1\t2\tBundle_2", "2\t5\tBundle_5", "3\t14\tthe, last"])

    def test_names_may_contain_blanks_and_the_table_a_header(self):
        names = self.path("names.txt")
        for table in ("2\tLeft Precentral\textra\n5\tLeft Frontal\n14\tZ\n", "2, Left Precentral, 1\n5,Left Frontal\n14,Z\n",
                      "2 Left Precentral\n5 Left  Frontal\n14 Z\n", '2,"Left\tPrecentral",1\n5,\tLeft Frontal\n14,Z\n',
                      "index\tname\n2\tLeft Precentral\n5\tLeft Frontal\n14\tZ\n",
                      "index\tlabel\tname\n1\t2\tLeft Precentral\n2\t5\tLeft Frontal\n3\t14\tZ\n"):
            with open(names, "w", encoding="utf-8") as file:
                file.write(table)
            out = self.make("out.h5", "--connectome", self.ends, "--labels", "2,5,14", "--region-names", names, "--overwrite")
            self.assertEqual(voxherd("export", out, "--to", "csv", self.path("csv"), "--overwrite")[0], 0)
            with open(self.path("csv/cost.csv"), encoding="utf-8") as file:
                self.assertEqual(file.readline().rstrip(), ",Left Precentral,Left Frontal,Z", table)

    def test_a_word_before_numbers_is_a_name_and_missing_names_are_listed_briefly(self):
        names = self.path("names.txt")
        with open(names, "w", encoding="utf-8") as file:
            file.write("1 L.BSTS ctx-lh-bankssts 25 5 25 255\n14 Precentral_L 2001\n")
        out = self.path("out.h5")
        rc, output = self.launch(out, "--connectome", self.ends, "--region-names", names)
        self.assertEqual(rc, 0, output)
        self.assertIn("has no name for labels 2, 3, 4, 5, 6 and 7 more; their numbers are used", output)
        with h5py.File(out, "r") as file:
            self.assertEqual(json.loads(file.attrs["configuration"])["region-names"],
                             ["L.BSTS", *map(str, range(2, 14)), "Precentral_L"])

    def test_regions_that_the_table_names_and_the_image_lacks_keep_a_row(self):
        names, out = self.path("names.txt"), self.path("out.h5")
        with open(names, "w", encoding="utf-8") as file:
            file.writelines(f"{label}\tBundle {label}\n" for label in (0, *range(1, 15), 17, 20))
        rc, output = self.launch(out, "--connectome", self.ends, "--region-names", names, ranks=2)
        self.assertEqual(rc, 0, output)
        self.assertIn(f"2 of the 16 regions that {names} names have no voxel: 17, 20; their rows and columns are empty", output)
        self.assertEqual(voxherd("export", out, "--to", "csv", self.path("csv"))[0], 0)
        with open(self.path("csv/cost.csv"), encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0][1:], [f"Bundle {label}" for label in (*range(1, 15), 17, 20)])
        self.assertEqual({value for i in (15, 16) for j, value in enumerate(rows[i][1:], 1) if j != i}, {"inf"})
        plain = self.make("plain.h5", "--connectome", self.ends)
        self.assertEqual(voxherd("export", plain, "--to", "csv", self.path("plain"))[0], 0)
        with open(self.path("plain/cost.csv"), encoding="utf-8") as file:
            self.assertEqual([row[1:15] for row in rows[1:15]], list(csv.reader(file)))
        # Labels that are chosen: only these.
        rc, output = self.launch(self.path("chosen.h5"), "--connectome", self.ends, "--labels", "2,5,17", "--region-names", names)
        self.assertEqual(rc, 0, output)
        self.assertIn("1 of the 3 regions that", output)

    def test_a_name_of_several_regions_is_a_warning(self):
        names = self.path("names.txt")
        with open(names, "w", encoding="utf-8") as file:
            file.write("2 A\n5 A\n14 B\n")
        rc, output = self.launch(self.path("out.h5"), "--connectome", self.ends, "--labels", "2,5,14", "--region-names", names)
        self.assertEqual(rc, 0, output)
        self.assertIn("A is the name of several regions", output)

    def test_without_names_the_csv_contains_only_numbers(self):
        out = self.make("out.h5", "--connectome", self.ends)
        self.assertEqual(voxherd("export", out, "--to", "csv", self.path("csv"))[0], 0)
        np.testing.assert_array_equal(np.loadtxt(self.path("csv/cost.csv"), delimiter=",").astype("f4"),
                                      Maps(out).connectome["cost"].astype("f4"))
        with open(self.path("csv/cost.csv"), encoding="utf-8") as file:
            words = file.read().replace("\n", ",").rstrip(",").split(",")
        # The shortest text of a float32, at most nine digits.
        self.assertEqual([word for word in words if len(re.sub("[^0-9]", "", word)) > 9], [])
        self.assertGreater(max(len(word) for word in words), 6)

    def test_a_tensor_that_is_repaired_is_counted_and_the_rule_is_named(self):
        tensor = np.zeros((5, 4, 3, 6), np.float32)
        tensor[..., [0, 1, 2]] = 1e-3, 5e-4, 3e-4
        tensor[2, :2, 1, 2] = -1e-4
        ends = np.zeros((5, 4, 3), np.int16)
        ends[0], ends[4] = 1, 2
        for name, values in (("dt.nii", tensor), ("two.nii", ends)):
            nibabel.save(nibabel.Nifti1Image(values, np.diag([2, 2, 3, 1])), self.path(name))
        words = ("--tensor", self.path("dt.nii"), "--tensor-from", "mrtrix", "--backend", "cpu", "--threads", "1")
        for command, least, option in ((("connect", "--connectome", self.path("two.nii")), "0.215", "--max-ratio"),
                                       (("geodesic", "--seed-image", self.path("two.nii")), "0.1", "--max-ratio")):
            rc, _, output = voxherd(*command, *words, "--out", self.path("out.h5"), "--overwrite")
            self.assertEqual(rc, 0, output)
            self.assertIn(f"2 of 60 voxels have a tensor with an eigenvalue of 0 or less; eigenvalues below {least} of the "
                          f"largest one are raised to that ({option})", output)


@needs_nibabel
class Places(ConnectJobs):
    """Masks, islands, points."""

    def write(self, name, data):
        path = self.path(name)
        nibabel.save(nibabel.Nifti1Image(data.astype(np.uint8), nibabel.load(self.ends).affine), path)
        return path

    def setUp(self):
        super().setUp()
        self.labels = np.asarray(nibabel.load(self.ends).dataobj)
        self.mask = np.asarray(nibabel.load(f"{self.toy}/nodif_brain_mask.nii.gz").dataobj) > 0

    def test_paths_stay_in_the_mask_and_islands_are_infinite(self):
        open_part = self.mask.copy()
        middle = int(np.argwhere(self.labels == 1)[:, 0].mean() + np.argwhere(self.labels == 2)[:, 0].mean()) // 2
        open_part[middle:middle + 4] = False  # wider than a step of the stencil
        within = self.write("within.nii", open_part)
        rc, output = self.launch(self.path("never.h5"), *self.end_regions(1, 2), "--within", within)
        self.assertEqual(rc, BAD_DATA, output)
        self.assertIn("no path joins the two regions", output)
        self.assertNotIn("never.h5", self.remaining_files())
        for name in self.remaining_files():
            if name.startswith("never"):
                os.remove(self.path(name))
        out = self.make("out.h5", "--connectome", self.ends, "--within", within)
        self.assertIn("without a path", self.output)
        result = Maps(out)
        self.assertEqual(len(result.voxel), open_part.sum())
        self.assertTrue(np.isinf(result.connectome["cost"][0, 1]))
        self.assertTrue(np.isinf(result.connectome["length_mm"][0, 1]))
        self.assertEqual(result.connectome["mean_speed"][0, 1], 0)
        self.assertEqual(result.connectome["asymmetry"][0, 1], 0)

    def test_islands_without_a_region_are_counted_and_infinite(self):
        far = self.mask & (self.labels == 0)
        corner = np.argwhere(far)[np.abs(np.argwhere(far)[:, None] - np.argwhere(self.labels == 1)).max(2).min(1).argmax()]
        only = self.labels == 1
        only[tuple(corner)] = True
        seeds = np.where(self.labels == 1, 1, 0)
        seeds[tuple(np.argwhere(self.labels == 1)[0])] = 2
        out = self.make("out.h5", "--connectome", self.write("two.nii", seeds), "--within", self.write("only.nii", only))
        self.assertRegex(self.output, "1 of 21 voxels are never reached: 1 in 1 islands, the largest of 1 voxels")
        self.assertEqual(np.isinf(Maps(out).inside("first_cost")).sum(), 1)

    def test_neighbours_replace_a_region_that_fronts_cannot_pass(self):
        two = np.isin(self.labels, (1, 2))
        within = self.write("within.nii", self.mask & ~two)
        out = self.make("out.h5", *self.end_regions(1, 2), "--within", within)
        result = Maps(out)
        for label, name in ((1, "arrival_from"), (2, "arrival_to")):
            region = np.pad(self.labels == label, 1)
            beside = np.zeros_like(region)
            for axis in range(3):
                for step in (1, -1):
                    beside |= np.roll(region, step, axis)
            beside = beside[1:-1, 1:-1, 1:-1] & self.mask & ~two
            start = result.maps[name].transpose(2, 1, 0) == 0
            np.testing.assert_array_equal(start & self.mask & ~two, beside)
        self.assertGreater(result.pathway["cost"][0], 0)

    def test_an_unreachable_region_is_named_and_infinite(self):
        region = np.pad(self.labels == 3, 1)
        for axis in range(3):
            region = region | np.roll(region, 1, axis) | np.roll(region, -1, axis)
        within = self.write("within.nii", self.mask & ~region[1:-1, 1:-1, 1:-1])
        paths, arrivals = self.path("paths.h5"), self.path("arrivals.h5")
        out = self.make("out.h5", "--connectome", self.ends, "--within", within, "--paths", paths, "--arrivals", arrivals)
        os.remove(paths)
        no_voxel = 2**64 - 1
        self.assertEqual(list(np.flatnonzero(Maps(arrivals).voxel == no_voxel)), [2])
        for command in ("info", "verify"):
            self.assertEqual(voxherd(command, arrivals)[0], 0)
        os.remove(arrivals)
        self.assertRegex(self.output, r"1 of 14 regions without a voxel .*: 3\n")
        cost = Maps(out).connectome["cost"]
        self.assertTrue(np.isinf(cost[2]).all() and np.isinf(cost[:, 2]).all())
        self.assertEqual(np.isinf(cost).sum(), 27)
        self.assertIn(3, Maps(out).connectome["labels"])

    def test_points_are_given_in_world_mm(self):
        affine = nibabel.load(self.ends).affine
        one, two = (np.argwhere(self.labels == n)[10] for n in (1, 2))
        place = [affine[:3, :3] @ voxel + affine[:3, 3] for voxel in (one, two)]
        words = [x for end, p in zip(("from", "to"), place) for x in (f"--{end}-point", ",".join(map(str, p)))]
        result = Maps(self.make("out.h5", *words, "--ball", "2"))
        for name, voxel in (("arrival_from", one), ("arrival_to", two)):
            arrival = np.where(self.mask, result.maps[name].transpose(2, 1, 0), np.inf)
            np.testing.assert_array_equal(np.argwhere(arrival < 1e-3), [voxel])
        self.assertAlmostEqual(result.pathway["length_mm"][0], np.linalg.norm(place[1] - place[0]), delta=8)


@needs_nibabel
class WhiteMatter(ConnectJobs):
    LEAVES = "is outside white matter; give --within-fa 0.2, or a mask of white matter as --within"

    def setUp(self):
        super().setUp()
        self.brain = WhiteMatterPhantom(self.folder)

    def pathway(self, *options):
        out = self.path("out.h5")
        rc, self.output = self.launch(out, "--from", self.brain.ends, "--from-labels", "1", "--to", self.brain.ends,
                                      "--to-labels", "2", "--metric", "inverse", "--overwrite", *options, scan=self.brain.scan)
        self.assertEqual(rc, 0, self.output)
        return Maps(out)

    def test_a_pathway_outside_it_is_a_warning_and_a_threshold_keeps_it_inside(self):
        result = self.pathway()
        inside = result.maps["pathway"].transpose(2, 1, 0) == 1
        outside = 100 * (inside & ~self.brain.white).sum() / inside.sum()
        self.assertGreater(outside, 25)
        self.assertIn(f"warning: {outside:.0f} % of the pathway {self.LEAVES}", self.output)
        self.assertNotIn("within-fa", result.configuration)
        white = self.pathway("--within-fa", "0.2")
        self.assertNotIn(self.LEAVES, self.output)
        self.assertGreater(white.pathway["length_mm"].item(), result.pathway["length_mm"].item() + 20)
        self.assertGreater(white.pathway["min_FA"].min(), 0.7)
        self.assertEqual(white.configuration["within-fa"], 0.2)

    def test_it_is_what_the_manual_says(self):
        result = self.pathway("--within-fa", "0.2")
        expected, brain = self.brain.white, self.brain.values.sum(axis=-1) > 0
        np.testing.assert_array_equal(result.voxel, np.flatnonzero(expected.ravel(order="F")))
        self.assertIn(f"white matter has {expected.sum()} of {brain.sum()} voxels with a tensor", self.output)

    def test_a_threshold_alone_would_lead_through_noise_and_fluid(self):
        anywhere = self.brain.save(self.folder, "anisotropic", self.brain.anisotropic)
        naive, white = self.pathway("--within", anywhere), self.pathway("--within-fa", "0.2")
        self.assertLess(naive.pathway["length_mm"].item(), 0.7 * white.pathway["length_mm"].item())

    def test_the_threshold_is_the_same_as_a_mask_of_these_voxels(self):
        mask = self.brain.save(self.folder, "white", self.brain.white)
        one, other = self.pathway("--within-fa", "0.2"), self.pathway("--within", mask)
        for name, values in one.maps.items():
            np.testing.assert_array_equal(values, other.maps[name])

    def test_0_is_everywhere(self):
        np.testing.assert_array_equal(self.pathway().maps["total"], self.pathway("--within-fa", "0").maps["total"])

    def test_a_connectome_that_may_leave_it_is_a_warning(self):
        rc, output = self.launch(self.path("all.h5"), "--connectome", self.brain.ends, scan=self.brain.scan)
        self.assertEqual(rc, 0, output)
        outside = 100 * (1 - self.brain.white.sum() / (self.brain.values.sum(axis=-1) > 0).sum())
        self.assertIn(f"warning: {outside:.0f} % of the region that paths may pass {self.LEAVES}", output)

    def test_a_threshold_without_any_voxel_counts_what_it_met(self):
        rc, output = self.launch(self.path("none.h5"), "--connectome", self.brain.ends, "--within-fa", "0.9", scan=self.brain.scan)
        self.assertEqual(rc, BAD_DATA, output)
        brain = self.brain.values.sum(axis=-1) > 0
        tissue = brain & (self.brain.values.mean(axis=-1) < 1.2e-3)
        self.assertIn(f"of {brain.sum()} voxels with a tensor 0 have at least this FA and {tissue.sum()} an MD below 0.0012", output)


class Errors(ConnectJobs):
    def test_wrong_options_are_reported_once_and_nothing_is_written(self):
        ends = self.end_regions(1, 2)
        self.assert_rejected(USAGE, "((--from FILE | --from-point X,Y,Z) (--to FILE | --to-point X,Y,Z) | --connectome FILE ...) is missing",
                             ranks=2)
        self.assert_rejected(USAGE, "connect: (--from FILE | --from-point X,Y,Z) is missing", "--to", self.ends)
        self.assert_rejected(USAGE, "connect: (--to FILE | --to-point X,Y,Z) is missing", "--from", self.ends)
        self.assert_rejected(USAGE, "--from-labels has no meaning without --from", "--from-point", "1,2,3", *ends[2:])
        self.assert_rejected(USAGE, "--from-point 1,2: expected three numbers", "--from-point", "1,2", *ends[4:])
        self.assert_rejected(USAGE, "--from-point 1,2,x: expected three numbers", "--from-point", "1,2,x", *ends[4:])
        self.assert_rejected(USAGE, "--epsilon has no meaning without --from or --from-point", "--connectome", self.ends, "--epsilon", "0.1")
        self.assert_rejected(USAGE, "--from and --connectome exclude each other", "--connectome", self.ends, *ends)
        self.assert_rejected(USAGE, "--labels has no meaning without --connectome", *ends, "--labels", "3")
        self.assert_rejected(USAGE, "--ball has no meaning", *ends, "--ball", "2")
        self.assert_rejected(USAGE, "--max-paths has no meaning without --paths", *ends, "--max-paths", "3")
        self.assert_rejected(USAGE, "--alpha has no meaning", *ends, "--metric", "inverse", "--alpha", "2")
        self.assert_rejected(USAGE, "--order 2 is only for --scheme selling", *ends, "--scheme", "hl26", "--order", "2")
        self.assert_rejected(USAGE, "--order 3: expected 1 to 2", *ends, "--order", "3")
        self.assert_rejected(USAGE, "--scheme fast: expected one of", *ends, "--scheme", "fast")
        self.assert_rejected(USAGE, "--max-ratio 0.5: expected 1 to 10000", *ends, "--max-ratio", "0.5")
        self.assert_rejected(USAGE, "--epsilon 0: expected", *ends, "--epsilon", "0")
        self.assert_rejected(USAGE, "--in-place gives different times in each run", *ends, "--in-place", "--paths", self.path("p.h5"))
        for option in "--paths", "--arrivals":
            self.assert_rejected(USAGE, "is also the file of", *ends, option, os.path.join(self.folder, ".", "never.h5"))

    def test_wrong_files_are_named(self):
        self.assert_rejected(MISSING, "none.nii", "--from", self.path("none.nii"), *self.end_regions(1, 2)[4:])
        self.assert_rejected(BAD_DATA, "--to-labels 99", *self.end_regions(1, 99), ranks=3)
        self.assert_rejected(BAD_DATA, "share 20 voxels", *self.end_regions(1, 1))
        self.assert_rejected(BAD_DATA, "is outside the image", "--from-point", "900,0,0", *self.end_regions(1, 2)[4:])
        self.assert_rejected(BAD_DATA, ": 1 region, expected 2 to 4096", "--connectome", self.ends, "--labels", "3")
        self.assert_rejected(MISSING, "names.txt", "--connectome", self.ends, "--region-names", self.path("names.txt"))

    def test_an_invalid_table_of_names_is_rejected_with_its_line(self):
        for text, expected in (("1 A\nB 2\n", "line 2"), ("1 A\n1 B\n", "label 1 already has a name"),
                               ("1\n", "expected a label and a name"), ("77 Z\n", "has no name for any of the 14 regions")):
            table = os.path.join(self.shared, "names.txt")
            with open(table, "w", encoding="utf-8") as file:
                file.write(text)
            self.assert_rejected(BAD_DATA, expected, "--connectome", self.ends, "--region-names", table, ranks=2)

    def test_existing_results_are_rejected_before_any_work(self):
        for name in ("out.h5", "paths.h5"):
            out, paths = self.path("out.h5"), self.path("paths.h5")
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("mine")
            rc, output = self.launch(out, *self.end_regions(1, 2), "--paths", paths)
            self.assertEqual(rc, USAGE, output)
            self.assertIn(name, output)
            self.assertEqual(self.remaining_files(), [name])
            os.remove(self.path(name))

    def dry_run(self, *options, ranks=0):
        rc, estimate, output = voxherd(*self.words(self.path("dry.h5"), *options, "--dry-run"), ranks=ranks)
        self.assertEqual(rc, 0, output)
        self.assertEqual(os.listdir(self.folder), [])
        return estimate, output

    def test_a_dry_run_reports_the_plan_and_writes_nothing(self):
        estimate, output = self.dry_run("--connectome", self.ends, ranks=2)
        self.assertIn("14 regions, 1536 voxels where fronts may pass", output)
        self.assertRegex(estimate, r"arrivals: about .* \(\d+ regions? took")
        self.assertIn("evaluation, maps: not estimated", estimate)

    def test_a_dry_run_estimates_every_step(self):
        estimate, _ = self.dry_run(*self.end_regions(1, 2), "--paths", self.path("p.h5"))
        self.assertRegex(estimate, r"paths: at most \d+:\d\d \(both fronts are solved for again\)")
        estimate, _ = self.dry_run("--connectome", self.ends, "--paths", self.path("p.h5"), "--bootstrap", "4", ranks=2)
        # 91 pairs are one batch, which needs the front of each of the 14 regions once.
        self.assertRegex(estimate, r"paths: at most \d+:\d\d \(91 pairs of regions; their fronts are solved for 14 times\)")
        self.assertRegex(estimate, r"bootstrap: about .* \(4 replicates of [0-9.e-]+ s each\)")
        self.assertRegex(estimate, r"together at most \d+:\d\d")


if __name__ == "__main__":
    unittest.main()
