"""The scripts of pipelines run unchanged, with FSLDIR set to a copy of FSL in which voxherd replaces programs. After each,
the files that the pipeline opens next exist and have the right shape."""
import gzip
import os
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

from fsl_stand_ins import install
from program import files_below, run

SCRIPTS = os.path.join(os.environ["VOXHERD_DATA"], "pipelines")
if not os.path.isdir(SCRIPTS):
    print(f"skipped: no {SCRIPTS}")
    sys.exit(77)

UK_BIOBANK = ["-n", "3", "-w", "1", "-b", "3000", "-j", "1250", "-s", "25", "-model", "2"]


class Pipelines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="voxherd_pipelines_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        install(cls.path("installed"))
        run("shims", cls.path("fsl"), "--fsldir", cls.path("installed"))
        run("phantom", "dwi", "--out", cls.path("scan"), "--size", "9x8x7", "--directions", "32", "--threads", "1")

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def script(self, *words, expect=0, **variables):
        bin_folder = self.path("fsl", "bin")
        variables = {**os.environ, "FSLDIR": self.path("fsl"), "FSLBINDIR": bin_folder,
                     "PATH": f"{bin_folder}:{os.environ['PATH']}", **variables}
        variables.pop("SGE_ROOT", None)
        done = subprocess.run([os.path.join(SCRIPTS, words[0]), *words[1:]], capture_output=True, text=True, env=variables)
        self.assertEqual(done.returncode, expect, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def call(self, program, *words):
        done = subprocess.run([self.path("fsl", "bin", program), *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def copy_scan(self, folder, size=None, more=()):
        scan = self.path("scan")
        if size:
            scan = self.path(f"scan_{size}")
            if not os.path.isdir(scan):
                run("phantom", "dwi", "--out", scan, "--size", size, "--directions", "12", "--threads", "1")
        os.makedirs(folder)
        for name in ("bvals", "bvecs", "nodif_brain_mask.nii.gz"):
            shutil.copy(f"{scan}/{name}", folder)
        shutil.copy(f"{scan}/data.nii", folder)
        for name, image in dict(more).items():
            nibabel.save(image, f"{folder}/{name}.nii.gz")
        return folder

    def expect_samples(self, folder, fibres, model2=True):
        grid = nibabel.load(f"{folder}/nodif_brain_mask.nii.gz").shape
        for k in range(1, fibres + 1):
            for name in ("th", "ph", "f"):
                self.assertEqual(nibabel.load(f"{folder}/merged_{name}{k}samples.nii.gz").shape, (*grid, 50))
            self.assertEqual(nibabel.load(f"{folder}/dyads{k}.nii.gz").shape, (*grid, 3))
        fraction = nibabel.load(f"{folder}/mean_f1samples.nii.gz").get_fdata()
        inside = nibabel.load(f"{folder}/nodif_brain_mask.nii.gz").get_fdata() > 0
        self.assertTrue(0.1 < fraction[inside].mean() < 0.9 and (fraction[~inside] == 0).all())
        self.assertEqual(os.path.exists(f"{folder}/mean_d_stdsamples.nii.gz"), model2)
        self.assertTrue(os.path.exists(f"{folder}/xfms/eye.mat"))

    def expect_same_images(self, one, other):
        names = [name for name in files_below(one) if name.endswith(".nii.gz") and "nodif_brain" not in name]
        self.assertGreater(len(names), 20)
        for name in names:
            a, b = nibabel.load(f"{one}/{name}"), nibabel.load(f"{other}/{name}")
            self.assertTrue(np.array_equal(a.get_fdata(), b.get_fdata(), equal_nan=True), name)

    def bedpostx(self, subject, options):
        run("bedpostx", subject, *options, "--quiet")
        return subject + ".bedpostX"

    def test_UK_Biobank_pre_part_and_post(self):
        subject = self.copy_scan(self.path("ukbb", "dMRI"))
        os.rename(f"{subject}/data.nii", f"{subject}/data_ud.nii")
        os.symlink("data_ud.nii", f"{subject}/data.nii")
        tools = self.path("ukbb_tools", "bb_pipeline_tools")
        os.makedirs(tools)
        for name in ("bb_set_header", "bb_set_footer"):
            open(f"{tools}/{name}", "w").close()
        for script in ("bb_pre_bedpostx_gpu", "bb_bedpostx_gpu", "bb_post_bedpostx_gpu"):
            self.script(f"ukbb/{script}", subject, BB_BIN_DIR=self.path("ukbb_tools"))
        self.expect_samples(subject + ".bedpostX", 3)
        own = self.copy_scan(self.path("ukbb", "own"))
        self.expect_same_images(self.bedpostx(own, UK_BIOBANK), subject + ".bedpostX")

    def test_BRC_pre_part_and_post(self):
        subject = self.copy_scan(self.path("brc", "data"))
        out = self.path("brc", "bedpostx_here")
        os.makedirs(self.path("brc_scripts"))
        with open(self.path("brc_scripts", "log.shlib"), "w") as file:
            file.write("log_SetPath() { :; }\nlog_Msg() { :; }\n")
        for script in ("brc_pre_bedpostx.sh", "brc_bedpostx.sh", "brc_post_bedpostx.sh"):
            self.script(f"brc/{script}", f"--datafolder={subject}", f"--bedpostxfolder={out}", f"--logfile={self.path('log')}",
                        BRC_GLOBAL_SCR=self.path("brc_scripts"))
        self.expect_samples(out, 3)

    def test_HCP_wrapper_with_gradient_deviation(self):
        grid = nibabel.load(self.path("scan", "nodif_brain_mask.nii.gz"))
        deviation = nibabel.Nifti1Image(np.full((*grid.shape, 9), 0.01, np.float32), grid.affine)
        options = ["-n", "3", "-w", "1", "-b", "50", "-j", "50", "-s", "1", "-model", "3", "-g"]
        subject = self.copy_scan(self.path("hcp", "1", "T1w", "Diffusion"), more={"grad_dev": deviation})
        self.script("hcp/bedpostx_gpu", subject, "-QSYS", "0", "-Q", "gpu.q", "-NJOBS", "3", *options)
        self.expect_samples(subject + ".bedpostX", 3)
        own = self.copy_scan(self.path("hcp", "own"), more={"grad_dev": deviation})
        self.expect_same_images(self.bedpostx(own, options), subject + ".bedpostX")

    def test_the_same_line_is_taken_by_bedpostx_gpu_itself(self):
        own = self.copy_scan(self.path("qsys"))
        self.call("bedpostx_gpu", own, "-QSYS", "1", "-Q", "gpu.q", "-NJOBS", "4", "-n", "1", "-b", "10", "-j", "50", "-s", "1",
                  "-model", "1")
        self.expect_samples(own + ".bedpostX", 1, model2=False)

    def test_tvb_ukbb_bedpostx(self):
        own = self.copy_scan(self.path("tvb"))
        self.call("bedpostx_gpu", own, "--forcedir", "--nf=3", "--bi=3000", "--cnonlinear", "--model=2")
        self.expect_samples(own + ".bedpostX", 3)

    def test_gpu_test_btest(self):
        own = self.copy_scan(self.path("btest"))
        self.call("bedpostx_gpu", own, "-n", "3", "--model=1")
        self.expect_samples(own + ".bedpostX", 3, model2=False)

    def test_QuNex_bedpostx_and_dtifit(self):
        subject = self.copy_scan(self.path("qunex", "S1", "hcp", "S1", "T1w", "Diffusion"), size="34x34x26")
        # The scripts look at the sizes of files: every voxel has a signal, and is in the mask.
        scan = nibabel.load(f"{subject}/data.nii")
        noise = np.random.default_rng(1).uniform(50, 500, scan.shape)
        nibabel.save(nibabel.Nifti1Image((scan.get_fdata() + noise).astype(np.float32), scan.affine), f"{subject}/data.nii")
        nibabel.save(nibabel.Nifti1Image(np.ones(scan.shape[:3], np.uint8), scan.affine),
                     f"{subject}/nodif_brain_mask.nii.gz")
        at = [f"--sessionsfolder={self.path('qunex')}", "--session=S1", "--overwrite=no"]
        said = self.script("qunex/dwi_bedpostx_gpu.sh", *at, "--fibers=3", "--burnin=10", "--jumps=50", "--sample=1")
        self.assertIn("bedpostx successfully completed", said)
        self.expect_samples(subject + ".bedpostX", 3)
        said = self.script("qunex/dwi_dtifit.sh", *at)
        self.assertIn("dtifit successfully completed", said)
        for name in ("FA", "MD", "MO", "S0", "L1", "L2", "L3", "V1", "V2", "V3"):
            self.assertEqual(nibabel.load(f"{subject}/dti_{name}.nii.gz").shape[:3], (34, 34, 26), name)


class Tracking(unittest.TestCase):
    """Bundles of a phantom with known ends: 7 leads to 8, 9 to 10, 11 to 12, 13 to 14."""

    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="voxherd_tracking_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        install(cls.path("installed"))
        run("shims", cls.path("fsl"), "--fsldir", cls.path("installed"))
        run("phantom", "dwi", "--preset", "toy", "--fibres", "2", "--out", cls.path("scan"))
        run("bedpostx", cls.path("scan"), "-n", "2", "-b", "300", "-j", "500", "-s", "10", "-model", "1", "--quiet")
        cls.samples = ["-s", cls.path("scan.bedpostX", "merged"), "-m", cls.path("scan.bedpostX", "nodif_brain_mask")]
        cls.ends = nibabel.load(cls.path("scan", "truth", "ends.nii.gz"))
        cls.environment = {**os.environ, "FSLDIR": cls.path("fsl"), "PATH": f"{cls.path('fsl', 'bin')}:{os.environ['PATH']}"}

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def mask(self, path, *labels):
        """An image of some ends; of all voxels without labels."""
        values = np.isin(np.asarray(self.ends.dataobj), labels) if labels else np.ones(self.ends.shape)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        nibabel.save(nibabel.Nifti1Image(values.astype(np.uint8), self.ends.affine), path)
        return path

    def call(self, program, *words, cwd=None):
        done = subprocess.run([self.path("fsl", "bin", program), *map(str, words)], capture_output=True, text=True,
                              env=self.environment, cwd=cwd or self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[-1000:])

    def image(self, *names):
        return nibabel.load(self.path(*names)).get_fdata()

    def test_XTRACT_native(self):
        tracts = {"plain": ((7,), [(8,)], ""), "inverted": ((9,), [(10,)], "invert"),
                  "two_targets": ((11,), [(12,), ()], ""), "ordered": ((13,), [(), (14,)], "wayorder"),
                  "avoiding": ((14,), [(13,)], "")}
        for name, (seed, targets, mark) in tracts.items():
            self.mask(self.path("protocols", name, "seed.nii.gz"), *seed)
            for k, target in enumerate(targets, 1):
                self.mask(self.path("protocols", name, f"target{k}.nii.gz"), *target)
            if mark:
                open(self.path("protocols", name, mark), "w").close()
        self.mask(self.path("protocols", "avoiding", "exclude.nii.gz"), 7, 8)
        self.mask(self.path("protocols", "avoiding", "stop.nii.gz"), 13)
        with open(self.path("structureList"), "w") as file:
            file.write("".join(f"{name} 0.1\n" for name in tracts))
        done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "xtract", "xtract"), "-bpx", self.path("scan.bedpostX"),
                               "-out", self.path("xtract"), "-species", "CUSTOM", "-p", self.path("protocols"), "-str",
                               self.path("structureList"), "-in_native"], capture_output=True, text=True, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[-1000:])
        for name, (seed, _, mark) in tracts.items():
            folder = ("xtract", "tracts", name)
            density = self.image(*folder, "density.nii.gz")
            with open(self.path(*folder, "sum_waytotal" if mark == "invert" else "waytotal")) as file:
                accepted = float(file.read())
            self.assertEqual(density.shape, self.ends.shape, name)
            self.assertGreater(accepted, 50, name)
            self.assertGreater(density[np.isin(np.asarray(self.ends.dataobj), seed)].mean(), 0, name)
            total = self.image(*folder, "sum_density.nii.gz") if mark == "invert" else density
            self.assertTrue(np.allclose(self.image(*folder, "densityNorm.nii.gz"), total / accepted, rtol=1e-5), name)
            self.assertTrue(os.path.exists(self.path(*folder, "density_lengths.nii.gz")), name)

    def standard_space(self):
        """A space with 3, 2 and 1 voxels more on each side, and bent: its masks and warps of both directions."""
        if os.path.isdir(self.path("standard")):
            return
        grid, size = self.ends.affine, np.array(self.ends.shape)
        mm, shift = np.abs(np.diag(grid)[:3]), np.array([3, 2, 1])
        backwards = np.linalg.det(grid[:3, :3]) > 0

        def coordinates(shape):  # FSL's, at the voxels in the file's order
            voxels = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).astype(float)
            return (voxels[::-1] if backwards else voxels) * mm

        def bend(points):
            return .4 * mm * np.sin(points[..., [1, 2, 0]] / (4 * mm) + 1)

        standard, own = coordinates(size + 2 * shift), coordinates(size)
        back = own + shift * mm
        for _ in range(30):
            back = own + shift * mm - bend(back)
        self.save("standard/diff2std.nii.gz", bend(standard) - shift * mm, 2006)
        self.save("standard/std2diff.nii.gz", back - own, 2006)
        self.save("standard/reference.nii.gz", np.ones(size + 2 * shift))
        # The same without the bend, as coefficients of fnirt: all in the affine part.
        for name, sign, shape in (("diff_2_std", 1, size + 2 * shift), ("std_2_diff", -1, size)):
            image = nibabel.Nifti1Image(np.zeros((*(-(-(shape + 1) // 4) + 2), 3), np.float32), None)
            affine = np.eye(4)
            affine[:3, 3] = sign * shift * mm
            image.header["pixdim"][1:4] = 4
            image.header.set_sform(affine, 1)
            image.header["qform_code"], (image.header["qoffset_x"], image.header["qoffset_y"], image.header["qoffset_z"]) = 1, shape
            image.header["intent_code"], image.header["vox_offset"] = 2007, 352
            image.header["scl_slope"], image.header["scl_inter"] = 1, 0
            image.header["intent_p1"], image.header["intent_p2"], image.header["intent_p3"] = mm
            os.makedirs(self.path("standard", "coefficients"), exist_ok=True)
            with gzip.open(self.path("standard", "coefficients", f"{name}_warp_coeff.nii.gz"), "wb") as file:
                file.write(image.header.binaryblock + bytes(4) + np.asarray(image.dataobj).tobytes(order="F"))

    def save(self, name, values, intent=0):
        image = nibabel.Nifti1Image(values.astype(np.float32), self.ends.affine)
        image.header["intent_code"] = intent
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        nibabel.save(image, self.path(name))

    def standard_mask(self, path, *labels):
        """Some ends in standard space, with a margin for the bend; of all voxels without labels."""
        values = np.isin(np.pad(np.asarray(self.ends.dataobj), ((3, 3), (2, 2), (1, 1))), labels)
        near = values.copy()
        for axis in range(3):
            for step in (-1, 1):
                near |= np.roll(values, step, axis)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.save(path, near if labels else np.ones(values.shape))
        return path

    def standard_protocols(self, folder, target="target1"):
        for name, seed, goal in (("one", 7, 8), ("two", 9, 10)):
            self.standard_mask(f"{folder}/{name}/seed.nii.gz", seed)
            self.standard_mask(f"{folder}/{name}/{target}.nii.gz", goal)
            self.standard_mask(f"{folder}/{name}/exclude.nii.gz", 11, 12)
        self.standard_mask(f"{folder}/one/stop.nii.gz", 8)
        open(f"{folder}/two/invert", "w").close()

    def expect_tracts(self, folder):
        for name, seed in (("one", 7), ("two", 9)):
            density = self.image(*folder, name, "densityNorm.nii.gz")
            self.assertEqual(density.shape, tuple(np.array(self.ends.shape) + (6, 4, 2)), name)
            ends = np.pad(np.asarray(self.ends.dataobj), ((3, 3), (2, 2), (1, 1)))
            self.assertGreater(density[ends == seed].mean(), 10 * density[ends == 13].mean() + 1e-6, name)

    def test_XTRACT_in_standard_space(self):
        self.standard_space()
        self.standard_protocols(self.path("standard_protocols"))
        with open(self.path("standard_list"), "w") as file:
            file.write("one 0.1\ntwo 0.1\n")
        done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "xtract", "xtract"), "-bpx", self.path("scan.bedpostX"), "-out",
                               self.path("xtract_standard"), "-species", "CUSTOM", "-p", self.path("standard_protocols"), "-str",
                               self.path("standard_list"), "-stdref", self.path("standard", "reference"), "-stdwarp",
                               self.path("standard", "std2diff.nii.gz"), self.path("standard", "diff2std.nii.gz")],
                              capture_output=True, text=True, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[-1000:])
        self.expect_tracts(("xtract_standard", "tracts"))

    def test_BRC_xtract_with_coefficients(self):
        """As the script is started: FSLDIR has xtract, MNI's image and the protocols."""
        self.standard_space()
        fsl = self.path("brc_fsl")
        for name in ("bin", "data/standard", "data/xtract_data/HUMAN"):
            os.makedirs(f"{fsl}/{name}")
        for name in os.listdir(self.path("fsl", "bin")):
            os.symlink(self.path("fsl", "bin", name), f"{fsl}/bin/{name}")
        os.symlink(os.path.join(SCRIPTS, "xtract", "xtract"), f"{fsl}/bin/xtract")
        os.symlink(sys.executable, f"{fsl}/bin/fslpython")
        os.symlink(self.path("standard", "reference.nii.gz"), f"{fsl}/data/standard/MNI152_T1_1mm.nii.gz")
        self.standard_protocols(f"{fsl}/data/xtract_data/HUMAN")
        with open(f"{fsl}/data/xtract_data/HUMAN/structureList", "w") as file:
            file.write("one 0.1\ntwo 0.1\n")
        os.makedirs(self.path("brc_global"))
        with open(self.path("brc_global", "log.shlib"), "w") as file:
            file.write("log_SetPath() { :; }\nlog_Msg() { echo $2; }\n")
        done = subprocess.run(["bash", os.path.join(SCRIPTS, "brc", "brc_xtract.sh"), f"--bedpostxfolder={self.path('scan.bedpostX')}",
                               f"--regfolder={self.path('standard', 'coefficients')}", f"--xtractfolder={self.path('brc_xtract')}",
                               f"--logfile={self.path('brc_log')}"], capture_output=True, text=True,
                              env={**self.environment, "FSLDIR": fsl, "PATH": f"{fsl}/bin:{os.environ['PATH']}",
                                   "BRC_GLOBAL_SCR": self.path("brc_global")})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr[:1500] + done.stdout[-1000:])
        self.assertTrue(os.path.exists(self.path("brc_xtract", "tracts", "two", "densityNorm.nii.gz")), done.stdout[-2000:])
        self.expect_tracts(("brc_xtract", "tracts"))

    def test_UK_Biobank_autoPtx(self):
        """bb_autoPtx starts bb_trackSubjectStruct for each tract, beside which the protocols are."""
        self.standard_space()
        scripts, subject = self.path("autoptx_scripts"), self.path("biobank", "1000")
        self.standard_protocols(f"{scripts}/protocols", "target")
        for name in ("bb_autoPtx", "bb_trackSubjectStruct"):
            os.symlink(os.path.join(SCRIPTS, "ukbb", name), f"{scripts}/{name}")
        with open(f"{scripts}/structureList", "w") as file:
            file.write("one 0.5 10\ntwo 0.5 10\n")
        for name in ("logs", "dMRI/TBSS/FA", "dMRI/dMRI"):
            os.makedirs(f"{subject}/{name}")
        os.symlink(self.path("scan.bedpostX"), f"{subject}/dMRI/dMRI.bedpostX")
        os.symlink(self.path("scan.bedpostX", "nodif_brain_mask.nii.gz"), f"{subject}/dMRI/dMRI/nodif_brain_mask.nii.gz")
        os.symlink(self.path("standard", "std2diff.nii.gz"), f"{subject}/dMRI/TBSS/FA/MNI_to_dti_FA_warp.nii.gz")
        os.symlink(self.path("standard", "diff2std.nii.gz"), f"{subject}/dMRI/TBSS/FA/dti_FA_to_MNI_warp.nii.gz")
        tools = self.path("biobank_tools", "bb_pipeline_tools")
        os.makedirs(tools)
        for name in ("bb_set_header", "bb_set_footer"):
            open(f"{tools}/{name}", "w").close()
        done = subprocess.run(["bash", f"{scripts}/bb_autoPtx", "1000"], capture_output=True, text=True, cwd=self.path("biobank"),
                              env={**self.environment, "BB_BIN_DIR": self.path("biobank_tools"), "FSLGECUDAQ": "gpu.q"})
        log, = (name for name in os.listdir(f"{subject}/logs") if name.endswith(".log"))
        with open(f"{subject}/logs/{log}", encoding="utf-8") as file:
            self.assertEqual((done.returncode, done.stdout.strip()), (0, "4711,4711"), file.read()[-2000:] + done.stderr)
        for name in ("one", "two"):
            os.rename(f"{subject}/dMRI/autoptx_preproc/tracts/{name}/tracts/tractsNorm.nii.gz",
                      f"{subject}/dMRI/autoptx_preproc/tracts/{name}/densityNorm.nii.gz")
        self.expect_tracts(("biobank", "1000", "dMRI", "autoptx_preproc", "tracts"))

    def border(self, label, margin):
        """Points and triangles of the border of an end's voxels, in an image with so many voxels more on each side."""
        inside = np.pad(np.asarray(self.ends.dataobj) == label, [(n + 1, n + 1) for n in margin])
        number, triangles = {}, []
        for axis in range(3):
            a, b = np.eye(3, dtype=int)[[axis - 2, axis - 1]]
            for at in np.argwhere(inside != np.roll(inside, 1, axis)):
                square = [number.setdefault(tuple(at + i * a + k * b), len(number)) for i, k in ((0, 0), (1, 0), (1, 1), (0, 1))]
                triangles += [square[:3], [square[2], square[3], square[0]]]
        return (np.array(list(number)) - 1.5) @ self.ends.affine[:3, :3].T + self.ends.affine[:3, 3], triangles

    def hull(self, path, label):
        """The border of an end in standard space, in FreeSurfer's text. Returns its number of vertices."""
        points, triangles = self.border(label, (3, 2, 1))
        with open(path, "w") as file:
            file.write(f"#!ascii\n{len(points)} {len(triangles)}\n")
            file.writelines("{:.6f} {:.6f} {:.6f} 0\n".format(*point) for point in points)
            file.writelines("{} {} {} 0\n".format(*triangle) for triangle in triangles)
        return len(points)

    def qunex(self):
        """A session of QuNex: ends 7 and 8 in place of the hemispheres' white matter, 13 and 14 of the pial surfaces."""
        session = self.path("sessions", "S1", "hcp", "S1")
        results = f"{session}/MNINonLinear/Results/Tractography"
        if os.path.isdir(results):
            return results
        self.standard_space()
        for name in ("MNINonLinear/xfms", "MNINonLinear/ROIs", "T1w"):
            os.makedirs(f"{session}/{name}")
        os.makedirs(results)
        os.symlink(self.path("scan.bedpostX"), f"{session}/T1w/Diffusion.bedpostX")
        os.symlink(self.path("standard", "std2diff.nii.gz"), f"{session}/MNINonLinear/xfms/standard2acpc_dc.nii.gz")
        os.symlink(self.path("standard", "diff2std.nii.gz"), f"{session}/MNINonLinear/xfms/acpc_dc2standard.nii.gz")
        self.standard_mask(f"{session}/MNINonLinear/ROIs/Whole_Brain_Trajectory_ROI_2.nii.gz")
        type(self).vertices = sum(self.hull(f"{results}/white.{side}.asc", label) for side, label in (("L", 7), ("R", 8)))
        for side, label in (("L", 13), ("R", 14)):
            self.hull(f"{results}/pial.{side}.asc", label)
        names = [f"{name}_{side}" for name in ("ACCUMBENS", "AMYGDALA", "CAUDATE", "CEREBELLUM", "DIENCEPHALON_VENTRAL", "HIPPOCAMPUS",
                                               "PALLIDUM", "PUTAMEN", "THALAMUS") for side in ("LEFT", "RIGHT")] + ["BRAIN_STEM"]
        beside = np.argwhere(np.pad(np.isin(np.asarray(self.ends.dataobj), (9, 10, 11, 12)), ((3, 3), (2, 2), (1, 1))))
        for name, at in zip(names, beside):
            values = np.zeros(np.array(self.ends.shape) + (6, 4, 2))
            values[tuple(at)] = 1
            self.save(os.path.relpath(f"{results}/CIFTI_STRUCTURE_{name}.nii.gz", self.folder), values)
        os.makedirs(self.path("qunex_fsl", "data", "standard"))
        os.symlink(self.path("standard", "reference.nii.gz"), self.path("qunex_fsl", "data", "standard", "MNI152_T1_2mm_brain_mask.nii.gz"))
        os.makedirs(self.path("qunex_hcp", "tractography_gpu_scripts"))
        for number in (1, 3):
            open(self.path("qunex_hcp", "tractography_gpu_scripts", f"post_proc_matrix{number}.sh"), "w").close()
            os.chmod(self.path("qunex_hcp", "tractography_gpu_scripts", f"post_proc_matrix{number}.sh"), 0o755)
        return results

    def expect_hemispheres(self, number):
        """Runs a script of QuNex: most connections of the left surface's vertices lead to the right one's."""
        results = self.qunex()
        done = subprocess.run(["bash", os.path.join(SCRIPTS, "qunex", f"run_matrix{number}.sh"), self.path("sessions"), "S1",
                               "40" if number == 1 else "3"], capture_output=True, text=True, cwd=self.folder,
                              env={**self.environment, "FSLDIR": self.path("qunex_fsl"), "FSLBINDIR": self.path("fsl", "bin"),
                                   "DEFAULT_CUDA_VERSION": "", "ProbtrackXGPUBin": "", "FSLGPUBinary": "",
                                   "HCPPIPEDIR_dMRITractFull": self.path("qunex_hcp"), "QUNEXLIBRARYETC": ""})
        self.assertEqual(done.returncode, 0, done.stdout[-1000:] + done.stderr[-1000:])
        self.assertTrue(os.path.exists(f"{results}/fdt_matrix{number}.dot"), done.stdout[-1000:] + done.stderr[-1000:])
        rows = np.loadtxt(f"{results}/fdt_matrix{number}.dot")
        file = np.loadtxt(f"{results}/coords_for_fdt_matrix{number}")[:, 3]
        self.assertEqual((file == 0).sum() + (file == 1).sum(), self.vertices)
        self.assertEqual(tuple(rows[-1, :2]), (len(file), len(file)))
        at, to, count = rows[:-1, 0].astype(int) - 1, rows[:-1, 1].astype(int) - 1, rows[:-1, 2]
        self.assertGreater(count[(file[at] == 0) & (file[to] == 1)].sum(), 3 * count[(file[at] == 0) & (file[to] > 1)].sum() + 10)

    def test_QuNex_matrix1_from_white_matter_surfaces(self):
        self.expect_hemispheres(1)

    def test_QuNex_matrix3_of_white_matter_surfaces(self):
        self.expect_hemispheres(3)

    def hcp(self):
        """Grey matter (two surfaces and an image), white matter, what stops, the trajectory space."""
        self.mask(self.path("hcp", "trajectory.nii.gz"))
        self.mask(self.path("hcp", "grey.nii.gz"), 9)
        nibabel.save(nibabel.Nifti1Image((np.asarray(self.ends.dataobj) == 0).astype(np.uint8), self.ends.affine), self.path("hcp", "white.nii.gz"))
        for name, label in (("L.white", 7), ("R.white", 8), ("L.pial", 13), ("R.pial", 14)):
            points, triangles = self.border(label, (0, 0, 0))
            arrays = [nibabel.gifti.GiftiDataArray(np.float32(points), "NIFTI_INTENT_POINTSET"),
                      nibabel.gifti.GiftiDataArray(np.int32(triangles), "NIFTI_INTENT_TRIANGLE")]
            nibabel.save(nibabel.gifti.GiftiImage(darrays=arrays), self.path("hcp", f"{name}.surf.gii"))
        for name, files in (("grey", ("L.white.surf.gii", "R.white.surf.gii", "grey.nii.gz")), ("stop", ("L.pial.surf.gii", "R.pial.surf.gii"))):
            with open(self.path("hcp", f"{name}.txt"), "w") as file:
                file.writelines(self.path("hcp", one) + "\n" for one in files)

    def test_HCP_matrix4_from_grey_and_from_white_matter(self):
        """The words of RunTractography of pull request 414 of HCPpipelines, with both strategies of seeding."""
        self.hcp()
        path = {name: self.path("hcp", name) for name in ("trajectory.nii.gz", "white.nii.gz", "grey.txt", "stop.txt")}
        trajectory, white, grey, stop = path.values()
        for number, seeds, words in ((1, grey, ["--distthresh1=0", "--omatrix1"]),
                                     (3, white, [f"--target3={grey}", "--distthresh3=0", "--omatrix3", f"--colmask4={grey}"])):
            self.call("probtrackx2_gpu", f"--samples={self.path('scan.bedpostX')}", f"--mask={trajectory}", f"--seed={seeds}",
                      f"--waypoints={white}", f"--stop={stop}", f"--wtstop={grey}", f"--seedref={trajectory}", f"--dir={self.path('hcp', 'out')}",
                      "--nsamples=20", "--cthr=0", "--steplength=0.5", "--distthresh=0", "--forcedir", "--meshspace=caret", "--nsteps=2000",
                      "--fibthresh=0.05", "--loopcheck", "--randfib=2", "--forcefirststep", "--opd", "--ompl", "--sampvox=2", "--verbose=1",
                      f"--target4={trajectory}", "--omatrix4", *words)
            out = self.path("hcp", "out")
            rows, columns = np.loadtxt(f"{out}/fdt_matrix4_1.mtx").astype(int)
            entries = np.fromfile(f"{out}/fdt_matrix4_2.mtx", np.int64)
            row, code = np.fromfile(f"{out}/fdt_matrix4_3.mtx", np.int64).reshape(-1, 2).T
            voxels = np.loadtxt(f"{out}/tract_space_coords_for_fdt_matrix4").astype(int)
            places = np.loadtxt(f"{out}/coords_for_fdt_matrix4")
            np.testing.assert_array_equal(places, np.loadtxt(f"{out}/coords_for_fdt_matrix{number}"))
            self.assertEqual((rows, columns, entries.sum()), (len(voxels), len(places), len(row)))
            self.assertEqual(rows, np.prod(self.ends.shape))
            end = np.asarray(self.ends.dataobj)[tuple(voxels.T)][row]
            from_left = np.repeat(places[:, 3] == 0, entries)  # end 7, whose bundle leads to 8

            def streamlines(label):
                return (code >> 32)[from_left & (end == label)].sum()

            self.assertGreater(streamlines(8), 10 * streamlines(12) + 100)

    def test_xtract_blueprint_matrix2_from_a_surface(self):
        results = self.qunex()
        self.call("probtrackx2", *self.samples, f"--target2={self.standard_mask(self.path('target2.nii.gz'))}", "--omatrix2", "--loopcheck",
                  "--forcedir", "--opd", "--nsamples=10", f"--xfm={self.path('standard', 'std2diff')}",
                  f"--invxfm={self.path('standard', 'diff2std')}", f"--seedref={self.path('standard', 'reference')}",
                  f"--seed={results}/white.L.asc", f"--stop={results}/pial.L.asc", f"--wtstop={results}/white.R.asc",
                  f"--dir={self.path('blueprint')}")
        seeds = np.loadtxt(self.path("blueprint", "coords_for_fdt_matrix2"))
        np.testing.assert_array_equal(seeds[:, 4], np.arange(len(seeds)))
        self.assertEqual(np.loadtxt(self.path("blueprint", "fdt_matrix2.dot"))[-1, 0], len(seeds))
        density = self.image("blueprint", "fdt_paths.nii.gz")
        ends = np.pad(np.asarray(self.ends.dataobj), ((3, 3), (2, 2), (1, 1)))
        self.assertGreater(density[ends == 8].mean(), 10 * density[ends == 12].mean() + 1e-6)

    def test_BRC_autoptx_runs_without_opd(self):
        folder = self.path("autoptx")
        os.makedirs(folder)
        self.call("probtrackx2", f"--samples={self.samples[1]}", f"--mask={self.samples[3]}",
                  f"--seed={self.mask(self.path('seed.nii.gz'), 7)}", f"--waypoints={self.mask(self.path('way.nii.gz'), 8)}",
                  f"--avoid={self.mask(self.path('avoid.nii.gz'), 9)}", "--nsamples=50", "--loopcheck", "--onewaycondition",
                  "--dir=.", "--out=fdt_paths", "--forcedir", "-V", "0", cwd=folder)
        with open(f"{folder}/waytotal") as file:
            self.assertGreater(int(file.read()), 10)

    def test_NFACT_matrix2(self):
        with open(self.path("nfact_seeds.txt"), "w") as file:
            file.write(f"{self.mask(self.path('s1.nii.gz'), 7)}\n{self.mask(self.path('s2.nii.gz'), 9)}\n")
        with open(self.path("eye.mat"), "w") as file:
            file.write("1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n")
        self.call("probtrackx2", "-x", self.path("nfact_seeds.txt"), *self.samples[:2], f"--mask={self.samples[3]}",
                  f"--seedref={self.path('s1.nii.gz')}", "--omatrix2", f"--target2={self.mask(self.path('all.nii.gz'))}",
                  "--loopcheck", "--forcedir", "--opd", "--pd", "--nsamples=20", f"--dir={self.path('nfact')}",
                  f"--xfm={self.path('eye.mat')}")
        rows = np.loadtxt(self.path("nfact", "fdt_matrix2.dot"))
        seeds = np.loadtxt(self.path("nfact", "coords_for_fdt_matrix2"))
        self.assertEqual(len(seeds), np.isin(np.asarray(self.ends.dataobj), (7, 9)).sum())
        self.assertEqual(rows[-1, 0], len(seeds))

    def test_tvb_ukbb_network_and_matrix1(self):
        seeds = [self.mask(self.path(f"r{label}.nii.gz"), label) for label in (7, 8, 9, 10)]
        with open(self.path("network.txt"), "w") as file:
            file.write("\n".join(seeds))
        self.call("probtrackx2_gpu", "-V", 2, "--network", "--omatrix1", "--ompl", f"--seed={self.path('network.txt')}",
                  "--loopcheck", "--onewaycondition", "--cthr=0.2", "--nsteps=2000", "--steplength=0.5", "--nsamples=50",
                  "--fibthresh=0.01", "--distthresh=0.0", "--sampvox=0.0", f"--avoid={self.mask(self.path('no.nii.gz'), 12)}",
                  "--forcedir", "--opd", *self.samples, f"--dir={self.path('network')}")
        counts = np.loadtxt(self.path("network", "fdt_network_matrix"))
        self.assertEqual(counts.shape, (4, 4))
        self.assertEqual((int(counts[0].argmax()), int(counts[2].argmax())), (1, 3))
        self.assertTrue(os.path.exists(self.path("network", "fdt_matrix1.dot")))

    def test_gpu_test_ptest(self):
        self.call("probtrackx2_gpu", "-x", self.mask(self.path("m.nii.gz"), 7), f"--dir={self.path('ptest')}", "--forcedir",
                  "-P", 200, *self.samples, "--opd", "--pd", "-l", "-c", "0.2", "--distthresh=0")
        self.assertGreater(self.image("ptest", "fdt_paths.nii.gz").sum(), 0)


if __name__ == "__main__":
    unittest.main()
