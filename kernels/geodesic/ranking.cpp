#include "kernels/geodesic/ranking.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/geodesic/pair_work.hpp"

namespace voxherd::geodesic {

namespace {

void check(const candidates& c) {
  if (c.pair.size() != c.size() || c.measure.size() != c.size() || c.length_mm.size() != c.size())
    throw std::invalid_argument("candidates: the arrays have different lengths");
  if (c.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("candidates: more than 2^32 - 1");
}

void check(const candidates& c, std::span<const std::uint32_t> order) {
  check(c);
  if (order.size() != c.size()) throw std::invalid_argument("candidates: the order has another length");
}

std::vector<pair_range> pair_ranges(const candidates& c, std::span<const std::uint32_t> order) {
  std::vector<pair_range> ranges;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t pair = c.pair[order[i]];
    const auto place = static_cast<std::uint32_t>(i);
    if (ranges.empty() || ranges.back().pair != pair) ranges.push_back({pair, place, place});
    ++ranges.back().last;
  }
  return ranges;
}

}  // namespace

std::vector<std::uint32_t> ranked(const device& d, const candidates& c) {
  check(c);
  if (c.size() == 0) return {};
  return d.kind == backend::cuda ? ranked_cuda(c) : ranked_cpu(d, c);
}

std::vector<pair_summary> summarise(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                                    std::size_t pairs) {
  check(c, order);
  std::vector<pair_summary> out(pairs);
  if (order.empty()) return out;
  const auto ranges = pair_ranges(c, order);
  if (ranges.back().pair >= pairs)
    throw std::invalid_argument("candidates: a pair's number exceeds the number of pairs");
  if (d.kind == backend::cuda)
    summarise_cuda(c, order, ranges, out);
  else
    summarise_cpu(d, c, order, ranges, out);
  return out;
}

std::vector<std::uint32_t> distinct(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                                    std::span<const float> sketches, std::size_t top, double distance_mm) {
  check(c, order);
  if (sketches.size() != order.size() * 3 * sketch_points)
    throw std::invalid_argument("candidates: the sketches have another length");
  if (order.empty()) return {};
  const auto ranges = pair_ranges(c, order);
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(top, std::numeric_limits<std::uint32_t>::max()));
  const picks p = d.kind == backend::cuda ? distinct_cuda(sketches, ranges, most, distance_mm)
                                          : distinct_cpu(d, sketches, ranges, most, distance_mm);
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto first = p.kept.begin() + ranges[i].first;
    kept.insert(kept.end(), first, first + p.counts[i]);
  }
  return kept;
}

}  // namespace voxherd::geodesic
