"""Runs every experiment on one core, all cores, one GPU and all GPUs: FOLDER/NAME@PLACE.json.

Experiments on one core run at the same time, each bound to its own core; all others run alone. The same command again
measures only what is missing. A program that finds a wrong answer ends with an error, and its times do not count."""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

import livers
import repeats
from experiments import CORE, CORES, GPU, GPUS, list_experiments


GRACE_S = 60  # for an experiment that runs at the deadline


def add_arguments(parser):
    parser.add_argument("build", metavar="BUILD", help="folder with voxherd and bench/, for example build/cuda")
    parser.add_argument("folder", metavar="FOLDER", help="for results, logs and inputs")
    parser.add_argument("--data", metavar="FOLDER", default=os.environ.get("VOXHERD_DATA", ""),
                        help="folder with philips_32dir_b1000 (VOXHERD_DATA); without it the brain's experiments are skipped")
    parser.add_argument("--only", metavar="TEXT", default="", help="only experiments whose name contains TEXT, or one of several texts separated by commas")
    parser.add_argument("--places", metavar="LIST", default="", help="of core,cores,gpu,gpus; default: what the machine has")
    parser.add_argument("--minutes", type=float, default=5, metavar="M", help="start no experiment later than this, and stop after one more minute (5)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="cores to use (all)")
    parser.add_argument("--quick", action="store_true", help="small problems, for a test: times mean nothing")


def count_gpus():
    if not shutil.which("nvidia-smi"):
        return 0
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())


def words_of(what, place, args, out):
    words = [os.path.join(args.build, "bench", what.program), "--backend", "cuda" if place in (GPU, GPUS) else "cpu",
             *what.options, f"--benchmark_filter={what.pattern}", f"--benchmark_out={out}",
             f"--benchmark_min_time={0.001 if args.quick else what.seconds}"]
    if place in (CORE, CORES):
        words += ["--threads", str(1 if place == CORE else what.threads_per_core * args.threads)]
    if args.quick:
        words += ["--voxels", "32"]
    return words


def is_wanted(name, args):
    return any(text in name for text in args.only.split(","))


def is_time_left(args):
    return time.monotonic() < args.deadline


def is_complete(path):
    try:
        with open(path, encoding="utf-8") as file:
            return "benchmarks" in json.load(file)
    except (OSError, ValueError):
        return False


def finish(out, done, seconds):
    """Keeps a complete result; wrong answers in it have no times. Returns whether all is well."""
    name = os.path.basename(out).removesuffix(".json")
    unfinished = out + ".part"
    if done in (0, 1) and is_complete(unfinished):
        os.replace(unfinished, out)
        print(f"{name}: {seconds:.1f} s{', with wrong answers: see its log' if done else ''}", flush=True)
        return done == 0
    print(f"{name}: failed: {done if isinstance(done, str) else f'status {done}'}; see {out.removesuffix('.json')}.log",
          file=sys.stderr, flush=True)
    return False


def run_one(what, place, args, core=None):
    out = os.path.join(args.folder, f"{what.name}@{place}.json")
    if os.path.exists(out) or not is_time_left(args):
        return os.path.exists(out)
    begin = time.monotonic()
    bind = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
    with open(out.removesuffix(".json") + ".log", "w", encoding="utf-8") as log:
        words = words_of(what, place, args, out + ".part")
        try:
            status = subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, preexec_fn=bind,
                                    timeout=args.deadline + GRACE_S - begin,
                                    env={**os.environ, "VOXHERD_DATA": args.data}).returncode
        except subprocess.TimeoutExpired:
            status = "no time left"
    return finish(out, status, time.monotonic() - begin)


def run_on_single_cores(chosen, args):
    """Half of the cores, each with one experiment, so that they have the memory nearly to themselves."""
    cores = sorted(os.sched_getaffinity(0))[:args.threads]
    free = list(cores[:max(1, len(cores) // 2)])

    def run_bound(what):
        core = free.pop()
        try:
            return run_one(what, CORE, args, core)
        finally:
            free.append(core)
    with concurrent.futures.ThreadPoolExecutor(len(free)) as pool:
        return list(pool.map(run_bound, chosen))


def describe_machine(args, gpus):
    program = os.path.join(args.build, "voxherd")
    text = subprocess.run([program, "info"], capture_output=True, text=True).stdout if os.path.exists(program) else ""
    with open(os.path.join(args.folder, "machine.json"), "w", encoding="utf-8") as file:
        json.dump({"cores": args.threads, "gpus": gpus, "description": text, "quick": args.quick,
                   "date": time.strftime("%Y-%m-%d", time.gmtime())}, file, indent=1)


def check_programs(args, chosen, modules, places):
    """Only the programs of the chosen experiments are needed."""
    if not chosen and not modules:
        sys.exit(f"error: --only {args.only}: no experiment has this in its name")
    programs = sorted({os.path.join("bench", what.program) for what in chosen if set(what.places) & set(places)})
    for program in programs + (["voxherd"] if modules else []):
        if not os.access(os.path.join(args.build, program), os.X_OK):
            sys.exit(f"error: {args.build}/{program} does not exist; give a build folder, for example build/cuda")


def main(args):
    gpus = count_gpus()
    places = args.places.split(",") if args.places else [CORE, CORES] + ([GPU] if gpus else []) + ([GPUS] if gpus else [])
    wrong = [place for place in places if place not in (CORE, CORES, GPU, GPUS)]
    if wrong:
        sys.exit(f"error: --places {wrong[0]}: expected some of core, cores, gpu, gpus")
    chosen = [what for what in list_experiments() if is_wanted(what.name, args)]
    modules = [module for module in (repeats, livers) if is_wanted(module.NAME, args)]
    check_programs(args, chosen, modules, places)
    args.deadline = time.monotonic() + 60 * args.minutes
    os.makedirs(args.folder, exist_ok=True)
    describe_machine(args, gpus)
    good = [run_one(what, place, args) for place in (GPU, GPUS, CORES) if place in places
            for what in chosen if place in what.places]
    backends = [name for name, needed in (("cpu", CORES), ("cuda", GPU)) if needed in places]
    good += [is_time_left(args) and module.measure(args, backends) for module in modules]
    if CORE in places:
        good += run_on_single_cores([what for what in chosen if CORE in what.places], args)
    if not all(good):
        print("some experiments failed or had no time left; the same command measures the missing ones", file=sys.stderr)
    return 0 if all(good) else 1
