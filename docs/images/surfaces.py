#!/usr/bin/env python3
"""Draws docs/images/surfaces.png, where streamlines from a surface lead to one end of some bundles: surfaces.py VOXHERD FOLDER
[PICTURE.png].

A phantom (`voxherd phantom dwi`), a folded ellipsoid near its border as surface, and the streamlines of each vertex that reach one
end of four bundles. The views and the bar are those of `voxherd report`, put next to each other. Commands whose results are in
FOLDER are not repeated. Needs nibabel and Pillow.
"""
import base64
import io
import os
import re
import subprocess
import sys

import nibabel
import numpy as np
from PIL import Image, ImageDraw, ImageFont

ENDS = (1, 3, 7, 9)
RINGS, SECTORS, RADIUS, FOLDS = 60, 120, 0.8, 0.03  # radius: a part of the brain's; folds: a part of the radius
INK, BACKGROUND, GAP = "#e8ecf6", "#000000", 12


def save_surface(mask, path):
    """An ellipsoid in the mask, with waves."""
    image = nibabel.load(mask)
    places = np.argwhere(np.asarray(image.dataobj) > 0)
    centre, half = places.mean(axis=0), np.ptp(places, axis=0) / 2
    polar, turn = np.meshgrid(np.linspace(0, np.pi, RINGS + 1), np.linspace(0, 2 * np.pi, SECTORS, endpoint=False), indexing="ij")
    waves = RADIUS * (1 + FOLDS * np.sin(polar) ** 2 * np.sin(7 * turn + 3 * np.sin(4 * polar)))
    unit = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)], axis=-1)
    voxels = centre + half * (waves[..., None] * unit).reshape(-1, 3)
    corner = lambda i, j: i * SECTORS + j % SECTORS
    triangles = [t for i in range(RINGS) for j in range(SECTORS) for t in (
        (corner(i, j), corner(i + 1, j), corner(i, j + 1)), (corner(i, j + 1), corner(i + 1, j), corner(i + 1, j + 1)))]
    points = voxels @ image.affine[:3, :3].T + image.affine[:3, 3]
    array = nibabel.gifti.GiftiDataArray
    nibabel.save(nibabel.gifti.GiftiImage(darrays=[array(points.astype("f4"), intent="NIFTI_INTENT_POINTSET"),
                                                   array(np.array(triangles, "i4"), intent="NIFTI_INTENT_TRIANGLE")]), path)


def compute(voxherd, folder):
    def run(name, *words):
        if not os.path.exists(os.path.join(folder, name)):
            subprocess.run([voxherd, *words], cwd=folder, check=True)

    mask = "phantom/nodif_brain_mask.nii.gz"
    run("phantom", "phantom", "dwi", "--preset", "toy", "--out", "phantom")
    run("fibres.h5", "ballstick", "--dwi", "phantom/data.nii", "--bvals", "phantom/bvals", "--bvecs", "phantom/bvecs", "--mask", mask,
        "--fibres", "2", "--out", "fibres.h5")
    save_surface(os.path.join(folder, mask), os.path.join(folder, "folded.surf.gii"))
    ends = nibabel.load(os.path.join(folder, "phantom/truth/ends.nii.gz"))
    chosen = np.isin(np.asarray(ends.dataobj), ENDS).astype(np.uint8)
    nibabel.save(nibabel.Nifti1Image(chosen, ends.affine), os.path.join(folder, "ends.nii.gz"))
    run("tract.h5", "track", "--samples", "fibres.h5", "--loop-check", "on", "--seed-image", "folded.surf.gii", "--include",
        "ends.nii.gz", "--samples-per-seed", "50", "--out", "tract.h5")
    run("tract.html", "report", "tract.h5", "--out", "tract.html")


def pictures(page):
    """The figure of accepted streamlines: its pictures, the bar and the texts at its ends."""
    with open(page, encoding="utf-8") as file:
        figure = re.search(r"<h3>accepted on surfaces</h3>.*?</figure>", file.read(), re.S)[0]
    found = [Image.open(io.BytesIO(base64.b64decode(data))) for data in re.findall(r'src="data:image/png;base64,([^"]*)"', figure)]
    ends = re.search(r'<div class="bar"><span>(.*?)</span>.*?<span>(.*?)</span>', figure, re.S).groups()
    return found[:-1], found[-1], ends


def draw(page, picture):
    shown, bar, ends = pictures(page)
    width = sum(p.width for p in shown) + GAP * (len(shown) - 1)
    height = max(p.height for p in shown)
    sheet = Image.new("RGB", (width, height + 40), BACKGROUND)
    x = 0
    for p in shown:
        sheet.paste(p, (x, (height - p.height) // 2))
        x += p.width + GAP
    pen, font = ImageDraw.Draw(sheet), ImageFont.truetype("DejaVuSans.ttf", 15)
    left, right = width // 2 - 160, width // 2 + 160
    sheet.paste(bar.resize((right - left, 14)), (left, height + 13))
    pen.text((left - 10, height + 20), ends[0], INK, font, "rm")
    pen.text((right + 10, height + 20), f"{ends[1]} of 50 streamlines", INK, font, "lm")
    sheet.quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    program, results = (os.path.abspath(path) for path in sys.argv[1:3])
    os.makedirs(results, exist_ok=True)
    compute(program, results)
    here = os.path.dirname(os.path.abspath(__file__))
    draw(os.path.join(results, "tract.html"), sys.argv[3] if len(sys.argv) == 4 else os.path.join(here, "surfaces.png"))
