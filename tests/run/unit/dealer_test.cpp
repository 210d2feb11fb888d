#include "mpi/run/dealer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/plan.hpp"
#include "tests/run/reference/simulated_ranks.hpp"

using namespace voxherd;
using toy::deal_to;
using toy::simulated_rank;

namespace {

constexpr std::uint64_t hcp_items = 900416;

std::vector<batch> make_plan(std::uint64_t items, const batch_sizes& sizes) {
  std::vector<std::uint64_t> numbers(items);
  std::iota(numbers.begin(), numbers.end(), 0);
  image_grid grid;
  grid.size = {items, 1, 1};
  return make_plan(partition_kind::voxels, numbers, grid, sizes);
}

/// Batch sizes of ball & stick on GPUs.
batch_sizes gpu_sizes() { return falling_sizes(14336, 2048, 32768); }

std::vector<std::uint64_t> batch_numbers(const std::vector<batch>& plan) {
  std::vector<std::uint64_t> numbers(plan.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::uint64_t item_count_of_plan(const std::vector<batch>& plan) {
  return plan.back().first_item + plan.back().item_count;
}

/// Delay relative to the ideal time, which is all work over the sum of all speeds.
double loss(std::vector<simulated_rank> ranks, const std::vector<batch>& plan) {
  double speed = 0;
  for (const simulated_rank& r : ranks) speed += r.items_per_second;
  const auto run = deal_to(ranks, plan, batch_numbers(plan));
  for (const int times : run.times_done) EXPECT_EQ(times, 1);
  return run.seconds * speed / static_cast<double>(item_count_of_plan(plan)) - 1;
}

std::vector<simulated_rank> gpus(int count, double speed_of_last = 60000) {
  std::vector<simulated_rank> ranks(static_cast<std::size_t>(count));
  for (simulated_rank& r : ranks) r.items_per_second = 60000;
  ranks.back().items_per_second = speed_of_last;
  return ranks;
}

/// A CPU rank in a job with GPUs.
simulated_rank cores_at(double items_per_second) {
  simulated_rank r;
  r.items_per_second = items_per_second;
  r.believed = 0.003;
  return r;
}

TEST(Dealer, BatchesThatARankHoldsGoToItAlone) {
  const std::vector<batch> plan = make_plan(60, batch_sizes(10));
  dealer deals({1, 1, 1}, plan, batch_numbers(plan), {1, no_rank, 1, 0, no_rank, 1});
  std::vector<std::vector<std::uint64_t>> got(3);
  std::vector<int> asking = {0, 1, 2};
  for (double now = 0; !asking.empty(); now += 1) {
    for (const int rank : asking) deals.ask(rank);
    asking.clear();
    for (const auto& [rank, number] : deals.answers(now)) {
      if (!number) continue;
      got[static_cast<std::size_t>(rank)].push_back(*number);
      deals.done(rank, *number, now + 0.5);
      asking.push_back(rank);
    }
  }
  EXPECT_EQ(got[0].front(), 3u);
  EXPECT_EQ(std::vector<std::uint64_t>(got[1].begin(), got[1].begin() + 3), (std::vector<std::uint64_t>{0, 2, 5}));
  std::vector<std::uint64_t> rest(got[2]);
  rest.insert(rest.end(), got[0].begin() + 1, got[0].end());
  rest.insert(rest.end(), got[1].begin() + 3, got[1].end());
  std::sort(rest.begin(), rest.end());
  EXPECT_EQ(rest, (std::vector<std::uint64_t>{1, 4}));
}

TEST(Dealer, StopsWithBatchesThatARankHolds) {
  const std::vector<batch> plan = make_plan(20, batch_sizes(10));
  dealer deals({1, 1}, plan, batch_numbers(plan), {0, 0});
  deals.stop();
  deals.ask(0);
  const auto answers = deals.answers(0);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_FALSE(answers.front().number);
}

TEST(Dealer, ABatchIsHeldByTheRankWithMostOfItsItems) {
  const std::vector<batch> plan = {{0, 0, 3}, {1, 3, 3}, {2, 6, 2}};
  const int none = no_rank;
  EXPECT_EQ(holders_of_batches(plan, {2, 2, none, 0, 1, 1, none, none}), (std::vector<int>{2, 1, none}));
  EXPECT_TRUE(holders_of_batches(plan, {}).empty());
}

}  // namespace

TEST(Dealer, GivesASingleRankAllBatchesInOrder) {
  const auto plan = make_plan(100000, gpu_sizes());
  std::vector<simulated_rank> one(1);
  deal_to(one, plan, batch_numbers(plan));
  EXPECT_EQ(one[0].batches, batch_numbers(plan));
}

TEST(Dealer, EndsWithinTwoPercentOfIdealOnEqualGpus) {
  const auto plan = make_plan(hcp_items, gpu_sizes());
  for (const int count : {1, 2, 3, 4, 5, 8}) EXPECT_LT(loss(gpus(count), plan), 0.02) << count;
}

TEST(Dealer, EndsWithinThreePercentOfIdealWithOneGpuAtHalfSpeed) {
  const auto plan = make_plan(hcp_items, gpu_sizes());
  for (const int count : {2, 3, 4, 8}) EXPECT_LT(loss(gpus(count, 30000), plan), 0.03) << count;
}

TEST(Dealer, EndsWithinThreePercentOfIdealWithOneGpuAtATenthOfTheSpeed) {
  const auto plan = make_plan(hcp_items, gpu_sizes());
  for (const int count : {2, 4}) EXPECT_LT(loss(gpus(count, 6000), plan), 0.03) << count;
}

TEST(Dealer, EndsWithinThreePercentOfIdealOnManyCpuRanks) {
  const auto plan = make_plan(hcp_items, falling_sizes(3584, 0, 32768));
  for (const std::size_t count : {2, 16, 64}) {
    std::vector<simulated_rank> ranks(count);
    ranks.back().items_per_second /= 2;
    EXPECT_LT(loss(ranks, plan), 0.03) << count;
  }
}

TEST(Dealer, EndsWithinThreePercentOfIdealWithGpusAndCores) {
  batch_sizes sizes = gpu_sizes();
  sizes.ends_for_slow_ranks = true;
  const auto plan = make_plan(hcp_items, sizes);
  for (const int gpu_count : {1, 2, 4}) {
    for (const double cores : {200.0, 500.0, 1000.0}) {
      std::vector<simulated_rank> ranks = gpus(gpu_count);
      for (int c = 0; c < 4; ++c) ranks.push_back(cores_at(cores));
      EXPECT_LT(loss(ranks, plan), 0.03) << gpu_count << " GPUs, cores at " << cores;
    }
  }
}

TEST(Dealer, GivesFastRanksLargeBatchesAndSlowOnesSmall) {
  batch_sizes sizes = gpu_sizes();
  sizes.ends_for_slow_ranks = true;
  const auto plan = make_plan(hcp_items, sizes);
  std::vector<simulated_rank> ranks = gpus(2);
  ranks.push_back(cores_at(500));
  deal_to(ranks, plan, batch_numbers(plan));
  EXPECT_GE(plan[ranks[0].batches.front()].item_count, 8192u);
  EXPECT_EQ(ranks[2].batches.front(), plan.size() - 1) << "a rank of unknown speed starts with the smallest batch";
  EXPECT_GE(ranks[2].batches.size(), 2u);
  for (const std::uint64_t number : ranks[2].batches) EXPECT_LE(plan[number].item_count, 2048u);
}

TEST(Dealer, DealsEveryBatchOnceForAnySpeeds) {
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t below) {
    return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33 % below;
  };
  for (int turn = 0; turn < 200; ++turn) {
    const std::uint64_t items = 1 + draw(1 << 20) % 50000, last = 1 + draw(1 << 20) % 500;
    const auto plan = make_plan(items, {last * (1 + draw(1 << 20) % 20), last, 1 + draw(1 << 20) % 64});
    std::vector<simulated_rank> ranks(1 + draw(1 << 20) % 9);
    for (simulated_rank& r : ranks) {
      r.items_per_second = std::pow(10.0, static_cast<double>(draw(1 << 20) % 5));
      r.seconds_per_batch = static_cast<double>(draw(1 << 20) % 3) * 0.01;
      r.believed = draw(1 << 20) % 4 == 0 ? 0.01 : 1;
    }
    const auto run = deal_to(ranks, plan, batch_numbers(plan), 1e9);
    for (const int times : run.times_done) ASSERT_EQ(times, 1) << "turn " << turn;
    for (const simulated_rank& r : ranks) EXPECT_TRUE(r.received_nothing_left) << "turn " << turn;
  }
}

TEST(Dealer, GivesAStalledRankNoMoreBatches) {
  const auto plan = make_plan(20000, {1000, 100, 8});
  std::vector<simulated_rank> ranks(3);
  ranks[1].stalls_at = 2;
  const auto run = deal_to(ranks, plan, batch_numbers(plan), 500);
  int lost = 0;
  for (const int times : run.times_done) lost += times == 0 ? 1 : 0;
  EXPECT_LE(lost, 2) << "the batch it computes and the one it holds";
  EXPECT_TRUE(ranks[0].received_nothing_left);
  EXPECT_TRUE(ranks[2].received_nothing_left);
}

TEST(Dealer, ReportsNothingLeftOnlyWhenThatIsFinal) {
  // A rank at a tenth of the speed waits near the end; then the fast rank stalls.
  const auto plan = make_plan(3000, batch_sizes(100));
  std::vector<simulated_rank> ranks(2);
  ranks[1].items_per_second = 100;
  ranks[0].stalls_at = 1.5;
  const auto run = deal_to(ranks, plan, batch_numbers(plan), 500);
  int lost = 0;
  for (const int times : run.times_done) lost += times == 0 ? 1 : 0;
  EXPECT_LE(lost, 2);
  EXPECT_GT(ranks[1].batches.size(), 10u) << "it computes the batches of the stalled rank";
}

TEST(Dealer, WithholdsTheLastBatchesFromASlowRank) {
  // The ideal time is 9.1 s, and the slow rank needs 1 s per batch.
  const auto plan = make_plan(10000, batch_sizes(100));
  std::vector<simulated_rank> ranks(2);
  ranks[1].items_per_second = 100;
  const auto run = deal_to(ranks, plan, batch_numbers(plan));
  EXPECT_LT(run.seconds, 10000 / 1100.0 * 1.06);
  EXPECT_LE(ranks[1].last_end, ranks[0].last_end);
}

TEST(Dealer, StopEndsAllWaiting) {
  const auto plan = make_plan(1000000, batch_sizes(100));
  std::vector<simulated_rank> ranks(4);
  const auto run = deal_to(ranks, plan, batch_numbers(plan), 1e4, [](dealer& d, double now) {
    if (now > 3) d.stop();
  });
  EXPECT_LT(run.seconds, 4);
  for (const simulated_rank& r : ranks) EXPECT_TRUE(r.received_nothing_left);
}

TEST(Dealer, ContinuesWithPendingBatches) {
  const auto plan = make_plan(100000, gpu_sizes());
  std::vector<std::uint64_t> pending;
  for (std::uint64_t b = 1; b < plan.size(); b += 3) pending.push_back(b);
  std::vector<simulated_rank> ranks(3);
  const auto run = deal_to(ranks, plan, pending);
  for (std::uint64_t b = 0; b < plan.size(); ++b) EXPECT_EQ(run.times_done[b], b % 3 == 1 ? 1 : 0);
}

TEST(Dealer, WithoutBatchesReportsNothingLeftImmediately) {
  dealer d({1, 1}, {}, {});
  d.ask(1);
  const auto answers = d.answers(0);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].rank, 1);
  EXPECT_FALSE(answers[0].number);
}
