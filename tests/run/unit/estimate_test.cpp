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

TEST(Estimate, ADryRunCountsWhatTheLastStepNeeds) {
  run_estimate e = short_run("cpu", 2);
  e.kept_bytes = 3e9, e.root_bytes = 5e8, e.result_bytes = 7e9, e.result = "out.h5";
  const std::string text = estimate_text(e, "out.h5.groups");
  EXPECT_NE(text.find(", 3.0 GB for their sums; 500.0 MB more on rank 0 to write the result\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find(" for out.h5.groups, which is removed at the end\n"), std::string::npos) << text;
  EXPECT_NE(text.find("7.0 GB of maps, compressed to at most that and usually far less, for out.h5\n"),
            std::string::npos)
      << text;
}

TEST(Estimate, ADryRunOnOneGpuOrOnCoresHasNoHint) {
  EXPECT_EQ(estimate_text(short_run("cuda", 1), "out.h5").find("hint"), std::string::npos);
  EXPECT_EQ(estimate_text(short_run("cpu", 4), "out.h5").find("hint"), std::string::npos);
}

}  // namespace
}  // namespace voxherd
