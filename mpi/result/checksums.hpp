#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/result/file_names.hpp"
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

/// The datasets of a layout's outputs, in its order, for reading or writing. Throws failure (bad_data): see
/// open_dataset(), or another shape or type than the layout's.
std::vector<handle> open_outputs(hid_t file, const result_layout& layout);

/// Rows of an output laid out as items or points, converted to `type`.
void read_rows(hid_t dataset, const output_spec& o, hid_t type, std::uint64_t first, std::uint64_t rows, void* values);

/// The bytes of a batch of one output, as they were written, in the file's type.
std::vector<std::byte> read_batch(hid_t dataset, const result_layout& layout, const output_spec& o, const batch& items);

/// Computes checksums of batches as they are in a file now.
class batch_checker {
 public:
  /// `outputs`: see open_outputs(); both are used until the end.
  batch_checker(const std::string& path, hid_t file, std::span<const handle> outputs, const result_layout& layout);

  /// Whether the values are in the file as they were written, not compressed: then several threads may compute at once.
  bool is_plain() const { return !offsets_.empty(); }
  /// XXH64 of the batch's bytes, output after output.
  std::uint64_t compute(const batch& items) const;

 private:
  std::span<const handle> outputs_;
  const result_layout& layout_;
  std::vector<std::uint64_t> offsets_;  ///< where the outputs begin in the file; empty if only HDF5 can read them
  std::unique_ptr<disk_file> file_;     ///< null if only HDF5 can read it
};

}  // namespace voxherd::hdf5
