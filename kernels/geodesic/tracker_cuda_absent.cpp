#include "kernels/geodesic/backends.hpp"

namespace voxherd::geodesic {

std::unique_ptr<tracker> make_tracker_cuda(const field&, std::span<const seed>, const ray_settings&) {
  throw device_error(
      "geodesic: this program was built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}

}  // namespace voxherd::geodesic
