#include "src/view/fibre_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/failure.hpp"
#include "src/export/fibres.hpp"
#include "src/scan/grid_space.hpp"
#include "src/show/fibres.hpp"
#include "src/view/request_json.hpp"
#include "src/view/streamlines.hpp"

namespace voxherd::view {

namespace {

using namespace request_json;
using nlohmann::json;

/// Increasing, each once.
template <class To>
std::vector<To> read_set(const json& o, const char* name, std::int64_t min, std::int64_t max) {
  std::vector<To> set;
  for (const std::int64_t one : integers(o, name, min, max)) set.push_back(static_cast<To>(one));
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

std::optional<double> read_limit(const json& o, const char* name) {
  constexpr double any = 1e300;
  if (!o.contains(name)) return std::nullopt;
  return number(o.at(name), name, -any, any);
}

constexpr std::uint64_t points_at_once = std::uint64_t{1} << 20;

/// The labels that a line of points passes, increasing. `mm`: three numbers per point.
std::vector<std::int32_t> labels_along(std::span<const float> mm, const grid_space& space, const label_image& regions,
                                       const image_grid& grid) {
  std::vector<std::int32_t> found;
  const auto visit = [&](const std::array<int, 3>& at, double) {
    const auto voxel =
        find_voxel(grid, {static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])});
    const std::int32_t label = voxel ? regions.label[*voxel] : 0;
    if (label != 0 && (found.empty() || found.back() != label)) found.push_back(label);
  };
  vector3 before{};
  for (std::size_t k = 0; k + 2 < mm.size(); k += 3) {
    const vector3 at =
        space.to_index({static_cast<double>(mm[k]), static_cast<double>(mm[k + 1]), static_cast<double>(mm[k + 2])});
    report::walk_segment(k == 0 ? at : before, at, visit);
    before = at;
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool is_shown(const std::vector<std::uint32_t>& groups, const std::vector<std::uint32_t>& hidden) {
  return std::any_of(groups.begin(), groups.end(),
                     [&](std::uint32_t g) { return !std::binary_search(hidden.begin(), hidden.end(), g); });
}

}  // namespace

fibre_choice parse_fibre_choice(std::string_view text) {
  const json o =
      parse_object(text, {"count", "include", "exclude", "grouping", "hidden", "measure", "at_least", "at_most"});
  fibre_choice c;
  if (o.contains("count"))
    c.count =
        static_cast<std::uint64_t>(integer(o.at("count"), "count", 1, static_cast<std::int64_t>(max_streamlines)));
  c.include = read_set<std::int32_t>(o, "include", 1, largest_label);
  c.exclude = read_set<std::int32_t>(o, "exclude", 1, largest_label);
  c.hidden = read_set<std::uint32_t>(o, "hidden", 0, max_fibre_groups);
  if (o.contains("grouping")) c.grouping = static_cast<std::uint64_t>(integer(o.at("grouping"), "grouping", 0, 1));
  if (!c.hidden.empty() && !c.grouping) refuse_usage("grouping is missing");
  if (o.contains("measure")) {
    if (!o.at("measure").is_string()) refuse_usage("measure: expected a name");
    c.measure = o.at("measure").get<std::string>();
  }
  c.at_least = read_limit(o, "at_least");
  c.at_most = read_limit(o, "at_most");
  if (c.measure.empty() && (c.at_least || c.at_most)) refuse_usage("measure is missing");
  return c;
}

touched_regions::touched_regions(const result_reader& r, const label_image& regions) {
  const grid_space space(r.grid());
  const std::vector<std::uint64_t>& offsets = r.point_offsets();
  const std::uint64_t items = r.item_voxels().size();
  for (std::uint64_t first = 0, last = 0; first < items; first = last) {
    for (++last; last < items && offsets[last + 1] - offsets[first] <= points_at_once;) ++last;
    const std::vector<float> mm = r.read_points("position", offsets[first], offsets[last] - offsets[first], 3);
    for (std::uint64_t item = first; item < last; ++item) {
      const auto line =
          std::span(mm).subspan(3 * (offsets[item] - offsets[first]), 3 * (offsets[item + 1] - offsets[item]));
      const std::vector<std::int32_t> labels = labels_along(line, space, regions, r.grid());
      labels_.insert(labels_.end(), labels.begin(), labels.end());
      first_.push_back(labels_.size());
    }
  }
}

fibre_chooser::fibre_chooser(const result_reader& r, const label_image* regions,
                             const std::map<std::int32_t, std::string>& names)
    : result_(r), regions_(regions), fibres_(find_fibres(r)), groupings_(group_fibres(r, fibres_, names)) {}

void fibre_chooser::check_regions(const fibre_choice& choice) const {
  if (choice.include.empty() && choice.exclude.empty()) return;
  if (regions_ == nullptr) refuse_usage("there are no regions; give --parcellation");
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
  if (!is_measure(result_, choice.measure)) refuse_usage("there is no such measure");
  const std::vector<float> values = result_.read_items(choice.measure, 0, result_.item_voxels().size(), 1);
  std::erase_if(items, [&](std::uint64_t item) {
    const auto value = static_cast<double>(values[item]);
    return !((!choice.at_least || value >= *choice.at_least) && (!choice.at_most || value <= *choice.at_most));
  });
}

std::vector<std::uint64_t> fibre_chooser::choose(const fibre_choice& choice) {
  check_regions(choice);
  if (choice.grouping && *choice.grouping >= groupings_.size()) refuse_usage("there is no such grouping");
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

namespace {

class label_names {
 public:
  explicit label_names(const std::map<std::int32_t, std::string>& known) : known_(known) {}
  std::string name(std::int32_t l) const {
    const auto found = known_.find(l);
    return found != known_.end() ? found->second : l == 0 ? "no region" : fmt::format("region {}", l);
  }

 private:
  const std::map<std::int32_t, std::string>& known_;
};

/// `name_group`: of a pair of labels.
template <class Name>
fibre_grouping make_grouping(std::string name, const std::vector<std::vector<region_pair>>& of_fibre,
                             const Name& name_group) {
  std::map<region_pair, std::uint64_t> counts;
  for (const auto& pairs : of_fibre)
    for (const region_pair& p : pairs) ++counts[p];
  std::vector<std::pair<region_pair, std::uint64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  fibre_grouping g{std::move(name), {}, {}, {}};
  std::map<region_pair, std::uint32_t> number;
  for (const auto& [pair, count] : order) {
    number[pair] = std::min(static_cast<std::uint32_t>(number.size()), max_fibre_groups);
    if (g.group.size() < max_fibre_groups) {
      g.group.push_back(name_group(pair));
      g.fibres.push_back(0);
    } else if (g.group.size() == max_fibre_groups) {
      g.group.push_back("all others");
      g.fibres.push_back(0);
    }
  }
  for (const auto& pairs : of_fibre) {
    std::vector<std::uint32_t> groups;
    for (const region_pair& p : pairs)
      if (const std::uint32_t group = number.at(p); std::find(groups.begin(), groups.end(), group) == groups.end())
        groups.push_back(group);
    for (const std::uint32_t group : groups) ++g.fibres[group];
    g.of_fibre.push_back(std::move(groups));
  }
  return g;
}

}  // namespace

std::vector<fibre_grouping> group_fibres(const result_reader& r, const std::vector<std::uint64_t>& items,
                                         const std::map<std::int32_t, std::string>& names) {
  auto joined = find_joined_regions(result_fibres(r, items));
  if (!joined) return {};
  // Fibres of two rays, and streamlines whose ends are joined, have no start: both orders are the same pair.
  const auto& how = r.configuration();
  const bool has_start =
      joined->has_halves || (how.value("rays", "one-way") == "one-way" && how.value("join-regions", "") != "ends");
  if (!has_start)
    for (auto& pairs : joined->of_fibre) std::sort(pairs[0].begin(), pairs[0].end());
  const label_names labels(names);
  const char* arrow = has_start ? "→" : "–";
  std::vector<fibre_grouping> groupings;
  groupings.push_back(make_grouping("pairs of regions", joined->of_fibre, [&](const region_pair& p) {
    return fmt::format("{} {} {}", labels.name(p[0]), arrow, labels.name(p[1]));
  }));
  if (!has_start) return groupings;
  for (auto& pairs : joined->of_fibre) pairs = {region_pair{pairs[0][0], 0}};
  groupings.push_back(make_grouping("regions where they start", joined->of_fibre,
                                    [&](const region_pair& p) { return labels.name(p[0]); }));
  return groupings;
}

nlohmann::json describe_groupings(const std::vector<fibre_grouping>& groupings) {
  nlohmann::json list = nlohmann::json::array();
  for (const fibre_grouping& g : groupings)
    list.push_back({{"name", g.name}, {"groups", g.group}, {"fibres", g.fibres}});
  return list;
}

}  // namespace voxherd::view
