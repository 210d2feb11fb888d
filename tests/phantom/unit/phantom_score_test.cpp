#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/phantom/score.hpp"

namespace {

using namespace voxherd;

/// One voxel; fibres given as an angle in the xy plane and a fraction.
fibre_field one_voxel(const std::vector<std::pair<double, float>>& fibres) {
  fibre_field field;
  field.grid.size = {1, 1, 1};
  field.voxels = {0};
  for (const auto& [degrees, fraction] : fibres) {
    const double a = degrees * M_PI / 180;
    field.direction.push_back({float(std::cos(a)), float(std::sin(a)), 0});
    field.fraction.push_back({fraction});
  }
  return field;
}

TEST(Score, OfTheTruthItselfIsZeroError) {
  const fibre_field truth = one_voxel({{10, 0.5f}, {80, 0.3f}, {140, 0.1f}});
  const orientation_score s = score_orientations(truth, truth);
  EXPECT_EQ(s.all.fibres, 3u);
  EXPECT_EQ(s.all.missed, 0u);
  EXPECT_EQ(s.all.mean_degrees, 0);
  EXPECT_EQ(s.all.percentile95_degrees, 0);
  EXPECT_EQ(s.all.mean_fraction_error, 0);
  EXPECT_EQ(s.false_fibres, 0u);
}

TEST(Score, PairsFibresByAngleNotByOrder) {
  const orientation_score s =
      score_orientations(one_voxel({{0, 0.5f}, {90, 0.3f}}), one_voxel({{93, 0.4f}, {2, 0.35f}}));
  EXPECT_NEAR(s.fibre[0].mean_degrees, 2, 1e-4);
  EXPECT_NEAR(s.fibre[1].mean_degrees, 3, 1e-4);
  EXPECT_NEAR(s.fibre[0].fraction_bias, -0.15, 1e-6);
  EXPECT_NEAR(s.fibre[1].fraction_bias, 0.1, 1e-6);
  EXPECT_NEAR(s.all.mean_degrees, 2.5, 1e-4);
  EXPECT_NEAR(s.all.median_degrees, 2.5, 1e-4);
}

TEST(Score, TreatsOppositeDirectionsAsTheSameFibre) {
  const orientation_score s = score_orientations(one_voxel({{5, 0.5f}}), one_voxel({{184, 0.5f}}));
  EXPECT_NEAR(s.all.mean_degrees, 1, 1e-4);
}

TEST(Score, CountsFibresMissedAndFalse) {
  const fibre_field two = one_voxel({{0, 0.5f}, {90, 0.3f}}), one = one_voxel({{88, 0.5f}, {0, 0.049f}});
  const orientation_score missed = score_orientations(two, one);
  EXPECT_EQ(missed.fibre[0].missed, 1u);
  EXPECT_EQ(missed.fibre[1].missed, 0u);
  EXPECT_NEAR(missed.all.mean_degrees, 2, 1e-4);
  const orientation_score made_up = score_orientations(one, two);
  EXPECT_EQ(made_up.all.missed, 0u);
  EXPECT_EQ(made_up.false_fibres, 1u);
  EXPECT_EQ(made_up.voxels_with_false_fibres, 1u);
}

TEST(Score, DoesNotScoreFractionsThatWereNotEstimated) {
  fibre_field tensor = one_voxel({{30, 0.f}});
  tensor.fraction.clear();
  const orientation_score s = score_orientations(one_voxel({{0, 0.5f}}), tensor);
  EXPECT_FALSE(s.has_fractions);
  EXPECT_EQ(s.all.missed, 0u);
  EXPECT_NEAR(s.all.mean_degrees, 30, 1e-4);
  EXPECT_FALSE(score_json(s).contains("false_fibres"));
}

TEST(Score, ComparesOnlyVoxelsThatBothHave) {
  fibre_field truth = one_voxel({{0, 0.5f}}), estimate = truth;
  estimate.voxels.clear();
  EXPECT_EQ(score_orientations(truth, estimate).voxels, 0u);
}

}  // namespace
