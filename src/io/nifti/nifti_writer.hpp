#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

struct nifti_image {
  image_grid grid;
  std::uint64_t volumes = 1;
  /// nifti_header::geometry of the reference image, copied exactly (a NIfTI-2 reference's doubles become floats where
  /// NIfTI-1 is written); null: made from the grid's matrix.
  nlohmann::json geometry;
  float display_min = 0, display_max = 0;  ///< cal_min, cal_max
  std::string description;                 ///< at most 79 characters
  std::uint64_t series = 1;                ///< dim[5]: so many times `volumes`, one series after the other
  /// Above 0: the values are int16, to be multiplied by this. Only for those who write the values themselves.
  float int16_step = 0;
};

/// The bytes before the first value, for whoever writes the values himself: header and "no extension".
std::vector<std::byte> nifti_header_bytes(const nifti_image& image);

/// A file written piece by piece, for images larger than memory.
class nifti_writer {
 public:
  nifti_writer(const std::string& path, const nifti_image& image);
  ~nifti_writer();
  nifti_writer(nifti_writer&&) noexcept;

  /// The next values: volume after volume, series after series, x fastest. Throws failure (disk).
  void append(std::span<const float> values);
  /// Renames the file to its name, once all values are there. Without it the file is dropped.
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Writes a float32 NIfTI-1 file (NIfTI-2 when a dimension exceeds 32767), compressed when the name ends in .gz,
/// under a temporary name that is renamed at the end. `values`: volume after volume, x fastest. Throws failure (disk).
void write_nifti(const std::string& path, const nifti_image& image, std::span<const float> values);

}  // namespace voxherd
