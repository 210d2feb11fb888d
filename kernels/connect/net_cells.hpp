#pragma once

#include <cstdint>
#include <vector>

#include "kernels/connect/lattice_builder.hpp"

namespace voxherd::connect {

/// One flag per cell: whether it needs a net (face_net.hpp) because a front cannot enter or leave it along the
/// directions that the mask leaves open, although it is connected to others by faces. Empty if no cell needs one.
std::vector<std::uint8_t> cells_that_need_nets(const lattice& l);

}  // namespace voxherd::connect
