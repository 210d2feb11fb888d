#pragma once

#include <map>
#include <string>
#include <vector>

#include "mpi/result/hdf5_handle.hpp"

namespace voxherd {

/// More than any result has; a damaged group may contain itself.
inline constexpr int max_group_depth = 8;

struct walked_tables {
  std::string error;  ///< the first one of HDF5, "" if there was none
  /// Attributes of / of variable length, as older versions wrote them (text_names).
  std::map<std::string, std::string> older_texts;
};

/// Opens every group, dataset and attribute of an HDF5 file, and reads the attributes but no data, in another process:
/// in damaged tables HDF5 1.10 frees pointers that it never set, or loops for ever. Throws failure: bad_data if HDF5
/// cannot open the file, crashes or does not end; disk.
walked_tables walk_tables_elsewhere(const std::string& path);

/// Sorted. Throws failure (disk, bad_data).
std::vector<std::string> link_names(hid_t group, const std::string& path);

}  // namespace voxherd
