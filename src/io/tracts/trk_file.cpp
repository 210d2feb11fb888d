#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "core/analysis.hpp"
#include "core/failure.hpp"
#include "src/io/output_file.hpp"
#include "src/io/tracts/tracts.hpp"

namespace voxherd {

namespace {

/// TRK's coordinate system: mm along the voxel axes, 0 at the corner of the first voxel (its centre is at half a
/// voxel). All numbers are rounded to float32 as in the header, so that a reader recovers the world coordinates.
struct trk_geometry {
  std::array<float, 3> voxel_size_mm{};
  std::array<float, 16> voxel_to_world{};  ///< row-major
  std::array<double, 12> world_to_trk{};   ///< row-major 3x4
  std::string voxel_order;                 ///< direction of each voxel axis: nearest of R or L, A or P, S or I
  std::array<float, 6> orientation{};      ///< first two voxel axes in DICOM's LPS system
};

using matrix3 = std::array<std::array<double, 3>, 3>;  // [row][column]

matrix3 cofactors(const matrix3& m) {
  matrix3 c;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t a = (i + 1) % 3, b = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
      c[i][j] = m[a][p] * m[b][q] - m[a][q] * m[b][p];
    }
  return c;
}

double determinant(const matrix3& m) {
  const matrix3 c = cofactors(m);
  return m[0][0] * c[0][0] + m[0][1] * c[0][1] + m[0][2] * c[0][2];
}

/// The orthogonal matrix nearest to `m`, by Newton's iteration for the polar decomposition (Higham 1986). Readers
/// derive the axis letters of a sheared image from it.
matrix3 nearest_rotation(matrix3 m) {
  for (int step = 0; step < 30; ++step) {
    const matrix3 c = cofactors(m);
    const double d = determinant(m);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) m[i][j] = (m[i][j] + c[i][j] / d) / 2;
  }
  return m;
}

/// One letter per voxel axis: the nearest world axis not yet taken. Readers flip coordinates if the letters differ from
/// their own choice, so the order of choice is nibabel's.
std::string axis_letters(const matrix3& axes) {
  constexpr const char* letters[3] = {"LR", "PA", "IS"};
  std::string order;
  std::array<bool, 3> taken{};
  for (std::size_t column = 0; column < 3; ++column) {
    std::size_t best = 3;
    for (std::size_t row = 0; row < 3; ++row)
      if (!taken[row] && (best == 3 || std::abs(axes[row][column]) > std::abs(axes[best][column]))) best = row;
    taken[best] = true;
    order += letters[best][axes[best][column] > 0 ? 1 : 0];
  }
  return order;
}

/// Throws failure (bad_data) if the matrix cannot be inverted.
trk_geometry make_trk_geometry(const image_grid& grid) {
  trk_geometry g;
  for (std::size_t i = 0; i < 16; ++i) g.voxel_to_world[i] = static_cast<float>(grid.voxel_to_world[i]);
  matrix3 m, axes;
  for (std::size_t column = 0; column < 3; ++column) {
    double squares = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      m[row][column] = g.voxel_to_world[4 * row + column];
      squares += m[row][column] * m[row][column];
    }
    g.voxel_size_mm[column] = static_cast<float>(std::sqrt(squares));
    for (std::size_t row = 0; row < 3; ++row) axes[row][column] = m[row][column] / std::sqrt(squares);
  }
  if (!(std::abs(determinant(axes)) > 1e-6))
    refuse_data("the image's voxel_to_world matrix cannot be inverted, which TRK needs; use --to trx or tck");
  const matrix3 c = cofactors(m);
  const double d = determinant(m);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double shift = 0.5;
    for (std::size_t row = 0; row < 3; ++row) {
      const double inverse = c[row][axis] / d;  // the inverse is the transpose of the cofactors over the determinant
      g.world_to_trk[4 * axis + row] = inverse * g.voxel_size_mm[axis];
      shift -= inverse * g.voxel_to_world[4 * row + 3];
    }
    g.world_to_trk[4 * axis + 3] = shift * g.voxel_size_mm[axis];
  }
  g.voxel_order = axis_letters(nearest_rotation(axes));
  for (std::size_t column = 0; column < 2; ++column)
    for (std::size_t row = 0; row < 3; ++row)
      g.orientation[3 * column + row] = static_cast<float>(row < 2 ? -axes[row][column] : axes[row][column]);
  return g;
}

static_assert(std::endian::native == std::endian::little, "files of paths are written in native byte order");

constexpr std::size_t header_bytes = 1000, name_bytes = 20, max_columns = 10;

/// The arrays that fit: first the regions that a fibre joins, then the narrow ones.
struct trk_columns {
  std::vector<fibre_array> arrays;
  std::vector<std::string> names;  ///< one per column
};

trk_columns select_columns(const std::vector<fibre_array>& arrays, const char* what) {
  std::vector<fibre_array> by_width = arrays;
  const auto rank = [](const fibre_array& a) { return a.name == "regions" ? 0 : a.width; };
  std::stable_sort(by_width.begin(), by_width.end(),
                   [&](const fibre_array& a, const fibre_array& b) { return rank(a) < rank(b); });
  trk_columns c;
  std::vector<std::string> left_out;
  for (const fibre_array& a : by_width) {
    if (c.names.size() + a.width > max_columns) {
      left_out.push_back(a.name);
      continue;
    }
    c.arrays.push_back(a);
    for (std::uint64_t k = 1; k <= a.width; ++k) {
      const std::string ending = a.width == 1 ? "" : fmt::format("_{}", k);
      c.names.push_back(a.name.substr(0, name_bytes - 1 - ending.size()) + ending);
    }
  }
  if (!left_out.empty())
    spdlog::info("TRK allows {} numbers per {}: {} left out; use --to trx to write all", max_columns, what,
                 fmt::join(left_out, ", "));
  return c;
}

class trk_header {
 public:
  trk_header(const fibre_source& source, const trk_geometry& g, const trk_columns& scalars,
             const trk_columns& properties) {
    put(0, "TRACK");
    for (std::size_t axis = 0; axis < 3; ++axis) put(6 + 2 * axis, extent(source.grid().size[axis]));
    put(12, g.voxel_size_mm);
    put_names(36, scalars.names);
    put_names(238, properties.names);
    put(440, g.voxel_to_world);
    put(948, g.voxel_order);
    put(956, g.orientation);
    // 0 means "unknown": the number must fit into 31 bits.
    put(988, source.fibres() > INT32_MAX ? 0 : static_cast<std::int32_t>(source.fibres()));
    put(992, std::int32_t{2});  // version
    put(996, static_cast<std::int32_t>(header_bytes));
  }

  const std::array<std::byte, header_bytes>& bytes() const { return bytes_; }

 private:
  template <class T>
  void put(std::size_t place, const T& value) {
    std::memcpy(&bytes_[place], &value, sizeof value);
  }
  void put(std::size_t place, const std::string& text) { std::memcpy(&bytes_[place], text.data(), text.size()); }
  void put(std::size_t place, const char* text) { put(place, std::string(text)); }

  void put_names(std::size_t place, const std::vector<std::string>& names) {
    put(place, static_cast<std::int16_t>(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) put(place + 2 + i * name_bytes, names[i]);
  }

  static std::int16_t extent(std::uint64_t voxels) {
    if (voxels > INT16_MAX)
      refuse_data("the image has {} voxels along an axis, more than TRK allows; use --to trx", voxels);
    return static_cast<std::int16_t>(voxels);
  }

  std::array<std::byte, header_bytes> bytes_{};
};

/// Copies `width` columns of every row into rows of `stride` numbers, starting at column `column`.
void spread(const std::vector<float>& values, std::size_t width, std::size_t column, std::size_t stride,
            std::vector<float>& rows) {
  for (std::size_t i = 0; i * width < values.size(); ++i)
    std::copy_n(&values[i * width], width, &rows[i * stride + column]);
}

/// Names of arrays with integers that float32 rounds.
using name_set = std::set<std::string>;

std::vector<float> column_values(const fibre_array& a, const std::vector<std::byte>& bytes, name_set& rounded) {
  if (are_rounded_as_floats(a.type, bytes)) rounded.insert(a.name);
  return as_floats(a.type, bytes);
}

/// Rows of one piece: x, y, z and the scalars of each point.
std::vector<float> point_rows(const fibre_source& source, const trk_geometry& g, const trk_columns& scalars,
                              const fibre_piece& piece, name_set& rounded) {
  const std::size_t stride = 3 + scalars.names.size();
  std::vector<float> mm(3 * piece.points), rows(stride * piece.points);
  source.read_positions(piece.first_point, mm);
  for (std::size_t i = 0; i < piece.points; ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double* to = &g.world_to_trk[4 * axis];
      rows[i * stride + axis] =
          static_cast<float>(to[0] * mm[3 * i] + to[1] * mm[3 * i + 1] + to[2] * mm[3 * i + 2] + to[3]);
    }
  std::size_t column = 3;
  for (const fibre_array& a : scalars.arrays) {
    std::vector<std::byte> bytes(piece.points * a.row_bytes());
    source.read_point_rows(a, piece.first_point, bytes);
    spread(column_values(a, bytes, rounded), a.width, column, stride, rows);
    column += a.width;
  }
  return rows;
}

/// The properties of each fibre of one piece.
std::vector<float> fibre_rows(const fibre_source& source, const trk_columns& properties, const fibre_piece& piece,
                              name_set& rounded) {
  const std::size_t stride = properties.names.size();
  std::vector<float> rows(stride * piece.fibres);
  std::size_t column = 0;
  for (const fibre_array& a : properties.arrays) {
    std::vector<std::byte> bytes(piece.fibres * a.row_bytes());
    source.read_fibre_rows(a, piece.first_fibre, bytes);
    spread(column_values(a, bytes, rounded), a.width, column, stride, rows);
    column += a.width;
  }
  return rows;
}

}  // namespace

void write_trk(const fibre_source& source, const std::string& path) {
  const trk_geometry geometry = make_trk_geometry(source.grid());
  // nibabel cannot read column names if there are no fibres.
  const bool empty = source.fibres() == 0;
  const trk_columns scalars = empty ? trk_columns() : select_columns(source.point_arrays(), "point");
  const trk_columns properties = empty ? trk_columns() : select_columns(source.fibre_arrays(), "path");
  const trk_header header(source, geometry, scalars, properties);
  output_file file(path, output_file::coding::plain);
  file.write(header.bytes().data(), header_bytes);
  const std::size_t point_width = 3 + scalars.names.size(), fibre_width = properties.names.size();
  const auto offsets = source.offsets();
  std::vector<std::byte> body;
  name_set rounded;
  for_each_piece(source, [&](const fibre_piece& piece) {
    const auto points = point_rows(source, geometry, scalars, piece, rounded);
    const auto fibres = fibre_rows(source, properties, piece, rounded);
    body.clear();
    const auto append = [&](const void* data, std::size_t bytes) {
      const auto* from = static_cast<const std::byte*>(data);
      body.insert(body.end(), from, from + bytes);
    };
    for (std::uint64_t f = 0; f < piece.fibres; ++f) {
      const std::uint64_t first = offsets[piece.first_fibre + f], count = offsets[piece.first_fibre + f + 1] - first;
      const auto said = static_cast<std::int32_t>(count);
      append(&said, sizeof said);
      append(points.data() + (first - piece.first_point) * point_width, count * point_width * sizeof(float));
      append(fibres.data() + f * fibre_width, fibre_width * sizeof(float));
    }
    file.write(body.data(), body.size());
  });
  file.finish();
  if (!rounded.empty())
    spdlog::warn("{}: TRK has only float32, which rounds integers above 16777216 in {}; use --to trx", path,
                 fmt::join(rounded, ", "));
}

}  // namespace voxherd
