#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "src/io/nifti/nifti_intent.hpp"
#include "src/io/nifti/storage_order.hpp"

namespace voxherd {

/// A NIfTI-1 or -2 header that has passed every check (size, magic, dims, datatype, offset, scaling, affine, file
/// length).
struct nifti_header {
  std::string path;
  int version = 1;
  bool byte_swapped = false;
  bool compressed = false;
  image_grid grid;            ///< voxel_to_world from sform, else qform, else voxel sizes; in `order`
  storage_order order;        ///< in which values are read; as stored unless the header was reordered (companion.hpp)
  std::uint64_t volumes = 1;  ///< dim[4], 1 for a 3-D image; with a fifth dimension all of its volumes
  std::uint64_t series = 1;   ///< dim[5]
  nifti_intent intent;
  int datatype = 0;  ///< NIfTI code
  std::size_t bytes_per_value = 0;
  double slope = 1, intercept = 0;  ///< stored value * slope + intercept
  std::uint64_t data_offset = 0;
  std::uint64_t data_end() const { return data_offset + grid.voxel_count() * volumes * bytes_per_value; }
  /// Fields that an export copies (see nifti_writer.hpp): qform_code, sform_code, quatern [b,c,d], qoffset [x,y,z],
  /// srow [[4],[4],[4]], pixdim [0..3], xyzt_units. As stored, but zero where a field is not finite.
  nlohmann::json geometry;
  std::vector<std::string> warnings;  ///< unusual but usable properties, one line each, without the path
};

/// The path of an image that may be named without its extension, as FSL's programs do; "" if there is none.
std::string find_image(const std::string& name);

/// Reads and checks a header. Throws failure (missing_input, bad_data) that names the file, the field, the value found
/// and the value expected. `dimensions`: the most that the image may have, 4 or 5.
nifti_header read_nifti_header(const std::string& path, std::size_t dimensions = 4);

/// What follows the image in a compressed file.
struct bytes_after_image {
  std::uint64_t inflated = 0;  ///< bytes of the inflated stream
  std::uint64_t stored = 0;    ///< bytes of the file that are not gzip
};
/// Logs a warning unless both are 0.
void log_bytes_after(const nifti_header& header, const bytes_after_image& bytes);

/// Reads values as float, scaled by slope and intercept. NaN stays NaN.
class nifti_reader {
 public:
  explicit nifti_reader(nifti_header header);
  ~nifti_reader();
  nifti_reader(nifti_reader&&) noexcept;
  const nifti_header& header() const;

  /// Reads voxels [first_voxel, first_voxel + count) of one volume, x fastest. Plain files allow any order. In .gz
  /// files, going forward inflates what lies between; going back starts again. Of a reordered header, the volume is
  /// read completely and kept until another one is read. Throws failure.
  void read(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, float* out);
  /// The same in double, which represents every integer that labels may have.
  void read(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, double* out);
  /// The same without conversion, as stored: count * bytes_per_value bytes.
  void read_stored(std::uint64_t volume, std::uint64_t first_voxel, std::uint64_t count, std::byte* out);
  /// Reads on to the end of a .gz file, beyond the image, which verifies all checksums. read() and read_stored() do so
  /// when they reach the image's last byte. Throws failure.
  bytes_after_image check_end();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Reads a complete 3-D image, or one volume of a 4-D image. Verifies the checksums of a .gz file, and logs if bytes
/// follow the image.
std::vector<float> read_volume(const nifti_header& header, std::uint64_t volume = 0);

}  // namespace voxherd
