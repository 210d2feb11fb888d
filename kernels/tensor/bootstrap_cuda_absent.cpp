#include "kernels/tensor/bootstrap_backends.hpp"

namespace voxherd {

std::unique_ptr<tensor_bootstrap> make_tensor_bootstrap_cuda(const device&, const gradient_table&,
                                                             const bootstrap_settings&, std::span<const std::uint64_t>,
                                                             std::span<const float>) {
  throw device_error("bootstrap: built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

}  // namespace voxherd
