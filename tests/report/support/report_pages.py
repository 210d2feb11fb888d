"""Pages of voxherd report: results to make them from, and a reader of their parts. Not a test itself."""
import atexit
import base64
import html.parser
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

import numpy as np

from program import run

BROWSER = shutil.which("chromium")
VOID = {"meta", "img", "link", "br", "hr", "input"}


def decode_png(data):
    """Rows of pixels (height, width, 3) of a PNG as the program writes it: 8 bits, grey or colour, one filter."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0], kind
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    assert bits == 8 and kind == b"IEND"
    channels = {0: 1, 2: 3}[colour]
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + channels * width)
    assert (rows[:, 0] == 2).all()
    values = np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, channels)
    return np.repeat(values, 3, axis=2) if channels == 1 else values


class Page(html.parser.HTMLParser):
    """Every element must be closed in order."""

    def __init__(self, path):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.texts, self.headings = [], [], [], [], [], []
        self.elements, self.data, self.tables = [], "", 0
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.feed(self.source)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        assert len(given) == len(attributes), f"{tag}: an attribute is given twice"
        self.elements.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        for name in ("src", "href"):
            if name in given:
                (self.images if tag in ("img", "image") else self.links).append(given[name])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.data += data
        elif self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings.append((self.open[-1], data))
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def decoded(self):
        prefix = "data:image/png;base64,"
        for source in self.images:
            assert source.startswith(prefix), source[:40]
            yield decode_png(base64.b64decode(source[len(prefix):], validate=True))

    def picture(self, start_of_text):
        """The image whose text alternative begins so."""
        for tag, given in self.elements:
            if tag == "img" and given["alt"].startswith(start_of_text):
                return decode_png(base64.b64decode(given["src"].split(",")[1]))
        raise AssertionError(f"no picture of {start_of_text}")


class ReportJobs(unittest.TestCase):
    """Small results of every analysis, made once."""

    folder = None

    @classmethod
    def setUpClass(cls):
        if not ReportJobs.folder:
            ReportJobs.folder = tempfile.mkdtemp(prefix="voxherd_report_")
            atexit.register(shutil.rmtree, ReportJobs.folder)
            ReportJobs.make_scan()

    @classmethod
    def make_scan(cls):
        cls.scan = cls.path("scan")
        run("phantom", "dwi", "--preset", "toy", "--fibres", "2", "--out", cls.scan)
        cls.series = ["--dwi", f"{cls.scan}/data.nii", "--bvals", f"{cls.scan}/bvals", "--bvecs", f"{cls.scan}/bvecs",
                      "--mask", f"{cls.scan}/nodif_brain_mask.nii.gz"]
        cls.ends = f"{cls.scan}/truth/ends.nii.gz"

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def make(cls, name):
        """The path of a result, which is computed when it is first asked for."""
        out = cls.path(f"{name}.h5")
        if os.path.exists(out):
            return out
        if name in ("paths", "lines"):
            cls.make({"paths": "pathway", "lines": "network"}[name])
            return out
        samples = ["track", "--samples", cls.make("ballstick")] if name in ("track", "network", "surfaces") else []
        sheets = cls.sheets() if name == "surfaces" else {}
        regions = ["--smooth", "0.7", "--from", cls.ends, "--from-labels", "7", "--to", cls.ends, "--to-labels", "8"]
        words = {
            "tensor": ["tensor", *cls.series],
            "ballstick": ["ballstick", *cls.series, "--fibres", "2", "--burn-in", "50", "--jumps", "50", "--sample-every", "5"],
            "pathway": ["connect", *cls.series, *regions, "--paths", cls.path("paths.h5")],
            "connectome": ["connect", *cls.series, "--smooth", "0.7", "--connectome", cls.ends, "--labels", "7,8,9,10"],
            "geodesic": ["geodesic", *cls.series, "--seed-image", cls.ends, "--seed-labels", "7,9", "--targets", cls.ends,
                         "--target-labels", "7,8,9,10", "--directions", "32"],
            "track": [*samples, "--seed-image", cls.ends, "--samples-per-seed", "20", "--lengths"],
            "network": [*samples, "--connectome", cls.ends, "--samples-per-seed", "20", "--paths", cls.path("lines.h5"),
                        "--max-paths", "300"],
            "surfaces": [*samples, "--seed-image", sheets.get("seeds"), "--stop", sheets.get("stop"), "--targets", sheets.get("stop"),
                         "--include", sheets.get("target"), "--samples-per-seed", "20"],
            "perfusion": ["perfusion", *cls.liver()] if name == "perfusion" else [],
        }[name]
        run(*words, "--backend", "cpu", "--threads", "1", "--quiet", "--out", out)
        return out

    @classmethod
    def sheets(cls):
        """Flat surfaces across the straight bundles along x: seeds, of which the upper ones are active, a stop and a target."""
        import h5py
        with h5py.File(cls.make("ballstick")) as file:
            affine = file["image"].attrs["voxel_to_world"].reshape(4, 4)
            _, ny, nz = (int(n) for n in file["image"].attrs["size"])
        cells, found = 12, {}
        for name, x in ("seeds", 10.2), ("stop", 15.6), ("target", 5.3):
            voxels = np.array([(x, i * (ny - 1) / cells, k * (nz - 1) / cells) for k in range(cells + 1) for i in range(cells + 1)])
            mm = voxels @ affine[:3, :3].T + affine[:3, 3]
            active = (voxels[:, 2] > 2).astype(int) if name == "seeds" else np.zeros(len(mm), int)
            corners = [[a, a + 1, a + cells + 1, a + cells + 2] for a in range(cells * (cells + 1)) if a % (cells + 1) < cells]
            triangles = [t for a, b, c, d in corners for t in ((a, b, c), (d, c, b))]
            found[name] = cls.path(f"{name}.asc")
            with open(found[name], "w", encoding="utf-8") as file:
                file.write(f"#!ascii {name}\n{len(mm)} {len(triangles)}\n")
                file.writelines("{:.9g} {:.9g} {:.9g} {}\n".format(*p, a) for p, a in zip(mm, active))
                file.writelines("{} {} {} 0\n".format(*t) for t in triangles)
        return found

    @classmethod
    def liver(cls):
        at = cls.path("liver")
        if not os.path.exists(at):
            run("phantom", "liver", "--preset", "toy", "--out", at)
        return ["--dynamic", f"{at}/dce.nii", "--times", f"{at}/times.txt", "--mask", f"{at}/liver.nii.gz", "--arterial-voi",
                f"{at}/aorta.nii.gz", "--portal-voi", f"{at}/portal.nii.gz", "--signal", "spgr", "--tr", "3.5",
                "--flip-angle", "15", "--relaxivity", "4.5", "--vfa", f"{at}/vfa.nii", "--vfa-flip-angles", "2,5,10,15"]

    def report(self, name):
        """The page and the JSON file of a result, made anew."""
        result = self.make(name)
        run("report", result, "--overwrite")
        return self.path(f"{name}.report.html"), self.path(f"{name}.report.json")


RESULTS = ("tensor", "ballstick", "pathway", "paths", "connectome", "geodesic", "perfusion", "track", "network", "surfaces")


def browse(address, profile, *options):
    """What the browser prints, and the document after all scripts. `profile`: its folder."""
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
                           "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr",
                           f"--user-data-dir={profile}", *options, "--dump-dom", address], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line], done.stdout


def call(*words, **more):
    return subprocess.run([os.environ["VOXHERD"], *words], capture_output=True, text=True, timeout=60, **more)
