#pragma once

#include <gtest/gtest.h>

#include "tests/connect/support/connect_paths.hpp"

/// Requirements on regions and paths on any device.
namespace voxherd::reference {

inline void expect_region_costs(const device& d) {
  use_device(d);
  const connect_case c = connect_cases::island(fibre_tensor({1, 2, 3}, 10), 20);
  const auto solver = connect::make_solver(d, c.field(), {});
  const std::uint32_t far = mask_numbers(c)[c.linear(connect_cases::on_island(20))];
  solver->solve(make_fronts({one_voxel(c), one_voxel(c, {1, 9, 5})}));
  // Some hundred voxels, one of them twice; none; the island; some of both; overlapping the first.
  connect::region_list regions;
  const auto add = [&regions](const std::vector<std::uint32_t>& voxels) {
    regions.voxels.insert(regions.voxels.end(), voxels.begin(), voxels.end());
    regions.offsets.push_back(regions.voxels.size());
  };
  std::vector<std::uint32_t> many{300};
  for (std::uint32_t v = 200; v < 500; ++v) many.push_back(v);
  add(many), add({}), add({far}), add({7, far, 5}), add({499, 498, 200});
  solver->set_regions(regions);
  std::vector<connect::region_cost> costs(2 * regions.regions());
  solver->region_costs(costs.data());

  for (std::size_t k = 0; k < 2; ++k) {
    std::vector<float> u(solver->voxels());
    solver->arrivals(k, 1, u.data());
    for (std::size_t r = 0; r < regions.regions(); ++r) {
      float least = INFINITY;
      std::uint32_t where = ~0u, reached = 0;
      double sum = 0;
      for (std::uint64_t i = regions.offsets[r]; i < regions.offsets[r + 1]; ++i) {
        const std::uint32_t v = regions.voxels[i];
        if (std::isinf(u[v])) continue;
        if (u[v] < least) least = u[v], where = v;
        sum += double(u[v]), ++reached;
      }
      const connect::region_cost& cost = costs[k * regions.regions() + r];
      EXPECT_EQ(cost.least, least) << "front " << k << ", region " << r;
      EXPECT_EQ(cost.min_voxel, where);
      EXPECT_EQ(cost.reached, reached);
      EXPECT_EQ(cost.mean, reached > 0 ? static_cast<float>(sum / reached) : INFINITY);
    }
  }
  EXPECT_EQ(costs[3].reached, 2u);
  EXPECT_EQ(costs[2].reached, 0u);
}

/// From points off the voxel centres, in an image with oblique axes and voxels of three sizes.
inline void expect_paths_to_points(const device& d) {
  use_device(d);
  const mat3 S = fibre_tensor({1, 2, 3}, 10), G = inverse(S);
  connect_case c = connect_cases::constant(S, 64);
  c.size = {40, 36, 32};
  c.tensors.resize(8 * 40 * 36 * 32);
  c.inside.assign(40 * 36 * 32, 1);
  connect::speed_field field = c.field();
  const mat3 axes{{{1.8, 0.4, -0.3}, {-0.5, 2.1, 0.2}, {0.3, 0.1, 2.9}}};
  const vec3 origin{-90, 12, 55}, points[2] = {{20.3, 17.8, 15.6}, {6, 30, 4}};
  for (std::size_t i = 0; i < 9; ++i) field.axes_mm[i] = axes[i / 3][i % 3];
  field.origin_mm = {origin[0], origin[1], origin[2]};
  const auto solver = connect::make_solver(d, field, {});
  std::vector<starts> fronts;
  for (const vec3& p : points) fronts.push_back(connect::starts_at_point(field, {p[0], p[1], p[2]}, 2.5));
  ASSERT_TRUE(solver->solve(make_fronts(fronts)).converged);
  std::vector<connect::path_request> requests;
  std::vector<vec3> voxels;
  const auto numbers = mask_numbers(c);
  for (const vec3& v : scattered_voxels(c, 5))
    for (std::uint32_t front = 0; front < 2; ++front)
      requests.push_back({front, numbers[c.linear(v)]}), voxels.push_back(v);

  const auto paths = followed(*solver, requests);

  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto& [score, mm] = paths[i];
    const vec3& point = points[requests[i].front];
    const vec3 way = voxels[i] - point;
    ASSERT_EQ(score.end, connect::path_end::source);
    EXPECT_LT(norm(mm.front() - (origin + axes * voxels[i])), 1e-4);
    EXPECT_LT(norm(mm.back() - (origin + axes * point)), 1e-3) << "front " << requests[i].front;
    EXPECT_NEAR(length_of(mm), double(score.length_mm), 1e-3 * (1 + double(score.length_mm)));
    const double cost = std::sqrt(form(way, G, way));
    EXPECT_GT(double(score.cost), cost * (1 - 1e-4) - 1e-4) << "less than the cost of the straight line";
    EXPECT_LT(double(score.cost), cost * 1.02 + 1e-4);
  }
}

/// Through a corridor of one voxel along x, for every scheme. One of Selling's directions must be exactly x, otherwise
/// the steps across faces find the path.
inline void expect_paths_stay_inside(const device& d, const vec3& fibre) {
  use_device(d);
  for (const connect_scheme& scheme : connect_schemes) {
    const connect_case c = connect_cases::two_rooms(connect_cases::passage::corridor, fibre_tensor(fibre, 10), 24);
    const auto solver = connect::make_solver(d, c.field(), scheme.settings());
    ASSERT_TRUE(solver->solve(make_fronts({one_voxel(c)})).converged);
    std::vector<float> u(solver->voxels());
    solver->arrivals(0, 1, u.data());
    std::vector<connect::path_request> requests;
    const auto numbers = mask_numbers(c);
    std::size_t from_other_room = 0;
    for (const vec3& v : scattered_voxels(c, 3)) {
      const std::uint32_t number = numbers[c.linear(v)];
      if (std::isfinite(u[number])) requests.push_back({0, number});
      if (std::isfinite(u[number]) && v[0] > 16) ++from_other_room;
    }
    EXPECT_GT(from_other_room, 100u) << scheme.name;
    for (const auto& [score, mm] : followed(*solver, requests)) {
      ASSERT_EQ(score.end, connect::path_end::source) << scheme.name;
      EXPECT_LT(norm(mm.back() - c.source), 1e-4) << scheme.name;
      for (std::size_t i = 0; i < mm.size(); ++i) {
        ASSERT_TRUE(c.has(mm[i])) << scheme.name;
        for (int part = 1; part < 10 && i > 0; ++part)
          ASSERT_TRUE(c.has(mm[i - 1] + 0.1 * part * (mm[i] - mm[i - 1]))) << scheme.name;
      }
    }
  }
}

}  // namespace voxherd::reference
