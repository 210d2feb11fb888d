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
