"""Files that were damaged after they were written: verify and --resume find it, and no reader crashes."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import unittest

import numpy as np
from result_files import digest, h5py
from toy_jobs import VOXHERD, ToyJobs, mpirun, run, voxherd

SLOW = ("--batch", 400, "--break-at", 4)  # seven batches, of which the fifth fails


def flip(path, at, bit=0):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ (1 << bit)]))


def datasets(path):
    """Place in the file, bytes, and name of each dataset."""
    found = {}
    with h5py.File(path, "r") as f:
        def note(name, thing):
            if isinstance(thing, h5py.Dataset) and thing.id.get_offset() is not None:
                found.setdefault(thing.id.get_offset(), (thing.nbytes, name))

        f.visititems(note)
    return [(at, size, name) for at, (size, name) in found.items()]


def content(path):
    """All data and attributes."""
    attributes = {}
    with h5py.File(path, "r") as f:
        def note(name, thing):
            attributes[name] = {key: str(value) for key, value in thing.attrs.items()}

        note("/", f)
        f.visititems(note)
    return digest(path), attributes


def verify_with_poisoned_memory(ranks, path):
    """With allocations of the C library that are not zero by chance."""
    env = dict(os.environ, MALLOC_PERTURB_="165", GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
    words = [VOXHERD, "verify", path]
    done = subprocess.run(mpirun(ranks, *words) if ranks > 1 else words, env=env, capture_output=True, text=True,
                          timeout=60)
    return done.returncode, done.stderr


class Damage(ToyJobs):
    def make(self, *options, command="toy"):
        out = self.path(f"{command}.h5")
        rc, output = run(1, out, *(options or ("--batch", 400)), command=command)
        self.assertEqual(rc, 0, output)
        return out

    def damaged(self, path, at):
        copy = self.path("damaged.h5")
        shutil.copy(path, copy)
        flip(copy, at)
        return copy

    def test_verify_finds_a_flipped_bit_in_every_dataset(self):
        for command in ("toy", "ragged"):
            path = self.make("--batch", 400, command=command)
            self.assertEqual(voxherd("verify", path)[0], 0)
            names = set()
            for at, size, name in datasets(path):
                rc, out, output = voxherd("verify", self.damaged(path, at + size // 2))
                self.assertEqual(rc, 65, f"{name}: {out}{output}")
                names.add(name.split("/")[0])
            self.assertLessEqual({"inputs", "items", "journal"}, names)
        self.assertLessEqual({"connectome", "points", "VTKHDF"}, names)

    def test_verify_finds_a_flipped_bit_in_the_texts(self):
        path = self.make()
        with open(path, "rb") as f:
            content = f.read()
        for word in (b'"command_line"', b'"seed":1', b"four b-values", b'"layout":"volume"'):
            rc, out, output = voxherd("verify", self.damaged(path, content.index(word) + 2))
            self.assertEqual(rc, 65, f"{word}: {out}{output}")

    def test_a_damaged_table_is_found_or_changes_nothing(self):
        path = self.make()
        expected = content(path)
        first = min(at for at, _, _ in datasets(path))
        with open(path, "rb") as f:
            used = [at for at, byte in enumerate(f.read(first)) if byte != 0]
        for at in random.Random(5).sample(used, 20):
            copy = self.damaged(path, at)
            rc, _, output = voxherd("verify", copy)
            self.assertIn(rc, (0, 65), f"byte {at}: {output}")
            if rc == 0:
                self.assertEqual(content(copy), expected, f"byte {at}")

    def test_a_result_without_checksums_is_read_and_named(self):
        path = self.make()
        older = self.path("older.h5")
        shutil.copy(path, older)
        with h5py.File(older, "r+") as f:
            del f.attrs["text_checksum"]
            del f["inputs/bvals"].attrs["checksum"]
            f.attrs["analysis"] = "toy"  # of variable length, as older versions wrote it
        rc, out, output = voxherd("verify", older)
        self.assertEqual(rc, 0, output)
        self.assertIn("without checksums, from an older version: the attributes of /, /inputs/bvals", out)
        self.assertEqual(voxherd("compare", path, older)[0], 0)


class DamagedUnfinishedResults(ToyJobs):
    def stop(self):
        out = self.path("stopped.h5")
        rc, output = run(1, out, *SLOW)
        self.assertEqual(rc, 70, output)
        return out

    def test_a_batch_damaged_outside_the_mask_is_repaired(self):
        expected = self.reference()
        out = self.stop()
        with h5py.File(out + ".part", "r") as f:
            self.assertGreater(f["items/voxel"][0], 100)  # the slice before it is not written
            at = f["maps/value"].id.get_offset() + 4 * 5
        flip(out + ".part", at)
        rc, output = run(1, out, "--resume")
        self.assertEqual(rc, 0, output)
        self.assertEqual(digest(out), expected)
        self.assertEqual(voxherd("verify", out)[0], 0)

    def test_other_damage_stops_a_resumed_run_before_it_computes(self):
        out = self.stop()
        with h5py.File(out + ".part", "r") as f:
            places = {name: f[name].id.get_offset() for name in ("inputs/bvals", "items/voxel")}
        with open(out + ".part", "rb") as f:
            places["meaning"] = f.read().index(b"four b-values")
        for name, at in places.items():
            flip(out + ".part", at)
            for ranks in (1, 3):
                rc, output = run(ranks, out, "--resume")
                self.assertIn(rc, (2, 65), f"{name}: {output}")
                self.assertEqual(output.count("voxherd: error:"), 1, output)
                self.assertFalse(os.path.exists(out))
            flip(out + ".part", at)
        rc, output = run(1, out, "--resume")
        self.assertEqual(rc, 0, output)


class CorruptResults(ToyJobs):
    def check_refused(self, change, words):
        path = self.path("corrupt.h5")
        rc, output = run(1, path, "--overwrite")
        self.assertEqual(rc, 0, output)
        with h5py.File(path, "r+") as f:
            change(f)
        for command in ("info", "verify"):
            rc, out, output = voxherd(command, path)
            self.assertEqual(rc, 65, out + output)
            self.assertEqual(output.count("voxherd: error:"), 1, output)
            self.assertIn(words, output)

    def test_sizes_that_the_file_cannot_contain_are_refused(self):
        def grow(f):
            del f["items/voxel"]
            f.create_dataset("items/voxel", shape=(1 << 45,), dtype="u8", chunks=(1 << 20,))

        self.check_refused(grow, "but the file only")

        def grow_image(f):
            f["image"].attrs["size"] = np.array([1 << 40, 1 << 40, 1 << 40], "u8")

        self.check_refused(grow_image, "not the size of an image")

        def change_shape(f):
            contents = json.loads(f.attrs["contents"])
            contents["inputs"][0]["shape"] = [1 << 62, 1 << 62]
            f.attrs["contents"] = json.dumps(contents)

        self.check_refused(change_shape, "/inputs/bvals has shape 4")

    def test_a_result_of_a_later_version_that_this_one_cannot_read_names_that_version(self):
        def make_later(f):
            contents = json.loads(f.attrs["contents"])
            contents["outputs"][0]["layout"] = "octree"
            f.attrs["contents"] = np.bytes_(json.dumps(contents))
            f.attrs["voxherd_version"] = np.bytes_("23.1.0")

        self.check_refused(make_later, "octree")
        self.check_refused(make_later, "it was written by voxherd 23.1.0, and this is 0.")

    def test_texts_of_the_wrong_kind_are_refused(self):
        def nest(f):
            f.attrs["provenance"] = "[" * 100000 + "]" * 100000

        self.check_refused(nest, "too many levels")

        def number(f):
            f.attrs["configuration"] = 7

        self.check_refused(number, "not a text")

    def test_a_damaged_heap_of_texts_of_an_older_version_is_refused(self):
        older = self.path("older.h5")
        rc, output = run(1, older)
        self.assertEqual(rc, 0, output)
        with h5py.File(older, "r+") as f:
            for name in ("voxherd_version", "analysis", "configuration", "provenance", "contents"):
                f.attrs[name] = f.attrs[name].decode()
        rc, out, output = voxherd("info", older)
        self.assertEqual(rc, 0, output)
        with open(older, "rb") as f:
            content = f.read()
        heap = content.index(b"GCOL")
        # The size of the heap, or of its first text: HDF5 crashes, except with the third, with which it never ends.
        for place, size in ((8, 16), (24, 2**40), (24, 2**64 - 16)):
            path = self.path("damaged.h5")
            with open(path, "wb") as f:
                f.write(content[:heap + place] + struct.pack("<Q", size) + content[heap + place + 8:])
            rc, out, output = voxherd("info", path)
            self.assertEqual(rc, 65, out + output)
            self.assertEqual(output.count("voxherd: error:"), 1, output)

    def test_a_damaged_group_is_reported_and_the_rest_can_be_read(self):
        path = self.path("ragged.h5")
        rc, output = run(1, path, command="ragged")
        self.assertEqual(rc, 0, output)
        with open(path, "rb") as f:
            content = f.read()
        # The heap of the names in a group, its block, and the tree that lists them.
        parts = re.finditer(b"FRHP|FHDB|BTHD|BTLF", content)
        ends = {self.check_damaged_group(path, content, part.start()) for part in parts}
        self.assertEqual(ends, {"the rest is read", "refused"})  # /VTKHDF, and /

    def check_damaged_group(self, path, content, at):
        damaged = self.path("damaged.h5")
        with open(damaged, "wb") as f:
            f.write(content[:at] + b"XXXX" + content[at + 4:])
        rc, output = verify_with_poisoned_memory(1, damaged)
        self.assertEqual(rc, 65, f"byte {at}: {output}")
        self.assertEqual(output.count("voxherd: error:"), 1, output)
        if "listing /VTKHDF" not in output:
            return "refused"
        self.assertEqual(voxherd("info", damaged)[0], 0)
        self.assertEqual(voxherd("compare", path, damaged)[0], 0)
        self.assertEqual(verify_with_poisoned_memory(3, damaged)[0], 65)
        return "the rest is read"

    def test_a_text_above_64_kB_is_read(self):
        path = self.path("large.h5")
        rc, output = run(1, path)
        self.assertEqual(rc, 0, output)
        with h5py.File(path, "r+") as f:
            provenance = json.loads(f.attrs["provenance"])
            provenance["note"] = "x" * 300000
            text = json.dumps(provenance).encode()
            f.attrs.create("provenance", np.array(text, dtype=f"S{len(text)}"))
        rc, out, output = voxherd("info", path, "--verbose")
        self.assertEqual(rc, 0, output)
        self.assertIn("x" * 300000, out)


if __name__ == "__main__":
    unittest.main()
