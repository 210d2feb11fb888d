"""Damaged and malicious results: every reader refuses them, and no other file is read or written."""
import json
import os
import unittest

import numpy as np
from result_files import batches_done, changed_tables, changed_values, digest, h5py, store_checksums
from toy_jobs import ToyJobs, run, voxherd

SLOW = ("--batch", 400, "--break-at", 4)  # seven batches, of which the fifth fails
SECRET = b"the content of another file " * 10000


def replace(file, name, make):
    """Another dataset in the place of one, with its attributes."""
    shape, kind, attributes = file[name].shape, file[name].dtype, dict(file[name].attrs)
    del file[name]
    make(shape, kind)
    file[name].attrs.update(attributes)


class HostileResults(ToyJobs):
    def setUp(self):
        super().setUp()
        with open(self.path("secret"), "wb") as file:
            file.write(SECRET)
        with h5py.File(self.path("other.h5"), "w") as file:
            file["x"] = np.zeros(20000, "f4")

    def make(self, command="toy"):
        rc, output = run(1, self.path("r.h5"), "--batch", 400, "--overwrite", command=command)
        self.assertEqual(rc, 0, output)
        return self.path("r.h5")

    def check_refused(self, path, *words, commands=("info", "verify", "report", "export")):
        before = set(os.listdir(self.folder))
        more = {"report": ("--out", self.path("page.html")), "export": ("--to", "nifti", "--out", self.path("maps"))}
        for command in commands:
            rc, out, output = voxherd(command, path, *more.get(command, ()))
            self.assertEqual(rc, 65, f"{command}: {out}{output}")
            self.assertEqual(output.count("voxherd: error:"), 1, output)
            for word in (os.path.basename(path), *words):
                self.assertIn(word, output)
        self.assertEqual(set(os.listdir(self.folder)), before)
        with open(self.path("secret"), "rb") as file:
            self.assertEqual(file.read(), SECRET)

    def external(self, file, name):
        def make(shape, kind):
            file.create_dataset(name, shape, kind, external=[(self.path("secret"), 0, int(np.prod(shape)) * kind.itemsize)])

        replace(file, name, make)

    def virtual(self, file, name):
        def make(shape, kind):
            layout = h5py.VirtualLayout(shape=shape, dtype=kind)
            layout[...] = h5py.VirtualSource(self.path("other.h5"), "x", shape=shape)
            file.create_virtual_dataset(name, layout)

        replace(file, name, make)

    def test_values_in_other_files_are_refused(self):
        for name in ("maps/value", "samples/draws", "inputs/bvals", "items/voxel"):
            for change, words in ((self.external, "external storage"), (self.virtual, "a virtual dataset")):
                path = self.make()
                with changed_values(path) as file:
                    change(file, name)
                self.check_refused(path, words, name)

    def test_links_are_not_followed(self):
        links = {"soft": lambda name: h5py.SoftLink("/moved"), "external": lambda name: h5py.ExternalLink(self.path("other.h5"), "/x")}
        for name in ("maps/value", "inputs/bvals", "samples", "journal/batches"):
            for kind, link in links.items():
                path = self.make()
                with changed_values(path) as file:
                    file.move(name, "moved")
                    file[name] = link(name)
                self.check_refused(path, "is a soft or external link", name)

    def test_only_filters_of_h5repack_are_read(self):
        path = self.make()
        with changed_values(path) as file:
            values = file["maps/value"][()]
            replace(file, "maps/value", lambda shape, kind: file.create_dataset("maps/value", data=values, compression="lzf"))
        self.check_refused(path, "needs filter 32000", "h5repack")
        for how in ({"compression": "gzip", "shuffle": True}, {"fletcher32": True, "chunks": True}):
            with changed_values(path) as file:
                replace(file, "maps/value", lambda shape, kind: file.create_dataset("maps/value", data=values, **how))
            self.assertEqual(voxherd("verify", path)[0], 0)

    def test_names_are_not_paths(self):
        for new in ("../../EVIL", "..", "", "a\nb", "/EVIL"):
            for kind in ("outputs", "inputs"):
                path = self.make()
                with changed_values(path) as file:
                    contents = json.loads(file.attrs["contents"])
                    one = contents[kind][0]
                    group = "maps" if kind == "outputs" else one["group"]
                    if "/" in new:
                        file.require_group(os.path.dirname(f"{group}/{new}"))
                        file[f"{group}/{new}"] = file[f"{group}/{one['name']}"]
                    one["name"] = new
                    file.attrs["contents"] = np.bytes_(json.dumps(contents))
                self.check_refused(path, "expected a name without slashes and control characters")

    def test_a_name_may_not_be_listed_twice(self):
        path = self.make()
        with changed_values(path) as file:
            contents = json.loads(file.attrs["contents"])
            contents["outputs"].append(contents["outputs"][0])
            file.attrs["contents"] = np.bytes_(json.dumps(contents))
        self.check_refused(path, "is listed twice")

    def test_another_type_or_shape_is_refused(self):
        for name, kind, shape in (("maps/value", "f8", None), ("inputs/bvals", "f4", None), ("items/voxel", "i4", None), ("journal/summary", "S70000", ()),
                                  ("journal/summary", "S65536", (3,)), ("maps/value", "f4", (5,))):
            path = self.make()
            with changed_values(path) as file:
                replace(file, name, lambda old, _: file.create_dataset(name, old if shape is None else shape, kind))
            self.check_refused(path, name)

    def test_the_extents_of_a_shape_are_whole_numbers(self):
        for extent in (1e300, -1, 1.5, "1", None):
            path = self.make()
            with changed_values(path) as file:
                contents = json.loads(file.attrs["contents"])
                contents["inputs"][0]["shape"] = [extent]
                file.attrs["contents"] = np.bytes_(json.dumps(contents))
            self.check_refused(path, "expected a whole number")

    def test_texts_of_another_form_name_the_file(self):
        for name, value in (("configuration", []), ("provenance", 7), ("provenance", {"inputs": [1]})):
            path = self.make()
            with changed_tables(path) as file:
                file.attrs[name] = np.bytes_(json.dumps(value))
            self.check_refused(path, "is not a JSON object")

    def test_a_damaged_dataset_is_noticed_when_the_file_is_opened(self):
        for name in ("inputs/bvals", "journal/batches"):
            path = self.make()
            with h5py.File(path, "r") as file:
                at = file[name].id.get_offset()
            with open(path, "r+b") as file:
                file.seek(at + 9)
                byte = file.read(1)[0]
                file.seek(at + 9)
                file.write(bytes([byte ^ 1]))
            self.check_refused(path, f"/{name} is damaged: checksum", commands=("info", "report", "export"))

    def test_a_damaged_batch_is_noticed_by_those_who_use_the_values(self):
        path = self.make()
        with h5py.File(path, "r+") as file:
            values = file["samples/draws"]
            values[1000] = values[1001] + 1
        self.assertEqual(voxherd("verify", path, "--accept")[0], 65)
        self.check_refused(path, "batch 2 (items 800 to 1199)", "voxherd verify", commands=("report", "export"))
        rc, _, output = voxherd("compare", path, path)
        self.assertEqual(rc, 65, output)
        self.assertIn("is damaged", output)

    def test_a_resumed_run_writes_into_no_other_file(self):
        expected = self.reference()
        for change in (self.external, self.virtual):
            for ranks in (1, 2):
                out = self.path("stopped.h5")
                self.assertEqual(run(1, out, *SLOW, "--overwrite")[0], 70)
                self.assertGreater(batches_done(out + ".part"), 0)
                with changed_tables(out + ".part") as file:
                    change(file, "maps/value")
                    store_checksums(file)
                with open(out + ".part", "rb") as file:
                    part = file.read()
                rc, output = run(ranks, out, "--resume")
                self.assertEqual(rc, 65, output)
                self.assertIn("in other files", output)
                with open(out + ".part", "rb") as file:
                    self.assertEqual(file.read(), part)
                with open(self.path("secret"), "rb") as file:
                    self.assertEqual(file.read(), SECRET)
                os.remove(out + ".part")
        self.assertEqual(expected, self.reference())
        self.assertTrue(digest(self.path("reference.h5")))


if __name__ == "__main__":
    unittest.main()
