#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

/// The grid of an image as FSL stores it in memory: with the first axis backwards if the determinant of the
/// voxel-to-world matrix is positive, and as in the file if the header has no such matrix (qform_code and sform_code
/// are 0). FSL's bvec frame is its axes.
struct fsl_grid : image_grid {
  fsl_grid() = default;
  /// `geometry`: that of the image's header; null if it is not known.
  fsl_grid(const image_grid& in_file, const nlohmann::json& geometry);
  explicit fsl_grid(const nifti_header& header) : fsl_grid(header.grid, header.geometry) {}
  /// Of the image that a result was computed from.
  explicit fsl_grid(const result_reader& result);

  bool is_turned() const { return turned_; }
  const image_grid& in_file() const { return file_; }

  /// The linear index in the file of a voxel of this grid, and likewise back.
  std::uint64_t turned(std::uint64_t voxel) const;
  std::vector<std::uint64_t> turned(std::vector<std::uint64_t> voxels) const;

  static constexpr auto members() {
    using T = fsl_grid;
    return std::tuple(&T::size, &T::voxel_to_world, &T::voxel_size_mm, &T::file_, &T::turned_);
  }

 private:
  image_grid file_;
  bool turned_ = false;
};

/// Reverses the rows of an image if the grid is turned: from the order of the file to that of the grid, or back.
void turn_rows(const fsl_grid& grid, std::vector<std::int32_t>& values);

/// The labels of a file, resampled to the grid of an image's file, in FSL's order. Throws failure.
label_image read_labels(const std::string& path, const fsl_grid& grid, label_kind kind,
                        const std::string& reference = "", mask_rules rules = mask_rules::own);

}  // namespace voxherd
