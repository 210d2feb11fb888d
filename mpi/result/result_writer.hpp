#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

class checksum;

/// The live result file that all ranks write. Created and closed by all ranks together; in between each rank writes
/// batches on its own. No call in between touches HDF5's tables, so a killed run leaves a file whose finished
/// batches can be read.
class result_writer {
 public:
  /// Creates `path` with every dataset at its full size. Collective; `layout` is the same on every rank.
  static result_writer create(const session& s, const std::string& path, const result_layout& layout);
  /// Opens what a stopped run left. Collective.
  static result_writer reopen(const session& s, const std::string& path, const result_layout& layout);

  /// Writes the batch's data, then its journal entry. `outputs[i]` holds item_count items, or the batch's
  /// points, of layout.outputs[i].
  /// Throws failure (disk).
  void write(const batch& items, std::span<const std::span<const std::byte>> outputs, std::uint64_t rank,
             std::uint64_t microseconds);

  /// Marks the file as whole, with the run's summary (JSON), and closes it. Collective.
  void finish(const std::string& summary);
  /// Closes the file as it is. Collective.
  void close();

 private:
  result_writer(const session& s, const std::string& path, const result_layout& layout)
      : session_(&s), layout_(&layout), path_(path) {}
  void create_datasets();
  void create_constants();
  void write_known_data();
  void open_datasets();
  void write_map(const batch& items, std::size_t output, std::span<const std::byte> values, checksum& sum);
  void write_rows(const batch& items, std::size_t output, std::span<const std::byte> values, checksum& sum);

  const session* session_;
  const result_layout* layout_;
  std::string path_;
  hdf5::handle file_, journal_type_, journal_, summary_, first_item_, voxel_, offset_;
  std::vector<hdf5::handle> outputs_, constants_;
  std::vector<std::byte> map_part_;
};

}  // namespace voxherd
