#include "src/show/grid_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace voxherd::report {

namespace {

/// For each world axis the file's axis closest to it, each once: the assignment with the largest sum of |cosines|.
std::array<std::size_t, 3> assign_axes(const std::array<std::array<double, 3>, 3>& unit) {
  std::array<std::size_t, 3> order{0, 1, 2}, best = order;
  double most = -1;
  do {
    double sum = 0;
    for (std::size_t w = 0; w < 3; ++w) sum += std::fabs(unit[order[w]][w]);
    if (sum > most + 1e-9) most = sum, best = order;
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace

grid_view::grid_view(const image_grid& grid, view_sides sides)
    : size_(grid.size), sides_(sides), is_unknown_(is_made_up(grid)) {
  const auto& m = grid.voxel_to_world;
  for (std::size_t a = 0; a < 3; ++a) {
    const double length = std::hypot(m[a], m[4 + a], m[8 + a]);
    spacing_mm_[a] = length > 0 && std::isfinite(length) ? length : 1;
    for (std::size_t w = 0; w < 3; ++w) unit_[a][w] = length > 0 ? m[4 * w + a] / spacing_mm_[a] : (a == w ? 1 : 0);
    origin_mm_[a] = m[4 * a + 3];
  }
  const auto& [x, y, z] = unit_;
  is_right_handed_ =
      x[0] * (y[1] * z[2] - y[2] * z[1]) - y[0] * (x[1] * z[2] - x[2] * z[1]) + z[0] * (x[1] * y[2] - x[2] * y[1]) > 0;
  axis_ = assign_axes(unit_);
  for (std::size_t w = 0; w < 3; ++w) backwards_[w] = unit_[axis_[w]][w] < 0;
  if (is_radiological()) backwards_[0] = !backwards_[0];
}

std::array<const char*, 2> grid_view::letters(int axis) const {
  constexpr std::array<const char*, 2> known[] = {{"L", "R"}, {"P", "A"}, {"I", "S"}};
  constexpr std::array<const char*, 2> unknown[] = {{"L?", "R?"}, {"P?", "A?"}, {"I?", "S?"}};
  std::array<const char*, 2> ends = (is_unknown_ ? unknown : known)[index(axis)];
  if (axis == 0 && is_radiological()) std::swap(ends[0], ends[1]);
  return ends;
}

double grid_view::world_mm(int axis, std::uint64_t place) const {
  std::array<double, 3> at{};  // in the file
  for (std::size_t a = 0; a < 3; ++a) at[a] = 0.5 * static_cast<double>(size_[a] - 1);
  const std::size_t w = index(axis), own = axis_[w];
  at[own] = static_cast<double>(backwards_[w] ? size_[own] - 1 - place : place);
  double mm = origin_mm_[w];
  for (std::size_t a = 0; a < 3; ++a) mm += unit_[a][w] * spacing_mm_[a] * at[a];
  return mm;
}

bool is_made_up(const image_grid& grid) {
  const auto& m = grid.voxel_to_world;
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 4; ++column)
      if (row == column ? m[4 * row + column] <= 0 : m[4 * row + column] != 0) return false;
  return true;
}

std::array<view_plane, 3> three_views(const grid_view& view) {
  const bool r = view.is_radiological();
  return {{{0, 1, r ? "from below" : "from above"},
           {1, 2, "from the right"},
           {0, 2, r ? "from the front" : "from behind"}}};
}

std::string describe_three_views(const grid_view& view) {
  const auto planes = three_views(view);
  const char* side = view.is_radiological() ? "the subject's right is on the left" : "left is left";
  return fmt::format("Seen {} ({}, the front at the top), {} (the front on the right) and {} ({})", planes[0].name,
                     side, planes[1].name, planes[2].name, side);
}

std::uint64_t grid_view::voxel(const std::array<std::uint64_t, 3>& place) const {
  std::array<std::uint64_t, 3> i{};
  for (std::size_t w = 0; w < 3; ++w) i[axis_[w]] = backwards_[w] ? size_[axis_[w]] - 1 - place[w] : place[w];
  return i[0] + size_[0] * (i[1] + size_[1] * i[2]);
}

std::array<std::uint64_t, 3> grid_view::place(std::uint64_t voxel) const {
  const std::array<std::uint64_t, 3> i{voxel % size_[0], voxel / size_[0] % size_[1], voxel / size_[0] / size_[1]};
  std::array<std::uint64_t, 3> place{};
  for (std::size_t w = 0; w < 3; ++w) place[w] = backwards_[w] ? size_[axis_[w]] - 1 - i[axis_[w]] : i[axis_[w]];
  return place;
}

/// FSL's frame: the image axes, with x reversed if they are right-handed.
std::array<double, 3> grid_view::image_axes(const std::array<double, 3>& direction) const {
  return {is_right_handed_ ? -direction[0] : direction[0], direction[1], direction[2]};
}

std::array<double, 3> grid_view::seen(const std::array<double, 3>& direction) const {
  const auto image = image_axes(direction);
  std::array<double, 3> seen{};
  for (std::size_t w = 0; w < 3; ++w) seen[w] = backwards_[w] ? -image[axis_[w]] : image[axis_[w]];
  return seen;
}

std::array<double, 3> grid_view::in_world(const std::array<double, 3>& direction) const {
  const auto image = image_axes(direction);
  std::array<double, 3> world{};
  for (std::size_t w = 0; w < 3; ++w)
    for (std::size_t a = 0; a < 3; ++a) world[w] += unit_[a][w] * image[a];
  return world;
}

std::array<double, 3> grid_view::place_mm(const std::array<double, 3>& world_mm) const {
  std::array<double, 3> place{};
  for (std::size_t w = 0; w < 3; ++w) {
    const std::size_t a = axis_[w];
    for (std::size_t k = 0; k < 3; ++k) place[w] += unit_[a][k] * (world_mm[k] - origin_mm_[k]);
    if (backwards_[w]) place[w] = static_cast<double>(size_[a] - 1) * spacing_mm_[a] - place[w];
  }
  return place;
}

std::array<int, 3> grid_view::file_axes() const {
  std::array<int, 3> axes{};
  for (std::size_t w = 0; w < 3; ++w) axes[w] = (static_cast<int>(axis_[w]) + 1) * (backwards_[w] ? -1 : 1);
  return axes;
}

view_box enclose(const grid_view& view, std::span<const std::uint64_t> voxels) {
  view_box box;
  for (int a = 0; a < 3; ++a) box.last[static_cast<std::size_t>(a)] = view.size(a) - 1;
  if (voxels.empty()) return box;
  box.first = box.last = view.place(voxels.front());
  for (const std::uint64_t v : voxels) {
    const auto place = view.place(v);
    for (std::size_t a = 0; a < 3; ++a) {
      box.first[a] = std::min(box.first[a], place[a]);
      box.last[a] = std::max(box.last[a], place[a]);
    }
  }
  return box;
}

namespace {

/// The places along an axis with at least a tenth of the voxels that the fullest slice has.
std::vector<std::uint64_t> filled_slices(const grid_view& view, std::span<const std::uint64_t> voxels, int axis) {
  std::vector<std::uint64_t> counts(view.size(axis)), filled;
  for (const std::uint64_t v : voxels) ++counts[view.place(v)[static_cast<std::size_t>(axis)]];
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  for (std::uint64_t i = 0; i < counts.size(); ++i)
    if (10 * counts[i] >= most) filled.push_back(i);
  return filled;
}

}  // namespace

mosaic plan_mosaic(const grid_view& view, std::span<const std::uint64_t> voxels, std::size_t slice_limit) {
  constexpr double thin = 0.4;
  constexpr std::uint64_t max_pixels = 260000, few_slices = 6;
  mosaic m;
  m.box = enclose(view, voxels);
  const auto mm = [&](int axis) { return static_cast<double>(m.box.extent(axis)) * view.spacing_mm(axis); };
  for (const int axis : {0, 1})
    if (mm(axis) < thin * mm(2) && mm(axis) < mm(m.through)) m.through = axis;
  m.across = m.through == 0 ? 1 : 0;
  m.down = m.through == 2 ? 1 : 2;
  const std::vector<std::uint64_t> filled = filled_slices(view, voxels, m.through);
  const std::uint64_t affordable = std::max(few_slices, max_pixels / (m.tile_width() * m.tile_height()));
  const std::uint64_t count = std::min({std::uint64_t{filled.size()}, std::uint64_t{slice_limit}, affordable});
  // The slices are in the middles of equal shares.
  for (std::uint64_t i = 0; i < count; ++i) m.slices.push_back(filled[(2 * i + 1) * filled.size() / (2 * count)]);
  // The mosaic is as wide as 1.7 times the height, and without a nearly empty last row.
  const double ideal = std::sqrt(1.7 * static_cast<double>(count) * mm(m.down) / mm(m.across));
  m.columns = count;
  if (ideal < static_cast<double>(count)) m.columns = static_cast<std::size_t>(std::max(1.0, std::round(ideal)));
  const std::size_t rows = (m.slices.size() + m.columns - 1) / m.columns;
  m.columns = (m.slices.size() + rows - 1) / rows;
  return m;
}

std::string describe(const mosaic& m, const grid_view& view) {
  constexpr const char* kinds[] = {"sagittal", "coronal", "axial"};
  const std::string side =
      view.is_radiological() ? "the subject's right is on the left" : "the subject's left is on the left";
  const std::string left = m.across == 0 ? side : "the back is on the left";
  const std::string top = m.down == 1 ? "the front is at the top" : "the head is at the top";
  const std::string sides = view.is_unknown() ? "the orientation is unknown" : left + ", " + top;
  const bool one = m.slices.size() == 1;
  std::string where;
  if (!m.slices.empty()) {
    where = fmt::format("{} = {:.1f}", "xyz"[m.through], view.world_mm(m.through, m.slices.front()));
    if (!one) where = fmt::format("from {} to {:.1f}", where, view.world_mm(m.through, m.slices.back()));
    where = fmt::format(" {}{} mm", one ? "at " : "", where);
  }
  return fmt::format("{} {} slice{}{}; {}", m.slices.size(), kinds[m.through], one ? "" : "s", where, sides);
}

}  // namespace voxherd::report
