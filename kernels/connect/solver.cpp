#include "kernels/connect/solver.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/connect/block_graph.hpp"
#include "kernels/connect/fronts.hpp"
#include "kernels/connect/neighbour.hpp"

namespace voxherd::connect {

namespace {

void check(const solver_settings& s) {
  if (s.order != 1 && !(s.order == 2 && s.scheme == scheme_kind::selling))
    throw std::invalid_argument("connect: expected order 1, or order 2 with scheme selling");
  if (!(s.tolerance >= 0 && s.tolerance < 0.1f))
    throw std::invalid_argument("connect: expected a tolerance of 0 to 0.1");
}

}  // namespace

std::vector<std::uint32_t> cost_sample(const lattice& l) {
  constexpr std::size_t max_samples = 65536;
  const std::size_t n = l.cell_of_number.size(), step = std::max<std::size_t>(1, n / max_samples);
  std::vector<std::uint32_t> cells;
  for (std::size_t i = 0; i < n; i += step) cells.push_back(l.cell_of_number[i]);
  return cells;
}

float typical_cost(const std::vector<float>& traces) {
  std::vector<float> cost;
  for (const float trace : traces) cost.push_back(std::sqrt(3 / trace));
  const auto middle = cost.begin() + static_cast<std::ptrdiff_t>(cost.size() / 2);
  std::nth_element(cost.begin(), middle, cost.end());
  return *middle;
}

std::unique_ptr<solver> make_solver(const device& d, const speed_field& field, const solver_settings& settings) {
  check(settings);
  solver_parts parts{number_voxels(field), {}, settings, {}, {}, 0};
  std::copy(field.axes_mm.begin(), field.axes_mm.end(), parts.axes_mm);
  std::copy(field.origin_mm.begin(), field.origin_mm.end(), parts.origin_mm);
  return d.kind == backend::cuda ? make_solver_cuda(d, std::move(parts), field.tensors)
                                 : make_solver_cpu(d, std::move(parts), field.tensors);
}

std::size_t device_bytes_per_front(std::uint64_t blocks) {
  // Two slots of values, second order's choices, gathered arrivals; state, two triggers, two lists.
  return (blocks + 1) * (block_cells * (2 + 1 + 1) + 5) * sizeof(float);
}

std::uint32_t checked_cell(const lattice& l, const start& s) {
  if (s.voxel >= l.cell_of_number.size()) throw std::invalid_argument("connect: a front starts outside the mask");
  if (!(s.arrival >= 0 && s.arrival < unreached))
    throw std::invalid_argument("connect: a front starts at a negative or invalid time");
  return l.cell_of_number[s.voxel];
}

std::vector<start> starts_at_point(const speed_field& field, const std::array<double, 3>& index, double radius_voxels) {
  return starts_at_point(field, index, radius_voxels, [&](std::size_t voxel) { return field.tensor_of(voxel); });
}

std::vector<start> starts_at_point(const speed_field& field, const std::array<double, 3>& index, double radius_voxels,
                                   const std::function<std::array<float, 6>(std::size_t)>& tensor_of) {
  int size[3], nearest[3];
  for (std::size_t d = 0; d < 3; ++d) {
    size[d] = static_cast<int>(field.size[d]);
    nearest[d] = static_cast<int>(std::lround(index[d]));
  }
  const auto linear = [&](int x, int y, int z) {
    return (static_cast<std::size_t>(z) * field.size[1] + static_cast<std::size_t>(y)) * field.size[0] +
           static_cast<std::size_t>(x);
  };
  const auto inside = [&](int x, int y, int z) {
    return x >= 0 && y >= 0 && z >= 0 && x < size[0] && y < size[1] && z < size[2] &&
           field.inside[linear(x, y, z)] != 0;
  };
  if (!inside(nearest[0], nearest[1], nearest[2]))
    throw std::invalid_argument("connect: the voxel nearest to a starting point is not in the mask");
  const std::array<float, 6> s = tensor_of(linear(nearest[0], nearest[1], nearest[2]));
  // adj(S) / det(S)
  const double a = double(s[3]) * s[5] - double(s[4]) * s[4], b = double(s[2]) * s[4] - double(s[1]) * s[5],
               c = double(s[1]) * s[4] - double(s[2]) * s[3], e = double(s[0]) * s[5] - double(s[2]) * s[2],
               f = double(s[1]) * s[2] - double(s[0]) * s[4], g = double(s[0]) * s[3] - double(s[1]) * s[1];
  const double det = s[0] * a + s[1] * b + s[2] * c;
  const step_rule may(inside);
  const int reach = static_cast<int>(std::ceil(radius_voxels));
  std::vector<std::pair<std::size_t, float>> found;
  for (int k = -reach; k <= reach; ++k)
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        const int x = nearest[0] + i, y = nearest[1] + j, z = nearest[2] + k, step[3] = {i, j, k};
        const double p = x - index[0], q = y - index[1], r = z - index[2];
        const bool centre = i == 0 && j == 0 && k == 0;
        if (!inside(x, y, z) || (!centre && (p * p + q * q + r * r > radius_voxels * radius_voxels ||
                                             !may(nearest[0], nearest[1], nearest[2], step))))
          continue;
        const double square = (a * p * p + e * q * q + g * r * r + 2 * (b * p * q + c * p * r + f * q * r)) / det;
        found.emplace_back(linear(x, y, z), static_cast<float>(std::sqrt(std::max(0.0, square))));
      }
  // Converts linear indices to indices among the voxels in the mask; `found` is in increasing order.
  std::vector<start> starts;
  std::size_t v = 0;
  std::uint32_t number = 0;
  for (const auto& [at, arrival] : found) {
    for (; v < at; ++v) number += field.inside[v] != 0 ? 1 : 0;
    starts.push_back({number, arrival});
  }
  return starts;
}

}  // namespace voxherd::connect
