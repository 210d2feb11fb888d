#include "src/analyses/geodesic/passes.hpp"

#include <algorithm>
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

namespace {

class winners_runner final : public batch_runner {
 public:
  winners_runner(std::unique_ptr<geodesic::tracker> tracker, const connections& found,
                 const std::vector<std::int64_t>& labels, std::span<const std::uint64_t> fibres,
                 const std::uint32_t* steps, std::span<const std::uint64_t> offsets)
      : tracker_(std::move(tracker)),
        found_(found),
        labels_(labels),
        fibres_(fibres),
        steps_(steps),
        offsets_(offsets) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    copy_scores(items, arrays_in<geodesic::fibre_scores>(outputs));
    const auto out = arrays_in<fibre_outputs>(outputs);
    std::copy_n(fibres_.data() + items.first_item, items.item_count, out.values<"fibre">());
    tracker_->trace(fibres_.subspan(items.first_item, items.item_count), steps_ + 2 * items.first_item,
                    offsets_.subspan(items.first_item, items.item_count + 1),
                    {out.values<"position">(), out.values<"FA">(), out.values<"relative_speed">()});
  }

  void release_memory() override { tracker_->release_memory(); }

 private:
  std::int32_t label_of(std::int32_t target) const {
    return target == 0 ? 0 : static_cast<std::int32_t>(labels_[static_cast<std::size_t>(target - 1)]);
  }

  void copy_scores(const batch& items, const geodesic::score_arrays& out) const {
    for (std::size_t i = 0; i < items.item_count; ++i) {
      const scored_fibre& f = found_.winners[items.first_item + i];
      f.scores.write(out, i);
      for (int end = 0; end < 2; ++end)
        out.values<"regions">()[2 * i + static_cast<std::size_t>(end)] = label_of(f.region(end));
    }
  }

  std::unique_ptr<geodesic::tracker> tracker_;
  const connections& found_;
  const std::vector<std::int64_t>& labels_;
  std::span<const std::uint64_t> fibres_;
  const std::uint32_t* steps_;
  std::span<const std::uint64_t> offsets_;
};

}  // namespace

std::uint64_t count_points(const scored_fibre& f, double distance_mm) {
  const std::uint64_t max_points = std::uint64_t{f.steps(0)} + f.steps(1) + 1;
  const auto wanted =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(f.scores.get<"length_mm">()) / distance_mm)) + 1;
  return std::clamp<std::uint64_t>(wanted, std::min<std::uint64_t>(2, max_points), max_points);
}

winners::winners(const geodesic_inputs& inputs, const tensor_field::field& field, const connections& found)
    : inputs_(inputs), field_(field), found_(found), offsets_{0} {
  const auto& size = inputs.grid.size;
  fibres_.reserve(found.winners.size());
  steps_.reserve(2 * found.winners.size());
  offsets_.reserve(found.winners.size() + 1);
  seed_voxels_.reserve(found.winners.size());
  for (const scored_fibre& f : found.winners) {
    fibres_.push_back(f.fibre);
    steps_.insert(steps_.end(), {f.steps(0), f.steps(1)});
    offsets_.push_back(offsets_.back() + count_points(f, inputs.selection.output_step_mm));
    const geodesic::seed& s = inputs.seeds[f.fibre / inputs.rays.directions_per_seed];
    const auto at = [&](int axis) { return static_cast<std::uint64_t>(std::lround(s.voxel[axis])); };
    seed_voxels_.push_back(at(0) + size[0] * (at(1) + size[1] * at(2)));
  }
}

std::size_t winners::device_bytes_per_item() const {
  const std::uint64_t points = offsets_.back() / std::max<std::size_t>(1, fibres_.size()) + 1;
  return 5 * sizeof(float) * points + 32;
}

std::unique_ptr<batch_runner> winners::make_runner() const {
  return std::make_unique<winners_runner>(geodesic::make_tracker(field_, inputs_.seeds, inputs_.rays), found_,
                                          inputs_.target_labels, fibres_, steps_.data(), offsets_);
}

}  // namespace voxherd
