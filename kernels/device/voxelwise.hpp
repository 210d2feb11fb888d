#pragma once

#include <memory>

#include "core/device.hpp"
#include "core/input_layout.hpp"
#include "kernels/portable/output_arrays.hpp"

/// One voxel per lane: a thread of a GPU, or one after another on CPU threads. An estimator is what a fit knows before
/// its first voxel:
///   outputs             the type with its output table
///   row_floats()        floats of one voxel's row of input
///   callable(send)      what one voxel needs: trivially copyable, called with (signal_row, item, output_arrays).
///                       send(vector) copies numbers to the device's memory and returns their place there.
/// The launchers of an estimator are generated: kernels/CMakeLists.txt.
namespace voxherd {

template <class Estimator>
class voxelwise_solver {
 public:
  using outputs = output_arrays<typename Estimator::outputs>;
  virtual ~voxelwise_solver() = default;

  /// `values`: row_floats() of each of `count` voxels. The results are the same for both layouts; preferred_layout()
  /// costs less. Throws device_error; device_out_of_memory where fewer voxels may fit.
  virtual void fit(std::size_t count, const float* values, input_layout layout, const outputs& out) = 0;
  void fit(std::size_t count, const float* rows, const outputs& out) { fit(count, rows, input_layout::rows, out); }

  /// Frees the device memory that is kept from one batch to the next.
  virtual void release_memory() {}
};

/// The layout that a solver reads as it is: neighbouring threads of a GPU read neighbouring numbers.
inline input_layout preferred_layout(const device& d) {
  return d.kind == backend::cuda ? input_layout::columns : input_layout::rows;
}

/// Specialised for each estimator in generated units.
template <class Estimator>
std::unique_ptr<voxelwise_solver<Estimator>> make_voxelwise_cpu(const device& d, const Estimator& e);
template <class Estimator>
std::unique_ptr<voxelwise_solver<Estimator>> make_voxelwise_cuda(const Estimator& e);

/// Owns its scratch memory; used by one thread. After use_device(d). Throws device_error for a GPU without CUDA.
template <class Estimator>
std::unique_ptr<voxelwise_solver<Estimator>> make_voxelwise_solver(const device& d, const Estimator& e) {
  return d.kind == backend::cuda ? make_voxelwise_cuda(e) : make_voxelwise_cpu(d, e);
}

/// Device memory that one voxel of a batch takes in the preferred layout.
template <class Estimator>
std::size_t voxelwise_device_bytes(const Estimator& e) {
  return e.row_floats() * sizeof(float) + output_bytes_per_item<typename Estimator::outputs>();
}

}  // namespace voxherd
