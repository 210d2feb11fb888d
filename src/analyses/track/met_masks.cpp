#include "src/analyses/track/met_masks.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>

#include "core/text.hpp"
#include "kernels/track/path_recorder.hpp"

namespace voxherd {

namespace {

/// Streamlines that are drawn again for a message: at most a second or two of work.
std::uint64_t count_drawn_again(const track::track_input& view) {
  constexpr std::uint64_t most = 65536, points = std::uint64_t{1} << 26;
  const std::uint64_t affordable = points / (2 * static_cast<std::uint64_t>(view.how.max_points));
  return std::min(view.plan.streamlines(), std::clamp<std::uint64_t>(affordable, 1, most));
}

/// Of some streamlines, those that meet each mask.
struct met_counts {
  std::vector<std::uint64_t> include;
  std::uint64_t all_includes = 0, exclude = 0, other_region = 0;
};

met_counts count_met_masks(const track::track_input& view, std::uint64_t drawn, int threads) {
  met_counts sum;
  sum.include.resize(view.how.includes);
  const std::uint32_t every = (1u << view.how.includes) - 1;
#pragma omp parallel num_threads(threads)
  {
    track::path_recorder recorder(view);
#pragma omp for schedule(dynamic, 64)
    for (std::uint64_t i = 0; i < drawn; ++i) {
      using wide = unsigned __int128;
      const auto number = static_cast<std::uint64_t>(wide{i} * view.plan.streamlines() / drawn);
      const track::met_masks met = recorder.find_masks(number);
#pragma omp critical(voxherd_track_met)
      {
        for (std::size_t m = 0; m < sum.include.size(); ++m) sum.include[m] += met.includes >> m & 1u;
        sum.all_includes += met.includes == every ? 1 : 0;
        sum.exclude += met.exclude ? 1 : 0;
        sum.other_region += met.other_region ? 1 : 0;
      }
    }
  }
  return sum;
}

}  // namespace

std::string describe_met_masks(const track::track_input& view, const std::vector<std::string>& include_names,
                               int threads) {
  const std::uint64_t drawn = count_drawn_again(view);
  const met_counts met = count_met_masks(view, drawn, threads);
  std::vector<std::string> parts;
  for (std::size_t m = 0; m < include_names.size(); ++m)
    parts.push_back(fmt::format("{} {}by {}", include_names[m], m == 0 ? "was reached " : "", met.include[m]));
  if (include_names.size() > 1) parts.push_back(fmt::format("all of them by {}", met.all_includes));
  if (view.how.connectome) parts.push_back(fmt::format("another region was reached by {}", met.other_region));
  if (view.how.exclude) parts.push_back(fmt::format("an exclusion mask was touched by {}", met.exclude));
  if (parts.empty()) return "; is the smallest length of a half too large?";
  return fmt::format(": {} of {}", fmt::join(parts, ", "), counted(drawn, "streamline"));
}

}  // namespace voxherd
