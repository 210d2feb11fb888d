"""voxherd track: samples that are none, dry runs of any size, names of results that collide, runs without streamlines."""
import json
import os
import shutil
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, MISSING, USAGE
from toy_jobs import h5py, stores_from_the_start, voxherd
from track_jobs import SAMPLES, SIZE, TrackJobs, constants

VALUES = 22 * 7 * 5 * SAMPLES  # in the mask


class Samples(TrackJobs):
    def refuse(self, words, folder, status=BAD_DATA):
        rc, output = self.launch(self.path("refused.h5"), "--samples", folder, "--seed-image", self.mask("seeds", np.s_[10, 4, 3]))
        self.assertEqual(rc, status, output)
        self.assertIn(words, output)
        self.assertFalse(os.path.exists(self.path("refused.h5")))

    def changed(self, word, change, **fields):
        """A folder of samples with one file changed."""
        folder = self.samples("changed", spread=.1, **fields)
        values = np.full((*SIZE, SAMPLES), {"th": np.pi / 2, "ph": 3., "f": .7}[word])
        values += np.arange(SAMPLES) / 100
        self.write(f"changed/merged_{word}1samples.nii", change(values), **fields)
        return folder

    def test_values_that_are_no_samples_are_refused_with_their_number(self):
        def every_second(value):
            def change(values):
                values[..., ::2] = value
                return values
            return change

        half = VALUES // 2
        for word in ("th", "ph", "f"):
            for value in (np.nan, np.inf, -1e30):
                self.refuse(f"merged_{word}1samples.nii: {half} of {VALUES} values are NaN, infinite", self.changed(word, every_second(value)))
        self.refuse(f"merged_f1samples.nii: {half} of {VALUES} values are outside 0 to 1", self.changed("f", every_second(5)))
        self.refuse(f"merged_f1samples.nii: {half} of {VALUES} values are outside 0 to 1", self.changed("f", every_second(-.2)))
        self.refuse(f"{VALUES} of {VALUES} values are outside 0 to 1, expected volume fractions; are they per cent?",
                    self.changed("f", lambda values: 100 * values))
        for word in ("th", "ph"):
            self.refuse(f"merged_{word}1samples.nii: {VALUES} of {VALUES} values are beyond 2 pi, expected radians",
                        self.changed(word, np.degrees))

    def test_an_angle_that_is_a_copy_of_the_other_one_is_refused(self):
        folder = self.samples("copied", spread=.1)
        shutil.copy(os.path.join(folder, "merged_th1samples.nii"), os.path.join(folder, "merged_ph1samples.nii"))
        self.refuse(f"merged_ph1samples.nii: all {VALUES} values are those of ", folder)

    def test_fractions_with_a_sum_above_one_are_refused(self):
        folder = self.samples("full", axes=((np.pi / 2, 3.), (1.5, 1.4)), fractions=(.7, .6), spread=.1)
        self.refuse(f"{VALUES} of {VALUES} values have a sum above 1", folder)

    def test_samples_on_another_matrix_are_refused(self):
        folder = self.samples()
        self.write("samples/merged_ph1samples.nii", np.full((*SIZE, SAMPLES), np.pi), sform=[[2, 0, 0, 40], [0, 2, 0, 0], [0, 0, 2, 0]])
        self.refuse("merged_ph1samples.nii: its matrix places voxels up to 40 mm away", folder)

    def test_values_outside_the_mask_are_not_looked_at(self):
        folder = self.samples()
        values = np.full((*SIZE, SAMPLES), .7)
        values[0] = np.nan
        self.write("samples/merged_f1samples.nii", values)
        self.make("out.h5", "--samples", folder, "--seed-image", self.mask("seeds", np.s_[10, 4, 3]), "--samples-per-seed", 2)

    def test_names_of_all_inputs_are_checked_before_samples_are_read(self):
        folder, seeds = self.samples(), self.mask("seeds", np.s_[10, 4, 3])
        self.write("samples/merged_th1samples.nii", np.full((*SIZE, SAMPLES), np.nan))  # found if samples were read
        for option in ("exclude", "stop", "include", "walk-through-stop", "targets", "seedref", "transform", "mask"):
            more = ("--inverse-transform", seeds) if option == "transform" else ()
            rc, output = self.launch(self.path("out.h5"), "--samples", folder, "--seed-image", seeds, f"--{option}", self.path("none.nii"), *more)
            self.assertEqual(rc, MISSING, output)
            self.assertIn("none.nii", output)
        with open(self.path("bvals"), "w") as file:
            file.write("0 1000 2000 " * 100)
        for option in ("seedref", "mask", "stop"):
            rc, output = self.launch(self.path("out.h5"), "--samples", folder, "--seed-image", seeds, f"--{option}", self.path("bvals"))
            self.assertEqual(rc, MISSING, output)
            self.assertIn(f"--{option}: {self.path('bvals')} line 1: 0: no such file; expected names of images", output)


class Samples(TrackJobs):
    def test_links_that_lead_to_themselves_are_missing_files(self):
        os.symlink("loop", self.path("loop"))
        for name in ("loop", "loop/merged", "loop.h5"):
            rc, output = self.launch(self.path("out.h5"), "--samples", self.path(name), "--seed-image", self.mask("seeds", np.s_[10, 3, 3]))
            self.assertEqual(rc, MISSING, output)
            self.assertIn("loop", output)


class DryRuns(TrackJobs):
    def test_a_part_of_a_group_is_enough_however_many_streamlines_it_has(self):
        base = "--samples", self.scattered(), "--seed-image", self.mask("seeds", np.s_[6:18, 2:7, 2:5]), "--dry-run"
        for options in (("--samples-per-seed", 1000000000), ("--samples-per-seed", 2000, "--max-steps", 500000, "--step", .01, "--max-angle", 90)):
            rc, text, output = voxherd("track", "--quiet", "--threads", 1, "--out", self.path("out.h5"), *base, *options)
            self.assertEqual(rc, 0, output)
            self.assertRegex(text, r"time +groups: .* \([\d.e-]+ % of 1 group took ")


class Names(TrackJobs):
    def options(self):
        return "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 3:5, 3]), "--samples-per-seed", 5

    def test_names_of_results_that_collide_are_refused_before_anything_is_computed(self):
        out = self.path("o.h5")
        target = self.mask("target", np.s_[5, :, :])
        for words, expected in (
            (("--matrix1", self.path("m.h5"), "--matrix2", self.path("m.h5"), "--target2", target), "m.h5 is also the file of --matrix2"),
            (("--matrix1", out), "o.h5 is also the file of --out"),
            (("--paths", out + ".part"), "--paths " + out + ".part is a temporary file of --out"),
            (("--paths", out + ".groups"), "--paths " + out + ".groups is a temporary file of --out"),
            (("--matrix1", out + ".groups.part"), "is a temporary file of --out"),
            (("--matrix1", out + ".matrix1-sizes"), "is a temporary file of --out"),
            (("--paths", self.path("p.h5"), "--matrix1", self.path("p.h5.part")), "is a temporary file of --paths"),
            (("--paths", out + ".lock"), "is a temporary file of --out"),
        ):
            rc, output = self.launch(out, *self.options(), *words)
            self.assertEqual(rc, USAGE, output)
            self.assertIn(expected, output)
            self.assertFalse([name for name in os.listdir(self.folder) if ".h5" in name])

    def test_an_existing_result_is_named_by_its_own_option(self):
        matrix = self.path("m.h5")
        shutil.copy(self.make("some.h5", *self.options()), matrix)
        rc, output = self.launch(self.path("o.h5"), *self.options(), "--matrix1", matrix)
        self.assertEqual(rc, USAGE, output)
        self.assertIn(f"--matrix1 {matrix} exists; --overwrite replaces it", output)

    @stores_from_the_start()
    def test_files_of_the_user_with_names_of_temporary_files_are_kept(self):
        out = self.make("o.h5", *self.options())
        for name in (".groups", ".groups.part", ".groups.part.new", ".groups.lock", ".lock"):
            with open(out + name, "w") as file:
                file.write("mine")
            rc, output = self.launch(out, "--overwrite", *self.options())
            self.assertEqual(rc, USAGE, output)
            self.assertIn(f"{out}{name} ", output)
            if name != ".lock":
                rc, output = self.launch(out, "--resume", *self.options())  # is complete
                self.assertEqual(rc, 0, output)
            with open(out + name) as file:
                self.assertEqual(file.read(), "mine")
            os.remove(out + name)


class Few(TrackJobs):
    def warning(self, *options):
        """The line of the warning, and those that the result has."""
        out = self.path("few.h5")
        rc, output = self.launch(out, "--overwrite", "--samples", self.samples(), *options)
        self.assertEqual(rc, 0, output)
        with h5py.File(out, "r") as file:
            stored = json.loads(bytes(file["journal/summary"][()]).rstrip(b"\0"))["warnings"]
        return next((line for line in output.splitlines() if "accepted" in line), ""), stored

    def test_no_accepted_streamline_is_a_warning_with_counts_for_each_mask(self):
        near, far = self.mask("near", np.s_[15, :, :]), self.mask("far", np.s_[:, 7, :])
        sides = self.mask("sides", np.s_[5, :, :], np.s_[12, :, :])
        seeds = self.mask("seeds", np.s_[10, 3:5, 3])
        line, stored = self.warning("--seed-image", seeds, "--samples-per-seed", 50, "--include", near, far)
        words = "no streamline was accepted: near.nii was reached by 100, far.nii by 0, all of them by 0 of 100 streamlines"
        self.assertIn(words, line)
        self.assertIn("warning", line)
        self.assertEqual(stored, [words])
        line, _ = self.warning("--seed-image", seeds, "--samples-per-seed", 50, "--include", near, "--exclude", sides)
        self.assertIn("near.nii was reached by ", line)
        self.assertIn("an exclusion mask was touched by 100 of 100 streamlines", line)
        line, _ = self.warning("--connectome", self.mask("labels", np.s_[10, 3, 3], np.s_[10, 5, 3]), "--samples-per-seed", 50)
        self.assertIn("another region was reached by 0 of 100 streamlines", line)
        report = self.path("few.html")
        self.assertEqual(voxherd("report", self.path("few.h5"), "--out", report)[0], 0)
        with open(report, encoding="utf-8") as file:
            page = file.read()
        self.assertIn("no streamline was accepted: another region was reached by 0", page)
        self.assertRegex(page, r"770 voxels in the mask \(\d+ with their neighbours\)")
        self.assertNotRegex(page, r">items<|per item|items/s")

    def test_a_tract_without_streamlines_has_its_own_counts(self):
        for name, box in (("seed", np.s_[10, 3:5, 3]), ("target", np.s_[:, 7, :])):
            self.mask(f"protocols/tract/{name}", box)
        line, _ = self.warning("--tracts", self.path("protocols"), "--tract-samples", 50)
        self.assertIn("tract: no streamline was accepted: target.nii was reached by 0 of 100 streamlines", line)

    def test_few_streamlines_are_a_warning(self):
        line, stored = self.warning("--seed-image", self.mask("seeds", np.s_[10, 3:5, 3]), "--samples-per-seed", 49)
        self.assertIn("only 98 streamlines accepted: a density of n is known to about the square root of n", line)
        self.assertEqual(len(stored), 1)
        line, stored = self.warning("--seed-image", self.mask("seeds", np.s_[10, 3:5, 3]), "--samples-per-seed", 50)
        self.assertEqual((line, stored), ("", []))

    def test_info_tells_the_mask_from_its_neighbours(self):
        out = self.make("out.h5", "--samples", self.samples(), "--seed-image", self.mask("seeds", np.s_[10, 3:5, 3]), "--samples-per-seed", 50)
        self.assertEqual(constants(out, "streamlines")["mask_voxels"], 22 * 7 * 5)
        with h5py.File(out, "r") as file:
            all_voxels = file["items/voxel"].size
        self.assertGreater(all_voxels, 22 * 7 * 5)
        rc, output, _ = voxherd("info", out)
        self.assertIn(f"770 voxels in the mask ({all_voxels} with their neighbours)", output)


if __name__ == "__main__":
    unittest.main()
