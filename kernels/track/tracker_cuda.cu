#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "kernels/device/large_copy.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/track/field.hpp"
#include "kernels/track/pairs.cuh"
#include "kernels/track/tracker.hpp"
#include "kernels/track/walk_kernel.cuh"

namespace voxherd::track {

namespace {

/// One array of numbers: in device memory while the kernel runs, then copied to the host.
class count_buffer {
 public:
  /// Zeros in device memory.
  void* begin(std::size_t bytes, cudaStream_t stream) {
    memory_.reserve(bytes);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(memory_.data(), 0, bytes, stream));
    return memory_.data();
  }
  template <class T>
  T* begin(std::size_t count, cudaStream_t stream) {
    return count == 0 ? nullptr : static_cast<T*>(begin(count * sizeof(T), stream));
  }
  void fetch(void* to, std::size_t bytes, cudaStream_t stream) const {
    if (bytes > 0) VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, memory_.data(), bytes, cudaMemcpyDeviceToHost, stream));
  }
  void release() { memory_ = {}; }

 private:
  device_buffer<std::byte> memory_;
};

/// The arrays of the tallies.
class count_buffers {
 public:
  /// Those that are wanted, for `count` groups.
  counters begin(const counters& wanted, std::size_t count, const count_extents& extents, cudaStream_t stream) {
    counters c;
    for (std::size_t i = 0; i < counters::array_count; ++i) {
      const std::size_t bytes = count * extents.bytes(all_counts::table[i]);
      if (wanted.array[i] != nullptr && bytes > 0) c.array[i] = arrays_[i].begin(bytes, stream);
    }
    return c;
  }
  void fetch(const counters& to, std::size_t count, const count_extents& extents, cudaStream_t stream) const {
    for (std::size_t i = 0; i < counters::array_count; ++i)
      if (to.array[i] != nullptr) arrays_[i].fetch(to.array[i], count * extents.bytes(all_counts::table[i]), stream);
  }
  void release() {
    for (count_buffer& array : arrays_) array.release();
  }

 private:
  std::array<count_buffer, counters::array_count> arrays_;
};

std::size_t column_voxels(const column_grid& grid) {
  std::size_t voxels = grid.column == nullptr ? 0 : 1;
  for (const std::int32_t n : grid.size) voxels *= static_cast<std::size_t>(n);
  return voxels;
}

/// Column of each vertex, of as many as the surfaces have.
std::size_t column_vertices(const column_grid& grid, const track_input& in) {
  return grid.vertex_column == nullptr ? 0 : in.surfaces.vertices.size() / 3;
}

/// Surfaces in device memory.
class device_surfaces {
 public:
  device_surfaces(const surface_input& in, cudaStream_t stream)
      : cubes_(copied(in.cubes.data(), in.cubes.size(), stream)),
        cell_begin_(copied(in.cell_begin.data(), in.cell_begin.size(), stream)),
        targets_(copied(in.targets.data(), in.targets.size(), stream)),
        cell_triangles_(copied(in.cell_triangles.data(), in.cell_triangles.size(), stream)),
        triangles_(copied(in.triangles.data(), in.triangles.size(), stream)),
        vertices_(copied(in.vertices.data(), in.vertices.size(), stream)),
        uses_(copied(in.uses.data(), in.uses.size(), stream)) {}

  /// Replaces the arrays of a view by those in device memory.
  void move(surface_view& view) const {
    if (view.cell_begin == nullptr) return;
    view.cubes = cubes_.data();
    view.cell_begin = cell_begin_.data(), view.cell_triangles = cell_triangles_.data();
    view.targets = targets_.data(), view.triangles = triangles_.data();
    view.vertices = vertices_.data(), view.uses = uses_.data();
  }

 private:
  device_buffer<std::uint64_t> cubes_;
  device_buffer<std::uint32_t> cell_begin_, targets_;
  device_buffer<near_triangle> cell_triangles_;
  device_buffer<surface_triangle> triangles_;
  device_buffer<float> vertices_;
  device_buffer<surface_use> uses_;
};

std::size_t space_voxels(const seed_space& space) {
  std::size_t voxels = space.voxels == nullptr ? 0 : 1;
  for (const std::int32_t n : space.size) voxels *= static_cast<std::size_t>(n);
  return voxels;
}

std::size_t field_points(const displacement_field& field) {
  std::size_t points = field.values == nullptr ? 0 : 1;
  for (const std::int32_t n : field.size) points *= static_cast<std::size_t>(n);
  return points;
}

class cuda_tracker final : public tracker {
 public:
  explicit cuda_tracker(const track_input& in)
      : in_(in),
        voxels_(copied(in.voxels.data(), in.voxels.size(), stream_)),
        fibres_(copied_large_array(in.fibres.data(), in.fibres.size())),
        seeds_(copied(in.seeds.data(), in.seeds.size(), stream_)),
        exits_(copied(in.exits.data(), in.exits.size(), stream_)),
        target_begin_(copied(in.target_begin.data(), in.target_begin.size(), stream_)),
        targets_(copied(in.targets.data(), in.targets.size(), stream_)),
        matrix_columns_(copied(in.matrix.column, column_voxels(in.matrix), stream_)),
        pair_columns_(copied(in.pair_columns.column, column_voxels(in.pair_columns), stream_)),
        matrix_vertices_(copied(in.matrix.vertex_column, column_vertices(in.matrix, in), stream_)),
        pair_vertices_(copied(in.pair_columns.vertex_column, column_vertices(in.pair_columns, in), stream_)),
        space_voxels_(copied(in.space.voxels, space_voxels(in.space), stream_)),
        to_seeds_(copied(in.space.to_seeds.field.values, field_points(in.space.to_seeds.field), stream_)),
        to_samples_(copied(in.space.to_samples.field.values, field_points(in.space.to_samples.field), stream_)),
        surfaces_(in.surfaces, stream_),
        taken_(1),
        full_(1),
        visit_entries_(table_entries(max_visits(make_job(), max_vertices_))),
        cell_entries_(table_entries(max_cells(in.how))) {
    stream_.wait();
  }

  void track(std::uint64_t first, std::size_t count, const counters& out, const matrix_parts& parts) override {
    const std::size_t at_once = groups_at_once(count, parts);
    for (std::size_t done = 0; done < count; done += at_once)
      track_some(first + done, std::min(at_once, count - done), out.row(done, extents()), parts);
  }

  void track_rows(std::uint64_t first, std::size_t count, sparse_rows& out) override {
    const std::size_t at_once = rows_at_once();
    for (std::size_t done = 0; done < count; done += at_once)
      track_some_rows(first + done, std::min(at_once, count - done), out);
  }

  void track_pairs(std::uint64_t group, std::vector<pair_entry>& out) override {
    track_job job = make_job();
    set_groups(job, group, 1);
    while (!launch_pairs(job)) {
    }
    pairs_.fetch(out, stream_);
  }

  void change_streamlines(const track_input& in) override {
    // The masks are in the image of the seeds.
    if (in.space.voxels == nullptr) {
      replace(voxels_, in.voxels.data(), in.voxels.size());
    } else {
      replace(space_voxels_, in.space.voxels, space_voxels(in.space));
    }
    replace(seeds_, in.seeds.data(), in.seeds.size());
    in_ = in;
    visit_entries_ = table_entries(max_visits(make_job(), max_vertices_));
    cell_entries_ = table_entries(max_cells(in.how));
    stream_.wait();
  }

  void release_memory() override {
    counts_.release();
    row_cells_.release(), row_length_.release();
    entry_column_.release(), entry_count_.release(), entry_steps_.release();
    row_sizes_ = {};
    row_begin_ = {};
    visits_ = {};
    cells_ = {};
    crossings_ = {};
    pairs_ = {};
  }

 private:
  template <class T>
  void replace(device_buffer<T>& buffer, const T* from, std::size_t count) {
    buffer.reserve(count);
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(buffer.data(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }

  track_job make_job() const {
    track_job job{};
    job.field = host_field(in_);
    job.field.voxels = voxels_.data();
    job.field.fibres = fibres_.data();
    if (!in_.exits.empty()) job.field.exits = exits_.data();
    if (!in_.target_begin.empty()) job.field.target_begin = target_begin_.data();
    if (!in_.targets.empty()) job.field.targets = targets_.data();
    job.field.matrix.column = matrix_columns_.data();
    job.field.pair_columns.column = pair_columns_.data();
    if (in_.matrix.vertex_column != nullptr) job.field.matrix.vertex_column = matrix_vertices_.data();
    if (in_.pair_columns.vertex_column != nullptr) job.field.pair_columns.vertex_column = pair_vertices_.data();
    if (in_.space.voxels != nullptr) job.field.space.voxels = space_voxels_.data();
    if (in_.space.to_seeds.field.values != nullptr) job.field.space.to_seeds.field.values = to_seeds_.data();
    if (in_.space.to_samples.field.values != nullptr) job.field.space.to_samples.field.values = to_samples_.data();
    surfaces_.move(job.field.surfaces);
    job.how = in_.how;
    job.plan = in_.plan;
    job.seeds = seeds_.data();
    job.columns = in_.columns;
    job.seed_rows = in_.plan.seed_rows();
    return job;
  }

  count_extents extents() const { return make_extents(in_.plan, in_.places, in_.columns); }

  /// Rows of a dense table in device memory.
  std::size_t rows_at_once() const {
    constexpr std::size_t table_bytes = std::size_t{1} << 30;
    const std::size_t row_bytes = in_.matrix.columns * (sizeof(std::uint32_t) + sizeof(std::uint64_t));
    return std::max<std::size_t>(1, table_bytes / std::max<std::size_t>(1, row_bytes));
  }

  std::size_t groups_at_once(std::size_t count, const matrix_parts& parts) const {
    if (parts.pairs != nullptr) return 1;
    if (parts.rows == nullptr) return std::max<std::size_t>(1, count);
    return std::max<std::size_t>(1, rows_at_once() / (in_.plan.per_group / in_.plan.per_seed));
  }

  /// Counters, and parts of matrices for which the memory is large enough.
  void track_some(std::uint64_t first, std::size_t count, const counters& out, const matrix_parts& parts) {
    track_job job = make_job();
    set_groups(job, first, count);
    job.out = counts_.begin(out, count, extents(), stream_);
    const std::size_t matrix_rows = parts.rows == nullptr ? 0 : (job.end - job.first) / in_.plan.per_seed;
    if (matrix_rows > 0) begin_rows(job, matrix_rows);
    if (parts.pairs != nullptr) {
      if (!launch_pairs(job)) return track_some(first, count, out, parts);
      pairs_.fetch(parts.pairs->emplace_back(), stream_);
    } else if (!launch(job)) {
      return track_some(first, count, out, parts);
    }
    if (matrix_rows > 0) fetch_rows(job, matrix_rows, *parts.rows);
    counts_.fetch(out, count, extents(), stream_);
    stream_.wait();
  }

  /// The streamlines of groups [first, first + count) of the job's plan.
  static void set_groups(track_job& job, std::uint64_t first, std::size_t count) {
    job.seed_rows = job.plan.seed_rows();
    job.first_group = first;
    job.first = first * job.plan.per_group;
    job.end = std::min(job.first + count * job.plan.per_group, job.plan.streamlines());
    job.first_seed = job.first / job.plan.per_seed;
  }

  /// Rows that fit a dense table in device memory; only their entries leave the device.
  void track_some_rows(std::uint64_t first, std::size_t count, sparse_rows& out) {
    track_job job = make_job();
    job.plan = row_plan(in_.plan);
    set_groups(job, first, count);
    do begin_rows(job, count);
    while (!launch(job));
    fetch_rows(job, count, out);
  }

  void begin_rows(track_job& job, std::size_t count) {
    job.out.set<"cells">(row_cells_.begin<std::uint32_t>(count * in_.matrix.columns, stream_));
    job.out.set<"cell_length">(row_length_.begin<std::uint64_t>(count * in_.matrix.columns, stream_));
  }

  void fetch_rows(const track_job& job, std::size_t count, sparse_rows& out) {
    const std::uint32_t columns = in_.matrix.columns;
    row_sizes_.reserve(count);
    launch_items(size_kernel, count, block_threads / 32, {block_threads}, stream_, job.out.values<"cells">(), count,
                 columns, row_sizes_.data());
    std::vector<std::uint32_t> size(count);
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(size.data(), row_sizes_.data(), count * sizeof(size[0]), cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
    std::vector<std::uint64_t> begin{0};
    for (const std::uint32_t n : size) begin.push_back(begin.back() + n);
    fetch_entries(job, begin, out);
  }

  /// Adds up the pairs of a job's streamlines, whose counters are then right. Returns false as launch().
  bool launch_pairs(const track_job& job) {
    pairs_.begin(pair_rows(job.field), in_.matrix.columns + in_.pair_columns.columns,
                 2 * static_cast<std::uint32_t>(in_.how.max_points));
    return launch_pairs_in_parts(job);
  }

  bool launch_pairs_in_parts(const track_job& job) {
    track_job part = job;
    for (; part.first < job.end; part.first = part.end) {
      part.end = part.first + std::min(job.end - part.first, pair_streamlines_);
      if (!launch_some_pairs(part)) return false;
    }
    return true;
  }

  bool launch_some_pairs(const track_job& job) {
    const std::uint64_t streamlines = job.end - job.first;
    // Each is a key of the table.
    const std::uint32_t list_size = std::min(max_crossings(job), visit_entries_ / 2 + 1);
    if (!launch(job, pairs_.begin_launch(streamlines, list_size, stream_))) return false;
    const std::uint64_t parts = pairs_.end_launch(stream_);
    if (parts == 1) return true;
    if (streamlines == 1) throw device_out_of_memory("what one streamline visits does not fit");
    pair_streamlines_ = std::max<std::uint64_t>(1, streamlines / parts);
    track_job again = job;
    again.out = {};  // has been counted
    return launch_pairs_in_parts(again);
  }

  void fetch_entries(const track_job& job, const std::vector<std::uint64_t>& begin, sparse_rows& out) {
    const std::size_t rows = begin.size() - 1, entries = begin.back(), before = out.column.size();
    replace(row_begin_, begin.data(), begin.size());
    out.column.resize(before + entries), out.count.resize(before + entries), out.steps.resize(before + entries);
    auto* columns_there = entry_column_.begin<std::uint32_t>(entries, stream_);
    auto* counts_there = entry_count_.begin<std::uint32_t>(entries, stream_);
    auto* steps_there = entry_steps_.begin<std::uint64_t>(entries, stream_);
    launch_items(compress_kernel, entries == 0 ? 0 : rows, block_threads / 32, {block_threads}, stream_,
                 job.out.values<"cells">(), job.out.values<"cell_length">(), rows, in_.matrix.columns,
                 row_begin_.data(), columns_there, counts_there, steps_there);
    entry_column_.fetch(out.column.data() + before, entries * sizeof(std::uint32_t), stream_);
    entry_count_.fetch(out.count.data() + before, entries * sizeof(std::uint32_t), stream_);
    entry_steps_.fetch(out.steps.data() + before, entries * sizeof(std::uint64_t), stream_);
    stream_.wait();
    for (std::size_t i = 1; i < begin.size(); ++i) out.begin.push_back(before + begin[i]);
  }

  /// Returns false if a streamline touches more vertices than its table has room for: what was counted is wrong, and
  /// the next launch has larger tables.
  bool launch(const track_job& job, list_sink pairs = {}) {
    const std::uint64_t streamlines = job.end - job.first;
    const std::size_t wanted = (streamlines + block_threads - 1) / block_threads;
    const std::size_t blocks = std::min(max_blocks(pairs.own_size), wanted), threads = blocks * block_threads;
    thread_tables<visit_entry> visits = visits_.reserve(threads, visit_entries_, streamlines, stream_);
    const bool may_be_full = table_entries(max_visits(job)) > visit_entries_;
    if (may_be_full) {
      visits.full = full_.data();
      VOXHERD_CUDA_CHECK(cudaMemsetAsync(full_.data(), 0, sizeof(std::uint32_t), stream_));
    }
    const thread_tables<cell_entry> cells = cells_.reserve(threads, cell_entries_, streamlines, stream_);
    if (pairs.own_size > 0) {
      crossings_.reserve(threads * pairs.own_size);
      pairs.own = crossings_.data();
    }
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(taken_.data(), 0, sizeof(unsigned long long), stream_));
    if (takes_notes(job)) notes_.reserve(threads * max_notes);
    launch_blocks(choose_walk_kernel(job), blocks, {block_threads}, stream_, job, visits, cells,
                  takes_notes(job) ? notes_.data() : nullptr, taken_.data(), pairs);
    return !may_be_full || had_room(job);
  }

  bool had_room(const track_job& job) {
    std::uint32_t full = 0;
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&full, full_.data(), sizeof full, cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
    if (full == 0) return true;
    max_vertices_ *= 8;
    visit_entries_ = table_entries(max_visits(job, max_vertices_));
    return false;
  }

  /// The blocks that the device runs at the same time; fewer if their tables and lists need more than a quarter of the
  /// memory that was free at the first launch.
  std::size_t max_blocks(std::uint32_t list_size) {
    if (table_bytes_ == 0) {
      std::size_t free = 0, all = 0;
      VOXHERD_CUDA_CHECK(cudaMemGetInfo(&free, &all));
      table_bytes_ = std::max<std::size_t>(1, free / 4);
    }
    const std::size_t block_bytes =
        block_threads * (device_tables<visit_entry>::bytes_per_thread(visit_entries_) +
                         device_tables<cell_entry>::bytes_per_thread(cell_entries_) + list_size * sizeof(crossing) +
                         (in_.how.has_conditions() ? max_notes * sizeof(visit_note) : 0));
    return std::min(resident_blocks(choose_walk_kernel(make_job()), {block_threads}),
                    std::max<std::size_t>(1, table_bytes_ / block_bytes));
  }

  track_input in_;
  cuda_stream stream_;
  device_buffer<voxel_info> voxels_;
  device_buffer<packed_fibre> fibres_;
  device_buffer<seed> seeds_;
  device_buffer<std::int32_t> matrix_columns_, pair_columns_, matrix_vertices_, pair_vertices_;
  device_buffer<voxel_info> space_voxels_;
  device_buffer<displacement> to_seeds_, to_samples_;
  device_surfaces surfaces_;
  device_buffer<std::uint32_t> exits_, target_begin_, targets_;
  device_buffer<unsigned long long> taken_;
  device_buffer<std::uint32_t> full_;
  std::uint32_t max_vertices_ = 1024;  ///< of a streamline, for which its table has room
  std::uint32_t visit_entries_, cell_entries_;
  device_tables<visit_entry> visits_;
  device_tables<cell_entry> cells_;
  std::size_t table_bytes_ = 0;  ///< maximum for the tables; 0: not known yet
  device_buffer<crossing> crossings_;
  device_buffer<visit_note> notes_;
  pair_adder pairs_;
  std::uint64_t pair_streamlines_ = std::uint64_t{1} << 21;  ///< of a launch, whose lists fit in memory
  count_buffers counts_;
  count_buffer row_cells_, row_length_;
  device_buffer<std::uint32_t> row_sizes_;
  device_buffer<std::uint64_t> row_begin_;
  count_buffer entry_column_, entry_count_, entry_steps_;  ///< entries of rows
};

}  // namespace

std::unique_ptr<tracker> make_tracker_cuda(const track_input& input) { return std::make_unique<cuda_tracker>(input); }

}  // namespace voxherd::track
