#include "kernels/geodesic/finsler_design.hpp"

namespace voxherd::geodesic {

std::unique_ptr<quartic_solver> make_quartic_solver_cuda(const quartic_design_table&, const quartic_settings&) {
  throw device_error(
      "fourth-order norms: this program was built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

}  // namespace voxherd::geodesic
