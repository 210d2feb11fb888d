#include <gtest/gtest.h>

#include "tests/support/connect_claims.hpp"

/// The solver is its slow double version, whatever the device does side by side.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = eikonal_cases;

device threads(int count) { return {backend::cpu, count, 0}; }

class EikonalScheme : public testing::TestWithParam<eikonal_scheme> {};

TEST_P(EikonalScheme, IsEquivalentToReference) {
  for (const auto& [c, front] : small_problems()) {
    const auto expected = solve_reference(c.field(), front, GetParam().kind, GetParam().order);
    ASSERT_TRUE(expected.converged) << c.name;
    const auto u = arrivals_of(threads(2), c, front, GetParam().settings());
    expect_alike(GetParam(), c, u, expected.arrival);
  }
}

TEST_P(EikonalScheme, FrontsSolvedTogetherAreThoseSolvedAlone) {
  const auto c = cases::ragged();
  const auto fronts = several_fronts(c);
  const auto together = arrivals_of_all(threads(2), c, fronts, GetParam().settings());
  const std::size_t n = together.size() / fronts.size();
  for (std::size_t k = 0; k < fronts.size(); ++k) {
    const auto alone = arrivals_of(threads(1), c, fronts[k], GetParam().settings());
    EXPECT_EQ(std::memcmp(alone.data(), &together[k * n], n * sizeof(float)), 0) << k;
  }
}

TEST_P(EikonalScheme, AnyNumberOfThreadsGivesTheSameBytesInEveryRun) {
  const auto c = cases::pullback(32);
  const auto expected = arrivals_of(threads(1), c, exact_ball(c, 2), GetParam().settings());
  for (const int count : {2, 3, 4, 4})
    EXPECT_TRUE(same_bytes(arrivals_of(threads(count), c, exact_ball(c, 2), GetParam().settings()), expected)) << count;
}

TEST_P(EikonalScheme, ASolverForgetsTheFrontsBefore) {
  const auto c = cases::ragged();
  const auto fronts = several_fronts(c);
  const auto solver = connect::make_solver(threads(2), c.field(), GetParam().settings());
  std::vector<float> u(solver->voxels());
  solver->solve(fronts_of(fronts));
  solver->solve(fronts_of({fronts[3]}));
  solver->arrivals(0, 1, u.data());
  EXPECT_TRUE(same_bytes(u, arrivals_of(threads(2), c, fronts[3], GetParam().settings())));
}

TEST_P(EikonalScheme, InPlaceIsTheRepeatableOneToTheTolerance) {
  for (const auto& c : {cases::ragged(), cases::pullback(32)}) {
    auto settings = GetParam().settings();
    const auto expected = arrivals_of(threads(2), c, one_voxel(c), settings);
    settings.in_place = true;
    expect_alike(GetParam(), c, arrivals_of(threads(2), c, one_voxel(c), settings), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EikonalScheme, testing::ValuesIn(eikonal_schemes));

}  // namespace
