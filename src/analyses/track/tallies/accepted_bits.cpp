#include "kernels/track/tallies/accepted_bits.hpp"

#include "src/analyses/track/tract_maps.hpp"

namespace voxherd::track {

/// --paths chooses from them the streamlines that it stores.
const tally_output accepted_bits::output{.is_wanted = [](const track_inputs& in) { return in.max_kept > 0; }};

}  // namespace voxherd::track
