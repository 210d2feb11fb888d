#pragma once

#include <memory>
#include <vector>

#include "core/device.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/voxel_model/estimator.hpp"
#include "kernels/voxel_model/model_outputs.hpp"

/// Specialised for each model in generated units: kernels/CMakeLists.txt.
namespace voxherd::voxel_model {

template <class Model>
std::vector<output_spec> list_outputs(const settings& s);

/// Device memory that one voxel of a batch takes.
template <class Model>
std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements);

template <class Model>
std::unique_ptr<estimator<model_outputs<Model>>> make_cpu_estimator(const device& d, const Model& model,
                                                                    const gradient_table& gradients, bool deviates,
                                                                    const settings& s);
template <class Model>
std::unique_ptr<estimator<model_outputs<Model>>> make_cuda_estimator(const Model& model,
                                                                     const gradient_table& gradients, bool deviates,
                                                                     const settings& s);

/// `deviates`: nine numbers of the gradient deviation follow a voxel's signals. After use_device(d). Throws
/// device_error for a GPU without CUDA.
template <class Model>
std::unique_ptr<estimator<model_outputs<Model>>> make_estimator(const device& d, const Model& model,
                                                                const gradient_table& gradients, bool deviates,
                                                                const settings& s) {
  return d.kind == backend::cuda ? make_cuda_estimator(model, gradients, deviates, s)
                                 : make_cpu_estimator(d, model, gradients, deviates, s);
}

}  // namespace voxherd::voxel_model
