"""A discrete-event model of plan, queue, devices, network and file system: checked against runs, then beyond the machine.

  model validate FOLDER   calibrates on the runs of one rank in FOLDER (runs.csv, or NAME.json with NAME.trace.csv), predicts
                          those of several ranks, prints both and the difference, writes model_validation.csv
  model predict FOLDER    one subject, and many, on more GPUs than there are: tables, and prediction*.csv

FOLDER's runs of one rank should have several batch sizes (`measure --ranks 1 --study strong --set batch=N`). What the model
takes for a cluster is in cluster.json here.
"""
import argparse
import os
import sys

if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import model_predict
import model_report
from model_calibrate import calibrate
from model_cohort import WAYS, predict_cohort
from model_read import read_folder
from model_validate import groups_of, validate


def numbers(text):
    found = [int(word) for word in text.split(",")]
    if min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be 1 or more")
    return found


def add_arguments(parser):
    parser.add_argument("what", choices=("validate", "predict"))
    parser.add_argument("folder", metavar="FOLDER", help="what `measure` left; results go there too")
    parser.add_argument("--site", metavar="FILE", help="the machine beyond the measured one, instead of cluster.json")
    parser.add_argument("--problem", metavar="NAME", help="predict: of those in FOLDER; without: of GPUs the one computing longest")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda", help="predict: whose runs of one rank (cuda)")
    parser.add_argument("--gpus", type=numbers, default=[1, 2, 4, 8, 16, 64, 512, 4096], metavar="LIST",
                        help="predict: devices, a rank each (1,2,4,8,16,64,512,4096)")
    parser.add_argument("--subjects", type=int, default=1, metavar="N", help="predict: 1 or more (1)")
    parser.add_argument("--batch", type=numbers, metavar="LIST",
                        help="predict: items a batch; without: the program's own plan, and the best size where that is better")
    parser.add_argument("--charts", metavar="FOLDER", help="predict: write charts there, as SVG")


def main(args):
    site = model_predict.read_site(args.site)
    runs = read_folder(args.folder)
    if not runs:
        sys.exit(f"error: {args.folder}: no runs with stages and a trace; `measure` makes them, or voxherd --json --trace")
    if args.what == "validate":
        done, missing = validate(runs, site)
        model_report.print_validation(done, missing)
        model_report.write_rows(os.path.join(args.folder, "model_validation.csv"), model_report.validation_rows(done))
        return 0
    return predict(args, site, runs)


def predict(args, site, runs):
    groups = {g: own for g, own in groups_of(runs, lambda r: r.group()).items()
              if g[1] == args.backend and args.problem in (None, g[0]) and any(r.ranks == 1 for r in own)}
    if not groups:
        have = ", ".join(sorted({f"{r.problem} ({r.backend})" for r in runs if r.ranks == 1})) or "none"
        sys.exit(f"error: {args.folder}: no {args.backend} run of one rank of {args.problem or 'anything'}; there are: {have}")
    group = max(groups, key=lambda g: max(r.work for r in groups[g]))
    found = calibrate([r for r in groups[group] if r.ranks == 1], site)
    model_report.print_calibration(group, found)
    if args.subjects == 1:
        rows = []
        for n in args.gpus:
            sizes = args.batch or dict.fromkeys((0, model_predict.best_batch(found, site, n)))
            rows += [model_predict.predict(found, site, n, size) for size in sizes]
        model_report.print_predictions(rows)
        model_report.write_rows(os.path.join(args.folder, "prediction.csv"), model_report.prediction_rows(rows))
        charts = model_report.prediction_charts(group, rows)
    else:
        rows = [predict_cohort(found, site, args.subjects, n, way) for n in args.gpus for way in WAYS]
        model_report.print_cohorts(rows)
        model_report.write_rows(os.path.join(args.folder, "prediction_cohort.csv"), model_report.cohort_rows(rows))
        charts = model_report.cohort_charts(group, rows)
    if args.charts:
        os.makedirs(args.charts, exist_ok=True)
        for name, text in charts.items():
            with open(os.path.join(args.charts, name), "w", encoding="utf-8") as file:
                file.write(text)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="model", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    sys.exit(main(parser.parse_args()))
