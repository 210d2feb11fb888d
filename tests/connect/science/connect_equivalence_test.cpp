#include <gtest/gtest.h>

#include "tests/connect/support/connect_claims.hpp"

/// The solver agrees with its slow double version for any order of parallel work.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = connect_cases;

device threads(int count) { return {backend::cpu, count, 0}; }

class ConnectScheme : public testing::TestWithParam<connect_scheme> {};

TEST_P(ConnectScheme, IsEquivalentToReference) {
  for (const auto& [c, front] : small_problems()) {
    const auto expected = solve_reference(c.field(), front, GetParam().kind, GetParam().order);
    ASSERT_TRUE(expected.converged) << c.name;
    const auto u = solve_arrivals(threads(2), c, front, GetParam().settings());
    expect_alike(GetParam(), c, u, expected.arrival);
  }
}

TEST_P(ConnectScheme, FrontsSolvedTogetherEqualThoseSolvedSeparately) {
  const auto c = cases::ragged();
  const auto fronts = several_fronts(c);
  const auto together = arrivals_of_all(threads(2), c, fronts, GetParam().settings());
  const std::size_t n = together.size() / fronts.size();
  for (std::size_t k = 0; k < fronts.size(); ++k) {
    const auto alone = solve_arrivals(threads(1), c, fronts[k], GetParam().settings());
    EXPECT_EQ(std::memcmp(alone.data(), &together[k * n], n * sizeof(float)), 0) << k;
  }
}

TEST_P(ConnectScheme, AnyNumberOfThreadsGivesTheSameBytesInEveryRun) {
  const auto c = cases::pullback(32);
  const auto expected = solve_arrivals(threads(1), c, exact_ball(c, 2), GetParam().settings());
  for (const int count : {2, 3, 4, 4})
    EXPECT_TRUE(same_bytes(solve_arrivals(threads(count), c, exact_ball(c, 2), GetParam().settings()), expected))
        << count;
}

TEST_P(ConnectScheme, SolverForgetsPreviousFronts) {
  const auto c = cases::ragged();
  const auto fronts = several_fronts(c);
  const auto solver = connect::make_solver(threads(2), c.field(), GetParam().settings());
  std::vector<float> u(solver->voxels());
  solver->solve(make_fronts(fronts));
  solver->solve(make_fronts({fronts[3]}));
  solver->arrivals(0, 1, u.data());
  EXPECT_TRUE(same_bytes(u, solve_arrivals(threads(2), c, fronts[3], GetParam().settings())));
}

TEST_P(ConnectScheme, InPlaceAgreesWithRepeatableToTheTolerance) {
  for (const auto& c : {cases::ragged(), cases::pullback(32)}) {
    auto settings = GetParam().settings();
    const auto expected = solve_arrivals(threads(2), c, one_voxel(c), settings);
    settings.in_place = true;
    expect_alike(GetParam(), c, solve_arrivals(threads(2), c, one_voxel(c), settings), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConnectScheme, testing::ValuesIn(connect_schemes));

}  // namespace
