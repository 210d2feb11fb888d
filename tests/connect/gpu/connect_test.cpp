#include <gtest/gtest.h>

#include <cstdio>

#include "tests/connect/support/connect_claims.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = connect_cases;

class ConnectCuda : public testing::TestWithParam<connect_scheme> {
 protected:
  void SetUp() override { skip_without_gpu(); }
};

TEST_P(ConnectCuda, IsEquivalentToReference) {
  for (const auto& [c, front] : small_problems()) {
    const auto expected = solve_reference(c.field(), front, GetParam().kind, GetParam().order);
    ASSERT_TRUE(expected.converged) << c.name;
    expect_alike(GetParam(), c, solve_arrivals(first_gpu, c, front, GetParam().settings()), expected.arrival);
  }
}

/// With more blocks than a GPU can process at once.
TEST_P(ConnectCuda, IsEquivalentToCpu) {
  for (const auto& c : {cases::pullback(72), cases::helix(0.01, 64)}) {
    const auto expected = solve_arrivals(two_threads, c, one_voxel(c), GetParam().settings());
    expect_alike(GetParam(), c, solve_arrivals(first_gpu, c, one_voxel(c), GetParam().settings()), expected,
                 limits_between_devices(GetParam()));
  }
}

TEST_P(ConnectCuda, FrontsSolvedTogetherEqualThoseSolvedSeparately) {
  const auto c = cases::ragged();
  const auto fronts = several_fronts(c);
  const auto together = arrivals_of_all(first_gpu, c, fronts, GetParam().settings());
  const std::size_t n = together.size() / fronts.size();
  for (std::size_t k = 0; k < fronts.size(); ++k) {
    const auto alone = solve_arrivals(first_gpu, c, fronts[k], GetParam().settings());
    EXPECT_EQ(std::memcmp(alone.data(), &together[k * n], n * sizeof(float)), 0) << k;
  }
}

/// Many fronts keep all multiprocessors busy, so that the order of blocks varies.
TEST_P(ConnectCuda, EveryRunGivesTheSameBytes) {
  const auto c = cases::pullback(40);
  std::vector<starts> fronts;
  const auto voxels = static_cast<std::uint32_t>(c.inside.size());
  for (std::uint32_t k = 0; k < 24; ++k) fronts.push_back({{(k * 2654435761u) % voxels, 0}});
  const auto expected = arrivals_of_all(first_gpu, c, fronts, GetParam().settings());
  for (int run = 0; run < 5; ++run)
    EXPECT_TRUE(same_bytes(arrivals_of_all(first_gpu, c, fronts, GetParam().settings()), expected)) << run;
}

TEST_P(ConnectCuda, SolverForgetsPreviousFronts) {
  const auto c = cases::ragged();
  const auto fronts = several_fronts(c);
  use_device(first_gpu);
  const auto solver = connect::make_solver(first_gpu, c.field(), GetParam().settings());
  std::vector<float> u(solver->voxels());
  solver->solve(make_fronts(fronts));
  solver->solve(make_fronts({fronts[3]}));
  solver->arrivals(0, 1, u.data());
  EXPECT_TRUE(same_bytes(u, solve_arrivals(first_gpu, c, fronts[3], GetParam().settings())));
}

TEST_P(ConnectCuda, InPlaceAgreesWithRepeatableToTheTolerance) {
  for (const auto& c : {cases::ragged(), cases::pullback(40)}) {
    auto settings = GetParam().settings();
    const auto expected = solve_arrivals(first_gpu, c, one_voxel(c), settings);
    settings.in_place = true;
    expect_alike(GetParam(), c, solve_arrivals(first_gpu, c, one_voxel(c), settings), expected,
                 limits_between_devices(GetParam()));
  }
}

TEST_P(ConnectCuda, WallsCornersAndEdgesAreImpassable) {
  constexpr std::uint64_t side = 24;
  for (const mat3& S : {identity3, fibre_tensor({1, 1, 0}, 100), fibre_tensor({1, 1, 1}, 100)})
    for (const auto how : {cases::passage::edge, cases::passage::corner, cases::passage::wall}) {
      const auto c = cases::two_rooms(how, S, side);
      const auto u = solve_arrivals(first_gpu, c, one_voxel(c), GetParam().settings());
      const auto [beyond, all] = count_unreached(c, u, [&](const vec3& x) {
        return how == cases::passage::wall ? x[0] + x[1] > double(side) : x[0] >= double(side / 2);
      });
      EXPECT_EQ(beyond, all) << c.name;
      EXPECT_TRUE(std::isinf(arrival_at(c, u, cases::other_room(how, side))));
      EXPECT_FALSE(std::isinf(arrival_at(c, u, {6, 5, 4})));
    }
}

TEST_P(ConnectCuda, AnIslandIsNotReached) {
  const auto c = cases::island(fibre_tensor({1, 1, 1}, 100), 24);
  const auto u = solve_arrivals(first_gpu, c, one_voxel(c), GetParam().settings());
  const auto is_island = [](const vec3& x) { return x[0] > 24 * 3 / 5; };
  const auto [island, all_island] = count_unreached(c, u, is_island);
  EXPECT_EQ(island, all_island);
  EXPECT_EQ(count_unreached(c, u, [&](const vec3& x) { return !is_island(x); }).first, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, ConnectCuda, testing::ValuesIn(connect_schemes));

/// The device-independent numbers of the table in tests/connect/science/connect_accuracy_test.cpp.
TEST(ConnectCudaAccuracy, IsThatOfTheCpu) {
  skip_without_gpu();
  if (IsSkipped()) return;
  for (const auto make : {cases::paper_example, cases::half_space, cases::pullback})
    for (const auto& scheme : connect_schemes) {
      const auto c = make(64);
      const double there = relative_l1(c, solve_arrivals(first_gpu, c, exact_ball(c, 2), scheme.settings()));
      const double here = relative_l1(c, solve_arrivals(two_threads, c, exact_ball(c, 2), scheme.settings()));
      std::printf("%-13s %-10s relative L1 %.3f %%\n", c.name.c_str(), scheme.name, 100 * there);
      EXPECT_NEAR(there, here, difference_limits_for(scheme).mean) << c.name << ' ' << scheme.name;
    }
}

}  // namespace
