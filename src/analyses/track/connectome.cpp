#include "src/analyses/track/connectome.hpp"

#include <spdlog/spdlog.h>

#include <cmath>

namespace voxherd {

namespace {

/// How many streamlines have their ends in two regions: few, if regions are far from where streamlines end.
void log_joining(const std::vector<track::pair_entry>& pairs, std::uint64_t accepted) {
  std::uint64_t joining = 0;
  for (const track::pair_entry& p : pairs) joining += p.count;
  spdlog::info("{} of {} accepted streamlines ({:.3g} %) join two regions with their ends", joining, accepted,
               100 * static_cast<double>(joining) / static_cast<double>(accepted));
}

}  // namespace

constant make_share(const constant& count) {
  const std::size_t n = count.shape.at(0);
  const auto joining = [&](std::size_t i, std::size_t j) {
    return i == j ? 0.0 : count.values[i * n + j] + count.values[j * n + i];
  };
  std::vector<double> sum(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sum[i] += joining(i, j);
  constant share{"share",
                 {n, n},
                 {},
                 "1",
                 "streamlines between two regions in either direction, divided by the root of the product of both "
                 "regions' sums over all others; 0 without streamlines",
                 "connectome"};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double both = std::sqrt(sum[i] * sum[j]);
      share.values.push_back(both > 0 ? joining(i, j) / both : 0);
    }
  return share;
}

void add_region_matrices(const std::vector<track::pair_entry>& pairs, std::uint64_t accepted, const track_inputs& in,
                         std::vector<constant>& all) {
  const std::size_t n = in.regions.labels.size();
  const bool at_ends = in.regions.at_ends;
  constant count{"count",
                 {n, n},
                 std::vector<double>(n * n),
                 "1",
                 at_ends ? "accepted streamlines with one end in each of both regions"
                         : "accepted streamlines that pass both regions",
                 "connectome"};
  constant length{"mean_length_mm",
                  {n, n},
                  std::vector<double>(n * n),
                  "mm",
                  at_ends ? "mean length of these streamlines; 0 without streamlines"
                          : "mean length of their paths between the first points in both; 0 without streamlines",
                  "connectome"};
  for (const track::pair_entry& p : pairs) {
    const std::uint64_t row = p.key >> 32, column = p.key & 0xffffffff;
    const auto streamlines = static_cast<double>(p.count);
    for (const std::uint64_t at : {row * n + column, column * n + row}) {
      count.values[at] = streamlines;
      length.values[at] = static_cast<double>(p.steps) / streamlines * in.step_mm;
    }
  }
  if (pairs.empty() && accepted > 0)
    spdlog::warn("no streamline {} two regions of --connectome; are they in the space of the seeds{}?",
                 at_ends ? "ends in" : "passes", at_ends ? ", and is --end-radius large enough" : "");
  if (at_ends && !pairs.empty()) log_joining(pairs, accepted);
  constant share = make_share(count);
  all.insert(all.end(), {std::move(count), std::move(share), std::move(length)});
}

}  // namespace voxherd
