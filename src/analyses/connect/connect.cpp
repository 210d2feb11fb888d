#include <optional>

#include "core/command.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/connect/inputs.hpp"
#include "src/analyses/connect/steps.hpp"

namespace voxherd {

exit_status run_connect(session& s, const connect_request& request) {
  run_settings how = make_run_settings(s, request.run);
  refuse_mixed(request.run);
  std::optional<device> chosen;  // late: CUDA starts while inputs are read
  const auto choose = [&] {
    if (!chosen) chosen = choose_device_of_one_kind(s, request.run);
    return *chosen;
  };
  const connect_inputs inputs = read_connect_inputs(s, request, choose);
  how.configuration = inputs.configuration;
  how.provenance["inputs"] = inputs.provenance;
  return run_connect_steps(s, inputs, how, choose());
}

extern const command connect_command = make_command<connect_options, run_connect>(
    {"connect", "least-cost paths: a pathway between two regions, or a connectome",
     "(--dwi FILE --bvals FILE --bvecs FILE | --tensor FILE) (--from FILE --to FILE | --from-point X,Y,Z "
     "--to-point X,Y,Z | --connectome FILE) --out FILE",
     "",
     "voxherd connect --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
     "  --mask mask.nii.gz --connectome parcellation.nii.gz \\\n"
     "  --region-names names.txt --out costs.h5\n"
     "voxherd export costs.h5 --to csv matrices"});

}  // namespace voxherd
