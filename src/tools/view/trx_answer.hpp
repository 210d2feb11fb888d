#pragma once

#include <string>

#include "core/analysis.hpp"
#include "src/io/tracts/tracts.hpp"
#include "src/tools/view/connection.hpp"

namespace voxherd::view {

/// Fibres as a TRX file. Throws failure (disk): temporary files cannot be written.
std::string make_trx(const fibre_source& fibres);
/// Those of a connection, with the cost of each.
std::string make_trx(const fibre_set& fibres, const image_grid& grid);

}  // namespace voxherd::view
