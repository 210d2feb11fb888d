#pragma once

#include <memory>

#include "core/device.hpp"
#include "mpi/comm/session.hpp"
#include "src/show/panels.hpp"

namespace voxherd {

/// All must outlive the panel. `use_device(d)` has been called.
std::unique_ptr<view::ray_panel> make_ray_panel(const session& s, const result_reader& r, const device& d);

}  // namespace voxherd
