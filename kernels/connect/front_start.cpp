#include "kernels/connect/flow.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/connect/lattice_builder.hpp"
#include "kernels/connect/neighbour.hpp"
#include "kernels/portable/cholesky.hpp"

namespace voxherd::connect {

namespace {

constexpr float min_radius = 1;             // voxels within which the path to a single voxel is straight
constexpr std::size_t max_candidates = 64;  // for the point's voxel

struct placed_start {
  int at[3];
  std::uint32_t cell;
  float arrival;
};

/// Solves u = sqrt((x - s) . S^-1 (x - s)) for s by least squares; u^2 - x . S^-1 x is linear in s and s . S^-1 s. x is
/// relative to `centre`. If all starts are in one plane, s is in it too.
std::optional<front_start> fit_point(std::span<const placed_start> starts, const int (&centre)[3],
                                     const float (&s)[6]) {
  double normal[packed_size(4)] = {}, right[4] = {};
  const double tensor[6] = {s[0], s[1], s[2], s[3], s[4], s[5]};
  for (const placed_start& start : starts) {
    const double x[3] = {double(start.at[0] - centre[0]), double(start.at[1] - centre[1]),
                         double(start.at[2] - centre[2])};
    double gx[3];
    tensor_field::solve(tensor, x, gx);
    const double row[4] = {-2 * gx[0], -2 * gx[1], -2 * gx[2], 1};
    const double left = double(start.arrival) * start.arrival - tensor_field::dot(x, gx);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j <= i; ++j) normal[packed_index(i, j)] += row[i] * row[j];
      right[i] += row[i] * left;
    }
  }
  const double trace = normal[packed_index(0, 0)] + normal[packed_index(1, 1)] + normal[packed_index(2, 2)];
  for (int i = 0; i < 3; ++i) normal[packed_index(i, i)] += 1e-10 * trace;
  if (!cholesky_factor<4>(normal)) return std::nullopt;
  cholesky_solve<4>(normal, right);
  front_start found{{}, min_radius, 0};
  for (int d = 0; d < 3; ++d) {
    if (!(std::abs(right[d]) < 0.501)) return std::nullopt;  // S is that of the voxel containing the point
    found.point[d] = static_cast<float>(centre[d] + right[d]);
  }
  double worst = 0;
  for (const placed_start& start : starts) {
    const double v[3] = {start.at[0] - centre[0] - right[0], start.at[1] - centre[1] - right[1],
                         start.at[2] - centre[2] - right[2]};
    double gv[3];
    tensor_field::solve(tensor, v, gv);
    worst = std::max(worst, std::abs(std::sqrt(tensor_field::dot(v, gv)) - double(start.arrival)));
    found.latest = std::max(found.latest, start.arrival);
    found.radius = std::max(found.radius, static_cast<float>(std::sqrt(tensor_field::dot(v, v))));
  }
  if (worst > 1e-3 * double(found.latest)) return std::nullopt;
  return found;
}

front_start find_front_start(const lattice_view& l, std::span<const placed_start> starts) {
  front_start elsewhere{{0, 0, 0}, -1, 0};
  if (starts.empty()) return elsewhere;
  double mean[3] = {};
  bool same = true;
  for (const placed_start& start : starts) {
    elsewhere.latest = std::max(elsewhere.latest, start.arrival);
    same = same && start.arrival == starts[0].arrival;
    for (int d = 0; d < 3; ++d) mean[d] += start.at[d] / static_cast<double>(starts.size());
  }
  if (starts.size() == 1) {
    const placed_start& only = starts[0];
    return {{float(only.at[0]), float(only.at[1]), float(only.at[2])}, min_radius, only.arrival};
  }
  if (same) return elsewhere;
  // The point is near the mean of the starts: its voxel is one of those next to it, unless the mask has cut the ball.
  const auto distance = [&mean](const placed_start& start) {
    return std::hypot(start.at[0] - mean[0], start.at[1] - mean[1], start.at[2] - mean[2]);
  };
  std::vector<placed_start> nearest(starts.begin(), starts.end());
  std::stable_sort(nearest.begin(), nearest.end(),
                   [&](const placed_start& a, const placed_start& b) { return distance(a) < distance(b); });
  if (nearest.size() > max_candidates) nearest.resize(max_candidates);
  for (const placed_start& candidate : nearest) {
    float s[6];
    read_tensor(l, candidate.cell, s);
    if (const auto found = fit_point(starts, candidate.at, s)) return *found;
  }
  return elsewhere;
}

}  // namespace

std::vector<front_start> find_front_starts(const lattice& l, const start_list& fronts) {
  return find_front_starts(l.view(), l.cell_of_number, fronts);
}

std::vector<front_start> find_front_starts(const lattice_view& l, std::span<const std::uint32_t> cell_of_number,
                                           const start_list& fronts) {
  std::vector<front_start> found;
  for (std::size_t k = 0; k < fronts.fronts(); ++k) {
    std::vector<placed_start> starts;
    for (std::uint64_t i = fronts.offsets[k]; i < fronts.offsets[k + 1]; ++i) {
      placed_start s{{}, cell_of_number[fronts.starts[i].voxel], fronts.starts[i].arrival};
      voxel_place(l, l.find_voxel[s.cell], s.at);
      starts.push_back(s);
    }
    found.push_back(find_front_start(l, starts));
  }
  return found;
}

}  // namespace voxherd::connect
