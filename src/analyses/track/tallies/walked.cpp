#include "kernels/track/tallies/walked.hpp"

#include "src/analyses/track/tract_maps.hpp"

namespace voxherd::track {

const tally_output walked::output{
    .add_constants = [](const track_sums& sums, const track_inputs&, std::vector<constant>& all) {
      all.push_back(streamline_number("steps", sums.values<"walked">().front(), "steps of all streamlines"));
    }};

}  // namespace voxherd::track
