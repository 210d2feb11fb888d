#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "kernels/track/lane.hpp"
#include "kernels/track/stamped_table.hpp"
#include "kernels/track/tracker.hpp"

namespace voxherd::track {

namespace {

/// Streamlines that one thread draws in turns, so that the samples of one arrive while the others compute.
constexpr std::size_t lanes_per_thread = 8;

/// The streamlines of a thread, taken from all threads' a few at a time: neighbours read the same voxels.
struct portion_queue {
  static constexpr std::uint64_t portion = 64;
  std::atomic<std::uint64_t>& shared;
  std::uint64_t at = 0, end = 0;

  std::uint64_t next() {
    if (at == end) {
      at = shared.fetch_add(portion, std::memory_order_relaxed);
      end = at + portion;
    }
    return at++;
  }
};

/// All streamlines of a job, for one thread.
struct own_queue {
  std::uint64_t at;
  std::uint64_t next() { return at++; }
};

/// One row of a matrix, dense while its streamlines are drawn.
struct dense_row {
  std::vector<std::uint32_t> cells;
  std::vector<std::uint64_t> length;

  explicit dense_row(std::size_t columns) : cells(columns), length(columns) {}

  /// Adds the row to `rows` and empties it.
  void move_to(sparse_rows& rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] == 0) continue;
      rows.column.push_back(static_cast<std::uint32_t>(i));
      rows.count.push_back(cells[i]);
      rows.steps.push_back(length[i]);
      cells[i] = 0;
      length[i] = 0;
    }
    rows.begin.push_back(rows.column.size());
  }
};

/// Collects pairs, and adds up equal ones whenever their number has doubled.
struct pair_sink {
  std::vector<pair_entry>& entries;
  std::uint32_t rows;  ///< number of rows of the first of two masks; 0: there is one

  template <class Walker>
  void operator()(const Walker& w) const {
    constexpr std::size_t min_entries = std::size_t{1} << 20;
    for_each_pair(w.output().crossings, w.crossings(), rows, [&](std::uint64_t key, std::uint32_t steps) {
      if (entries.size() == entries.capacity() && entries.size() >= min_entries) {
        reduce_pairs(entries);
        entries.reserve(2 * entries.size() + min_entries);
      }
      entries.push_back({key, 1, steps});
    });
  }
};

void append(const sparse_rows& part, sparse_rows& all) {
  const std::uint64_t before = all.column.size();
  for (std::size_t i = 1; i < part.begin.size(); ++i) all.begin.push_back(before + part.begin[i]);
  all.column.insert(all.column.end(), part.column.begin(), part.column.end());
  all.count.insert(all.count.end(), part.count.begin(), part.count.end());
  all.steps.insert(all.steps.end(), part.steps.begin(), part.steps.end());
}

/// Counts of one thread.
class own_counts {
 public:
  own_counts(const counters& wanted, const count_extents& extents) : extents_(extents) {
    for (std::size_t i = 0; i < counters::array_count; ++i)
      if (wanted.array[i] != nullptr) memory_[i].resize((bytes(i) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  }

  counters view() {
    counters c;
    for (std::size_t i = 0; i < counters::array_count; ++i)
      if (!memory_[i].empty()) c.array[i] = memory_[i].data();
    return c;
  }

  void add_to(const counters& all) const {
    for (std::size_t i = 0; i < counters::array_count; ++i) {
      if (memory_[i].empty()) continue;
      if (all_counts::table[i].type == element_type::uint32) {
        add_numbers<std::uint32_t>(i, all);
      } else {
        add_numbers<std::uint64_t>(i, all);
      }
    }
  }

 private:
  std::size_t bytes(std::size_t i) const { return extents_.bytes(all_counts::table[i]); }

  template <class T>
  void add_numbers(std::size_t i, const counters& all) const {
    const T* const own = reinterpret_cast<const T*>(memory_[i].data());
    T* const to = static_cast<T*>(all.array[i]);
    const std::size_t count = extents_.numbers(all_counts::table[i]);
    for (std::size_t k = 0; k < count; ++k) to[k] += own[k];
  }

  count_extents extents_;
  std::array<std::vector<std::uint64_t>, counters::array_count> memory_;
};

void set_zero(const counters& c, const count_extents& extents) {
  for (std::size_t i = 0; i < counters::array_count; ++i)
    if (c.array[i] != nullptr) std::memset(c.array[i], 0, extents.bytes(all_counts::table[i]));
}

class cpu_tracker final : public tracker {
 public:
  cpu_tracker(const device& d, const track_input& in) : in_(in), threads_(d.threads) {}

  void track(std::uint64_t first, std::size_t count, const counters& out, const matrix_parts& parts) override {
    const count_extents extents = make_extents(in_.plan, in_.places, in_.columns);
    for (std::size_t row = 0; row < count; ++row) {
      const counters group = out.row(row, extents);
      set_zero(group, extents);
      if (parts.pairs != nullptr) {
        track_group_pairs(first + row, group, parts.pairs->emplace_back());
      } else if (parts.rows != nullptr) {
        track_group_rows(first + row, group, *parts.rows);
      } else {
        track_group(first + row, group);
      }
    }
  }

  void track_rows(std::uint64_t first, std::size_t count, sparse_rows& out) override {
    draw_rows(make_job(first, row_plan(in_.plan)), count, {}, out);
  }

  void track_pairs(std::uint64_t group, std::vector<pair_entry>& out) override {
    out.clear();
    track_group_pairs(group, {}, out);
  }

  void change_streamlines(const track_input& in) override { in_ = in; }

 private:
  /// `plan`: the run's, or of groups that are rows of a matrix.
  track_job make_job(std::uint64_t group, const group_plan& plan) const {
    track_job job{};
    job.field = host_field(in_);
    job.how = in_.how;
    job.plan = plan;
    job.seeds = in_.seeds.data();
    job.columns = in_.columns;
    job.first_group = group;
    job.first = group * plan.per_group;
    job.end = std::min(job.first + plan.per_group, plan.streamlines());
    job.seed_rows = plan.seed_rows();
    job.first_seed = job.first / plan.per_seed;
    return job;
  }

  /// The rows of `count` seeds, of which the job has the first one. What else is counted is added to `sums`.
  void draw_rows(const track_job& first, std::size_t count, const counters& sums, sparse_rows& out) const {
    std::vector<sparse_rows> rows(count);
#pragma omp parallel num_threads(threads_)
    {
      own_counts own(sums, make_extents(first.plan, in_.places, in_.columns));
      dense_row row(in_.matrix.columns);
#pragma omp for schedule(dynamic)
      for (std::size_t i = 0; i < count; ++i) {
        track_job job = first;
        job.first_seed += i;
        job.first = job.first_seed * in_.plan.per_seed;
        job.end = job.first + in_.plan.per_seed;
        job.first_group = job.first / job.plan.per_group;
        job.out = own.view();
        job.out.set<"cells">(row.cells.data());
        job.out.set<"cell_length">(row.length.data());
        draw(job, own_queue{job.first});
        row.move_to(rows[i]);
      }
#pragma omp critical
      own.add_to(sums);
    }
    for (const sparse_rows& row : rows) append(row, out);
  }

  void track_group_rows(std::uint64_t group, const counters& sums, sparse_rows& out) const {
    const track_job job = make_job(group, in_.plan);
    draw_rows(job, (job.end - job.first) / in_.plan.per_seed, sums, out);
  }

  /// Appends the pairs to `out`, which is empty.
  void track_group_pairs(std::uint64_t group, const counters& sums, std::vector<pair_entry>& out) const {
    const track_job job = make_job(group, in_.plan);
    std::atomic<std::uint64_t> next{job.first};
#pragma omp parallel num_threads(threads_)
    {
      own_counts counts(sums, make_extents(in_.plan, in_.places, in_.columns));
      track_job own_job = job;
      own_job.out = counts.view();
      std::vector<pair_entry> own;
      draw(own_job, portion_queue{next}, pair_sink{own, pair_rows(job.field)}, true);
      reduce_pairs(own);
#pragma omp critical
      {
        counts.add_to(sums);
        out.insert(out.end(), own.begin(), own.end());
      }
    }
    reduce_pairs(out);
  }

  void track_group(std::uint64_t group, const counters& sums) const {
    const track_job job = make_job(group, in_.plan);
    std::atomic<std::uint64_t> next{job.first};
#pragma omp parallel num_threads(threads_)
    {
      own_counts own(sums, make_extents(in_.plan, in_.places, in_.columns));
      track_job own_job = job;
      own_job.out = own.view();
      draw(own_job, portion_queue{next});
#pragma omp critical
      own.add_to(sums);
    }
  }

  /// `wants_crossings`: the sink reads the list of each streamline's crossings.
  template <class Queue, class Sink = no_sink>
  static void draw(const track_job& job, Queue queue, const Sink& sink = {}, bool wants_crossings = false) {
    const field_view& field = job.field;
    if (field.has_special_matrix()) return draw_among<mask_places::special_matrices>(job, queue, sink, wants_crossings);
    if (field.surfaces.cell_begin != nullptr)
      return draw_among<mask_places::surfaces>(job, queue, sink, wants_crossings);
    if (field.space.voxels != nullptr) return draw_among<mask_places::seeds_image>(job, queue, sink, wants_crossings);
    draw_among<mask_places::samples_image>(job, queue, sink, wants_crossings);
  }

  template <mask_places places, class Queue, class Sink>
  static void draw_among(const track_job& job, Queue queue, const Sink& sink, bool wants_crossings) {
    std::vector<table_memory<visit_entry>> visits(lanes_per_thread, table_memory<visit_entry>(max_visits(job)));
    std::vector<table_memory<cell_entry>> cells(lanes_per_thread, table_memory<cell_entry>(max_cells(job.how)));
    const std::size_t crossings = wants_crossings ? max_crossings(job) : 0;
    std::vector<crossing> crossing_memory(lanes_per_thread * crossings);
    std::vector<visit_note> notes(takes_notes(job) ? lanes_per_thread * max_notes : 0);
    std::vector<lane_walker<places>> lanes;
    for (std::size_t i = 0; i < lanes_per_thread; ++i)
      lanes.emplace_back(job, visits[i].table(), cells[i].table(),
                         wants_crossings ? crossing_memory.data() + i * crossings : nullptr,
                         notes.empty() ? nullptr : notes.data() + i * max_notes);
    for (bool any = true; any;) {
      any = false;
      for (lane_walker<places>& lane : lanes) any |= lane.advance(queue, sink);
    }
  }

  track_input in_;
  int threads_;
};

}  // namespace

std::unique_ptr<tracker> make_tracker_cpu(const device& d, const track_input& input) {
  return std::make_unique<cpu_tracker>(d, input);
}

std::unique_ptr<tracker> make_tracker(const device& d, const track_input& input) {
  return d.kind == backend::cuda ? make_tracker_cuda(input) : make_tracker_cpu(d, input);
}

}  // namespace voxherd::track
