#include "src/view/fibre_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/export/fibres.hpp"

namespace voxherd::view {

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
fibre_grouping make_grouping(std::string name, const std::vector<std::array<region_pair, 2>>& of_fibre,
                             const Name& name_group) {
  std::map<region_pair, std::uint64_t> counts;
  for (const auto& pairs : of_fibre)
    for (const region_pair& p : pairs)
      if (p != no_pair) ++counts[p];
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
    std::array<std::uint32_t, 2> groups = {number.at(pairs[0]),
                                           pairs[1] == no_pair ? fibre_grouping::no_group : number.at(pairs[1])};
    if (groups[1] == groups[0]) groups[1] = fibre_grouping::no_group;
    for (const std::uint32_t group : groups)
      if (group != fibre_grouping::no_group) ++g.fibres[group];
    g.of_fibre.push_back(groups);
  }
  return g;
}

}  // namespace

std::vector<fibre_grouping> group_fibres(const result_reader& r, const std::vector<std::uint64_t>& items,
                                         const std::map<std::int32_t, std::string>& names) {
  auto joined = find_joined_regions(result_fibres(r, items));
  if (!joined) return {};
  // Fibres of two rays have no start: both orders are the same pair.
  const bool has_start = joined->has_halves || r.configuration().value("rays", "one-way") == "one-way";
  if (!has_start)
    for (auto& pairs : joined->of_fibre) std::sort(pairs[0].begin(), pairs[0].end());
  const label_names labels(names);
  const char* arrow = has_start ? "→" : "–";
  std::vector<fibre_grouping> groupings;
  groupings.push_back(make_grouping("pairs of regions", joined->of_fibre, [&](const region_pair& p) {
    return fmt::format("{} {} {}", labels.name(p[0]), arrow, labels.name(p[1]));
  }));
  if (!has_start) return groupings;
  for (auto& pairs : joined->of_fibre) pairs = {region_pair{pairs[0][0], no_pair[1]}, no_pair};
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
