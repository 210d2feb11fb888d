#include "core/command.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/perfusion/options.hpp"
#include "src/analyses/perfusion/run_perfusion.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  add_perfusion_options(description);
  add_run_options(description);
}

exit_status run_command(session& s, const arguments& args) {
  const run_settings how = read_run_settings(s, args);
  return run_perfusion(s, args, how, choose_device(s, args));
}

}  // namespace

extern const command perfusion_command{
    "perfusion",
    "liver perfusion: arterial and portal flow, transit time and delays of every voxel of a dynamic series",
    "--dynamic FILE --times FILE --mask FILE --arterial-voi FILE --portal-voi FILE --out FILE",
    "",
    options,
    run_command};

}  // namespace voxherd
