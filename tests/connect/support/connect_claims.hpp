#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "tests/connect/support/connect_case.hpp"

/// Cases and comparisons that are shared by tests of the Hamilton-Jacobi solver on any device.
namespace voxherd::reference {

/// Small fields of every kind, each with a start.
struct small_problem {
  connect_case field;
  starts front;
};
inline std::vector<small_problem> small_problems() {
  namespace cases = connect_cases;
  std::vector<small_problem> all;
  for (const auto& c : {cases::pullback(16), cases::half_space(16), cases::constant(fibre_tensor({1, 2, 3}, 100), 16)})
    all.push_back({c, exact_ball(c, 2)});
  for (const auto& c : {cases::ragged(), cases::helix(0.05, 16),
                        cases::two_rooms(cases::passage::corridor, fibre_tensor({1, 2, 3}, 30), 20)})
    all.push_back({c, one_voxel(c)});
  return all;
}

/// Fronts of different kinds in one field: points, a ball, a region.
inline std::vector<starts> several_fronts(const connect_case& c) {
  const auto last = static_cast<std::uint32_t>(voxels_inside(c.field()).size() - 1);
  std::vector<starts> fronts{one_voxel(c), {{0, 0}}, {{last, 0}}, {{last / 2, 1.5f}, {last / 3, 0}}, {}};
  for (std::uint32_t n = last / 4; n < last / 4 + 40; ++n) fronts.back().push_back({n, 0});
  const auto ball = connect::starts_at_point(c.field(), {c.source[0] + 0.3, c.source[1], c.source[2] - 0.2}, 2.5);
  fronts.push_back(ball);
  fronts.push_back({{last / 5, 0}});
  return fronts;
}

/// (fronts, voxels) arrival times, solved simultaneously.
inline std::vector<float> arrivals_of_all(const device& d, const connect_case& c, const std::vector<starts>& fronts,
                                          const connect::solver_settings& settings) {
  use_device(d);
  const auto solver = connect::make_solver(d, c.field(), settings);
  if (!solver->solve(make_fronts(fronts)).converged) throw std::runtime_error(c.name + ": the solver did not converge");
  std::vector<float> u(fronts.size() * solver->voxels());
  solver->arrivals(0, fronts.size(), u.data());
  return u;
}

inline bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Number of voxels without arrival time among those selected by `which`.
template <class Which>
std::pair<std::size_t, std::size_t> count_unreached(const connect_case& c, const std::vector<float>& u, Which&& which) {
  const auto places = places_inside(c);
  std::size_t count = 0, all = 0;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (which(places[i])) ++all, count += std::isinf(u[i]);
  return {count, all};
}

/// Tolerances between a float solver and another one, or double. First order: rounding, and rounds that end at a
/// relative change of 1e-6. Second order selects its differences from a first-order solution accurate to 1e-4, which
/// depends on the order of updates: single voxels differ by a few times that, the mean hardly at all.
struct difference_limits {
  double largest, mean;
};
inline constexpr difference_limits difference_limits_for(const connect_scheme& s) {
  return s.order == 1 ? difference_limits{2e-5, 2e-6} : difference_limits{1e-2, 1e-4};
}
/// Two float solvers that visit blocks in different orders (devices, or in place), each as far from double. Second
/// order in larger volumes than those compared with double: only another width of the front, on one CPU, changes single
/// voxels of the helix by 2.5e-2, the mean by 1.3e-4.
inline constexpr difference_limits limits_between_devices(const connect_scheme& s) {
  return s.order == 1 ? difference_limits{4e-5, 4e-6} : difference_limits{6e-2, 3e-4};
}

template <class NumberA, class NumberB>
void expect_alike(const connect_scheme& s, const connect_case& c, const std::vector<NumberA>& a,
                  const std::vector<NumberB>& b, const difference_limits& limits) {
  const double largest = largest_difference(a, b), mean = mean_difference(a, b);
  std::printf("%-10s %-10s differs by up to %.1e, in the mean %.1e\n", s.name, c.name.c_str(), largest, mean);
  EXPECT_LT(largest, limits.largest) << c.name;
  EXPECT_LT(mean, limits.mean) << c.name;
}
template <class NumberA, class NumberB>
void expect_alike(const connect_scheme& s, const connect_case& c, const std::vector<NumberA>& a,
                  const std::vector<NumberB>& b) {
  expect_alike(s, c, a, b, difference_limits_for(s));
}

}  // namespace voxherd::reference
