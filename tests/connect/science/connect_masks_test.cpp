#include <gtest/gtest.h>

#include "tests/connect/support/connect_claims.hpp"
#include "tests/support/devices.hpp"

/// Fronts stay in the mask and reach all of it.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = connect_cases;
using cases::passage;

constexpr std::uint64_t edge = 24;

class ConnectMasks : public testing::TestWithParam<connect_scheme> {};

TEST_P(ConnectMasks, CorridorOfOneVoxelIsPassableAtItsCost) {
  const auto c = cases::two_rooms(passage::corridor, identity3, edge);
  const auto u = solve_arrivals(two_threads, c, one_voxel(c), GetParam().settings());
  const auto [in, out] = cases::corridor_ends(edge);
  const vec3 target = cases::other_room(passage::corridor, edge);
  const double way = norm(in - c.source) + norm(out - in) + norm(target - out);
  const double got = arrival_at(c, u, target);
  EXPECT_GT(got, way - 1);  // the path may cut the corners of a corridor one voxel wide
  EXPECT_LT(got, 1.25 * way);
  EXPECT_GT(way - 1, 1.2 * norm(target - c.source));  // so the path does not cross the walls
  EXPECT_EQ(count_unreached(c, u, [](const vec3&) { return true; }).first, 0u);
}

/// Tensors whose stencils extend far beyond a wall of one voxel.
TEST_P(ConnectMasks, WallsCornersAndEdgesAreImpassable) {
  const mat3 tensors[] = {identity3, fibre_tensor({1, 1, 0}, 100), fibre_tensor({1, 1, 1}, 100),
                          fibre_tensor({1, 2, 3}, 1000)};
  for (const mat3& S : tensors)
    for (const passage how : {passage::edge, passage::corner, passage::wall}) {
      const auto c = cases::two_rooms(how, S, edge);
      const auto u = solve_arrivals(two_threads, c, one_voxel(c), GetParam().settings());
      const double half = double(edge / 2);
      const auto [beyond, all_beyond] = count_unreached(
          c, u, [&](const vec3& x) { return how == passage::wall ? x[0] + x[1] > double(edge) : x[0] >= half; });
      const auto [here, all_here] = count_unreached(
          c, u, [&](const vec3& x) { return how == passage::wall ? x[0] + x[1] < double(edge) : x[0] < half; });
      EXPECT_EQ(beyond, all_beyond) << c.name;
      EXPECT_GT(all_beyond, 1000u);
      EXPECT_EQ(here, 0u) << c.name << " of " << all_here;
    }
}

/// Voxels of the mask, by number, that are face-connected with number `first`.
std::vector<std::uint8_t> connected_part(const connect_case& c, std::size_t first) {
  const auto numbers = mask_numbers(c);
  const auto places = places_inside(c);
  std::vector<std::uint8_t> in(places.size(), 0);
  std::vector<std::size_t> part{first};
  in[first] = 1;
  for (std::size_t n = 0; n < part.size(); ++n)
    for (const vec3& e : {vec3{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}) {
      const vec3 near = places[part[n]] + e;
      if (!c.has(near)) continue;
      const std::size_t number = numbers[c.linear(near)];
      if (in[number] == 0) part.push_back(number);
      in[number] = 1;
    }
  return in;
}

/// Tensors with long stencils, in a mask with every second voxel missing, and in narrow passages.
TEST_P(ConnectMasks, FaceConnectedVoxelsReachEachOther) {
  auto porous = cases::ragged();
  for (std::size_t i = 0; i < porous.inside.size(); ++i)
    if (std::uint64_t{i} * 0x9e3779b97f4a7c15u >> 40 & 1) porous.inside[i] = 0;
  for (const auto& c : {porous, cases::two_rooms(passage::corridor, fibre_tensor({1, 2, 3}, 1000), 16),
                        cases::two_rooms(passage::wall, fibre_tensor({1, -3, 2}, 100), 16)}) {
    const auto places = places_inside(c);
    std::vector<starts> fronts;
    for (std::size_t first = 0; first < places.size(); first += places.size() / 30)
      fronts.push_back({{static_cast<std::uint32_t>(first), 0}});
    const auto u = arrivals_of_all(two_threads, c, fronts, GetParam().settings());
    for (std::size_t k = 0; k < fronts.size(); ++k) {
      const auto part = connected_part(c, fronts[k][0].voxel);
      std::size_t missed = 0, leaked = 0;
      for (std::size_t n = 0; n < part.size(); ++n) {
        const bool reached = std::isfinite(u[k * part.size() + n]);
        missed += part[n] != 0 && !reached, leaked += part[n] == 0 && reached;
      }
      EXPECT_EQ(missed, 0u) << c.name << ", front " << k;
      EXPECT_EQ(leaked, 0u) << c.name << ", front " << k;
    }
  }
}

TEST_P(ConnectMasks, AnIslandIsNotReachedAndHasItsOwnFronts) {
  const auto c = cases::island(fibre_tensor({1, 1, 1}, 100), edge);
  const vec3 there = cases::on_island(edge);
  const auto u = arrivals_of_all(two_threads, c, {one_voxel(c), one_voxel(c, there)}, GetParam().settings());
  const std::size_t n = u.size() / 2;
  const auto is_island = [&](const vec3& x) { return x[0] > double(edge * 3 / 5); };
  for (const bool from_island : {false, true}) {
    const std::vector<float> one(u.begin() + (from_island ? long(n) : 0),
                                 u.begin() + (from_island ? 2 * long(n) : long(n)));
    const auto [island, all_island] = count_unreached(c, one, is_island);
    const auto [land, all_land] = count_unreached(c, one, [&](const vec3& x) { return !is_island(x); });
    EXPECT_EQ(island, from_island ? 0 : all_island);
    EXPECT_EQ(land, from_island ? all_land : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConnectMasks, testing::ValuesIn(connect_schemes));

TEST(ConnectSolver, RejectsInvalidProblems) {
  const auto c = cases::island(identity3, edge);
  auto settings = godunov27.settings();
  settings.order = 2;
  EXPECT_THROW(connect::make_solver(two_threads, c.field(), settings), std::invalid_argument);
  auto empty = c;
  std::fill(empty.inside.begin(), empty.inside.end(), std::uint8_t{0});
  EXPECT_THROW(connect::make_solver(two_threads, empty.field(), {}), std::invalid_argument);
  auto shorter = c;
  shorter.tensors.resize(8);
  EXPECT_THROW(connect::make_solver(two_threads, shorter.field(), {}), std::invalid_argument);
  EXPECT_THROW(connect::starts_at_point(c.field(), {0, 23, 0}, 2), std::invalid_argument);
}

/// In a constant field the ball's times are exact, also for sources between voxels.
TEST(ConnectSolver, StartsAtAPointAreExactNearIt) {
  const auto c = cases::constant(fibre_tensor({1, 2, 3}, 10), 16);
  const vec3 point{7.3, 8.4, 7.9};
  const auto ball = connect::starts_at_point(c.field(), point, 2.5);
  const auto places = places_inside(c);
  std::size_t within = 0;
  for (const vec3& x : places) within += norm(x - point) <= 2.5;
  EXPECT_EQ(ball.size(), within);
  for (const auto& [voxel, arrival] : ball)
    EXPECT_NEAR(arrival, c.distance(point, places[voxel]), 1e-5 * arrival + 1e-6);
}

/// The ball does not extend through a wall.
TEST(ConnectSolver, StartsAtAPointStayInTheRoom) {
  const auto c = cases::two_rooms(passage::wall, identity3, edge);
  const auto places = places_inside(c);
  for (const auto& [voxel, arrival] : connect::starts_at_point(c.field(), {12, 11, 10}, 4))
    EXPECT_LT(places[voxel][0] + places[voxel][1], double(edge));
}

}  // namespace
