#pragma once

#include <string>

namespace voxherd {

/// A number of a table, as short as it can be read back. NaN of either sign is `missing`: "n/a" in a .tsv of BIDS.
std::string number_text(double value, const char* missing = "nan");

}  // namespace voxherd
