"""A result does not depend on how its series is stored: .nii, .nii.gz, gzip members, trailing bytes, ranks."""
import gzip
import os
import unittest

from packed_series import packed_series
from program import files_below, run


class CompressedSeries(packed_series):
    def test_compressed_on_one_rank_and_on_three_gives_the_same_bytes(self):
        self.pack(gzip.compress(self.content))
        for ranks in (1, 3):
            self.fit("data.nii.gz", "packed.h5", "--overwrite", ranks=ranks)
            run("compare", self.at("plain.h5"), self.at("packed.h5"))

    def test_members_and_what_follows_them_change_nothing(self):
        third = len(self.content) // 3
        pieces = [self.content[:100], self.content[100:third], self.content[third:]]
        self.pack(*(gzip.compress(piece) for piece in pieces), b"rubbish")
        done = self.fit("data.nii.gz", "members.h5", "--overwrite")
        run("compare", self.at("plain.h5"), self.at("members.h5"))
        self.assertIn("data.nii.gz: 7 bytes that are not gzip follow the compressed data; ignored", done.stderr)

    def test_bytes_after_the_image_are_reported_once(self):
        self.pack(gzip.compress(self.content + bytes(12)))
        done = self.fit("data.nii.gz", "longer.h5", "--overwrite", "--host-memory", "0.0003", "--batch", "64", ranks=2)
        run("compare", self.at("plain.h5"), self.at("longer.h5"))
        self.assertEqual(done.stderr.count("data.nii.gz: 12 bytes follow the data; ignored"), 1, done.stderr)

    def test_damage_that_makes_the_series_longer_is_an_error(self):
        packed = bytearray(gzip.compress(self.content + bytes(12)))
        packed[-8] ^= 1
        for ranks in (1, 3):
            self.pack(bytes(packed))
            done = self.fit("data.nii.gz", "wrong.h5", "--overwrite", ranks=ranks, expect=65)
            self.assertIn("data.nii.gz: the gzip stream is damaged", done.stderr)
            self.assertEqual([f for f in files_below(self.folder) if f.startswith("wrong")], [])

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
