#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace voxherd {

enum class best_value { largest, smallest };

/// Strengths between the end regions of bundles, on the grid of a square matrix.
struct region_network {
  std::vector<int> labels;     ///< of rows and columns
  std::vector<double> values;  ///< row-major
  double value(std::size_t row, std::size_t column) const { return values[row * labels.size() + column]; }
};

using region_pair = std::pair<int, int>;  ///< labels, the smaller one first

/// How well a network's pairs of regions are those that bundles connect.
struct network_score {
  std::uint64_t true_pairs = 0, all_pairs = 0;
  std::uint64_t valid = 0, invalid = 0;  ///< connected pairs that a bundle connects, and others
  double auc = 0;                        ///< area under the receiver operating characteristic of the values
  std::uint64_t first_valid = 0;         ///< true pairs among the best, as many as there are true pairs
  double valid_share = 0;                ///< of the sum of all values; only for largest
};

/// A pair's value is the sum (largest: counts) or the mean (smallest: costs) of both directions. Values that are not
/// finite, and 0 where the largest is best, are no connection. Ties count half.
network_score score_network(const region_network& network, const std::vector<region_pair>& truth, best_value best);

/// The pairs of ends in truth/bundles.json of a phantom of bundles. Throws failure.
std::vector<region_pair> read_true_pairs(const std::string& folder);

/// Whether the path is a result with a connectome, or a text file of numbers.
bool is_network(const std::string& path);

/// A matrix `name` of a result's connectome, or a text file with one row of numbers per region, labelled 1, 2, ... .
/// `name` is "" for count or cost. Throws failure.
region_network read_network(const std::string& path, const std::string& name);

/// Costs are best if smallest, everything else if largest.
best_value natural_best(const std::string& path, const std::string& name);

std::string format_table(const network_score& score);
nlohmann::ordered_json score_json(const network_score& score);

}  // namespace voxherd
