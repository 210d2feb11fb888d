#pragma once

#include <cstdint>
#include <vector>

#include "kernels/connect/lattice_builder.hpp"

namespace voxherd::connect {

/// Which cells need a net (face_net.hpp), one number a cell: those that a front cannot get to, or get out of, along
/// the directions that the mask leaves open, though they hang together with others by faces. Empty where there are
/// none.
std::vector<std::uint8_t> cells_that_need_nets(const lattice& l);

}  // namespace voxherd::connect
