#include "src/analyses/geodesic/scoring.hpp"

#include <cmath>

#include "src/analyses/geodesic/fibre_scores.hpp"

namespace voxherd {

namespace {

class scoring_runner final : public batch_runner {
 public:
  explicit scoring_runner(std::unique_ptr<geodesic::tracker> tracker) : tracker_(std::move(tracker)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    tracker_->score(items.first_item, items.item_count, arrays_in<geodesic::fibre_scores>(outputs));
  }
  void release_memory() override { tracker_->release_memory(); }

 private:
  std::unique_ptr<geodesic::tracker> tracker_;
};

}  // namespace

scoring::scoring(const geodesic_inputs& inputs, const tensor_field::field& field) : inputs_(inputs), field_(field) {
  const auto& size = inputs.grid.size;
  seed_voxels_.reserve(inputs.seeds.size() * inputs.rays.directions_per_seed);
  for (const geodesic::seed& s : inputs.seeds) {
    const auto at = [&](int axis) { return static_cast<std::uint64_t>(std::lround(s.voxel[axis])); };
    seed_voxels_.insert(seed_voxels_.end(), inputs.rays.directions_per_seed,
                        at(0) + size[0] * (at(1) + size[1] * at(2)));
  }
}

std::vector<output_spec> scoring::outputs() const { return output_specs<geodesic::fibre_scores>(); }

std::unique_ptr<batch_runner> scoring::make_runner() const {
  return std::make_unique<scoring_runner>(geodesic::make_tracker(field_, inputs_.seeds, inputs_.rays));
}

}  // namespace voxherd
