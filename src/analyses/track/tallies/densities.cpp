#include "kernels/track/tallies/densities.hpp"

#include "src/analyses/track/tract_maps.hpp"

namespace voxherd::track {

namespace {

void add_density_maps(const tract_maps& to) {
  to.add_counts("density", density_meaning,
                [to] { return [&density = to.sums<"density">()](std::size_t place) { return density[place]; }; });
  if (!to.is_named()) return;
  to.add("normalised", "1", "density divided by its waytotal", [to] {
    return [&density = to.sums<"density">(), accepted = to.accepted()](std::size_t place) {
      return static_cast<float>(share(density[place], accepted));
    };
  });
}

std::size_t density_bytes(const track_inputs& in) { return count_bytes(in) + (in.has_tracts() ? sizeof(float) : 0); }

}  // namespace

const tally_output densities::output{.add_maps = add_density_maps, .map_bytes = density_bytes};

}  // namespace voxherd::track
