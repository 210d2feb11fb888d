#include "kernels/tensor_field/field_backends.hpp"

namespace voxherd::geodesic {

std::unique_ptr<field> make_quartic_field_cuda(const tensor_image&, std::span<const float>,
                                               std::span<const std::uint32_t>, const prepare::recipe&) {
  throw device_error(
      "tensor field: this program was built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

}  // namespace voxherd::geodesic
