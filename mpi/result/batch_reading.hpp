#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_layout.hpp"

namespace voxherd::hdf5 {

/// Reads a box of an output's dataset, converted to `type`.
void read_block(hid_t file, const output_spec& o, hid_t type, std::span<const std::uint64_t> start,
                std::span<const std::uint64_t> count, void* values);

/// Rows of an output laid out as items or points, converted to `type`.
void read_rows(hid_t file, const output_spec& o, hid_t type, std::uint64_t first, std::uint64_t rows, void* values);

/// The bytes of a batch of one output, as they were written, in the file's type.
std::vector<std::byte> read_batch(hid_t file, const result_layout& layout, const output_spec& o, const batch& items);

/// XXH64 of the batch's bytes, output after output, as they are in the file now.
std::uint64_t batch_checksum(hid_t file, const result_layout& layout, const batch& items);

}  // namespace voxherd::hdf5
