"""Every configuration in configs/ is one that its command takes, and says what its name promises."""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VOXHERD = os.environ["VOXHERD"]
CONFIGS = sorted(name for name in os.listdir(os.path.join(ROOT, "configs")) if name.endswith(".cfg"))


def voxherd(*words):
    done = subprocess.run([VOXHERD, *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def values_of(name):
    with open(os.path.join(ROOT, "configs", name), encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in (line.split("=") for line in lines)}


class Configs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        rc, said = voxherd("phantom", "dwi", "--preset", "toy", "--size", "8x8x4", "--threads", "1",
                           "--out", os.path.join(cls.folder, "toy"))
        assert rc == 0, said

    def dry_run(self, command, *options):
        toy = os.path.join(self.folder, "toy")
        if command == "geodesic":
            options += ("--seed-image", f"{toy}/nodif_brain_mask.nii.gz")
        if command == "connect":
            options += ("--connectome", f"{toy}/truth/ends.nii.gz")
        return voxherd(command, "--dwi", f"{toy}/data.nii", "--bvals", f"{toy}/bvals", "--bvecs", f"{toy}/bvecs",
                       "--mask", f"{toy}/nodif_brain_mask.nii.gz", "--backend", "cpu", "--threads", "1", "--dry-run",
                       "--out", os.path.join(self.folder, "out.h5"), *options)

    def test_each_is_named_after_its_command_and_passes_a_dry_run(self):
        self.assertGreaterEqual(len(CONFIGS), 5)
        for name in CONFIGS:
            with self.subTest(name):
                command = name.removesuffix(".cfg").split("-")[0]
                rc, said = self.dry_run(command, "--config", os.path.join(ROOT, "configs", name))
                self.assertEqual(rc, 0, said)

    def test_bedpostx_settings_are_the_commands_defaults(self):
        rc, text = voxherd("ballstick", "--help")
        self.assertEqual(rc, 0)
        for name, value in values_of("ballstick-bedpostx.cfg").items():
            self.assertRegex(text, rf"--{name} \w+ \(={value}\)")

    def test_a_misspelt_setting_is_refused(self):
        path = os.path.join(self.folder, "wrong.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write("fibers = 2\n")
        rc, said = self.dry_run("ballstick", "--config", path)
        self.assertEqual(rc, 2, said)
        self.assertIn("fibers", said)


if __name__ == "__main__":
    unittest.main()
