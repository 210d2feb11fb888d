#pragma once

#include <memory>
#include <span>

#include "kernels/geodesic/tracker.hpp"

namespace voxherd::geodesic {

std::unique_ptr<tracker> make_tracker_cpu(const field& f, std::span<const seed> seeds, const ray_settings& settings);
std::unique_ptr<tracker> make_tracker_cuda(const field& f, std::span<const seed> seeds, const ray_settings& settings);

}  // namespace voxherd::geodesic
