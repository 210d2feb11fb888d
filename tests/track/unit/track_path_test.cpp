#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/track/path_recorder.hpp"
#include "tests/track/reference/track_reference.hpp"

namespace voxherd::track {
namespace {

/// The points of the reference in the order of a recorded path; none if no half counts.
std::vector<std::array<double, 3>> expected_points(const reference_streamline& s) {
  std::vector<std::array<double, 3>> points;
  if (!s.counted[0] && !s.counted[1]) return points;
  points = s.half[0].points;
  if (!s.counted[0]) points.resize(1);
  std::reverse(points.begin(), points.end());
  if (s.counted[1]) points.insert(points.end(), s.half[1].points.begin() + 1, s.half[1].points.end());
  return points;
}

double largest_distance(const streamline_path& found, const std::vector<std::array<double, 3>>& expected) {
  if (found.points.size() != expected.size()) return 1;
  double apart = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d)
      apart = std::max(apart, std::abs(static_cast<double>(found.points[i][d]) - expected[i][d]));
  return apart;
}

TEST(TrackPath, PointsAndLengthsAreThoseOfTheReferenceUnderEveryCondition) {
  constexpr std::uint64_t per_seed = 60;
  for (int variant = 0; variant < 5; ++variant) {
    SCOPED_TRACE(variant);
    const track_case c = bent_case_with_conditions(variant);
    const track_input in = c.input(per_seed, 100);
    path_recorder recorder(in);
    int kept = 0, parted = 0, one_half = 0;
    for (std::uint64_t number = 0; number < in.plan.streamlines(); ++number) {
      streamline_path path;
      recorder.record(number, path);
      const reference_streamline expected =
          draw_reference(c, c.seeds[number / per_seed], static_cast<std::uint32_t>(number % per_seed));
      kept += path.points.empty() ? 0 : 1;
      one_half += !path.points.empty() && expected.counted[0] != expected.counted[1] ? 1 : 0;
      // A draw within the rounding of a position sends the two different ways.
      if (largest_distance(path, expected_points(expected)) > 1e-4) {
        ++parted;
        continue;
      }
      if (path.points.empty()) continue;
      EXPECT_EQ(static_cast<std::size_t>(path.steps[0] + path.steps[1] + 1), path.points.size());
      for (std::size_t h = 0; h < 2; ++h)
        EXPECT_EQ(path.steps[h],
                  expected.counted[h] ? static_cast<std::int32_t>(expected.half[h].points.size() - 1) : 0);
    }
    EXPECT_GT(kept, 30);
    EXPECT_LE(parted, 7);  // of 720
    if (variant == 3) {
      EXPECT_GT(one_half, 10);
    }
  }
}

TEST(TrackPath, TheAcceptedBitsAreTheStreamlinesWithAPath) {
  const track_case c = bent_case_with_conditions(1);
  for (const auto& [per_group, threads] : {std::pair{100u, 1}, {77u, 3}}) {
    const track_input in = c.input(30, per_group);
    const std::size_t words = bit_words(per_group), groups = in.plan.groups();
    std::vector<std::uint32_t> bits(groups * words), accepted(groups * in.plan.seed_rows());
    counters out;
    out.set<"accepted">(accepted.data());
    out.set<"accepted_bits">(bits.data());
    make_tracker({backend::cpu, threads, 0}, in)->track(0, groups, out);
    path_recorder recorder(in);
    streamline_path path;
    int kept = 0;
    for (std::uint64_t number = 0; number < in.plan.streamlines(); ++number) {
      recorder.record(number, path);
      const std::uint64_t place = number % per_group;
      const bool is_set = (bits[number / per_group * words + place / 32] >> place % 32 & 1u) != 0;
      EXPECT_EQ(is_set, !path.points.empty()) << number;
      kept += is_set ? 1 : 0;
    }
    EXPECT_GT(kept, 20);
    EXPECT_LT(kept, 360);
  }
}

}  // namespace
}  // namespace voxherd::track
