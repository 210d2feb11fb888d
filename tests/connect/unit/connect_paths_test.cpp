#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/connect/support/connect_path_checks.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
using connect::path_end;

TEST(ConnectPaths, RegionCostsAreThoseOfTheirVoxels) { expect_region_costs(two_threads); }
TEST(ConnectPaths, PathsLeadToPoints) { expect_paths_to_points(two_threads); }
TEST(ConnectPaths, PathsStayInTheMask) {
  expect_paths_stay_inside(two_threads, {1, 0, 0});
  expect_paths_stay_inside(two_threads, {1, 2, 3});
}

connect_case constant_case(const mat3& S) {
  connect_case c =
      sampled_case("constant", std::make_shared<constant_field>(S), {{48, 48, 48}, identity3, {}}, {24, 24, 24});
  return c;
}

/// Relative excess of the costs of paths from everywhere over the exact ones.
struct excess {
  double worst = 0, mean = 0, least = INFINITY;
  double length = 0;  ///< the largest excess over the straight line's length
  std::size_t paths = 0;
};

excess cost_excess(const connect_case& c, const path_bench& bench, std::size_t step, double nearest) {
  excess e;
  for (const vec3& v : scattered_voxels(c, step)) {
    if (norm(v - c.source) < nearest) continue;
    const followed_path path = bench.follow(v);
    EXPECT_EQ(path.score.end, path_end::source);
    const double part = double(path.score.cost) / c.distance(c.source, v) - 1;
    e.length = std::max(e.length, double(path.score.length_mm) / norm(v - c.source) - 1);
    e.worst = std::max(e.worst, part), e.least = std::min(e.least, part), e.mean += part, ++e.paths;
  }
  e.mean /= static_cast<double>(e.paths);
  return e;
}

struct constant_limit {
  double ratio, worst, mean, length;
};

/// From exact arrival times. The flow's error decreases with the distance from the source; the worst paths start near
/// it and next to the fibre.
TEST(ConnectPaths, CostEqualsTheStraightLineInConstantTensors) {
  for (const vec3& fibre : {vec3{1, 2, 3}, vec3{1, 1, 1}, vec3{3, 1, 0}, vec3{1, 0, 0}})
    for (const auto& [ratio, worst, mean, length] :
         {constant_limit{3, 0.01, 0.002, 0.015}, {10, 0.02, 0.002, 0.025}, {100, 0.15, 0.003, 0.1}}) {
      connect_case c = constant_case(fibre_tensor(fibre, ratio));
      c.source = {24.3, 23.8, 24.1};
      path_bench bench(c);
      bench.set_front(exact_ball(c, 2.5), [&c](const vec3& v) { return c.distance(c.source, v); });
      const excess e = cost_excess(c, bench, 5, 6);
      EXPECT_GT(e.least, -1e-4) << "fibre " << fibre[0] << fibre[1] << fibre[2] << ", ratio " << ratio;
      EXPECT_LT(e.worst, worst) << "fibre " << fibre[0] << fibre[1] << fibre[2] << ", ratio " << ratio;
      EXPECT_LT(e.mean, mean) << "fibre " << fibre[0] << fibre[1] << fibre[2] << ", ratio " << ratio;
      EXPECT_LT(e.length, length) << "fibre " << fibre[0] << fibre[1] << fibre[2] << ", ratio " << ratio;
    }
}

TEST(ConnectPaths, CostEqualsTheDistanceInCurvedFields) {
  for (const connect_case& c : {connect_cases::half_space(64), connect_cases::pullback(64)}) {
    path_bench bench(c);
    bench.set_front(connect::starts_at_point(c.field(), {c.source[0], c.source[1], c.source[2]}, 2.5),
                    [&c](const vec3& v) { return c.distance(c.source, v); });
    ASSERT_GT(bench.started().radius, 0) << c.name;
    const excess e = cost_excess(c, bench, 6, 5);
    EXPECT_GT(e.least, -0.005) << c.name;  // tensors between voxels are interpolated
    EXPECT_LT(e.worst, 0.01) << c.name;
    EXPECT_LT(e.mean, 0.003) << c.name;
  }
}

TEST(ConnectPaths, FlowIsTheRayRatherThanTheGradient) {
  connect_case c = constant_case(fibre_tensor({1, 2, 3}, 10));
  const mat3 G = inverse(fibre_tensor({1, 2, 3}, 10));
  const auto exact = [&c](const vec3& v) { return c.distance(c.source, v); };
  path_bench bench(c);
  bench.set_front(exact_ball(c, 2.5), exact);
  double worst = 1, gradients_worst = 1;
  for (const vec3& v : scattered_voxels(c, 4)) {
    // Voxels whose neighbours are all in the image.
    if (norm(v - c.source) < 12 || *std::min_element(v.begin(), v.end()) < 4 ||
        *std::max_element(v.begin(), v.end()) > 43)
      continue;
    const auto& f = bench.flow_at(v).direction;
    const vec3 flow{double(f[0]), double(f[1]), double(f[2])}, ray = unit(c.source - v);
    worst = std::min(worst, dot(flow, ray));
    gradients_worst = std::min(gradients_worst, dot(unit(G * (c.source - v)), ray));
  }
  EXPECT_GT(worst, std::cos(0.2));
  EXPECT_LT(gradients_worst, std::cos(0.8));
  const excess rays = cost_excess(c, bench, 6, 8);

  for (const vec3& v : places_inside(c)) {
    const vec3 down = unit(G * (c.source - v));
    if (norm(v - c.source) < 1) continue;
    for (std::size_t d = 0; d < 3; ++d) bench.flow_at(v).direction[d] = static_cast<float>(down[d]);
  }
  EXPECT_GT(cost_excess(c, bench, 6, 8).mean, 20 * rays.mean);
}

TEST(ConnectPaths, FollowTheHelix) {
  const connect_case c = connect_cases::helix(0.1, 64);
  const auto solver = connect::make_solver(two_threads, c.field(), {});
  ASSERT_TRUE(solver->solve(make_fronts({connect::starts_at_point(c.field(), {48, 31, 4}, 2)})).converged);
  std::vector<float> u(solver->voxels());
  solver->arrivals(0, 1, u.data());
  for (const double turns : {0.25, 0.5}) {
    const vec3 at = connect_cases::on_helix(turns);
    const std::uint32_t voxel = mask_numbers(c)[c.linear(at)];
    const connect::path_score score = followed(*solver, {{0, voxel}})[0].score;
    const double truth =
        connect_cases::helix_length(turns) * (turns < 0.4 ? 0.994 : 0.964);  // according to a peer on a fine grid
    EXPECT_EQ(score.end, path_end::source);
    EXPECT_NEAR(double(score.cost), truth, 0.03 * truth) << turns << " turns";
    EXPECT_LT(score.cost, u[voxel]) << "the first-order arrival time is too late by some per cent";
  }
}

TEST(ConnectPaths, EndOnTheFaceOfARegion) {
  for (const double ratio : {1.0, 10.0, 100.0}) {
    const mat3 S = fibre_tensor({3, 1, 0}, ratio);
    const connect_case c = constant_case(S);
    starts slab;
    for (const vec3& v : places_inside(c))
      if (v[0] < 3) slab.push_back({mask_numbers(c)[c.linear(v)], 0});
    path_bench bench(c);
    bench.set_front(slab, [&S](const vec3& v) { return std::max(0.0, v[0] - 2) / std::sqrt(S[0][0]); });
    EXPECT_LT(bench.started().radius, 0);
    for (const vec3& v : scattered_voxels(c, 5)) {
      if (v[0] < 3 || v[1] < 20 || v[1] > 40) continue;  // the fibre reaches y - 15 from the far side
      const followed_path path = bench.follow(v);
      EXPECT_EQ(path.score.end, path_end::source);
      EXPECT_NEAR(path.points_mm.back()[0], 2, 0.05);
      // In voxels. Within a stencil of the region, where arrival times stop decreasing, the flow is off by up to a
      // twentieth.
      EXPECT_NEAR(double(path.score.cost) * std::sqrt(S[0][0]), v[0] - 2, 0.05 + 0.005 * v[0]) << "ratio " << ratio;
    }
    const followed_path none = bench.follow({1, 20, 20});
    EXPECT_EQ(none.score.steps, 0u);
    EXPECT_EQ(none.score.end, path_end::source);
    EXPECT_EQ(none.score.cost, 0);
  }
}

TEST(ConnectPaths, EndForAnyFlow) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  connect_case c = constant_case(fibre_tensor({1, 2, 3}, 30));
  for (std::size_t i = 0; i < c.inside.size(); ++i) c.inside[i] = random() % 10 > 0 || i == c.linear(c.source);
  const auto solution = solve_arrivals(two_threads, c, one_voxel(c), {});
  const auto numbers = mask_numbers(c);
  path_bench bench(c);
  bench.set_front(one_voxel(c), [&](const vec3& v) { return double(solution[numbers[c.linear(v)]]); });
  for (const vec3& v : places_inside(c)) {
    const vec3 any = unit({normal(random), normal(random), normal(random)});
    if (!bench.flow_at(v).has_direction()) continue;
    for (std::size_t d = 0; d < 3; ++d) bench.flow_at(v).direction[d] = static_cast<float>(any[d]);
  }
  for (const vec3& v : scattered_voxels(c, 4)) {
    const bool reached = std::isfinite(solution[numbers[c.linear(v)]]);
    const followed_path path = bench.follow(v);
    ASSERT_EQ(path.score.end, reached ? path_end::source : path_end::never_reached);
    for (const vec3& p : path.points_mm) ASSERT_TRUE(c.has(p));
  }
}

TEST(ConnectPaths, ReportWhyTheyEnded) {
  const connect_case c = connect_cases::island(identity3, 20);
  const auto solver = connect::make_solver(two_threads, c.field(), {});
  solver->solve(make_fronts({one_voxel(c)}));
  const auto numbers = mask_numbers(c);
  const std::uint32_t inside = numbers[c.linear({9, 9, 9})], island = numbers[c.linear(connect_cases::on_island(20))];

  const auto paths = followed(*solver, {{0, island}, {0, inside}});
  EXPECT_EQ(paths[0].score.end, path_end::never_reached);
  EXPECT_EQ(paths[0].score.steps, 0u);
  EXPECT_EQ(paths[0].points_mm, std::vector<vec3>{connect_cases::on_island(20)});
  EXPECT_EQ(paths[1].score.end, path_end::source);
  EXPECT_NEAR(paths[1].score.length_mm, 6 * std::sqrt(3), 0.05);

  const auto cut = followed(*solver, {{0, inside}}, {0.25f, 5});
  EXPECT_EQ(cut[0].score.end, path_end::steps);
  EXPECT_EQ(cut[0].score.steps, 5u);
  EXPECT_NEAR(cut[0].score.length_mm, 1.25, 1e-4);
}

TEST(ConnectPaths, DoNotDependOnOtherRequests) {
  const connect_case c = connect_cases::pullback(32);
  const auto solver = connect::make_solver(two_threads, c.field(), {});
  solver->solve(make_fronts({one_voxel(c), one_voxel(c, {3, 4, 5}), one_voxel(c, {30, 2, 9})}));
  const auto all = followed(*solver, {{2, 100}, {0, 9000}, {1, 20000}, {2, 100}, {1, 7}});
  const auto one = followed(*solver, {{1, 20000}});
  EXPECT_EQ(all[2].points_mm, one[0].points_mm);
  EXPECT_EQ(all[2].score.cost, one[0].score.cost);
  EXPECT_EQ(all[0].points_mm, all[3].points_mm);
}

TEST(ConnectPaths, RejectMissingFrontsAndVoxels) {
  const connect_case c = connect_cases::island(identity3, 20);
  const auto solver = connect::make_solver(two_threads, c.field(), {});
  solver->solve(make_fronts({one_voxel(c)}));
  EXPECT_THROW(followed(*solver, {{1, 0}}), std::invalid_argument);
  EXPECT_THROW(followed(*solver, {{0, static_cast<std::uint32_t>(solver->voxels())}}), std::invalid_argument);
  EXPECT_THROW(followed(*solver, {{0, 0}}, {0, 10}), std::invalid_argument);
  EXPECT_THROW(followed(*solver, {{0, 0}}, {1.5f, 10}), std::invalid_argument);
  EXPECT_THROW(solver->set_regions({{0, 1}, {static_cast<std::uint32_t>(solver->voxels())}}), std::invalid_argument);
  EXPECT_THROW(solver->set_regions({{0, 2}, {1}}), std::invalid_argument);
}

TEST(ConnectFrontStart, IsThePointOfTheStarts) {
  for (const double ratio : {1.0, 10.0, 100.0}) {
    const connect_case c = constant_case(fibre_tensor({1, 2, 3}, ratio));
    const auto lattice = connect::build_lattice(c.field(), 1);
    for (const vec3& point : {vec3{20, 21, 22}, vec3{20.4, 20.6, 21.5}, vec3{0.3, 0.2, 47.3}}) {
      const auto front = connect::starts_at_point(c.field(), {point[0], point[1], point[2]}, 2.5);
      const auto found = connect::find_front_starts(lattice, make_fronts({front}))[0];
      ASSERT_GT(found.radius, 0) << ratio;
      for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(double(found.point[d]), point[d], 1e-3) << ratio;
    }
  }
}

TEST(ConnectFrontStart, IsNotAPointForRegions) {
  const connect_case c = constant_case(fibre_tensor({1, 2, 3}, 10));
  const auto lattice = connect::build_lattice(c.field(), 1);
  const auto radius = [&](const starts& front) {
    return connect::find_front_starts(lattice, make_fronts({front}))[0].radius;
  };
  EXPECT_LT(radius({{100, 0}, {101, 0}}), 0);
  EXPECT_LT(radius({{100, 0}, {101, 0.5f}, {102, 0}}), 0);
  EXPECT_LT(radius({{100, 0}, {101, 0}, {148, 0}, {2404, 0}}), 0);
  EXPECT_GT(radius({{100, 0}}), 0);
}

}  // namespace
