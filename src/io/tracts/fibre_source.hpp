#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// An array with one row for each fibre, or for each point.
struct fibre_array {
  std::string name;
  element_type type = element_type::float32;
  std::uint64_t width = 1;  ///< numbers in a row

  std::uint64_t row_bytes() const { return width * size_of(type); }
};

/// Fibres as the writers of fibre files want them: counted beforehand, then read a part at a time, in any order.
class fibre_source {
 public:
  virtual ~fibre_source() = default;

  /// The image in which the fibres lie.
  virtual const image_grid& grid() const = 0;
  /// Fibre f has points [offsets[f], offsets[f + 1]): one number more than there are fibres, the first 0.
  virtual std::span<const std::uint64_t> offsets() const = 0;
  virtual const std::vector<fibre_array>& fibre_arrays() const = 0;
  /// Without the positions.
  virtual const std::vector<fibre_array>& point_arrays() const = 0;

  /// x, y, z in world mm (RAS+) of the points from `first_point` on, three numbers a point.
  virtual void read_positions(std::uint64_t first_point, std::span<float> mm) const = 0;
  /// Rows of one of fibre_arrays() from fibre `first` on, in its type.
  virtual void read_fibre_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const = 0;
  /// Rows of one of point_arrays() from point `first` on, in its type.
  virtual void read_point_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const = 0;

  std::uint64_t fibres() const { return offsets().size() - 1; }
  std::uint64_t points() const { return offsets().back(); }
};

/// Consecutive fibres, held in memory at once.
struct fibre_piece {
  std::uint64_t first_fibre = 0, fibres = 0;
  std::uint64_t first_point = 0, points = 0;
};

/// Goes through all fibres in pieces of up to 65,536 fibres and 262,144 points; a fibre with more is one by itself.
void for_each_piece(const fibre_source& source, const std::function<void(const fibre_piece&)>& use);

/// Numbers of any type as float32.
std::vector<float> as_floats(element_type type, std::span<const std::byte> values);

}  // namespace voxherd
