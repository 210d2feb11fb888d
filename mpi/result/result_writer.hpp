#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// A result file that is being written. Created and closed by all ranks together; in between each rank writes batches
/// on its own. No call in between changes HDF5's tables, so a killed run leaves a file whose finished batches can be
/// read.
class result_writer {
 public:
  /// Creates `path` with every dataset at its full size. Collective; `layout` is the same on every rank.
  static result_writer create(const session& s, const std::string& path, const result_layout& layout);
  /// Opens what a stopped run left. Collective.
  static result_writer reopen(const session& s, const std::string& path, const result_layout& layout);

  ~result_writer();
  result_writer(result_writer&& other) noexcept;

  /// Writes the batch's data, then its journal entry. `outputs[i]` holds item_count items, or the batch's
  /// points, of layout.outputs[i].
  /// Throws failure (disk).
  void write(const batch& items, std::span<const std::span<const std::byte>> outputs, std::uint64_t rank,
             std::uint64_t microseconds);

  /// The same from arrays of all items: `values[i]` holds all rows of layout.outputs[i].
  void write_known(std::uint64_t batch_number, std::span<const std::span<const std::byte>> values);

  /// The file now has another name, which messages and finish() use.
  void renamed_to(const std::string& path);

  /// Marks the file as complete, with the run's summary (JSON), and closes it. Collective.
  void finish(const std::string& summary);
  /// Closes the file as it is. Collective.
  void close();

 private:
  struct state;
  explicit result_writer(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// How the values of volumes are stored. Compressed ones change HDF5's tables when they are written (known_file).
enum class result_storage { plain, compressed };

/// Creates a result file with every dataset at its full size, all its blocks reserved, and on disk. By one process:
/// HDF5's tables are written here and in mark_complete() only, since a write error within a collective call of HDF5
/// leaves the other ranks waiting. Throws failure (disk).
void create_result_file(const std::string& path, const result_layout& layout,
                        result_storage storage = result_storage::plain);

/// Slices in a chunk of a compressed volume, which is decompressed at once.
std::uint64_t chunk_slices(const output_spec& output, const image_grid& grid);

/// Writes the run's summary (JSON) and marks the file as complete, on disk. By one process, when no other has it open.
/// Throws failure (disk).
void mark_complete(const std::string& path, const std::string& summary);

/// Before the batches of a resumed file are written: it may be complete, but for its name.
void mark_incomplete(const std::string& path);

}  // namespace voxherd
