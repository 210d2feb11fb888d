#include "kernels/perfusion/converter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

namespace voxherd::perfusion {
namespace {

static_assert(std::is_trivially_copyable_v<voxel_converter>);

constexpr double radians_per_degree = std::numbers::pi / 180;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// The textbook equation, as printed.
double ernst(double M0, double TR, double a, double R1) {
  const double E = std::exp(-TR * R1);
  return M0 * std::sin(a) * (1 - E) / (1 - E * std::cos(a));
}

conversion spoiled() {
  conversion c;
  c.signal = signal_kind::spoiled_echo;
  c.baseline_begin = 0;
  c.baseline_end = 2;
  c.relaxivity_per_mM_s = 4;
  c.repetition_s = 0.004;
  c.flip_rad = 20 * radians_per_degree;
  c.t1_s = 0.8;
  return c;
}

struct outcome {
  converted said;
  std::vector<float> concentration;
};

outcome convert(const conversion& c, const std::vector<float>& row, int frames, std::vector<std::uint8_t> counts = {}) {
  counts.resize(static_cast<std::size_t>(frames), 1);
  outcome result;
  result.concentration.assign(static_cast<std::size_t>(frames), -1);
  result.said = voxel_converter(c, frames, counts.data())({row.data(), 1}, result.concentration.data(), 1);
  return result;
}

void expect_failed(voxel_status why, const outcome& o) {
  EXPECT_EQ(o.said.status, why);
  EXPECT_EQ(o.said.t1_s, 0);
  EXPECT_EQ(o.said.S0, 0);
  for (const float c : o.concentration) EXPECT_EQ(c, 0);
}

TEST(PerfusionConverter, CopiesConcentrations) {
  const auto o = convert({}, {0, -1, 2.5}, 3);
  EXPECT_EQ(o.said.status, voxel_status::fitted);
  EXPECT_EQ(o.said.S0, 0);
  EXPECT_EQ(o.concentration, (std::vector<float>{0, -1, 2.5}));
}

TEST(PerfusionConverter, SubtractsTheBaselineFromHounsfieldUnits) {
  conversion c;
  c.signal = signal_kind::ct;
  c.baseline_begin = 1;
  c.baseline_end = 3;
  const auto o = convert(c, {1000, -10, 4, 57}, 4);
  EXPECT_EQ(o.said.status, voxel_status::fitted);
  EXPECT_EQ(o.said.S0, -3);
  EXPECT_EQ(o.concentration, (std::vector<float>{1003, -7, 7, 60}));
}

TEST(PerfusionConverter, ConvertsLinearSignalsByRelativeEnhancementTimesR10) {
  conversion c = spoiled();
  c.signal = signal_kind::linear;
  const auto o = convert(c, {100, 100, 180, 50}, 4);
  EXPECT_EQ(o.said.t1_s, 0.8);
  EXPECT_EQ(o.said.S0, 100);
  // 1 / 0.8 s / (4 /mM/s) = 0.3125 mM for a doubled signal
  EXPECT_FLOAT_EQ(o.concentration[2], 0.25F);
  EXPECT_FLOAT_EQ(o.concentration[3], -0.15625F);
}

TEST(PerfusionConverter, InvertsTheSpoiledEcho) {
  const conversion c = spoiled();
  const std::vector<double> truth = {0, 0, 0.5, 6, -0.1};
  std::vector<float> row;
  for (const double mM : truth)
    row.push_back(static_cast<float>(ernst(5000, c.repetition_s, c.flip_rad, 1 / c.t1_s + 4 * mM)));
  const auto o = convert(c, row, 5);
  EXPECT_EQ(o.said.status, voxel_status::fitted);
  EXPECT_EQ(o.said.saturated, 0);
  // Signals have 24 bits: relative 6e-8 of a signal that increases by a third per mM, less near saturation
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(o.concentration[i], truth[i], 4e-6) << i;
}

TEST(PerfusionConverter, ReadsT1FromTheMapAfterTheFrames) {
  conversion c = spoiled();
  c.signal = signal_kind::linear;
  c.t1 = t1_source::map;
  const auto o = convert(c, {100, 100, 200, 0.5F}, 3);
  EXPECT_EQ(o.said.t1_s, 0.5);
  EXPECT_FLOAT_EQ(o.concentration[2], 0.5F);
  for (const float bad : {0.0F, -1.0F, 0.0099F, 10.01F, 1e6F, nan, std::numeric_limits<float>::infinity()})
    expect_failed(voxel_status::no_t1, convert(c, {100, 100, 200, bad}, 3));
  for (const float limit : {0.01F, 10.0F})
    EXPECT_EQ(convert(c, {100, 100, 200, limit}, 3).said.status, voxel_status::fitted) << limit;
}

TEST(PerfusionConverter, FitsT1ToFlipAngles) {
  conversion c = spoiled();
  c.t1 = t1_source::flip_angles;
  c.flip_angles = 3;
  c.t1_flip_rad = {2 * radians_per_degree, 10 * radians_per_degree, 20 * radians_per_degree};
  c.t1_repetition_s = 0.006;
  const double R10 = 1 / 0.65;
  std::vector<float> row;
  for (const double mM : {0.0, 0.0, 0.7})
    row.push_back(static_cast<float>(ernst(3000, 0.004, c.flip_rad, R10 + 4 * mM)));
  for (int i = 0; i < 3; ++i)
    row.push_back(static_cast<float>(ernst(3000, 0.006, c.t1_flip_rad[static_cast<std::size_t>(i)], R10)));
  const auto o = convert(c, row, 3);
  EXPECT_NEAR(o.said.t1_s, 0.65, 1e-6);
  EXPECT_NEAR(o.concentration[2], 0.7, 3e-6);
  row[4] = nan;
  expect_failed(voxel_status::not_finite, convert(c, row, 3));
  row[4] = 0;
  row[5] = 0;
  expect_failed(voxel_status::no_t1, convert(c, row, 3));
}

TEST(PerfusionConverter, IgnoresFramesThatAreNotCounted) {
  conversion c = spoiled();
  c.signal = signal_kind::linear;
  const std::vector<float> row = {nan, 100, 200, nan, 300};
  const auto o = convert(c, row, 5, {0, 1, 1, 0, 1});
  EXPECT_EQ(o.said.status, voxel_status::fitted);
  EXPECT_EQ(o.said.S0, 100);
  EXPECT_EQ(o.concentration[0], 0);
  EXPECT_FLOAT_EQ(o.concentration[2], 0.3125F);
  EXPECT_EQ(o.concentration[3], 0);
  expect_failed(voxel_status::not_finite, convert(c, row, 5));
  expect_failed(voxel_status::no_baseline, convert(c, row, 5, {0, 0, 1, 0, 1}));
}

TEST(PerfusionConverter, ReportsWhyAVoxelHasNoConcentration) {
  const conversion c = spoiled();
  expect_failed(voxel_status::all_zero, convert(c, {0, 0, 0}, 3));
  expect_failed(voxel_status::constant, convert(c, {7, 7, 7}, 3));
  expect_failed(voxel_status::no_baseline, convert(c, {0, 0, 5}, 3));
  expect_failed(voxel_status::no_baseline, convert(c, {-3, 1, 5}, 3));
  expect_failed(voxel_status::not_finite, convert(c, {1, 1, std::numeric_limits<float>::infinity()}, 3));
}

TEST(PerfusionConverter, LimitsASampleBeyondSaturationAndKeepsTheVoxel) {
  const conversion c = spoiled();
  // Before the agent arrives the signal is (1 - E) / (1 - E cos a) of saturation.
  const double E = std::exp(-c.repetition_s / c.t1_s);
  const double limit = (1 - E * std::cos(c.flip_rad)) / (1 - E);
  const auto s = [&](double part) { return static_cast<float>(100 * part * limit); };
  const auto o = convert(c, {100, 100, 120, s(0.94), s(0.96), s(1), s(50), -s(50), 130}, 9);
  EXPECT_EQ(o.said.status, voxel_status::fitted);
  EXPECT_EQ(o.said.saturated, 4);
  // E where (1 - E) / (1 - E cos a) = 0.95
  const double held_rate = -std::log(0.05 / (1 - 0.95 * std::cos(c.flip_rad))) / c.repetition_s;
  const auto held = static_cast<float>((held_rate - 1 / c.t1_s) / 4);
  EXPECT_LT(o.concentration[3], held);
  for (const std::size_t i : {4U, 5U, 6U}) EXPECT_FLOAT_EQ(o.concentration[i], held) << i;
  EXPECT_LT(o.concentration[7], 0);
  EXPECT_TRUE(std::isfinite(o.concentration[7]));
  expect_failed(voxel_status::saturated, convert(c, {100, 100, s(1), s(1), s(2)}, 5));
}

TEST(PerfusionConverter, WritesWithAStride) {
  const std::vector<float> row = {1, 9, 2, 9, 3};
  const std::vector<std::uint8_t> counts = {1, 1, 1};
  std::vector<float> out(7, -1);
  voxel_converter({}, 3, counts.data())({row.data(), 2}, out.data(), 3);
  EXPECT_EQ(out, (std::vector<float>{1, -1, -1, 2, -1, -1, 3}));
}

TEST(PerfusionSignalModel, ConvertsConcentrationsToSignalsAndBack) {
  for (const auto kind :
       {signal_kind::concentration, signal_kind::linear, signal_kind::spoiled_echo, signal_kind::ct}) {
    conversion c = spoiled();
    c.signal = kind;
    const auto model = signal_model(c, {250, 0.7});
    for (const double mM : {-0.2, 0.0, 1e-6, 0.3, 8.0})
      EXPECT_NEAR(model.concentration(model.signal(mM)).value, mM, 1e-13 * (1 + std::fabs(mM)) * 250) << mM;
    EXPECT_NEAR(model.signal(0), kind == signal_kind::concentration ? 0 : 250, 1e-12);
  }
}

TEST(PerfusionSignalModel, IsTheErnstEquation) {
  const conversion c = spoiled();
  const auto model = signal_model(c, {ernst(1, c.repetition_s, c.flip_rad, 1 / 0.7), 0.7});
  for (const double mM : {0.0, 0.1, 5.0, 50.0})
    EXPECT_NEAR(model.signal(mM), ernst(1, c.repetition_s, c.flip_rad, 1 / 0.7 + 4 * mM), 1e-14) << mM;
}

}  // namespace
}  // namespace voxherd::perfusion
