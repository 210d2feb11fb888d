#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/phantom/fibre_scores.hpp"

namespace {

using namespace voxherd;

struct planar_fibre {
  double degrees;
  float fraction;
};

/// Fibres of each voxel, in the xy plane.
fibre_field planar_field(const std::vector<std::vector<planar_fibre>>& voxels) {
  fibre_field field;
  field.grid.size = {voxels.size(), 1, 1};
  std::size_t most = 0;
  for (const auto& v : voxels) most = std::max(most, v.size());
  field.direction.assign(most, std::vector<float>(3 * voxels.size(), 0));
  field.fraction.assign(most, std::vector<float>(voxels.size(), 0));
  for (std::size_t v = 0; v < voxels.size(); ++v) {
    field.voxels.push_back(v);
    for (std::size_t j = 0; j < voxels[v].size(); ++j) {
      const double a = voxels[v][j].degrees * M_PI / 180;
      field.direction[j][3 * v] = static_cast<float>(std::cos(a));
      field.direction[j][3 * v + 1] = static_cast<float>(std::sin(a));
      field.fraction[j][v] = voxels[v][j].fraction;
    }
  }
  return field;
}

const fibre_field two_at_60 = planar_field({{{0, 0.5f}, {60, 0.3f}}});

TEST(Detection, OfTheTruthSucceedsEverywhere) {
  const detection_score s = score_detection(two_at_60, two_at_60, {});
  EXPECT_EQ(s.all.voxels, 1u);
  EXPECT_EQ(s.all.successes, 1u);
  EXPECT_EQ(s.all.known, 1u);
  EXPECT_EQ(s.by_number[1].voxels, 1u);
  EXPECT_EQ(s.by_angle[5].voxels + s.by_angle[6].voxels, 1u);  // 60 degrees in float
}

TEST(Detection, FailsWhereAFibreIsFartherThanTheLargestAngle) {
  const fibre_field off = planar_field({{{0, 0.5f}, {84, 0.3f}}});
  EXPECT_EQ(score_detection(two_at_60, off, {25}).all.successes, 1u);
  EXPECT_EQ(score_detection(two_at_60, off, {20}).all.successes, 0u);
}

TEST(Detection, KnownNumberIgnoresTheThresholdAndFurtherFibres) {
  const fibre_field weak = planar_field({{{1, 0.5f}, {61, 0.04f}}});
  const detection_score missed = score_detection(two_at_60, weak, {});
  EXPECT_EQ(missed.all.successes, 0u);
  EXPECT_EQ(missed.all.known, 1u);
  EXPECT_EQ(missed.all.missing, 1u);
  EXPECT_EQ(missed.all.extra, 0u);
  EXPECT_EQ(score_detection(two_at_60, weak, {25, 0.03f}).all.successes, 1u);
  const fibre_field three = planar_field({{{120, 0.1f}, {1, 0.5f}, {61, 0.3f}}});
  const detection_score extra = score_detection(two_at_60, three, {});
  EXPECT_EQ(extra.all.successes, 0u);
  EXPECT_EQ(extra.all.known, 1u);
  EXPECT_EQ(extra.all.extra, 1u);
  EXPECT_EQ(score_json(extra)["all"]["extra"], 1);
}

TEST(Detection, SortsVoxelsByTheirNumberOfTrueFibres) {
  const fibre_field truth = planar_field({{{0, 0.5f}}, {{0, 0.5f}, {35, 0.4f}}, {}});
  const detection_score s = score_detection(truth, planar_field({{{3, 0.5f}}, {{17, 0.5f}}, {{0, 0.5f}}}), {});
  EXPECT_EQ(s.all.voxels, 2u);  // nothing to find in the third
  EXPECT_EQ(s.by_number[0].successes, 1u);
  EXPECT_EQ(s.by_number[1].successes, 0u);
  EXPECT_EQ(s.by_number[1].missing, 1u);
  EXPECT_EQ(s.by_angle[3].voxels, 1u);
}

}  // namespace
