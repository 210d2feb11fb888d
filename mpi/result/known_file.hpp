#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/checksum.hpp"
#include "mpi/result/result_layout.hpp"

namespace voxherd {

/// Writes a result whose values one process knows, compressed: a map of counts is mostly zero. HDF5's tables change
/// with each written part, so that the file cannot be read until it is closed, and needs a temporary name until then.
/// By one process, without MPI-IO, so that its bytes do not depend on the number of ranks. Throws failure (disk).
class known_file {
 public:
  /// All rows of an output, one per item. Called once, when the output is written, so that only one is in memory.
  using rows_of_output = std::function<std::vector<std::byte>()>;

  /// `outputs`: of each output of the layout, all of which are volumes. The layout outlives this.
  known_file(const std::string& path, const result_layout& layout, std::vector<rows_of_output> outputs);
  ~known_file();

  /// Writes the next part, at most some slices of an output. Returns false if all is written.
  bool write_part();
  /// After the last part: writes the journal and closes the file, which is then complete but for mark_complete().
  void close();

 private:
  void write_slices(std::uint64_t first_slice, std::uint64_t slices);
  void add_to_checksums(std::uint64_t first_voxel, std::span<const std::byte> values, std::size_t voxel_bytes);

  const result_layout& layout_;
  std::string path_;
  std::vector<rows_of_output> outputs_;
  struct handles;  ///< HDF5's
  std::unique_ptr<handles> handles_;
  std::vector<checksum> sums_;  ///< of each batch, output after output, as result_writer has them
  std::size_t output_ = 0;
  std::uint64_t slice_ = 0, item_ = 0, batch_ = 0;  ///< the next ones of this output
  std::vector<std::byte> rows_, part_;
};

}  // namespace voxherd
