#include "src/tools/view/matrices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "core/failure.hpp"
#include "src/tools/view/answers.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;

std::vector<std::int32_t> find_labels(const result_reader& r) {
  std::vector<std::int32_t> labels;
  for (const constant& c : r.constants())
    if (c.group == "connectome" && c.name == "labels")
      for (const double label : c.values) labels.push_back(static_cast<std::int32_t>(label));
  return labels;
}

std::vector<const constant*> find_matrices(const result_reader& r) {
  const std::uint64_t n = find_labels(r).size();
  std::vector<const constant*> found;
  for (const constant& c : r.constants())
    if (n > 0 && c.group == "connectome" && c.shape == std::vector<std::uint64_t>{n, n}) found.push_back(&c);
  // What most people look for comes first.
  for (const char* name : {"cost", "count"})
    std::stable_partition(found.begin(), found.end(), [&](const constant* c) { return c->name == name; });
  return found;
}

}  // namespace

std::map<std::int32_t, std::string> stored_region_names(const result_reader& r) {
  std::map<std::int32_t, std::string> names;
  const std::vector<std::int32_t> labels = find_labels(r);
  const json& c = r.configuration();
  if (!c.is_object() || !c.contains("region-names") || c.at("region-names").size() != labels.size()) return names;
  for (std::size_t i = 0; i < labels.size(); ++i) names[labels[i]] = c.at("region-names").at(i).get<std::string>();
  return names;
}

json describe_matrices(const result_reader& r) {
  const std::vector<const constant*> found = find_matrices(r);
  const std::vector<std::int32_t> labels = find_labels(r);
  if (found.empty()) return nullptr;
  const auto names = stored_region_names(r);
  json j{{"labels", labels}, {"names", json::array()}, {"matrices", json::array()}};
  for (const std::int32_t label : labels)
    j["names"].push_back(names.contains(label) ? names.at(label)
                         : label == 0          ? std::string("no region")
                                               : fmt::format("region {}", label));
  for (const constant* c : found) {
    // Where a small value is best, no connection is infinite; elsewhere it is 0.
    const bool small_is_best = c->name.ends_with("cost");
    j["matrices"].push_back(
        {{"name", c->name}, {"unit", c->unit}, {"meaning", c->meaning}, {"small_is_best", small_is_best}});
  }
  return j;
}

std::string send_matrix(const result_reader& r, std::uint64_t number) {
  const std::vector<const constant*> found = find_matrices(r);
  if (number >= found.size()) throw failure(exit_status::usage, "there is no such matrix");
  const constant& c = *found[number];
  if (c.shape[0] > max_matrix_regions)
    throw failure(exit_status::bad_data,
                  fmt::format("{} has {} regions, more than the {} that the page shows; `voxherd export` writes it",
                              c.name, c.shape[0], max_matrix_regions));
  std::string block = begin_block({{"regions", c.shape[0]}});
  append(block, std::vector<float>(c.values.begin(), c.values.end()));
  return block;
}

}  // namespace voxherd::view
