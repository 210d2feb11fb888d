#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <limits>
#include <thread>

#include "kernels/geodesic/pair_work.hpp"
#include "tests/geodesic/reference/ranking_reference.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::geodesic;
using reference::bundles;
using positions = std::vector<std::uint32_t>;

const float none = std::numeric_limits<float>::quiet_NaN();

/// The straight line from (x, y, 0) to (x + 11, y, 0), or back.
void add_line(std::vector<float>& sketches, float x, float y, bool reversed = false) {
  for (std::size_t i = 0; i < sketch_points; ++i)
    sketches.insert(sketches.end(), {x + static_cast<float>(reversed ? sketch_points - 1 - i : i), y, 0});
}

candidates of_one_pair(std::size_t count) {
  candidates c;
  for (std::size_t i = 0; i < count; ++i) {
    c.fibre.push_back(i), c.pair.push_back(0);
    c.measure.push_back(1 - static_cast<float>(i) / 1000), c.length_mm.push_back(10);
  }
  return c;
}

TEST(GeodesicRankingReference, RanksByPairThenDecreasingMeasureThenFibre) {
  const candidates c{{4, 5, 6, 7, 8, 9}, {1, 0, 1, 1, 1, 0}, {.5f, none, .75f, .5f, -1.f, -2.f}, {1, 1, 1, 1, 1, 1}};

  EXPECT_EQ(reference::ranked(c), (positions{5, 1, 2, 0, 3, 4}));
}

TEST(GeodesicRankingReference, KeepsByAverageDistanceInEitherDirection) {
  const candidates c = of_one_pair(4);
  std::vector<float> sketches;
  add_line(sketches, 0, 0);
  add_line(sketches, 0, 1.9f);
  add_line(sketches, 0, 1.9f, true);
  add_line(sketches, 0, 2.1f, true);

  EXPECT_EQ(reference::distinct(c, {0, 1, 2, 3}, sketches, 0, 2), (positions{0, 3}));
}

TEST(GeodesicRanking, IsEquivalentToReference) {
  expect_ranking_equivalent_to_reference(two_threads, bundles({400, 0, 0, 1, 33, 700, 32, 0}, 1));
}

TEST(GeodesicRanking, IsEquivalentToReferenceForAnyOrderOfFibres) {
  expect_ranking_equivalent_to_reference(two_threads, shuffled(bundles({400, 0, 0, 1, 33, 700, 32, 0}, 1), 2));
}

TEST(GeodesicRanking, GivesTheSameForAnyNumberOfThreads) {
  const auto r = bundles({3000, 0, 9000, 500}, 3);
  const auto order = ranked(one_thread, r.c);
  const auto summaries = summarise(one_thread, r.c, order, r.pairs);
  const auto kept = distinct(one_thread, r.c, order, r.sketches, 0, 2);

  for (const int threads : {2, 3, 5}) {
    const device d{backend::cpu, threads, 0};
    EXPECT_EQ(ranked(d, r.c), order);
    EXPECT_EQ(distinct(d, r.c, order, r.sketches, 0, 2), kept);
    const auto others = summarise(d, r.c, order, r.pairs);
    for (std::size_t p = 0; p < r.pairs; ++p) {
      EXPECT_EQ(others[p].mean_measure, summaries[p].mean_measure);
      EXPECT_EQ(others[p].mean_length_mm, summaries[p].mean_length_mm);
    }
  }
}

/// One of eight threads that work like a GPU's block.
class thread_team {
 public:
  struct common {
    std::barrier<> wait{8};
    std::atomic<std::uint32_t> least{8};
  };
  thread_team(common& shared, std::uint32_t lane) : shared_(shared), lane_(lane) {}

  static std::uint32_t width() { return 8; }
  std::uint32_t lane() const { return lane_; }
  std::uint32_t first(bool open) const {
    if (lane_ == 0) shared_.least = 8;
    shared_.wait.arrive_and_wait();
    for (std::uint32_t seen = shared_.least;
         open && lane_ < seen && !shared_.least.compare_exchange_weak(seen, lane_);) {
    }
    shared_.wait.arrive_and_wait();
    const std::uint32_t found = shared_.least;
    shared_.wait.arrive_and_wait();
    return found;
  }

 private:
  common& shared_;
  std::uint32_t lane_;
};

TEST(GeodesicRanking, KeepsTheSameForATeamOfManyLanes) {
  const auto r = bundles({301}, 4);
  std::vector<float> means(3 * r.order.size());
  for (std::size_t i = 0; i < r.order.size(); ++i) {
    float mean[3];
    mean_point(&r.sketches[i * sketch_floats], mean);
    std::copy_n(mean, 3, &means[3 * i]);
  }
  for (const std::uint32_t top : {0, 1, 5}) {
    const distinct_picker pick(fibre_nearness(1.0), r.sketches.data(), means.data(), top);
    std::vector<std::uint32_t> kept(r.order.size()), counts(8);
    thread_team::common shared;
    std::vector<std::jthread> lanes;
    for (std::uint32_t lane = 0; lane < 8; ++lane)
      lanes.emplace_back([&, lane] {
        thread_team team(shared, lane);
        counts[lane] = pick(team, {0, 0, 301}, kept.data());
      });
    lanes.clear();

    EXPECT_EQ(counts, std::vector<std::uint32_t>(8, counts[0]));
    kept.resize(counts[0]);
    EXPECT_EQ(kept, reference::distinct(r.c, r.order, r.sketches, top, 1.0));
  }
}

TEST(GeodesicRanking, LeavesEqualMeasuresInTheOrderOfTheirFibres) {
  const candidates c{{30, 10, 20, 40}, {0, 0, 0, 0}, {0.f, -0.f, 0.f, 1e-30f}, {1, 1, 1, 1}};

  EXPECT_EQ(ranked(two_threads, c), (positions{3, 1, 2, 0}));
}

TEST(GeodesicRanking, PutsNanMeasuresLast) {
  const float infinite = std::numeric_limits<float>::infinity();
  const candidates c{{1, 2, 3, 4, 5}, {0, 0, 0, 0, 1}, {none, -infinite, -none, infinite, none}, {1, 1, 1, 1, 1}};

  const auto order = ranked(two_threads, c);
  const auto summaries = summarise(two_threads, c, order, 2);

  EXPECT_EQ(order, (positions{3, 1, 0, 2, 4}));
  EXPECT_EQ(summaries[0].count, 4u);
  EXPECT_EQ(summaries[0].best, infinite);
  EXPECT_TRUE(std::isnan(summaries[1].best));
}

TEST(GeodesicRanking, SummarisesPairsWithoutFibresAsZero) {
  const candidates c{{1, 2}, {2, 2}, {.5f, none}, {10, 30}};

  const auto s = summarise(two_threads, c, ranked(two_threads, c), 4);

  ASSERT_EQ(s.size(), 4u);
  for (const std::size_t empty : {0, 1, 3}) {
    EXPECT_EQ(s[empty].count, 0u);
    EXPECT_EQ(s[empty].best, 0);
    EXPECT_EQ(s[empty].mean_length_mm, 0);
  }
  EXPECT_EQ(s[2].count, 2u);
  EXPECT_EQ(s[2].mean_measure, .5);  // over those that have one
  EXPECT_EQ(s[2].mean_length_mm, 20);
}

TEST(GeodesicRanking, AcceptsNoCandidates) {
  EXPECT_TRUE(ranked(two_threads, {}).empty());
  EXPECT_TRUE(distinct(two_threads, {}, {}, {}, 3, 1).empty());
  EXPECT_EQ(summarise(two_threads, {}, {}, 3).size(), 3u);
}

TEST(GeodesicRanking, TreatsReversedFibresAsTheSame) {
  const candidates c = of_one_pair(3);
  std::vector<float> sketches;
  add_line(sketches, 0, 0);
  add_line(sketches, 0, 0.5f, true);
  add_line(sketches, 0, 30, true);

  EXPECT_EQ(distinct(two_threads, c, positions{0, 1, 2}, sketches, 0, 2), (positions{0, 2}));
}

TEST(GeodesicRanking, ComparesOnlyWithinOnePair) {
  candidates c = of_one_pair(4);
  c.pair = {0, 0, 3, 3};
  std::vector<float> sketches;
  for (int i = 0; i < 4; ++i) add_line(sketches, 0, 0);

  EXPECT_EQ(distinct(two_threads, c, positions{0, 1, 2, 3}, sketches, 0, 2), (positions{0, 2}));
}

TEST(GeodesicRanking, KeepsTheRequestedNumber) {
  const candidates c = of_one_pair(300);
  std::vector<float> sketches;
  for (int i = 0; i < 300; ++i) add_line(sketches, 0, 5 * static_cast<float>(i / 2));

  EXPECT_EQ(distinct(two_threads, c, ranked(two_threads, c), sketches, 3, 2), (positions{0, 2, 4}));
  EXPECT_EQ(distinct(two_threads, c, ranked(two_threads, c), sketches, 0, 2).size(), 150u);
}

TEST(GeodesicRanking, KeepsAllAtDistanceZero) {
  const candidates c = of_one_pair(5);
  std::vector<float> sketches;
  for (int i = 0; i < 5; ++i) add_line(sketches, 1, 1);

  EXPECT_EQ(distinct(two_threads, c, ranked(two_threads, c), sketches, 0, 0).size(), 5u);
}

TEST(GeodesicRanking, KeepsOneAtExactlyTheGivenDistance) {
  const candidates c = of_one_pair(2);
  std::vector<float> sketches;
  add_line(sketches, 0, 0);
  add_line(sketches, 0, 2);

  EXPECT_EQ(distinct(two_threads, c, positions{0, 1}, sketches, 0, 2), (positions{0, 1}));
}

TEST(GeodesicRanking, TreatsNanSketchesAsNearToNothing) {
  const candidates c = of_one_pair(3);
  std::vector<float> sketches;
  for (int i = 0; i < 3; ++i) add_line(sketches, 0, i == 0 ? none : 0);

  EXPECT_EQ(distinct(two_threads, c, positions{0, 1, 2}, sketches, 0, 2), (positions{0, 1}));
}

TEST(GeodesicRanking, RejectsArraysOfDifferentLengths) {
  candidates c = of_one_pair(3);
  EXPECT_THROW(distinct(two_threads, c, positions{0, 1, 2}, std::vector<float>(10), 0, 2), std::invalid_argument);
  EXPECT_THROW(summarise(two_threads, c, positions{0, 1, 2}, 0), std::invalid_argument);
  c.measure.pop_back();
  EXPECT_THROW(ranked(two_threads, c), std::invalid_argument);
}

}  // namespace
