"""voxherd bids reads the directions of QSIPrep's series along the image axes, and those of others along FSL's."""
import json
import sys
import unittest

try:
    import nibabel
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from bids_jobs import Layouts, commands, read
from program import run

NAME = "sub-7_space-ACPC"


class Frames(Layouts):
    """One scan, stored as LPS+: its determinant is positive, so that FSL's frame has the other sign of x."""

    def make(self, data_set, program, frame, table=None, desc="_desc-preproc"):
        """A data set of a program: .bvec along the axes of a frame (fsl or image), and .b, MRtrix's table, along the world axes
        or, to contradict, with y and z swapped."""
        scan, phantom = nibabel.load(f"{self.phantom()}/data.nii.gz"), self.phantom()
        affine = numpy.diag([*(scan.header.get_zooms()[:3] * numpy.array([-1, -1, 1])), 1])
        self.describe(data_set, "derivative")
        description = json.loads(read(self.path(data_set, "dataset_description.json")))
        description["GeneratedBy"] = [{"Name": program, "Version": "1.0.2"}]
        self.write(f"{data_set}/dataset_description.json", json.dumps(description))
        stem = f"{data_set}/sub-7/dwi/{NAME}"
        self.copy(f"{phantom}/bvals", f"{stem}{desc}_dwi.bval")
        for file, name in (("data.nii.gz", f"{desc}_dwi.nii.gz"), ("nodif_brain_mask.nii.gz", "_desc-brain_mask.nii.gz")):
            nibabel.save(nibabel.Nifti1Image(nibabel.load(f"{phantom}/{file}").get_fdata().astype(numpy.float32), affine),
                         self.path(stem + name))
        along_image, b = numpy.loadtxt(f"{phantom}/bvecs"), numpy.loadtxt(f"{phantom}/bvals").ravel()
        written = along_image * [[-1], [1], [1]] if frame == "fsl" else along_image
        numpy.savetxt(self.path(f"{stem}{desc}_dwi.bvec"), written, "%.8f")
        if table:
            world = along_image * [[-1], [-1], [1]] if table == "world" else along_image[[0, 2, 1]]
            numpy.savetxt(self.path(f"{stem}{desc}_dwi.b"), numpy.vstack([world, b]).T, "%.8f",
                          header="command_history: mrconvert")
        return self

    def result(self, data_set, *words):
        log = self.participant(data_set, *words)
        return log, self.path(f"work{self.id()}{self.count}/sub-7/dwi/{NAME}_tensor.h5")

    def V1(self, result):
        run("export", result, "--to", "nifti", f"{result}.maps")
        return nibabel.load(f"{result}.maps/V1.nii.gz").get_fdata()

    def test_the_frame_in_which_bvec_and_b_agree_is_used_and_named(self):
        self.make("fsl", "test", "fsl")
        right = self.V1(self.result("fsl")[1])
        for data_set, program, frame, table in (("with_b", "test", "image", "world"), ("without_b", "QSIPrep", "image", None),
                                                ("fsl_with_b", "QSIPrep", "fsl", "world")):
            with self.subTest(data_set):
                self.make(data_set, program, frame, table)
                log, found = self.result(data_set)
                words = commands(log)[NAME]
                self.assertEqual(words.get("--bvecs-frame"), "image" if frame == "image" else None)
                numpy.testing.assert_array_equal(self.V1(found), right)
                self.assertEqual("bvecs      read as directions along the image axes" in run("info", found).stdout, frame == "image")
                if frame == "fsl":
                    continue
                reason = "so they agree with " if table else "QSIPrep wrote them, and no .b file is beside them"
                self.assertIn(f"{NAME}_desc-preproc_dwi.bvec has directions along the image axes: {reason}", log)
                self.assertIn("(directions along the image axes)",
                              read(self.path(f"out{self.id()}{self.count}/logs/CITATION.md")).decode())

    def test_other_preprocessed_and_raw_series_are_in_fsls_frame(self):
        for data_set, program, desc in (("mrtrix", "MRtrix3_connectome", "_desc-preproc"), ("raw", "QSIPrep", "")):
            with self.subTest(data_set):
                log, _ = self.make(data_set, program, "fsl", desc=desc).result(data_set)
                self.assertNotIn("--bvecs-frame", commands(log)[NAME])

    def test_options_of_the_user_choose_another_frame(self):
        log, _ = self.make("chosen", "QSIPrep", "fsl").result("chosen", "--tensor-options", "--bvecs-frame fsl")
        self.assertEqual(commands(log)[NAME]["--bvecs-frame"], "fsl")
        self.assertNotIn("has directions along", log)

    def test_files_that_agree_in_no_frame_fail_their_series_by_name(self):
        self.make("contradiction", "QSIPrep", "image", "swapped")
        log = self.participant("contradiction", expect=66)
        for word in ("_dwi.bvec: its directions are up to", "_dwi.b along FSL's axes", "1 of 1 series failed"):
            self.assertIn(word, log)


if __name__ == "__main__":
    unittest.main()
