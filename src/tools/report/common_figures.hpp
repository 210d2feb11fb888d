#pragma once

#include <string>

#include "src/tools/report/draft.hpp"

namespace voxherd::report {

/// The map of status codes, if a voxel has one other than 0.
void add_status_map(result_draft& d);

/// A section with the gradient directions of each shell on the hemisphere, and a warning if they leave a large gap;
/// nothing for a result without gradients.
void add_gradients(result_draft& d);

/// Shells with diffusion weighting.
std::size_t count_weighted_shells(const result_reader& r);

/// "The series had 1 volume at b = 0 and 32 at b = 1000 s/mm2. ", or "".
std::string acquisition_text(const result_reader& r);

/// The papers of the ball & stick model and of tracking through its samples.
void cite_ball_and_stick(draft& d);

}  // namespace voxherd::report
