#include "kernels/eikonal/solver_backends.hpp"

namespace voxherd::eikonal {

std::unique_ptr<solver> make_solver_cuda(const device&, solver_parts&&) {
  throw device_error("eikonal: built without CUDA");
}

}  // namespace voxherd::eikonal
