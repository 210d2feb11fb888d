#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_convert.hpp"

namespace voxherd {

/// Layout of voxel rows in memory as stored in the files, so that int16 needs half as much memory as float. Consecutive
/// files of the same type and scaling form a section with one row per voxel and one value per volume. Types wider than
/// float are stored as float.
class stored_rows {
 public:
  stored_rows(const std::vector<nifti_header>& files, std::uint64_t voxels);

  std::uint64_t bytes() const { return bytes_; }
  static double bytes_per_voxel(const std::vector<nifti_header>& files);
  std::uint64_t volumes() const { return volumes_; }

  /// Position of volume 0 of voxel 0 of a file. Volumes are consecutive; rows are row_bytes apart.
  struct place {
    std::size_t offset = 0, row_bytes = 0, value_bytes = 0;
    /// Converts the file's values to float if they are stored as float; null if they are stored unchanged.
    nifti_converter widen = nullptr;
  };
  const place& file_place(std::size_t file) const { return places_[file]; }

  /// Writes rows [first, first + count) as scaled floats to out + i * stride.
  void load(const std::byte* memory, std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) const;

 private:
  struct section {
    std::size_t offset = 0, value_bytes = 0;
    std::uint64_t volumes = 0;
    nifti_converter convert = nullptr;
    double slope = 1, intercept = 0;
  };
  std::uint64_t bytes_ = 0, volumes_ = 0;
  std::vector<section> sections_;
  std::vector<place> places_;
};

}  // namespace voxherd
