#pragma once

#include <string>
#include <string_view>

#include "src/io/surfaces/surfaces.hpp"

namespace voxherd {

// Surfaces in text formats, not yet checked. `text`: the complete file. Throw
// failure (bad_data).
surface parse_freesurfer_text(std::string_view text, const std::string& name);
surface parse_vtk_text(std::string_view text, const std::string& name);

}  // namespace voxherd
