#!/usr/bin/env python3
"""Draws docs/images/view.png and prints the times in docs/commands/view.md: view.py VOXHERD SCAN MASK [PICTURE.png].

SCAN: NAME.nii.gz with NAME.bval and NAME.bvec beside it; in the README the brain of dcm_qa_philips (BSD-2-Clause,
github.com/neurolabusc/dcm_qa_philips). Needs chromium, node, and npm for playwright-core.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BROWSER = os.path.join(HERE, "..", "..", "tests", "view", "browser")
# The front of the corpus callosum: points on the left and the right, and what the planes show (mm).
POINTS = ("-18,46,21", "18,46,21", "-1,32,21")


def main():
    voxherd, scan, mask = (os.path.abspath(path) for path in sys.argv[1:4])
    picture = os.path.abspath(sys.argv[4] if len(sys.argv) > 4 else os.path.join(HERE, "view.png"))
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(BROWSER):
            shutil.copy(os.path.join(BROWSER, name), folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
        stem = scan.removesuffix(".nii.gz")
        for source, name in (scan, "brain.nii.gz"), (stem + ".bval", "brain.bval"), (stem + ".bvec", "brain.bvec"), (
                mask, "nodif_brain_mask.nii.gz"):
            os.symlink(source, os.path.join(folder, name))
        viewer = subprocess.Popen([voxherd, "view", "brain.nii.gz"], stdout=subprocess.PIPE, text=True, cwd=folder)
        try:
            address = viewer.stdout.readline().strip()
            subprocess.run(["node", os.path.join(folder, "picture.mjs"), address, picture, *POINTS], check=True)
        finally:
            viewer.terminate()
            viewer.wait()


if __name__ == "__main__":
    main()
