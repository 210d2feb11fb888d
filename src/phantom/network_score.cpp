#include "src/phantom/network_score.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/failure.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/io/number_table.hpp"
#include "src/io/text_file.hpp"
#include "src/phantom/score.hpp"

namespace voxherd {

namespace {

constexpr auto group = "connectome";

struct ranked_pair {
  double strength;  ///< larger is better
  bool is_true;
};

bool is_connected(double value, best_value best) {
  return std::isfinite(value) && (best == best_value::smallest || value > 0);
}

/// Of one pair, from both directions.
double joined(const region_network& n, std::size_t i, std::size_t k, best_value best) {
  const double there = n.value(i, k), back = n.value(k, i);
  return best == best_value::largest ? there + back : (there + back) / 2;
}

/// The chance that a true pair is stronger than a false one; ties count half.
double area_under_curve(const std::vector<ranked_pair>& pairs) {
  double wins = 0, comparisons = 0;
  for (const ranked_pair& a : pairs)
    for (const ranked_pair& b : pairs) {
      if (!a.is_true || b.is_true) continue;
      ++comparisons;
      wins += a.strength > b.strength ? 1 : a.strength == b.strength ? 0.5 : 0;
    }
  return comparisons > 0 ? wins / comparisons : 0;
}

std::string chosen_matrix(const result_reader& result, const std::string& name) {
  if (!name.empty()) return name;
  return result.find_constant(group, "count") != nullptr ? "count" : "cost";
}

bool is_result_file(const std::string& path) { return std::filesystem::path(path).extension() == ".h5"; }

}  // namespace

network_score score_network(const region_network& network, const std::vector<region_pair>& truth, best_value best) {
  const std::set<region_pair> real(truth.begin(), truth.end());
  std::vector<ranked_pair> pairs;
  network_score score;
  double valid_sum = 0, sum = 0;
  for (std::size_t i = 0; i < network.labels.size(); ++i)
    for (std::size_t k = i + 1; k < network.labels.size(); ++k) {
      const bool is_true = real.contains(std::minmax(network.labels[i], network.labels[k]));
      const double value = joined(network, i, k, best);
      const bool connected = is_connected(value, best);
      ++score.all_pairs;
      score.true_pairs += is_true ? 1 : 0;
      if (connected) ++(is_true ? score.valid : score.invalid);
      pairs.push_back({!connected ? -INFINITY : best == best_value::largest ? value : -value, is_true});
      if (connected) sum += value, valid_sum += is_true ? value : 0;
    }
  score.auc = area_under_curve(pairs);
  // Of equal strengths the false ones first: a tie earns nothing.
  std::stable_sort(pairs.begin(), pairs.end(), [](const ranked_pair& a, const ranked_pair& b) {
    return a.strength != b.strength ? a.strength > b.strength : a.is_true < b.is_true;
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(pairs.size(), score.true_pairs); ++i)
    score.first_valid += pairs[i].is_true && std::isfinite(pairs[i].strength) ? 1 : 0;
  if (best == best_value::largest && sum > 0) score.valid_share = valid_sum / sum;
  return score;
}

std::vector<region_pair> read_true_pairs(const std::string& folder) {
  const std::string path = truth_folder(folder) + "/bundles.json";
  try {
    const auto file = nlohmann::json::parse(read_text_file(path));
    std::vector<region_pair> pairs;
    for (const auto& bundle : file.at("bundles"))
      pairs.push_back(std::minmax(bundle.at("ends").at(0).get<int>(), bundle.at("ends").at(1).get<int>()));
    return pairs;
  } catch (const nlohmann::json::exception& e) {
    refuse_data("{}: {}; expected a file written by voxherd phantom dwi --geometry", path, e.what());
  }
}

bool is_network(const std::string& path) {
  if (std::filesystem::is_directory(path)) return false;
  if (!is_result_file(path)) return true;
  return result_reader(path).find_constant(group, "labels") != nullptr;
}

region_network read_network(const std::string& path, const std::string& name) {
  region_network network;
  if (!is_result_file(path)) {
    const number_table t = read_number_table(path);
    if (t.rows != t.columns)
      refuse_data("{}: contains {} rows of {} numbers, expected a square matrix of the truth's regions", path, t.rows,
                  t.columns);
    for (std::size_t i = 0; i < t.rows; ++i) network.labels.push_back(static_cast<int>(i + 1));
    network.values = t.values;
    return network;
  }
  const result_reader result(path);
  const std::string matrix = chosen_matrix(result, name);
  const constant *labels = result.find_constant(group, "labels"), *values = result.find_constant(group, matrix);
  if (labels == nullptr || values == nullptr ||
      values->values.size() != labels->values.size() * labels->values.size()) {
    std::string names;
    for (const constant& c : result.constants())
      if (c.group == group && c.shape.size() == 2) names += (names.empty() ? "" : ", ") + c.name;
    refuse_data("{}: has no matrix {}, expected one of {}", path, matrix, names);
  }
  for (const std::int32_t label : result.constant_labels(group, "labels")) network.labels.push_back(label);
  network.values = values->values;
  return network;
}

best_value natural_best(const std::string& path, const std::string& name) {
  std::string matrix = name;
  if (matrix.empty()) matrix = is_result_file(path) ? chosen_matrix(result_reader(path), "") : "count";
  const bool is_cost = matrix.find("cost") != std::string::npos || matrix.find("length") != std::string::npos ||
                       matrix.find("excess") != std::string::npos;
  return is_cost ? best_value::smallest : best_value::largest;
}

std::string format_table(const network_score& s) {
  std::string table = fmt::format("{} of {} pairs of regions are connected by a bundle\n", s.true_pairs, s.all_pairs);
  table += fmt::format("valid {}, invalid {}, AUC {:.3f}, true among the best {}: {}", s.valid, s.invalid, s.auc,
                       s.true_pairs, s.first_valid);
  if (s.valid_share > 0) table += fmt::format(", valid share {:.1f} %", 100 * s.valid_share);
  return table + "\n";
}

nlohmann::ordered_json score_json(const network_score& s) {
  return {{"true_pairs", s.true_pairs},  {"pairs", s.all_pairs}, {"valid", s.valid},
          {"invalid", s.invalid},        {"auc", s.auc},         {"first_valid", s.first_valid},
          {"valid_share", s.valid_share}};
}

}  // namespace voxherd
