#include "src/analyses/track/groups.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/portable/output_arrays.hpp"
#include "src/analyses/track/matrix_steps.hpp"

namespace voxherd {

namespace {

/// The densities and targets of all streamlines, and the columns of a matrix.
track::track_input make_group_view(const drawn_matrix& matrix, const track_inputs& in) {
  if (matrix.rows == nullptr && matrix.pairs == nullptr) return in.view();
  track::track_input view =
      matrix.rows != nullptr ? make_matrix_view(*matrix.rows, in) : make_pair_view(*matrix.pairs, in);
  view.columns = static_cast<std::uint32_t>(in.columns());
  view.target_begin = in.target_begin;
  view.targets = in.targets;
  return view;
}

/// On a GPU the rows of a group are dense at once, on CPU cores each thread draws one after another.
bool has_room_for_rows(const seed_matrix& matrix, const track_inputs& in, const device& d) {
  constexpr std::uint64_t table_bytes = std::uint64_t{1} << 30,
                          cell_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
  if (!in.plan.has_whole_seeds()) return false;
  const std::uint64_t seeds = in.plan.per_group / in.plan.per_seed;
  if (d.kind == backend::cpu) return seeds >= 2 * static_cast<std::uint64_t>(d.threads) || in.plan.groups() == 1;
  return seeds * matrix.cells() * cell_bytes <= table_bytes;
}

class group_runner final : public batch_runner {
 public:
  /// `per_group`: streamlines that are drawn of each group.
  group_runner(const device& d, const track_inputs& in, std::uint64_t per_group, const drawn_matrix& matrix)
      : in_(in),
        matrix_(matrix),
        chosen_(chosen_outputs<group_outputs>(in)),
        groups_of_item_(in.plan.per_group / per_group) {
    track::track_input view = make_group_view(matrix, in);
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
    track::sparse_rows rows;
    std::vector<pair_list> pairs;
    tracker_->track(items.first_item * groups_of_item_, items.item_count, to,
                    {matrix_.rows == nullptr ? nullptr : &rows, matrix_.pairs == nullptr ? nullptr : &pairs});
    std::uint64_t seed = in_.plan.first_seed(items.first_item), group = items.first_item;
    if (matrix_.rows != nullptr)
      for (matrix_row& row : split_rows(rows, matrix_.rows->entries(in_)))
        matrix_.rows->kept->keep(seed++, std::move(row));
    for (pair_list& list : pairs) matrix_.pairs->kept->keep(group++, std::move(list));
  }
  void release_memory() override { tracker_->release_memory(); }

 private:
  const track_inputs& in_;
  drawn_matrix matrix_;
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

drawn_matrix choose_drawn_matrix(const std::vector<seed_matrix>& matrices, const std::vector<const pair_matrix*>& pairs,
                                 const track_inputs& in, const device& d) {
  for (const seed_matrix& m : matrices)
    if (m.min_total == 0 && has_room_for_rows(m, in, d)) return {&m, nullptr};
  for (const pair_matrix* p : pairs)
    if (p->kept && p->rows.min_total == 0) return {nullptr, p};
  return {};
}

std::unique_ptr<batch_runner> streamline_groups::make_runner() const {
  return std::make_unique<group_runner>(device_, inputs_, inputs_.plan.per_group, matrix_);
}

std::unique_ptr<batch_runner> streamline_groups::make_probe(std::uint64_t streamlines) const {
  return std::make_unique<group_runner>(device_, inputs_, streamlines, drawn_matrix{});
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
