#include <gtest/gtest.h>

#include <atomic>

#include "tests/connect/support/connect_case.hpp"

/// A solve that is stopped between two rounds.
namespace {

using namespace voxherd;
using namespace voxherd::reference;
namespace cases = connect_cases;

class ConnectStop : public testing::TestWithParam<connect_scheme> {};

TEST_P(ConnectStop, EndsTheSolveAndLeavesTheNextOneAsItWas) {
  const auto c = cases::pullback(24);
  const auto fronts = make_fronts({one_voxel(c), one_voxel(c, {4, 4, 4})});
  for (const int threads : {1, 4}) {  // a front per thread, and threads that share the blocks of a front
    const device d{backend::cpu, threads, 0};
    use_device(d);
    const auto solver = connect::make_solver(d, c.field(), GetParam().settings());
    std::vector<float> complete(2 * solver->voxels()), again(complete.size());
    const auto first = solver->solve(fronts);
    ASSERT_TRUE(first.converged);
    solver->arrivals(0, 2, complete.data());

    std::atomic<int> asked{0};
    solver->stop_when([&] { return ++asked > 3; });
    const auto stopped = solver->solve(fronts);
    EXPECT_FALSE(stopped.converged);
    EXPECT_LT(stopped.visits, first.visits / 2);
    EXPECT_LE(asked.load(), 5);  // three rounds, and the end of either front

    solver->stop_when({});
    EXPECT_TRUE(solver->solve(fronts).converged);
    solver->arrivals(0, 2, again.data());
    EXPECT_EQ(again, complete);
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, ConnectStop, testing::ValuesIn(connect_schemes),
                         [](const auto& scheme) { return std::to_string(scheme.index); });

}  // namespace
