#pragma once

#include "kernels/geodesic/prepare_quartic.hpp"
#include "kernels/tensor_field/field_backends.hpp"

namespace voxherd::geodesic {

std::unique_ptr<field> make_quartic_field_cpu(const device& d, const tensor_image& image,
                                              std::span<const float> quartics, std::span<const std::uint32_t> regions,
                                              const prepare::recipe& r);
std::unique_ptr<field> make_quartic_field_cuda(const tensor_image& image, std::span<const float> quartics,
                                               std::span<const std::uint32_t> regions, const prepare::recipe& r);

}  // namespace voxherd::geodesic
