#include "src/analyses/geodesic/connections.hpp"

#include <algorithm>
#include <numeric>

namespace voxherd {

namespace {

using geodesic::candidates;
using geodesic::pair_summary;
using geodesic::sketch_points;

constexpr std::size_t max_nodes = 2048;

candidates candidates_of(const std::vector<scored_fibre>& fibres, const connection_nodes& nodes, int threads) {
  const std::size_t count = fibres.size();
  candidates c{std::vector<std::uint64_t>(count), std::vector<std::uint32_t>(count), std::vector<float>(count),
               std::vector<float>(count)};
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t i = 0; i < count; ++i) {
    const scored_fibre& f = fibres[i];
    c.fibre[i] = f.fibre;
    c.pair[i] = nodes.pair_of(f);
    c.measure[i] = f.scores.get<"measure">();
    c.length_mm[i] = f.scores.get<"length_mm">();
  }
  return c;
}

std::vector<constant> make_matrices(const connection_nodes& nodes, const std::vector<pair_summary>& sums) {
  const std::size_t n = nodes.labels.size();
  const auto matrix = [&](const char* name, const char* unit, const char* meaning, auto value) {
    constant m{name, {n, n}, std::vector<double>(n * n), unit, meaning, "connectome"};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        // Undirected pairs are summed in the upper triangle.
        const bool lower = !nodes.directed && i > j;
        m.values[i * n + j] = value(sums[lower ? j * n + i : i * n + j]);
      }
    }
    return m;
  };
  constant labels{"labels", {n}, {}, "1", "label of each row and column; 0: the seeds", "connectome"};
  for (const std::int64_t label : nodes.labels) labels.values.push_back(static_cast<double>(label));
  const auto mean = [](double of, const pair_summary& s) { return s.count > 0 ? of : 0.0; };
  return {labels,
          matrix("count", "1", "number of paths between the two regions (row: from, column: to)",
                 [](const pair_summary& s) { return static_cast<double>(s.count); }),
          matrix("best_measure", "1", "largest measure of these paths",
                 [&](const pair_summary& s) { return mean(s.best, s); }),
          matrix("mean_measure", "1", "mean measure of these paths",
                 [&](const pair_summary& s) { return mean(s.mean_measure, s); }),
          matrix("mean_length_mm", "mm", "mean length of these paths",
                 [&](const pair_summary& s) { return mean(s.mean_length_mm, s); })};
}

/// The accepted fibres of all ranks, distributed by region pair: each rank gets all fibres of its pairs, in any order.
/// Pairs increase with the rank; each rank has about the same number of fibres.
std::vector<scored_fibre> fibres_of_own_pairs(const session& s, const connection_nodes& nodes,
                                              std::vector<scored_fibre> own_accepted) {
  if (s.size() == 1) return own_accepted;
  std::vector<std::uint64_t> before(nodes.pairs() + 1);  // fibres of all pairs before
  for (const scored_fibre& f : own_accepted) ++before[nodes.pair_of(f) + 1];
  s.all_reduce(reduction::sum, std::span<std::uint64_t>(before).subspan(1));
  std::partial_sum(before.begin(), before.end(), before.begin());
  const auto ranks = static_cast<std::uint64_t>(s.size());
  std::vector<std::vector<scored_fibre>> of_rank(ranks);
  for (const scored_fibre& f : own_accepted) of_rank[before[nodes.pair_of(f)] * ranks / before.back()].push_back(f);
  return s.exchange(of_rank);
}

/// The sketches of the fibres, in this order.
std::vector<float> sketches_of(const geodesic_inputs& inputs, const tensor_field::field& field,
                               const std::vector<scored_fibre>& fibres, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint64_t> numbers, offsets{0};
  std::vector<std::uint32_t> steps;
  for (const std::uint32_t place : order) {
    const scored_fibre& f = fibres[place];
    numbers.push_back(f.fibre);
    steps.insert(steps.end(), {f.steps(0), f.steps(1)});
    offsets.push_back(offsets.back() + sketch_points);
  }
  std::vector<float> points(3 * offsets.back());
  if (!numbers.empty())
    make_tracker(field, inputs.seeds, inputs.rays)->trace(numbers, steps.data(), offsets, {points.data(), {}, {}});
  return points;
}

struct pair_sum {
  std::uint64_t pair;
  pair_summary sum;
};

std::vector<pair_sum> sums_of_pairs(const std::vector<pair_summary>& sums) {
  std::vector<pair_sum> of_pairs;
  for (std::size_t pair = 0; pair < sums.size(); ++pair)
    if (sums[pair].count > 0) of_pairs.push_back({pair, sums[pair]});
  return of_pairs;
}

/// The first `top` fibres of each pair.
std::vector<std::uint32_t> first_of_each_pair(const candidates& c, const std::vector<std::uint32_t>& order,
                                              std::uint64_t top) {
  std::vector<std::uint32_t> kept;
  std::uint64_t of_pair = 0;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    if (i == 0 || c.pair[order[i]] != c.pair[order[i - 1]]) of_pair = 0;
    if (top == 0 || of_pair++ < top) kept.push_back(i);
  }
  return kept;
}

}  // namespace

std::uint32_t connection_nodes::pair_of(const scored_fibre& f) const {
  if (labels.size() < 2) return 0;
  const auto from = static_cast<std::uint32_t>(f.region(0) - first_target),
             to = static_cast<std::uint32_t>(f.region(1) - first_target);
  const auto n = static_cast<std::uint32_t>(labels.size());
  return directed ? from * n + to : std::min(from, to) * n + std::max(from, to);
}

connection_nodes make_nodes(const geodesic_inputs& inputs) {
  connection_nodes nodes;
  nodes.directed = !inputs.rays.two_way;
  nodes.first_target = nodes.directed ? 0 : 1;
  if (nodes.directed || !inputs.rays.targets) nodes.labels.push_back(0);
  if (inputs.rays.targets)
    nodes.labels.insert(nodes.labels.end(), inputs.target_labels.begin(), inputs.target_labels.end());
  if (nodes.labels.size() > max_nodes)
    refuse_usage("the matrices of {} target labels are too large; choose at most {} with --target-labels",
                 nodes.labels.size(), max_nodes - 1);
  return nodes;
}

connections rank_connections(const session& s, const geodesic_inputs& inputs, const tensor_field::field& field,
                             std::vector<scored_fibre> own_accepted) {
  const connection_nodes nodes = make_nodes(inputs);
  const std::vector<scored_fibre> fibres = fibres_of_own_pairs(s, nodes, std::move(own_accepted));
  std::vector<scored_fibre> winners;
  std::vector<pair_sum> own_sums;
  s.agree([&] {
    const candidates c = candidates_of(fibres, nodes, field.where.threads);
    const std::vector<std::uint32_t> order = geodesic::ranked(field.where, c);
    own_sums = sums_of_pairs(geodesic::summarise(field.where, c, order, nodes.pairs()));
    const fibre_selection& choice = inputs.selection;
    const auto kept = choice.distinct_mm > 0
                          ? geodesic::distinct(field.where, c, order, sketches_of(inputs, field, fibres, order),
                                               choice.top, choice.distinct_mm)
                          : first_of_each_pair(c, order, choice.top);
    for (const std::uint32_t i : kept) winners.push_back(fibres[order[i]]);
  });
  connections found;
  found.winners = s.all_gather(winners);
  for (const std::uint64_t count : s.gather_counts(fibres.size())) found.candidates += count;
  std::vector<pair_summary> sums(nodes.pairs());
  for (const pair_sum& p : s.all_gather(own_sums)) sums[p.pair] = p.sum;
  if (inputs.rays.targets) found.matrices = make_matrices(nodes, sums);
  return found;
}

}  // namespace voxherd
