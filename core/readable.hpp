#pragma once

#include <string>

namespace voxherd {

std::string readable_bytes(double bytes);  ///< "512 B", "1.5 GB"
std::string clock_time(double seconds);    ///< "12:34" or "1:02:03"

}  // namespace voxherd
