#include "src/export/fibre_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

namespace voxherd {

namespace {

using label = std::int32_t;
using label_pair = std::pair<label, label>;

const fibre_array* find_array(const fibre_source& source, const std::string& name) {
  for (const fibre_array& a : source.fibre_arrays())
    if (a.name == name) return &a;
  return nullptr;
}

std::vector<label> read_labels(const fibre_source& source, const fibre_array& array) {
  std::vector<label> labels(source.fibres() * array.width);
  source.read_fibre_rows(array, 0, std::as_writable_bytes(std::span(labels)));
  return labels;
}

/// The labels of both ends: `regions` of geodesic and connect.
void add_ends(const fibre_source& source, std::map<label_pair, std::vector<std::uint32_t>>& groups) {
  const fibre_array* regions = find_array(source, "regions");
  if (regions == nullptr || regions->type != element_type::int32 || regions->width != 2) return;
  const std::vector<label> labels = read_labels(source, *regions);
  for (std::uint32_t f = 0; f < source.fibres(); ++f) {
    const label_pair ends = std::minmax(labels[2 * f], labels[2 * f + 1]);
    if (ends.first > 0) groups[ends].push_back(f);
  }
}

/// Of track: the seed's region, and those that the halves reach.
void add_halves(const fibre_source& source, std::map<label_pair, std::vector<std::uint32_t>>& groups) {
  const fibre_array* seed = find_array(source, "region");
  const fibre_array* halves[] = {find_array(source, "first_region"), find_array(source, "second_region")};
  if (seed == nullptr || halves[0] == nullptr || halves[1] == nullptr) return;
  const std::vector<label> from = read_labels(source, *seed);
  for (const fibre_array* half : halves) {
    const std::vector<label> to = read_labels(source, *half);
    for (std::uint32_t f = 0; f < source.fibres(); ++f) {
      if (from[f] <= 0 || to[f] <= 0) continue;
      groups[{std::min(from[f], to[f]), std::max(from[f], to[f])}].push_back(f);
    }
  }
}

/// The mean of a real number over the fibres of each group.
void add_means(const fibre_source& source, const fibre_array& array, std::vector<fibre_group>& groups) {
  std::vector<std::byte> rows(source.fibres() * array.row_bytes());
  source.read_fibre_rows(array, 0, rows);
  const std::vector<float> values = as_floats(array.type, rows);
  for (fibre_group& g : groups) {
    double sum = 0;
    for (const std::uint32_t f : g.fibres) sum += static_cast<double>(values[f]);
    g.values.emplace_back(array.name, static_cast<float>(sum / static_cast<double>(g.fibres.size())));
  }
}

}  // namespace

std::vector<fibre_group> group_by_regions(const fibre_source& source) {
  std::map<label_pair, std::vector<std::uint32_t>> found;
  add_ends(source, found);
  add_halves(source, found);
  std::vector<fibre_group> groups;
  for (auto& [labels, fibres] : found) {
    std::sort(fibres.begin(), fibres.end());
    fibres.erase(std::unique(fibres.begin(), fibres.end()), fibres.end());
    groups.push_back({fmt::format("{}-{}", labels.first, labels.second), std::move(fibres), {}});
  }
  if (groups.empty()) return groups;
  for (const fibre_array& a : source.fibre_arrays())
    if (a.width == 1 && (a.type == element_type::float32 || a.type == element_type::float64))
      add_means(source, a, groups);
  return groups;
}

}  // namespace voxherd
