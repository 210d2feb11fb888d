"""Six tracts of a brain as pathways (Jeong 2007, Fig. 6), and the arcuate against streamlines (Fig. 9).

Writes jeong-2007-tracts.csv and jeong-2007-arcuate.csv to FOLDER, and a picture of the pathways. Needs numpy, h5py and
nibabel, for the picture matplotlib; about two minutes on two cores."""
import os
import subprocess
import sys
import time

CONFIGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../configs")
# Labels of the AAL parcellation, or points in world mm: the ends of the cingula, since AAL's labels of them nearly touch each
# other, and the left cerebral peduncle, since AAL has no brainstem.
TRACTS = {
    "genu of the corpus callosum": (7, 8),
    "body of the corpus callosum": (1, 2),
    "splenium of the corpus callosum": (51, 52),
    "left cingulum": ("-4.4,30.6,33.5", "-7.9,-35.9,33.5"),
    "right cingulum": ("9.6,30.6,33.5", "9.6,-35.9,28.5"),
    "left corticospinal tract": (1, "-6.2,-13.2,-21.5"),
}
ARCUATE = ("left arcuate fasciculus", (11, 85))
SETTINGS = {"paper": ("--config", os.path.join(CONFIGS, "connect-jeong2007.cfg")),
            "default, --smooth 0.7": ("--smooth", "0.7")}
COLUMNS = ("tract", "settings", "from", "to", "length_mm", "cost", "gap_percent", "joining_excess_percent", "voxels", "volume_ml",
           "mean_FA")
ARCUATE_COLUMNS = ("method", "fibres", "tried", "median_length_mm", "voxels", "in_pathway_0.05_percent", "in_pathway_0.2_percent")


def add_arguments(parser):
    parser.add_argument("build", metavar="BUILD", help="folder with voxherd, for example build/cpu")
    parser.add_argument("work", metavar="WORK", help="folder for results and logs; results that are there are not computed again")
    parser.add_argument("folder", metavar="FOLDER", help="for the tables, for example docs/papers")
    parser.add_argument("--picture", metavar="FILE.png", help="draw the pathways")
    parser.add_argument("--data", metavar="FOLDER", default=os.environ.get("VOXHERD_DATA", ""),
                        help="folder with philips_32dir_b1000 (VOXHERD_DATA)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="cores to use (all)")
    parser.add_argument("--machine", metavar="TEXT", default="not stated", help="names the machine in the tables' heads")


class brain:
    """The scan's files, and the program that analyses it."""
    def __init__(self, args):
        self.program, self.work, self.threads = os.path.join(args.build, "voxherd"), args.work, str(args.threads)
        folder = os.path.join(args.data, "philips_32dir_b1000")
        self.scan = os.path.join(folder, "1201_DT_HIGH_32DIR_SENSE")
        self.mask, self.white, self.FA = (os.path.join(folder, "ref_mrtrix3", name + ".nii.gz")
                                          for name in ("brain_mask", "wm_mask_fa025", "fa"))
        self.labels = os.path.join(folder, "parcellation_derived", "aal116_in_dwi_approx.nii.gz")
        if not os.path.exists(self.labels):
            sys.exit(f"error: no {self.labels}; give --data")

    def run(self, name, command, *words):
        """The path of the result NAME.h5."""
        out = os.path.join(self.work, name + ".h5")
        log = os.path.join(self.work, name + ".log")
        if os.path.exists(out):
            return out
        with open(log, "w", encoding="utf-8") as file:
            done = subprocess.run([self.program, command, "--dwi", self.scan + ".nii.gz", "--bvals", self.scan + ".bval",
                                   "--bvecs", self.scan + ".bvec", "--mask", self.mask, "--backend", "cpu", "--threads", self.threads,
                                   "--out", out, *words], stdout=file, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(f"error: {name}: status {done.returncode}, see {log}")
        return out

    def region(self, option, where):
        if isinstance(where, str):
            return (f"{option}-point={where}",)
        return (option, self.labels, f"{option}-labels", str(where))

    def connect(self, name, ends, settings):
        return self.run(name, "connect", "--within", self.white, *self.region("--from", ends[0]), *self.region("--to", ends[1]),
                        *settings)


class pathway:
    """Numbers and maps of a result of connect between two regions."""
    def __init__(self, path):
        import h5py
        with h5py.File(path, "r") as file:
            self.numbers = {name: file["pathway"][name][()] for name in file["pathway"]}
            self.inside = file["maps/pathway"][()] == 1
            self.excess = file["maps/excess"][()]

    def row(self, tract, settings, ends, voxel_mm3):
        n = {name: values[0] for name, values in self.numbers.items()}
        at = abs(self.numbers["epsilon"] - 0.05).argmin()
        voxels = int(self.inside.sum())
        return (tract, settings, *(str(end).replace(",", " ") for end in ends), f"{n['length_mm']:.1f}", f"{n['cost']:.0f}",
                f"{100 * n['gap']:.1f}", f"{100 * n['joining_excess']:.1f}", voxels, f"{voxels * voxel_mm3 / 1000:.2f}",
                f"{self.numbers['mean_FA'][at]:.2f}")


def lengths_and_voxels(path, ends, inverse):
    """Lengths of the fibres that join both regions, and the voxels that their points are in."""
    import h5py
    import numpy
    with h5py.File(path, "r") as file:
        fibres = file["VTKHDF"]
        joins = (numpy.sort(fibres["CellData/regions"][()], axis=1) == sorted(ends)).all(axis=1)
        points = fibres["Points"][()][numpy.repeat(joins, numpy.diff(fibres["Offsets"][()]))]
        lengths = fibres["CellData/length_mm"][()][joins]
    voxels = numpy.rint(points @ inverse[:3, :3].T + inverse[:3, 3]).astype(int)
    return lengths, {tuple(voxel) for voxel in voxels}


def arcuate_rows(scan, found, inverse, white):
    """Streamlines from `white` voxels that join both regions, and the share of their voxels in the pathways."""
    import numpy
    words = ("--config", os.path.join(CONFIGS, "geodesic-streamline.cfg"), "--seed-image", scan.white, "--seeding", "grid",
             "--seeds-per-voxel", "2", "--targets", scan.labels, "--target-labels", ",".join(map(str, ARCUATE[1])))
    out = scan.run("arcuate-streamlines", "geodesic", *words)
    lengths, voxels = lengths_and_voxels(out, ARCUATE[1], inverse)
    shares = []
    for epsilon in (0.05, 0.2):
        limit = (1 + found.numbers["joining_excess"][0]) * (1 + epsilon) - 1
        shares.append(f"{100 * numpy.mean([found.excess[voxel[::-1]] <= limit for voxel in voxels]):.0f}")
    return [("streamlines", len(lengths), 8 * white, f"{numpy.median(lengths):.1f}", len(voxels), *shares),
            ("pathway at epsilon 0.05", "", "", f"{found.numbers['length_mm'][0]:.1f}", int(found.inside.sum()), "", "")]


def write(path, title, notes, columns, rows):
    import csv
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("".join(f"# {line}\n" for line in (title, *notes)))
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    print(path)


def main(args):
    import nibabel
    import numpy
    scan = brain(args)
    os.makedirs(args.work, exist_ok=True)
    os.makedirs(args.folder, exist_ok=True)
    image = nibabel.load(scan.FA)
    voxel_mm3 = abs(numpy.linalg.det(image.affine[:3, :3]))
    rows, found = [], {}
    for tract, ends in (*TRACTS.items(), ARCUATE):
        for settings, words in SETTINGS.items():
            name = f"{tract.replace(' ', '-')}-{settings.split(',')[0]}"
            found[tract, settings] = pathway(scan.connect(name, ends, words))
            rows.append(found[tract, settings].row(tract, settings, ends, voxel_mm3))
            print(", ".join(map(str, rows[-1])), flush=True)
    head = (f"machine: {args.machine} (no times)", "date: " + time.strftime("%Y-%m-%d", time.gmtime()),
            "command: python3 bench/papers tracts BUILD WORK docs/papers --picture docs/images/jeong-2007-tracts.png")
    write(os.path.join(args.folder, "jeong-2007-tracts.csv"), "Pathways between regions of a real scan (Fig. 6)",
          (*head, "note: paper: configs/connect-jeong2007.cfg (cost of other tensors, so not comparable with the default's)",
           "note: cost in s^0.5; pathway at epsilon 0.05; regions: labels of an approximate warp of the AAL template, or points"),
          COLUMNS, rows)
    white = int((nibabel.load(scan.white).get_fdata() > 0).sum())
    write(os.path.join(args.folder, "jeong-2007-arcuate.csv"), "The left arcuate fasciculus: pathway and streamlines (Fig. 9)",
          (*head, "note: streamlines: configs/geodesic-streamline.cfg (FA 0.15), eight seeds per voxel of white matter, "
           "kept if they join both regions; length: of the pathway, its least-cost path", "note: in_pathway: of the voxels that streamlines pass"),
          ARCUATE_COLUMNS, arcuate_rows(scan, found[ARCUATE[0], "default, --smooth 0.7"], numpy.linalg.inv(image.affine), white))
    if args.picture:
        import tract_picture
        tract_picture.draw(args.picture, image.get_fdata(), image.affine, found)
    return 0
