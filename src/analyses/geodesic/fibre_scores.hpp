#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// An accepted fibre with its scores from pass one.
struct scored_fibre {
  std::uint64_t fibre;  ///< its number: seed number times directions per seed, plus the direction's number
  output_record<geodesic::fibre_scores> scores;  ///< regions: numbers of target regions, not their labels

  std::int32_t region(int end) const { return scores.get<"regions">(static_cast<std::size_t>(end)); }
  std::uint32_t steps(int ray) const { return scores.get<"steps">(static_cast<std::size_t>(ray)); }
};

/// Number of fibres with each verdict, and of rays with each reason to stop.
struct fibre_counts {
  std::vector<std::uint64_t> verdicts, stops;
};

/// Accepted fibres among items [first, first + count) of a file of scores; the others are counted. Throws failure.
std::vector<scored_fibre> accepted_fibres(const result_reader& scores, std::uint64_t first, std::uint64_t count,
                                          fibre_counts& counts);

/// "4096 fibres: 812 accepted, 3284 reached no target"; "rays ended: ...".
void log_counts(const fibre_counts& counts);

/// The same for the result's summary, with the same words.
nlohmann::json counts_as_json(const fibre_counts& counts);

}  // namespace voxherd
