#pragma once

#include <memory>
#include <vector>

#include "core/device.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/voxel_model/estimator.hpp"
#include "kernels/voxel_model/model_outputs.hpp"

/// What analyses, tests and benchmarks know of a model. make_cpu_estimator() and make_cuda_estimator() are specialised
/// for each model, in generated units (kernels/CMakeLists.txt) or by hand; models with outputs of their own have the
/// others too.
namespace voxherd::voxel_model {

/// The output table, by default that of the parameters.
template <class Model>
struct outputs_type {
  using type = model_outputs<Model>;
};
template <class Model>
requires requires { typename Model::outputs; }
struct outputs_type<Model> {
  using type = typename Model::outputs;
};
template <class Model>
using outputs_of = typename outputs_type<Model>::type;
template <class Model>
using settings_of = typename outputs_of<Model>::inputs;
template <class Model>
using estimator_of = std::unique_ptr<estimator<outputs_of<Model>>>;

template <class Model>
std::vector<output_spec> list_outputs(const settings_of<Model>& s);

/// Device memory that one voxel of a batch takes.
template <class Model>
std::size_t device_bytes_per_voxel(const settings_of<Model>& s, std::size_t measurements, bool deviates);

template <class Model>
estimator_of<Model> make_cpu_estimator(const device& d, const Model& model, const gradient_table& gradients,
                                       bool deviates, const settings_of<Model>& s);
template <class Model>
estimator_of<Model> make_cuda_estimator(const Model& model, const gradient_table& gradients, bool deviates,
                                        const settings_of<Model>& s);

/// `deviates`: nine numbers of the gradient deviation follow a voxel's signals. After use_device(d). Throws
/// device_error for a GPU without CUDA.
template <class Model>
estimator_of<Model> make_estimator(const device& d, const Model& model, const gradient_table& gradients, bool deviates,
                                   const settings_of<Model>& s) {
  return d.kind == backend::cuda ? make_cuda_estimator(model, gradients, deviates, s)
                                 : make_cpu_estimator(d, model, gradients, deviates, s);
}

}  // namespace voxherd::voxel_model
