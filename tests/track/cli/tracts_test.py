"""voxherd track --tracts: each tract of a protocol folder has the counts of the same track command; ranks; errors."""
import json
import os
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, MISSING, USAGE
from result_files import digest
from toy_jobs import h5py, voxherd
from track_jobs import SIZE, TractJobs, constants, maps, read


class Tracts(TractJobs):
    def test_each_tract_has_the_counts_of_its_own_command(self):
        folder = self.protocols()
        out = self.make("all.h5", *self.base(), "--tracts", folder, "--tract-samples", 300)
        found, sums = maps(out), constants(out, "tracts")
        self.assertEqual(sorted(found), [f"{kind}_{name}" for kind in ("density", "mean_length", "normalised") for name in ("af_l", "cst")])
        masks = {name: os.path.join(folder, "af_l", f"{name}.nii") for name in ("seed", "stop", "exclude", "target1", "target2")}
        common = "--samples-per-seed", 300, "--ordered", "--stop", masks["stop"], "--exclude", masks["exclude"]
        there = self.make("there.h5", *self.base(), *common, "--seed-image", masks["seed"], "--include", masks["target1"], masks["target2"])
        back = self.make("back.h5", *self.base(), *common, "--seed-image", masks["target2"], "--include", masks["target1"], masks["seed"])
        expected = maps(there)["density"] + maps(back)["density"]
        self.assertGreater(expected.sum(), 1000)
        np.testing.assert_array_equal(found["density_af_l"], expected)
        waytotal = [int(constants(path, "streamlines")["waytotal"][0]) for path in (there, back)]
        self.assertGreater(min(waytotal), 10)
        self.assertEqual(sums["waytotal"][0], sum(waytotal))
        np.testing.assert_allclose(found["normalised_af_l"], expected / sum(waytotal), rtol=1e-6)
        length = maps(there)["length_sum"] + maps(back)["length_sum"]
        np.testing.assert_allclose(found["mean_length_af_l"] * expected, length, rtol=1e-5)
        alone = maps(self.make("cst.h5", *self.base(), "--samples-per-seed", 300, "--seed-image", os.path.join(folder, "cst", "seed.nii")))
        np.testing.assert_array_equal(found["density_cst"], alone["density"])
        self.assertEqual(list(sums["started"]), [300 * (45 + 30), 300])

    def own_commands(self, *options):
        """Options of the three draws of protocols(), as track commands of their own, and the tract of each."""
        folder = self.protocols()
        masks = {name: os.path.join(folder, "af_l", f"{name}.nii") for name in ("seed", "stop", "exclude", "target1", "target2")}
        common = "--samples-per-seed", 60, *options, "--ordered", "--stop", masks["stop"], "--exclude", masks["exclude"]
        yield 0, (*common, "--seed-image", masks["seed"], "--include", masks["target1"], masks["target2"])
        yield 0, (*common, "--seed-image", masks["target2"], "--include", masks["target1"], masks["seed"])
        yield 1, ("--samples-per-seed", 60, *options, "--seed-image", os.path.join(folder, "cst", "seed.nii"))

    def test_targets_and_directions_of_each_tract_are_those_of_its_own_commands(self):
        options = "--targets", self.mask("left", np.s_[3, :, :]), self.mask("right", np.s_[18, :, :])
        found = maps(self.make("all.h5", *self.base(), *options, "--local-directions", "--tracts", self.protocols(), "--tract-samples", 60, ranks=3))
        names = "af_l", "cst"
        hits = {(tract, target): 0. for tract in names for target in ("left", "right")}
        for i, (tract, own) in enumerate(self.own_commands(*options)):
            of_draw = maps(self.make(f"own{i}.h5", *self.base(), *own, "--local-directions"))
            for target in ("left", "right"):
                hits[names[tract], target] = hits[names[tract], target] + of_draw[f"seeds_to_{target}"]
        for (tract, target), expected in hits.items():
            np.testing.assert_array_equal(found[f"seeds_to_{target}_{tract}"], expected)
        self.assertGreater(sum(expected.sum() for expected in hits.values()), 100)
        np.testing.assert_array_equal(found["local_direction_cst"], of_draw["local_direction"])
        np.testing.assert_array_equal(found["seeds_to_left_lengths_cst"], of_draw["seeds_to_left_lengths"])

    def test_rows_of_matrices_are_the_seeds_of_all_tracts(self):
        target = self.mask("target", np.s_[4:20, 2:6, 2:5])
        files = {number: self.path(f"all_{number}.h5") for number in (2, 4)}
        options = "--matrix2", files[2], "--target2", target, "--matrix4", files[4], "--target4", target
        self.make("all.h5", *self.base(), *options, "--tracts", self.protocols(), "--tract-samples", 60, ranks=2)
        tracts, entries = [], {number: [] for number in files}
        for i, (tract, own) in enumerate(self.own_commands()):
            parts = {number: self.path(f"own{i}_{number}.h5") for number in files}
            self.make(f"own{i}.h5", *self.base(), *own, "--matrix2", parts[2], "--target2", target, "--matrix4", parts[4], "--target4", target)
            for number, path in parts.items():
                with h5py.File(path) as file:
                    entries[number].append({name: file["points"][name][()] for name in ("column", "count", "length_sum")})
                    rows = file["points/offset"].size - 1
            tracts += [tract] * rows
        for number, path in files.items():
            with h5py.File(path) as file:
                self.assertEqual(list(file["matrix/row_tract"][()]), tracts)
                self.assertGreater(file["points/count"].size, 500)
                for name in entries[number][0]:
                    np.testing.assert_array_equal(file["points"][name][()], np.concatenate([part[name] for part in entries[number]]))

    def test_pairs_of_a_matrix_are_those_of_all_tracts_together(self):
        options = "--target3", self.mask("target", np.s_[4:20, 2:6, 2:5])

        def read_pairs(path):
            with h5py.File(path) as file:
                offset, column, count = (file["points"][name][()] for name in ("offset", "column", "count"))
            dense = np.zeros((len(offset) - 1,) * 2)
            dense[np.repeat(np.arange(len(offset) - 1), np.diff(offset)), column] = count
            return dense

        self.make("all.h5", *self.base(), "--matrix3", self.path("pairs.h5"), *options, "--tracts", self.protocols(), "--tract-samples", 60, ranks=3)
        expected = 0
        for i, (_, own) in enumerate(self.own_commands(*options)):
            self.make(f"own{i}.h5", *self.base(), *own, "--matrix3", self.path(f"pairs{i}.h5"))
            expected = expected + read_pairs(self.path(f"pairs{i}.h5"))
        self.assertGreater(expected.sum(), 1000)
        np.testing.assert_array_equal(read_pairs(self.path("pairs.h5")), expected)

    def test_stored_streamlines_are_those_of_the_tracts_own_commands(self):
        self.make("all.h5", *self.base(), "--paths", self.path("all_paths.h5"), "--max-paths", 100000, "--tracts", self.protocols(),
                  "--tract-samples", 60, ranks=2)
        lines, tracts = [], []
        for i, (tract, own) in enumerate(self.own_commands("--paths", self.path("own_paths.h5"), "--max-paths", 100000)):
            self.make(f"own{i}.h5", *self.base(), *own, "--overwrite")
            own_lines = read(self.path("own_paths.h5"))[1]
            lines += own_lines
            tracts += [tract] * len(own_lines)
        values, found = read(self.path("all_paths.h5"))
        self.assertEqual(list(values["tract"]), tracts)
        self.assertEqual(set(tracts), {0, 1})
        for line, expected in zip(found, lines):
            np.testing.assert_array_equal(line, expected)

    def test_the_voxels_of_each_mask_are_stored(self):
        out = self.make("all.h5", *self.base(), "--tracts", self.protocols(), "--tract-samples", 5, ranks=2)
        with h5py.File(out) as file:
            tracts = json.loads(file.attrs["provenance"])["inputs"]["tracts"]
        self.assertEqual({name: tract["voxels"] for name, tract in tracts.items()},
                         {"af_l": {"seed-image": 45, "stop": 63, "exclude": 168, "include 1": 63, "include 2": 30}, "cst": {"seed-image": 1}})

    def test_masks_that_were_moved_are_the_same_and_changed_ones_are_not(self):
        options = *self.base(), "--tract-samples", 5
        out = self.make("moved.h5", *options, "--tracts", self.protocols())
        os.rename(self.path("protocols"), self.path("elsewhere"))
        before = os.stat(out)
        rc, output = self.launch(out, *options, "--tracts", self.path("elsewhere"), "--resume")
        self.assertEqual((rc, os.stat(out).st_mtime_ns), (0, before.st_mtime_ns), output)
        with h5py.File(out) as file:
            self.assertNotIn('"state"', file.attrs["provenance"].decode())
        self.mask("elsewhere/cst/seed", np.s_[10, 4, 2])
        rc, output = self.launch(out, *options, "--tracts", self.path("elsewhere"), "--resume")
        self.assertEqual(rc, USAGE, output)
        self.assertIn("inputs.tracts", output)

    def test_a_list_selects_tracts_and_scales_their_streamlines(self):
        with open(os.path.join(self.protocols(), "structureList"), "w") as file:
            file.write("# tracts\ncst 2.5 40\n#af_l 4\n")  # the third word is a time limit of autoPtx
        out = self.make("listed.h5", *self.base(), "--tracts", self.path("protocols"))
        self.assertEqual(list(constants(out, "tracts")["started"]), [2500])
        with open(self.path("own.txt"), "w") as file:
            file.write("af_l 0.1\ncst\n")
        out = self.make("own.h5", *self.base(), "--tracts", self.path("protocols"), "--tract-list", self.path("own.txt"),
                        "--tract-samples", 100)
        self.assertEqual(list(constants(out, "tracts")["started"]), [10 * 75, 100])

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        options = *self.base(), "--tracts", self.protocols(), "--tract-samples", 4000
        one = self.make("1.h5", *options)
        for ranks, more in ((2, ()), (3, ("--batch", 1))):
            self.assertEqual(digest(self.make(f"{ranks}.h5", *options, *more, ranks=ranks)), digest(one))

    def test_maps_are_compressed_and_a_dry_run_knows_what_the_last_step_needs(self):
        options = *self.base(), "--tracts", self.protocols(), "--tract-samples", 100
        out = self.make("out.h5", *options)
        with h5py.File(out) as file:
            for name, dataset in file["maps"].items():
                self.assertEqual((dataset.compression, dataset.shuffle), ("gzip", True), name)
                self.assertEqual(dataset.shape, SIZE[::-1])
        rc, text, output = voxherd("track", "--quiet", "--threads", 1, "--dry-run", "--out", self.path("dry.h5"), *options)
        self.assertEqual(rc, 0, output)
        voxels = np.prod(SIZE)
        self.assertRegex(text, r"host memory .* per rank for batches, .* for their sums; .* more on rank 0 to write the result")
        self.assertIn(f"{voxels * 2 * 12 / 1e3:.1f} kB of maps, compressed to at most that and usually far less, for {self.path('dry.h5')}", text)
        self.assertIn("dry.h5.groups, which is removed at the end", text)

    def test_a_result_exports_one_density_per_tract(self):
        out = self.make("out.h5", *self.base(), "--tracts", self.protocols(), "--tract-samples", 10)
        for words in (("export", out, "--to", "nifti", self.path("nifti")), ("verify", out), ("info", out)):
            rc, _, output = voxherd(*words)
            self.assertEqual(rc, 0, output)
        self.assertIn("normalised_af_l.nii.gz", os.listdir(self.path("nifti")))


class Errors(TractJobs):
    def refuse(self, status, words, *options):
        rc, output = self.launch(self.path("refused.h5"), "--samples", self.scattered(), *options)
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)
        self.assertFalse(os.path.exists(self.path("refused.h5")))

    def test_options_that_the_folder_replaces_are_rejected(self):
        folder = self.protocols()
        for option, value, words in (("--seed-image", "seed.nii", "--seed-image has no meaning with --tracts"),
                                     ("--include", "a.nii", "--include has no meaning with --tracts"),
                                     ("--matrix1", "m.h5", "--matrix1 has no meaning with --tracts"),
                                     ("--samples-per-seed", 5, "has no meaning without --seed-image or --connectome")):
            self.refuse(USAGE, words, "--tracts", folder, option, value)
        self.refuse(USAGE, "--tract-samples has no meaning without --tracts", "--seed-image", "s.nii", "--tract-samples", 5)

    def test_incomplete_protocols_name_the_file(self):
        self.refuse(MISSING, "no such folder", "--tracts", self.path("none"))
        os.mkdir(self.path("empty"))
        self.refuse(MISSING, "no folder in it has a seed", "--tracts", self.path("empty"))
        folder = self.protocols()
        open(os.path.join(folder, "cst", "invert"), "w").close()
        self.refuse(BAD_DATA, "no target.nii.gz to start from", "--tracts", folder)
        os.remove(os.path.join(folder, "cst", "invert"))
        os.symlink("nothing", os.path.join(folder, "cst", "exclude.nii.gz"))
        self.refuse(MISSING, "exclude.nii.gz", "--tracts", folder)
        os.remove(os.path.join(folder, "cst", "exclude.nii.gz"))
        for text, status, words in (("unc_l\n", MISSING, "no such folder"), ("x" * 300 + "\n", MISSING, "no such folder"), ("cst many\n", BAD_DATA, 'line 1: found "cst many"'),
                                    ("cst\ncst\n", BAD_DATA, "line 2: cst is listed twice"), ("../cst\n", BAD_DATA, "tract's name"),
                                    ("\n", BAD_DATA, "lists no tract")):
            with open(os.path.join(folder, "structureList"), "w") as file:
                file.write(text)
            self.refuse(status, words, "--tracts", folder)


if __name__ == "__main__":
    unittest.main()
