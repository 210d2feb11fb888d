#include "kernels/connect/solver_backends.hpp"

namespace voxherd::connect {

std::unique_ptr<solver> make_solver_cuda(const device&, solver_parts&&) {
  throw device_error("eikonal: built without CUDA");
}

}  // namespace voxherd::connect
