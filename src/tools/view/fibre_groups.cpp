#include "src/tools/view/fibre_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace voxherd::view {

namespace {

using label = std::int32_t;
using region_pair = std::array<label, 2>;
constexpr label nowhere = std::numeric_limits<label>::min();
constexpr region_pair no_pair = {nowhere, nowhere};

/// The pairs of regions that each fibre joins: one, or two for the halves of a streamline.
struct joined_regions {
  bool has_start = false;  ///< the first region is where the fibre starts
  std::vector<std::array<region_pair, 2>> of_fibre;
};

std::vector<label> read_labels_of_items(const result_reader& r, const char* name,
                                        const std::vector<std::uint64_t>& items) {
  const std::vector<label> all = r.read_rows<label>(name, 0, r.item_voxels().size());
  const std::size_t width = r.item_voxels().empty() ? 1 : all.size() / r.item_voxels().size();
  std::vector<label> chosen;
  for (const std::uint64_t item : items)
    for (std::size_t k = 0; k < width; ++k) chosen.push_back(all[item * width + k]);
  return chosen;
}

bool has_labels(const result_reader& r, const char* name, std::size_t width) {
  if (!r.has(name)) return false;
  const output_spec& o = r.output(name);
  return o.layout == output_layout::items && o.type == element_type::int32 &&
         o.bytes_per_item() == width * sizeof(label);
}

/// Fibres of two rays have no start: both orders are the same pair.
joined_regions read_ends(const result_reader& r, const std::vector<std::uint64_t>& items) {
  const bool has_start = r.configuration().value("rays", "one-way") == "one-way";
  const std::vector<label> ends = read_labels_of_items(r, "regions", items);
  joined_regions joined{has_start, {}};
  for (std::size_t i = 0; i < items.size(); ++i) {
    region_pair pair = {ends[2 * i], ends[2 * i + 1]};
    if (!has_start) std::sort(pair.begin(), pair.end());
    joined.of_fibre.push_back({pair, no_pair});
  }
  return joined;
}

/// Streamlines of track: from the seed's region to the last other one on each half.
joined_regions read_halves(const result_reader& r, const std::vector<std::uint64_t>& items) {
  const auto start = read_labels_of_items(r, "region", items), first = read_labels_of_items(r, "first_region", items),
             second = read_labels_of_items(r, "second_region", items);
  joined_regions joined{true, {}};
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::array<region_pair, 2> pairs = {region_pair{start[i], first[i]}, region_pair{start[i], second[i]}};
    if (first[i] == 0) std::swap(pairs[0], pairs[1]);
    if (pairs[1][1] == 0 || pairs[1] == pairs[0]) pairs[1] = no_pair;
    joined.of_fibre.push_back(pairs);
  }
  return joined;
}

class label_names {
 public:
  explicit label_names(const std::map<label, std::string>& known) : known_(known) {}
  std::string name(label l) const {
    const auto found = known_.find(l);
    return found != known_.end() ? found->second : l == 0 ? "no region" : fmt::format("region {}", l);
  }

 private:
  const std::map<label, std::string>& known_;
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
  joined_regions joined;
  if (has_labels(r, "regions", 2)) {
    joined = read_ends(r, items);
  } else if (has_labels(r, "region", 1) && has_labels(r, "first_region", 1) && has_labels(r, "second_region", 1)) {
    joined = read_halves(r, items);
  } else {
    return {};
  }
  const label_names labels(names);
  const char* arrow = joined.has_start ? "→" : "–";
  std::vector<fibre_grouping> groupings;
  groupings.push_back(make_grouping("pairs of regions", joined.of_fibre, [&](const region_pair& p) {
    return fmt::format("{} {} {}", labels.name(p[0]), arrow, labels.name(p[1]));
  }));
  if (!joined.has_start) return groupings;
  for (auto& pairs : joined.of_fibre) pairs = {region_pair{pairs[0][0], nowhere}, no_pair};
  groupings.push_back(make_grouping("regions where they start", joined.of_fibre,
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
