#include "kernels/tensor_field/field_backends.hpp"

namespace voxherd::geodesic {

namespace {
[[noreturn]] void refuse() {
  throw device_error(
      "tensor field: this program was built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}
}  // namespace

std::unique_ptr<field> make_field_cuda(const device&, const tensor_image&, std::span<const std::uint32_t>,
                                       const prepare::recipe&) {
  refuse();
}

void copy_from_gpu(void*, const void*, std::size_t) { refuse(); }

}  // namespace voxherd::geodesic
