#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/result/journal.hpp"

namespace voxherd {

/// What an index may be besides a number from 0 on.
enum class index_gaps {
  none,
  negative_is_none  ///< a negative number, or no_voxel, is no_voxel
};

/// A result file, read by one process. Throws failure: missing_input, bad_data (not ours, truncated, damaged or
/// malicious), disk.
///
/// A result is an input that may come from anywhere. What can be read is that of the file itself, its names are plain
/// (check_names()), shapes and types are those that its `contents` says, items and offsets are in order, and what is
/// read here (constants, voxels, offsets, the journal of a complete file) has the checksum with which it was written.
/// Values that become indices are read with functions that take their limit; batches are compared with check_batches().
///
/// The file: attributes `voxherd_version`, `analysis`, `complete`, `configuration`, `provenance` and `contents` (JSON)
/// on /; /maps/NAME, /samples/NAME, /points/NAME, /points/offset, /items/voxel, /GROUP/NAME (constants),
/// /journal/first_item, /journal/batches, /journal/summary, each with attributes `unit` and `meaning`; /image with
/// attributes `size`, `voxel_to_world`, `voxel_size_mm`; /VTKHDF (poly-lines, or an image when every axis has more than
/// one voxel) that hard-links what VTK can show. Before all of it, a user block (table_checksum.hpp).
class result_reader {
 public:
  enum class checksums { compared, ignored };
  /// `known`: the checksums of what this reads, which `voxherd verify` compares itself.
  explicit result_reader(const std::string& path, checksums known = checksums::compared);
  ~result_reader();
  result_reader(result_reader&&) noexcept;

  const std::string& path() const;
  const std::string& version() const;  ///< version of the voxherd that wrote it
  const std::string& analysis_name() const;
  bool complete() const;
  const nlohmann::json& configuration() const;
  const nlohmann::json& provenance() const;
  const nlohmann::json& summary() const;  ///< times and memory of the run; null until complete
  const image_grid& grid() const;
  /// no_voxel where an item has none, which is possible only in a result without volumes.
  const std::vector<std::uint64_t>& item_voxels() const;
  /// The same, all of which are in the image. Throws failure (bad_data) if some item has none.
  const std::vector<std::uint64_t>& image_voxels() const;
  /// Item i has points [offsets[i], offsets[i + 1]); empty for a result without points. rows.hpp cuts them into
  /// pieces.
  const std::vector<std::uint64_t>& point_offsets() const;
  std::uint64_t point_count() const;  ///< number of points of all items
  const std::vector<output_spec>& outputs() const;
  const std::vector<constant>& constants() const;
  /// Null if there is none. Its size is that of its shape, of which nothing is known.
  const constant* find_constant(const std::string& group, const std::string& name) const;
  /// The values of a constant. Throws failure (bad_data) if there are not so many.
  const std::vector<double>& constant_values(const std::string& group, const std::string& name,
                                             std::uint64_t count) const;
  /// The same as numbers of something of which there are `below`. Throws failure (bad_data) for any other value.
  std::vector<std::uint64_t> constant_indices(const std::string& group, const std::string& name, std::uint64_t count,
                                              std::uint64_t below, index_gaps gaps = index_gaps::none) const;
  /// Labels of regions, 0 to 2^31 - 1; nothing if there are none.
  std::vector<std::int32_t> constant_labels(const std::string& group, const std::string& name) const;
  const std::vector<batch>& batches() const;
  const std::vector<journal_entry>& journal() const;

  bool has(const std::string& output) const;
  const output_spec& output(const std::string& name) const;  ///< throws failure with the existing names

  /// Throws failure (bad_data) if the output is missing, laid out in another way, or has another number of values per
  /// voxel or row than `components`; 0: any.
  void require_output(const std::string& name, output_layout layout, std::uint64_t components) const;

  /// In the following functions `components` is the number of values per voxel or row that the caller relies on; 0:
  /// any. They throw failure (bad_data) if the output is another one.

  /// A complete volume as float: (nz, ny, nx, components), component fastest.
  std::vector<float> read_map(const std::string& name, std::uint64_t components = 0) const;
  /// `count` slices of it from `first` on along the slowest axis: (count, ny, nx, components).
  std::vector<float> read_slices(const std::string& name, std::uint64_t first, std::uint64_t count,
                                 std::uint64_t components = 0) const;
  /// Rows of an output laid out as items, of any type, as float: exact to 2^24 for integers.
  std::vector<float> read_items(const std::string& name, std::uint64_t first_item, std::uint64_t count,
                                std::uint64_t components = 0) const;
  /// Rows of an output laid out as points, of any type, as float.
  std::vector<float> read_points(const std::string& name, std::uint64_t first_point, std::uint64_t count,
                                 std::uint64_t components = 0) const;
  /// Rows of an output of one uint32 as numbers of something of which there are `below`. Throws failure (bad_data) for
  /// any other value.
  std::vector<std::uint32_t> read_indices(const std::string& name, std::uint64_t first_row, std::uint64_t count,
                                          std::uint64_t below) const;
  /// Rows of an output laid out as items or points, not converted. Throws failure (bad_data) if T is not the output's
  /// type.
  template <class T>
  std::vector<T> read_rows(const std::string& name, std::uint64_t first_row, std::uint64_t count) const;
  /// The same as bytes in the file's type.
  std::vector<std::byte> read_row_bytes(const std::string& name, std::uint64_t first_row, std::uint64_t count) const;
  /// The byte of the file at which the rows of an output laid out as items or points begin, if they are there one after
  /// another in the output's type: then several threads can read them at once, without HDF5. None otherwise, for
  /// example after h5repack.
  std::optional<std::uint64_t> rows_offset(const std::string& name) const;
  /// The bytes of a batch of one output, as they were written, in the file's type.
  std::vector<std::byte> read_batch(const std::string& name, const batch& items) const;
  /// XXH64 of the batch's bytes as they are in the file now; the journal says what they were when written.
  std::uint64_t compute_checksum(const batch& items) const;
  /// Compares each finished batch with its checksum in the journal, once, for a result from which values are used.
  /// Reads all values, with a few threads if the file is not compressed. Throws failure (bad_data).
  void check_batches() const;

 private:
  std::size_t checked_rows(const std::string& name, output_layout layout, std::uint64_t first, std::uint64_t count,
                           std::uint64_t components) const;
  std::vector<float> read_floats(const std::string& name, output_layout layout, std::uint64_t first,
                                 std::uint64_t count, std::uint64_t components) const;
  std::size_t find_output(const std::string& name) const;
  void read_rows_into(const std::string& name, element_type type, std::uint64_t first, std::uint64_t count,
                      void* values) const;

  struct state;
  std::unique_ptr<state> state_;
};

template <class T>
std::vector<T> result_reader::read_rows(const std::string& name, std::uint64_t first_row, std::uint64_t count) const {
  const output_spec& o = output(name);
  std::vector<T> values(count * (o.bytes_per_item() / element_bytes(o.type)));
  read_rows_into(name, element_type_of<T>(), first_row, count, values.data());
  return values;
}

std::string hdf5_library();  ///< version, as "1.10.8"

/// HDF5's own file locks fail on many network file systems. Sets an environment variable, unless the user has: call it
/// in main, before there are threads.
void use_hdf5_without_file_locks();

/// One row per item of a batch, as computed: for a map, the values at the batch's voxels.
std::vector<std::byte> read_item_rows(const result_reader& reader, const output_spec& output, const batch& items);

}  // namespace voxherd
