#pragma once

#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/analyses/common/status_counts.hpp"

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

/// Logs medians over the fitted voxels of a finished result. Collective; rank 0 reads the file.
void log_medians(const session& s, const std::string& result);

}  // namespace voxherd
