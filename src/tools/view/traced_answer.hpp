#pragma once

#include <cstdint>
#include <string>

#include "src/tools/view/ray_tracer.hpp"

namespace voxherd::view {

/// A block as that of send_rays() (streamlines.hpp), with "seeds", "accepted", "counts" of fibres by verdict, and
/// "seconds". `voxel`: of the page. Rays without a step are only counted.
std::string send_traced(const traced_rays& rays, std::uint32_t voxel);

}  // namespace voxherd::view
