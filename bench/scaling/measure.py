"""Strong and weak scaling of every analysis over ranks, with the complete program: FOLDER/runs.csv.

Creates the inputs once in FOLDER/inputs, runs each problem on each number of ranks, compares every result with the
first one of its problem (if the bytes differ, the time does not count) and adds one row per run to FOLDER/runs.csv.
Running the same command again measures only missing rows. GPUs: one rank per GPU. CPU: ranks of one thread each."""
import argparse
import dataclasses
import os
import sys
import time

import machine
import runs
from problems import NUMBERS, PROBLEMS, SCALES, place

STUDIES = ("strong", "weak")


def choice_list(known):
    def read(text):
        chosen = text.split(",")
        wrong = [word for word in chosen if word not in known]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]}: expected one of {', '.join(known)}")
        return chosen
    return read


def counts(text):
    """Increasing numbers of ranks, for example 1,2,4."""
    return sorted({positive(word) for word in text.split(",")})


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected an integer, 1 or more")
    return int(text)


def setting(text):
    """NAME=N as (name, number)."""
    name, _, number = text.partition("=")
    if name not in NUMBERS:
        raise argparse.ArgumentTypeError(f"{name}: expected one of {', '.join(NUMBERS)}")
    return name, positive(number)


def add_run_arguments(parser):
    """Arguments of every subcommand that runs the program."""
    parser.add_argument("build", metavar="BUILD", help="build folder, for example build/cuda")
    parser.add_argument("folder", metavar="FOLDER",
                        help="for runs.csv, machine.json, runs/ (report needs these), inputs, results")
    parser.add_argument("--launcher", choices=("mpirun", "srun"), default="mpirun", help="program that starts the ranks (mpirun)")
    parser.add_argument("--launcher-options", metavar="WORDS",
                        help="options of the launcher (mpirun: --bind-to none --oversubscribe)")


def add_arguments(parser):
    add_run_arguments(parser)
    parser.add_argument("--backend", choices=("cuda", "cpu"), help="default: cuda if there is a GPU")
    parser.add_argument("--ranks", type=counts, metavar="LIST", help="for example 1,2,4; default: 1, 2, 4, ... up to all GPUs or cores")
    parser.add_argument("--threads-per-rank", type=positive, metavar="N",
                        help="CPU threads per rank; default: 1 with cpu, otherwise its share of the cores")
    parser.add_argument("--problems", type=choice_list(PROBLEMS), default=list(PROBLEMS), metavar="LIST",
                        help="default: all of " + ", ".join(PROBLEMS))
    parser.add_argument("--study", type=choice_list(STUDIES), default=list(STUDIES), metavar="LIST", help="strong,weak")
    parser.add_argument("--repeats", type=positive, default=3, metavar="N", help="runs of each case; the fastest counts (3)")
    parser.add_argument("--repeat-seconds", type=float, default=120, metavar="S",
                        help="do not repeat cases that have taken longer than this in total (120 s)")
    parser.add_argument("--minutes", type=float, metavar="M", help="start no run later than this")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=N",
                        help="change a size, for example slices=48, which is added to the problem's name; one of " + ", ".join(NUMBERS))
    parser.add_argument("--quick", action="store_true", help="toy sizes, for a test")


def rank_counts(args, found):
    """1, 2, 4, ... and the number of devices of the machine."""
    if args.ranks:
        return args.ranks
    most = len(found["gpus"]) if args.backend == "cuda" else found["cores"]
    if most == 0:
        raise runs.run_error("--backend cuda: nvidia-smi finds no GPU; set the number of ranks with --ranks")
    return sorted({1 << i for i in range(most.bit_length()) if 1 << i <= most} | {most})


def job_of(name, study, ranks, args, at):
    what = PROBLEMS[name]
    words, reference = what.make(at, ranks if study == "weak" else None)
    threads = args.threads_per_rank or (1 if args.backend == "cpu" else 0)
    title = "@".join((name, *(f"{key}={value}" for key, value in args.set)))
    return runs.job(study, title, what.analysis, words, args.backend, ranks, threads, reference, what.partition)


def repeat_job(args, how, what, rows, deadline):
    """Runs it as often as requested, minus the runs in `rows`; prints the times."""
    spent = 0.0
    for repeat in range(1, args.repeats + 1):
        one = dataclasses.replace(what, repeat=repeat)
        if runs.is_done(rows, one):
            continue
        if spent > args.repeat_seconds or (deadline and time.monotonic() > deadline):
            break
        row = runs.run(args.folder, how, one)
        spent += float(row["wall_s"])
        wall, computing = float(row["wall_s"]), float(row["busy_s"]) / one.ranks
        print(f"{one.name()}: {wall:.2f} s, of which {computing:.2f} s computing per rank", flush=True)


def main(args):
    try:
        how = runs.launcher_for(os.path.join(args.build, "voxherd"), args.launcher, args.launcher_options)
        os.makedirs(args.folder, exist_ok=True)
        found = machine.write(args.folder, how.voxherd)
        args.backend = args.backend or ("cuda" if found["gpus"] else "cpu")
        ranks = rank_counts(args, found)
    except runs.run_error as e:
        sys.exit(f"error: {e}")
    size = dataclasses.replace(SCALES["quick" if args.quick else args.backend], **dict(args.set))
    at = place(args.folder, args.build, how.voxherd, size)
    rows, failed = runs.read_runs(args.folder), 0
    deadline = time.monotonic() + 60 * args.minutes if args.minutes else None
    for name in args.problems:
        for study in args.study:
            if study not in PROBLEMS[name].studies:
                print(f"{name}: no {study} scaling", flush=True)
                continue
            for n in ranks:
                try:
                    repeat_job(args, how, job_of(name, study, n, args, at), rows, deadline)
                except runs.run_error as e:
                    print(f"error: {name}, {study}, {n} ranks: {e}", file=sys.stderr, flush=True)
                    failed += 1
    return 1 if failed else 0
