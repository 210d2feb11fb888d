"""voxherd geodesic as a job: any number of ranks, killed and resumed in either pass, nothing found, dry runs, errors."""
import json
import os
import re
import signal
import time
import unittest

import numpy as np
from geodesic_jobs import GeodesicJobs, Result
from kill_and_resume import KillAndResume
from toy_jobs import digest, h5py, remaining_output, rank_processes, stores_from_the_start, voxherd, wait_for_batches

try:
    import nibabel
    from white_matter_phantom import WhiteMatterPhantom
except ImportError:
    nibabel = None

USAGE, BAD_DATA, MISSING = 2, 65, 66
PROGRAM = "voxherd"


class Ranks(GeodesicJobs):
    def test_any_number_of_ranks_and_any_batch_gives_the_same_bytes(self):
        options = ("--seed-image", self.ends, "--connectome", self.ends, "--smooth", "1", "--distinct", "4", "--top", "5",
                   "--measure", "relative")
        one = self.make("1.h5", *options)
        self.assertGreater(len(Result(one)), 20)
        self.assertRegex(voxherd("info", one)[1],
                         r"(?m)^run +\S+ s on 1 rank: preparation \S+, ranking \S+, scores \S+, result \S+ s$")
        for ranks, more in ((2, ()), (3, ("--batch", "333")), (5, ("--batch", "77", "--schedule", "static"))):
            other = self.make(f"{ranks}.h5", *options, *more, ranks=ranks)
            self.assertEqual(digest(one), digest(other))
            rc, output, _ = voxherd("compare", one, other)
            self.assertEqual(rc, 0, output)

    def test_matrices_have_the_names_of_the_regions(self):
        names = self.path("names.tsv")
        with open(names, "w", encoding="utf-8") as file:
            file.write("index\tname\n" + "".join(f"{i}\tLeft bundle {i}\n" for i in range(1, 15)))
        regions = [f"Left bundle {i}" for i in range(1, 15)]
        for more, expected in ((("--connectome", self.ends), regions), (("--targets", self.ends), ["seeds", *regions])):
            out = self.make("out.h5", "--seed-image", self.ends, *more, "--directions", "4", "--region-names", names,
                            "--overwrite", ranks=2)
            self.assertEqual(voxherd("export", out, "--to", "csv", self.path("csv"), "--overwrite")[0], 0)
            with open(self.path("csv/count.csv"), encoding="utf-8") as file:
                self.assertEqual(file.readline().rstrip().split(","), ["", *expected])

    @unittest.skipIf(nibabel is None, "python3-nibabel is not installed")
    def test_trk_contains_the_regions_that_each_fibre_joins(self):
        out = self.make("out.h5", "--seed-image", self.ends, "--connectome", self.ends, "--directions", "8")
        self.assertEqual(voxherd("export", out, "--to", "trk", self.path("out.trk"))[0], 0)
        fibres = nibabel.streamlines.load(self.path("out.trk")).tractogram.data_per_streamline
        with h5py.File(out, "r") as file:
            regions = np.concatenate([fibres["regions_1"], fibres["regions_2"]], axis=1)
            np.testing.assert_array_equal(regions, file["samples/regions"][()])

    @unittest.skipIf(nibabel is None, "python3-nibabel is not installed")
    def test_paths_outside_white_matter_are_a_warning_and_a_threshold_keeps_them_inside(self):
        brain = WhiteMatterPhantom(self.folder)
        seeds = brain.save(self.folder, "seeds", brain.values.sum(axis=-1) > 0)
        for options in (), ("--within-fa", "0.2"):
            rc, output = self.launch(self.path("out.h5"), "--seed-image", seeds, "--directions", "4", "--smooth", "0", "--overwrite",
                                     *options, scan=brain.scan)
            self.assertEqual(rc, 0, output)
            paths = Result(self.path("out.h5"))
            low = (paths.samples["mean_FA"] < 0.2).sum()
            warning = f"{low} of {len(paths)} paths leave white matter: their mean FA is below 0.2; give --within-fa 0.2"
            self.assertEqual(warning in output, not options, output)
            self.assertEqual(low > 0.25 * len(paths), not options)
            if options:
                places = np.concatenate([path[:-1] for path in paths])  # the last step may leave it
                self.assertTrue(brain.white[tuple(np.rint(places / 2).astype(int).T)].all())
                self.assertIn(f"white matter has {brain.white.sum()} of", output)
                outside = (brain.values.sum(axis=-1) > 0).sum() - brain.white.sum()
                self.assertIn(f"{outside} of {outside + brain.white.sum()} seeds are outside white matter; ignored", output)

    def test_the_counts_of_the_log_add_up(self):
        for two_way in (False, True):
            table = self.path("times.json")
            out = self.make(f"{two_way}.h5", "--seed-image", self.ends, "--targets", self.ends, "--rays",
                            "two-way" if two_way else "one-way", "--smooth", "0.7", "--min-fa", "0.1", "--min-length", "15",
                            "--json", table, ranks=2)
            os.remove(table)
            output = re.search(r"(\d+) paths: (.*)", self.output)
            verdicts = [int(n) for n in re.findall(r"(\d+) [a-z]", output[2])]
            stops = [int(n) for n in re.findall(r"(\d+) [a-z]", re.search(r"rays ended by: (.*)", self.output)[1])]
            fibres = 156 * 64
            self.assertEqual((int(output[1]), sum(verdicts)), (fibres, fibres))
            self.assertEqual(sum(stops), fibres * (2 if two_way else 1))
            self.assertGreater(len(stops), 2)
            with h5py.File(out, "r") as f:
                summary = json.loads(f["journal/summary"][()])
                accepted = f["connectome/count"][()]
            self.assertEqual(sum(summary["paths"].values()), fibres)
            self.assertEqual(sum(summary["rays_ended_by"].values()), sum(stops))
            self.assertEqual(np.triu(accepted).sum() if two_way else accepted.sum(), summary["paths"]["accepted"])
            self.assertEqual(len(Result(out)), summary["paths"]["accepted"])


class KilledRuns(KillAndResume, GeodesicJobs):
    # Steps of a twentieth of a millimetre and as many points: about a second for each pass.
    SLOW = ("--step", "0.05", "--output-step", "0.05", "--directions", "100", "--max-length", "60", "--batch", "200")

    def options(self):
        return ("--seed-image", self.ends, "--targets", self.ends, "--smooth", "1", *self.SLOW)

    def reference(self):
        """Digest of an undisturbed run, and its seconds; the same for all tests."""
        if not hasattr(KilledRuns, "known"):
            start = time.time()
            out = self.make("reference.h5", *self.options())
            KilledRuns.known = digest(out), time.time() - start
        return KilledRuns.known

    def test_kill_9_at_any_time_then_another_rank_count_gives_the_same_bytes(self):
        expected, seconds = self.reference()
        self.kill_at_random_times(lambda ranks, out: self.begin(ranks, out, "--resume", *self.options()),
                                  lambda out, ranks: self.resume_and_compare(out, ranks, expected), seconds,
                                  rank_counts=(1, 2, 3, 5), attempts=2)

    def resume_and_compare(self, out, ranks, expected):
        rc, output = self.launch(out, "--resume", *self.options(), ranks=ranks)
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), expected)
        self.assertEqual(voxherd("verify", out)[0], 0)
        self.assertFalse(os.path.exists(out + ".scores"))

    @stores_from_the_start()
    def test_kill_9_in_each_pass_loses_none_of_its_finished_batches(self):
        expected = self.reference()[0]
        for name in ("killed.h5.scores", "killed.h5"):
            out = self.path("killed.h5")
            job = self.begin(2, out, "--resume", *self.options())
            wait_for_batches(self.path(name), 3)
            os.kill(rank_processes(job, PROGRAM)[1], signal.SIGKILL)
            remaining_output(job, PROGRAM)
            self.assertNotEqual(job.returncode, 0)
            self.assertTrue(os.path.exists(self.path(name) + ".part"))
            self.assertEqual(voxherd("verify", self.path(name) + ".part")[0], 0)
        rc, output = self.launch(out, "--resume", *self.options(), "--measure", "relative")
        self.assertEqual(rc, USAGE, output)
        self.assertIn('measure: "ratio" in the file, "relative" now', output)
        self.resume_and_compare(out, 3, expected)

    @stores_from_the_start()
    def test_sigterm_in_each_pass_ends_with_status_75_and_is_resumed(self):
        out = self.path("stopped.h5")
        for name in ("stopped.h5.scores", "stopped.h5"):
            job = self.begin(2, out, "--resume", *self.options())
            wait_for_batches(self.path(name), 2)
            os.kill(rank_processes(job, PROGRAM)[1], signal.SIGTERM)
            output = job.communicate(timeout=60)[1]
            self.assertEqual(job.returncode, 75, output)
            self.assertEqual(output.count("--resume"), 1, output)
        self.resume_and_compare(out, 1, self.reference()[0])

    def test_a_resumed_run_keeps_the_trace_of_a_step_that_had_ended(self):
        out, trace = self.path("traced.h5"), self.path("trace.csv")
        job = self.begin(2, out, "--trace", trace, *self.options())
        wait_for_batches(out, 2)
        os.kill(rank_processes(job, PROGRAM)[1], signal.SIGTERM)
        output = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, 75, output)
        with open(trace + ".scores", encoding="utf-8") as file:
            before = file.read()
        rc, output = self.launch(out, *self.options(), "--trace", trace)
        self.assertEqual(rc, 2, output)
        rc, output = self.launch(out, "--resume", *self.options(), "--trace", trace)
        self.assertEqual(rc, 0, output)
        with open(trace + ".scores", encoding="utf-8") as file:
            self.assertEqual(file.read(), before)

    @stores_from_the_start()
    def test_a_second_job_is_refused_from_the_first_pass_on(self):
        out = self.path("both.h5")
        first = self.begin(2, out, *self.options())
        wait_for_batches(self.path("both.h5.scores"), 2)
        ranks = rank_processes(first, PROGRAM)
        for rank in ranks:
            os.kill(rank, signal.SIGSTOP)
        rc, output = self.launch(out, "--resume", *self.options(), ranks=1)
        for rank in ranks:
            os.kill(rank, signal.SIGCONT)
        self.assertEqual(rc, USAGE, output)
        self.assertIn(f"--out {out}: another job is writing it", output)
        output = first.communicate(timeout=60)[1]
        self.assertEqual(first.returncode, 0, output)
        for ending in (".lock", ".scores", ".scores.lock"):
            self.assertFalse(os.path.exists(out + ending))


class Nothing(GeodesicJobs):
    def test_a_result_without_accepted_fibres_is_complete_and_can_be_exported(self):
        digests = set()
        for ranks in (1, 3):
            out = self.make(f"{ranks}.h5", "--seed-image", self.ends, "--connectome", self.ends, "--min-length", "240",
                            "--distinct", "3", ranks=ranks)
            result = Result(out)
            self.assertEqual((len(result), result.complete, len(result.position)), (0, 1, 0))
            self.assertEqual(result.connectome["count"].sum(), 0)
            self.assertEqual(result.connectome["labels"].tolist(), list(range(1, 15)))
            for name in ("best_measure", "mean_measure", "mean_length_mm"):
                self.assertTrue((result.connectome[name] == 0).all())
            self.assertEqual(voxherd("verify", out)[0], 0)
            digests.add(digest(out))
        self.assertEqual(len(digests), 1)
        self.assertRegex(self.output, r"9984 paths: .*too short")
        for kind in ("tck", "trk", "trx"):
            rc, _, output = voxherd("export", out, "--to", kind, self.path(f"none.{kind}"))
            self.assertEqual(rc, 0, output)
        rc, _, output = voxherd("export", out, "--to", "csv", self.path("matrices"))
        self.assertEqual(rc, 0, output)
        self.assertEqual(np.loadtxt(self.path("matrices/count.csv"), delimiter=",").sum(), 0)

    def test_a_dry_run_reports_the_plan_and_writes_nothing(self):
        rc, output = self.launch(self.path("dry.h5"), "--seed-image", self.ends, "--targets", self.ends, "--dry-run", ranks=2)
        self.assertEqual(rc, 0, output)
        self.assertIn("156 seeds with 64 directions each: 9984 paths", output)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_dry_run_estimates_every_step(self):
        words = ("geodesic", *self.scan(), "--backend", "cpu", "--threads", "1", "--out", self.path("dry.h5"), "--seed-image",
                 self.ends, "--targets", self.ends, "--dry-run")
        _, estimate, _ = voxherd(*words)
        self.assertRegex(estimate, r"scores: about .* \(\d+ paths took")
        self.assertRegex(estimate, r"paths: at most \d+:\d\d \(if all paths are accepted\)")
        self.assertIn("ranking: not estimated", estimate)
        _, estimate, _ = voxherd(*words, "--top", "2", "--distinct", "5")
        self.assertRegex(estimate, r"ranking: at most \d+:\d\d \(if all paths are accepted and compared\)")
        self.assertRegex(estimate, r"paths: at most \d+:\d\d \(2 paths for each of 225 pairs\)")


class Errors(GeodesicJobs):
    def test_errors_are_reported_once_and_nothing_is_written(self):
        seeds = ("--seed-image", self.ends)
        self.assert_rejected(USAGE, "(--seed-image FILE | --seed-points FILE) is missing", ranks=2)
        self.assert_rejected(USAGE, "--target-labels", *seeds, "--target-labels", "3")
        self.assert_rejected(BAD_DATA, "99", *seeds, "--targets", self.ends, "--target-labels", "99", ranks=3)
        self.assert_rejected(MISSING, "none.nii", *seeds, "--targets", self.path("none.nii"))
        self.assert_rejected(USAGE, "--metric", *seeds, "--form", "streamline", "--metric", "adjugate")
        self.assert_rejected(USAGE, "--alpha", *seeds, "--alpha", "3")
        self.assert_rejected(USAGE, "--min-length 300", *seeds, "--min-length", "300")
        self.assert_rejected(USAGE, "--interpolation texture", *seeds, "--form", "christoffel", "--interpolation", "texture")
        self.assert_rejected(USAGE, "--dwi", *seeds, scan=("--quiet",))

    @unittest.skipIf(nibabel is None, "python3-nibabel is not installed")
    def test_too_many_labels_for_the_matrices_are_rejected_before_any_work(self):
        image = nibabel.load(self.ends)
        many = os.path.join(self.shared, "many.nii")
        nibabel.save(nibabel.Nifti1Image(np.arange(4800, dtype=np.int16).reshape(image.shape), image.affine), many)
        self.assert_rejected(USAGE, "4799 target labels", "--seed-image", self.ends, "--connectome", many, ranks=2)


if __name__ == "__main__":
    unittest.main()
