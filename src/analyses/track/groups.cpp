#include "src/analyses/track/groups.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/portable/output_arrays.hpp"

namespace voxherd {

namespace {

class group_runner final : public batch_runner {
 public:
  /// `per_group`: streamlines that are drawn of each group.
  group_runner(const device& d, const track_inputs& in, std::uint64_t per_group)
      : chosen_(chosen_outputs<group_outputs>(in)), groups_of_item_(in.plan.per_group / per_group) {
    track::track_input view = in.view();
    view.plan.per_group = per_group;
    tracker_ = track::make_tracker(d, view);
  }

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<group_outputs>(outputs, chosen_);
    track::counters to;
    to.density = out.values<"density">();
    to.accepted = out.values<"accepted">();
    to.walked = out.values<"walked">();
    to.length = out.values<"length">();
    to.hits = out.values<"hits">();
    to.hit_length = out.values<"hit_length">();
    to.directions = out.values<"directions">();
    to.accepted_bits = out.values<"accepted_bits">();
    tracker_->track(items.first_item * groups_of_item_, items.item_count, to);
  }
  void release_memory() override { tracker_->release_memory(); }

 private:
  std::unique_ptr<track::tracker> tracker_;
  output_choice<group_outputs> chosen_;
  std::uint64_t groups_of_item_;
};

/// Draws the groups of one run after another; the next one's masks replace those of the last one.
class tract_runner final : public batch_runner {
 public:
  /// `per_group`: streamlines that are drawn of each group, at most.
  tract_runner(const tract_inputs& in, const device& d, std::uint64_t per_group)
      : in_(in), device_(d), per_group_(per_group), chosen_(chosen_outputs<tract_group_outputs>(in.field)) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<tract_group_outputs>(outputs, chosen_);
    const std::size_t places = in_.field.place_voxels.size();
    std::uint64_t done = 0;
    while (done < items.item_count) {
      const std::uint64_t group = items.first_item + done;
      const tract_run& run = in_.run_with(group);
      begin(run);
      const std::uint64_t first = group - run.first_group;
      const std::uint64_t count = std::min(items.item_count - done, run.plan.groups() - first);
      const track::group_plan drawn = drawn_plan(run);
      const std::size_t rows = drawn.seed_rows();
      std::vector<std::uint32_t> accepted(count * rows);
      track::counters to;
      to.density = out.values<"density">() + done * places;
      to.accepted = accepted.data();
      to.walked = out.values<"walked">() + done;
      to.length = track::element(out.values<"length">(), done * places);
      tracker_->track(first * (run.plan.per_group / drawn.per_group), count, to);
      for (std::uint64_t i = 0; i < count; ++i)
        out.put<"accepted">(done + i, std::accumulate(accepted.begin() + static_cast<std::ptrdiff_t>(i * rows),
                                                      accepted.begin() + static_cast<std::ptrdiff_t>((i + 1) * rows),
                                                      std::uint64_t{0}));
      done += count;
    }
  }
  void release_memory() override {
    if (tracker_) tracker_->release_memory();
  }

 private:
  track::group_plan drawn_plan(const tract_run& run) const {
    track::group_plan plan = run.plan;
    plan.per_group = std::min(plan.per_group, per_group_);
    return plan;
  }

  void begin(const tract_run& run) {
    if (current_ == &run) return;
    if (current_ == nullptr) {
      voxels_ = in_.field.voxels;
    } else {
      for (const std::uint32_t v : current_->marked) voxels_[v].marks = in_.field.voxels[v].marks;
    }
    current_ = nullptr;  // until all is changed
    for (std::size_t i = 0; i < run.marked.size(); ++i) voxels_[run.marked[i]].marks |= run.marks[i];
    track::track_input view = in_.view(run, voxels_);
    view.plan = drawn_plan(run);
    if (tracker_) {
      tracker_->change_streamlines(view);
    } else {
      tracker_ = track::make_tracker(device_, view);
    }
    current_ = &run;
  }

  const tract_inputs& in_;
  device device_;
  std::uint64_t per_group_;
  output_choice<tract_group_outputs> chosen_;
  const tract_run* current_ = nullptr;  ///< whose masks are in `voxels_`
  std::vector<track::voxel_info> voxels_;
  std::unique_ptr<track::tracker> tracker_;
};

}  // namespace

std::unique_ptr<batch_runner> streamline_groups::make_probe(std::uint64_t streamlines) const {
  return std::make_unique<group_runner>(device_, inputs_, streamlines);
}

/// Batches of at most 256 MB of counts, and enough of them for several ranks.
std::uint64_t streamline_groups::max_items_per_batch() const {
  constexpr std::uint64_t room = std::uint64_t{256} << 20;
  return std::clamp<std::uint64_t>(room / std::max<std::size_t>(1, device_bytes_per_item()), 1, 16);
}

std::unique_ptr<batch_runner> tract_groups::make_runner() const {
  return make_probe(std::numeric_limits<std::uint64_t>::max());
}

std::unique_ptr<batch_runner> tract_groups::make_probe(std::uint64_t streamlines) const {
  return std::make_unique<tract_runner>(inputs_, device_, streamlines);
}

}  // namespace voxherd
