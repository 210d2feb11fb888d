#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/device.hpp"

namespace voxherd {

/// To be called by SetUp().
inline void skip_without_gpu() {
  std::string why;
  if (visible_gpus(&why).empty()) GTEST_SKIP() << "no GPU: " << why;
}

/// Tests on the first GPU; skipped without one.
class gpu_test : public testing::Test {
 protected:
  void SetUp() override {
    skip_without_gpu();
    if (!IsSkipped()) use_device(gpu);
  }
  const device gpu{backend::cuda, 1, 0};
};

}  // namespace voxherd
