#include <optional>

#include "core/command.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/geodesic/inputs.hpp"
#include "src/analyses/geodesic/passes.hpp"
#include "src/analyses/geodesic/winners.hpp"

namespace voxherd {

exit_status run_geodesic(session& s, const geodesic_request& request) {
  run_settings how = make_run_settings(s, request.run);
  refuse_mixed(request.run);
  std::optional<device> chosen;  // late: CUDA starts while inputs are read
  const auto choose = [&] {
    if (!chosen) chosen = choose_device_of_one_kind(s, request.run);
    return *chosen;
  };
  geodesic_inputs inputs = read_geodesic_inputs(s, request, choose);
  how.configuration = inputs.configuration;
  how.provenance["inputs"] = inputs.provenance;
  return run_passes(s, inputs, how, choose());
}

extern const command geodesic_command = make_command<geodesic_options, run_geodesic>(
    {"geodesic", "ranked geodesic connections between regions; streamlines for comparison",
     "(--dwi FILE --bvals FILE --bvecs FILE | --tensor FILE) (--seed-image FILE | --seed-points FILE) "
     "[--targets FILE | --connectome FILE] --out FILE",
     "",
     "voxherd geodesic --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
     "  --mask mask.nii.gz --seed-image white_matter.nii.gz \\\n"
     "  --connectome parcellation.nii.gz --out connections.h5\n"
     "voxherd export connections.h5 --to csv matrices"},
    fibre_outputs);

}  // namespace voxherd
