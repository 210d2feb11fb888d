#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// An array with one row per fibre or per point.
struct fibre_array {
  std::string name;
  element_type type = element_type::float32;
  std::uint64_t width = 1;  ///< numbers per row

  std::uint64_t row_bytes() const { return width * element_bytes(type); }
};

/// Fibres as needed by the writers: the offsets are known at the start, the data are read piece by piece in any order.
class fibre_source {
 public:
  virtual ~fibre_source() = default;

  /// The image grid that the fibres refer to.
  virtual const image_grid& grid() const = 0;
  /// Fibre f consists of points [offsets[f], offsets[f + 1]); one more entry than fibres, starting with 0.
  virtual std::span<const std::uint64_t> offsets() const = 0;
  virtual const std::vector<fibre_array>& fibre_arrays() const = 0;
  /// Without the positions.
  virtual const std::vector<fibre_array>& point_arrays() const = 0;

  /// Reads x, y, z in world mm (RAS+) from `first_point` on, three numbers per point.
  virtual void read_positions(std::uint64_t first_point, std::span<float> mm) const = 0;
  /// Reads rows of one of fibre_arrays() from fibre `first` on, in the array's own type.
  virtual void read_fibre_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const = 0;
  /// Reads rows of one of point_arrays() from point `first` on, in the array's own type.
  virtual void read_point_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const = 0;

  /// The command lines that made the fibres, in their order; for formats that store them.
  virtual std::vector<std::string> history() const { return {}; }

  std::uint64_t fibres() const { return offsets().size() - 1; }
  std::uint64_t points() const { return offsets().back(); }
};

/// Consecutive fibres that are in memory together.
struct fibre_piece {
  std::uint64_t first_fibre = 0, fibres = 0;
  std::uint64_t first_point = 0, points = 0;
};

/// Calls `use` for all fibres in pieces of up to 65,536 fibres and 262,144 points; a fibre with more points is a piece
/// of its own.
void for_each_piece(const fibre_source& source, const std::function<void(const fibre_piece&)>& use);

/// Converts values of any element type to float32.
std::vector<float> as_floats(element_type type, std::span<const std::byte> values);
/// Whether as_floats() rounds an integer, which may be a label.
bool are_rounded_as_floats(element_type type, std::span<const std::byte> values);

// Each writer writes one file under a temporary name until complete, and keeps the offsets and one piece of the fibres
// in memory. Throws failure: disk, and bad_data for values that the format cannot represent.

/// MRtrix tracks: only positions, float32, scanner coordinates (world mm, RAS+). Throws failure (bad_data) for a
/// position that is not finite, because NaN ends a fibre in this format.
void write_tck(const fibre_source& source, const std::string& path);

/// TrackVis, version 2: positions in mm along the voxel axes from the corner of the first voxel; point arrays as
/// scalars, fibre arrays as properties, all float32. The format allows ten columns of each: narrow arrays first; arrays
/// that do not fit are left out and named in the log.
void write_trk(const fibre_source& source, const std::string& path);

/// Fibres that belong together, with numbers of the group.
struct fibre_group {
  std::string name;
  std::vector<std::uint32_t> fibres;
  std::vector<std::pair<std::string, float>> values;
};

enum class position_type { float32, float16 };

/// What a TRX file has besides its fibres. 16-bit positions are rounded to at most 1/32 mm up to 128 mm from the
/// origin, and to 1/16 mm up to 256 mm.
struct trx_form {
  std::vector<fibre_group> groups;
  position_type positions = position_type::float32;
};

/// TRX: a ZIP of plain arrays, world mm, each with its own element type. `zip64_from`: sizes and offsets from this
/// value on are written in 64 bits; change it only in tests.
void write_trx(const fibre_source& source, const std::string& path, const trx_form& form = {},
               std::uint64_t zip64_from = 0xffffffff);

}  // namespace voxherd
