#pragma once

#include <string>

#include "src/io/cifti/cifti.hpp"

namespace voxherd {

/// Reads the axes of a CIFTI-2 file from its XML. `name`: of the file in messages. Throws failure (bad_data).
void parse_cifti_xml(const std::string& xml, const std::string& name, cifti_axis& rows, cifti_axis& columns);

}  // namespace voxherd
