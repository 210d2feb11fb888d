#include "kernels/track/tallies/lengths.hpp"

#include "src/analyses/track/tract_maps.hpp"

namespace voxherd::track {

namespace {

void add_length_maps(const tract_maps& to) {
  const double step_mm = to.inputs().step_mm;
  if (!to.is_named())
    to.add("length_sum", "mm", "density times mean_length: the density with distance correction", [to, step_mm] {
      return [&length = to.sums<"length">(), step_mm](std::size_t place) {
        return static_cast<double>(length[place]) * step_mm;
      };
    });
  to.add("mean_length", "mm", "mean length of their paths from the seed to the first point in the voxel",
         [to, step_mm] {
           return [&length = to.sums<"length">(), &density = to.sums<"density">(), step_mm](std::size_t place) {
             return static_cast<float>(share(length[place], density[place]) * step_mm);
           };
         });
}

std::size_t length_bytes(const track_inputs& in) { return (in.has_tracts() ? 0 : sizeof(double)) + sizeof(float); }

}  // namespace

const tally_output lengths::output{
    .option = "lengths",
    .help = "also write lengths: their sum and mean per voxel, and between regions",
    .add_maps = add_length_maps,
    .map_bytes = length_bytes,
};

}  // namespace voxherd::track
