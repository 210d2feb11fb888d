"""voxherd cohort: a complete result belongs to its command. Lists of numbers, several files, folders, large seeds, inputs with
another content, and programs of FSL, which also write images after their result."""
import os
import shutil
import unittest

import nibabel
import numpy as np

from cohort_jobs import ON_ONE_CORE, CohortFolder, call

CHAIN = "-n 1 -b 5 -j 10 -s 5"


class Studies(CohortFolder):
    def setUp(self):
        super().setUp()
        self.voxherd("phantom dwi --out s --size 11x9x7 --directions 12 --fibres 2 --threads 1")
        shutil.move(self.path("s/truth/ends.nii.gz"), self.path("e.nii.gz"))
        shutil.rmtree(self.path("s/truth"))
        self.scan = "--dwi s/data.nii --bvals s/bvals --bvecs s/bvecs --mask s/nodif_brain_mask.nii.gz"

    def voxherd(self, line, expect=0):
        done = call(self.folder, *line.split())
        self.assertEqual(done.returncode, expect, f"{line}: {done.stderr}")
        return done.stderr

    def mask(self, name, begin, end):
        mask = nibabel.load(self.path("s/nodif_brain_mask.nii.gz"))
        values = np.zeros(mask.shape, np.uint8)
        values[begin:end] = 1
        nibabel.save(nibabel.Nifti1Image(values, mask.affine), self.path(name))

    def state(self, command, out="a.h5"):
        self.write("cohort.tsv", "subject\tcommand\tout", f"a\t{command}\t{out}")
        return self.table()["subjects"]["a"]

    def run_all(self, command, out="a.h5"):
        self.write("cohort.tsv", "subject\tcommand\tout", f"a\t{command}\t{out}")
        return self.voxherd("cohort cohort.tsv --run-all --per-node 1")

    def check(self, command, changes, out="a.h5"):
        """The command's result is complete for itself, and not for the changed commands: (command, what is named)."""
        for name in (out, "paths.h5"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        self.run_all(f"{command} {ON_ONE_CORE}", out)
        found = self.state(f"{command} {ON_ONE_CORE}", out)
        self.assertEqual((found["state"], found["detail"]), ("complete", ""), command)
        for other, named in changes:
            with self.subTest(other):
                found = self.state(f"{other} {ON_ONE_CORE}", out)
                self.assertEqual((found["state"], found["exit_status"], found["resubmit"]), ("failed", 2, False), found)
                self.assertIn(named, found["detail"])


class Analyses(Studies):
    def test_lists_points_and_labels(self):
        begin = f"connect {self.scan} --order 1"
        self.check(f"{begin} --from e.nii.gz --from-labels 7 --to e.nii.gz --to-labels 8",
                   [(f"{begin} --from e.nii.gz --from-labels 9 --to e.nii.gz --to-labels 8", "from-labels"),
                    (f"{begin} --from e.nii.gz --from-labels 7 --to e.nii.gz --to-labels 10", "to-labels"),
                    (f"{begin} --from e.nii.gz --from-labels 7 --to e.nii.gz --to-labels 8 --paths paths.h5", "paths"),
                    (f"{begin} --from-point=0,0,0 --to e.nii.gz --to-labels 8", "nothing in the file, ")])
        self.check(f"{begin} --connectome e.nii.gz --labels 7,8", [(f"{begin} --connectome e.nii.gz --labels 7,9", "labels[1]: 8 in the file, 9 now"),
                                                                   (f"{begin} --connectome e.nii.gz", "labels")])

    def test_connect_in_white_matter_and_geodesic(self):
        self.check(f"connect {self.scan} --connectome e.nii.gz --within-fa 0.2",
                   [(f"connect {self.scan} --connectome e.nii.gz --within-fa 0.25", "within-fa: 0.2 in the file, 0.25 now")])
        begin = f"geodesic {self.scan} --seed-image e.nii.gz --targets e.nii.gz --directions 64"
        self.check(begin, [(begin.replace("64", "128"), "directions: 64 in the file, 128 now"), (f"{begin} --smooth 0.5", "smooth")])

    def test_seeds_above_the_precision_of_float(self):
        begin = f"ballstick {self.scan} --fibres 1 --burn-in 5 --jumps 10 --sample-every 5 --random-seed"
        self.check(f"{begin} 100000001", [(f"{begin} 100000002", "random-seed: 100000001 in the file, 100000002 now")])

    def test_several_files_and_folders(self):
        self.voxherd(f"bedpostx s {CHAIN} {ON_ONE_CORE}")
        shutil.copytree(self.path("s.bedpostX"), self.path("moved.bedpostX"))
        self.voxherd(f"bedpostx s {CHAIN} {ON_ONE_CORE} --seed=3 --overwrite")
        for name, begin in (("a.nii.gz", 0), ("b.nii.gz", 2), ("c.nii.gz", 4)):
            self.mask(name, begin, begin + 2)
        begin = "track --seed-image e.nii.gz --samples-per-seed 1 --max-steps 10"
        self.check(f"{begin} --samples moved.bedpostX --include a.nii.gz b.nii.gz",
                   [(f"{begin} --samples moved.bedpostX --include a.nii.gz c.nii.gz", "inputs.include 2: "),
                    (f"{begin} --samples moved.bedpostX --include a.nii.gz", "inputs.include"),
                    (f"{begin} --samples s.bedpostX --include a.nii.gz b.nii.gz", "inputs.samples: "),
                    (f"{begin} --samples moved.bedpostX --include a.nii.gz b.nii.gz --matrix1 m.h5", "--matrix1")])
        os.rename(self.path("moved.bedpostX"), self.path("again.bedpostX"))
        found = self.state(f"{begin} --samples again.bedpostX --include a.nii.gz b.nii.gz {ON_ONE_CORE}")
        self.assertEqual((found["state"], found["detail"]), ("complete", ""))

    def test_a_kept_matrix_belongs_to_the_result(self):
        self.voxherd(f"ballstick {self.scan} --fibres 1 --burn-in 5 --jumps 10 --sample-every 5 {ON_ONE_CORE} --out f.h5")
        line = f"track --samples f.h5 --seed-image e.nii.gz --samples-per-seed 1 --max-steps 10 --matrix1 m.h5 {ON_ONE_CORE}"
        self.run_all(line)
        self.assertEqual(self.state(line)["state"], "complete")
        os.remove(self.path("m.h5"))
        self.assertIn("--matrix1 ", self.state(line)["detail"])
        refused = call(self.folder, *f"{line} --out a.h5 --resume".split())
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("a.h5 is complete, but --matrix1 ", refused.stderr)


class ProgramsOfFSL(Studies):
    """Their result has a name of its own, and their images belong to it."""

    def check_program(self, command, out, changes, images):
        self.check(command, changes, out)
        self.assertEqual(self.state(f"{command} {ON_ONE_CORE}", "")["out"].split("/")[-1], os.path.basename(out))
        expected = {name: self.content(name) for name in images}
        for name in images:
            os.remove(self.path(name))
        found = self.state(f"{command} {ON_ONE_CORE}", out)
        self.assertEqual((found["state"], found["resubmit"]), ("partial", True), found)
        self.assertIn("not written yet", found["detail"])
        self.assertIn("complete after", self.run_all(f"{command} {ON_ONE_CORE}", out))
        self.assertEqual(self.state(f"{command} {ON_ONE_CORE}", out)["state"], "complete")
        self.assertEqual({name: self.content(name) for name in images}, expected)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_bedpostx(self):
        images = [f"s.bedpostX/{name}" for name in ("merged_th1samples.nii.gz", "mean_f1samples.nii.gz", "xfms/eye.mat")]
        self.check_program(f"bedpostx s {CHAIN}", "s.bedpostX/voxherd.h5",
                           [(f"bedpostx s {CHAIN.replace('-n 1', '-n 2')}", "fibres: 1 in the file, 2 now"),
                            (f"bedpostx s {CHAIN} --rician", 'noise: "gaussian" in the file, "rician" now'),
                            (f"bedpostx s {CHAIN} --seed=100000001", "random-seed")], images)
        os.remove(self.path("s.bedpostX/mean_f1samples.nii.gz"))  # the mark of a finished folder stays
        self.assertEqual(self.state(f"bedpostx s {CHAIN} {ON_ONE_CORE}", "s.bedpostX/voxherd.h5")["state"], "partial")
        self.voxherd(f"bedpostx s {CHAIN} {ON_ONE_CORE}")
        self.assertIn("is finished", self.voxherd(f"bedpostx s {CHAIN} {ON_ONE_CORE}"))

    def test_an_input_of_a_finished_bedpostx_has_changed(self):
        self.voxherd(f"bedpostx s {CHAIN} {ON_ONE_CORE}")
        with open(self.path("s/bvals"), encoding="utf-8") as file:
            bvals = file.read()
        self.write("s/bvals", bvals.replace("1000", "990"))
        self.assertIn("finished with other flags or inputs (inputs.bvals", self.voxherd(f"bedpostx s {CHAIN} {ON_ONE_CORE}", expect=2))
        self.assertEqual(self.state(f"bedpostx s {CHAIN} {ON_ONE_CORE}", "s.bedpostX/voxherd.h5")["exit_status"], 2)
        shutil.rmtree(self.path("s"))
        self.assertIn("is finished", self.voxherd(f"bedpostx s {CHAIN} {ON_ONE_CORE}"))
        self.assertIn("fibres: 1 in the file, 2 now", self.voxherd(f"bedpostx s {CHAIN.replace('-n 1', '-n 2')} {ON_ONE_CORE}", expect=2))

    def test_cudimot(self):
        shutil.rmtree(self.path("s"))
        self.voxherd("phantom dwi --out s --size 4x4x2 --directions 12 --bvalues 1000,2000 --threads 1")
        images = [f"s.NODDI_Watson/{name}.nii.gz" for name in ("mean_fintra", "fintra_samples")]
        line = "cudimot s --runMCMC -b 5 -j 10 -s 5"
        self.check_program(line, "s.NODDI_Watson/voxherd.h5", [(f"{line} --rician", "noise"), (line.replace("-b 5", "-b 6"), "burn-in")], images)

    def test_dtifit_and_xfibres(self):
        data = "-k s/data -m s/nodif_brain_mask -r s/bvecs -b s/bvals"
        self.check_program(f"dtifit {data} -o dti --save_tensor", "dti_voxherd.h5", [(f"dtifit {data} -o dti --save_tensor --wls", "fit")],
                           ["dti_MO.nii.gz", "dti_tensor.nii.gz"])
        line = f"xfibres {data} --logdir=x --nf=1 --bi=5 --nj=10 --se=5"
        self.check_program(line, "x/voxherd.h5", [(line.replace("--nf=1", "--nf=2"), "fibres")], ["x/th1samples.nii.gz"])

    def test_probtrackx2(self):
        self.voxherd(f"bedpostx s {CHAIN} {ON_ONE_CORE}")
        line = "probtrackx2 -s s.bedpostX/merged -m s.bedpostX/nodif_brain_mask -x e.nii.gz --opd --ompl --omatrix1 --dir=log -P 2 -S 20"
        self.check_program(line, "log/voxherd.h5", [(line.replace("-P 2", "-P 3"), "samples-per-seed"), (f"{line} --pd", "options of images")],
                           ["log/fdt_paths.nii.gz", "log/waytotal", "log/fdt_matrix1.dot", "log/fdt_matrix1_lengths.dot", "log/coords_for_fdt_matrix1"])
        os.remove(self.path("log/fdt_matrix1_lengths.dot"))
        self.assertEqual(self.state(f"{line} {ON_ONE_CORE}", "log/voxherd.h5")["state"], "partial")

    def test_another_name_in_the_column_out_is_an_error(self):
        for command, own in ((f"bedpostx s {CHAIN}", "s.bedpostX/voxherd.h5"), ("cudimot s --model bingham", "s.NODDI_Bingham/voxherd.h5")):
            self.write("cohort.tsv", "subject\tcommand\tout", f"a\t{command}\tother.h5")
            for more in ("", " --run-all", " --run 1"):
                refused = self.voxherd("cohort cohort.tsv" + more, expect=65)
                self.assertIn("cohort.tsv line 2, column out: other.h5, but the result of this ", refused)
                self.assertIn(own, refused)
            self.assertEqual(self.state(command, own)["state"], "not started")
            self.assertEqual(self.state(command, self.path(f"s/../{own}"))["state"], "not started")


if __name__ == "__main__":
    unittest.main()
