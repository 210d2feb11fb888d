#include <fmt/core.h>

#include "core/command.hpp"
#include "kernels/tensor/tensor_estimator.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  add_dwi_options(description);
  description.add_options()                                                                        //
      ("fit", po::value<std::string>()->default_value("iwls"), "ols | wls | iwls (iterated WLS)")  //
      ("iterations", po::value<long long>()->default_value(2), "refits of iwls with predicted weights, 1 to 100");
  add_run_options(description);
}

tensor_settings read_settings(const arguments& args) {
  tensor_settings settings;
  const std::string fit = args.get<std::string>("fit");
  if (fit == "ols") {
    settings.weighting = tensor_weighting::ordinary;
  } else if (fit == "wls") {
    settings.weighting = tensor_weighting::weighted;
  } else if (fit != "iwls") {
    throw failure(exit_status::usage, fmt::format("--fit {}: not one of ols, wls, iwls", fit));
  }
  const long long iterations = args.get<long long>("iterations");
  if (iterations < 1 || iterations > 100)
    throw failure(exit_status::usage, fmt::format("--iterations {}: expected 1 to 100", iterations));
  if (args.has("iterations") && settings.weighting != tensor_weighting::iterated)
    throw failure(exit_status::usage, fmt::format("--iterations has no meaning with --fit {}; use --fit iwls", fit));
  settings.iterations = static_cast<int>(iterations);
  return settings;
}

exit_status run_command(session& s, const arguments& args) {
  tensor_settings settings = read_settings(args);
  run_settings how = read_run_settings(s, args);
  const chosen_device d = choose_device(s, args);

  dwi_series dwi(s, args);
  settings.gradient_deviation = dwi.has_gradient_deviation();
  if (!determines_tensor(dwi.gradients()))
    throw failure(exit_status::bad_data,
                  fmt::format("{}: the gradients do not determine a tensor (it needs b=0 and at least six directions "
                              "that are not all on one plane or cone); use another series",
                              args.get<std::string>("bvecs")));
  how.configuration["fit"] = args.get<std::string>("fit");
  if (settings.weighting == tensor_weighting::iterated) how.configuration["iterations"] = settings.iterations;
  how.provenance["inputs"] = dwi.provenance();

  return run_voxelwise(s, "tensor", dwi, tensor_estimator(dwi.gradients(), settings), d, how);
}

}  // namespace

extern const command tensor_command{
    "tensor",
    "diffusion tensors by (iterated weighted) least squares: FA, MD, V1..V3, L1..L3, S0",
    "--dwi FILE --bvals FILE --bvecs FILE [--mask FILE] --out FILE",
    "",
    options,
    run_command};

}  // namespace voxherd
