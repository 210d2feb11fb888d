#include "src/export/connectome_text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/number_text.hpp"

namespace voxherd {

std::vector<std::int32_t> node_labels(const result_reader& result) {
  return result.constant_labels("connectome", "labels");
}

region_name_list given_region_names(const result_reader& result) {
  const auto& configuration = result.configuration();
  return configuration.contains("region-names") ? configuration.at("region-names").get<region_name_list>()
                                                : region_name_list{};
}

region_name_list node_names(const result_reader& result) {
  const std::vector<std::int32_t> labels = node_labels(result);
  region_name_list names = given_region_names(result);
  if (names.empty())
    for (const std::int32_t label : labels) names.push_back(std::to_string(label));
  check_region_names(result, names, labels.size());
  return names;
}

void check_region_names(const result_reader& result, const region_name_list& names, std::size_t regions) {
  if (names.empty() || names.size() == regions) return;
  refuse_data("{}: has {} names of {} regions; is it a complete copy of a voxherd result?", result.path(), names.size(),
              regions);
}

bool is_region_matrix(const result_reader& result, const constant& c) {
  if (c.group != "connectome" || c.shape.size() != 2) return false;
  const bool has_labels = result.find_constant("connectome", "labels") != nullptr;
  const std::uint64_t regions = has_labels ? node_labels(result).size() : c.shape[0];
  if (c.shape[0] != regions || c.shape[1] != regions)
    refuse_data(
        "{}: /connectome/{} has {} x {} values, expected {} x {}, one for each pair of regions; is it a complete copy "
        "of a voxherd result?",
        result.path(), c.name, c.shape[0], c.shape[1], regions, regions);
  return true;
}

std::string matrix_number(double value, const char* missing) {
  constexpr double max_exact = 1 << 24;
  if (!std::isfinite(value) || (value == std::round(value) && std::abs(value) > max_exact))
    return number_text(value, missing);
  return fmt::format("{}", static_cast<float>(value));
}

std::string node_table(const result_reader& result, const region_name_list& names) {
  std::string text = names.empty() ? "index\tlabel\n" : "index\tlabel\tname\n";
  const std::vector<std::int32_t> labels = node_labels(result);
  check_region_names(result, names, labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}\t{}{}\n", i + 1, labels[i],
                   names.empty() ? "" : fmt::format("\t{}", tsv_cell(names.at(i))));
  return text;
}

std::string matrix_table(const constant& matrix, const region_name_list& names) {
  std::vector<std::string> cells;
  std::transform(names.begin(), names.end(), std::back_inserter(cells), bids_cell);
  std::string text = fmt::format("{}\n", fmt::join(cells, "\t"));
  const std::uint64_t columns = matrix.shape.at(1);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    text += matrix_number(matrix.values[i], "n/a") + ((i + 1) % columns == 0 ? '\n' : '\t');
  return text;
}

std::string matrix_csv(const constant& matrix, const region_name_list& regions) {
  std::string text;
  const std::uint64_t columns = matrix.shape.at(1);
  for (const std::string& name : regions) text.append(",").append(csv_cell(name));
  if (!regions.empty()) text += '\n';
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    if (!regions.empty() && i % columns == 0) text.append(csv_cell(regions.at(i / columns))).append(",");
    text += matrix_number(matrix.values[i]) + ((i + 1) % columns == 0 ? '\n' : ',');
  }
  return text;
}

}  // namespace voxherd
