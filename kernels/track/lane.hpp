#pragma once

#include "kernels/track/tracker.hpp"
#include "kernels/track/walker.hpp"

namespace voxherd::track {

/// The streamlines of a call of track(), in the memory of the device.
struct track_job {
  field_view field;
  walk_settings how;
  group_plan plan;
  const seed* seeds;
  std::uint32_t columns;  ///< number of columns of the counts by seed: regions or targets
  std::uint64_t first_group;
  std::uint64_t first, end;  ///< numbers of the streamlines
  std::uint64_t seed_rows;   ///< number of rows by seed of a group
  std::uint64_t first_seed;  ///< seed of the first row of a matrix
  counters out;              ///< counters of the first group
};

/// Does nothing with a streamline that counts.
struct no_sink {
  template <class Walker>
  VOXHERD_FUNCTION void operator()(const Walker&) const {}
};

/// Takes one streamline after another from a queue. With conditions it notes what a streamline visits until it is known
/// which halves count; where that is not possible, it repeats the streamline with the same random numbers.
template <mask_places places = mask_places::surfaces, bool can_note = true>
class lane_walker {
 public:
  VOXHERD_FUNCTION lane_walker(const track_job& job, const stamped_table<visit_entry>& visits,
                               const stamped_table<cell_entry>& cells, crossing* crossings = nullptr,
                               visit_note* notes = nullptr)
      : job_(&job), walker_(job.field, job.how, visits, cells), crossings_(crossings), notes_(notes) {}

  /// One step. Queue: next() returns the next streamline's number, at least `end` if none is left. Returns false then.
  /// Sink: gets the walker at the end of each streamline that has been counted.
  template <class Queue, class Sink = no_sink>
  VOXHERD_INLINED bool advance(Queue& queue, const Sink& sink = {}) {
    if ((state_ != walking || walker_.is_at_end()) && !begin_half(queue, sink)) return false;
    walker_.go();
    return true;
  }

  // With their last stamps.
  VOXHERD_FUNCTION const stamped_table<visit_entry>& visits() const { return walker_.visits(); }
  VOXHERD_FUNCTION const stamped_table<cell_entry>& cells() const { return walker_.cells(); }

 private:
  enum state : std::uint8_t { waiting, repeating, walking };

  /// Begins the next half, of this streamline or of another. Returns false if there is none.
  template <class Queue, class Sink>
  VOXHERD_INLINED bool begin_half(Queue& queue, const Sink& sink) {
    if (state_ == walking) {
      if (walker_.end_half()) return true;
      end_pass(sink);
    }
    if (state_ == waiting) {
      const std::uint64_t number = queue.next();
      if (number >= job_->end) {
        add_walked();
        return false;
      }
      locate(number);
    }
    walker_.begin(job_->seeds[from_], number_of_seed_, counting_, make_output());
    state_ = walking;
    return true;
  }

  VOXHERD_FUNCTION void locate(std::uint64_t number) {
    const std::uint64_t group = number / job_->plan.per_group;
    if (group - job_->first_group != group_) add_walked();
    group_ = group - job_->first_group;
    number_of_group_ = number - group * job_->plan.per_group;
    from_ = number / job_->plan.per_seed;
    number_of_seed_ = static_cast<std::uint32_t>(number - from_ * job_->plan.per_seed);
    seed_row_ = from_ - job_->plan.first_seed(group) + group_ * job_->seed_rows;
    counting_ = job_->how.has_conditions() ? 0 : 3;
    is_repeated_ = false;
  }

  VOXHERD_FUNCTION walk_output make_output() const {
    walk_output out;
    out.to = &job_->out;
    out.row = group_;
    out.seed_row = seed_row_;
    out.matrix_row = from_ - job_->first_seed;
    out.columns = job_->columns;
    out.crossings = crossings_;
    if (counting_ == 0) out.notes = notes_;
    out.own_column = job_->field.matrix.square ? static_cast<std::int32_t>(from_) : -1;
    return out;
  }

  template <class Sink>
  VOXHERD_INLINED void end_pass(const Sink& sink) {
    if (!is_repeated_) walked_ += walker_.walked();
    state_ = waiting;
    if (counting_ == 0) {
      counting_ = walker_.counted_steps() < job_->how.min_total ? 0 : walker_.counted();
      is_repeated_ = true;
      if (counting_ == 0) return;
      if (!walker_.count_notes(counting_)) {
        state_ = repeating;
        return;
      }
    }
    sink(walker_);
    job_->out.add(acceptance{seed_row_, group_ * bit_words(job_->plan.per_group) + number_of_group_ / 32,
                             static_cast<std::uint32_t>(number_of_group_ % 32)});
  }

  VOXHERD_FUNCTION void add_walked() {
    if (walked_ > 0) job_->out.add(walked_steps{group_, walked_});
    walked_ = 0;
  }

  const track_job* job_;
  walker_among<places, can_note> walker_;
  crossing* crossings_;
  visit_note* notes_;        ///< room for max_notes; null: streamlines with conditions are drawn twice
  std::uint64_t group_ = 0;  ///< after the first one
  std::uint64_t from_ = 0, seed_row_ = 0, number_of_group_ = 0;
  std::uint32_t number_of_seed_ = 0;
  unsigned counting_ = 0;
  std::uint64_t walked_ = 0;  ///< steps of the group that are not in its sum yet
  state state_ = waiting;
  bool is_repeated_ = false;
};

/// Whether notes are enough to count the streamlines of a job: not for their directions or fibres.
inline bool takes_notes(const track_job& job) {
  return job.how.has_conditions() && !job.out.want<place_direction>() && !job.field.has_special_matrix();
}

/// The number of columns before those of a pair's second mask; 0: there is one mask.
VOXHERD_FUNCTION inline std::uint32_t pair_rows(const field_view& field) {
  return field.pair_columns.columns > 0 ? field.matrix.columns : 0;
}

/// Keys that one streamline may put into each table.
inline std::uint32_t max_visits(const walk_settings& how, std::uint32_t columns) {
  return 2 * static_cast<std::uint32_t>(how.max_points) + columns;
}
/// Columns of a grid that one streamline may visit. A step may cross any number of triangles; `max_vertices` limits the
/// room for them.
inline std::uint32_t max_columns(const column_grid& grid, const walk_settings& how, std::uint32_t max_vertices) {
  if (grid.columns == 0) return 0;
  const std::uint32_t points = 2 * static_cast<std::uint32_t>(how.max_points);
  if (grid.vertex_column == nullptr) return points;
  return grid.columns < max_vertices ? grid.columns : max_vertices;
}
constexpr std::uint32_t all_vertices = 0xffffffff;
/// Crossings of one streamline.
inline std::uint32_t max_crossings(const track_job& job, std::uint32_t max_vertices = all_vertices) {
  return max_columns(job.field.matrix, job.how, max_vertices) +
         max_columns(job.field.pair_columns, job.how, max_vertices);
}
/// Keys where the voxels of a matrix are counted too.
inline std::uint32_t max_visits(const track_job& job, std::uint32_t max_vertices = all_vertices) {
  return max_visits(job.how, job.columns) + max_crossings(job, max_vertices);
}
inline std::uint32_t max_cells(const walk_settings& how) {
  return how.loop_check ? static_cast<std::uint32_t>(how.max_points) : 1;
}

}  // namespace voxherd::track
