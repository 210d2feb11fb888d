#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_layout.hpp"

namespace voxherd {

/// Datasets that change until the file is complete.
inline constexpr const char* journal_path = "/journal/batches";
inline constexpr const char* summary_path = "/journal/summary";

/// Attribute of the datasets that are not written in batches: XXH64 of their bytes.
inline constexpr const char* checksum_name = "checksum";
/// Attribute of /: XXH64 of its texts.
inline constexpr const char* text_checksum_name = "text_checksum";

void write_checksum(hid_t dataset, std::span<const std::byte> bytes);

/// XXH64 of the dataset's bytes as they are in the file now.
std::uint64_t read_and_checksum(hid_t dataset, const std::string& name);

/// Changes the attribute to what the file contains now.
void update_checksum(hid_t dataset, const std::string& name);

/// XXH64 of the texts among the attributes of /.
std::uint64_t text_checksum(hid_t file);

}  // namespace voxherd

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
