#pragma once

#include <functional>
#include <string>

#include "src/export/export_kind.hpp"
#include "src/io/tracts/fibre_source.hpp"

namespace voxherd {

/// Writes the fibres of a result into one file, on rank 0. `ending`: of the file's name, by which readers know the
/// format. Collective. Throws failure: what result_fibres and the writer throw; usage for a wrong name, a folder, or a
/// file that is there and is not to be overwritten.
void export_fibres(const session& s, const export_settings& settings, const std::string& ending,
                   const std::function<void(const fibre_source&, const std::string& path)>& write);

}  // namespace voxherd
