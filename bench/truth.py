#!/usr/bin/env python3
"""How well fibres and networks are found in phantoms whose geometry others wrote (docs/truth.md).

    python3 bench/truth.py all build/voxherd --geometry phantomas/examples --fibercup fibercup --out FOLDER

`all` is `measure` (voxherd: hours on two cores, minutes on a GPU), rankings of connect and other experiments, `peers` (MRtrix3
and DIPY, same scoring) and `report` (tables of docs/truth.md); `measure`, `peers` and `report` are also commands.

`measure` needs only Python's standard library. `--geometry` is the folder `examples` of github.com/ecaruyer/phantomas. Results
are FOLDER/truth-fibres.csv, truth-crossings.csv and truth-networks.csv: rows of the same tool, data and settings are replaced.
`--small` makes a tiny phantom of its own instead, to test an installation in seconds.
"""
import argparse
import csv
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "truth.md")
PROTOCOLS = {"DTI": ["--bvalues", "1200", "--directions", "32", "--b0", "2"],
             "HARDI": ["--bvalues", "3000", "--directions", "64", "--b0", "4"],
             "MS": ["--bvalues", "1000,2000,3000", "--directions", "30", "--b0", "6"]}
ANGLES = (30, 40, 50, 60, 70, 80, 90)
KEY = ["truth", "data", "snr", "tool", "settings"]
FIBRES = KEY + ["voxels", "success", "success1", "success2", "success3", "known2", "extra", "missing", "mean_degrees",
                "median_degrees", "cone90", "cone50", "second_cone90", "share90", "expected_cone90", "expected_share90", "cone_degrees",
                "error_degrees", "machine", "date"]
CROSSINGS = KEY + [str(a) for a in ANGLES] + ["machine", "date"]
REPEAT = KEY + ["voxels", "median_degrees", "within10", "same_number", "mean_number", "machine", "date"]
NETWORKS = KEY + ["true_pairs", "pairs", "valid", "invalid", "auc", "first_valid", "valid_share", "machine", "date"]
WIDE = ["--model", "3", "--ratio-mean", "0.2", "--ratio-std", "0.1"]
ODDS = ["--fibre-odds", "5"]
ONE_SHELL = {"default": [], "odds 5": ODDS, "model 1, 2 fibres": ["--model", "1", "--fibres", "2"], "model 1": ["--model", "1"], "model 3, wide": WIDE}
MODELS = {"DTI": ONE_SHELL, "HARDI": ONE_SHELL, "MS": {"default": [], "odds 5": ODDS, "model 3": ["--model", "3"], "model 3, wide": WIDE}}
ISBI, FANNING, FIBERCUP = "ISBI 2013", "3Dfanning_9bundles", "FiberCup"
TINY = {"fiber_geometries": {"a": {"control_points": [-12, 0, 0, 12, 0, 0], "radius": 5},
                             "b": {"control_points": [0, -12, 0, 0, 12, 0], "radius": 5}}}


def run(*words, log=None):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


HEADER = {"fibres": "Fibres found in phantoms of others' geometry", "crossings": "Crossings of two bundles found, %",
          "networks": "Pairs of bundles' ends connected", "models": "Models on other tissues: success %, n+, success of two fibres %",
          "repeat": "Agreement of two acquisitions of a physical phantom", "changes": "What the scores changed", "ranking": "AUC, and true pairs among the best, of rankings of connect"}


def write_table(path, columns, lines, command):
    kind = os.path.basename(path)[len("truth-"):-len(".csv")]
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(f"# {HEADER[kind]}\n# command: {command}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


class table:
    """A CSV file whose rows are replaced by newer ones of the same key."""

    def __init__(self, path, columns):
        self.path, self.columns, self.rows = path, columns, {}
        if os.path.exists(path):
            for row in read_table(path):
                self.rows[tuple(row[k] for k in KEY)] = row

    def add(self, **row):
        row = {**row, "machine": machine(), "date": datetime.date.today().isoformat()}
        row = {k: f"{v:.4g}" if isinstance(v, float) else str(v) for k, v in row.items()}
        self.rows[tuple(row[k] for k in KEY)] = {c: row.get(c, "") for c in self.columns}
        write_table(self.path, self.columns, [list(r.values()) for r in self.rows.values()], "python3 bench/truth.py measure, peers")
        print(", ".join(f"{k} {v}" for k, v in row.items() if v not in ("",)), flush=True)


def machine():
    try:
        gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
        if gpu.returncode == 0 and gpu.stdout.strip():
            return gpu.stdout.split("\n")[0].strip()
    except OSError:
        pass
    return f"{platform.machine()}, {os.cpu_count()} cores"


class bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.work = arguments.work or tempfile.mkdtemp()
        os.makedirs(arguments.out, exist_ok=True)
        os.makedirs(self.work, exist_ok=True)
        at = lambda name, columns: table(os.path.join(arguments.out, name), columns)
        self.fibres = at("truth-fibres.csv", FIBRES)
        self.crossings = at("truth-crossings.csv", CROSSINGS)
        self.networks = at("truth-networks.csv", NETWORKS)
        self.repeat = at("truth-repeat.csv", REPEAT)

    def voxherd(self, *words):
        return run(self.arguments.program, *words)

    def compute(self, *words):
        return self.voxherd(*words, "--backend", self.arguments.backend, "--threads", self.arguments.threads, "--quiet", "--overwrite")

    def path(self, *names):
        return os.path.join(self.work, *names)

    def phantom(self, geometry, name, protocol, snr):
        folder = self.path(f"{name}-{protocol}-{snr:g}")
        if not os.path.exists(os.path.join(folder, "phantom.json")):
            more = ["--directions", "12", "--bvalues", "2000"] if self.arguments.small else PROTOCOLS[protocol]
            self.voxherd("phantom", "dwi", "--geometry", geometry, *more, "--snr", snr, "--out", folder, "--overwrite",
                         "--threads", self.arguments.threads)
        return folder

    def series(self, folder, mask):
        at = lambda name: os.path.join(folder, name)
        return ["--dwi", at("data.nii"), "--bvals", at("bvals"), "--bvecs", at("bvecs"), "--mask", at(mask)]

    def fit(self, folder, mask, options):
        out = self.path("fibres.h5")
        quick = ["--burn-in", "50", "--jumps", "100", "--sample-every", "5"] if self.arguments.small else []
        self.compute("ballstick", *self.series(folder, mask), "--out", out, *options, *quick)
        return out

    def score(self, result, folder, *options):
        out = self.path("score.json")
        self.voxherd("phantom", "score", result, "--truth", folder, "--json", out, "--overwrite", *options)
        with open(out, encoding="utf-8") as file:
            return json.load(file)

    def add_fibres(self, key, score):
        detection, calibration = score["detection"], score.get("calibration", {})
        share = lambda t, part: 100 * t[part] / t["voxels"] if t["voxels"] else ""
        tally = (detection["by_number"] + 3 * [{"voxels": 0}])[:3]
        within = lambda name: 100 * calibration[name]["within"] if calibration.get(name, {}).get("voxels") else ""
        expected = lambda name: 100 * calibration[name]["expected"] if calibration else ""
        every = detection["all"]
        self.fibres.add(**key, voxels=every["voxels"], success=share(every, "successes"),
                        **{f"success{i + 1}": share(t, "successes") for i, t in enumerate(tally)},
                        known2=share(tally[1], "known"), extra=every["extra"] / every["voxels"],
                        missing=every["missing"] / every["voxels"], mean_degrees=score["all"].get("mean_degrees", ""),
                        median_degrees=score["all"].get("median_degrees", ""), cone90=within("single_cone90"),
                        cone50=within("single_cone50"), second_cone90=within("second_cone90"), share90=within("share"),
                        expected_cone90=expected("single_cone90"), expected_share90=expected("share"),
                        cone_degrees=calibration.get("median_cone_degrees", ""),
                        error_degrees=calibration.get("median_error_degrees", ""))

    def cases(self):
        """Geometry, name, protocol and noise of the complete phantom."""
        if self.arguments.small:
            path = self.path("tiny.txt")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(TINY, file)
            return [(path, "tiny", "HARDI", 30)]
        at = lambda *names: os.path.join(self.arguments.geometry, *names)
        found = [(at("isbi_challenge_2013.txt"), ISBI, p, s) for s in self.arguments.snr for p in self.arguments.protocols]
        return found + [(at("fanning", "3Dfanning_9bundles.txt"), FANNING, p, 30.0) for p in self.arguments.protocols if p != "DTI"]

    def crossing_geometries(self):
        if self.arguments.small:
            return {90: self.path("tiny.txt")}
        return {a: os.path.join(self.arguments.geometry, "crossing", "crossing_2bundles", f"{a}crossing.txt") for a in ANGLES}


def key_of(truth, data, snr, tool, settings):
    return {"truth": truth, "data": data, "snr": f"{snr:g}", "tool": tool, "settings": settings}


def measure(b):
    for geometry, name, protocol, snr in b.cases():
        folder = b.phantom(geometry, name, protocol, snr)
        for settings, options in MODELS[protocol].items():
            if b.arguments.small and settings != "default":
                continue
            result = b.fit(folder, "truth/scored.nii.gz", options)
            b.add_fibres(key_of(name, protocol, snr, "voxherd ballstick", settings), b.score(result, folder))
        if protocol != "DTI":
            track(b, folder, name, protocol, snr)
        if protocol == "DTI" or b.arguments.small:
            connect(b, folder, name, protocol, snr)
    for protocol, snr in (("HARDI", 30), ("HARDI", 10), ("MS", 20)):
        for settings, options in MODELS[protocol].items():
            if settings in ("default", "odds 5", "model 3"):
                cross(b, protocol, snr, "voxherd ballstick", settings,
                      lambda folder: b.score(b.fit(folder, "truth/scored.nii.gz", options), folder, "--max-angle", "20"))
        if b.arguments.small:
            break


def cross(b, protocol, snr, tool, settings, score):
    row = {}
    for angle, geometry in b.crossing_geometries().items():
        tally = score(b.phantom(geometry, f"crossing{angle}", protocol, snr))["detection"]["by_number"][1]
        row[str(angle)] = 100 * tally["successes"] / tally["voxels"] if tally["voxels"] else ""
    b.crossings.add(**key_of("two bundles", protocol, snr, tool, settings), **row)


FITS_FOR_TRACK = {"default": [], "no relevance prior": ["--no-ard"], "model 3, no relevance prior": ["--model", "3", "--no-ard"]}


def track(b, folder, name, protocol, snr):
    """Streamlines from the bundles' ends, and from white matter."""
    out = b.path("track.h5")
    for settings, options in FITS_FOR_TRACK.items():
        samples = b.fit(folder, "white_matter.nii.gz", options)
        for seeds, seed_options in (("", []), (", white matter", ["--seed-image", os.path.join(folder, "white_matter.nii.gz")])):
            b.compute("track", "--samples", samples, "--connectome", os.path.join(folder, "truth", "ends.nii.gz"), *seed_options, "--loop-check", "on",
                      "--samples-per-seed", "10" if b.arguments.small else "100", "--out", out)
            for weight, words in (("count", ""), ("share", ", by share")):
                b.networks.add(**key_of(name, protocol, snr, "voxherd track", f"{settings}, 100 per seed{seeds}{words}"),
                               **b.score(out, folder, "--matrix", weight))


def connect(b, folder, name, protocol, snr):
    out = b.path("connect.h5")
    b.compute("connect", *b.series(folder, "white_matter.nii.gz"), "--connectome", os.path.join(folder, "truth", "ends.nii.gz"),
              "--out", out, "--gain")
    for matrix in ("cost", "mean_speed", "gain"):
        b.networks.add(**key_of(name, protocol, snr, "voxherd connect", f"by {matrix}"), **b.score(out, folder, "--matrix", matrix))


def rank(b):
    """truth-ranking.csv: connect's rankings on several truths."""
    path, columns, lines = os.path.join(b.arguments.out, "truth-ranking.csv"), ["truth", "mask", "cost", "mean_speed", "gain"], {}
    if os.path.exists(path):
        lines = {(r["truth"], r["mask"]): list(r.values()) for r in read_table(path)}
    at = lambda *names: os.path.join(b.arguments.geometry, *names)
    isbi, masks = at("isbi_challenge_2013.txt"), {"white matter": "white_matter.nii.gz", "brain": "nodif_brain_mask.nii.gz"}
    for title, geometry, name, snr, mask, options in (
            ("ISBI 2013, DTI SNR 30", isbi, ISBI, 30, "white matter", []),
            ("the same, --max-ratio 1000", isbi, ISBI, 30, "white matter", ["--max-ratio", "1000"]),
            ("ISBI 2013, DTI SNR 10", isbi, ISBI, 10, "white matter", []),
            ("ISBI 2013, DTI SNR 30", isbi, ISBI, 30, "brain", []),
            ("3Dfanning_9bundles, DTI SNR 30", at("fanning", "3Dfanning_9bundles.txt"), FANNING, 30, "white matter", []),
            ("30crossing_6bundles, DTI SNR 30", at("crossing", "30crossing_6bundles.txt"), "30crossing", 30, "white matter", [])):
        folder, out = b.phantom(geometry, name, "DTI", snr), b.path("connect.h5")
        b.compute("connect", *b.series(folder, masks[mask]), "--connectome", os.path.join(folder, "truth", "ends.nii.gz"),
                  "--out", out, "--gain", *options)
        scores = {matrix: b.score(out, folder, "--matrix", matrix) for matrix in columns[2:]}
        lines[title, mask] = [title, mask] + [f"{s['auc']:.3f}, {s['first_valid']}" + (f" of {s['true_pairs']}" if matrix == "cost" else "")
                                              for matrix, s in scores.items()]
    write_table(path, columns, lines.values(), "python3 bench/truth.py all")


def experiment(b):
    """truth-models.csv, by bench/truth_experiments.sh."""
    scores = os.path.abspath(os.path.join(b.arguments.out, "experiments"))
    settings = {"VOXHERD": os.path.abspath(b.arguments.program), "OUT": scores, "WORK": b.path("experiments"),
                "BACKEND": b.arguments.backend, "LIMIT": os.environ.get("LIMIT", "1000000")}
    shutil.rmtree(scores, ignore_errors=True)
    os.makedirs(settings["WORK"], exist_ok=True)
    run_in = {**os.environ, **settings}
    subprocess.run(["bash", os.path.join(ROOT, "bench", "truth_experiments.sh"), os.path.abspath(b.arguments.geometry)], env=run_in, check=True)
    collect(scores, b.arguments.out)


def peers(b):
    import truth_peers
    truth_peers.measure(b, cross, key_of)
    if b.arguments.fibercup:
        truth_peers.repeat(b, key_of, FIBERCUP)


def rows(folder, name):
    return read_table(os.path.join(folder, name))


def markdown(header, lines):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header)] +
                     ["| " + " | ".join(line) + " |" for line in lines])


def short(text, digits=0):
    return f"{float(text):.{digits}f}" if text != "" else ""


def order(row):
    protocols = list(PROTOCOLS)
    return (protocols.index(row["data"]) if row["data"] in protocols else 9, -float(row["snr"]), row["tool"] != "voxherd ballstick",
            row["tool"], row["settings"])


def fibre_table(folder, is_fanning=False):
    found = sorted((r for r in rows(folder, "truth-fibres.csv") if (r["truth"] == FANNING) == is_fanning), key=order)
    return markdown(["data, SNR", "tool", "success", "n+", "n-", "mean error", "1 fibre", "2 fibres", "3 fibres", "2, n known"],
                    [[f"{r['data']} {r['snr']}", f"{r['tool'].replace('voxherd ', '')}, {r['settings']}", short(r["success"], 1), short(r["extra"], 2),
                      short(r["missing"], 2), short(r["mean_degrees"], 2), short(r["success1"]), short(r["success2"]), short(r["success3"]),
                      short(r["known2"])] for r in found])


def crossing_table(folder):
    found = sorted(rows(folder, "truth-crossings.csv"), key=order)
    return markdown(["data, SNR", "tool"] + [f"{a}°" for a in ANGLES],
                    [[f"{r['data']} {r['snr']}", f"{r['tool'].replace('voxherd ', '')}, {r['settings']}"] + [short(r[str(a)]) for a in ANGLES]
                     for r in found])


def network_table(folder):
    found = sorted((r for r in rows(folder, "truth-networks.csv") if r["truth"] != FANNING), key=order)
    return markdown(["data, SNR", "tool", "valid", "invalid", "AUC", "true of the best 27", "valid share, %"],
                    [[f"{r['data']} {r['snr']}", f"{r['tool'].replace('voxherd ', '')}, {r['settings']}", r["valid"], r["invalid"], short(r["auc"], 3),
                      r["first_valid"], short(str(100 * float(r["valid_share"]))) if float(r["valid_share"]) else ""] for r in found])


def repeat_table(folder):
    found = sorted(rows(folder, "truth-repeat.csv"), key=lambda r: (r["data"], r["tool"] != "voxherd ballstick", r["tool"], r["settings"]))
    return markdown(["data", "tool", "median angle of the strongest", "within 10°", "same number", "fibres per voxel"],
                    [[r["data"], f"{r['tool'].replace('voxherd ', '')}, {r['settings']}", f"{short(r['median_degrees'], 1)}°", short(r["within10"]),
                      short(r["same_number"]), short(r["mean_number"], 2)] for r in found])


def calibration_table(folder):
    found = sorted((r for r in rows(folder, "truth-fibres.csv") if r["truth"] != FANNING and r["cone90"]), key=order)
    return markdown(["data, SNR", "settings", "90 % cone (exact: 87)", "50 % cone (49)", "cone / error, degrees", "two: 90 % cone of the smaller (87)",
                     "f1/(f1+f2) in its 90 % (86.5)"],
                    [[f"{r['data']} {r['snr']}", r["settings"], short(r["cone90"]), short(r["cone50"]),
                      f"{short(r['cone_degrees'], 1)} / {short(r['error_degrees'], 1)}", short(r["second_cone90"]), short(r["share90"])] for r in found])


TISSUES = {"0.03": "r0.00005", "0.12": "", "0.24": "r0.0004", "0.35": "r0.0006", "sticks": "restricted"}
MIXTURES = {f"{name}, {ratio}": data for name, of in (("MS 20", ("ms", "ms20")), ("DTI 20", ("dti", "dti20")), ("HARDI 10", ("h10", "hardi10")), ("HCP 25", ("hcp", "hcp25")))
            for ratio, tissue in TISSUES.items() for data in (of[0] + tissue if tissue else of[1],)}


def collect(folder, out):
    """truth-models.csv from the scores of bench/truth_experiments.sh."""
    def cell(data, fit):
        path = os.path.join(folder, f"{data}.{fit}.json")
        if not os.path.exists(path):
            return "not run"
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["detection"]
        every, two = found["all"], found["by_number"][1]
        return (f"{100 * every['successes'] / every['voxels']:.1f}, {every['extra'] / every['voxels']:.2f}, "
                f"{100 * two['successes'] / two['voxels']:.0f}")

    write_table(os.path.join(out, "truth-models.csv"), ["data, ratio", "model 2", "odds 5", "model 3", "model 3, wide"],
                [[ratio] + [cell(data, fit) for fit in ("m2", "odds5", "m3", "m3wide")] for ratio, data in MIXTURES.items()],
                "bash bench/truth_experiments.sh; python3 bench/truth.py collect")


def as_it_is(name):
    def make(folder):
        found = rows(folder, f"truth-{name}.csv")
        return markdown(list(found[0]), [list(r.values()) for r in found])

    return make


TABLES = {"changes": as_it_is("changes"), "models": as_it_is("models"), "ranking": as_it_is("ranking"), "fibres": fibre_table, "fanning": lambda folder: fibre_table(folder, is_fanning=True), "repeat": repeat_table,
          "crossings": crossing_table, "networks": network_table, "calibration": calibration_table}


def report(folder, page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for name, make in TABLES.items():
        if f"bench/truth.py {name} -->" not in text:
            continue
        try:
            lines = make(folder)
        except FileNotFoundError:
            print(f"{name}: not in {folder}, left as it is")
            continue
        place = re.compile(rf"(<!-- generated: bench/truth.py {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = place.sub(lambda m: m.group(1) + lines + "\n" + m.group(2), text)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


def main(words):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = p.add_subparsers(dest="what", required=True)
    for name, text in (("all", "everything"), ("measure", "voxherd"), ("peers", "MRtrix3 and DIPY, where installed")):
        k = kinds.add_parser(name, help=text)
        k.add_argument("program", help="path of voxherd")
        k.add_argument("--geometry", default="", help="folder examples of phantomas")
        k.add_argument("--fibercup", default="", help="folder of the FiberCup scans, dwi and masks in it; for peers")
        k.add_argument("--out", required=True, help="folder for the tables")
        k.add_argument("--work", default="", help="folder for phantoms, kept; default: a temporary one")
        k.add_argument("--backend", default="auto")
        k.add_argument("--threads", default="0")
        k.add_argument("--snr", type=lambda t: [float(x) for x in t.split(",")], default=[30.0, 20.0, 10.0])
        k.add_argument("--protocols", type=lambda t: t.split(","), default=list(PROTOCOLS))
        k.add_argument("--small", action="store_true", help="a tiny phantom, in seconds")
        k.add_argument("--page", default=PAGE, help="page whose tables `all` writes (docs/truth.md)")
    k = kinds.add_parser("collect", help="the table of models, from the scores of bench/truth_experiments.sh")
    k.add_argument("folder")
    k.add_argument("out")
    k = kinds.add_parser("report", help="write the tables of a page")
    k.add_argument("folder")
    k.add_argument("--page", default=PAGE)
    arguments = p.parse_args(words)
    if arguments.what == "collect":
        return collect(arguments.folder, arguments.out)
    if arguments.what == "report":
        return report(arguments.folder, arguments.page)
    if arguments.what == "all" and arguments.small:
        p.error("--small: only with measure and peers")
    if not arguments.small and not os.path.isdir(arguments.geometry):
        p.error("--geometry: expected the folder examples of phantomas, or give --small")
    b = bench(arguments)
    try:
        for name, step in (("measure", measure), ("all", rank), ("all", experiment), ("peers", peers)):
            if arguments.what in (name, "all"):
                step(b)
    finally:
        if not arguments.work:
            shutil.rmtree(b.work)
    if arguments.what == "all":
        report(arguments.out, arguments.page)


if __name__ == "__main__":
    main(sys.argv[1:])
