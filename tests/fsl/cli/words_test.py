"""Under FSL's names the help and the messages name FSL's options, as they were typed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from program import run

OF_FSL = {
    "probtrackx2": "-x --seed -s --samples -m --mask -V --verbose --distthresh --steplength --nsamples -P --nsteps --omatrix1 --omatrix2 "
                   "--target2 --omatrix3 --target3 --network --os2t --targetmasks --opd --pd --ompl --loopcheck -l --usef --cthr "
                   "--avoid --stop --wtstop --waypoints --waycond --xfm --invxfm --seedref --meshspace --randfib --fibst --rseed",
    "bedpostx": "-n -w -b -j -s -model -g -c --rician",
    "xfibres": "-k --data -m --mask -r --bvecs -b --bvals --nf --nfibres --bi --burnin --nj --njumps --se --upe --model --fudge --ld "
               "--logdir --forcedir --cnonlinear --nonlinear --noard --allard --rician --f0 --ardf0",
    "dtifit": "-k --data -o --out -m --mask -r --bvecs -b --bvals --sse -w --wls --save_tensor --gradnonlin -V --verbose",
}


def listed(text):
    """As NFACT and others find the options in FSL's help."""
    return {name for found in re.findall(r"^\t(-[^\t]*)\t", text, re.MULTILINE) for name in found.split(",")}


class Words(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="voxherd_words_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("shims", cls.path("bin"))
        run("phantom", "dwi", "--preset", "toy", "--fibres", "2", "--out", cls.path("scan"), "--threads", "1")
        run("bedpostx", cls.path("scan"), "-n", "2", "-b", "50", "-j", "50", "-s", "5", "-model", "1", "--quiet")
        ends = nibabel.load(cls.path("scan", "truth", "ends.nii.gz"))
        labels = np.asarray(ends.dataobj)
        for name, inside in [(f"r{k}", labels == k) for k in (7, 8, 9, 10)] + [("both", (labels == 7) | (labels == 8))]:
            nibabel.save(nibabel.Nifti1Image(inside.astype(np.uint8), ends.affine), cls.path(name + ".nii.gz"))
        with open(cls.path("overlap"), "w") as file:
            file.write("r7 both\n")
        with open(cls.path("list"), "w") as file:
            file.write("r7 r8\n")
        with open(cls.path("two"), "w") as file:
            file.write("r8 r9\n")

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def call(self, program, *words, expect=0):
        done = subprocess.run([self.path("bin", program), *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def track(self, *words, expect=0):
        return self.call("probtrackx2", "-s", "scan.bedpostX/merged", "-m", "scan.bedpostX/nodif_brain_mask", "--forcedir",
                         "-P", 20, *words, expect=expect)

    def image(self, *names):
        return nibabel.load(self.path(*names)).get_fdata()

    def test_the_help_lists_the_options_as_FSL_does(self):
        for program, names in OF_FSL.items():
            with self.subTest(program=program):
                done = self.call(program, "--help")
                self.assertEqual(done.stdout, "")
                self.assertEqual(set(names.split()) - listed(done.stderr), set())
                self.assertIn("\t", done.stderr)

    def test_messages_name_the_options_as_they_were_typed(self):
        scan = ["-r", "scan/bvecs", "-b", "scan/bvals"]
        cases = [
            (["probtrackx2", "-s", "scan.bedpostX/merged", "-m", "scan.bedpostX/nodif_brain_mask", "-x", "r7", "-P", "0"], "-P"),
            (["probtrackx2", "-s", "scan.bedpostX/merged", "-m", "scan.bedpostX/nodif_brain_mask", "-x", "r7", "--nsamples=0"], "--nsamples"),
            (["probtrackx2", "-s", "scan.bedpostX/merged", "-m", "scan.bedpostX/nodif_brain_mask", "-x", "overlap", "--network",
              "--dir=o"], "-x"),
            (["probtrackx2", "-s", "scan.bedpostX/merged", "-m", "scan.bedpostX/nodif_brain_mask", "--seed=overlap", "--network",
              "--dir=o"], "--seed"),
            (["probtrackx2", "-s", "scan.bedpostX/merged", "-m", "scan.bedpostX/nodif_brain_mask", "-x", "r7", "--fibst=3",
              "--dir=o"], "--fibst"),
            (["dtifit", "-k", "scan/data", "-m", "scan/nodif_brain_mask", "-o", "d", "-r", "scan/bvecs"], "--bvals"),
            (["dtifit", "-k", "scan/data", "-m", "r7", *scan, "-o", "d", "--fit=x"], "--fit"),
            (["xfibres", "-k", "scan/data", "-m", "r7", *scan, "--burnin=-1"], "--burnin"),
            (["xfibres", "-m", "r7", *scan], "--data"),
        ]
        ours = "--samples-per-seed --seed-image --connectome --network-masks --start-fibre --first-fibre --dwi --basename --burn-in --targets"
        for words, option in cases:
            with self.subTest(words=words):
                done = subprocess.run([self.path("bin", words[0]), *words[1:]], capture_output=True, text=True, cwd=self.folder)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, rf"(?<![\w-]){option}(?![\w-])")
                for name in ours.split():
                    self.assertNotRegex(done.stderr, rf"(?<![\w-]){name}(?![\w-])")

    def test_a_first_fibre_by_number_replaces_the_random_one(self):
        for name, more in (("one", ["--fibst=1", "--randfib=1"]), ("other", ["--fibst=1"]), ("random", ["--randfib=1"])):
            self.track("-x", "r7", "--opd", "--dir=" + name, *more)
        self.assertTrue(np.array_equal(self.image("one", "fdt_paths.nii.gz"), self.image("other", "fdt_paths.nii.gz")))
        self.assertFalse(np.array_equal(self.image("one", "fdt_paths.nii.gz"), self.image("random", "fdt_paths.nii.gz")))

    def test_targets_without_os2t_are_not_read(self):
        self.track("-x", "list", "--network", "--opd", "--dir=with", "--targetmasks=no_such_file")
        self.track("-x", "list", "--network", "--opd", "--dir=without")
        with open(self.path("with", "fdt_network_matrix")) as a, open(self.path("without", "fdt_network_matrix")) as b:
            self.assertEqual(a.read(), b.read())

    def test_with_os2t_the_targets_of_a_network_are_counted_by_region(self):
        self.track("-x", "list", "--network", "--opd", "--dir=counted", "--os2t", "--s2tastext", "--targetmasks=two", "--waypoints=r8")
        self.track("-x", "list", "--network", "--opd", "--dir=alone", "--waypoints=r8")
        for name in ("fdt_network_matrix", "waytotal"):
            with open(self.path("counted", name)) as a, open(self.path("alone", name)) as b:
                self.assertEqual(a.read(), b.read())
        matrix = np.loadtxt(self.path("counted", "fdt_network_matrix"))
        first, second = (self.image("counted", f"seeds_{i}_to_r8.nii.gz") for i in (0, 1))
        self.assertEqual(first.sum(), matrix[0, 1])  # the streamlines from r7 that reach r8
        self.assertGreater(first.sum(), 0)
        inside = self.image("r7.nii.gz") > 0
        self.assertFalse(first[~inside].any() or second[inside].any())
        text = np.loadtxt(self.path("counted", "matrix_seeds_to_all_targets"))
        self.assertEqual(text[:, 0].sum(), first.sum() + second.sum())
        self.assertEqual(text.shape[1], 2)

    def fine(self, name, moved_mm=0):
        """A mask on a grid of half the voxel size over the same field of view."""
        image = nibabel.load(self.path(name + ".nii.gz"))
        affine = image.affine.copy()
        affine[:3, :3] /= 2
        affine[:3, 3] += moved_mm - affine[:3, :3] @ [.5, .5, .5]
        nibabel.save(nibabel.Nifti1Image(np.asarray(image.dataobj).repeat(2, 0).repeat(2, 1).repeat(2, 2), affine),
                     self.path(f"fine_{name}.nii.gz"))
        return f"fine_{name}.nii.gz"

    def test_seeds_of_another_voxel_size_are_placed_by_it_as_by_the_identity_matrix(self):
        seed, target = self.fine("r7"), self.fine("r8")
        words = ["-x", seed, "--os2t", "--targetmasks=" + target, "--opd"]
        with open(self.path("eye.mat"), "w") as file:
            file.write("1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n")
        self.track(*words, "--dir=eye", "--xfm=eye.mat", "--seedref=" + seed)
        for name, more in (("alone", []), ("reference", ["--seedref=" + seed])):
            done = self.track(*words, "--dir=" + name, *more)
            self.assertIn("placed by voxel sizes", done.stdout)
            self.assertNotIn("warning", done.stdout.split("placed by voxel sizes")[0].splitlines()[-1])
            for image in ("fdt_paths.nii.gz", "seeds_to_fine_r8.nii.gz"):
                self.assertTrue(np.array_equal(self.image("eye", image), self.image(name, image)), image)
        self.assertEqual(self.image("alone", "fdt_paths.nii.gz").shape, (40, 40, 24))
        self.assertGreater(self.image("alone", "seeds_to_fine_r8.nii.gz").max(), 5)

    def test_a_header_that_places_such_seeds_elsewhere_is_warned_of(self):
        done = self.track("-x", self.fine("r7", moved_mm=30), "--opd", "--dir=elsewhere")
        self.assertRegex(done.stdout, r"warning: .*placed by voxel sizes.*place it up to 5\d(\.\d)? mm away")

    def test_a_header_that_places_target2_elsewhere_is_warned_of(self):
        for moved_mm, is_warned in ((0, False), (30, True)):
            done = self.track("-x", "r7", "--omatrix2", "--target2=" + self.fine("r8", moved_mm), f"--dir=columns{moved_mm}")
            found = re.search(r"warning: --target2 fine_r8.nii.gz: is placed by the matrices.*up to 5\d(\.\d)? mm away", done.stdout)
            self.assertEqual(found is not None, is_warned, done.stdout)


if __name__ == "__main__":
    unittest.main()
