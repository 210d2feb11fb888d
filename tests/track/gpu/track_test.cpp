#include <gtest/gtest.h>

#include "tests/track/reference/track_reference.hpp"

namespace voxherd::track {
namespace {

class TrackCuda : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (visible_gpus(&why).empty()) GTEST_SKIP() << "no GPU: " << why;
    use_device(gpu);
  }
  const device gpu{backend::cuda, 1, 0};
};

// Decisions are integers and positions are rounded the same, so that the counts are the same, not only close.
TEST_F(TrackCuda, CountsAreThoseOfTheCpuUnderEveryCondition) {
  for (int variant = 0; variant < 6; ++variant) {
    SCOPED_TRACE(variant);
    track_case c = bent_case();
    for (int y = 1; y < 11; ++y)
      for (int z = 1; z < 10; ++z) {
        c.set_marks(10, y, z, 1u << mark::first_waypoint);
        c.set_marks(3, y, z, 2u << mark::first_waypoint);
        if (y > 8) c.set_marks(7, y, z, mark::avoid);
        if (z > 7) c.set_marks(8, y, z, mark::stop);
      }
    c.how.waypoints = variant == 0 ? 0 : 2;
    c.how.avoid = (variant & 1) != 0;
    c.how.rule = variant == 2 || variant == 3 ? waypoint_rule::one : waypoint_rule::all;
    c.how.each_half = variant == 3;
    c.how.ordered = variant == 4;
    c.how.stop_by_fraction = variant == 5;
    EXPECT_TRUE(count_on(gpu, c, 1000, 777) == count_on_cpu(c, 1000, 12000, 2));
  }
}

TEST_F(TrackCuda, NetworksAreThoseOfTheCpu) {
  track_case c = bent_case();
  c.seeds.clear();
  c.regions = 3;
  c.how.network = true;
  for (std::uint32_t region = 1; region <= 3; ++region)
    for (int y = 3; y < 9; ++y) {
      c.set_marks(3 * static_cast<int>(region), y, 5, region << mark::region);
      c.add_seed(3 * static_cast<int>(region), y, 5, region);
    }
  const case_counts found = count_on(gpu, c, 500, 333);
  EXPECT_GT(found.walked, 0u);
  EXPECT_TRUE(found == count_on_cpu(c, 500, 9000, 2));
}

}  // namespace
}  // namespace voxherd::track
