#pragma once

#include "kernels/perfusion/models.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd {

/// Voxels by status, exit code and parameters at a bound; warns where many are at one.
class perfusion_counts final : public status_counts {
 public:
  perfusion_counts(const std::vector<output_spec>& outputs, const perfusion::model_info& model);
  void add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) override;
  void report(std::uint64_t items) const override;

 private:
  const perfusion::model_info& model_;
  std::size_t status_, exit_code_, at_bound_;  ///< indices of the outputs
};

}  // namespace voxherd
