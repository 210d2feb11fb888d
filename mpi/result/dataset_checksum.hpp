#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mpi/result/hdf5_handle.hpp"

namespace voxherd {

/// Datasets that change until the file is complete.
inline constexpr const char* journal_path = "/journal/batches";
inline constexpr const char* summary_path = "/journal/summary";

/// Attribute of the datasets that are not written in batches: XXH64 of their bytes.
inline constexpr const char* checksum_name = "checksum";
/// The texts among the attributes of /.
inline constexpr const char* text_names[] = {"voxherd_version", "analysis", "configuration", "provenance", "contents"};
/// Attribute of /: XXH64 of its texts.
inline constexpr const char* text_checksum_name = "text_checksum";

void write_checksum(hid_t dataset, std::span<const std::byte> bytes);

/// XXH64 of the dataset's bytes as they are in the file now.
std::uint64_t read_and_checksum(hid_t dataset, const std::string& name);

/// Changes the attribute to what the file contains now.
void update_checksum(hid_t dataset, const std::string& name);

/// XXH64 of the texts of /, in the order of text_names.
std::uint64_t text_checksum(hid_t file);

}  // namespace voxherd
