#include "tests/geodesic/reference/ranking_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace voxherd::reference {

using geodesic::candidates;
using geodesic::pair_summary;
using geodesic::sketch_points;

std::vector<std::uint32_t> ranked(const candidates& c) {
  std::vector<std::uint32_t> order(c.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (c.pair[a] != c.pair[b]) return c.pair[a] < c.pair[b];
    const bool a_is_none = std::isnan(c.measure[a]), b_is_none = std::isnan(c.measure[b]);
    if (a_is_none != b_is_none) return b_is_none;
    if (!a_is_none && c.measure[a] != c.measure[b]) return c.measure[a] > c.measure[b];
    return c.fibre[a] < c.fibre[b];
  });
  return order;
}

std::vector<pair_summary> summarise(const candidates& c, std::size_t pairs) {
  std::vector<pair_summary> all(pairs);
  for (std::size_t p = 0; p < pairs; ++p) {
    double measures = 0, lengths = 0, measured = 0;
    float best = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (c.pair[i] != p) continue;
      ++all[p].count;
      lengths += c.length_mm[i];
      if (std::isnan(c.measure[i])) continue;
      measures += c.measure[i];
      measured += 1;
      best = std::max(best, c.measure[i]);
    }
    if (all[p].count == 0) continue;
    all[p].best = measured > 0 ? best : std::numeric_limits<float>::quiet_NaN();
    all[p].mean_measure = measures / measured;
    all[p].mean_length_mm = lengths / static_cast<double>(all[p].count);
  }
  return all;
}

namespace {

double average_distance(const float* a, const float* b, bool reversed) {
  double sum = 0;
  for (std::size_t i = 0; i < sketch_points; ++i) {
    const float* p = a + 3 * i;
    const float* q = b + 3 * (reversed ? sketch_points - 1 - i : i);
    sum += std::hypot(double(p[0]) - q[0], double(p[1]) - q[1], double(p[2]) - q[2]);
  }
  return sum / sketch_points;
}

}  // namespace

std::vector<std::uint32_t> distinct(const candidates& c, const std::vector<std::uint32_t>& order,
                                    const std::vector<float>& sketches, std::size_t top, double distance_mm) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    std::size_t of_this_pair = 0;
    bool near = false;
    for (const std::uint32_t k : kept) {
      if (c.pair[order[k]] != c.pair[order[i]]) continue;
      ++of_this_pair;
      const float *a = &sketches[i * sketch_points * 3], *b = &sketches[k * sketch_points * 3];
      near = near || std::min(average_distance(a, b, false), average_distance(a, b, true)) < distance_mm;
    }
    if (!near && (top == 0 || of_this_pair < top)) kept.push_back(i);
  }
  return kept;
}

namespace {

/// A noisy arc: one of five bundles of the pair, in either direction.
void add_arc(std::vector<float>& points, std::size_t pair, std::mt19937& random) {
  std::normal_distribution<float> normal;
  const auto bundle = static_cast<float>(random() % 5), offset = normal(random);
  const bool reversed = random() % 2 == 1;
  for (std::size_t i = 0; i < sketch_points; ++i) {
    const auto t = static_cast<float>(reversed ? sketch_points - 1 - i : i) / (sketch_points - 1);
    points.push_back(static_cast<float>(pair) + 60 * t + 0.5f * normal(random));
    points.push_back(8 * bundle * t * (1 - t) * 4 + offset + 0.5f * normal(random));
    points.push_back(-50 + 0.5f * normal(random));
  }
}

float any_measure(std::mt19937& random) {
  switch (random() % 40) {
    case 0:
      return std::numeric_limits<float>::quiet_NaN();
    case 1:
      return -std::numeric_limits<float>::quiet_NaN();
    case 2:
      return 0.0f;
    case 3:
      return -0.0f;
    case 4:
      return -0.25f * static_cast<float>(random() % 4);
    default:
      return static_cast<float>(random() % 64) / 64;
  }
}

void sort_sketches(ranking_case& r, const std::vector<float>& by_candidate) {
  constexpr std::size_t n = 3 * sketch_points;
  r.order = ranked(r.c);
  r.sketches.clear();
  for (const std::uint32_t i : r.order)
    r.sketches.insert(r.sketches.end(), by_candidate.begin() + std::ptrdiff_t(i * n),
                      by_candidate.begin() + std::ptrdiff_t((i + 1) * n));
}

}  // namespace

ranking_case bundles(const std::vector<std::size_t>& sizes, unsigned seed) {
  std::mt19937 random(seed);
  ranking_case r;
  r.pairs = sizes.size();
  std::vector<std::uint32_t> pairs;
  for (std::uint32_t p = 0; p < sizes.size(); ++p) pairs.insert(pairs.end(), sizes[p], p);
  std::shuffle(pairs.begin(), pairs.end(), random);
  std::vector<float> sketches;
  std::uint64_t fibre = 5'000'000'000;
  for (const std::uint32_t pair : pairs) {
    r.c.fibre.push_back(fibre += 1 + random() % 9);
    r.c.pair.push_back(pair);
    r.c.measure.push_back(any_measure(random));
    r.c.length_mm.push_back(20 + static_cast<float>(random() % 1000) / 7);
    add_arc(sketches, pair, random);
  }
  sort_sketches(r, sketches);
  return r;
}

ranking_case shuffled(const ranking_case& from, unsigned seed) {
  std::vector<std::uint32_t> mix(from.c.size());
  std::iota(mix.begin(), mix.end(), 0u);
  std::mt19937 random(seed);
  std::shuffle(mix.begin(), mix.end(), random);
  ranking_case r;
  r.pairs = from.pairs;
  for (const std::uint32_t i : mix) {
    r.c.fibre.push_back(from.c.fibre[i]);
    r.c.pair.push_back(from.c.pair[i]);
    r.c.measure.push_back(from.c.measure[i]);
    r.c.length_mm.push_back(from.c.length_mm[i]);
  }
  r.order = ranked(r.c);
  r.sketches = from.sketches;  // in rank order, which does not depend on the order of input
  return r;
}

void expect_ranking_equivalent_to_reference(const device& d, const ranking_case& r) {
  use_device(d);

  const auto order = geodesic::ranked(d, r.c);
  const auto summaries = geodesic::summarise(d, r.c, order, r.pairs);

  ASSERT_EQ(order, r.order);
  const auto expected = summarise(r.c, r.pairs);
  ASSERT_EQ(summaries.size(), expected.size());
  for (std::size_t p = 0; p < r.pairs; ++p) {
    SCOPED_TRACE(testing::Message() << "pair " << p);
    EXPECT_EQ(summaries[p].count, expected[p].count);
    // Sums of n terms in two orders: at most n rounding errors.
    const double rounding = 1.2e-16 * static_cast<double>(expected[p].count + 1);
    EXPECT_NEAR(summaries[p].mean_length_mm, expected[p].mean_length_mm, 200 * rounding);
    if (std::isnan(expected[p].best)) {
      EXPECT_TRUE(std::isnan(summaries[p].best) && std::isnan(summaries[p].mean_measure));
      continue;
    }
    EXPECT_EQ(summaries[p].best, expected[p].best);
    EXPECT_NEAR(summaries[p].mean_measure, expected[p].mean_measure, rounding);
  }
  for (const std::size_t top : {0, 1, 7})
    for (const double distance_mm : {0.0, 1.5, 3.0})
      EXPECT_EQ(geodesic::distinct(d, r.c, order, r.sketches, top, distance_mm),
                distinct(r.c, r.order, r.sketches, top, distance_mm))
          << "top " << top << ", " << distance_mm << " mm";
}

}  // namespace voxherd::reference
