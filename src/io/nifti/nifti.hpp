#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// A NIfTI-1 or -2 header that has passed every check (size, magic, dims, datatype, offset, scaling, affine, file
/// length).
struct nifti_header {
  std::string path;
  int version = 1;
  bool byte_swapped = false;
  bool compressed = false;
  image_grid grid;            ///< voxel_to_world from sform, else qform, else voxel sizes
  std::uint64_t volumes = 1;  ///< dim[4], 1 for a 3-D image
  int datatype = 0;           ///< NIfTI code
  std::size_t bytes_per_value = 0;
  double slope = 1, intercept = 0;  ///< stored value * slope + intercept
  std::uint64_t data_offset = 0;
  /// What an export copies, see nifti_writer.hpp: qform_code, sform_code, quatern [b,c,d], qoffset [x,y,z],
  /// srow [[4],[4],[4]], pixdim [0..3], xyzt_units; as stored, but zero where a field is not finite.
  nlohmann::json geometry;
  std::vector<std::string> warnings;  ///< odd but usable: one line each, without the path
};

/// Throws failure (missing_input, bad_data): one line with file, field, value found, value expected.
nifti_header read_nifti_header(const std::string& path);

/// The largest distance (mm) between the places that two matrices give to a corner of the grid.
double largest_displacement_mm(const std::array<std::uint64_t, 3>& size, const std::array<double, 16>& one,
                               const std::array<double, 16>& other);

/// Values of a NIfTI file as float, scaled, NaN kept.
class nifti_reader {
 public:
  explicit nifti_reader(nifti_header header);
  ~nifti_reader();
  nifti_reader(nifti_reader&&) noexcept;
  const nifti_header& header() const;

  /// Voxels [first, first + count) of one volume, x fastest. Any order for plain files; for .gz files
  /// going forward inflates only what lies between, going back begins again. Throws failure.
  void read(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, float* out);
  /// The same as they are stored: count * bytes_per_value bytes.
  void read_stored(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, std::byte* out);
  /// Goes on to the end of the data; of a .gz file this makes the last member's checksum count. Throws failure.
  void check_end();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A whole 3-D image (or volume 0 of a 4-D one).
std::vector<float> read_volume(const nifti_header& header, std::uint64_t volume = 0);

}  // namespace voxherd
