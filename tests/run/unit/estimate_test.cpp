#include "mpi/run/estimate.hpp"

#include <gtest/gtest.h>

namespace voxherd {
namespace {

TEST(Estimate, MoreGpusPayOnlyIfTheyComputeLongerThanTheyStart) {
  EXPECT_EQ(gpus_that_pay(0.05, 4), 1);
  EXPECT_EQ(gpus_that_pay(1.0, 4), 2);
  EXPECT_EQ(gpus_that_pay(20.0, 4), 4);
  EXPECT_EQ(gpus_that_pay(1000.0, 1), 1);
}

run_estimate short_run(const char* kind, int ranks) {
  run_estimate e;
  e.analysis = "perfusion", e.item = "voxel", e.device.kind = kind;
  e.ranks = ranks, e.items = 1000, e.batches = 1, e.probed_items = 10;
  e.seconds = e.run_seconds = 0.01, e.probe_seconds = e.mean_seconds = 0.001;
  return e;
}

TEST(Estimate, ADryRunSaysThatOneGpuIsEnough) {
  const std::string text = estimate_text(short_run("cuda", 4), "out.h5");
  EXPECT_NE(
      text.find("hint         one GPU is enough, start 1 rank instead of 4: one GPU computes for 0.04 s, and each "
                "further one takes about 0.25 s to start\n"),
      std::string::npos)
      << text;
}

TEST(Estimate, ADryRunOnOneGpuOrOnCoresHasNoHint) {
  EXPECT_EQ(estimate_text(short_run("cuda", 1), "out.h5").find("hint"), std::string::npos);
  EXPECT_EQ(estimate_text(short_run("cpu", 4), "out.h5").find("hint"), std::string::npos);
}

}  // namespace
}  // namespace voxherd
