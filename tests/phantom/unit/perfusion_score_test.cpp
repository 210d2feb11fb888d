#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "src/phantom/score.hpp"

namespace {

using namespace voxherd;

std::size_t place_of(std::string_view name) {
  const auto& all = scored_quantities();
  const auto found = std::find_if(all.begin(), all.end(), [&](const scored_quantity& q) { return q.name == name; });
  return static_cast<std::size_t>(found - all.begin());
}

const std::size_t ka = place_of("ka"), kp = place_of("kp"), kl = place_of("kl"), tau_a = place_of("tau_a"),
                  tau_p = place_of("tau_p");

TEST(PerfusionScore, IsOfParametersAndDerivedMapsInTheOrderOfResults) {
  std::vector<std::string> names;
  for (const scored_quantity& q : scored_quantities())
    names.push_back(std::string(q.name) + (q.is_parameter ? " fitted, " : " derived, ") + q.unit);
  EXPECT_EQ(names,
            (std::vector<std::string>{"ka fitted, ml/100g/min", "kp fitted, ml/100g/min", "kl fitted, ml/100g/min",
                                      "tau_a fitted, s", "tau_p fitted, s", "arterial_fraction derived, 1",
                                      "distribution_volume derived, 1", "mean_transit_time derived, s"}));
}

/// `count` voxels in two regions, the first half in the first one.
perfusion_field liver_with_voxels(std::size_t count) {
  perfusion_field f;
  f.grid.size = {count, 1, 1};
  for (auto& values : f.value) values.assign(count, 20);
  for (std::size_t v = 0; v < count; ++v) {
    f.voxels.push_back(v);
    f.region.push_back(v < count / 2 ? 1.f : 2.f);
  }
  f.region_name = {"one", "two"};
  return f;
}

TEST(PerfusionScore, OfTheTruthItselfIsZero) {
  const perfusion_field truth = liver_with_voxels(10);
  const auto scores = score_perfusion(truth, truth);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores[2].name, "all");
  EXPECT_EQ(scores[2].voxels, 10u);
  for (const auto& region : scores)
    for (const auto& q : region.quantity) {
      EXPECT_GT(q.voxels, 0u);
      EXPECT_EQ(q.bias, 0);
      EXPECT_EQ(q.median_absolute, 0);
      EXPECT_EQ(q.percentile95, 0);
      EXPECT_FALSE(q.has_deviation);
      EXPECT_FALSE(q.has_bound);
    }
}

TEST(PerfusionScore, ReportsBiasMedianAndPercentilesOfTheError) {
  const perfusion_field truth = liver_with_voxels(42);
  perfusion_field estimate = truth;
  for (std::size_t v = 0; v < 21; ++v) estimate.value[ka][v] += static_cast<float>(v) - 5;  // errors -5 .. 15
  const auto scores = score_perfusion(truth, estimate);
  const quantity_score& s = scores[0].quantity[ka];
  EXPECT_NEAR(s.bias, 5, 1e-12);
  EXPECT_NEAR(s.percentile5, -4, 1e-9);
  EXPECT_NEAR(s.percentile95, 14, 1e-9);
  EXPECT_NEAR(s.median_absolute, 5, 1e-12);  // 0, 1 1, 2 2, .. 5 5, 6, .. 15
  EXPECT_EQ(scores[1].quantity[ka].bias, 0);
  EXPECT_NEAR(scores[2].quantity[ka].bias, 2.5, 1e-12);
}

TEST(PerfusionScore, CountsDeviationsAndBoundsIfThereAreAny) {
  const perfusion_field truth = liver_with_voxels(8);
  perfusion_field estimate = truth;
  for (const std::size_t v : {0, 1, 2, 3}) estimate.value[ka][v] += 3;
  estimate.deviation[ka] = {2, 1, 0, 1.5f, 1, 1, 1, 1};  // within 4, beyond 2, none, within 3
  estimate.at_bound = {0, 0, 2, 4, 0, 0, 0, 1};          // bit 1: ka; bit 2: kp; bit 0: kl
  const auto scores = score_perfusion(truth, estimate);
  const quantity_score& s = scores[0].quantity[ka];
  EXPECT_TRUE(s.has_deviation);
  EXPECT_EQ(s.all.voxels, 3u);
  EXPECT_NEAR(s.all.share(), 2. / 3, 1e-12);
  EXPECT_EQ(s.free.voxels, 2u);  // in voxel 3 kp is at a bound
  EXPECT_NEAR(s.free.share(), 0.5, 1e-12);
  EXPECT_NEAR(s.at_bound, 0.25, 1e-12);
  EXPECT_FALSE(scores[0].quantity[kp].has_deviation);
  EXPECT_NEAR(scores[0].quantity[kp].at_bound, 0.25, 1e-12);
  EXPECT_NEAR(scores[2].quantity[kl].at_bound, 0.125, 1e-12);
}

TEST(PerfusionScore, ExcludesDelaysOfZeroFlows) {
  perfusion_field truth = liver_with_voxels(4);
  truth.value[kp][0] = 0, truth.value[kp][1] = 4.9f;
  const auto scores = score_perfusion(truth, truth);
  EXPECT_EQ(scores[0].quantity[tau_p].voxels, 0u);
  EXPECT_EQ(scores[0].quantity[tau_a].voxels, 2u);
  EXPECT_EQ(scores[2].quantity[tau_p].voxels, 2u);
  EXPECT_EQ(scores[2].quantity[kp].voxels, 4u);
}

TEST(PerfusionScore, CountsUnfittedVoxelsAndExcludesThem) {
  const perfusion_field truth = liver_with_voxels(6);
  perfusion_field estimate = truth;
  estimate.voxels = {1, 2, 3, 5};
  for (const std::size_t v : {0, 4}) estimate.value[ka][v] = 1e6f;
  const auto scores = score_perfusion(truth, estimate);
  EXPECT_EQ(scores[0].not_fitted, 1u);
  EXPECT_EQ(scores[2].not_fitted, 2u);
  EXPECT_EQ(scores[2].voxels, 6u);
  EXPECT_EQ(scores[2].quantity[ka].voxels, 4u);
  EXPECT_EQ(scores[2].quantity[ka].bias, 0);
}

}  // namespace
