#include "kernels/connect/solver_backends.hpp"

namespace voxherd::connect {

std::unique_ptr<solver> make_solver_cuda(const device&, solver_parts&&) {
  throw device_error(
      "connect: this program was built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

}  // namespace voxherd::connect
