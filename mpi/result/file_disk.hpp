#pragma once

#include <string>

namespace voxherd {

/// Reserves all blocks of the file, if the file system supports it, so that the disk or a quota cannot end the run
/// later. Throws failure (disk) with the system's reason.
void reserve_file(const std::string& path);

/// Waits until this machine's changes to the file are on disk. Throws failure (disk).
void sync_file(const std::string& path);

/// Throws failure (disk) if this process cannot open the file for writing.
void check_writable(const std::string& path);

/// Throws failure (disk) if the first part of the file, where HDF5 has its tables, cannot be read. HDF5 may report an
/// object as missing when reading it failed.
void check_readable(const std::string& path);

}  // namespace voxherd
