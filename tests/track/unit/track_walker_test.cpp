#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

#include "kernels/track/lane.hpp"
#include "kernels/track/stamped_table.hpp"
#include "tests/track/reference/track_reference.hpp"

namespace voxherd::track {
namespace {

/// The points of a half as the kernel makes them.
std::vector<std::array<double, 3>> points_of_half(const track_case& c, const seed& from, std::uint32_t number,
                                                  int wanted) {
  const field_view field = c.view();
  table_memory<visit_entry> visits(max_visits(c.how, 0));
  table_memory<cell_entry> cells(max_cells(c.how));
  walker w(field, c.how, visits.table(), cells.table());
  std::vector<std::array<double, 3>> points;
  const auto keep = [&] {
    if (w.half() != wanted || static_cast<std::size_t>(w.point()) != points.size()) return;
    std::array<double, 3> p{};
    for (int d = 0; d < 3; ++d) p[static_cast<std::size_t>(d)] = static_cast<double>(w.position(d));
    points.push_back(p);
  };
  w.begin(from, number, 3, {});
  keep();
  while (w.advance()) keep();
  return points;
}

TEST(TrackWalker, FollowsTheSamePathAsTheReferencePointByPoint) {
  const track_case c = bent_case();
  int halves = 0, parted = 0, points = 0;
  double largest = 0;
  for (const seed& from : c.seeds)
    for (std::uint32_t number = 0; number < 40; ++number) {
      const reference_streamline expected = draw_reference(c, from, number);
      for (int half = 0; half < 2; ++half, ++halves) {
        const auto found = points_of_half(c, from, number, half);
        const auto& right = expected.half[static_cast<std::size_t>(half)].points;
        const std::size_t common = std::min({found.size(), right.size(), std::size_t{50}});
        double apart = found.size() == right.size() ? 0 : 1;
        for (std::size_t i = 0; i < common; ++i, ++points)
          for (std::size_t d = 0; d < 3; ++d) apart = std::max(apart, std::abs(found[i][d] - right[i][d]));
        // A draw within the rounding of a position sends the two different ways.
        if (apart > 1e-4) {
          ++parted;
        } else {
          largest = std::max(largest, apart);
        }
      }
    }
  EXPECT_GT(points, 10 * halves);
  EXPECT_LE(parted, halves / 200);
  EXPECT_LT(largest, 2e-5);  // 50 steps of 2^-20 each, half a unit in the last place below 16
}

/// Counts agree except for the few streamlines that part.
void expect_close(const std::vector<std::uint64_t>& found, const std::vector<std::uint64_t>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double difference = 0, total = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference += std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
    total += static_cast<double>(expected[i]);
  }
  EXPECT_GT(total, 0);
  EXPECT_LE(difference, 0.02 * total);
}

TEST(TrackWalker, CountsAreThoseOfTheReferenceUnderEveryCondition) {
  for (int variant = 0; variant < 8; ++variant) {
    SCOPED_TRACE(variant);
    track_case c = bent_case_with_conditions(variant);
    c.how.min_steps = variant == 5 ? 12 : 0;
    c.how.half_weight_ends = variant == 6;
    c.how.stop_by_fraction = variant == 7;
    if (variant == 7) c.how.rule = include_rule::one;
    const case_counts found = count_on_cpu(c, 60, 100, 1), expected = count_reference(c, 60);
    expect_close(found.density, expected.density);
    expect_close(found.length, expected.length);
    expect_close(found.accepted, expected.accepted);
    expect_close({found.walked}, {expected.walked});
  }
}

TEST(TrackWalker, AStreamlineThatVisitsMoreThanCanBeNotedCounts) {
  track_case c({700, 3, 3}, 1, 1);
  c.set_fibre(0, 0.5, [](int, int, int, int) { return std::array<double, 3>{1, 0, 0}; });
  for (const int x : {20, 680}) c.set_marks(x, 1, 1, 1u << mark::first_include);
  c.how.includes = 1;
  c.how.max_points = 2000;
  c.add_seed(350, 1, 1);
  const case_counts counts = count_on_cpu(c, 10, 10, 1);  // expects the same from notes
  EXPECT_GT(std::count(counts.density.begin(), counts.density.end(), 10u), std::ptrdiff_t{max_notes});
}

TEST(TrackWalker, CountsThroughWarpsAreThoseOfTheReferenceUnderEveryCondition) {
  for (int variant = 1; variant < 5; ++variant) {
    SCOPED_TRACE(variant);
    track_case c = bent_case_with_conditions(variant);
    const case_counts without = count_on_cpu(c, 60, 100, 1);
    c.set_warp();
    const case_counts found = count_on_cpu(c, 60, 100, 1), expected = count_reference(c, 60);
    expect_close(found.density, expected.density);
    expect_close(found.length, expected.length);
    expect_close(found.accepted, expected.accepted);
    EXPECT_LE(found.walked, expected.walked);  // the kernel ends excluded halves early
    EXPECT_NE(found.density, without.density);
  }
}

TEST(TrackWalker, AWarpWithoutDisplacementsGivesTheCountsOfItsImageAlone) {
  track_case c = bent_case_with_conditions(1);
  const case_counts expected = count_on_cpu(c, 60, 100, 1);
  c.mask_voxels = c.voxels;
  const std::vector<displacement> none(static_cast<std::size_t>(c.size[0] * c.size[1] * c.size[2]));
  for (point_warp* warp : {&c.space.to_samples, &c.space.to_seeds})
    for (std::size_t d = 0; d < 3; ++d) {
      c.space.size[d] = warp->field.size[d] = c.size[d];
      warp->affine.rows[d][d] = warp->field.to_field.rows[d][d] = 1;
    }
  track_input in = c.input(60, 720);
  in.space.to_samples.field.values = in.space.to_seeds.field.values = none.data();
  std::vector<std::uint32_t> density(in.places);
  counters out;
  out.set<"density">(density.data());
  make_tracker({backend::cpu, 1, 0}, in)->track(0, 1, out);
  EXPECT_TRUE(std::equal(density.begin(), density.end(), expected.density.begin()));
}

TEST(TrackWalker, NetworkCountsAreThoseOfTheReference) {
  track_case c = bent_case();
  c.seeds.clear();
  c.regions = 3;
  c.how.connectome = true;
  for (std::uint32_t region = 1; region <= 3; ++region)
    for (int y = 3; y < 9; ++y)
      for (int z = 3; z < 8; ++z) {
        const int x = 3 * static_cast<int>(region);
        c.set_marks(x, y, z, region << mark::region);
        c.add_seed(x, y, z, region);
      }
  const case_counts found = count_on_cpu(c, 20, 150, 2), expected = count_reference(c, 20);
  expect_close(found.hits, expected.hits);
  expect_close(found.hit_length, expected.hit_length);
  expect_close(found.accepted, expected.accepted);
  expect_close(found.density, expected.density);
  for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(found.hits[4 * r], 0u);
}

/// Every count but the directions, whose sums are signed.
void expect_all_close(const case_counts& found, const case_counts& expected) {
  expect_close(found.density, expected.density);
  expect_close(found.length, expected.length);
  expect_close(found.accepted, expected.accepted);
  expect_close({found.walked}, {expected.walked});
}

TEST(TrackWalker, MeanDirectionsAreThoseOfTheReference) {
  track_case c = bent_case_with_conditions(1);
  const case_counts without = count_on_cpu(c, 60, 100, 1);
  for (const step_mean averaging : {step_mean::with_sample, step_mean::with_axis}) {
    c.how.averaging = averaging;
    const case_counts found = count_on_cpu(c, 60, 100, 1);
    expect_all_close(found, count_reference(c, 60));
    EXPECT_NE(found.density, without.density);
  }
}

TEST(TrackWalker, MasksNotToLeaveEndHalvesAsInTheReference) {
  track_case c = bent_case_with_conditions(1);
  c.exits.assign(c.voxels.size(), 0);
  for (int y = 0; y < 12; ++y)
    for (int z = 0; z < 11; ++z) {
      for (int x : {5, 6, 7}) c.exits[c.index(x, y, z)] |= 1;  // holds the seeds
      for (int x : {7, 8}) c.exits[c.index(x, y, z)] |= 1u << 31;
      if (y < 4) c.exits[c.index(4, y, z)] |= 2;
    }
  const case_counts found = count_on_cpu(c, 60, 100, 1);
  expect_all_close(found, count_reference(c, 60));
  c.exits.clear();
  EXPECT_GT(count_on_cpu(c, 60, 100, 1).walked, found.walked);
}

TEST(TrackWalker, SurfacesAreMasksAndTargetsAsInTheReference) {
  track_case c = bent_case_with_surfaces();
  const case_counts found = count_on_cpu(c, 60, 100, 2), expected = count_reference(c, 60);
  expect_close(found.density, expected.density);
  expect_close(found.length, expected.length);
  expect_close(found.accepted, expected.accepted);
  expect_close(found.hits, expected.hits);
  expect_close(found.hit_length, expected.hit_length);
  EXPECT_GT(*std::max_element(found.hits.begin(), found.hits.end()), 20u);
  c.mesh = nullptr;
  EXPECT_NE(count_on_cpu(c, 60, 100, 2).accepted, found.accepted);
}

TEST(TrackWalker, EverySurfaceChangesTheStreamlines) {
  const track_case all = bent_case_with_surfaces();
  const case_counts with_all = count_on_cpu(all, 60, 100, 2);
  for (std::size_t surface = 0; surface < all.mesh->uses.size(); ++surface) {
    track_case c = all;
    const auto without = std::make_shared<track_mesh>(*all.mesh);
    without->uses[surface] = {};
    c.mesh = without;
    EXPECT_FALSE(count_on_cpu(c, 60, 100, 2) == with_all) << surface;
  }
}

TEST(TrackWalker, TheFirstStepAndFibreAreThoseOfTheReference) {
  track_case c = bent_case();
  for (float& step : c.how.step_voxels) step *= 2;  // most first steps leave the seed's voxel
  for (int z = 4; z < 7; ++z) {
    c.set_marks(6, 5, z, mark::exclude);
    c.set_marks(6, 7, z, mark::stop);
  }
  c.how.exclude = true;
  c.how.start_fibre = 2;
  c.how.ignore_first_step = true;
  const case_counts found = count_on_cpu(c, 60, 100, 1), expected = count_reference(c, 60);
  expect_close(found.density, expected.density);
  expect_close(found.length, expected.length);
  expect_close(found.accepted, expected.accepted);
  c.how.start_fibre = 1;
  EXPECT_NE(found.density, count_on_cpu(c, 60, 100, 1).density);
  c.how.start_fibre = 2;
  c.how.ignore_first_step = false;
  const case_counts tested = count_on_cpu(c, 60, 100, 1);
  EXPECT_LT(tested.walked, found.walked);
  EXPECT_LT(std::accumulate(tested.accepted.begin(), tested.accepted.end(), std::uint64_t{0}),
            std::accumulate(found.accepted.begin(), found.accepted.end(), std::uint64_t{0}));
}

TEST(TrackWalker, TargetsOfEachSeedAndDirectionsAreThoseOfTheReference) {
  track_case c = bent_case_with_conditions(2);
  for (int t = 0; t < 3; ++t) {
    c.targets.emplace_back();
    for (int y = 0; y < 12; ++y)
      for (int z = 0; z < 11; ++z) c.targets.back().push_back(c.index(3 + 2 * t + (y > 6 ? 1 : 0), y, z));
  }
  c.targets[2].push_back(c.targets[0][30]);  // targets may overlap
  const case_counts found = count_on_cpu(c, 60, 100, 2), expected = count_reference(c, 60);
  expect_all_close(found, expected);
  expect_close(found.hits, expected.hits);
  expect_close(found.hit_length, expected.hit_length);
  double difference = 0, total = 0;
  for (std::size_t i = 0; i < found.directions.size(); ++i) {
    const auto a = static_cast<std::int64_t>(found.directions[i]),
               b = static_cast<std::int64_t>(expected.directions[i]);
    difference += std::abs(static_cast<double>(a - b));
    total += std::abs(static_cast<double>(b));
  }
  EXPECT_LE(difference, 0.02 * total);
  EXPECT_GT(total, 0);
}

TEST(TrackWalker, CountsAreTheSameForAnyGroupsAndThreads) {
  track_case c = bent_case();
  for (int y = 1; y < 11; ++y)
    for (int z = 1; z < 10; ++z) c.set_marks(10, y, z, 1u << mark::first_include);
  c.how.includes = 1;
  const case_counts all_at_once = count_on_cpu(c, 50, 600, 1);
  EXPECT_GT(all_at_once.walked, 0u);
  for (const auto& [per_group, threads] : {std::pair{1u, 1}, {7u, 3}, {50u, 2}, {64u, 5}, {599u, 2}})
    EXPECT_EQ(count_on_cpu(c, 50, per_group, threads), all_at_once) << per_group << " per group";
}

TEST(TrackWalker, PacksDirectionsToThreeHundredThousandthsOfARadian) {
  std::vector<float> polar, azimuth, fraction;
  for (int i = 1; i < 200; ++i)
    polar.push_back(0.05f * static_cast<float>(i) - 2.98f), fraction.push_back(0.006f * static_cast<float>(i));
  for (int i = 1; i < 200; ++i) azimuth.push_back(1e5f + 0.37f * static_cast<float>(i));
  std::vector<packed_fibre> packed(polar.size());
  pack_fibres(polar, azimuth, fraction, packed.data(), 1, 2);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const double th = static_cast<double>(polar[i]), ph = static_cast<double>(azimuth[i]);
    const double right[3] = {std::sin(th) * std::cos(ph), std::sin(th) * std::sin(ph), std::cos(th)};
    const double found[3] = {packed[i].x / 32767.0, packed[i].y / 32767.0, packed[i].z / 32767.0};
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(found[d], right[d], 1.6e-5);
    EXPECT_NEAR(packed[i].fraction / 65535.0, std::min(1.0, static_cast<double>(fraction[i])), 1e-5);
  }
}

TEST(TrackWalker, AnAngleOfZeroHasNoDirection) {
  const std::vector<float> polar = {0, 1, 1, std::nanf("")}, azimuth = {1, 0, 1, 1}, fraction = {1, 1, 1, 1};
  std::vector<packed_fibre> packed(4);
  pack_fibres(polar, azimuth, fraction, packed.data(), 1, 1);
  EXPECT_TRUE(packed[0].axis().is_zero());
  EXPECT_TRUE(packed[1].axis().is_zero());
  EXPECT_FALSE(packed[2].axis().is_zero());
  EXPECT_TRUE(packed[3].axis().is_zero());
}

}  // namespace
}  // namespace voxherd::track
