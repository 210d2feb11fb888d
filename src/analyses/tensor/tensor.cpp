#include "kernels/tensor/tensor.hpp"

#include <fmt/core.h>

#include "core/command.hpp"
#include "kernels/tensor/tensor_estimator.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/analyses/tensor/tensor.hpp"

namespace voxherd {

namespace {

void check_fit(const tensor_request& request, const given_options& given) {
  if (request.weighting != tensor_weighting::iterated) option::refuse_given(given, "iterations", "without --fit iwls");
}

}  // namespace

const option_table<tensor_request>& tensor_options() {
  using T = tensor_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .include(&T::series, dwi_options())
    .group("Fit", {
      {"fit", &T::weighting, {{"ols", tensor_weighting::ordinary}, {"wls", tensor_weighting::weighted},
                              {"iwls", tensor_weighting::iterated}},
       {.text = "least squares: ordinary, weighted, or weighted and iterated", .stored = always}},
      {"iterations", &T::iterations, range{1, 100},
       {.text = "refits of iwls with predicted weights",
        .stored = [](const T& r) { return r.weighting == tensor_weighting::iterated; }}}})
    .include(&T::run, run_options())
    .check(check_fit);
  // clang-format on
  return table;
}

exit_status run_tensor(session& s, const tensor_request& request) {
  run_settings how = make_run_settings(s, request.run);
  dwi_series dwi(s, request.series, request.run.host_memory_bytes());
  tensor_settings settings;
  settings.weighting = request.weighting;
  settings.iterations = request.iterations;
  settings.gradient_deviation = dwi.has_gradient_deviation();
  if (!determines_tensor(dwi.gradients()))
    throw failure(exit_status::bad_data,
                  fmt::format("{}: the gradients do not determine a tensor (it needs b=0 and at least six directions "
                              "that are not all on one plane or cone); use another series",
                              request.series.bvecs));
  add_stored(tensor_options(), request, how.configuration);
  how.provenance["inputs"] = dwi.provenance();

  const chosen_device d = choose_device(s, request.run);  // CUDA has started meanwhile
  return run_voxelwise(s, "tensor", dwi, tensor_estimator(dwi.gradients(), settings), d, how);
}

extern const command tensor_command =
    make_command<tensor_options, run_tensor>({"tensor", "diffusion tensors by least squares: FA, MD, eigenvectors",
                                              "--dwi FILE --bvals FILE --bvecs FILE [--mask FILE] --out FILE", "",
                                              "voxherd tensor --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
                                              "  --mask mask.nii.gz --out tensor.h5\n"
                                              "voxherd export tensor.h5 --to nifti maps"},
                                             [] { return output_specs<tensor_estimator::outputs>(); });

}  // namespace voxherd
