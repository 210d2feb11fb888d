#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/device.hpp"
#include "core/outputs.hpp"
#include "kernels/ballstick/result_view.hpp"
#include "kernels/ballstick/settings.hpp"
#include "kernels/portable/gradients.hpp"

namespace voxherd::ballstick {

/// One output quantity per voxel: "mean_f1", "dyads1", "th1", "status".
struct field {
  int id;  ///< index in result_view
  output_spec spec;
};

/// Outputs for settings `s`. `all_samples`: also the samples of S0, d, d_std, R, f0 and tau.
std::vector<field> list_outputs(const settings& s, bool all_samples);

/// Bytes per voxel of each field.
std::array<std::size_t, field_count> field_widths(const settings& s);

/// Fits and samples batches of voxels on one device. Owns its scratch memory; used by one thread.
class estimator {
 public:
  virtual ~estimator() = default;

  /// `voxels`: each item's index in the image, which keys its random numbers. `rows`: count x (K signals [+ 9 of the
  /// gradient deviation, column-wise]). `out`: null for fields that are not requested. Throws device_error;
  /// device_out_of_memory if fewer voxels may fit.
  virtual void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_view& out) = 0;

  /// Frees the device memory that is kept between batches.
  virtual void release_memory() {}
};

/// After use_device(d). Throws device_error for a GPU without CUDA, std::invalid_argument for settings out of range.
std::unique_ptr<estimator> make_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                          bool gradient_deviation);

/// Device memory that one voxel of a batch takes.
std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements, bool gradient_deviation);

}  // namespace voxherd::ballstick
