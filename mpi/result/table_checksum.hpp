#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mpi/result/hdf5_handle.hpp"

namespace voxherd {

/// The first bytes of a result, which HDF5 leaves to others (its "user block"). They contain a checksum of HDF5's
/// tables: of all bytes of the file that are not values of datasets. In damaged tables HDF5 1.10 frees pointers that it
/// never set, or loops for ever, so that the checksum is compared before HDF5 opens the file.
inline constexpr std::uint64_t user_block_bytes = 4096;
/// It begins with this.
inline constexpr std::string_view result_mark = "voxherd result";

/// Throws failure (bad_data) if the tables of a result are not those that were written, or if the file is not a result;
/// disk. Reads only the tables, without HDF5. A process that was killed within change_tables() leaves a file that is
/// accepted, since its tables are neither the old nor the new ones.
void check_tables(const std::string& path);

/// Checksum of the user block, which contains that of the tables; they have the start, the host and the options of the
/// run. Throws as check_tables(), but does not read the tables.
std::uint64_t block_checksum(const std::string& path);

/// Opens the file alone, calls `change`, closes the file and stores the checksum of its new tables. Throws failure
/// (disk).
void change_tables(const std::string& path, const std::function<void(hid_t file)>& change);

/// Stores the checksum of the tables as they are now. Throws failure (disk; bad_data if the file has no user block).
void store_table_checksum(const std::string& path);

}  // namespace voxherd
