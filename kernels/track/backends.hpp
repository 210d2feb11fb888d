#pragma once

#include "kernels/track/tracker.hpp"

namespace voxherd::track {

// The backends of make_tracker().
std::unique_ptr<tracker> make_tracker_cpu(const device& d, const track_input& input);
std::unique_ptr<tracker> make_tracker_cuda(const track_input& input);

}  // namespace voxherd::track
