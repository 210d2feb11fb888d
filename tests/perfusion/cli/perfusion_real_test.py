"""voxherd perfusion on a real abdominal series (madym's test data), from raw signal to maps. Prints the checked
values."""
import os
import re
import shlex
import sys
import unittest

import numpy as np
from perfusion_jobs import PerfusionJobs
from toy_jobs import digest, h5py, voxherd

MADYM = os.path.join(os.environ.get("VOXHERD_DATA", ""), "madym_abdomen_dce")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
if not os.path.isdir(MADYM):
    print("skipped: no abdominal series (VOXHERD_DATA)")
    sys.exit(77)

# Ranges for healthy and cirrhotic livers. Van Beers 2001: arterial fractions of 17 +- 16 and 41 +- 27 %, transit times
# of 16 +- 5 and 51 +- 79 s; MR with a timing bolus: a distribution volume of 14 to 16 %. With blood flow, kl of 60 to
# 1200 ml/100g/min means transit times of 5 to 100 s.
PHYSIOLOGICAL = {"arterial_fraction": (0.02, 0.45), "distribution_volume": (0.1, 0.5), "mean_transit_time": (5, 30)}


def file(name):
    return os.path.join(MADYM, name)


class Abdomen(PerfusionJobs):
    scan = ("--dynamic", file("dynamic_4d.nii.gz"), "--times", file("times_s.txt"), "--mask", file("roi_liver_auto.nii.gz"),
            "--arterial-voi", file("roi_aorta_auto.nii.gz"), "--portal-voi", file("roi_portal_vein_auto.nii.gz"))
    spgr = ("--signal", "spgr", "--tr", "4", "--flip-angle", "20", "--relaxivity", "3.4", "--vfa", file("vfa_3fa.nii.gz"),
            "--vfa-flip-angles", "2,10,20", "--haematocrit", "0.42")

    def run_liver(self, name, *options, ranks=2):
        out = self.path(name)
        rc, output = self.launch(out, "--config", os.path.join(ROOT, "configs", "perfusion-liver.cfg"), *options, scan=self.scan,
                               ranks=ranks)
        self.assertEqual(rc, 0, output)
        with h5py.File(out, "r") as f:
            inside = f["items/voxel"][()]
            maps = {n: f["maps"][n][()].ravel()[inside] for n in f["maps"]}
            curves = {n: f["curves"][n][()] for n in f["curves"]}
        return maps, curves, output

    def test_medians_of_the_liver_are_physiological_from_raw_signal_on_two_ranks(self):
        # Inflow distorts the aorta's measured T1 (0.66 s); blood has 1.4 s at 1.5 T.
        for options in (("--t1-blood", "1.4"), ("--t1-blood", "1.4", "--arterial-baseline", "portal")):
            maps, curves, _ = self.run_liver("liver.h5", "--overwrite", *self.spgr, *options)
            fitted = maps["status"] == 0
            self.assertEqual(len(fitted), 1976)
            self.assertGreater(fitted.mean(), 0.98)
            medians = {name: float(np.median(maps[name][fitted])) for name in (*PHYSIOLOGICAL, "ka", "kp", "kl", "r_squared")}
            print(" ".join(options), ", ".join(f"{name} {value:.3g}" for name, value in medians.items()))
            for name, (least, most) in PHYSIOLOGICAL.items():
                self.assertTrue(least < medians[name] < most, (name, medians[name]))
            self.assertTrue(40 < medians["ka"] + medians["kp"] < 300)
            self.assertGreater(medians["r_squared"], 0.6)
            explained = 1 - np.sum((curves["tissue"] - curves["tissue_fit"]) ** 2) / np.sum(
                (curves["tissue"] - curves["tissue"].mean()) ** 2)
            self.assertGreater(explained, 0.85)

    def documented_command(self, document):
        """The words of the document's command, with this series' files."""
        with open(os.path.join(ROOT, *document.split("/")), encoding="utf-8") as text:
            command = re.search(r"voxherd perfusion (--config (?:\\\n|.)*?--out) liver.h5", text.read())[1]
        files = dict(zip(("dynamic.nii.gz", "times.txt", "liver.nii.gz", "aorta.nii.gz", "portal_vein.nii.gz", "vfa.nii.gz"),
                         (*self.scan[1::2], file("vfa_3fa.nii.gz"))))
        files["configs/perfusion-liver.cfg"] = os.path.join(ROOT, "configs", "perfusion-liver.cfg")
        return [files.get(word, word) for word in shlex.split(command.replace("\\\n", " "))]

    def test_the_documented_commands_correct_for_inflow_in_the_aorta(self):
        for document in ("docs/commands/perfusion.md", "README.md"):
            out = self.path(document.replace("/", "-") + ".h5")
            rc, _, output = voxherd("perfusion", *self.documented_command(document), out)
            self.assertEqual(rc, 0, output)
            self.assertNotIn("blood mixes", output)
            with h5py.File(out, "r") as f:
                inside = f["items/voxel"][()]
                maps = {n: f["maps"][n][()].ravel()[inside] for n in ("ka", "arterial_fraction", "status")}
                late = {n: f["curves"][n][()][-15:].mean() for n in ("arterial", "portal")}
            medians = {n: float(np.median(maps[n][maps["status"] == 0])) for n in ("ka", "arterial_fraction")}
            print(document, medians, late)
            self.assertTrue(0.8 < late["arterial"] / late["portal"] < 1.25, late)
            # With the aorta's own baseline: 0.16, and a ka of 39 with T1 from the flip angles.
            self.assertLess(medians["arterial_fraction"], 0.08)
            if "perfusion.md" in document:
                self.assertLess(medians["ka"], 15)

    def test_a_repetition_time_in_the_wrong_unit_is_suspected(self):
        words = [word.replace("4", "4000") if before == "--tr" else word for before, word in zip(("", *self.spgr), self.spgr)]
        rc, output = self.launch(self.path("tr.h5"), *words, "--t1-blood", "1.4", scan=self.scan)
        self.assertEqual(rc, 2, output)
        self.assertIn("--tr 4000: a spoiled gradient echo is repeated after at most 500 ms, and --tr is in ms; for 4 ms give --tr 4",
                      output)
        words = [word.replace("4", "400") if before == "--tr" else word for before, word in zip(("", *self.spgr), self.spgr)]
        self.assertIn("are --tr 400 ms and --flip-angle 20 degrees right?",
                      self.launch(self.path("tr.h5"), *words, "--t1-blood", "1.4", scan=self.scan)[1])

    def test_t1_of_the_liver_is_physiological(self):
        maps, _, _ = self.run_liver("t1.h5", *self.spgr, "--t1-blood", "1.4")
        t1 = np.median(maps["t1_before"][maps["status"] == 0])
        print(f"median T1 {t1:.3f} s")
        self.assertTrue(0.4 < t1 < 0.9)

    def test_voi_curves_are_the_means_that_came_with_the_data(self):
        _, curves, output = self.run_liver("ct.h5", "--signal", "ct")
        with open(file("roi_mean_signals.csv"), encoding="utf-8") as table:
            means = np.loadtxt(table, delimiter=",", skiprows=1)
        first, last = (int(word) for word in output.split("baseline: frames ")[1].split(",")[0].split(" to "))
        print(f"baseline {first} to {last}")
        self.assertEqual(first, 0)
        self.assertEqual(last, 6)  # frame 7 is the injection (madym_AIF_config.txt)
        np.testing.assert_allclose(curves["time"], means[:, 0], atol=1e-3)
        for column, name in ((1, "arterial"), (2, "portal"), (3, "tissue")):
            expected = means[:, column] - means[:last + 1, column].mean()
            np.testing.assert_allclose(curves[name], expected, atol=1e-3)

    def test_one_and_three_ranks_give_the_same_bytes(self):
        names = [self.path(f"{ranks}.h5") for ranks in (1, 3)]
        for name, ranks in zip(names, (1, 3)):
            self.run_liver(name, *self.spgr, "--t1-blood", "1.4", ranks=ranks)
        self.assertEqual(digest(names[0]), digest(names[1]))
        self.assertEqual(voxherd("verify", names[1])[0], 0)


if __name__ == "__main__":
    unittest.main()
