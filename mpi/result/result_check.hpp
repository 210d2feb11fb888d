#pragma once

#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// How a file differs from what was written.
struct result_damage {
  std::string tables;   ///< a line for each dataset or text that no batch writes
  std::string batches;  ///< a line for each batch
  bool found() const { return !tables.empty() || !batches.empty(); }
};

enum class checked_part { tables, everything };

/// Reads the file again and compares it with its checksums; each rank reads its share. The same on every rank.
/// Collective. Throws failure if the file is not readable.
result_damage check_result(const session& s, const std::string& path, const result_layout& layout, checked_part part);

/// The part of check_result() that one of several ranks does.
result_damage check_share(const std::string& path, const result_layout& layout, checked_part part, int rank, int ranks);

/// For a file that another program has rewritten: stores a checksum of HDF5's tables as they are now, without which the
/// file cannot be read. Throws failure: missing_input, disk, bad_data.
void accept_tables(const std::string& path);

/// What check_result() needs to know of a file.
result_layout layout_of(const result_reader& reader);

}  // namespace voxherd
