#!/usr/bin/env python3
"""Writes docs/errors.md: the messages that the program prints for bad input, each with its exit status and what to do.

    python3 docs/errors.py build/cpu/voxherd            write the page
    python3 docs/errors.py --check build/cpu/voxherd    exit with 1 if the page is out of date

The cases are those of tests/scan/cli/bad_inputs_test.py, which also makes the check. Of messages that differ only in names
and numbers the first is shown.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "errors.md")
INTRODUCTION = """# Error messages

A command that fails prints one line, `voxherd: error: ...`, for all ranks: what is wrong, where, and what to do. It exits
with the same status on all ranks and leaves no new file. This page lists the messages about input, with names and
numbers of examples, and says what usually helps. It is written by `docs/errors.py` from what the program prints.
"""
MACHINES = """
## Machines and launchers

| message | status | what to do |
|---|---|---|
| `the launcher started 4 processes, which do not know each other: use ...` | 2 | Start the ranks with `srun --mpi=pmix`, or with the mpirun of the MPI that voxherd was built with ([more](cluster.md#tasks-that-do-not-know-each-other)). |
| `an earlier command of this script has used MPI, which a rank can start only once; ...` | 2 | Start each analysis by its own launcher ([example](cluster.md#several-commands-in-one-script)). |
| `MPI has not started, its message is above; ...` | 75 | Follow MPI's message. `voxherd doctor`, started as the job is, finds the usual causes. |
| `cannot start a thread that computes: Resource temporarily unavailable; ulimit -u is 40, ...` | 70 | Raise the limit that is named. `ulimit -u` counts all processes and threads of a user on the node, `pids.max` those of a job or container. |
| `/dev/shm, which several ranks on a node need, cannot be written: Read-only file system; ...` | 74 | Mount a tmpfs there, or start one rank per node. |
"""
# What to do about a message that matches; the first match counts.
ADVICE = [
    (r"HDF5 file|a voxherd result\?", "The file is not a result of voxherd, or its copy was not finished. `voxherd verify FILE` checks it."),
    (r"does not exist; create it|cannot be created", "Create the folder (`mkdir -p`), or choose one that you may write to."),
    (r"No such file|no such file", "Check the spelling. A relative name starts in the folder where the command was started."),
    (r"--config", "A file of options has one `name = value` per line, with the names of `--help`; `#` begins a comment."),
    (r"it is a directory", "Give a file in this folder."),
    (r"not a regular file", "Pipes and devices cannot be read twice: save the data in a file."),
    (r"symbolic links", "The link leads back to itself: remove it and link to the file again."),
    (r"name too long", "Shorten the name. An unset variable or a missing space in a script is a common cause."),
    (r"truncated or its dim|the file is truncated", "The copy or download was not finished, or a disk was full. Copy it again and compare sizes."),
    (r"sizeof_hdr|magic is|dim\[\d\] is (-|0)|dim\[0\]|: dim is|vox_offset|scl_|pixdim\[|quatern|sform \(|header of 348|is empty, expected a NIfTI",
     "The header is damaged, or the file is not NIfTI. Convert the scan again, for example with dcm2niix."),
    (r"pair, expected", "voxherd reads single files. Convert it: `mrconvert IN.hdr OUT.nii.gz`, or with nibabel."),
    (r"datatype", "Convert it to a real type, for example `mrconvert IN -datatype float32 OUT.nii.gz`."),
    (r"voxel size along|offset of", "Compare the header with the scanner's values (`mrinfo`, `fslhd`). Convert the scan again."),
    (r"gzip stream", "The file was damaged after it was written. `gzip -t FILE` confirms it. Copy it again."),
    (r"the diagonal is about", "Give the map of gradient deviations that belongs to the series, not in per cent and without other matrices."),
    (r"places voxels up to", "The image is at another place in the world than the series. Resample it (`mrgrid IN regrid -template DWI OUT`), or, if its voxels "
     "are in the right order, copy the header (`fslcpgeom DWI IN -d`)."),
    (r"series of at least 2|at most four dim", "Give the 4-D series: volumes must be along the fourth axis."),
    (r"series of at least 6", "Give the complete dynamic series, or all frames as separate images in the order of time."),
    (r"dim\[4\] is .* (mask of one|3 x 3)", "Give an image with this number of volumes."),
    (r"voxels, expected .* as in", "The images must have one grid. Resample the one that differs, with nearest neighbours for masks and labels."),
    (r"0 of \d+ voxels|has 0 of", "The image is empty, or NaN. Look at it in a viewer. Was it thresholded, or made for another subject? Under FSL's names an empty mask is only warned of."),
    (r"none of its labels|none of \d+ seeds", "Overlay both images in a viewer: they must be in one world space. Positions are in mm (RAS+), not in voxels."),
    (r"in float32, which rounds", "Save the parcellation as int32: float32 does not represent every integer above 16777216."),
    (r"a parcellation of integers", "Labels were interpolated or scaled. Resample with nearest neighbours."),
    (r"look|seem swapped|as three rows", "Check which file is which: `--bvals` has one row, `--bvecs` three rows (or columns)."),
    (r"one for each volume|as in line", "Some volumes were removed, or the files belong to another series. Convert the scan again, so that all files match."),
    (r"contains (binary|no numbers)|an empty value between|decimal point|fits a double|found \"(x|about)\"|expected numbers$|expected a number$",
     "Open the file in a text editor and correct the line that is named."),
    (r"b-value", "b-values are in s/mm² and 0 or more. At least one volume has b up to 50, and at least one has more than 10."),
    (r"direction of volume", "Each volume with b above 0 needs a unit vector. Convert the scan again; do not edit directions by hand."),
    (r"do not determine a tensor", "A tensor needs six or more directions that are not on one plane or cone. Use another series."),
    (r"x y z in world mm|number of mm", "One seed per line: three numbers, world mm (RAS+)."),
    (r"label and a name|already has a name|any of the \d+ regions", "One region per line: its label, then its name."),
    (r"numbers in \d+ rows|times must increase|is not after|take .* hours|s apart on average|expected at least the frames", "Give the times of all frames in seconds, in one column or row, in increasing order."),
    (r"columns, expected at least|row of numbers, expected", "A table of curves has time (s), arterial and portal concentration, in this order, and covers all frames."),
    (r"no value above 0", "The agent never arrives. Check the VOI on the series, and the order of the columns in a table of curves."),
    (r"is missing; see|--[\w-]+ is missing|neither --|none of --", "Add the option. `voxherd COMMAND --help` shows what a command needs."),
    (r"T1", "Check the map and its unit. Voxels of the mask need a T1 between 0.01 and 10 s."),
    (r"^manifest", "Correct the line that is named. Cells are separated by tabs; each subject has one line and its own result ([cohort](commands/cohort.md))."),
    (r"unknown (command|option)|did you mean|unexpected argument", "`voxherd COMMAND --help` lists the options. Options cannot be abbreviated."),
    (r"value is empty|argument for option|given twice", "Look for an unset variable or a missing word in the script."),
    (r"expected (one of|an integer|a number|true or|[\d.e-]+ to)", "Use a value that the message names. Units are in `--help`."),
    (r"first and the last frame|frames to|all of these frames|but the series has", "Frames are counted from 0."),
    (r"different study", "The unfinished result was made with other options or inputs. Repeat the first command with `--resume`, or start again with `--overwrite`."),
    (r"stopped run", "`--resume` continues it, also with another number of ranks."),
    (r"another job is writing", "Two jobs were submitted for one result, or an earlier one is still running: `squeue`."),
    (r"is also the input", "A result never replaces an input. Choose another name."),
    (r"exists; --overwrite|is a folder|both name|characters, expected at most", "Choose another name."),
]


def advice(message):
    for pattern, text in ADVICE:
        if re.search(pattern, message):
            return text
    sys.exit(f"docs/errors.py: no advice for the message: {message}")


def example(message):
    """The message without what depends on the compressor or on the length of a name."""
    message = re.sub(r"\b\d+(?= (compressed|inflated) bytes)|(?<=file byte )\d+|(?<=for )\d+(?= bytes of header)", "N", message)
    message = re.sub(r"(.)\1{20,}(\.\.\.\1+)?", r"\1\1\1...", message)
    return re.sub(r"truncated file: .*", "truncated file", message)


def form(message):
    """The message without what differs from file to file."""
    message = re.sub(r"[\w/.-]+\.(nii|h5|csv|cfg|gz|hdr|img|json)(\.part)?\b|^\w+(?=:| line| )", "FILE", message)
    message = re.sub(r"--[\w-]+ \S+(?=: expected)|--[\w-]+(?= is missing)", "OPTION", message)
    message = re.sub(r"(?<=expected one of ).*|(?<= is missing).*|(?<=to [\d.]{3} ).*", "...", message)
    message = re.sub(r"\([^)]*\)|\"[^\"]*\"", "(...)", message)
    return re.sub(r"-?\b\d+(\.\d+)?(e[+-]?\d+)?|\b(nan|inf)\b", "N", message)


def rows(outcomes, shown):
    """One row per piece of advice: messages of forms that have not been shown, their status, the advice."""
    found = {}
    for name, case, outcome in outcomes:
        if len(outcome.errors) != 1:
            sys.exit(f"docs/errors.py: {name}: expected one message:\n{outcome.output}")
        message = example(outcome.errors[0].removeprefix("voxherd: error: "))
        if form(message) not in shown:
            shown.add(form(message))
            found.setdefault((outcome.status, advice(message)), []).append(message)
    for (status, text), messages in found.items():
        yield " <br> ".join("`" + m.replace("|", "\\|").replace("`", "'") + "`" for m in messages), status, text


def statuses():
    """The table of the manual."""
    with open(os.path.join(HERE, "commands", "README.md"), encoding="utf-8") as file:
        text = file.read().split("## Exit statuses\n")[1]
    return re.search(r"^\|.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)[0]


def section(heading, table):
    return f"\n## {heading}\n\n<!-- generated: docs/errors.py -->\n{table}<!-- end -->\n"


def page(outcomes):
    """`outcomes`: heading -> (name, case, outcome) of each case."""
    text, shown = INTRODUCTION, set()
    for heading, some in outcomes.items():
        table = "| message | status | what to do |\n|---|---|---|\n"
        table += "".join(f"| {messages} | {status} | {what} |\n" for messages, status, what in rows(some, shown))
        text += section(heading, table)
    return text + MACHINES + section("Exit statuses", statuses() + "\n")


def main(arguments):
    programs = [word for word in arguments if word != "--check"]
    if len(programs) != 1:
        sys.exit(__doc__)
    os.environ["VOXHERD"] = os.path.abspath(programs[0])
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "support"))
    import helper_folders  # noqa: F401, adds the folder of the next
    from bad_inputs import run_all
    new = page(run_all())
    if "--check" in arguments:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != new:
                sys.exit(f"{PAGE}: out of date")
    else:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(new)


if __name__ == "__main__":
    main(sys.argv[1:])
