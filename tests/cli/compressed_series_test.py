"""A result does not depend on how its series is stored: .nii, .nii.gz, gzip members, trailing bytes, ranks."""
import gzip
import os
import tempfile
import unittest

from program import files_below, run


class CompressedSeries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.toy = os.path.join(cls.scratch.name, "toy")
        run("phantom", "dwi", "--preset", "toy", "--out", cls.toy)
        with open(os.path.join(cls.toy, "data.nii"), "rb") as file:
            cls.content = file.read()
        cls.fit("data.nii", "plain.h5")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def at(cls, name):
        return os.path.join(cls.toy, name)

    @classmethod
    def fit(cls, series, out, *options, ranks=1, expect=0):
        mask = cls.at("nodif_brain_mask.nii.gz")
        return run("tensor", "--dwi", cls.at(series), "--bvals", cls.at("bvals"), "--bvecs", cls.at("bvecs"), "--mask", mask,
                   "--backend", "cpu", "--threads", "1", "--out", cls.at(out), *options, ranks=ranks, expect=expect)

    def pack(self, *parts):
        with open(self.at("data.nii.gz"), "wb") as file:
            file.write(b"".join(parts))

    def test_compressed_on_one_rank_and_on_three_gives_the_same_bytes(self):
        self.pack(gzip.compress(self.content))
        for ranks in (1, 3):
            self.fit("data.nii.gz", "packed.h5", "--overwrite", ranks=ranks)
            run("compare", self.at("plain.h5"), self.at("packed.h5"))

    def test_members_and_what_follows_them_change_nothing(self):
        third = len(self.content) // 3
        pieces = [self.content[:100], self.content[100:third], self.content[third:]]
        self.pack(*(gzip.compress(piece) for piece in pieces), b"rubbish")
        self.fit("data.nii.gz", "members.h5", "--overwrite")
        run("compare", self.at("plain.h5"), self.at("members.h5"))

    def test_damage_found_while_the_run_is_set_up_leaves_nothing_behind(self):
        packed = bytearray(gzip.compress(self.content))
        packed[-6] ^= 1
        self.pack(bytes(packed))
        os.makedirs(self.at("results"), exist_ok=True)
        self.fit("data.nii", "results/kept.h5")
        before = files_below(self.at("results"))
        done = self.fit("data.nii.gz", "results/other.h5", expect=65)
        self.assertIn("damaged", done.stderr)
        self.assertEqual(files_below(self.at("results")), before)


if __name__ == "__main__":
    unittest.main()
