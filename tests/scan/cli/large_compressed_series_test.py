"""A .nii.gz large enough for several threads: the same bytes and messages as with one thread."""
import gzip
import os
import unittest

from packed_series import packed_series
from program import run

SMALLEST = 16 << 20  # column_inflater.hpp


class on_cores:
    """Programs started inside run on this number of cores, and inflate with as many threads."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, sorted(self.before)[:self.count])

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.before)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core: one thread inflates")
class LargeCompressedSeries(packed_series):
    phantom = ("--preset", "hcp", "--size", "48x48x44")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.packed = gzip.compress(cls.content, 1)
        assert len(cls.packed) > SMALLEST, len(cls.packed)

    def test_several_threads_give_the_bytes_of_the_plain_file(self):
        self.pack(self.packed)
        self.fit("data.nii.gz", "packed.h5", "--overwrite")
        run("compare", self.at("plain.h5"), self.at("packed.h5"))

    def test_damage_is_reported_as_by_one_thread(self):
        middle = len(self.packed) // 2
        flipped = bytearray(self.packed)
        flipped[middle] ^= 16
        wrong_sum = bytearray(self.packed)
        wrong_sum[-6] ^= 1
        for packed, word in ((flipped, "damaged"), (wrong_sum, "wrong checksum"), (self.packed[:middle], "truncated")):
            self.pack(packed)
            lines = []
            for cores in (1, 2):
                with on_cores(cores):
                    lines.append(self.fit("data.nii.gz", "damaged.h5", "--overwrite", expect=65).stderr.splitlines()[-1])
            self.assertIn(word, lines[0])
            self.assertEqual(lines[0], lines[1])


if __name__ == "__main__":
    unittest.main()
