"""Compressed series that exceed --host-memory: the same bytes in several passes, kills and signals in the middle."""
import gzip
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from kill_and_resume import random_choices
from toy_jobs import (VOXHERD, digest, mpirun, rank_processes, remaining_output, run_process, wait_for_batches,
                      wait_for_ranks)

# 66 floats per voxel: the toy's 1536 voxels need 0.0004 GB; this limit allows two times 277.
IN_STAGES = ("--host-memory", "0.0001465")


def begin(ranks, *words):
    return subprocess.Popen(mpirun(ranks, VOXHERD, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class StagedJobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="voxherd_staged_")
        cls.addClassCleanup(shutil.rmtree, cls.shared)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.shared)

    def path(self, name):
        return os.path.join(self.folder, name)

    def expect(self, done, status=0):
        self.assertEqual(done[0], status, done[2])
        return done[2]


class SameBytes(StagedJobs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.toy = os.path.join(cls.shared, "toy")
        status, _, output = run_process(VOXHERD, "phantom", "dwi", "--preset", "toy", "--threads", "1", "--out", cls.toy)
        assert status == 0, output
        with open(f"{cls.toy}/data.nii", "rb") as file, gzip.open(f"{cls.toy}/data.nii.gz", "wb", 1) as packed:
            packed.write(file.read())

    def words(self, command, out, *options, series="data.nii.gz"):
        return (command, "--dwi", f"{self.toy}/{series}", "--bvals", f"{self.toy}/bvals", "--bvecs",
                f"{self.toy}/bvecs", "--mask", f"{self.toy}/nodif_brain_mask.nii.gz", "--backend", "cpu", "--threads",
                "1", "--out", self.path(out), *options)

    def expect_same(self, command, *options, ranks=(1, 2, 3), stages=6):
        self.expect(run_process(VOXHERD, *self.words(command, "plain.h5", *options, series="data.nii")))
        for count in ranks:
            words = self.words(command, f"staged{count}.h5", *options, *IN_STAGES)
            output = self.expect(run_process(*mpirun(count, VOXHERD, *words)))
            self.assertGreaterEqual(output.count("decompressed for voxels"), stages, output)
            self.assertEqual(digest(self.path(f"staged{count}.h5")), digest(self.path("plain.h5")))

    def test_tensor_in_six_stages_by_voxels_by_slices_and_dealt_in_advance(self):
        self.expect_same("tensor")
        self.expect_same("tensor", "--overwrite", "--partition", "slices", "--schedule", "static", ranks=(2,))

    def test_a_batch_is_not_larger_than_a_stage(self):
        self.expect_same("tensor", "--batch", "100000", ranks=(2,))

    def test_ballstick_in_six_stages(self):
        self.expect_same("ballstick", "--burn-in", "20", "--jumps", "20", "--sample-every", "5", ranks=(2,))

    def test_geodesic_and_connect_fit_their_tensors_in_stages(self):
        ends = f"{self.toy}/truth/ends.nii.gz"
        self.expect_same("geodesic", "--seed-image", ends, "--targets", ends, "--form", "streamline", ranks=(1, 2))
        self.expect_same("connect", "--overwrite", "--connectome", ends, "--bootstrap", "2", ranks=(2,), stages=12)

    def test_an_invalid_memory_limit_is_rejected(self):
        for limit in ("0", "-1", "1e7", "nan"):
            output = self.expect(run_process(VOXHERD, *self.words("tensor", "x.h5", "--host-memory", limit)), status=2)
            self.assertIn("--host-memory", output)

    def test_a_small_series_is_read_without_a_word(self):
        for verbose in (False, True):
            out = self.expect(run_process(VOXHERD, *self.words("tensor", f"{verbose}.h5", *(["--verbose"] if verbose else []))))
            self.assertEqual("decompress" in out, verbose, out)

    def test_a_dry_run_reports_the_memory_of_stages(self):
        self.expect(run_process(VOXHERD, *self.words("tensor", "x.h5", "--dry-run", *IN_STAGES)))
        self.assertEqual(os.listdir(self.folder), [])

    def slow(self, out, *options):
        return self.words("ballstick", out, "--burn-in", "400", "--jumps", "20", "--sample-every", "5", "--batch", "24",
                          *options)

    def test_killed_or_stopped_in_any_stage_it_resumes_with_other_ranks_and_limits(self):
        self.expect(run_process(VOXHERD, *self.slow("plain.h5")))
        expected = digest(self.path("plain.h5"))
        chance = random_choices(self.id())
        out = self.path("stopped.h5")
        for batches, ranks, number in ((5, 2, signal.SIGKILL), (20, 1, signal.SIGTERM), (40, 3, signal.SIGKILL)):
            job = begin(ranks, *self.slow("stopped.h5", "--resume", *IN_STAGES))
            self.assertEqual(len(wait_for_ranks(job, ranks, "voxherd")), ranks)
            wait_for_batches(out, batches)
            os.kill(chance.choice(rank_processes(job, "voxherd")), number)
            output = remaining_output(job, "voxherd")
            self.assertNotEqual(job.returncode, 0, output)
            if number == signal.SIGTERM:
                self.assertEqual(job.returncode, 75, output)
        # Less room than a batch of the stored plan takes is refused, more is not.
        output = self.expect(run_process(VOXHERD, *self.slow("stopped.h5", "--resume", "--host-memory", "0.000004")), status=2)
        self.assertIn("--host-memory", output)
        self.expect(run_process(*mpirun(2, VOXHERD, *self.slow("stopped.h5", "--resume", "--host-memory", "0.0003"))))
        self.assertEqual(digest(out), expected)


class SignalsMeanwhile(StagedJobs):
    """A file that is small on disk and takes many seconds to inflate: 134 GB of zeros, in members that are the same
    bytes."""

    size, volumes = (256, 256, 128), 2000  # of float64
    voxels = 256 * 256 * 128

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        at = lambda name: os.path.join(cls.shared, name)
        member = gzip.compress(bytes(8 * cls.voxels))
        with open(at("long.nii.gz"), "wb") as file:
            file.write(gzip.compress(cls.header(cls.volumes, 64, 8)))
            for _ in range(cls.volumes):
                file.write(member)
        mask = bytearray(cls.voxels)
        mask[500000:500020] = bytes([1] * 20)
        with open(at("mask.nii"), "wb") as file:
            file.write(cls.header(1, 2, 1) + mask)
        with open(at("other.nii"), "wb") as file:  # one vessel is not the other
            file.write(cls.header(1, 2, 1) + mask[40:] + bytes(40))
        b = [1000 if k % 500 else 0 for k in range(cls.volumes)]
        # The directions are not of unit length: the warning appears just before the search for b=0 voxels starts.
        x, y, z = ([(k * 37 % 101 - 50) / 50 for k in range(first, cls.volumes + first)] for first in (1, 32, 57))
        with open(at("bvals"), "w") as file:
            file.write(" ".join(map(str, b)))
        with open(at("bvecs"), "w") as file:
            file.write("\n".join(" ".join(map(str, row)) for row in (x, y, z)))

    @classmethod
    def header(cls, volumes, datatype, value_bytes):
        h = bytearray(352)
        struct.pack_into("<i", h, 0, 348)
        struct.pack_into("<8h", h, 40, 4 if volumes > 1 else 3, *cls.size, volumes, 1, 1, 1)
        struct.pack_into("<2h", h, 70, datatype, 8 * value_bytes)
        struct.pack_into("<8f", h, 76, 1, 2, 2, 2, 1, 0, 0, 0)
        struct.pack_into("<3f", h, 108, 352, 1, 0)
        struct.pack_into("<2h", h, 252, 0, 1)
        for row in range(3):
            struct.pack_into("<f", h, 280 + 20 * row, 2.0)
        h[344:348] = b"n+1\0"
        return bytes(h)

    @staticmethod
    def wait_for_words(log, words):
        deadline = time.time() + 60
        while time.time() < deadline:
            with open(log) as file:
                if words in file.read():
                    return
            time.sleep(0.01)
        raise AssertionError(f"{words!r} did not appear in the log")

    def stop(self, ranks, number, begun, command, *options):
        at = lambda name: os.path.join(self.shared, name)
        series = (("--dynamic", at("long.nii.gz"), "--spacing", "1", "--arterial-voi", at("mask.nii"), "--portal-voi",
                   at("other.nii")) if command == "perfusion" else
                  ("--dwi", at("long.nii.gz"), "--bvals", at("bvals"), "--bvecs", at("bvecs")))
        log = self.path("log")
        with open(log, "w") as errors:
            job = subprocess.Popen(mpirun(ranks, VOXHERD, command, *series, "--backend", "cpu", "--threads", "1", "--out",
                                          self.path("x.h5"), *options), stderr=errors)
        self.wait_for_words(log, begun)
        time.sleep(0.3)
        if job.poll() is not None:
            self.skipTest("this machine inflates 134 GB of zeros before a test can send a signal")
        signalled = time.time()
        os.kill(rank_processes(job, "voxherd")[-1], number)
        self.wait_for_words(log, "on signal")
        took = time.time() - signalled
        job.wait(timeout=60)
        with open(log) as file:
            output = file.read()
        self.assertEqual(job.returncode, 75, output)
        # Before OUT.part there is nothing to resume, and the same command continues.
        self.assertEqual(output.count("--resume") + output.count("; repeat the command"), 1, output)
        self.assertLess(took, 2, output)  # a tenth of a second on an idle machine
        os.remove(log)
        self.assertEqual(os.listdir(self.folder), [])

    def test_while_tensor_and_ballstick_wait(self):
        mask = ("--mask", os.path.join(self.shared, "mask.nii"))
        self.stop(1, signal.SIGTERM, "decompressing once per node", "tensor", "--verbose", *mask)
        self.stop(3, signal.SIGUSR1, "decompressing once per node", "ballstick", "--verbose", *mask)

    def test_while_geodesic_connect_and_perfusion_wait(self):
        mask = ("--mask", os.path.join(self.shared, "mask.nii"))
        region = os.path.join(self.shared, "mask.nii")
        self.stop(2, signal.SIGTERM, "decompressing once per node", "geodesic", "--verbose", *mask, "--seed-image", region)
        self.stop(2, signal.SIGINT, "decompressing once per node", "connect", "--verbose", *mask, "--connectome", region)
        self.stop(2, signal.SIGTERM, "decompressing once per node", "perfusion", "--verbose", *mask)

    def test_while_the_automatic_mask_is_computed(self):
        self.stop(1, signal.SIGTERM, "not unit vectors", "tensor")


if __name__ == "__main__":
    unittest.main()
