#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// Takes one volume on the image grid, x fastest, zero outside the mask.
using volume_sink = std::function<void(std::span<const float>)>;

/// Throws failure (bad_data) when batches are missing.
void require_whole(const result_reader& result);

/// A whole result, read volume by volume by several threads: HDF5 bears only one caller, so they take turns.
class result_volumes {
 public:
  /// `chunk_bytes`: what one call of samples() may hold, one volume's worth of voxels at least.
  /// Throws failure (missing_input, bad_data), also where batches are missing.
  result_volumes(const std::string& path, std::size_t chunk_bytes);

  const result_reader& result() const { return result_; }  ///< not to be read from while threads are at work
  const image_grid& grid() const { return result_.grid(); }
  bool has(const std::string& output) const { return result_.has(output); }
  /// Values of one voxel, or samples of one item.
  std::size_t components(const std::string& output) const;
  /// How many of NAME1, NAME2, ... there are.
  int count(const std::string& name) const;

  /// A map, component after component.
  std::vector<float> map(const std::string& name) const;
  /// 1 inside the mask, 0 outside.
  std::vector<float> mask() const;
  /// For each stored sample one volume of each output, in the order given. The outputs have equally many samples.
  void samples(const std::vector<std::string>& outputs, const volume_sink& sink) const;

 private:
  void read_columns(const std::string& output, std::size_t first, std::span<float> columns) const;

  result_reader result_;
  std::size_t chunk_bytes_;
  mutable std::mutex reading_;
};

}  // namespace voxherd
