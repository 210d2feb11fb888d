#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// The form of an image in one file.
struct image_type {
  bool is_compressed = true, is_nifti2 = false;
  const char* ending() const { return is_compressed ? ".nii.gz" : ".nii"; }
};

struct nifti_image {
  image_grid grid;
  std::uint64_t volumes = 1;
  /// nifti_header::geometry of the reference image, copied exactly (doubles of a NIfTI-2 reference become floats in
  /// NIfTI-1). Null: derived from the grid's matrix.
  nlohmann::json geometry;
  float display_min = 0, display_max = 0;  ///< cal_min, cal_max
  std::string description;                 ///< at most 79 characters
  std::uint64_t series = 1;                ///< dim[5]: number of series, each of `volumes` volumes
  /// If above 0, the values are int16 and scl_slope is this step. Only used with nifti_header_bytes().
  float int16_step = 0;
  bool has_int32 = false;  ///< the values are int32: labels and numbers
  bool is_nifti2 = false;  ///< NIfTI-2, also if NIfTI-1 can hold the image
};

/// The bytes before the first value (header and empty extension flag), for callers that write the values themselves.
std::vector<std::byte> nifti_header_bytes(const nifti_image& image);

/// Writes a file piece by piece, for images larger than memory.
class nifti_writer {
 public:
  nifti_writer(const std::string& path, const nifti_image& image);
  ~nifti_writer();
  nifti_writer(nifti_writer&&) noexcept;

  /// Appends the next values: volume by volume, series by series, x fastest. Throws failure (disk).
  void append(std::span<const float> values);
  void append(std::span<const std::int32_t> values);
  /// Renames the file to its final name; all values must have been appended. Without finish() the file is removed.
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Writes a complete image as float32 NIfTI-1 (NIfTI-2 if a dimension exceeds 32767), compressed if the name ends in
/// .gz, under a temporary name until complete. `values`: volume by volume, x fastest. Throws failure (disk).
void write_nifti(const std::string& path, const nifti_image& image, std::span<const float> values);
/// The same as int32.
void write_nifti(const std::string& path, const nifti_image& image, std::span<const std::int32_t> values);

}  // namespace voxherd
