#include "tests/connect/reference/connect_reference.hpp"

#include <gtest/gtest.h>

#include "tests/connect/reference/connect_updates.hpp"
#include "tests/connect/support/connect_case.hpp"

/// The slow solver compared with values computed by hand.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = connect_cases;

/// A slice given as characters, '#' outside the mask.
struct drawn_mask {
  explicit drawn_mask(const std::vector<std::string>& rows, std::uint64_t slices = 1) {
    for (std::uint64_t z = 0; z < slices; ++z)
      for (const auto& row : rows)
        for (const char c : row) inside.push_back(c == '#' ? 0 : 1);
    tensors.resize(8 * inside.size(), 0);
    field = {{rows[0].size(), rows.size(), slices}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}, tensors, inside};
  }
  std::vector<std::uint8_t> inside;
  std::vector<float> tensors;
  connect::speed_field field;
};

TEST(ConnectReference, StepsGoAroundOneCornerAndNotBetweenTwo) {
  const drawn_mask one({".#", ".."}), two({".#", "#."});
  EXPECT_TRUE(step_is_open(one.field, {0, 0, 0}, {1, 1, 0}));
  EXPECT_FALSE(step_is_open(two.field, {0, 0, 0}, {1, 1, 0}));
  EXPECT_FALSE(step_is_open(one.field, {0, 0, 0}, {1, 0, 0}));
  EXPECT_FALSE(step_is_open(one.field, {0, 0, 0}, {0, 0, 1}));
}

TEST(ConnectReference, LongStepsNeedEveryVoxelOnTheLine) {
  // From (0, 0) to (3, 1): (0, 0), (1, 0), the edge between (1, 0) and (2, 1), (2, 1), (3, 1).
  EXPECT_TRUE(step_is_open(drawn_mask({"..##", "#..."}).field, {0, 0, 0}, {3, 1, 0}));
  EXPECT_TRUE(step_is_open(drawn_mask({"...#", "##.."}).field, {0, 0, 0}, {3, 1, 0}));
  EXPECT_FALSE(step_is_open(drawn_mask({"..##", "##.."}).field, {0, 0, 0}, {3, 1, 0}));
  EXPECT_FALSE(step_is_open(drawn_mask({".#..", "...."}).field, {0, 0, 0}, {3, 1, 0}));
}

TEST(ConnectReference, ACornerIsPassedByTwoFacesInside) {
  drawn_mask cube({"..", ".."}, 2);
  const auto open = [&](std::initializer_list<std::size_t> outside) {
    cube.inside.assign(8, 1);
    for (const std::size_t i : outside) cube.inside[i] = 0;
    return step_is_open(cube.field, {0, 0, 0}, {1, 1, 1});
  };
  EXPECT_TRUE(open({}));
  EXPECT_TRUE(open({1, 2, 5}));  // via (0, 0, 1) and (0, 1, 1)
  EXPECT_FALSE(open({1, 2, 6, 5}));
  EXPECT_FALSE(open({1, 2, 4}));
  EXPECT_FALSE(open({3, 5, 6}));
}

TEST(ConnectReference, SellingsDirectionsAddUpToTheTensor) {
  for (const double ratio : {1.0, 3.0, 100.0, 1e4})
    for (const vec3& t : {vec3{1, 2, 3}, vec3{1, 0, 0}, vec3{3, -1, 0}, vec3{-1, 1, 1}}) {
      const mat3 S = fibre_tensor(t, ratio);
      mat3 sum{};
      for (const auto& [weight, e] :
           selling_decomposition_vectors({S[0][0], S[0][1], S[0][2], S[1][1], S[1][2], S[2][2]})) {
        EXPECT_GE(weight, 0);
        const vec3 d{double(e[0]), double(e[1]), double(e[2])};
        sum = sum + weight * outer(d, d);
      }
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(sum[i][j], S[i][j], 1e-12);
    }
}

TEST(ConnectReference, UpwindRootIgnoresLaterNeighbours) {
  EXPECT_DOUBLE_EQ(upwind_root({{4, 3}}), 3.5);
  EXPECT_DOUBLE_EQ(upwind_root({{1, 2}, {1, 2}}), 2 + std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(upwind_root({{1, 2}, {1, 3}}), 3);
  EXPECT_DOUBLE_EQ(upwind_root({{1, 5}, {1, 2}, {0, 1}, {9, INFINITY}}), 3);
  // (u - 1)^2 + (u - 1.6)^2 = 1
  EXPECT_NEAR(upwind_root({{1, 1}, {1, 1.6}}), (2.6 + std::sqrt(2 - 0.36)) / 2, 1e-15);
  EXPECT_EQ(upwind_root({{1, INFINITY}}), INFINITY);
}

TEST(ConnectReference, SimplicesGiveTheLeastCostStraightPath) {
  const mat3 S = 4 * identity3;
  EXPECT_DOUBLE_EQ(simplex_cost(S, {{1, 0, 0}}, {3}), 3.5);
  EXPECT_NEAR(simplex_cost(S, {{1, 0, 0}, {0, 1, 0}}, {3, 3}), 3 + std::sqrt(0.5) / 2, 1e-14);
  EXPECT_NEAR(simplex_cost(S, {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}, {3, 3, 3}), 3 + std::sqrt(1.0 / 3) / 2, 1e-14);
  EXPECT_EQ(simplex_cost(S, {{1, 0, 0}, {0, 1, 0}}, {3, 3.9}), INFINITY);  // straight from the first is cheaper
  EXPECT_EQ(octant_simplices().size(), 26u);
  EXPECT_EQ(cube_simplices().size(), 26u + 72 + 48);
}

/// Along an axis of the tensor first order is exact, elsewhere it is not.
TEST(ConnectReference, IsExactAlongTheAxesOfADiagonalTensor) {
  const auto c = cases::constant({{{0.25, 0, 0}, {0, 1, 0}, {0, 0, 4}}}, 8);  // voxels of 8 units
  for (const auto& s : connect_schemes) {
    const auto u = solve_reference(c.field(), one_voxel(c), s.kind, s.order);
    ASSERT_TRUE(u.converged);
    for (const vec3& e : {vec3{3, 0, 0}, vec3{0, -4, 0}, vec3{0, 0, 2}})
      EXPECT_NEAR(arrival_at(c, u.arrival, c.source + e), c.distance(c.source, c.source + e), 1e-6) << s.name;
  }
}

}  // namespace
