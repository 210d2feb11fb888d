#include "kernels/track/tallies/cells.hpp"

#include "src/analyses/track/tract_maps.hpp"

namespace voxherd::track {

/// Matrices write them into files of their own; src/analyses/track/matrix_steps.hpp.
const tally_output cells::output{.is_wanted = [](const track_inputs&) { return false; }};

}  // namespace voxherd::track
