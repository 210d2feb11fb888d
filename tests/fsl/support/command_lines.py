#!/usr/bin/env python3
"""The command lines by which pipelines run FSL's programs, and what voxherd does with each. Writes their table:

    python3 tests/fsl/support/command_lines.py            write the table of docs/coming-from-fsl.md
    python3 tests/fsl/support/command_lines.py --check    exit with 1 if it is out of date
"""
import os
import re
import sys
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PAGE = os.path.join(ROOT, "docs", "coming-from-fsl.md")
PLACE = re.compile(r"(<!-- generated: tests/fsl/support/command_lines.py -->\n)(.*?)(<!-- end -->)", re.DOTALL)



@dataclass(frozen=True)
class Row:
    """A command line runs unchanged if `cases` replay it; otherwise `why` names what is missing. A case is
    FILE_test.Class.test_name in tests/fsl/cli."""
    number: int
    line: str
    who: str
    cases: tuple = ()
    why: str = ""


def pipeline(name):
    return f"pipelines_test.Pipelines.{name}"


def tracking(name):
    return f"pipelines_test.Tracking.{name}"


def nipype(name):
    return f"nipype_test.Nipype.{name}"


# The numbers are those of a survey, which also counted layouts of folders and a program of Workbench (5, 8, 25).
ROWS = (
    Row(1, "bedpostx_gpu DIR -n 3 -w 1 -b 1000 -j 1250 -s 25 -model 2 [-g] --rician", "QuNex",
        (pipeline("test_QuNex_bedpostx_and_dtifit"),)),
    Row(2, "dtifit --data= --out= --mask= --bvecs= --bvals=", "QuNex", (pipeline("test_QuNex_bedpostx_and_dtifit"),)),
    Row(3, "probtrackx2_gpu --omatrix1 --seed=white.asc ... --xfm= --invxfm= --meshspace=caret --waypoints= --wtstop=", "QuNex",
        (tracking("test_QuNex_matrix1_from_white_matter_surfaces"),)),
    Row(4, "probtrackx2_gpu --omatrix3 --target3= --seed= --stop=pial.asc --xfm= --invxfm=", "QuNex",
        (tracking("test_QuNex_matrix3_of_white_matter_surfaces"),)),
    Row(6, "probtrackx2_gpu --omatrix4 --target4= --colmask4= --seed=white.surf.gii", "HCP",
        (tracking("test_HCP_matrix4_from_grey_and_from_white_matter"),)),
    Row(7, "bedpostx_gpu DIR -QSYS n -Q q -NJOBS n -n 3 -w 1 -b 3000 -j 1250 -s 25 -model 3 -g", "HCP",
        (pipeline("test_HCP_wrapper_with_gradient_deviation"), pipeline("test_the_same_line_is_taken_by_bedpostx_gpu_itself"))),
    Row(9, "split_parts_gpu, xfibres_gpu --data= ... DIR PART PARTS VOXELS, bedpostx_postproc_gpu.sh", "UK Biobank",
        (pipeline("test_UK_Biobank_pre_part_and_post"),)),
    Row(10, "probtrackx2_gpu -x --waypoints= --stop= --avoid= --xfm=MNI_to_FA_warp --invxfm= --sampvox=1 -l --opd",
        "UK Biobank (autoPtx)", (tracking("test_UK_Biobank_autoPtx"),)),
    Row(11, "split_parts_gpu, xfibres_gpu, bedpostx_postproc_gpu.sh", "BRC", (pipeline("test_BRC_pre_part_and_post"),)),
    Row(12, "probtrackx2 --samples= --mask= --seed= --waypoints= --avoid= --nsamples= --onewaycondition --dir=. -V 0",
        "BRC (autoPtx)", (tracking("test_BRC_autoptx_runs_without_opd"),)),
    Row(13, "xtract -bpx -out -species HUMAN -stdwarp WARP WARP -gpu", "BRC", (tracking("test_BRC_xtract_with_coefficients"),)),
    Row(14, "probtrackx2[_gpu] -V 1 --seedref= --xfm=WARP --invxfm=WARP --stop= --avoid= -x --waypoints=targets.txt", "XTRACT",
        (tracking("test_XTRACT_in_standard_space"),)),
    Row(15, "xtract -in_native: probtrackx2[_gpu] -V 1 --loopcheck --ompl --opd --sampvox=1 --randfib=1 --waypoints=targets.txt",
        "XTRACT", (tracking("test_XTRACT_native"),)),
    Row(16, "probtrackx2 --omatrix2 --target2= --seed=SURFACE --stop= --wtstop= --xfm= --invxfm=", "xtract_blueprint",
        (tracking("test_xtract_blueprint_matrix2_from_a_surface"),)),
    Row(17, "probtrackx2 -x seeds.txt --seedref= --omatrix2 --target2= --loopcheck --opd --pd --xfm=FLIRT.mat", "NFACT",
        (tracking("test_NFACT_matrix2"),)),
    Row(18, "bedpostx_gpu DIR --forcedir --nf=3 --bi=3000 --cnonlinear --model=", "tvb-ukbb", (pipeline("test_tvb_ukbb_bedpostx"),)),
    Row(19, "probtrackx2_gpu -V 2 --network --omatrix1 --ompl --seed=list --onewaycondition --nsamples=5000 --opd", "tvb-ukbb",
        (tracking("test_tvb_ukbb_network_and_matrix1"),)),
    Row(20, "bedpostx DIR -n -model -w -j -b -s --burnin_noard --forcedir", "nipype", (nipype("test_BEDPOSTX5_and_ProbTrackX2"),)),
    Row(21, "probtrackx2 --forcedir -m --nsamples= --nsteps= --opd --dir --samples --seed", "nipype",
        (nipype("test_BEDPOSTX5_and_ProbTrackX2"),)),
    Row(22, "xfibres --data= --mask= --bvecs= --bvals= --logdir=, dtifit -k -o -m -r -b", "nipype",
        (nipype("test_XFibres5"), nipype("test_DTIFit"))),
    Row(23, "probtrackx2_gpu -x --dir= --forcedir -P 200 -s -m --opd --pd -l -c 0.2 --distthresh=0", "gpu_test",
        (tracking("test_gpu_test_ptest"),)),
    Row(24, "bedpostx_gpu DIR -n 3 --model=1", "gpu_test", (pipeline("test_gpu_test_btest"),)),
    Row(26, "bedpostx_preproc.sh DIR, bedpostx_single_slice.sh DIR SLICE ..., bedpostx_postproc.sh DIR", "TRACULA, PhiPipe",
        ("slices_test.Slices.test_the_chain_gives_the_folder_of_one_bedpostx_also_where_slices_are_empty",)),
    Row(27, "probtrackx2_gpu --seed= --seedref= (of another voxel size) --targetmasks= --os2t --opd", "diffparc",
        ("words_test.Words.test_seeds_of_another_voxel_size_are_placed_by_it_as_by_the_identity_matrix",)),
)


def table():
    rows = [f"| `{row.line}` | {row.who} | {'unchanged' if row.cases else 'not yet: ' + row.why} |" for row in ROWS]
    return "\n".join(["| command line | in | runs |", "|---|---|---|", *rows]) + "\n"


def filled(page):
    assert len(PLACE.findall(page)) == 1, f"{PAGE}: expected one place for the table"
    return PLACE.sub(lambda place: place[1] + table() + place[3], page)


def main(check):
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    new = filled(page)
    if new != page and not check:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(new)
    sys.exit(f"{PAGE}: out of date" if check and new != page else 0)


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
