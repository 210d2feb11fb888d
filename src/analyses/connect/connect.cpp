#include "core/command.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/connect/inputs.hpp"
#include "src/analyses/connect/steps.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  add_all_connect_options(description);
  add_run_options(description);
}

exit_status run_command(session& s, const arguments& args) {
  run_settings how = read_run_settings(s, args);
  const device d = choose_device_of_one_kind(s, args);
  const connect_inputs inputs = read_connect_inputs(s, args, d);
  how.configuration = inputs.configuration;
  how.provenance["inputs"] = inputs.provenance;
  return run_connect_steps(s, inputs, how, d);
}

}  // namespace

extern const command connect_command{
    "connect",
    "cheapest ways through the diffusion tensor's metric: pathway between two regions, connectome",
    "--dwi FILE --bvals FILE --bvecs FILE (or --tensor FILE) (--from FILE --to FILE | --connectome FILE) --out FILE",
    "",
    options,
    run_command};

}  // namespace voxherd
