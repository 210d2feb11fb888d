#!/usr/bin/env python3
"""Draws docs/images/view.png and prints the times in docs/commands/view.md: view.py VOXHERD SCAN MASK [PICTURE.png].

SCAN: NAME.nii.gz with NAME.bval and NAME.bvec beside it; in the README the brain of dcm_qa_philips (BSD-2-Clause,
github.com/neurolabusc/dcm_qa_philips). Needs chromium, node, and npm for playwright-core.
"""
import os
import subprocess
import sys

from brain_viewer import brain_viewer

HERE = os.path.dirname(os.path.abspath(__file__))
# The front of the corpus callosum: points on the left and the right, and what the planes show (mm).
POINTS = ("-18,46,21", "18,46,21", "-1,32,21")


def main():
    voxherd, scan, mask = (os.path.abspath(path) for path in sys.argv[1:4])
    picture = os.path.abspath(sys.argv[4] if len(sys.argv) > 4 else os.path.join(HERE, "view.png"))
    with brain_viewer(voxherd, scan, mask) as (folder, address):
        subprocess.run(["node", os.path.join(folder, "picture.mjs"), address, picture, *POINTS], check=True)


if __name__ == "__main__":
    main()
