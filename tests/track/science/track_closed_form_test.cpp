#include <gtest/gtest.h>

#include <cmath>

#include "tests/track/reference/track_case.hpp"

namespace voxherd::track {
namespace {

/// All samples along x.
track_case straight_case(int length = 31) {
  track_case c({length, 5, 5}, 3, 1);
  c.set_fibre(0, 0.7, [](int, int, int, int) { return std::array<double, 3>{1, 0, 0}; });
  c.add_seed(length / 2, 2, 2);
  return c;
}

/// Within five standard deviations of a binomial count.
void expect_share(std::uint64_t count, double n, double p) {
  EXPECT_NEAR(static_cast<double>(count), n * p, 5 * std::sqrt(n * p * (1 - p)) + 1e-9);
}

TEST(TrackClosedForm, AUniformFieldGivesStraightLinesOfExactLength) {
  const track_case c = straight_case();
  const case_counts counts = count_on_cpu(c, 200, 64, 1);
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 31; ++x) {
        const std::size_t v = c.index(x, y, z);
        const bool on_line = y == 2 && z == 2;
        if (on_line && x == 0) {
          // The last point inside, 0.5, draws voxel 0 or 1; voxel 0 has no samples and ends the half.
          expect_share(counts.density[v], 200, 0.5);
          continue;
        }
        ASSERT_EQ(counts.density[v], on_line ? 200u : 0u) << x << ", " << y << ", " << z;
        // Steps of half a voxel: the voxel at distance d begins at d - 1/2, a half that belongs to it.
        const auto steps = static_cast<std::uint64_t>(x >= 15 ? 2 * (x - 15) : 2 * (15 - x));
        if (!on_line || x == 15) continue;
        const double mean = static_cast<double>(counts.length[v]) / 200;
        EXPECT_GE(mean, static_cast<double>(steps - 1));
        EXPECT_LE(mean, static_cast<double>(steps));
      }
  EXPECT_EQ(counts.accepted[0], 200u);
}

TEST(TrackClosedForm, AHalfHasAtMostHalfThePoints) {
  track_case c = straight_case(61);
  c.how.max_points = 21;
  const case_counts counts = count_on_cpu(c, 100, 100, 1);
  EXPECT_EQ(counts.walked, 100u * 2 * 20);
  EXPECT_EQ(counts.density[c.index(40, 2, 2)], 100u);
  EXPECT_EQ(counts.density[c.index(41, 2, 2)], 0u);
  EXPECT_EQ(counts.density[c.index(20, 2, 2)], 100u);
  EXPECT_EQ(counts.density[c.index(19, 2, 2)], 0u);
}

TEST(TrackClosedForm, AStopMaskEndsAHalfAtItsFirstPointThereButNotAtTheSeed) {
  track_case c = straight_case();
  c.set_marks(15, 2, 2, mark::stop);
  c.set_marks(20, 2, 2, mark::stop);
  const case_counts counts = count_on_cpu(c, 100, 100, 1);
  // The second point (half a voxel on) may still be rounded to the seed's voxel; that ends the half there.
  EXPECT_EQ(counts.density[c.index(15, 2, 2)], 100u);
  EXPECT_EQ(counts.density[c.index(21, 2, 2)], 0u);
  track_case clear = straight_case();
  clear.set_marks(20, 2, 2, mark::stop);
  const case_counts stopped = count_on_cpu(clear, 100, 100, 1);
  EXPECT_EQ(stopped.density[clear.index(20, 2, 2)], 100u);
  EXPECT_EQ(stopped.density[clear.index(21, 2, 2)], 0u);
  EXPECT_EQ(stopped.density[clear.index(1, 2, 2)], 100u);
}

TEST(TrackClosedForm, AnAvoidedMaskRejectsOnlyTheHalfThatTouchesIt) {
  track_case c = straight_case();
  c.set_marks(20, 2, 2, mark::exclude);
  c.how.exclude = true;
  const case_counts counts = count_on_cpu(c, 100, 100, 1);
  EXPECT_EQ(counts.accepted[0], 100u);
  EXPECT_EQ(counts.density[c.index(17, 2, 2)], 0u);
  EXPECT_EQ(counts.density[c.index(13, 2, 2)], 100u);
  c.set_marks(15, 2, 2, mark::exclude);  // the seed itself
  EXPECT_EQ(count_on_cpu(c, 100, 100, 1).accepted[0], 0u);
}

TEST(TrackClosedForm, WaypointsOnBothSidesNeedBothHalves) {
  track_case c = straight_case();
  c.set_marks(10, 2, 2, 1u << mark::first_include);
  c.set_marks(20, 2, 2, 2u << mark::first_include);
  c.how.includes = 2;
  EXPECT_EQ(count_on_cpu(c, 100, 100, 1).accepted[0], 100u);
  c.how.each_half = true;
  EXPECT_EQ(count_on_cpu(c, 100, 100, 1).accepted[0], 0u);
  c.how.rule = include_rule::one;
  EXPECT_EQ(count_on_cpu(c, 100, 100, 1).accepted[0], 100u);
  c.how.each_half = false;
  c.set_marks(10, 1, 2, 4u << mark::first_include);  // beside the line
  c.how.includes = 3;
  EXPECT_EQ(count_on_cpu(c, 100, 100, 1).accepted[0], 100u);
  c.how.rule = include_rule::all;
  EXPECT_EQ(count_on_cpu(c, 100, 100, 1).accepted[0], 0u);
}

TEST(TrackClosedForm, OrderedWaypointsPassOnlyInTheirOrder) {
  track_case c = straight_case();
  c.seeds.clear();
  c.add_seed(1, 2, 2);
  c.set_marks(10, 2, 2, 1u << mark::first_include);
  c.set_marks(20, 2, 2, 2u << mark::first_include);
  c.how.includes = 2;
  c.how.ordered = true;
  EXPECT_EQ(count_on_cpu(c, 100, 100, 1).accepted[0], 100u);
  c.seeds.clear();
  c.add_seed(29, 2, 2);
  EXPECT_EQ(count_on_cpu(c, 100, 100, 1).accepted[0], 0u);
}

/// Fibres along x and y in every voxel.
track_case crossing_case(double f1, double f2) {
  track_case c({21, 21, 5}, 2, 2);
  c.set_fibre(0, f1, [](int, int, int, int) { return std::array<double, 3>{1, 0, 0}; });
  c.set_fibre(1, f2, [](int, int, int, int) { return std::array<double, 3>{0, 1, 0}; });
  c.add_seed(10, 10, 2);
  return c;
}

TEST(TrackClosedForm, TheFirstHalfTakesTheFibresOfACrossingWithKnownShares) {
  const double n = 4000;
  struct row {
    first_fibre first;
    double f1, f2, share;
  };
  for (const row& r : {row{first_fibre::strongest, 0.3, 0.6, 1}, row{first_fibre::equal, 0.3, 0.6, 0.5},
                       row{first_fibre::weighted, 0.3, 0.6, 1.0 / 3}, row{first_fibre::any, 0.6, 0.05, 0.5},
                       row{first_fibre::equal, 0.3, 0.001, 1}, row{first_fibre::weighted, 0.3, 0.001, 1}}) {
    track_case c = crossing_case(r.f1, r.f2);
    c.how.first = r.first;
    // Only what the first half decides: the two halves of a streamline cannot be told apart by their voxels. A
    // streamline along x visits x = 5 or x = 15; one along both does not exist, as a second half at a right angle ends
    // at once.
    const case_counts counts = count_on_cpu(c, static_cast<std::uint64_t>(n), 500, 1);
    const std::uint64_t x5 = counts.density[c.index(5, 10, 2)], x15 = counts.density[c.index(15, 10, 2)],
                        y5 = counts.density[c.index(10, 5, 2)], y15 = counts.density[c.index(10, 15, 2)];
    // Each first half goes one way; the second one goes the other way if it draws the same fibre again.
    const double p = r.share, along_x = p * (1 + p), along_y = (1 - p) * (1 + (1 - p));
    expect_share(x5, n, along_x / 2);
    expect_share(x15, n, along_x / 2);
    if (p < 1) {
      expect_share(y5, n, along_y / 2);
      expect_share(y15, n, along_y / 2);
    } else {
      EXPECT_EQ(y5 + y15, 0u);
    }
  }
}

TEST(TrackClosedForm, ATurnBelowTheCurvatureThresholdPassesAndALargerOneEnds) {
  for (const auto& [degrees, passes] : {std::pair{77.0, true}, {80.0, false}}) {
    track_case c({25, 25, 5}, 1, 1);
    const double angle = degrees * 3.14159265358979 / 180;
    c.set_fibre(0, 0.7, [&](int x, int, int, int) {
      return x < 14 ? std::array<double, 3>{1, 0, 0} : std::array<double, 3>{std::cos(angle), std::sin(angle), 0};
    });
    c.add_seed(8, 4, 2);
    const case_counts counts = count_on_cpu(c, 50, 50, 1);
    std::uint64_t beyond = 0;
    for (int x = 13; x < 25; ++x) beyond += counts.density[c.index(x, 10, 2)];
    EXPECT_EQ(beyond > 0, passes) << degrees;
  }
}

/// Directions around the centre of a slice.
track_case ring_case(double radius) {
  track_case c({41, 41, 3}, 1, 1);
  c.set_fibre(0, 0.7, [](int x, int y, int, int) {
    const double n = std::hypot(x - 20, y - 20);
    return n > 0 ? std::array<double, 3>{-(y - 20) / n, (x - 20) / n, 0} : std::array<double, 3>{1, 0, 0};
  });
  c.add_seed(20 + static_cast<int>(radius), 20, 1);
  c.how.max_points = 41;
  return c;
}

TEST(TrackClosedForm, TheLoopCheckEndsTightLoopsOnly) {
  for (const double radius : {2.0, 12.0}) {
    track_case c = ring_case(radius);
    const std::uint64_t freely = count_on_cpu(c, 300, 300, 1).walked;
    EXPECT_EQ(freely, 300u * 2 * 40) << radius;
    c.how.loop_check = true;
    const std::uint64_t checked = count_on_cpu(c, 300, 300, 1).walked;
    if (radius > 5) {
      EXPECT_EQ(checked, freely);  // 20 mm along a circle of 75 mm
    } else {
      EXPECT_LT(checked, freely);
    }
  }
}

/// One voxel thick planes; each sample has its own direction, so that the first step tells which was drawn.
TEST(TrackClosedForm, SamplesAreDrawnEquallyOftenOrTheEndsHalfAsOften) {
  const double n = 8000;
  for (const bool half_weight : {false, true}) {
    track_case c({25, 25, 3}, 5, 1);
    c.set_fibre(0, 0.7, [](int x, int y, int, int s) {
      const double angle = 0.3 + 0.6 * s;  // the ten directions and their opposites are apart
      const double dx = x - 12, dy = y - 12, r = std::hypot(dx, dy);
      if (r > 0.5) return std::array<double, 3>{dx / r, dy / r, 0};  // straight on
      return std::array<double, 3>{std::cos(angle), std::sin(angle), 0};
    });
    c.add_seed(12, 12, 1);
    c.how.half_weight_ends = half_weight;
    c.how.max_points = 2;
    for (float& step : c.how.step_voxels) step = 9.0f / direction_unit;
    const case_counts counts = count_on_cpu(c, static_cast<std::uint64_t>(n), 8000, 1);
    for (int s = 0; s < 5; ++s) {
      const double angle = 0.3 + 0.6 * s, x = 9 * std::cos(angle), y = 9 * std::sin(angle);
      std::uint64_t there = 0;
      for (const int sign : {-1, 1})
        there += counts.density[c.index(12 + sign * static_cast<int>(std::lround(x)),
                                        12 + sign * static_cast<int>(std::lround(y)), 1)];
      const double share = !half_weight ? 0.2 : s == 0 || s == 4 ? 0.125 : 0.25;
      // Both halves draw; those whose second draw turns by more than the threshold end at once.
      double expected = 0;
      for (int first = 0; first < 5; ++first) {
        const double other = !half_weight ? 0.2 : first == 0 || first == 4 ? 0.125 : 0.25;
        const bool passes = std::abs(std::cos(0.6 * (first - s))) > 0.2;
        expected += share * other * (passes ? 1 : 0);  // the second half has s after `first`
      }
      const double mean = n * (share + expected);
      EXPECT_NEAR(static_cast<double>(there), mean, 5 * std::sqrt(2 * mean)) << s;
    }
  }
}

TEST(TrackClosedForm, StartsFillABallEvenly) {
  track_case c({21, 21, 21}, 1, 1);
  c.add_seed(10, 10, 10);
  c.how.random_start = true;
  for (float& r : c.how.radius_voxels) r = 6.5f;
  const double n = 20000;  // no directions: a streamline is its start
  const case_counts counts = count_on_cpu(c, static_cast<std::uint64_t>(n), 20000, 1);
  std::uint64_t all = 0, upper = 0, largest = 0;
  for (int z = 0; z < 21; ++z)
    for (int y = 0; y < 21; ++y)
      for (int x = 0; x < 21; ++x) {
        const std::uint64_t here = counts.density[c.index(x, y, z)];
        all += here;
        if (x > 10) upper += here;
        const bool beyond = std::hypot(x - 10, y - 10, z - 10) > 6.5 + std::sqrt(0.75);
        EXPECT_TRUE(!beyond || here == 0);
        largest = std::max(largest, here);
      }
  EXPECT_EQ(all, static_cast<std::uint64_t>(n));
  const double volume = 4.0 / 3 * 3.14159265358979 * std::pow(6.5, 3);
  expect_share(counts.density[c.index(10, 10, 10)], n, 1 / volume);
  EXPECT_LT(static_cast<double>(largest), n / volume + 5.5 * std::sqrt(n / volume));
  // The share of the ball beyond a plane at half a voxel from its centre.
  const double h = 6.5 - 0.5;
  expect_share(upper, n, 3.14159265358979 * h * h * (3 * 6.5 - h) / 3 / volume);
}

TEST(TrackClosedForm, FractionsEndStreamlinesWithTheirProbability) {
  track_case c = straight_case(101);
  c.how.stop_by_fraction = true;
  const double n = 10000;
  const case_counts counts = count_on_cpu(c, static_cast<std::uint64_t>(n), 10000, 1);
  // Each half makes k steps with probability 0.7^k: mean 0.7 / 0.3, variance 0.7 / 0.09.
  EXPECT_NEAR(static_cast<double>(counts.walked) / (2 * n), 0.7 / 0.3, 5 * std::sqrt(0.7 / 0.09 / (2 * n)));
}

}  // namespace
}  // namespace voxherd::track
