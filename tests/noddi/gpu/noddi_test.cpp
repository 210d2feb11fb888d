#include <gtest/gtest.h>

#include "tests/noddi/reference/noddi_reference.hpp"
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

}  // namespace
