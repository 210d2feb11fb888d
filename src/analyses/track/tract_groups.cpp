#include <algorithm>
#include <numeric>

#include "src/analyses/track/tracts.hpp"

namespace voxherd {

namespace {

/// Draws the groups of one run after another; the next one's masks replace those of the last one.
class tract_runner final : public batch_runner {
 public:
  tract_runner(const tract_inputs& in, const device& d) : in_(in), device_(d) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const std::size_t places = in_.field.place_voxels.size();
    std::uint64_t done = 0;
    while (done < items.item_count) {
      const std::uint64_t group = items.first_item + done;
      const tract_run& run = in_.run_with(group);
      begin(run);
      const std::uint64_t first = group - run.first_group;
      const std::uint64_t count = std::min(items.item_count - done, run.plan.groups() - first);
      const std::size_t rows = run.plan.seed_rows();
      std::vector<std::uint32_t> accepted(count * rows);
      track::counters to;
      to.density = output_array<std::uint32_t>(outputs, 0) + done * places;
      to.accepted = accepted.data();
      to.walked = output_array<std::uint64_t>(outputs, 2) + done;
      if (in_.field.lengths) to.length = output_array<std::uint64_t>(outputs, 3) + done * places;
      tracker_->track(first, count, to);
      for (std::uint64_t i = 0; i < count; ++i)
        output_array<std::uint64_t>(outputs, 1)[done + i] =
            std::accumulate(accepted.begin() + static_cast<std::ptrdiff_t>(i * rows),
                            accepted.begin() + static_cast<std::ptrdiff_t>((i + 1) * rows), std::uint64_t{0});
      done += count;
    }
  }
  void release_memory() override {
    if (tracker_) tracker_->release_memory();
  }

 private:
  void begin(const tract_run& run) {
    if (current_ == &run) return;
    if (current_ == nullptr) {
      voxels_ = in_.field.voxels;
    } else {
      for (const std::uint32_t v : current_->marked) voxels_[v].marks = in_.field.voxels[v].marks;
    }
    current_ = nullptr;  // until all is changed
    for (std::size_t i = 0; i < run.marked.size(); ++i) voxels_[run.marked[i]].marks |= run.marks[i];
    track::track_input view = in_.field.view();
    in_.field.set_masks(voxels_, view);
    view.seeds = run.seeds;
    view.how = run.how;
    view.plan = run.plan;
    if (tracker_) {
      tracker_->change_streamlines(view);
    } else {
      tracker_ = track::make_tracker(device_, view);
    }
    current_ = &run;
  }

  const tract_inputs& in_;
  device device_;
  const tract_run* current_ = nullptr;  ///< whose masks are in `voxels_`
  std::vector<track::voxel_info> voxels_;
  std::unique_ptr<track::tracker> tracker_;
};

}  // namespace

tract_groups::tract_groups(const tract_inputs& inputs, const device& d) : inputs_(inputs), device_(d) {
  for (const tract_run& run : inputs.runs)
    for (std::uint64_t g = 0; g < run.plan.groups(); ++g)
      first_voxels_.push_back(run.seeds[run.plan.first_seed(g)].index);
}

std::vector<output_spec> tract_groups::outputs() const {
  const std::uint64_t places = inputs_.field.place_voxels.size();
  constexpr auto items = output_layout::items;
  std::vector<output_spec> all = {
      {"density", element_type::uint32, {places}, items, "1", "accepted streamlines that visit each place"},
      {"accepted", element_type::uint64, {}, items, "1", "accepted streamlines"},
      {"walked", element_type::uint64, {}, items, "1", "steps of all streamlines"},
  };
  if (inputs_.field.lengths)
    all.push_back({"length", element_type::uint64, {places}, items, "steps", "sum of the lengths from the seed"});
  return all;
}

std::size_t tract_groups::device_bytes_per_item() const {
  std::size_t bytes = 0;
  for (const output_spec& o : outputs()) bytes += o.bytes_per_item();
  return bytes;
}

std::unique_ptr<batch_runner> tract_groups::make_runner() const {
  return std::make_unique<tract_runner>(inputs_, device_);
}

}  // namespace voxherd
