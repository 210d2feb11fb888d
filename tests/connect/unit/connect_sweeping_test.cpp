#include "tests/connect/reference/connect_sweeping.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/connect/support/connect_case.hpp"

/// The other solvers of Jeong 2007 give arrival times of the same equation.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = connect_cases;

double error_of(const connect_case& c, sweeping_scheme scheme, double ball) {
  const auto solved = solve_by_sweeping(c.field(), exact_ball(c, c.source, ball), scheme);
  EXPECT_TRUE(solved.converged);
  return relative_l1(c, solved.arrival);
}

TEST(ConnectSweeping, GodunovGivesTheFixedPointOfTheBlockSolver) {
  for (const connect_case& c : {cases::paper_example(24), cases::pullback(24), cases::ragged()}) {
    const auto start = one_voxel(c);
    const auto solved = solve_by_sweeping(c.field(), start, sweeping_scheme::godunov, 1e-9);
    const auto blocks = solve_arrivals({backend::cpu, 1, 0}, c, start, godunov27.settings());
    ASSERT_EQ(solved.arrival.size(), blocks.size());
    EXPECT_TRUE(solved.converged) << c.name;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      ASSERT_NEAR(solved.arrival[i], blocks[i], 3e-5 * blocks[i]) << c.name << ' ' << i;
  }
}

TEST(ConnectSweeping, LaxFriedrichsIsExactWhereTheArrivalTimeIsLinear) {
  // From a face of the cube: u = x / speed.
  connect_case c = cases::constant(mat3{{{4, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 8);
  starts face;
  for (std::uint32_t i = 0; i < c.inside.size(); i += 8) face.push_back({i, 0});
  const auto solved = solve_by_sweeping(c.field(), face, sweeping_scheme::lax_friedrichs, 1e-9);
  const float spacing = solved.arrival[1];
  EXPECT_GT(spacing, 0);
  for (std::uint32_t i = 0; i < c.inside.size(); ++i)
    ASSERT_NEAR(solved.arrival[i], static_cast<float>(i % 8) * spacing, 1e-5) << i;
}

TEST(ConnectSweeping, LaxFriedrichsConvergesToTheTrueTimesAndIsTheLeastAccurate) {
  const double coarse = error_of(cases::paper_example(16), sweeping_scheme::lax_friedrichs, 0.5),
               fine = error_of(cases::paper_example(32), sweeping_scheme::lax_friedrichs, 1);
  EXPECT_LT(fine, 0.75 * coarse);
  EXPECT_GT(fine, error_of(cases::paper_example(32), sweeping_scheme::godunov, 1));
}

}  // namespace
