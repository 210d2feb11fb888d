#!/usr/bin/env python3
"""Draws docs/images/report.png, a picture of a report: report.py PAGE.html [PICTURE.png].

Needs chromium and Pillow. The picture in the README is of the page that these commands make from a brain scan that may be
published (philips_32dir_b1000, BSD-2-Clause, NIMHANS Bangalore):

    voxherd tensor --dwi SCAN.nii.gz --bvals SCAN.bval --bvecs SCAN.bvec --mask brain_mask.nii.gz --out tensor.h5
    voxherd report tensor.h5
"""
import os
import subprocess
import sys
import tempfile

from PIL import Image

WIDTH, HEIGHT, COLUMNS, SCALE, GAP = 1000, 1545, 2, 0.55, 24


def screenshot(page, folder):
    """The top of the page in the light scheme, as high as all columns together."""
    picture = os.path.join(folder, "page.png")
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    f"--user-data-dir={folder}/browser", f"--window-size={WIDTH},{HEIGHT * COLUMNS}",
                    "--blink-settings=preferredColorScheme=1", f"--screenshot={picture}",
                    "file://" + os.path.abspath(page)], check=True, capture_output=True)
    return Image.open(picture).convert("RGB")


def main(page, picture=os.path.join(os.path.dirname(os.path.abspath(__file__)), "report.png")):
    with tempfile.TemporaryDirectory() as folder:
        top = screenshot(page, folder)
        sheet = Image.new("RGB", (COLUMNS * WIDTH + (COLUMNS - 1) * GAP, HEIGHT), "white")
        for i in range(COLUMNS):
            sheet.paste(top.crop((0, i * HEIGHT, WIDTH, (i + 1) * HEIGHT)), (i * (WIDTH + GAP), 0))
    size = tuple(round(SCALE * n) for n in sheet.size)
    sheet.resize(size, Image.LANCZOS).quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
