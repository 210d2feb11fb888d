#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "tests/support/gpu_test.hpp"
#include "tests/track/reference/track_reference.hpp"

namespace voxherd::track {
namespace {

class TrackCuda : public gpu_test {};

// Decisions are integers and positions are rounded the same, so that the counts are the same, not only close.
TEST_F(TrackCuda, CountsAreThoseOfTheCpuUnderEveryCondition) {
  for (int variant = 0; variant < 6; ++variant) {
    SCOPED_TRACE(variant);
    track_case c = bent_case_with_conditions(variant);
    c.how.stop_by_fraction = variant == 5;
    EXPECT_TRUE(count_on(gpu, c, 1000, 777) == count_on_cpu(c, 1000, 12000, 2));
  }
}

TEST_F(TrackCuda, CountsThroughWarpsAreThoseOfTheCpu) {
  for (int variant = 0; variant < 5; ++variant) {
    SCOPED_TRACE(variant);
    track_case c = bent_case_with_conditions(variant);
    c.set_warp();
    const case_counts found = count_on(gpu, c, 1000, 777);
    EXPECT_GT(found.walked, 0u);
    EXPECT_TRUE(found == count_on_cpu(c, 1000, 12000, 2));
  }
}

TEST_F(TrackCuda, MeanDirectionsExitsAndTargetsAreThoseOfTheCpu) {
  track_case c = bent_case_with_conditions(2);
  c.how.averaging = step_mean::with_sample;
  c.exits.assign(c.voxels.size(), 0);
  c.targets.resize(2);
  for (int y = 0; y < 12; ++y)
    for (int z = 0; z < 11; ++z) {
      c.exits[c.index(8, y, z)] = 1;
      c.targets[0].push_back(c.index(7, y, z));
      c.targets[1].push_back(c.index(4, y, z));
    }
  const case_counts found = count_on(gpu, c, 1000, 777);
  EXPECT_GT(found.hits[0], 0u);
  EXPECT_GT(found.hits[1], 0u);
  EXPECT_TRUE(found == count_on_cpu(c, 1000, 12000, 2));
}

TEST_F(TrackCuda, NetworksAreThoseOfTheCpu) {
  track_case c = bent_case();
  c.seeds.clear();
  c.regions = 3;
  c.how.connectome = true;
  for (std::uint32_t region = 1; region <= 3; ++region)
    for (int y = 3; y < 9; ++y) {
      c.set_marks(3 * static_cast<int>(region), y, 5, region << mark::region);
      c.add_seed(3 * static_cast<int>(region), y, 5, region);
    }
  const case_counts found = count_on(gpu, c, 500, 333);
  EXPECT_GT(found.walked, 0u);
  EXPECT_TRUE(found == count_on_cpu(c, 500, 9000, 2));
}

TEST_F(TrackCuda, MatricesAreThoseOfTheCpu) {
  for (const bool square : {true, false}) {
    track_case c = bent_case_with_conditions(2);
    c.how.min_total = 12;
    square ? c.set_seed_matrix() : c.set_coarse_matrix();
    const track_input in = c.input(1000, 4000);
    const auto there = make_tracker(gpu, in), here = make_tracker({backend::cpu, 2, 0}, in);
    sparse_rows found, expected;
    for (std::uint64_t first = 0; first < c.seeds.size(); first += 4) there->track_rows(first, 4, found);
    here->track_rows(0, c.seeds.size(), expected);
    EXPECT_EQ(found.begin, expected.begin);
    EXPECT_EQ(found.column, expected.column);
    EXPECT_EQ(found.count, expected.count);
    EXPECT_EQ(found.steps, expected.steps);
    EXPECT_GT(found.column.size(), 10u);
    for (std::uint64_t group = 0; group < in.plan.groups(); ++group) {
      std::vector<pair_entry> pairs, right;
      there->track_pairs(group, pairs);
      here->track_pairs(group, right);
      EXPECT_GT(pairs.size(), 10u);
      EXPECT_EQ(pairs, right);
    }
  }
}

TEST_F(TrackCuda, PartsOfMatricesDrawnWithTheCountsAreThoseDrawnAlone) {
  for (const bool square : {true, false}) {
    track_case c = bent_case_with_conditions(2);
    square ? c.set_seed_matrix() : c.set_coarse_matrix();
    expect_parts_drawn_with_counts(gpu, c);
  }
}

TEST_F(TrackCuda, PairsOfTwoMasksAreThoseOfTheCpu) {
  track_case c = bent_case_with_conditions(2), other = c;
  c.set_coarse_matrix();
  other.set_seed_matrix();
  other.matrix.square = false;
  for (const bool after_start : {false, true}) {
    c.matrix.after_start = after_start;
    track_input in = c.input(1000, 4000);
    in.pair_columns = other.input(1000, 4000).matrix;
    std::vector<pair_entry> found, expected;
    make_tracker(gpu, in)->track_pairs(0, found);
    make_tracker({backend::cpu, 2, 0}, in)->track_pairs(0, expected);
    EXPECT_GT(found.size(), 10u);
    EXPECT_EQ(found, expected);
  }
}

TEST_F(TrackCuda, PairsOfColumnsAtEndsAreThoseOfTheCpu) {
  track_case c = bent_case_with_conditions(2);
  c.set_coarse_matrix();
  track_input in = c.input(1000, 4000);
  std::vector<std::int32_t> every_third(in.matrix.columns, -1);
  for (std::size_t i = 0; i < every_third.size(); i += 3) every_third[i] = static_cast<std::int32_t>(i);
  in.matrix.column = every_third.data();
  in.matrix.at_ends = true;
  for (float& mm : in.matrix.voxel_mm) mm = 2;
  for (const float radius_mm : {0.0f, 5.0f}) {
    in.matrix.end_radius_mm = radius_mm;
    std::vector<pair_entry> found, expected;
    make_tracker(gpu, in)->track_pairs(0, found);
    make_tracker({backend::cpu, 2, 0}, in)->track_pairs(0, expected);
    EXPECT_GT(found.size(), radius_mm > 0 ? 10u : 2u) << radius_mm;
    EXPECT_EQ(found, expected) << radius_mm;
  }
}

TEST_F(TrackCuda, MatricesByFibreAreThoseOfTheCpu) {
  track_case c = bent_case_with_conditions(2);
  c.set_warp();
  track_case columns = c;
  c.set_coarse_matrix();
  columns.set_fibre_matrix();
  const track_input by_fibre = columns.input(1000, 4000);
  sparse_rows rows, expected_rows;
  make_tracker(gpu, by_fibre)->track_rows(0, c.seeds.size(), rows);
  make_tracker({backend::cpu, 2, 0}, by_fibre)->track_rows(0, c.seeds.size(), expected_rows);
  EXPECT_GT(rows.column.size(), 10u);
  EXPECT_EQ(rows.column, expected_rows.column);
  EXPECT_EQ(rows.count, expected_rows.count);
  EXPECT_EQ(rows.steps, expected_rows.steps);
  track_input in = c.input(1000, 4000);
  in.pair_columns = by_fibre.matrix;
  std::vector<pair_entry> pairs, expected;
  make_tracker(gpu, in)->track_pairs(0, pairs);
  make_tracker({backend::cpu, 2, 0}, in)->track_pairs(0, expected);
  EXPECT_GT(pairs.size(), 10u);
  EXPECT_EQ(pairs, expected);
  expect_parts_drawn_with_counts(gpu, columns);
}

TEST_F(TrackCuda, SurfacesAreThoseOfTheCpu) {
  const track_case c = bent_case_with_surfaces();
  const case_counts found = count_on(gpu, c, 1000, 777);
  EXPECT_GT(*std::max_element(found.hits.begin(), found.hits.end()), 100u);
  EXPECT_TRUE(found == count_on_cpu(c, 1000, 12000, 2));
}

TEST_F(TrackCuda, MatricesOfVerticesAreThoseOfTheCpu) {
  const track_case c = bent_case_with_surfaces();
  track_input in = c.input(1000, 4000);
  in.columns = 0, in.target_begin = {}, in.targets = {};
  std::vector<std::int32_t> columns(c.mesh->vertices.size() / 3);
  for (std::size_t v = 0; v < columns.size(); ++v)
    columns[v] = v % 5 == 0 ? -1 : static_cast<std::int32_t>(in.matrix.columns++);
  in.matrix.vertex_column = columns.data();
  for (const bool one_corner : {false, true}) {
    in.surfaces.one_corner = one_corner;
    const auto there = make_tracker(gpu, in), here = make_tracker({backend::cpu, 2, 0}, in);
    sparse_rows rows, expected;
    there->track_rows(0, c.seeds.size(), rows);
    here->track_rows(0, c.seeds.size(), expected);
    EXPECT_EQ(rows.column, expected.column);
    EXPECT_EQ(rows.count, expected.count);
    EXPECT_EQ(rows.steps, expected.steps);
    EXPECT_GT(rows.column.size(), 100u);
    for (std::uint64_t group = 0; group < in.plan.groups(); ++group) {
      std::vector<pair_entry> pairs, right;
      there->track_pairs(group, pairs);
      here->track_pairs(group, right);
      EXPECT_GT(pairs.size(), 100u);
      EXPECT_EQ(pairs, right);
    }
  }
}

TEST_F(TrackCuda, ChangedStreamlinesAreThoseOfANewTracker) {
  const track_case first = bent_case_with_conditions(1), second = bent_case_with_conditions(2);
  const track_input before = first.input(1000, 777), in = second.input(300, 500);
  const auto density = [&](tracker& t, const track_input& of) {
    std::vector<std::uint32_t> sums(of.plan.groups() * of.places);
    counters out;
    out.set<"density">(sums.data());
    t.track(0, of.plan.groups(), out);
    return sums;
  };
  for (const device& d : {gpu, device{backend::cpu, 2, 0}}) {
    const auto changed = make_tracker(d, before), fresh = make_tracker(d, in);
    (void)density(*changed, before);
    changed->change_streamlines(in);
    EXPECT_EQ(density(*changed, in), density(*fresh, in));
  }
}

// Random walks, which visit more voxels and cells than the first entries of the tables hold.
TEST_F(TrackCuda, LongStreamlinesAreThoseOfTheCpu) {
  track_case c({40, 40, 40}, 4, 1);
  std::mt19937 chance(1);
  std::normal_distribution<double> component;
  c.set_fibre(0, 0.5, [&](int, int, int, int) {
    const double x = component(chance), y = component(chance), z = component(chance), n = std::hypot(x, y, z);
    return std::array<double, 3>{x / n, y / n, z / n};
  });
  for (int x = 15; x < 25; ++x) c.add_seed(x, 20, 21);
  c.how.max_points = 1000;
  c.how.min_dot = -1;
  for (const bool loop_check : {false, true}) {
    c.how.loop_check = loop_check;
    EXPECT_TRUE(count_on(gpu, c, 500, 2500) == count_on_cpu(c, 500, 5000, 2));
  }
}

/// Masks and counts on voxels that are turned and shifted against those of the samples.
seed_space turned_space(const track_case& c) {
  seed_space space;
  space.voxels = c.voxels.data();
  for (std::size_t d = 0; d < 3; ++d) space.size[d] = c.size[d];
  space.to_samples.affine = {{{1, 0.1f, 0, 0.2f}, {-0.1f, 1, 0, 0.3f}, {0, 0, 1, 0.1f}}};
  space.to_seeds.affine = {
      {{0.990099f, -0.0990099f, 0, -0.168317f}, {0.0990099f, 0.990099f, 0, -0.316832f}, {0, 0, 1, -0.1f}}};
  return space;
}

TEST_F(TrackCuda, CountsInAnotherSpaceAndAcceptedBitsAreThoseOfTheCpu) {
  const track_case c = bent_case_with_conditions(1);
  track_input in = c.input(1000, 777);
  in.space = turned_space(c);
  const std::size_t groups = in.plan.groups();
  const auto count = [&](const device& d) {
    std::vector<std::uint32_t> density(groups * in.places), bits(groups * bit_words(in.plan.per_group));
    counters out;
    out.set<"density">(density.data());
    out.set<"accepted_bits">(bits.data());
    make_tracker(d, in)->track(0, groups, out);
    return std::pair(density, bits);
  };
  const auto found = count(gpu), expected = count({backend::cpu, 2, 0});
  EXPECT_TRUE(found == expected);
  EXPECT_GT(*std::max_element(expected.second.begin(), expected.second.end()), 0u);
  in.space = {};
  EXPECT_FALSE(found.first == count(gpu).first);
}

}  // namespace
}  // namespace voxherd::track
