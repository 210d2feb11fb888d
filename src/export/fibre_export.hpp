#pragma once

#include <functional>
#include <string>

#include "src/export/export_kind.hpp"
#include "src/io/tracts/fibre_source.hpp"

namespace voxherd {

/// Writes the fibres of a result to one file, on rank 0. `ending`: the required extension, by which readers recognise
/// the format. Collective. Throws failure: errors of result_fibres and of the writer; usage for a wrong extension, a
/// folder, or an existing file that must not be overwritten.
void export_fibres(const session& s, const export_settings& settings, const std::string& ending,
                   const std::function<void(const fibre_source&, const std::string& path)>& write);

}  // namespace voxherd
