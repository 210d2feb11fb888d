"""voxherd bedpostx reads FSL's folder and flags, writes FSL's folder, and resumes when it is called again."""
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
    import nibabel
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VOXHERD = os.environ["VOXHERD"]
ON_ONE_CORE = ["--backend", "cpu", "--threads", "1"]
QUICK = ["-n", "2", "-b", "50", "-j", "50", "-s", "10"]


def run(*words, ranks=1, expect=0, cwd=None):
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*launch, VOXHERD, *words], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == expect, f"{words}: exit {done.returncode}, expected {expect}\n{done.stderr}"
    return done


def contents(folder):
    """SHA-256 and modification time of every file in the folder."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest(), os.stat(path).st_mtime_ns
    return found


def fsl_names(fibres, *scalars):
    names = ["bvals", "bvecs", "commands.txt", "logs/exported_samples.json", "logs/voxherd.json", "nodif_brain_mask.nii.gz", "voxherd.h5",
             "xfms/eye.mat"]
    for k in range(1, fibres + 1):
        names += [f"{kind}_{n}{k}samples.nii.gz" for kind in ("merged", "mean") for n in ("th", "ph", "f")]
        names += [f"dyads{k}.nii.gz", f"dyads{k}_dispersion.nii.gz"]
        if k > 1:
            names += [f"dyads{k}_thr0.05.nii.gz", f"dyads{k}_thr0.05_modf{k}.nii.gz"]
    return names + [f"mean_{name}samples.nii.gz" for name in ("fsum", "d", "S0", *scalars)]


class Bedpostx(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="voxherd_bedpostx_")
        self.addCleanup(shutil.rmtree, self.folder)
        self.subject, self.out = self.path("subject"), self.path("subject.bedpostX")
        run("phantom", "dwi", "--out", self.subject, "--size", "9x8x7", "--directions", "12", "--threads", "1")
        shutil.rmtree(f"{self.subject}/truth")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def bedpostx(self, *flags, **how):
        return run("bedpostx", self.subject, *flags, *ON_ONE_CORE, **how)

    def configuration(self):
        with h5py.File(f"{self.out}/voxherd.h5") as file:
            return json.loads(file.attrs["configuration"])

    def test_means_over_samples_of_the_angles_are_those_of_the_direction(self):
        """Of each voxel whose direction is well determined and not along z, where the azimuth means nothing."""
        run("phantom", "dwi", "--preset", "toy", "--out", self.path("toy"), "--snr", "40", "--threads", "1")
        run("bedpostx", self.path("toy"), "-n", "1", "-b", "300", "-j", "500", "-s", "10", "-model", "1", *ON_ONE_CORE)
        read = lambda name: nibabel.load(self.path("toy.bedpostX", name + ".nii.gz")).get_fdata()
        th, ph, dyads = read("merged_th1samples"), read("merged_ph1samples"), read("dyads1")
        good = (read("mean_f1samples") > 0.3) & (read("dyads1_dispersion") < 0.01) & (np.abs(dyads[..., 2]) < 0.95)
        self.assertGreater(good.sum(), 100)
        self.assertLess(np.ptp(ph[good], axis=1).max(), np.pi)
        th, ph = th.mean(axis=3), ph.mean(axis=3)
        mean = np.stack([np.sin(th) * np.cos(ph), np.sin(th) * np.sin(ph), np.cos(th)], axis=-1)
        off = np.degrees(np.arccos(np.clip(np.abs((mean * dyads).sum(axis=-1)), 0, 1)))[good]
        self.assertLess(off.max(), 1)

    def test_output_folder_is_complete_and_the_input_unchanged(self):
        before = contents(self.subject)
        self.bedpostx(*QUICK)
        self.assertEqual(sorted(contents(self.out)), sorted(fsl_names(2, "d_std")))
        self.assertEqual(contents(self.subject), before)
        self.assertEqual(nibabel.load(f"{self.out}/merged_th1samples.nii.gz").shape, (9, 8, 7, 5))
        np.testing.assert_array_equal(np.loadtxt(f"{self.out}/xfms/eye.mat"), np.eye(4))

    def test_its_result_is_that_of_ballstick(self):
        self.bedpostx(*QUICK, "-w", "0.5", "-model", "1", "--seed=3")
        p = self.subject
        run("ballstick", "--dwi", f"{p}/data.nii", "--bvals", f"{p}/bvals", "--bvecs", f"{p}/bvecs", "--mask",
            f"{p}/nodif_brain_mask.nii.gz", "--fibres", "2", "--burn-in", "50", "--jumps", "50", "--sample-every", "10",
            "--ard-weight", "0.5", "--model", "1", "--random-seed", "3", "--out", self.path("b.h5"), *ON_ONE_CORE)
        self.assertIn("the same bytes", run("compare", self.path("b.h5"), f"{self.out}/voxherd.h5").stdout)

    def test_one_shell_is_a_warning_for_models_that_need_more(self):
        self.assertNotIn("one shell", self.bedpostx(*QUICK, "--dry-run").stderr)
        shutil.rmtree(self.subject)
        run("phantom", "dwi", "--out", self.subject, "--size", "4x4x3", "--directions", "12", "--bvalues", "1000",
            "--threads", "1")
        self.assertIn("the series has one shell", self.bedpostx(*QUICK).stderr)
        three = self.bedpostx("-n", "3", *QUICK[2:], "-model", "1", "--overwrite").stderr
        self.assertIn("--model 1 with 3 fibres finds false fibres", three)
        self.assertNotIn("one shell", self.bedpostx(*QUICK, "-model", "1", "--overwrite").stderr)

    def test_a_finished_folder_is_not_changed(self):
        self.bedpostx(*QUICK)
        before = contents(self.out)
        self.assertIn("is finished", self.bedpostx(*QUICK).stderr)
        self.assertEqual(contents(self.out), before)

    def test_a_finished_folder_is_refused_with_other_flags(self):
        self.bedpostx(*QUICK)
        before = contents(self.out)
        output = self.bedpostx(*QUICK[2:], "-n", "3", ranks=2, expect=2).stderr
        self.assertIn("finished with other flags or inputs (fibres: 2 in the file, 3 now)", output)
        self.assertIn("bedpostx: -n 7: expected an integer, 1 to", self.bedpostx("-n", "7", expect=2).stderr)
        self.assertEqual(contents(self.out), before)
        self.bedpostx(*QUICK[2:], "-n", "1", "--overwrite")
        self.assertEqual(self.configuration()["fibres"], 1)

    def started(self, flags):
        """A run that has finished its first batches."""
        job = subprocess.Popen([VOXHERD, "bedpostx", self.subject, *flags, *ON_ONE_CORE, "--batch", "8"],
                               stderr=subprocess.PIPE, text=True)
        deadline = time.time() + 60
        while time.time() < deadline and job.poll() is None:
            try:
                with h5py.File(f"{self.out}/voxherd.h5.part", "r") as file:
                    if file["journal/batches"]["done"].sum() >= 2:
                        break
            except OSError:
                pass
            time.sleep(0.01)
        return job

    def killed(self, flags):
        job = self.started(flags)
        job.send_signal(signal.SIGKILL)
        job.communicate()
        self.assertEqual(job.returncode, -signal.SIGKILL)
        self.assertFalse(os.path.exists(f"{self.out}/xfms/eye.mat"))

    def test_a_stopped_run_names_the_command_that_continues(self):
        flags = [*QUICK[:2], "-b", "500", "-j", "3000", "-s", "100"]
        job = self.started(flags)
        job.send_signal(signal.SIGINT)
        output = job.communicate()[1]
        self.assertEqual(job.returncode, 75, output)
        self.assertIn("the same command continues", output)
        self.assertNotIn("--resume", output)
        output = self.bedpostx(*flags).stderr
        self.assertIn("resuming", output)
        self.assertNotIn("voxherd export", output)
        last = output.splitlines()[-1]
        self.assertIn(f"{self.out} written; next: probtrackx2", last)
        again = self.bedpostx(*flags, "--overwrite").stderr
        self.assertNotIn("starting from the beginning", again)

    def test_a_killed_run_is_resumed_by_the_same_command(self):
        flags = [*QUICK[:2], "-b", "500", "-j", "3000", "-s", "100"]
        self.killed(flags)
        output = self.bedpostx(*flags, ranks=2).stderr
        self.assertIn("resuming", output)
        self.assertEqual(sorted(contents(self.out)), sorted(fsl_names(2, "d_std")))
        interrupted = contents(self.out)
        self.bedpostx(*flags, "--overwrite")
        for name, (digest, _) in contents(self.out).items():
            if name.endswith(".nii.gz"):
                self.assertEqual(digest, interrupted[name][0], name)

    def test_a_killed_run_is_not_resumed_with_different_flags(self):
        self.killed([*QUICK[:2], "-b", "500", "-j", "3000"])
        output = self.bedpostx(*QUICK[:2], "-b", "500", "-j", "4000", expect=2).stderr
        self.assertIn("jumps: 3000 in the file, 4000 now", output)

    def test_an_interrupted_export_is_repeated(self):
        self.bedpostx(*QUICK)
        expected = contents(self.out)
        os.remove(f"{self.out}/xfms/eye.mat")
        os.remove(f"{self.out}/merged_f1samples.nii.gz")
        self.assertIn("already complete", self.bedpostx(*QUICK).stderr)
        again = contents(self.out)
        for found in (again, expected):
            del found["logs/exported_samples.json"]  # the times of the files
        self.assertEqual({name: digest for name, (digest, _) in again.items()},
                         {name: digest for name, (digest, _) in expected.items()})
        self.assertEqual(again["voxherd.h5"], expected["voxherd.h5"])

    def test_the_completion_mark_is_written_last(self):
        self.bedpostx(*QUICK)
        times = {name: time for name, (_, time) in contents(self.out).items()}
        self.assertEqual(times["xfms/eye.mat"], max(times.values()))

    def test_text_names_and_a_relative_folder_are_accepted(self):
        for name in ("bvals", "bvecs"):
            os.rename(f"{self.subject}/{name}", f"{self.subject}/{name}.txt")
        before = contents(self.subject)
        run("bedpostx", "subject/", *QUICK, *ON_ONE_CORE, cwd=self.folder)
        self.assertEqual(contents(self.subject), before)
        self.assertIn("xfms/eye.mat", contents(self.out))

    def test_the_names_of_UK_Biobank_are_accepted(self):
        self.bedpostx(*QUICK)
        expected = {name: digest for name, (digest, _) in contents(self.out).items() if name.endswith(".nii.gz")}
        for name, ending in (("data", ".nii"), ("nodif_brain_mask", ".nii.gz")):
            os.rename(f"{self.subject}/{name}{ending}", f"{self.subject}/{name}_ud{ending}")
        self.bedpostx(*QUICK, "--overwrite")
        found = contents(self.out)
        self.assertEqual({name: found[name][0] for name in expected}, expected)
        # A mask of the distorted images is not that of data_ud.
        grid = nibabel.load(f"{self.subject}/nodif_brain_mask_ud.nii.gz")
        nibabel.save(nibabel.Nifti1Image(np.ones(grid.shape, np.uint8), grid.affine), f"{self.subject}/nodif_brain_mask.nii.gz")
        self.bedpostx(*QUICK, "--overwrite")
        self.assertEqual(contents(self.out)["mean_dsamples.nii.gz"][0], expected["mean_dsamples.nii.gz"])

    def test_nodif_is_masked(self):
        data, mask = nibabel.load(f"{self.subject}/data.nii"), nibabel.load(f"{self.subject}/nodif_brain_mask.nii.gz")
        nodif = np.asarray(data.dataobj)[..., 0] + 1
        nibabel.save(nibabel.Nifti1Image(nodif, data.affine, data.header), f"{self.subject}/nodif.nii.gz")
        part = mask.get_fdata() > 0
        part[3:] = False
        nibabel.save(nibabel.Nifti1Image(part.astype(np.uint8), mask.affine), f"{self.subject}/nodif_brain_mask.nii.gz")
        self.bedpostx(*QUICK)
        brain = np.asarray(nibabel.load(f"{self.out}/nodif_brain.nii.gz").dataobj)
        np.testing.assert_array_equal(brain, np.where(part, nodif, 0).astype(np.float32))
        self.assertTrue(np.any(brain[part]))

    def test_gradient_deviation_is_used_with_g(self):
        self.assertIn("grad_dev", self.bedpostx(*QUICK, "-g", expect=66).stderr)
        self.assertFalse(os.path.exists(self.out))
        data = nibabel.load(f"{self.subject}/data.nii")
        deviation = np.zeros((*data.shape[:3], 9), np.float32)
        deviation[..., [0, 4, 8]] = 0.1
        nibabel.save(nibabel.Nifti1Image(deviation, data.affine), f"{self.subject}/grad_dev.nii.gz")
        self.bedpostx(*QUICK)
        without = np.asarray(nibabel.load(f"{self.out}/mean_dsamples.nii.gz").dataobj)
        self.bedpostx(*QUICK, "-g", "--overwrite")
        with_it = np.asarray(nibabel.load(f"{self.out}/mean_dsamples.nii.gz").dataobj)
        # b increases by a factor of 1.1 squared, so the same signal means a lower diffusivity.
        self.assertLess(np.median(with_it[with_it > 0] / without[with_it > 0]), 0.9)

    def test_flags_of_fsl_become_options(self):
        self.bedpostx("--nf=1", "--fudge=2", "--bi=20", "--nj=30", "--se=10", "--upe=7", "--model=3", "--seed=5",
                      "--Rmean=0.2", "--Rstd=0.05", "--rician", "--f0", "--ardf0", "--noard", "--cnonlinear")
        found = self.configuration()
        expected = {"fibres": 1, "ard-weight": 2, "burn-in": 20, "jumps": 30, "sample-every": 10, "adapt-every": 7,
                    "model": 3, "random-seed": 5, "ratio-mean": 0.2, "ratio-std": 0.05, "noise": "rician", "f0": True,
                    "f0-ard": True, "no-ard": True, "all-ard": False}
        self.assertEqual({name: found[name] for name in expected}, expected)
        self.assertEqual(sorted(contents(self.out)), sorted(fsl_names(1, "d_std", "R", "f0", "tau")))

    def test_defaults_are_those_of_bedpostx(self):
        self.assertIn("about", self.bedpostx("--dry-run").stdout)
        self.assertFalse(os.path.exists(self.out))
        self.bedpostx("-j", "10", "-s", "10", "-b", "0")
        found = self.configuration()
        for name, value in {"fibres": 3, "model": 2, "ard-weight": 1, "noise": "gaussian", "adapt-every": 40}.items():
            self.assertEqual(found[name], value, name)

    def test_ignored_flags_are_reported_in_one_line(self):
        output = self.bedpostx(*QUICK, "--cnonlinear", "--nospat", "--forcedir", "-V", "-NJOBS", "4").stderr
        lines = [line for line in output.splitlines() if "have no effect" in line]
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].endswith("--cnonlinear, --nospat, --forcedir, -V, -NJOBS 4"), lines[0])

    def test_unknown_and_invalid_flags_are_named(self):
        for flags, words in ((["--sharpen"], "unknown option --sharpen"), (["-zap"], "unknown option -zap"), (["--Rfudge=2"], "--Rfudge"),
                             (["--gradnonlin=x"], "--gradnonlin"), (["--ld=x"], "--ld"), (["-m", "x"], "-m"),
                             (["-n", "9"], "bedpostx: -n 9: expected an integer, 1 to 4"),
                             (["-n", "two"], "bedpostx: -n two: expected an integer, 1 to 4"), (["-w", "x"], "bedpostx: -w x: expected 0 to"),
                             (["-nn", "2"], "unknown option -nn; see voxherd bedpostx --help"), (["-n", "2", "--nf=3"], "-n is given twice"),
                             (["--rician=yes"], "--rician=yes"), (["--out", "x"], "--out"),
                             (["--noard", "--allard"], "exclude each other"), (["second"], "unexpected argument 'second'")):
            output = self.bedpostx(*flags, expect=2).stderr
            self.assertIn(words, output)
            self.assertEqual(output.count("\n"), 1, output)
            self.assertFalse(os.path.exists(self.out), flags)
        output = run("bedpostx", self.subject, *ON_ONE_CORE, "-n", expect=2).stderr
        self.assertIn("-n: the value is missing", output)

    def test_an_output_folder_that_cannot_be_changed_is_named(self):
        os.makedirs(self.out)
        with open(f"{self.out}/xfms", "w") as file:
            file.write("not a folder\n")
        stderr = run("bedpostx", self.subject, *QUICK, *ON_ONE_CORE, expect=74).stderr
        self.assertIn("xfms/eye.mat: cannot be removed: Not a directory; check that the folder is writable", stderr)

    def test_missing_files_of_the_folder_are_named(self):
        self.assertIn("no such folder", run("bedpostx", self.path("nobody"), expect=66).stderr)
        os.rename(f"{self.subject}/bvals", self.path("bvals"))
        self.assertIn("found no bvals or bvals.txt", self.bedpostx(expect=66).stderr)
        os.rename(self.path("bvals"), f"{self.subject}/bvals")
        shutil.copy(f"{self.subject}/data.nii", f"{self.subject}/data.nii.gz")
        self.assertIn("remove one of them", self.bedpostx(expect=2).stderr)
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    unittest.main()
