#pragma once

#include "kernels/tensor/bootstrap.hpp"

namespace voxherd {

/// Arguments have been checked.
std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap_cpu(const device& d, const gradient_table& gradients,
                                                            const bootstrap_settings& settings,
                                                            std::span<const std::uint64_t> voxels,
                                                            std::span<const float> rows);
std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap_cuda(const device& d, const gradient_table& gradients,
                                                             const bootstrap_settings& settings,
                                                             std::span<const std::uint64_t> voxels,
                                                             std::span<const float> rows);

}  // namespace voxherd
