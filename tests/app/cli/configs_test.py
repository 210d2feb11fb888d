"""Every configuration in configs/ is accepted by its command and has the settings its name promises."""
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VOXHERD = os.environ["VOXHERD"]
CONFIGS = sorted(name for name in os.listdir(os.path.join(ROOT, "configs")) if name.endswith(".cfg"))


def voxherd(*words):
    done = subprocess.run([VOXHERD, *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def read_settings(name):
    with open(os.path.join(ROOT, "configs", name), encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in (line.split("=", 1) for line in lines)}


class Configs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        rc, output = voxherd("phantom", "dwi", "--preset", "toy", "--size", "8x8x4", "--threads", "1",
                           "--out", os.path.join(cls.folder, "toy"))
        assert rc == 0, output

    def perfusion_words(self, name):
        """The toy's mask as a dynamic series of one image per frame, each scaled by its header, and the options that
        the signal type requires."""
        with gzip.open(os.path.join(self.folder, "toy", "nodif_brain_mask.nii.gz")) as file:
            image = bytearray(file.read())
        frames, curves = [], os.path.join(self.folder, "curves.csv")
        for i, brightness in enumerate((1, 1, 1, 2, 5, 4, 3.5, 3, 3, 2.5)):
            struct.pack_into("<f", image, 112, brightness)
            frames.append(os.path.join(self.folder, f"frame{i}.nii"))
            with open(frames[i], "wb") as file:
                file.write(image)
        with open(curves, "w", encoding="utf-8") as file:
            inputs = zip((0, 0, 0, 5, 3, 2, 2, 1, 1, 1), (0, 0, 0, 1, 2, 2, 2, 1, 1, 1))
            file.writelines(f"{5 * i},{artery},{portal}\n" for i, (artery, portal) in enumerate(inputs))
        wanted = ("--relaxivity", "4", "--t1", "0.6") if read_settings(name).get("signal") == "linear" else ()
        return ("--dynamic", *frames, "--spacing", "5", "--curves", curves, *wanted)

    def track_words(self):
        """The toy's mask as samples of one fibre with one direction, and as the seed of a tract."""
        folders = [os.path.join(self.folder, name) for name in ("toy.bedpostX", "tracts/cst")]
        for folder, names in zip(folders, (("merged_th1samples", "merged_ph1samples", "merged_f1samples", "nodif_brain_mask"), ("seed",))):
            os.makedirs(folder, exist_ok=True)
            for name in names:
                shutil.copy(os.path.join(self.folder, "toy", "nodif_brain_mask.nii.gz"), os.path.join(folder, f"{name}.nii.gz"))
        return "--samples", folders[0], "--tracts", os.path.dirname(folders[1])

    def dry_run(self, command, *options):
        toy = os.path.join(self.folder, "toy")
        if command == "perfusion":
            return voxherd(command, *self.perfusion_words(os.path.basename(options[1])), "--mask",
                           f"{toy}/nodif_brain_mask.nii.gz", "--backend", "cpu", "--threads", "1", "--dry-run",
                           "--out", os.path.join(self.folder, "out.h5"), *options)
        if command == "track":
            return voxherd(command, *self.track_words(), "--backend", "cpu", "--threads", "1", "--dry-run", "--out",
                           os.path.join(self.folder, "out.h5"), *options)
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
                rc, output = self.dry_run(command, "--config", os.path.join(ROOT, "configs", name))
                self.assertEqual(rc, 0, output)

    def test_bedpostx_settings_are_the_defaults_of_ballstick(self):
        rc, text = voxherd("ballstick", "--help=json")
        self.assertEqual(rc, 0)
        help_texts = {one["name"]: one["description"] for one in json.loads(text)["inputs"]}
        for name, value in read_settings("ballstick-bedpostx.cfg").items():
            self.assertRegex(help_texts[name], rf"[;\[] ?default {re.escape(value)}\]$", name)

    def test_american_spellings_are_accepted_in_files_and_on_the_command_line(self):
        path = os.path.join(self.folder, "american.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write("fibers = 9\n")
        for words in (("--config", path), ("--fibers", "9"), ("--fibers=9",)):
            rc, output = self.dry_run("ballstick", *words)
            self.assertEqual(rc, 2, output)
            self.assertIn("--fibres 9: expected 1 to 4", output)

    def test_a_misspelt_setting_is_rejected(self):
        path = os.path.join(self.folder, "wrong.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write("fibress = 2\n")
        rc, output = self.dry_run("ballstick", "--config", path)
        self.assertEqual(rc, 2, output)
        self.assertIn("did you mean --fibres?", output)


if __name__ == "__main__":
    unittest.main()
