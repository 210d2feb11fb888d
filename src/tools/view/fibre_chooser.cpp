#include "src/tools/view/fibre_chooser.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/failure.hpp"
#include "src/tools/view/streamlines.hpp"

namespace voxherd::view {

namespace {

bool is_shown(const std::array<std::uint32_t, 2>& groups, const std::vector<std::uint32_t>& hidden) {
  return std::any_of(groups.begin(), groups.end(), [&](std::uint32_t g) {
    return g != fibre_grouping::no_group && !std::binary_search(hidden.begin(), hidden.end(), g);
  });
}

}  // namespace

fibre_chooser::fibre_chooser(const result_reader& r, const label_image* regions,
                             const std::map<std::int32_t, std::string>& names)
    : result_(r), regions_(regions), fibres_(find_fibres(r)), groupings_(group_fibres(r, fibres_, names)) {}

void fibre_chooser::check_regions(const fibre_choice& choice) const {
  if (choice.include.empty() && choice.exclude.empty()) return;
  if (regions_ == nullptr) throw failure(exit_status::usage, "there are no regions; give --parcellation");
  check_labels(*regions_, choice.include, "include");
  check_labels(*regions_, choice.exclude, "exclude");
}

bool fibre_chooser::passes_regions(std::uint64_t item, const fibre_choice& choice) const {
  const auto touched = touched_->of_fibre(item);
  const auto touches = [&](std::int32_t l) { return std::binary_search(touched.begin(), touched.end(), l); };
  return std::all_of(choice.include.begin(), choice.include.end(), touches) &&
         std::none_of(choice.exclude.begin(), choice.exclude.end(), touches);
}

void fibre_chooser::keep_measured(const fibre_choice& choice, std::vector<std::uint64_t>& items) const {
  if (choice.measure.empty()) return;
  if (!is_measure(result_, choice.measure)) throw failure(exit_status::usage, "there is no such measure");
  const std::vector<float> values = result_.read_items(choice.measure, 0, result_.item_voxels().size());
  std::erase_if(items, [&](std::uint64_t item) {
    const auto value = static_cast<double>(values[item]);
    return !((!choice.at_least || value >= *choice.at_least) && (!choice.at_most || value <= *choice.at_most));
  });
}

std::vector<std::uint64_t> fibre_chooser::choose(const fibre_choice& choice) {
  check_regions(choice);
  if (choice.grouping && *choice.grouping >= groupings_.size())
    throw failure(exit_status::usage, "there is no such grouping");
  const bool asks_regions = !choice.include.empty() || !choice.exclude.empty();
  if (asks_regions && !touched_) touched_.emplace(result_, *regions_);
  std::vector<std::uint64_t> items;
  for (std::size_t i = 0; i < fibres_.size(); ++i) {
    if (choice.grouping && !is_shown(groupings_[*choice.grouping].of_fibre[i], choice.hidden)) continue;
    if (!asks_regions || passes_regions(fibres_[i], choice)) items.push_back(fibres_[i]);
  }
  keep_measured(choice, items);
  return items;
}

}  // namespace voxherd::view
