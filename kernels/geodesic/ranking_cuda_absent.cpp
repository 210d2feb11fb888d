#include "kernels/geodesic/ranking_backends.hpp"

namespace voxherd::geodesic {

namespace {
[[noreturn]] void refuse() {
  throw device_error(
      "ranking: this program was built without CUDA; use --backend cpu, or rebuild with -DVOXHERD_CUDA=ON");
}
}  // namespace

std::vector<std::uint32_t> ranked_cuda(const candidates&) { refuse(); }

void summarise_cuda(const candidates&, std::span<const std::uint32_t>, std::span<const pair_range>,
                    std::span<pair_summary>) {
  refuse();
}

picks distinct_cuda(std::span<const float>, std::span<const pair_range>, std::uint32_t, double) { refuse(); }

}  // namespace voxherd::geodesic
