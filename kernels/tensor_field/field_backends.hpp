#pragma once

#include "kernels/tensor_field/prepare_recipe.hpp"

namespace voxherd::tensor_field {

std::unique_ptr<field> make_field_cpu(const device& d, const tensor_image& image,
                                      std::span<const std::uint32_t> regions, const prepare::recipe& r);
std::unique_ptr<field> make_field_cuda(const device& d, const tensor_image& image,
                                       std::span<const std::uint32_t> regions, const prepare::recipe& r);

/// `to` is host memory, `from` GPU memory.
void copy_from_gpu(void* to, const void* from, std::size_t bytes);

}  // namespace voxherd::tensor_field
