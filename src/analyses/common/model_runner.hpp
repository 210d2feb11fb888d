#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/analysis.hpp"
#include "core/step_outputs.hpp"
#include "kernels/voxel_model/estimator.hpp"

namespace voxherd {

/// Runs an estimator whose random numbers are keyed by voxels.
template <class Outputs>
class model_runner final : public batch_runner {
 public:
  /// `voxels`: of all items; it outlives this.
  model_runner(std::unique_ptr<voxel_model::estimator<Outputs>> estimator, const typename Outputs::inputs& settings,
               const std::vector<std::uint64_t>& voxels)
      : estimator_(std::move(estimator)), chosen_(chosen_outputs<Outputs>(settings)), voxels_(voxels) {}

  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    estimator_->run(items.item_count, voxels_.data() + items.first_item, reinterpret_cast<const float*>(input.data()),
                    arrays_in<Outputs>(outputs, chosen_));
  }
  void release_memory() override { estimator_->release_memory(); }

 private:
  std::unique_ptr<voxel_model::estimator<Outputs>> estimator_;
  output_choice<Outputs> chosen_;
  const std::vector<std::uint64_t>& voxels_;
};

}  // namespace voxherd
