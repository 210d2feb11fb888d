#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/device.hpp"
#include "kernels/noddi/outputs.hpp"
#include "kernels/noddi/settings.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/voxel_model/estimator.hpp"

namespace voxherd::noddi {

std::vector<output_spec> list_outputs(const settings& s);

using estimator = voxel_model::estimator<noddi_outputs>;

/// `deviates`: nine numbers of the gradient deviation follow a voxel's signals; only on the CPU. After use_device(d).
/// Throws device_error for a GPU without CUDA.
std::unique_ptr<estimator> make_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                          bool deviates = false);

// Its backends.
std::unique_ptr<estimator> make_cpu_estimator(const device& d, const gradient_table& gradients, const settings& s,
                                              bool deviates);
std::unique_ptr<estimator> make_cuda_estimator(const gradient_table& gradients, const settings& s);

/// Device memory that one voxel of a batch takes.
std::size_t device_bytes_per_voxel(const settings& s, std::size_t measurements);

}  // namespace voxherd::noddi
