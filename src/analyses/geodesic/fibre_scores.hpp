#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "mpi/comm/session.hpp"

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

/// Collects the accepted fibres of the batches that this rank receives, in any order, and counts the others.
class fibre_collector {
 public:
  explicit fibre_collector(const device& d) : threads_(d.kind == backend::cuda ? d.threads : 1) {}

  /// A batch of scoring.
  void add(const batch& fibres, std::span<const std::span<const std::byte>> outputs);
  /// In the order of their numbers. Once.
  std::vector<scored_fibre> take_accepted();
  /// The counts of all ranks. Collective.
  fibre_counts count_all(const session& s) const;

 private:
  int threads_;                                   // on a CPU all threads compute meanwhile
  std::vector<std::vector<scored_fibre>> parts_;  ///< parts of consecutive paths; none is empty
  fibre_counts counts_{std::vector<std::uint64_t>(geodesic::verdicts),
                       std::vector<std::uint64_t>(geodesic::stop_reasons)};
};

/// "4096 paths: 812 accepted, 3284 reached no target"; "rays ended: ...".
void log_counts(const fibre_counts& counts);

/// The same for the result's summary, with the same words.
nlohmann::json counts_as_json(const fibre_counts& counts);

}  // namespace voxherd
