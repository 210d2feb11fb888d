#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_convert.hpp"

namespace voxherd {

/// How rows of voxels lie in memory as their files store them, so that int16 takes half of what float does: a section
/// for each run of files of one type and scaling, in it a row a voxel of as many values as the files have volumes.
/// Types wider than float are kept as float.
class stored_rows {
 public:
  stored_rows(const std::vector<nifti_header>& files, std::uint64_t voxels);

  std::uint64_t bytes() const { return bytes_; }
  static double bytes_per_voxel(const std::vector<nifti_header>& files);
  std::uint64_t volumes() const { return volumes_; }

  /// Where volume 0 of a file's voxel 0 lies. Volumes follow each other, rows are row_bytes apart.
  struct place {
    std::size_t offset = 0, row_bytes = 0, value_bytes = 0;
    /// From the file's values to floats where these are kept; null where values are kept as they are.
    nifti_converter widen = nullptr;
  };
  const place& place_of(std::size_t file) const { return places_[file]; }

  /// Rows [first, first + count) as floats, scaled, to out + i * stride.
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
