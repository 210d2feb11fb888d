#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/analysis.hpp"
#include "core/step_outputs.hpp"
#include "kernels/voxel_model/estimator.hpp"
#include "src/analyses/common/continuous_angles.hpp"

namespace voxherd {

/// Runs an estimator whose random numbers are keyed by voxels.
template <class Outputs>
class model_runner final : public batch_runner {
 public:
  /// `outputs`: of the analysis. `voxels`: of all items; it outlives this.
  model_runner(std::unique_ptr<voxel_model::estimator<Outputs>> estimator, const typename Outputs::inputs& settings,
               std::vector<output_spec> outputs, const std::vector<std::uint64_t>& voxels)
      : estimator_(std::move(estimator)),
        chosen_(chosen_outputs<Outputs>(settings)),
        specs_(std::move(outputs)),
        voxels_(voxels) {}

  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    estimator_->run(items.item_count, voxels_.data() + items.first_item, reinterpret_cast<const float*>(input.data()),
                    arrays_in<Outputs>(outputs, chosen_));
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (is_sampled_angle(specs_[i])) join_turns(outputs[i], items.item_count);
  }
  void release_memory() override { estimator_->release_memory(); }

 private:
  static bool is_sampled_angle(const output_spec& o) {
    return o.unit == "rad" && o.layout != output_layout::volume && o.type == element_type::float32;
  }

  static void join_turns(std::span<std::byte> values, std::uint64_t voxels) {
    const std::size_t samples = values.size() / sizeof(float) / voxels;
    auto* const angles = reinterpret_cast<float*>(values.data());
    for (std::uint64_t v = 0; v < voxels; ++v) make_continuous({angles + v * samples, samples});
  }

  std::unique_ptr<voxel_model::estimator<Outputs>> estimator_;
  output_choice<Outputs> chosen_;
  std::vector<output_spec> specs_;
  const std::vector<std::uint64_t>& voxels_;
};

}  // namespace voxherd
