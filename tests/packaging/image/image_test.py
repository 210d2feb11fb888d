"""The image: made from Debian's packages and the .deb, unpacked and run."""
import json
import os
import re
import subprocess
import sys
import tarfile
import unittest

import container
import installed
from installed import ROOT, run_checked

VOXHERD = os.environ["VOXHERD"]


def setUpModule():
    reason = container.missing_requirements()
    if reason:
        raise unittest.SkipTest(reason)


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = installed.temporary_folder(cls)
        os.chmod(cls.folder, 0o755)
        deb = installed.make_deb(os.path.join(cls.folder, "made"))
        cls.image = os.path.join(cls.folder, "voxherd.oci.tar")
        subprocess.run([os.path.join(ROOT, "script", "image"), deb, cls.image], timeout=800, check=True)
        cls.container = container.Container(cls.image, cls.folder)

    def test_the_archive_has_only_the_files_of_an_oci_layout(self):
        with tarfile.open(self.image) as archive:
            names = archive.getnames()
        self.assertEqual(sorted({name.split("/")[0] for name in names}), ["blobs", "index.json", "oci-layout"])
        # configuration, layer and manifest
        self.assertEqual(len([name for name in names if re.fullmatch("blobs/sha256/[0-9a-f]{64}", name)]), 3)

    def test_it_starts_the_program_of_the_deb(self):
        self.assertEqual(self.container.default_command, ["voxherd", "--help"])
        self.assertEqual(self.container.run(), run_checked(VOXHERD, "--help"))
        self.assertEqual(self.container.run("voxherd", "--version"), run_checked(VOXHERD, "--version"))
        self.assertIn("GPUs", self.container.run("voxherd", "info"))

    def test_analyses_run_in_it_on_two_ranks_with_the_results_of_this_machine(self):
        launch = ("mpirun", "--oversubscribe", "-n", "2", "voxherd")
        inputs = [word for option, name in (("dwi", "data.nii"), ("bvals", "bvals"), ("bvecs", "bvecs"),
                                            ("mask", "nodif_brain_mask.nii.gz")) for word in (f"--{option}", f"phantom/{name}")]
        self.container.run("voxherd", "phantom", "dwi", "--preset", "toy", "--out", "phantom")
        self.container.run(*launch, "tensor", *inputs, "--out", "tensors.h5")
        self.container.run(*launch, "ballstick", "--config", "/usr/share/voxherd/configs/ballstick-quick.cfg", *inputs,
                           "--out", "fibres.h5")
        self.assertIn("complete", self.container.run("voxherd", "info", "fibres.h5"))
        self.container.run("voxherd", "verify", "fibres.h5")
        run_checked(VOXHERD, "tensor", *inputs, "--out", "here.h5", cwd=self.container.data)
        run_checked(VOXHERD, "compare", "here.h5", "tensors.h5", cwd=self.container.data)

    def test_its_bill_of_materials_lists_the_packages_that_dpkg_lists(self):
        sbom = json.loads(run_checked(sys.executable, os.path.join(ROOT, "cmake", "packaging", "sbom.py"), self.image))
        listed = self.container.run("dpkg-query", "-W", "-f=${Package} ${Version}\n").splitlines()
        debs = [package for package in sbom["packages"] if package["SPDXID"].startswith("SPDXRef-deb-")]
        self.assertEqual(sorted(f"{package['name']} {package['versionInfo']}" for package in debs), sorted(listed))
        self.assertGreater(len([package for package in debs if package["licenseDeclared"] != "NOASSERTION"]), len(debs) / 2)

    def test_it_has_the_package_its_manual_and_nothing_of_this_machine(self):
        def path(*names):
            return os.path.join(self.container.root, *names)

        with open(path("var", "lib", "dpkg", "status"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"(?m)^Package: voxherd\nStatus: install ok installed\n")
        self.assertTrue(os.path.exists(path("usr", "share", "man", "man1", "voxherd-tensor.1.gz")))
        self.assertTrue(os.path.exists(path("usr", "share", "bash-completion", "completions", "voxherd")))
        self.assertEqual([name for name in ("etc/hostname", "voxherd.deb") if os.path.exists(path(name))], [])
        self.assertEqual([name for name in os.listdir(path("tmp")) if not name.startswith("ompi.")], [])  # of the runs above


if __name__ == "__main__":
    unittest.main()
