#include "src/analyses/tensor/tensor.hpp"

#include <utility>

#include "core/command.hpp"
#include "kernels/tensor/tensor.hpp"
#include "kernels/tensor/tensor_estimator.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/analyses/tensor/shells.hpp"

namespace voxherd {

const option_table<tensor_request>& tensor_options() {
  using T = tensor_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .include(&T::series, dwi_options())
    .include(&T::regions, item_region_options())
    .group("Fit", {
      {"shells", &T::shells_s_per_mm2, parse_shells,
       {.text = "b-values in s/mm2 of the volumes to use, each within 100 s/mm2, e.g. 0,1000", .value = "LIST",
        .standard = "all", .stored = always}},
      {"fit", &T::weighting, {{"ols", tensor_weighting::ordinary}, {"wls", tensor_weighting::weighted},
                              {"iwls", tensor_weighting::iterated}},
       {.text = "least squares: ordinary, weighted, or weighted and iterated", .stored = always}},
      {"iterations", &T::iterations, range{1, 100},
       {.text = "number of further fits, each with weights from the one before", .stored = if_it_applies, .needs = "fit=iwls"}}})
    .include(&T::run, run_options());
  // clang-format on
  return table;
}

exit_status run_tensor(session& s, const tensor_request& request) {
  run_settings how = make_run_settings(s, request.run);
  dwi_series dwi(s, request.series, request.run.host_memory_bytes());
  tensor_settings settings;
  settings.weighting = request.weighting;
  settings.iterations = request.iterations;
  settings.low_samples = request.low_samples;
  settings.gradient_deviation = dwi.has_gradient_deviation();
  const std::vector<double> shells = request.shells_s_per_mm2.value_or(std::vector<double>());
  dwi.keep_volumes(s.from_root([&] { return choose_volumes(dwi.gradients(), shells, request.series); }));
  add_stored(tensor_options(), request, how.configuration);
  how.provenance["inputs"] = dwi.provenance();
  std::vector<constant> regions = share_item_regions(s, request.regions, dwi.grid(), dwi.item_voxels(), how);

  const device d = choose_device(s, request.run);  // CUDA has started meanwhile
  return run_voxelwise(s, "tensor", dwi, tensor_estimator(dwi.gradients(), settings), d, how, std::move(regions));
}

extern const command tensor_command =
    make_command<tensor_options, run_tensor>({"tensor", "diffusion tensors by least squares: FA, MD, eigenvectors",
                                              "voxherd tensor --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
                                              "  --mask mask.nii.gz --out tensor.h5\n"
                                              "voxherd export tensor.h5 --to nifti maps"},
                                             [] { return output_specs<tensor_estimator::outputs>(); });

}  // namespace voxherd
