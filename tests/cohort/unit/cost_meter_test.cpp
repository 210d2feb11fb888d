#include <gtest/gtest.h>

#include "src/batch/cohort/child_pool.hpp"

namespace voxherd {
namespace {

const compute_place on_first{0, 4}, on_second{1, 4}, on_cores{std::nullopt, 6};

/// Two GPUs with given counters.
struct two_gpus {
  std::vector<gpu_reading> now{{0, 0}, {0, 0}};
  gpu_reader reader() {
    return [this](std::size_t g) { return now[g]; };
  }
};

TEST(CostMeter, DividesTimeAndEnergyOfAGpuEquallyAmongTheSubjectsOnIt) {
  two_gpus gpus;
  cost_meter meter(2, gpus.reader(), 0);
  meter.begin(7, on_first, {});
  gpus.now[0] = {3600, 0.5};
  meter.measure(3600);  // 7 alone
  meter.begin(8, on_first, {});
  meter.begin(9, on_second, {});
  gpus.now[0] = {3600 + 7200, 1.0};
  gpus.now[1] = {1800, 0.25};
  meter.measure(7200);
  EXPECT_EQ(meter.so_far(7), (cost{1.5, 0, 2, 1.5, 1}));
  EXPECT_EQ(meter.so_far(8), (cost{0.5, 0, 1, 0.5, 0.5}));
  EXPECT_EQ(meter.so_far(9), (cost{1, 0, 0.5, 1, 0.25}));
}

TEST(CostMeter, CountsIdleGpusOnlyInTheTotal) {
  two_gpus gpus;
  cost_meter meter(2, gpus.reader(), 0);
  meter.begin(1, on_first, {});
  gpus.now = {{3600, 1.0}, {1800, 0.0}};
  meter.measure(3600);
  meter.end(1);
  gpus.now = {{7200, 0.0}, {3600, 0.0}};
  meter.measure(7200);
  EXPECT_EQ(meter.total(), (cost{4, 0, 3, 4, 1}));
}

TEST(CostMeter, AddsToTheCostOfEarlierRuns) {
  two_gpus gpus;
  cost_meter meter(2, gpus.reader(), 0);
  meter.begin(1, on_first, {10, 2, 30, 8, 7});
  gpus.now[0] = {3600, 1.0};
  meter.measure(3600);
  EXPECT_EQ(meter.so_far(1), (cost{11, 2, 31, 9, 8}));
}

TEST(CostMeter, CountsTheThreadsOfSubjectsOnCores) {
  cost_meter meter(0, {}, 0);
  meter.begin(1, on_cores, {});
  meter.measure(1800);
  EXPECT_EQ(meter.so_far(1), (cost{0, 3, 0, 0, 0}));
  EXPECT_EQ(meter.total(), (cost{0, 3, 0, 0, 0}));
}

TEST(CostMeter, LeavesOutWhatTheDriverDoesNotOffer) {
  two_gpus gpus;
  gpus.now[0] = {};
  cost_meter meter(2, gpus.reader(), 0);
  meter.begin(1, on_first, {});
  meter.measure(3600);
  EXPECT_EQ(meter.so_far(1), (cost{1, 0, 0, 0, 0}));
}

TEST(CostMeter, DoesNotCountBackwardsIfTheDriverIsLoadedAgain) {
  two_gpus gpus;
  gpus.now[0] = {1e6, 1.0};
  cost_meter meter(2, gpus.reader(), 0);
  meter.begin(1, on_first, {});
  gpus.now[0] = {10, 1.0};
  meter.measure(3600);
  EXPECT_EQ(meter.so_far(1).energy_wh, 0);
}

}  // namespace
}  // namespace voxherd
