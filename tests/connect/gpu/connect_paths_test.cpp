#include <gtest/gtest.h>

#include "tests/connect/support/connect_path_checks.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

class ConnectPathsCuda : public gpu_test {};

TEST_F(ConnectPathsCuda, RegionCostsAreThoseOfTheirVoxels) { expect_region_costs(gpu); }
TEST_F(ConnectPathsCuda, PathsLeadToPoints) { expect_paths_to_points(gpu); }
TEST_F(ConnectPathsCuda, PathsStayInTheMask) {
  expect_paths_stay_inside(gpu, {1, 0, 0});
  expect_paths_stay_inside(gpu, {1, 2, 3});
}

TEST_F(ConnectPathsCuda, TwoRunsGiveTheSameBytes) {
  use_device(gpu);
  const connect_case c = connect_cases::helix(0.1, 48);
  const auto solver = connect::make_solver(gpu, c.field(), {});
  std::vector<connect::path_request> requests;
  for (const vec3& v : scattered_voxels(c, 6)) requests.push_back({0, mask_numbers(c)[c.linear(v)]});
  std::vector<followed_path> runs[2];
  for (auto& run : runs) {
    solver->solve(make_fronts({one_voxel(c)}));
    run = followed(*solver, requests);
  }

  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(runs[0][i].score.cost, runs[1][i].score.cost);
    EXPECT_EQ(runs[0][i].score.length_mm, runs[1][i].score.length_mm);
    EXPECT_EQ(runs[0][i].points_mm, runs[1][i].points_mm);
  }
}

}  // namespace
