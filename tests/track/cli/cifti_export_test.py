"""voxherd export --to cifti: matrices of track as dense connectomes, over parcels and as sums, read by nibabel and Workbench."""
import hashlib
import os
import re
import shutil
import subprocess
import unittest

import numpy as np
from crafted_inputs import BAD_DATA, MISSING, USAGE
from toy_jobs import h5py, voxherd
from track_jobs import SIZE, TrackJobs
from track_reference_data import DATA, read_matrix

try:
    import nibabel
    from nibabel import cifti2, gifti
except ImportError:
    nibabel = None

TEMPLATES = os.path.join(os.environ.get("VOXHERD_DATA", ""), "hcp_templates")
QUNEX = os.path.join(os.environ.get("VOXHERD_DATA", ""), "pipelines", "qunex")
SPACES = os.path.join(os.environ.get("VOXHERD_DATA", ""), "track_spaces_reference")
AFFINE = np.diag([2., 2, 2, 1])
SEEDS = np.s_[8:14, 3:6, 2:5]
PER_SEED = 40


def workbench(*words):
    """Its output; any warning fails the test."""
    done = subprocess.run(["wb_command", *map(str, words)], capture_output=True, text=True)
    text = done.stdout + done.stderr
    assert done.returncode == 0 and not re.search("warning|error", text, re.IGNORECASE), f"{words}: {text}"
    return text


def values_of(path):
    """Rows and columns as CIFTI has them: nibabel's first index is along a row."""
    image = nibabel.load(path)
    return np.asarray(image.dataobj).reshape(image.shape[-2:]).T


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def voxel_numbers(ijk, size=SIZE):
    return ijk[:, 0] + size[0] * (ijk[:, 1] + size[1] * ijk[:, 2])


@unittest.skipUnless(nibabel, "SKIPPED: no nibabel")
class CiftiJobs(TrackJobs):
    def matrix(self, number=1, seeds=None, *more):
        """A matrix of seeds in a scattered field; its rows are voxels in the order of the image."""
        file = self.path(f"matrix{number}.h5")
        seeds = seeds or [self.mask("seeds", SEEDS)]
        extra = {1: (), 2: ("--target2", self.mask("targets", np.s_[3:20, 3:5, 3])), 3: ("--target3", self.mask("grey", np.s_[4:20:3, 3:6, 2:5]))}[number]
        self.track = self.make("track.h5", "--samples", self.scattered(), "--seed-image", *seeds, "--samples-per-seed", PER_SEED, "--lengths",
                               "--exclude", self.mask("avoid", np.s_[:, 7, :]), f"--matrix{number}", file, *extra, "--overwrite", *more)
        with h5py.File(file, "r") as result:
            self.shape = len(result["items/voxel"]), len(result["matrix/column_voxel"])
            self.voxels = np.asarray(result["items/voxel"])
            self.columns = np.asarray(result["matrix/column_voxel"])
        self.counts = read_matrix(file, self.shape)
        self.lengths = read_matrix(file, self.shape, "length_sum")
        return file

    def export(self, file, name, *options, expect=0):
        rc, _, output = voxherd("export", file, "--to", "cifti", self.path(name), *options)
        self.assertEqual(rc, expect, output)
        return output if expect else self.path(name)

    def dense(self, file, *options, name="out.dconn.nii"):
        return values_of(self.export(file, name, "--overwrite", *options))

    def waytotal(self):
        with h5py.File(self.track, "r") as result:
            return float(result["streamlines/waytotal"][0])


class Dense(CiftiJobs):
    def test_rows_are_seeds_and_columns_are_what_they_reach(self):
        file = self.matrix()
        image = nibabel.load(self.export(file, "out.dconn.nii"))
        np.testing.assert_array_equal(np.asarray(image.dataobj).T, self.counts)
        self.assertGreater(np.count_nonzero(self.counts), 300)
        self.assertEqual(image.nifti_header.get_intent()[0], "ConnDense")
        for axis in (image.header.get_axis(0), image.header.get_axis(1)):
            self.assertEqual([name for name, _, _ in axis.iter_structures()], ["CIFTI_STRUCTURE_OTHER"])
            np.testing.assert_array_equal(voxel_numbers(axis.voxel), self.voxels)
            np.testing.assert_array_equal(axis.affine, AFFINE)
            self.assertEqual(axis.volume_shape, SIZE)

    def test_the_result_is_that_of_workbench_from_fsls_text_files(self):
        if not shutil.which("wb_command"):
            self.skipTest("SKIPPED: connectome-workbench is not installed")
        file = self.matrix()
        own = self.export(file, "own.dconn.nii")
        voxherd("export", file, "--to", "dot", self.path("dot"))
        models = ("-row-cifti", own, "COLUMN", "-col-cifti", own, "COLUMN")
        workbench("-probtrackx-dot-convert", self.path("dot/fdt_matrix1.dot"), self.path("wb.dconn.nii"), *models, "-transpose")  # rows are seeds
        np.testing.assert_array_equal(values_of(own), values_of(self.path("wb.dconn.nii")))
        # QuNex: mean with the transpose, divided by waytotal, log(1 + a).
        workbench("-cifti-transpose", self.path("wb.dconn.nii"), self.path("turned.dconn.nii"))
        workbench("-cifti-average", self.path("mean.dconn.nii"), "-cifti", self.path("wb.dconn.nii"), "-cifti", self.path("turned.dconn.nii"))
        workbench("-cifti-math", f"log(1+a/{self.waytotal()})", self.path("log.dconn.nii"), "-var", "a", self.path("mean.dconn.nii"))
        expected = values_of(self.path("log.dconn.nii"))
        np.testing.assert_allclose(self.dense(file, "--symmetric", "--normalise", "waytotal", "--waytotal", self.track, "--log"), expected, rtol=1e-6)
        workbench("-cifti-reduce", self.path("mean.dconn.nii"), "SUM", self.path("sum.dscalar.nii"))
        np.testing.assert_allclose(values_of(self.export(file, "out.dscalar.nii", "--symmetric")), values_of(self.path("sum.dscalar.nii")), rtol=1e-6)

    def test_one_command_gives_the_files_of_qunexs_scripts(self):
        if not shutil.which("wb_command") or not os.path.isdir(QUNEX):
            self.skipTest("SKIPPED: connectome-workbench or QuNex's scripts (VOXHERD_DATA) are missing")
        for number in (1, 3):
            file = self.matrix(number)
            results = self.path(f"study{number}/s/hcp/s/MNINonLinear/Results/Tractography")
            os.makedirs(results)
            rc, _, output = voxherd("export", file, "--to", "dot", results)
            self.assertEqual(rc, 0, output)
            if number == 3:  # for its lengths the script writes the size 91282 itself
                os.remove(f"{results}/fdt_matrix3_lengths.dot")
            with open(f"{results}/waytotal", "w", encoding="utf-8") as text:
                text.write(f"{self.waytotal():.0f}\n")
            os.makedirs(self.path(f"templates{number}"))
            self.export(file, f"templates{number}/91282_Greyordinates.dscalar.nii")  # as many as there are seeds
            subprocess.run(["bash", os.path.join(QUNEX, f"post_proc_matrix{number}.sh"), self.path(f"study{number}"), "s",
                            self.path(f"templates{number}"), "Conn.dconn.nii"],
                           env={**os.environ, "WORKBENCHDIR": os.path.dirname(shutil.which("wb_command"))}, check=True, capture_output=True)
            way = ("--normalise", "waytotal", "--waytotal", self.track)
            for name, options in (("Conn", ()), ("Conn_waytotnorm", way), ("Conn_waytotnorm_log", (*way, "--log"))):
                expected = values_of(f"{results}/{name}.dconn.nii.gz")
                self.assertGreater(expected.sum(), 0)
                np.testing.assert_allclose(self.dense(file, "--symmetric", *options), expected, rtol=1e-6, err_msg=f"{number} {name}")
            np.testing.assert_allclose(values_of(self.export(file, "sum.dscalar.nii", "--symmetric", "--overwrite")), values_of(f"{results}/Conn_sum.dscalar.nii"),
                                       rtol=1e-6)

    def test_workbench_accepts_every_kind(self):
        if not shutil.which("wb_command"):
            self.skipTest("SKIPPED: connectome-workbench is not installed")
        file = self.matrix()
        own = self.export(file, "own.dconn.nii")
        self.assertRegex(workbench("-file-information", own), "CIFTI - Dense\n")
        workbench("-cifti-separate", own, "COLUMN", "-volume-all", self.path("volume.nii"))
        volume = nibabel.load(self.path("volume.nii"))
        np.testing.assert_array_equal(volume.affine, AFFINE)
        np.testing.assert_array_equal(np.asarray(volume.dataobj)[SEEDS].sum(), self.counts.sum())
        workbench("-cifti-convert", "-to-text", own, self.path("text"))
        np.testing.assert_array_equal(np.loadtxt(self.path("text")), self.counts)
        self.assertIn("CIFTI - Dense Scalar", workbench("-file-information", self.export(file, "out.dscalar.nii")))

    def test_values_are_normalised_turned_and_made_symmetric(self):
        file = self.matrix()
        counts, lengths = self.counts, self.lengths
        both = counts + counts.T
        means = np.divide(lengths, counts, out=np.zeros(self.shape), where=counts > 0)
        means_of_both = np.divide(lengths + lengths.T, both, out=np.zeros(self.shape), where=both > 0)
        with open(self.path("waytotal"), "w", encoding="utf-8") as text:
            text.write(f"{self.waytotal():.0f}  \n")
        way = ("--normalise", "waytotal", "--waytotal")
        for options, expected in (((), counts), (("--transpose",), counts.T), (("--symmetric",), both / 2), (("--normalise", "seed"), counts / PER_SEED),
                                  ((*way, self.track), counts / self.waytotal()), ((*way, self.path("waytotal")), counts / self.waytotal()),
                                  (("--log",), np.log10(1 + counts)), (("--normalise", "seed", "--log", "--transpose"), np.log10(1 + counts.T / PER_SEED)),
                                  (("--values", "length-sum"), lengths), (("--values", "mean-length"), means),
                                  (("--values", "mean-length", "--symmetric"), means_of_both)):
            with self.subTest(options=options):
                np.testing.assert_allclose(self.dense(file, *options), expected, rtol=1e-6)

    def test_bytes_are_the_same_however_many_rows_are_in_memory(self):
        file = self.matrix()
        for options in ((), ("--symmetric",), ("--transpose",), ("--symmetric", "--values", "mean-length")):
            once = digest(self.export(file, "once.dconn.nii", "--overwrite", *options))
            # 1000 bytes: 4 rows of 54 float32
            parts = digest(self.export(file, "parts.dconn.nii", "--overwrite", "--host-memory", "0.000001", *options))
            self.assertEqual(parts, once)

    def test_compressed_files_have_the_same_values(self):
        file = self.matrix()
        np.testing.assert_array_equal(values_of(self.export(file, "out.dconn.nii.gz")), self.counts)

    def test_matrix_2_has_other_columns(self):
        file = self.matrix(2)
        image = nibabel.load(self.export(file, "out.dconn.nii"))
        np.testing.assert_array_equal(np.asarray(image.dataobj).T, self.counts)
        np.testing.assert_array_equal(voxel_numbers(image.header.get_axis(1).voxel), self.voxels)
        np.testing.assert_array_equal(voxel_numbers(image.header.get_axis(0).voxel), self.columns)
        np.testing.assert_array_equal(self.dense(file, "--transpose"), self.counts.T)
        self.assertIn("different places", self.export(file, "no.dconn.nii", "--symmetric", expect=USAGE))

    def test_both_triangles_of_matrix_3_are_written(self):
        file = self.matrix(3)
        self.assertEqual(np.tril(self.counts).sum(), 0)
        self.assertGreater(self.counts.sum(), 100)
        np.testing.assert_array_equal(self.dense(file), self.counts + self.counts.T)
        np.testing.assert_array_equal(self.dense(file, "--symmetric"), self.counts + self.counts.T)
        both, sums = self.counts + self.counts.T, self.lengths + self.lengths.T
        means = np.divide(sums, both, out=np.zeros(self.shape), where=both > 0)
        np.testing.assert_allclose(self.dense(file, "--values", "mean-length"), means, rtol=1e-6)
        self.assertIn("rows of this matrix are not seeds", self.export(file, "no.dconn.nii", "--normalise", "seed", expect=USAGE))

    def test_sums_of_rows(self):
        file = self.matrix()
        image = nibabel.load(self.export(file, "out.dscalar.nii", "--normalise", "seed"))
        np.testing.assert_allclose(np.asarray(image.dataobj), [self.counts.sum(1) / PER_SEED], rtol=1e-6)
        self.assertEqual(list(image.header.get_axis(0).name), ["sum of row"])
        np.testing.assert_allclose(values_of(self.export(file, "turned.dscalar.nii", "--transpose"))[:, 0], self.counts.sum(0), rtol=1e-6)
        some = self.counts.any(1)
        np.testing.assert_allclose(values_of(self.export(file, "mean.dscalar.nii", "--values", "mean-length"))[some, 0],
                                   self.lengths[some].sum(1) / self.counts[some].sum(1), rtol=1e-6)


class Structures(CiftiJobs):
    def structures(self, path):
        axis = nibabel.load(path).header.get_axis(0)
        return {name.replace("CIFTI_STRUCTURE_", ""): voxel_numbers(part.voxel) for name, _, part in axis.iter_structures()}, voxel_numbers(axis.voxel)

    def test_labels_of_freesurfer_become_structures(self):
        labels = np.zeros(SIZE)
        labels[SEEDS] = 10
        labels[11:14, 3:6, 2:5] = 49
        labels[8:14, 3, 2:5] = 16
        file = self.matrix(1, [self.write("labels.nii", labels)])
        found, order = self.structures(self.export(file, "out.dconn.nii"))
        flat = labels.flatten(order="F")
        self.assertEqual(list(found), ["BRAIN_STEM", "THALAMUS_LEFT", "THALAMUS_RIGHT"])
        for name, label in (("BRAIN_STEM", 16), ("THALAMUS_LEFT", 10), ("THALAMUS_RIGHT", 49)):
            np.testing.assert_array_equal(found[name], [v for v in self.voxels if flat[v] == label])
        rows = [list(self.voxels).index(v) for v in order]
        np.testing.assert_array_equal(values_of(self.path("out.dconn.nii")), self.counts[np.ix_(rows, rows)])

    def test_names_of_files_and_an_option_state_structures(self):
        seeds = [self.mask("CIFTI_STRUCTURE_ACCUMBENS_LEFT", np.s_[8:11, 3:6, 2:5]), self.mask("other", np.s_[11:14, 3:6, 2:5])]
        file = self.matrix(1, seeds)
        found, _ = self.structures(self.export(file, "names.dconn.nii"))
        self.assertEqual(sorted(map(len, found.values())), [27, 27])
        self.assertEqual(list(found), ["ACCUMBENS_LEFT", "OTHER"])
        found, _ = self.structures(self.export(file, "given.dconn.nii", "--structures", "-", "PUTAMEN_RIGHT"))
        self.assertEqual(list(found), ["ACCUMBENS_LEFT", "PUTAMEN_RIGHT"])
        self.assertIn("expected one for each of 2 files", self.export(file, "no.dconn.nii", "--structures", "OTHER", expect=USAGE))
        self.assertIn("PUTAMEN is not one of", self.export(file, "no.dconn.nii", "--structures", "-", "PUTAMEN", expect=USAGE).replace('"', ""))

    def test_greyordinates_of_a_file_take_the_rows_of_their_voxels(self):
        file = self.matrix()
        inside = np.zeros(SIZE, bool)
        inside[10:20, 3:6, 2:5] = True  # some seeds, and voxels that are none
        flipped, affine = inside[::-1], AFFINE.copy()
        affine[0, 0], affine[0, 3] = -2, 2 * (SIZE[0] - 1)
        axis = cifti2.BrainModelAxis.from_mask(flipped, "thalamus_left", affine)
        template = cifti2.Cifti2Image(np.zeros((1, len(axis)), np.float32), (cifti2.ScalarAxis(["x"]), axis))
        nibabel.save(template, self.path("template.dscalar.nii"))
        rc, _, output = voxherd("export", file, "--to", "cifti", self.path("out.dconn.nii"), "--brain-models", self.path("template.dscalar.nii"))
        self.assertEqual(rc, 0, output)
        self.assertIn("18 of 54 seeds are not among its greyordinates", output)
        image = nibabel.load(self.path("out.dconn.nii"))
        self.assertEqual(image.header.get_axis(0), axis)
        voxels = voxel_numbers(np.stack([SIZE[0] - 1 - axis.voxel[:, 0], axis.voxel[:, 1], axis.voxel[:, 2]], 1))
        row = {v: i for i, v in enumerate(self.voxels)}
        expected = [[self.counts[row[a], row[b]] if a in row and b in row else 0 for b in voxels] for a in voxels]
        np.testing.assert_array_equal(np.asarray(image.dataobj).T, expected)
        far = cifti2.BrainModelAxis.from_mask(np.ones((2, 2, 2), bool), "other", np.diag([2., 2, 2, 1]) + np.eye(4, k=3) * 500)
        nibabel.save(cifti2.Cifti2Image(np.zeros((1, 8), np.float32), (cifti2.ScalarAxis(["x"]), far)), self.path("far.dscalar.nii"))
        self.assertIn("none of 54 seeds", self.export(file, "no.dconn.nii", "--brain-models", self.path("far.dscalar.nii"), expect=BAD_DATA))

    def test_parcels_are_sums_over_their_seeds(self):
        file = self.matrix()
        labels = np.zeros(SIZE, np.int32)
        labels[SEEDS] = 7
        labels[11:14, 3:6, 2:5] = 2
        labels[8:14, 3, 2] = 0
        labels[0, 0, 0] = 9  # a parcel without seeds
        axis = cifti2.BrainModelAxis.from_mask(labels >= 0, "other", AFFINE)
        keys = labels[tuple(axis.voxel.T)]
        table = {0: ("???", (0, 0, 0, 0)), 2: ("two & more", (1, 0, 0, 1)), 7: ("seven", (0, 1, 0, 1)), 9: ("nine", (0, 0, 1, 1))}
        nibabel.save(cifti2.Cifti2Image(keys[None].astype(np.float32), (cifti2.LabelAxis(["parcels"], [table]), axis)), self.path("p.dlabel.nii"))
        image = nibabel.load(self.export(file, "out.pconn.nii", "--parcels", self.path("p.dlabel.nii"), "--symmetric"))
        parcels = image.header.get_axis(0)
        names = dict(zip(("two & more", "seven", "nine"), (2, 7, 9)))
        self.assertEqual(sorted(parcels.name), sorted(names))
        member = np.array([labels.flatten(order="F")[self.voxels] == names[name] for name in parcels.name], float)
        both = (self.counts + self.counts.T) / 2
        np.testing.assert_allclose(np.asarray(image.dataobj).T, member @ both @ member.T, rtol=1e-6)
        for name, voxels in zip(parcels.name, parcels.voxels):
            self.assertEqual(len(voxels), (labels == names[name]).sum())
        if shutil.which("wb_command"):
            self.assertIn("CIFTI - Parcel", workbench("-file-information", self.path("out.pconn.nii")))
            dense = self.export(file, "own.dconn.nii", "--symmetric", "--brain-models", self.path("p.dlabel.nii"))
            for where, source, target in (("ROW", dense, "rows.dpconn.nii"), ("COLUMN", self.path("rows.dpconn.nii"), "wb.pconn.nii")):
                workbench("-cifti-parcellate", source, self.path("p.dlabel.nii"), where, self.path(target), "-method", "SUM")
            wb = nibabel.load(self.path("wb.pconn.nii"))
            order = [list(parcels.name).index(name) for name in wb.header.get_axis(0).name]
            np.testing.assert_allclose(np.asarray(wb.dataobj), np.asarray(image.dataobj).T[np.ix_(order, order)], rtol=1e-6)


    def test_labels_of_the_same_name_are_one_parcel_with_a_warning(self):
        file = self.matrix()
        labels = np.zeros(SIZE, np.int32)
        labels[SEEDS] = 7
        labels[11:14, 3:6, 2:5] = 2
        axis = cifti2.BrainModelAxis.from_mask(labels > 0, "other", AFFINE)
        table = {0: ("???", (0, 0, 0, 0)), 2: ("same", (1, 0, 0, 1)), 7: ("same", (0, 1, 0, 1))}
        keys = labels[tuple(axis.voxel.T)][None].astype(np.float32)
        nibabel.save(cifti2.Cifti2Image(keys, (cifti2.LabelAxis(["parcels"], [table]), axis)), self.path("same.dlabel.nii"))
        rc, _, output = voxherd("export", file, "--to", "cifti", self.path("same.pconn.nii"), "--parcels", self.path("same.dlabel.nii"))
        self.assertEqual(rc, 0, output)
        self.assertIn("the labels 2 and 7 are both called 'same': they are one parcel", output)
        image = nibabel.load(self.path("same.pconn.nii"))
        self.assertEqual(list(image.header.get_axis(0).name), ["same"])
        self.assertAlmostEqual(float(np.asarray(image.dataobj)[0, 0]), self.counts.sum(), delta=1e-3 * self.counts.sum())

    def test_keys_of_labels_above_2_to_the_24_are_told_apart(self):
        file = self.matrix()
        labels = np.zeros(SIZE, np.int32)
        labels[SEEDS] = 312782546
        labels[11:14, 3:6, 2:5] = 312782574  # equal in float32
        axis = cifti2.BrainModelAxis.from_mask(labels >= 0, "other", AFFINE)
        keys = labels[tuple(axis.voxel.T)]
        table = {0: ("???", (0, 0, 0, 0)), 312782546: ("left", (1, 0, 0, 1)), 312782574: ("right", (0, 1, 0, 1))}
        for kind in (np.int32, np.float32):
            image = cifti2.Cifti2Image(keys[None].astype(kind), (cifti2.LabelAxis(["parcels"], [table]), axis))
            image.set_data_dtype(kind)
            nibabel.save(image, self.path(f"{kind.__name__}.dlabel.nii"))
        parcels = nibabel.load(self.export(file, "out.pconn.nii", "--parcels", self.path("int32.dlabel.nii"))).header.get_axis(0)
        self.assertEqual({name: len(voxels) for name, voxels in zip(parcels.name, parcels.voxels)},
                         {"left": (labels == 312782546).sum(), "right": (labels == 312782574).sum()})
        self.assertIn("in float32, which rounds larger ones", self.export(file, "no.pconn.nii", "--parcels", self.path("float32.dlabel.nii"), expect=BAD_DATA))


class Blueprint(CiftiJobs):
    def tracts(self):
        for name, box in (("near", np.s_[9:11, 3:6, 2:5]), ("far", np.s_[15:17, 3:6, 2:5]), ("side", np.s_[10, 6, 3])):
            values = np.zeros(SIZE)
            values[box] = 1
            self.write(f"protocols/{name}/seed.nii", values)
        return self.make("tracts.h5", "--samples", self.scattered(), "--tracts", self.path("protocols"), "--tract-samples", 50)

    def test_rows_are_the_shares_of_the_tracts_at_what_a_seed_reaches(self):
        matrix, tracts = self.matrix(2), self.tracts()
        with h5py.File(tracts, "r") as file:
            names = [name[11:] for name in file["maps"] if name.startswith("normalised_")]
            density = {name: np.asarray(file["maps"][f"normalised_{name}"]).ravel() for name in names}
        image = nibabel.load(self.export(matrix, "BP.dscalar.nii", "--blueprint", tracts, "--tract-threshold", "0.01"))
        self.assertEqual(sorted(image.header.get_axis(0).name), ["far", "near", "side"])
        table = np.column_stack([density[name][self.columns.astype(int)] for name in image.header.get_axis(0).name])
        table[table < 0.01] = 0
        # xtract_blueprint: rows of the matrix sum to 1, times the tracts, rows sum to 1.
        expected = self.counts / np.maximum(self.counts.sum(1), 1)[:, None] @ table
        expected /= np.where(expected.sum(1) > 0, expected.sum(1), 1)[:, None]
        found = values_of(self.path("BP.dscalar.nii"))
        self.assertGreater((found.std(0) > 0.01).sum(), 1)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(voxel_numbers(image.header.get_axis(1).voxel), self.voxels)

    def test_what_makes_no_blueprint_is_refused(self):
        matrix, tracts = self.matrix(2), self.tracts()
        self.assertIn(".dscalar.nii", self.export(matrix, "BP.dconn.nii", "--blueprint", tracts, expect=USAGE))
        self.assertIn("--log has no meaning with --blueprint", self.export(matrix, "BP.dscalar.nii", "--blueprint", tracts, "--log", expect=USAGE))
        self.assertIn("result of track --tracts", self.export(matrix, "BP.dscalar.nii", "--blueprint", self.track, expect=BAD_DATA))
        self.assertIn("same space", self.export(matrix, "BP.dscalar.nii", "--blueprint", tracts, "--tract-threshold", "1", expect=BAD_DATA))
        self.assertIn("--matrix2", self.export(self.matrix(1), "BP.dscalar.nii", "--blueprint", tracts, expect=BAD_DATA))
        self.assertIn("--tract-threshold", self.export(matrix, "no.dconn.nii", "--tract-threshold", "0.1", expect=USAGE))


class Refused(CiftiJobs):
    def test_what_cannot_be_written_says_why(self):
        file = self.matrix()
        for name, options, status, words in (
                ("out.nii", (), USAGE, "ends in .dconn.nii"), ("out.dconn.nii", ("--parcels", file), USAGE, ".pconn.nii"),
                ("out.pconn.nii", (), USAGE, ".dconn.nii"), ("out.dconn.nii", ("--normalise", "waytotal"), USAGE, "--waytotal"),
                ("out.dconn.nii", ("--waytotal", self.track), USAGE, "--normalise waytotal"),
                ("out.dconn.nii", ("--normalise", "waytotal", "--waytotal", file), BAD_DATA, "no waytotal"),
                ("out.dconn.nii", ("--values", "mean-length", "--normalise", "seed"), USAGE, "no meaning"),
                ("out.dconn.nii", ("--symmetric", "--transpose"), USAGE, "no meaning"),
                ("out.dconn.nii", ("--brain-models", self.path("seeds.nii")), BAD_DATA, "not CIFTI"),
                ("out.dconn.nii", ("--brain-models", self.path("none.dscalar.nii")), MISSING, "none.dscalar.nii"),
                ("out.dconn.nii", ("--host-memory", "0"), USAGE, "--host-memory")):
            with self.subTest(name=name, options=options):
                message = self.export(file, name, *options, expect=status)
                self.assertIn(words, message)
                self.assertFalse(os.path.exists(self.path(name)))
        self.assertIn("--matrix1 to --matrix4", self.export(self.track, "out.dconn.nii", expect=BAD_DATA))
        rc, _, output = voxherd("export", file, "--to", "dot", self.path("dot"), "--log")
        self.assertEqual(rc, USAGE)
        self.assertIn("--log has no meaning with --to dot", output)
        self.export(file, "out.dconn.nii")
        self.assertIn("--overwrite", self.export(file, "out.dconn.nii", expect=USAGE))

    def test_damaged_cifti_files_are_refused(self):
        file = self.matrix()
        axis = cifti2.BrainModelAxis.from_mask(np.ones((3, 3, 3), bool), "other", AFFINE)
        image = cifti2.Cifti2Image(np.zeros((1, len(axis)), np.float32), (cifti2.ScalarAxis(["x"]), axis))
        nibabel.save(image, self.path("good.dscalar.nii"))
        with open(self.path("good.dscalar.nii"), "rb") as good:
            good = good.read()
        for old, new, words in ((b'Version="2.0"', b'Version="1.0"', 'version "1.0"'), (b'IndexCount="27"', b'IndexCount="28"', "IndexCount is 28"),
                                (b'IndexOffset="0"', b'IndexOffset="1"', "IndexOffset 1"), (b"STRUCTURE_OTHER", b"STRUCTURE_OTHEX", "OTHEX"),
                                (b'VolumeDimensions="3,3,3"', b'VolumeDimensions="3,2,3"', "voxel"), (b"<CIFTI", b"<XIFTI", "XIFTI"),
                                (b"</Matrix>", b"</Matriz>", "not XML")):
            with self.subTest(words=words):
                self.assertIn(old, good)
                with open(self.path("bad.dscalar.nii"), "wb") as bad:
                    bad.write(good.replace(old, new))
                self.assertIn(words, self.export(file, "no.dconn.nii", "--brain-models", self.path("bad.dscalar.nii"), expect=BAD_DATA))


@unittest.skipUnless(os.path.isdir(SPACES) and os.path.isdir(DATA), "SKIPPED: no reference (VOXHERD_DATA)")
class Surfaces(CiftiJobs):
    def setUp(self):
        super().setUp()
        self.reference = os.path.join(DATA, "samples.bedpostX")

    def surface(self, name, source, structure=None):
        """A surface of the reference, with a structure."""
        image = nibabel.load(os.path.join(SPACES, "surf", source + ".surf.gii"))
        if structure:
            image.darrays[0].meta["AnatomicalStructurePrimary"] = structure
        nibabel.save(image, self.path(name + ".surf.gii"))
        return self.path(name + ".surf.gii")

    def seeded(self, *seeds, more=()):
        file = self.path("matrix1.h5")
        self.track = self.make("track.h5", "--samples", self.reference, "--seed-image", *seeds, "--seedref", os.path.join(self.reference, "nodif_brain_mask.nii.gz"),
                  "--samples-per-seed", 10, "--matrix1", file, *more)
        rc, _, output = voxherd("export", file, "--to", "dot", self.path("dot"))
        self.assertEqual(rc, 0, output)
        rows = np.loadtxt(self.path("dot/fdt_matrix1.dot"))
        self.dot = np.zeros(rows[-1, :2].astype(int))
        self.dot[rows[:-1, 0].astype(int) - 1, rows[:-1, 1].astype(int) - 1] = rows[:-1, 2]
        with h5py.File(file, "r") as result:
            self.places = np.stack([result["matrix/row_roi"], result["matrix/row_place"]], 1).astype(int)
        self.assertGreater(np.count_nonzero(self.dot), 300)
        return file

    def test_seeds_on_a_surface_become_its_vertices(self):
        file = self.seeded(self.surface("left", "coarse_some", "CortexLeft"))
        image = nibabel.load(self.export(file, "out.dconn.nii"))
        np.testing.assert_array_equal(np.asarray(image.dataobj).T, self.dot)
        mesh = nibabel.load(self.path("left.surf.gii"))
        axis = image.header.get_axis(0)
        np.testing.assert_array_equal(axis.vertex, np.flatnonzero(mesh.darrays[2].data))
        np.testing.assert_array_equal(axis.vertex, self.places[:, 1])
        self.assertEqual(axis.nvertices, {"CIFTI_STRUCTURE_CORTEX_LEFT": len(mesh.darrays[0].data)})
        if shutil.which("wb_command"):
            self.assertRegex(workbench("-file-information", self.path("out.dconn.nii")), r"CortexLeft: *215 out of 1184 vertices")
            workbench("-cifti-separate", self.path("out.dconn.nii"), "COLUMN", "-metric", "CORTEX_LEFT", self.path("left.func.gii"))

    def test_a_surface_without_a_structure_needs_one(self):
        file = self.seeded(self.surface("plain", "coarse_some"))
        self.assertIn("--structures", self.export(file, "no.dconn.nii", expect=BAD_DATA))
        image = nibabel.load(self.export(file, "out.dconn.nii", "--structures", "CORTEX_RIGHT"))
        self.assertEqual(list(image.header.get_axis(0).nvertices), ["CIFTI_STRUCTURE_CORTEX_RIGHT"])

    def test_surfaces_and_volumes_of_one_list(self):
        seeds = [self.surface("left", "n2_lateral_a", "CortexLeft"), os.path.join(DATA, "rois", "seed_callosum.nii.gz"),
                 self.surface("right", "n3_lateral_b", "CortexRight")]
        file = self.seeded(*seeds)
        image = nibabel.load(self.export(file, "out.dconn.nii", "--structures", "-", "BRAIN_STEM", "-"))
        axis = image.header.get_axis(0)
        self.assertEqual([name for name, _, _ in axis.iter_structures()],
                         [f"CIFTI_STRUCTURE_{name}" for name in ("CORTEX_LEFT", "CORTEX_RIGHT", "BRAIN_STEM")])
        order = np.argsort([{0: 0, 1: 2, 2: 1}[int(roi)] for roi in self.places[:, 0]], kind="stable")
        np.testing.assert_array_equal(np.asarray(image.dataobj).T, self.dot[np.ix_(order, order)])
        if shutil.which("wb_command"):
            workbench("-file-information", self.path("out.dconn.nii"))
        # The same vertices among more, in another order, as of HCP's greyordinates.
        left = len(nibabel.load(seeds[0]).darrays[0].data)
        models = cifti2.BrainModelAxis.from_surface(np.arange(0, left, 2), left, "CIFTI_STRUCTURE_CORTEX_LEFT")
        nibabel.save(cifti2.Cifti2Image(np.zeros((1, len(models)), np.float32), (cifti2.ScalarAxis(["x"]), models)), self.path("t.dscalar.nii"))
        found = self.dense(file, "--brain-models", self.path("t.dscalar.nii"), name="t.dconn.nii")
        even = (self.places[:, 0] == 0) & (self.places[:, 1] % 2 == 0)
        np.testing.assert_array_equal(found, self.dot[np.ix_(even, even)])
        wrong = cifti2.BrainModelAxis.from_surface(np.arange(5), left + 1, "CIFTI_STRUCTURE_CORTEX_LEFT")
        nibabel.save(cifti2.Cifti2Image(np.zeros((1, 5), np.float32), (cifti2.ScalarAxis(["x"]), wrong)), self.path("w.dscalar.nii"))
        self.assertIn(f"{left + 1} vertices", self.export(file, "no.dconn.nii", "--brain-models", self.path("w.dscalar.nii"), expect=BAD_DATA))

    def test_what_was_counted_of_each_vertex_becomes_maps(self):
        targets = ("--lengths", "--targets", os.path.join(SPACES, "surf", "left.surf.gii"), os.path.join(DATA, "rois", "n5_top_b.nii.gz"))
        seeds = (self.surface("left", "n2_lateral_a", "CortexLeft"), os.path.join(DATA, "rois", "seed_callosum.nii.gz"))
        self.seeded(*seeds, more=targets)
        rc, _, output = voxherd("export", self.track, "--to", "cifti", self.path("out.dscalar.nii"), "--structures", "CORTEX_LEFT", "-")
        self.assertEqual(rc, 0, output)
        self.assertIn("are voxels and are left out", output)
        image = nibabel.load(self.path("out.dscalar.nii"))
        names = list(image.header.get_axis(0).name)
        self.assertEqual([re.sub(r"(\.surf|\.nii).*?(_lengths|$)", r"\2", name) for name in names],
                         ["accepted", "seeds_to_left", "seeds_to_n5_top_b", "seeds_to_left_lengths", "seeds_to_n5_top_b_lengths"])
        with h5py.File(self.track, "r") as result:
            group = {name: np.asarray(values) for name, values in result["seeds"].items()}
        some = group["roi"] == 0
        expected = np.column_stack([group["accepted"], group["hits"], group["mean_length_mm"]])[some]
        self.assertGreater(expected[:, 1].max(), 0)
        np.testing.assert_allclose(values_of(self.path("out.dscalar.nii")), expected, rtol=1e-6)
        np.testing.assert_array_equal(image.header.get_axis(1).vertex, group["place"][some])
        shares = values_of(self.export(self.track, "share.dscalar.nii", "--normalise", "seed"))
        np.testing.assert_allclose(shares[:, :3], expected[:, :3] / 10, rtol=1e-6)
        if shutil.which("wb_command"):
            workbench("-file-information", self.path("out.dscalar.nii"))
        self.assertIn(".dscalar.nii", self.export(self.track, "no.dconn.nii", expect=USAGE))

    def test_labels_of_both_hemispheres_are_different_parcels(self):
        seeds = [self.surface("left", "n2_lateral_a", "CortexLeft"), self.surface("right", "n3_lateral_b", "CortexRight")]
        file = self.seeded(*seeds)
        table = gifti.GiftiLabelTable()
        for key, name in ((0, "???"), (1, "V1"), (2, "V2")):
            label = gifti.GiftiLabel(key, 1, 0, 0, 1)
            label.label = name
            table.labels.append(label)
        paths, parcel = [], {}
        for number, (seed, structure) in enumerate(zip(seeds, ("CortexLeft", "CortexRight"))):
            keys = np.arange(len(nibabel.load(seed).darrays[0].data), dtype=np.int32) % (3 - number)
            array = gifti.GiftiDataArray(keys, intent="label", datatype=np.int32)
            paths.append(self.path(f"{structure}.label.gii"))
            nibabel.save(gifti.GiftiImage(darrays=[array], labeltable=table, meta=gifti.GiftiMetaData({"AnatomicalStructurePrimary": structure})), paths[-1])
            for v, key in enumerate(keys):
                parcel[number, v] = key and ("V2" if key == 2 else ("CORTEX_LEFT_V1", "CORTEX_RIGHT_V1")[number])
        image = nibabel.load(self.export(file, "out.pconn.nii", "--parcels", *paths))
        axis = image.header.get_axis(0)
        self.assertEqual(sorted(axis.name), ["CORTEX_LEFT_V1", "CORTEX_RIGHT_V1", "V2"])
        of_row = np.array([parcel[int(roi), int(v)] or "" for roi, v in self.places])
        member = np.array([of_row == name for name in axis.name], float)
        np.testing.assert_allclose(np.asarray(image.dataobj).T, member @ self.dot @ member.T, rtol=1e-6)


@unittest.skipUnless(os.path.isdir(TEMPLATES) and os.path.isdir(DATA), "SKIPPED: no templates or reference (VOXHERD_DATA)")
class Greyordinates(CiftiJobs):
    def test_vertices_of_hcps_cortex_get_their_places_among_91282_greyordinates(self):
        mesh = nibabel.load(os.path.join(TEMPLATES, "L.sphere.32k_fs_LR.surf.gii"))
        mesh.darrays[0].data = (mesh.darrays[0].data * [0.4, 0.05, 0.35] + [4, -17.5, 18]).astype(np.float32)  # into the slab of the samples
        nibabel.save(mesh, self.path("L.surf.gii"))
        roi = nibabel.load(os.path.join(TEMPLATES, "L.atlasroi.32k_fs_LR.shape.gii"))
        roi.darrays[0].data[np.arange(32492) % 20 != 0] = 0
        nibabel.save(roi, self.path("L.shape.gii"))
        seeds = np.flatnonzero(roi.darrays[0].data)
        samples, file = os.path.join(DATA, "samples.bedpostX"), self.path("matrix1.h5")
        self.make("track.h5", "--samples", samples, "--seed-image", self.path("L.surf.gii"), "--seedref", os.path.join(samples, "nodif_brain_mask.nii.gz"),
                  "--surface-values", self.path("L.shape.gii"), "--samples-per-seed", 10, "--matrix1", file)
        template = nibabel.load(os.path.join(TEMPLATES, "91282_Greyordinates.dscalar.nii")).header.get_axis(1)
        image = nibabel.load(self.export(file, "sums.dscalar.nii", "--brain-models", os.path.join(TEMPLATES, "91282_Greyordinates.dscalar.nii")))
        self.assertEqual(image.header.get_axis(1), template)
        with h5py.File(file, "r") as result:
            np.testing.assert_array_equal(result["matrix/row_place"], seeds)
        sums = np.zeros(91282)
        sums[np.searchsorted(template.vertex[:29696], seeds)] = read_matrix(file, (len(seeds), len(seeds))).sum(1)
        self.assertGreater((sums > 0).sum(), 300)
        np.testing.assert_array_equal(np.asarray(image.dataobj)[0], sums)


if __name__ == "__main__":
    unittest.main()
