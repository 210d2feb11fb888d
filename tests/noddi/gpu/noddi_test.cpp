#include <gtest/gtest.h>

#include "tests/noddi/reference/noddi_reference.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/gpu_test.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

class NoddiCuda : public gpu_test {};

/// 8, 16 and 32 lanes per voxel, and more measurements than fit in registers.
TEST_F(NoddiCuda, AgreesWithTheCpu) {
  for (const int directions : {15, 30, 80, 110})
    for (const bool rician : {false, true})
      for (const int samples : {0, 50}) {
        noddi::settings s;
        s.noise = rician ? noddi::noise_model::rician : noddi::noise_model::gaussian;
        s.samples = samples;
        expect_agrees_with_cpu(gpu, s, directions);
      }
}

TEST_F(NoddiCuda, AgreesWithTheCpuWithADot) {
  noddi::settings s;
  s.dot = true;
  s.samples = 50;
  expect_agrees_with_cpu(gpu, s, 30);
}

TEST_F(NoddiCuda, CorrectsForTheDeviationOfGradients) {
  for (const int directions : {15, 30, 110})
    for (const bool rician : {false, true})
      for (const int samples : {0, 50}) {
        noddi::settings s;
        s.noise = rician ? noddi::noise_model::rician : noddi::noise_model::gaussian;
        s.samples = samples;
        s.dot = rician;
        expect_agrees_with_cpu(gpu, s, directions, true);
      }
}

/// With the same seed, chains diverge only by rounding: most means are then closer than those of two seeds.
TEST_F(NoddiCuda, UsesTheRandomNumbersOfTheCpu) {
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  const std::vector<float> rows = draw_signals(std::vector<noddi_parameters>(200, {1000, 0.1, 0.6, 6}), g, 30, 4);
  noddi::settings s;
  s.samples = 50;
  const noddi_run on_gpu(gpu, g, s, rows), on_cpu(one_thread, g, s, rows);
  s.seed = 12;
  const noddi_run other_seed(one_thread, g, s, rows);
  int closer = 0;
  for (std::size_t i = 0; i < 200; ++i)
    closer += std::abs(on_gpu["NDI"][i] - on_cpu["NDI"][i]) < std::abs(other_seed["NDI"][i] - on_cpu["NDI"][i]);
  EXPECT_GT(closer, 120);
}

TEST_F(NoddiCuda, ABinghamDistributionHasADot) {
  noddi::settings s;
  s.distribution = noddi::distribution::bingham;
  s.dot = true;
  expect_agrees_with_cpu(gpu, s, 30);
}

/// Best fits agree to rounding; chains take different paths, so their means agree within standard deviations.
TEST_F(NoddiCuda, ABinghamDistributionAgreesWithTheCpu) {
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  std::vector<float> rows;
  std::vector<bingham_parameters> truth = draw_bingham_parameters(40, 3);
  for (bingham_parameters& p : truth) {
    p.fwf *= 0.5, p.ndi = 0.2 + 0.6 * p.ndi;
    const std::vector<float> row = draw_bingham_signals(p, g, 20, static_cast<unsigned>(rows.size()));
    rows.insert(rows.end(), row.begin(), row.end());
  }
  for (const int samples : {0, 50}) {
    noddi::settings s;
    s.noise = noddi::noise_model::rician;
    s.samples = samples;
    const bingham_run here(gpu, g, s, rows), there(one_thread, g, s, rows);
    int far = 0;
    for (std::size_t i = 0; i < truth.size(); ++i)
      for (const std::string name : {"NDI", "ODI", "FWF"}) {
        EXPECT_GT(here[name][i], 0) << name;
        const float limit = samples > 0 ? 2 * there[name + "_SD"][i] + 0.01f : 1e-3f;
        far += std::abs(here[name][i] - there[name][i]) > limit;
      }
    EXPECT_LE(far, 3) << samples << " samples";
  }
}

}  // namespace
