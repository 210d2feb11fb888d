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
  std::uint32_t columns;  ///< of the counts by seed: regions or targets
  std::uint64_t first_group;
  std::uint64_t first, end;  ///< numbers of the streamlines
  counters out;              ///< of the first group
};

/// What is not wanted of a streamline that counts.
struct no_sink {
  VOXHERD_FUNCTION void operator()(const walker&) const {}
};

/// Takes one streamline after another from a queue: decides which halves count, and repeats those with the same random
/// numbers to count their voxels. Nothing of a streamline is stored. Without conditions one pass is enough.
class lane_walker {
 public:
  VOXHERD_FUNCTION lane_walker(const track_job& job, const stamped_table<visit_entry>& visits,
                               const stamped_table<cell_entry>& cells, crossing* crossings = nullptr)
      : job_(&job), walker_(job.field, job.how, visits, cells), crossings_(crossings) {}

  /// One step. Queue: next() returns the next streamline's number, at least `end` if none is left. Returns false then.
  /// Sink: gets the walker at the end of each streamline that has been counted.
  template <class Queue, class Sink = no_sink>
  VOXHERD_FUNCTION bool advance(Queue& queue, const Sink& sink = {}) {
    if (!busy_) {
      const std::uint64_t number = queue.next();
      if (number >= job_->end) return false;
      begin(number);
      return true;
    }
    if (walker_.advance()) return true;
    end_pass(sink);
    return true;
  }

 private:
  VOXHERD_FUNCTION void begin(std::uint64_t number) {
    const std::uint64_t group = number / job_->plan.per_group, from = number / job_->plan.per_seed;
    walk_output out;
    out.to = group_row(job_->out, group - job_->first_group, job_->field.places, job_->plan, job_->columns,
                       job_->field.matrix.columns);
    out.crossings = crossings_;
    out.own_column = job_->field.matrix.square ? static_cast<std::int32_t>(from) : -1;
    out.seed_row = static_cast<std::uint32_t>(from - job_->plan.first_seed(group));
    out.columns = job_->columns;
    walker_.begin(job_->seeds[from], static_cast<std::uint32_t>(number % job_->plan.per_seed),
                  job_->how.has_conditions() ? 0 : 3, out);
    number_in_group_ = number - group * job_->plan.per_group;
    busy_ = true;
    first_pass_ = true;
  }

  template <class Sink>
  VOXHERD_FUNCTION void end_pass(const Sink& sink) {
    const walk_output& out = walker_.output();
    if (first_pass_) add(out.to.walked, walker_.walked());
    const bool was_counted = walker_.counting() != 0;
    const unsigned counted = walker_.counted_steps() < job_->how.min_total ? 0 : walker_.counted();
    if (!was_counted && counted != 0) {
      first_pass_ = false;
      const walk_output same = out;
      const seed from = walker_.origin();
      walker_.begin(from, walker_.number(), counted, same);
      return;
    }
    if (was_counted) sink(walker_);
    if (was_counted) add(element(out.to.accepted, out.seed_row), 1u);
    if (was_counted) add(element(out.to.accepted_bits, number_in_group_ / 32), 1u << number_in_group_ % 32);
    busy_ = false;
  }

  const track_job* job_;
  walker walker_;
  crossing* crossings_;
  std::uint64_t number_in_group_ = 0;
  bool busy_ = false, first_pass_ = true;
};

/// The number of columns before those of a pair's second mask; 0: there is one mask.
VOXHERD_FUNCTION inline std::uint32_t pair_rows(const field_view& field) {
  return field.pair_columns.columns > 0 ? field.matrix.columns : 0;
}

/// Keys that one streamline may put into each table.
inline std::uint32_t max_visits(const walk_settings& how, std::uint32_t columns) {
  return 2 * static_cast<std::uint32_t>(how.max_points) + columns;
}
/// Crossings of one streamline.
inline std::uint32_t max_crossings(const track_job& job) {
  const std::uint32_t grids = (job.field.matrix.columns > 0 ? 1 : 0) + (job.field.pair_columns.columns > 0 ? 1 : 0);
  return grids * 2 * static_cast<std::uint32_t>(job.how.max_points);
}
/// Keys where the voxels of a matrix are counted too.
inline std::uint32_t max_visits(const track_job& job) { return max_visits(job.how, job.columns) + max_crossings(job); }
inline std::uint32_t max_cells(const walk_settings& how) {
  return how.loop_check ? static_cast<std::uint32_t>(how.max_points) : 1;
}

}  // namespace voxherd::track
