#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// Receives one volume on the image grid, x fastest, zero outside the mask.
using volume_sink = std::function<void(std::span<const float>)>;

/// Throws failure (bad_data) if the result is incomplete.
void require_complete(const result_reader& result);

/// A complete result, read volume by volume by several threads, which take turns because HDF5 allows only one caller.
class result_volumes {
 public:
  /// `chunk_bytes`: memory that one call of samples() may use, at least one volume of voxels. Throws failure
  /// (missing_input, bad_data), also if the result is incomplete.
  result_volumes(const std::string& path, std::size_t chunk_bytes);

  const result_reader& result() const { return result_; }  ///< do not read from it while threads are running
  const image_grid& grid() const { return result_.grid(); }
  bool has(const std::string& output) const { return result_.has(output); }
  /// Number of values per voxel, or of samples per item.
  std::size_t components(const std::string& output) const;
  /// Number of outputs NAME1, NAME2, ...
  int count(const std::string& name) const;

  /// A map, one component after another.
  std::vector<float> map(const std::string& name) const;
  /// 1 inside the mask, 0 outside.
  std::vector<float> mask() const;
  /// Passes one volume of each output, in the given order, for each stored sample. The outputs must have the same
  /// number of samples.
  void samples(const std::vector<std::string>& outputs, const volume_sink& sink) const;

 private:
  void read_columns(const std::string& output, std::size_t first, std::span<float> columns) const;

  result_reader result_;
  std::size_t chunk_bytes_;
  mutable std::mutex reading_;
};

}  // namespace voxherd
