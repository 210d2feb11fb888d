#include "kernels/track/tallies/directions.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/portable/symmetric_eigen3.hpp"
#include "src/analyses/track/tract_maps.hpp"

namespace voxherd::track {

namespace {

/// The direction whose product with those of the streamlines is largest; its largest component is positive.
std::array<float, 3> find_main_direction(const std::uint64_t* sums) {
  std::array<float, 3> main{};
  double m[direction_products];
  for (int i = 0; i < direction_products; ++i) m[i] = static_cast<double>(static_cast<std::int64_t>(sums[i]));
  if (m[0] + m[1] + m[2] <= 0) return main;
  const eigen_system3<double> e = symmetric_eigen3<double>(m[0], m[3], m[4], m[1], m[5], m[2]);
  const auto* largest =
      std::max_element(e.vector[0], e.vector[0] + 3, [](double a, double b) { return std::abs(a) < std::abs(b); });
  for (std::size_t d = 0; d < 3; ++d) main[d] = static_cast<float>(*largest < 0 ? -e.vector[0][d] : e.vector[0][d]);
  return main;
}

void add_direction_map(const tract_maps& to) {
  to.add("local_direction", "1", "main direction of the streamlines that visit the voxel", [to] {
    return [&sums = to.sums<"directions">()](std::size_t place) {
      return find_main_direction(&sums[place * direction_products]);
    };
  });
}

}  // namespace

const tally_output directions::output{
    .option = "local-directions",
    .help = "also write the main direction of the streamlines in each voxel",
    .is_for_experts = true,
    .add_maps = add_direction_map,
    .map_bytes = [](const track_inputs&) { return 3 * sizeof(float); },
};

}  // namespace voxherd::track
