#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/analyses/perfusion/text_values.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd {

/// Also counts how many fitted voxels ended at a bound, and how many did not converge.
class perfusion_counts final : public status_counts {
 public:
  explicit perfusion_counts(const std::vector<output_spec>& outputs);
  void add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) override;
  void report(std::uint64_t items) const override;

 private:
  std::size_t status_, exit_code_, at_bound_;  ///< indices of the outputs
};

/// Medians of maps over the fitted voxels of a study; of every second, third, ... item in a large one.
class median_collector {
 public:
  /// `written`: the outputs of the study's `items`.
  median_collector(const perfusion::map_set& written, std::uint64_t items);
  /// A batch that this rank receives.
  void add(const batch& voxels, std::span<const std::span<const std::byte>> outputs);
  /// Logs the medians over all ranks. Collective; once.
  void log(const session& s);

 private:
  perfusion::map_set written_;
  std::uint64_t every_;
  std::uint64_t fitted_ = 0;
  std::array<std::vector<float>, 7> values_;  ///< values of each map that is summed up
};

}  // namespace voxherd
