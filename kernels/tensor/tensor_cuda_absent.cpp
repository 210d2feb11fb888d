#include "kernels/tensor/tensor_design.hpp"

namespace voxherd {

std::unique_ptr<tensor_solver> make_tensor_solver_cuda(const device&, const gradient_table&, const tensor_settings&) {
  throw device_error("voxherd tensor: built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

}  // namespace voxherd
