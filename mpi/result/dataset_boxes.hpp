#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "mpi/result/hdf5_handle.hpp"

namespace voxherd::hdf5 {

/// Writes a box of a dataset from contiguous memory; nothing for an empty box. Several threads compress (slice_chunks).
/// Independent. Throws failure (disk).
void write_block(hid_t dataset, hid_t type, std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                 const void* values, const std::string& what);

/// Reads a box of a dataset into contiguous memory, converted to `type`; nothing for an empty box. Several
/// threads decompress. Throws failure (disk).
void read_block(hid_t dataset, hid_t type, std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                void* values, const std::string& what);

}  // namespace voxherd::hdf5
