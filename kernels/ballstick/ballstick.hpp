#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/device.hpp"
#include "kernels/ballstick/posterior_outputs.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/voxel_model/estimator.hpp"

namespace voxherd::ballstick {

/// Outputs for these settings, with the names of fibres and parameters in their meanings.
std::vector<output_spec> list_outputs(const output_settings& s);

using estimator = voxel_model::estimator<posterior_outputs>;

/// After use_device(d). Throws device_error for a GPU without CUDA, std::invalid_argument for settings out of range.
std::unique_ptr<estimator> make_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                          bool gradient_deviation);

// Its backends.
std::unique_ptr<estimator> make_cpu_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                              bool gradient_deviation);
std::unique_ptr<estimator> make_cuda_estimator(const gradient_table& gradients, const settings& s,
                                               bool gradient_deviation);

/// Device memory that one voxel of a batch takes.
std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements, bool gradient_deviation);

}  // namespace voxherd::ballstick
