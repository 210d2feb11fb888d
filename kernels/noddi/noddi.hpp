#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/device.hpp"
#include "kernels/noddi/outputs.hpp"
#include "kernels/noddi/settings.hpp"
#include "kernels/portable/gradient_table.hpp"

namespace voxherd::noddi {

std::vector<output_spec> list_outputs(const settings& s);

/// Fits, and samples, batches of voxels on one device. Owns its scratch memory; used by one thread.
class estimator {
 public:
  virtual ~estimator() = default;

  /// `voxels`: each item's index in the image, which keys its random numbers. `rows`: count x K signals. `out`: null
  /// for outputs that are not wanted. Throws device_error; device_out_of_memory if fewer voxels may fit.
  virtual void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_arrays& out) = 0;

  /// Frees the device memory that is kept between batches.
  virtual void release_memory() {}
};

/// After use_device(d). Throws device_error for a GPU without CUDA.
std::unique_ptr<estimator> make_estimator(const device& d, const gradient_table& gradients, const settings& s);

// Its backends.
std::unique_ptr<estimator> make_cpu_estimator(const device& d, const gradient_table& gradients, const settings& s);
std::unique_ptr<estimator> make_cuda_estimator(const gradient_table& gradients, const settings& s);

/// Device memory that one voxel of a batch takes.
std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements);

}  // namespace voxherd::noddi
