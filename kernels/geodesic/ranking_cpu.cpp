#include <omp.h>

#include <algorithm>
#include <numeric>

#include "kernels/geodesic/pair_work.hpp"

namespace voxherd::geodesic {

namespace {

/// Sorts [first, last) by `before`, a total order, with up to `threads` threads: halves as tasks, then merged.
template <class Before>
void merge_sort(std::uint32_t* first, std::uint32_t* last, const Before& before, int threads) {
  if (threads <= 1 || last - first < 4096) return std::sort(first, last, before);
  std::uint32_t* const middle = first + (last - first) / 2;
#pragma omp task default(shared)
  merge_sort(first, middle, before, threads / 2);
  merge_sort(middle, last, before, threads - threads / 2);
#pragma omp taskwait
  std::inplace_merge(first, middle, last, before);
}

/// One CPU thread as a team of one.
struct single_team {
  static constexpr std::uint32_t width() { return 1; }
  static constexpr std::uint32_t lane() { return 0; }
  static std::uint32_t first(bool open) { return open ? 0 : 1; }
};

}  // namespace

std::vector<std::uint32_t> ranked_cpu(const device& d, const candidates& c) {
  std::vector<std::uint64_t> key(c.size());
  for (std::size_t i = 0; i < c.size(); ++i) key[i] = rank_key(c.pair[i], c.measure[i]);
  std::vector<std::uint32_t> order(c.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (key[a] != key[b]) return key[a] < key[b];
    return c.fibre[a] != c.fibre[b] ? c.fibre[a] < c.fibre[b] : a < b;
  };
#pragma omp parallel num_threads(d.threads)
#pragma omp single
  merge_sort(order.data(), order.data() + order.size(), before, d.threads);
  return order;
}

void summarise_cpu(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                   std::span<const pair_range> ranges, std::span<pair_summary> out) {
  const auto n = static_cast<std::ptrdiff_t>(ranges.size());
#pragma omp parallel for num_threads(d.threads) schedule(dynamic, 16)
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const pair_range& range = ranges[static_cast<std::size_t>(i)];
    share_sums sums[shares];
    for (std::uint32_t s = 0; s < shares; ++s)
      sums[s] = sum_share(range, s, order.data(), c.measure.data(), c.length_mm.data());
    out[range.pair] = summarise_pair(range, sums, c.measure[order[range.first]]);
  }
}

picks distinct_cpu(const device& d, std::span<const float> sketches, std::span<const pair_range> ranges,
                   std::uint32_t top, double distance_mm) {
  const std::size_t count = ranges.back().last;
  std::vector<float> means(3 * count);
  for (std::size_t i = 0; i < count; ++i) {
    float mean[3];
    mean_point(sketches.data() + i * sketch_floats, mean);
    std::copy_n(mean, 3, means.data() + 3 * i);
  }
  const distinct_picker pick(fibre_nearness(distance_mm), sketches.data(), means.data(), top);
  picks p{std::vector<std::uint32_t>(count), std::vector<std::uint32_t>(ranges.size())};
  const auto n = static_cast<std::ptrdiff_t>(ranges.size());
#pragma omp parallel for num_threads(d.threads) schedule(dynamic, 1)
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const auto pair = static_cast<std::size_t>(i);
    single_team team;
    p.counts[pair] = pick(team, ranges[pair], p.kept.data() + ranges[pair].first);
  }
  return p;
}

}  // namespace voxherd::geodesic
