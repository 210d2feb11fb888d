#include <gtest/gtest.h>

#include <cstdio>

#include "tests/connect/support/connect_claims.hpp"
#include "tests/support/devices.hpp"

/// Properties of arrival times that follow from the equation: symmetry, scale, order of convergence.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = connect_cases;

class ConnectInvariants : public testing::TestWithParam<connect_scheme> {};

/// If the grid is symmetric about the midpoint of both, the reverse path costs the same.
TEST_P(ConnectInvariants, ReversedPathCostsTheSame) {
  const auto c = cases::constant(fibre_tensor({1, 2, 3}, 20), 33);
  const vec3 middle{16, 16, 16}, aside{5, -7, 9};
  const auto there = solve_arrivals(two_threads, c, one_voxel(c, middle - aside), GetParam().settings());
  const auto back = solve_arrivals(two_threads, c, one_voxel(c, middle + aside), GetParam().settings());
  const double u = arrival_at(c, there, middle + aside);
  EXPECT_NEAR(arrival_at(c, back, middle - aside), u, difference_limits_for(GetParam()).largest * u);
}

/// Where tensors turn, each direction has an error of its own; a finer grid makes them agree.
TEST_P(ConnectInvariants, FinerGridReducesTheDifferenceOfReversedPaths) {
  const std::pair<vec3, vec3> ends[] = {
      {{16, 16, 20}, {48, 40, 44}}, {{32, 12, 52}, {28, 52, 12}}, {{8, 40, 8}, {52, 24, 48}}};
  double apart[2] = {0, 0}, total[2] = {0, 0};
  for (const int finer : {0, 1}) {
    const auto c = cases::pullback(finer ? 48 : 16);
    const double unit_voxels = double(c.size[0]) / 64;
    std::vector<starts> fronts;
    for (const auto& [a, b] : ends)
      for (const vec3& end : {a, b}) fronts.push_back(exact_ball(c, unit_voxels * end, 8 * unit_voxels));
    const auto u = arrivals_of_all(two_threads, c, fronts, GetParam().settings());
    const std::size_t n = u.size() / fronts.size();
    for (std::size_t k = 0; k < fronts.size(); ++k) {
      const std::vector<float> front(u.begin() + long(k * n), u.begin() + long((k + 1) * n));
      const auto& [a, b] = ends[k / 2];
      const double arrival = arrival_at(c, front, unit_voxels * (k % 2 ? a : b));
      apart[finer] += (k % 2 ? -1 : 1) * arrival;
      if (k % 2) total[finer] += std::abs(apart[finer]), apart[finer] = 0;
    }
  }
  std::printf("%-10s apart by %.3f on 16^3, %.3f on 48^3\n", GetParam().name, total[0], total[1]);
  EXPECT_LT(total[1], total[0] / 2);
}

/// New axis d is old axis order[d], reversed if flip[d].
connect_case with_axes(const connect_case& c, const std::array<std::size_t, 3>& order,
                       const std::array<bool, 3>& flip) {
  constexpr std::size_t at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  connect_case turned{c.name, {c.size[order[0]], c.size[order[1]], c.size[order[2]]}, {}, {}, {}, {}};
  const auto old_place = [&](const vec3& x) {
    vec3 old{};
    for (std::size_t d = 0; d < 3; ++d) old[order[d]] = flip[d] ? double(turned.size[d]) - 1 - x[d] : x[d];
    return old;
  };
  turned.inside.assign(c.inside.size(), 1);
  for (const vec3& x : places_inside(turned)) {
    const std::size_t to = turned.linear(x), from = c.linear(old_place(x));
    turned.inside[to] = c.inside[from];
    turned.tensors.resize(c.tensors.size());
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j)
        turned.tensors[8 * to + at[i][j]] =
            c.tensors[8 * from + at[order[i]][order[j]]] * (flip[i] == flip[j] ? 1.0f : -1.0f);
  }
  for (std::size_t d = 0; d < 3; ++d)
    turned.source[d] = flip[d] ? double(turned.size[d]) - 1 - c.source[order[d]] : c.source[order[d]];
  return turned;
}

TEST_P(ConnectInvariants, IsInvariantUnderPermutedAndReversedAxes) {
  auto helix = cases::helix(0.05, 24);
  for (double& x : helix.source) x = std::round(x);
  for (const auto& c : {cases::ragged(), helix}) {
    const auto u = solve_arrivals(two_threads, c, one_voxel(c), GetParam().settings());
    for (const auto& [order, flip] : {std::pair{std::array<std::size_t, 3>{2, 0, 1}, std::array{false, false, false}},
                                      {{0, 2, 1}, {true, false, true}},
                                      {{1, 0, 2}, {true, true, true}}}) {
      const auto turned = with_axes(c, order, flip);
      const auto v = solve_arrivals(two_threads, turned, one_voxel(turned), GetParam().settings());
      double largest = 0;
      for (const vec3& x : places_inside(c)) {
        vec3 y{};
        for (std::size_t d = 0; d < 3; ++d) y[d] = flip[d] ? double(turned.size[d]) - 1 - x[order[d]] : x[order[d]];
        const double a = arrival_at(c, u, x), b = arrival_at(turned, v, y);
        if (a != b) largest = std::max(largest, std::abs(a - b) / a);
      }
      EXPECT_LT(largest, difference_limits_for(GetParam()).largest) << c.name;
    }
  }
}

/// S -> c S divides arrival times by the root of c.
TEST_P(ConnectInvariants, TimesScaleWithTheRootOfTheTensor) {
  const auto c = cases::ragged();
  const auto u = solve_arrivals(two_threads, c, one_voxel(c), GetParam().settings());
  for (const double factor : {7.0, 1e-4, 4e5}) {
    auto scaled = c;
    for (float& s : scaled.tensors) s = static_cast<float>(factor * double(s));
    auto v = solve_arrivals(two_threads, scaled, one_voxel(scaled), GetParam().settings());
    for (float& t : v) t = static_cast<float>(std::sqrt(factor) * double(t));
    EXPECT_LT(largest_difference(v, u), difference_limits_for(GetParam()).largest) << factor;
  }
}

/// Errors on grids of 32 and 64 voxels over the same cube, at positions up to 18 from the source, where no path leaves
/// the cube. Exact values within 8 of the source: the point itself is not smooth and would hide second order.
TEST_P(ConnectInvariants, RefinementGivesTheOrder) {
  const double order = GetParam().order;
  for (const auto make : {cases::paper_example, cases::half_space, cases::fish_eye, cases::pullback}) {
    std::vector<double> errors;
    for (const std::uint64_t side : {32, 64}) {
      const auto c = make(side);
      const double unit_voxels = double(side) / 64;
      const auto u = solve_arrivals(two_threads, c, exact_ball(c, 8 * unit_voxels), GetParam().settings());
      const auto places = places_inside(c);
      double error = 0, all = 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (norm(places[i] - c.source) > 18 * unit_voxels) continue;
        const double exact = c.distance(c.source, places[i]);
        error += std::abs(double(u[i]) - exact), all += exact;
      }
      errors.push_back(error / all);
    }
    const double slope = std::log2(errors[0] / errors[1]);
    std::printf("%-10s %-13s errors %.2e %.2e: order %.2f\n", GetParam().name, make(2).name.c_str(), errors[0],
                errors[1], slope);
    EXPECT_GT(slope, order - 0.3);
    EXPECT_LT(slope, order + 0.4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConnectInvariants, testing::ValuesIn(connect_schemes));

}  // namespace
