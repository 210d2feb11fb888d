#include "core/command.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/geodesic/inputs.hpp"
#include "src/analyses/geodesic/passes.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  add_geodesic_options(description);
  add_run_options(description);
}

exit_status run_command(session& s, const arguments& args) {
  run_settings how = read_run_settings(s, args);
  const device d = choose_device_of_one_kind(s, args);
  geodesic_inputs inputs = read_geodesic_inputs(s, args, d);
  how.configuration = inputs.configuration;
  how.provenance["inputs"] = inputs.provenance;
  return run_passes(s, inputs, how, d);
}

}  // namespace

extern const command geodesic_command{
    "geodesic",
    "geodesics of the diffusion tensor's metric from region to region, ranked; streamlines to compare",
    "--dwi FILE --bvals FILE --bvecs FILE (or --tensor FILE) --seed-image FILE [--targets FILE] --out FILE",
    "",
    options,
    run_command};

}  // namespace voxherd
