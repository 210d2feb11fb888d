#include "core/command.hpp"
#include "src/tools/phantom/phantom_kind.hpp"
#include "src/tools/phantom/phantom_options.hpp"

namespace voxherd {

namespace {

exit_status run_phantom(session& s, const phantom_request& request) {
  for (const phantom_kind* kind : {&dwi_phantom_kind, &liver_phantom_kind, &score_phantom_kind})
    if (request.kind == kind->name) return kind->run(s, request);
  throw failure(exit_status::internal_error, "phantom: this kind was not checked");
}

}  // namespace

extern const command phantom_command = make_command<phantom_options, run_phantom>(
    {"phantom", "make inputs with known truth, or score a result against it",
     "dwi|liver --preset NAME --out FOLDER | score RESULT --truth FOLDER", "kind,result",
     "voxherd phantom dwi --preset toy --out phantom\n"
     "voxherd tensor --dwi phantom/data.nii --bvals phantom/bvals \\\n"
     "  --bvecs phantom/bvecs --out tensor.h5\n"
     "voxherd phantom score tensor.h5 --truth phantom"});

}  // namespace voxherd
