#pragma once

#include <cstdint>
#include <string>

namespace voxherd {

std::string readable_bytes(double bytes);  ///< "512 B", "1.5 GB"
std::string clock_time(double seconds);    ///< "12:34" or "1:02:03"

/// "1 voxel", "2 voxels". `unit`: in the singular; its plural ends in s.
std::string counted(std::uint64_t count, const std::string& unit);

}  // namespace voxherd
