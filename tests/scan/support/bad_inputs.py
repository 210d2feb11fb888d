"""All cases of bad input, under the headings of docs/errors.md. Not a test itself."""
from bad_image_cases import IMAGES, SERIES, TRACKS
from bad_line_cases import LINES, PLACES, RESULTS
from bad_table_cases import GRADIENTS, NAMES, PERFUSION, SETTINGS, SUBJECTS
from input_jobs import run_cases

CASES = {
    "Images and masks": IMAGES,
    "Seeds and labels": {**TRACKS, **NAMES},
    "b-values and directions": GRADIENTS,
    "Perfusion": {**PERFUSION, **SERIES},
    "Options": {**LINES, **SETTINGS},
    "Results": {**PLACES, **RESULTS},
    "Cohorts": SUBJECTS,
}


def run_all():
    """Heading -> (name, case, outcome) of each case, on one rank."""
    return {heading: run_cases(cases) for heading, cases in CASES.items()}
