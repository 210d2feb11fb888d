"""Load balance: the time of a run compared with the ideal time, by the schedule of its voxels.

Ball & stick on a scan's complete mask and on a part of it in one corner, on equal ranks and with one of them at half
speed (by another run on its GPU, or a busy loop on each of its cores). In the ideal case all ranks end at the same
time: all voxels over the sum of the ranks' speeds, where a rank's speed is its voxels over its computing time in the
same run. Prints tables; adds rows to FOLDER/runs.csv and FOLDER/balance.csv. Running the same command again measures
only missing rows."""
import csv
import dataclasses
import os
import sys

import bars
import burden
import machine
import masks
import measure
import runs
from phases import busy_seconds, by_rank, read_trace
from problems import SCALES, place, reference, scan_words
from tables import number, print_table

COLUMNS = ("mask", "way", "burden", "backend", "ranks", "repeat", "items", "ideal_s", "end_s", "loss_percent", "first_idle_s",
           "least_items", "most_items")
MASKS = ("even", "corner")
BURDENS = ("alike", "one-slow")
# Schedules of voxels: partition, schedule. Static slices are the paper's.
WAYS = {"static-slices": ("slices", "blocks"), "static-voxels": ("voxels", "blocks"), "dynamic": ("voxels", "dynamic"),
        "mixed": ("voxels", "dynamic")}
BATCHES_A_RANK = 8  # of static voxels, so that all ranks have the same number of voxels


def add_arguments(parser):
    measure.add_run_arguments(parser)
    parser.add_argument("--backend", choices=("cuda", "cpu"), help="default: cuda if there is a GPU")
    parser.add_argument("--ranks", type=measure.positive, metavar="N", help="default: all GPUs or cores")
    parser.add_argument("--threads-per-rank", type=measure.positive, default=1, metavar="N", help="threads of a CPU rank (1)")
    parser.add_argument("--masks", type=measure.choice_list(MASKS), default=list(MASKS), metavar="LIST", help=",".join(MASKS))
    parser.add_argument("--burdens", type=measure.choice_list(BURDENS), default=list(BURDENS), metavar="LIST",
                        help=",".join(BURDENS))
    parser.add_argument("--ways", type=measure.choice_list(WAYS), metavar="LIST",
                        help=", ".join(WAYS) + "; default: all, mixed only with GPUs")
    parser.add_argument("--cpu-ranks", type=measure.positive, default=2, metavar="N", help="number of CPU ranks in mixed runs (2)")
    parser.add_argument("--repeats", type=measure.positive, default=1, metavar="N", help="runs of each case; all are shown (1)")
    parser.add_argument("--set", type=measure.setting, action="append", default=[], metavar="NAME=N",
                        help="change a size, for example slices=48")
    parser.add_argument("--quick", action="store_true", help="toy sizes, for a test")
    parser.add_argument("--charts", metavar="FOLDER", help="write a timeline of each run there (SVG)")


def words(scan, mask, how):
    chosen = list(scan_words(scan))
    chosen[chosen.index("--mask") + 1] = mask
    return (*chosen, "--fibres", "3", "--burn-in", str(how.burn_in), "--jumps", str(how.jumps))


def batch_of(way, how, items, ranks):
    """The value of --batch. Slices are complete; dynamic uses the program's own choice."""
    if way == "static-slices":
        return how.nx * how.ny
    if way == "static-voxels":
        return -(-items // (ranks * BATCHES_A_RANK))
    return 0


@dataclasses.dataclass(frozen=True)
class case:
    """One row of the study."""
    mask: str
    way: str
    burden: str
    repeat: int


def job_of(one, args, how, mask, scan):
    partition, schedule = WAYS[one.way]
    mixed = one.way == "mixed"
    ranks = args.ranks + (args.cpu_ranks if mixed else 0)
    backend = "mixed" if mixed else args.backend
    name = "-".join((one.mask, one.way, one.burden))
    wrap = (sys.executable, os.path.join(os.path.dirname(__file__), "bound.py"), str(args.threads_per_rank))
    return runs.job(
        "balance", name, "ballstick", words(scan, mask, how), backend, ranks, args.threads_per_rank if backend == "cpu" else 0,
        # The last digits of a mixed result depend on which rank computed what: it is verified, but not compared with
        # another.
        reference(scan, name, one.repeat) if mixed else reference(scan, "balance", one.mask, how.burn_in, how.jumps),
        partition, schedule, one.repeat,
        more=("--batch", str(batch_of(one.way, how, masks.voxels_in(mask), args.ranks))),
        wrap=wrap if backend == "cpu" else ())


def burden_of(one, args, how, launcher, scan):
    """On the last rank, except for the CPU ranks of a mixed run."""
    if one.burden == "alike":
        return burden.none()
    if args.backend == "cpu":
        return burden.busy_cores(args.ranks - 1, args.threads_per_rank)
    out = os.path.join(runs.results_folder(args.folder), "burden.h5")
    endless = dataclasses.replace(how, burn_in=1_000_000)
    command = [launcher.voxherd, "ballstick", *words(scan, os.path.join(scan, "nodif_brain_mask.nii.gz"), endless),
               "--backend", "cuda", "--batch", "14336", "--out", out, "--overwrite", "--quiet"]
    os.makedirs(os.path.dirname(out), exist_ok=True)
    return burden.busy_gpu(args.ranks - 1, command, out)


def account(batches, ranks):
    """Ideal time and end (s after all ranks started to work), loss (%), when the first rank became idle (s), and the
    minimum and maximum items of a rank. Speeds are those of the run; a rank without a batch has none."""
    own = by_rank(batches)
    items = {rank: sum(b["items"] for b in mine) for rank, mine in own.items()}
    busy = busy_seconds(batches)
    ends = [max(b["write_end"] for b in mine) for mine in own.values()] + [0.0] * (ranks - len(own))
    ideal = sum(items.values()) / sum(items[rank] / busy[rank] for rank in own)
    return {"items": sum(items.values()), "ideal_s": ideal, "end_s": max(ends), "loss_percent": 100 * (max(ends) / ideal - 1),
            "first_idle_s": min(ends), "least_items": min(items.values()) if len(own) == ranks else 0,
            "most_items": max(items.values())}


def measure_case(one, args, how, launcher, scan):
    mask = os.path.join(scan, "nodif_brain_mask.nii.gz")
    what = job_of(one, args, how, masks.corner(mask) if one.mask == "corner" else mask, scan)
    if runs.is_done(runs.read_runs(args.folder), what):
        return
    with burden_of(one, args, how, launcher, scan):
        row = runs.run(args.folder, launcher, what)
    if one.way == "mixed":
        os.remove(runs.reference_path(args.folder, what))
    batches = read_trace(os.path.join(args.folder, row["trace"]))
    found = account(batches, what.ranks)
    row = {**dataclasses.asdict(one), "backend": what.backend, "ranks": what.ranks, **found}
    runs.append(os.path.join(args.folder, "balance.csv"), COLUMNS,
                {key: f"{value:.6f}" if isinstance(value, float) else value for key, value in row.items()})
    print(f"{what.name()}: ends at {found['end_s']:.2f} s, ideal {found['ideal_s']:.2f} s", file=sys.stderr, flush=True)
    if args.charts:
        draw(args.charts, what, batches)


def draw(folder, what, batches):
    os.makedirs(folder, exist_ok=True)
    bars.timeline(os.path.join(folder, what.name() + ".svg"), f"{what.problem}, {what.ranks} ranks", batches)


def print_balance(folder):
    path = os.path.join(folder, "balance.csv")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    print_table(["mask", "voxels", "ranks", "one rank", "dealt", "ideal s", "end s", "loss %", "first idle s", "voxels a rank"],
                [[r["mask"], r["items"], f"{r['ranks']} ({r['backend']})", r["burden"], r["way"], number(float(r["ideal_s"])),
                  number(float(r["end_s"])), f"{float(r['loss_percent']):.1f}", number(float(r["first_idle_s"])),
                  f"{r['least_items']} to {r['most_items']}"] for r in rows])


def main(args):
    failed = 0
    try:
        launcher = runs.launcher_for(os.path.join(args.build, "voxherd"), args.launcher, args.launcher_options)
        os.makedirs(args.folder, exist_ok=True)
        found = machine.write(args.folder, launcher.voxherd)
        args.backend = args.backend or ("cuda" if found["gpus"] else "cpu")
        args.ranks = args.ranks or (len(found["gpus"]) if args.backend == "cuda" else found["cores"])
        how = dataclasses.replace(SCALES["quick" if args.quick else args.backend], **dict(args.set))
        scan = place(args.folder, args.build, launcher.voxherd, how).scan(None)
    except runs.run_error as e:
        sys.exit(f"error: {e}")
    ways = args.ways or [way for way in WAYS if way != "mixed" or args.backend == "cuda"]
    for one in (case(m, w, b, r) for r in range(1, args.repeats + 1) for m in args.masks for b in args.burdens for w in ways):
        try:
            measure_case(one, args, how, launcher, scan)
        except runs.run_error as e:
            print(f"error: {one}: {e}", file=sys.stderr, flush=True)
            failed += 1
    print_balance(args.folder)
    return 1 if failed else 0
