#!/usr/bin/env python3
"""Draws figures of Jeong et al. 2007 from another brain: jeong_2007_figures.py VOXHERD SCAN MASK [FOLDER [FIGURE]].

SCAN: NAME.nii.gz with NAME.bval and NAME.bvec beside it. The places of the ends, in jeong_2007_figures.mjs, are those of the
brain of dcm_qa_philips (BSD-2-Clause, github.com/neurolabusc/dcm_qa_philips). FOLDER: by default docs/papers/images. FIGURE:
only this one, 1, 2, 6, 7 or 9. Needs chromium, node, and npm for playwright-core.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "images"))

from brain_viewer import brain_viewer


def main():
    voxherd, scan, mask = (os.path.abspath(path) for path in sys.argv[1:4])
    images = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else os.path.join(HERE, "images")
    with brain_viewer(voxherd, scan, mask, as_tensors=True) as (folder, address):
        for name in ("jeong_2007_figures.mjs", "jeong_2007_streamlines.mjs"):
            shutil.copy(os.path.join(HERE, name), folder)
        subprocess.run(["node", os.path.join(folder, "jeong_2007_figures.mjs"), address, images, *sys.argv[5:6]], check=True)


if __name__ == "__main__":
    main()
