#pragma once

#include <string>

#include "core/analysis.hpp"
#include "src/tools/view/connection.hpp"

namespace voxherd::view {

/// Fibres as a TRX file, with the cost of each. Throws failure (disk): temporary files cannot be written.
std::string make_trx(const fibre_set& fibres, const image_grid& grid);

}  // namespace voxherd::view
