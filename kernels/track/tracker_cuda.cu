#include <algorithm>
#include <vector>

#include "kernels/device/each_cuda.cuh"
#include "kernels/track/backends.hpp"
#include "kernels/track/lane.hpp"
#include "kernels/track/pair_reducer.cuh"
#include "kernels/track/row_kernels.cuh"

namespace voxherd::track {

namespace {

struct shared_queue {
  unsigned long long* taken;
  std::uint64_t first;
  __device__ std::uint64_t next() const { return first + atomicAdd(taken, 1ull); }
};

/// Adds the pairs of a streamline to an array. Where it is too small, `used` says how large it should be.
struct pair_sink {
  crossing* crossings = nullptr;  ///< lists of all threads; null: no pairs are wanted
  std::uint32_t list_size = 0;
  std::uint32_t rows = 0;  ///< of the first of two masks; 0: there is one
  std::uint64_t* keys = nullptr;
  std::uint64_t* steps = nullptr;
  unsigned long long* used = nullptr;
  unsigned long long room = 0;

  __device__ crossing* list(std::size_t thread) const {
    return crossings == nullptr ? nullptr : crossings + thread * list_size;
  }
  __device__ void operator()(const walker& w) const {
    if (crossings == nullptr) return;
    const std::uint64_t pairs = count_pairs(w.output().crossings, w.crossings(), rows);
    if (pairs == 0) return;
    unsigned long long at = atomicAdd(used, static_cast<unsigned long long>(pairs));
    for_each_pair(w.output().crossings, w.crossings(), rows, [&](std::uint64_t key, std::uint32_t length) {
      if (at < room) keys[at] = key, steps[at] = length;
      ++at;
    });
  }
};

/// Each thread draws one streamline after another until none is left.
__global__ void __launch_bounds__(block_threads)
    walk_kernel(const __grid_constant__ track_job job, visit_entry* visits, std::uint32_t visit_entries,
                cell_entry* cells, std::uint32_t cell_entries, unsigned long long* taken, pair_sink pairs) {
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
  lane_walker lane(job, {visits + thread * visit_entries, visit_entries - 1, 0},
                   {cells + thread * cell_entries, cell_entries - 1, 0}, pairs.list(thread));
  shared_queue queue{taken, job.first};
  while (lane.advance(queue, pairs)) {
  }
}

/// One array of counts: in device memory while the kernel runs, then copied to the host.
template <class T>
class count_buffer {
 public:
  T* begin(const T* wanted, std::size_t count, cudaStream_t stream) {
    if (wanted == nullptr || count == 0) return nullptr;
    memory_.reserve(count);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(memory_.data(), 0, count * sizeof(T), stream));
    return memory_.data();
  }
  void fetch(T* to, std::size_t count, cudaStream_t stream) const {
    if (to == nullptr || count == 0) return;
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, memory_.data(), count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  }
  void release() { memory_ = {}; }

 private:
  device_buffer<T> memory_;
};

std::size_t column_voxels(const column_grid& grid) {
  std::size_t voxels = grid.column == nullptr ? 0 : 1;
  for (const std::int32_t n : grid.size) voxels *= static_cast<std::size_t>(n);
  return voxels;
}

std::size_t space_voxels(const seed_space& space) {
  std::size_t voxels = space.voxels == nullptr ? 0 : 1;
  for (const std::int32_t n : space.size) voxels *= static_cast<std::size_t>(n);
  return voxels;
}

class cuda_tracker final : public tracker {
 public:
  explicit cuda_tracker(const track_input& in)
      : in_(in),
        voxels_(copied(in.voxels.data(), in.voxels.size(), stream_)),
        fibres_(copied(in.fibres.data(), in.fibres.size(), stream_)),
        seeds_(copied(in.seeds.data(), in.seeds.size(), stream_)),
        exits_(copied(in.exits.data(), in.exits.size(), stream_)),
        target_begin_(copied(in.target_begin.data(), in.target_begin.size(), stream_)),
        targets_(copied(in.targets.data(), in.targets.size(), stream_)),
        matrix_columns_(copied(in.matrix.column, column_voxels(in.matrix), stream_)),
        pair_columns_(copied(in.pair_columns.column, column_voxels(in.pair_columns), stream_)),
        space_voxels_(copied(in.space.voxels, space_voxels(in.space), stream_)),
        taken_(1),
        visit_entries_(table_entries(max_visits(make_job()))),
        cell_entries_(table_entries(max_cells(in.how))) {
    stream_.wait();
  }

  void track(std::uint64_t first, std::size_t count, const counters& out) override {
    const std::size_t rows = in_.plan.seed_rows(), places = count * in_.places, seeds = count * rows,
                      hits = seeds * in_.columns, words = count * bit_words(in_.plan.per_group);
    track_job job = make_job();
    job.first_group = first;
    job.first = first * in_.plan.per_group;
    job.end = std::min(job.first + count * in_.plan.per_group, in_.plan.streamlines());
    job.out.density = density_.begin(out.density, places, stream_);
    job.out.length = length_.begin(out.length, places, stream_);
    job.out.accepted = accepted_.begin(out.accepted, seeds, stream_);
    job.out.hits = hits_.begin(out.hits, hits, stream_);
    job.out.hit_length = hit_length_.begin(out.hit_length, hits, stream_);
    job.out.walked = walked_.begin(out.walked, count, stream_);
    job.out.directions = directions_.begin(out.directions, places * direction_products, stream_);
    job.out.accepted_bits = accepted_bits_.begin(out.accepted_bits, words, stream_);
    launch(job);
    density_.fetch(out.density, places, stream_);
    length_.fetch(out.length, places, stream_);
    accepted_.fetch(out.accepted, seeds, stream_);
    hits_.fetch(out.hits, hits, stream_);
    hit_length_.fetch(out.hit_length, hits, stream_);
    walked_.fetch(out.walked, count, stream_);
    accepted_bits_.fetch(out.accepted_bits, words, stream_);
    directions_.fetch(out.directions, places * direction_products, stream_);
    stream_.wait();
  }

  void track_rows(std::uint64_t first, std::size_t count, sparse_rows& out) override {
    constexpr std::size_t table_bytes = std::size_t{1} << 29;
    const std::size_t row_bytes = in_.matrix.columns * (sizeof(std::uint32_t) + sizeof(std::uint64_t));
    const std::size_t at_once = std::max<std::size_t>(1, table_bytes / std::max<std::size_t>(1, row_bytes));
    for (std::size_t done = 0; done < count; done += at_once)
      track_some_rows(first + done, std::min(at_once, count - done), out);
  }

  void track_pairs(std::uint64_t group, std::vector<pair_entry>& out) override {
    out.clear();
    const std::uint64_t first = group * in_.plan.per_group;
    track_some_pairs(first, std::min(first + in_.plan.per_group, in_.plan.streamlines()), out);
    reduce_pairs(out);
  }

  void release_memory() override {
    density_.release(), accepted_.release(), hits_.release(), accepted_bits_.release();
    length_.release(), hit_length_.release(), walked_.release(), directions_.release();
    row_cells_.release(), row_length_.release();
    visits_ = {};
    cells_ = {};
    crossings_ = {};
    reducer_ = {};
  }

 private:
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
    if (in_.space.voxels != nullptr) job.field.space.voxels = space_voxels_.data();
    job.how = in_.how;
    job.plan = in_.plan;
    job.seeds = seeds_.data();
    job.columns = in_.columns;
    return job;
  }

  /// Rows that fit a dense table in device memory; only their entries leave the device.
  void track_some_rows(std::uint64_t first, std::size_t count, sparse_rows& out) {
    const std::uint32_t columns = in_.matrix.columns;
    track_job job = make_job();
    job.plan = row_plan(in_.plan);
    job.first_group = first;
    job.first = first * job.plan.per_group;
    job.end = job.first + count * job.plan.per_group;
    constexpr std::uint32_t wanted = 0;
    constexpr std::uint64_t wanted_length = 0;
    job.out.cells = row_cells_.begin(&wanted, count * columns, stream_);
    job.out.cell_length = row_length_.begin(&wanted_length, count * columns, stream_);
    launch(job);

    device_buffer<std::uint32_t> sizes(count);
    launch_items(size_kernel, count, block_threads / 32, {block_threads}, stream_, job.out.cells, count, columns,
                 sizes.data());
    std::vector<std::uint32_t> size(count);
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(size.data(), sizes.data(), count * sizeof(size[0]), cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
    std::vector<std::uint64_t> begin{0};
    for (const std::uint32_t n : size) begin.push_back(begin.back() + n);
    fetch_entries(job, begin, out);
  }

  /// Appends the pairs of streamlines [first, end), in halves while they do not fit.
  void track_some_pairs(std::uint64_t first, std::uint64_t end, std::vector<pair_entry>& out) {
    track_job job = make_job();
    job.first_group = first / in_.plan.per_group;
    job.first = first;
    job.end = end;
    pair_sink sink;
    sink.list_size = max_crossings(job);
    sink.rows = pair_rows(job.field);
    reducer_.reserve(sink.keys, sink.steps, sink.used, sink.room, stream_);
    launch(job, sink);
    const std::uint64_t used = reducer_.used(stream_);
    if (used <= sink.room) {
      reducer_.reduce(used, out, stream_);
      return;
    }
    if (end - first == 1) throw device_out_of_memory("the pairs of one streamline do not fit");
    track_some_pairs(first, first + (end - first) / 2, out);
    track_some_pairs(first + (end - first) / 2, end, out);
  }

  void fetch_entries(const track_job& job, const std::vector<std::uint64_t>& begin, sparse_rows& out) {
    const std::size_t rows = begin.size() - 1, entries = begin.back(), before = out.column.size();
    device_buffer<std::uint64_t> places = copied(begin.data(), begin.size(), stream_);
    count_buffer<std::uint32_t> column, count;
    count_buffer<std::uint64_t> steps;
    out.column.resize(before + entries), out.count.resize(before + entries), out.steps.resize(before + entries);
    std::uint32_t* columns_there = column.begin(out.column.data(), entries, stream_);
    std::uint32_t* counts_there = count.begin(out.count.data(), entries, stream_);
    std::uint64_t* steps_there = steps.begin(out.steps.data(), entries, stream_);
    launch_items(compress_kernel, entries == 0 ? 0 : rows, block_threads / 32, {block_threads}, stream_, job.out.cells,
                 job.out.cell_length, rows, in_.matrix.columns, places.data(), columns_there, counts_there,
                 steps_there);
    column.fetch(out.column.data() + before, entries, stream_);
    count.fetch(out.count.data() + before, entries, stream_);
    steps.fetch(out.steps.data() + before, entries, stream_);
    stream_.wait();
    for (std::size_t i = 1; i < begin.size(); ++i) out.begin.push_back(before + begin[i]);
  }

  void launch(const track_job& job, pair_sink pairs = {}) {
    // Tables of all resident threads; no more than the streamlines need, and at most a gigabyte.
    constexpr std::size_t table_bytes = std::size_t{1} << 30;
    const std::size_t block_bytes =
        block_threads * (visit_entries_ * sizeof(visit_entry) + cell_entries_ * sizeof(cell_entry) +
                         pairs.list_size * sizeof(crossing));
    const std::size_t wanted = (job.end - job.first + block_threads - 1) / block_threads;
    const std::size_t blocks = std::min(
        {resident_blocks(walk_kernel, {block_threads}), wanted, std::max<std::size_t>(1, table_bytes / block_bytes)});
    const std::size_t threads = blocks * block_threads;
    visits_.reserve(threads * visit_entries_);
    cells_.reserve(threads * cell_entries_);
    if (pairs.list_size > 0) {
      crossings_.reserve(threads * pairs.list_size);
      pairs.crossings = crossings_.data();
    }
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(visits_.data(), 0, threads * visit_entries_ * sizeof(visit_entry), stream_));
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(cells_.data(), 0, threads * cell_entries_ * sizeof(cell_entry), stream_));
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(taken_.data(), 0, sizeof(unsigned long long), stream_));
    launch_blocks(walk_kernel, blocks, {block_threads}, stream_, job, visits_.data(), visit_entries_, cells_.data(),
                  cell_entries_, taken_.data(), pairs);
  }

  track_input in_;
  cuda_stream stream_;
  device_buffer<voxel_info> voxels_;
  device_buffer<packed_fibre> fibres_;
  device_buffer<seed> seeds_;
  device_buffer<std::int32_t> matrix_columns_, pair_columns_;
  device_buffer<voxel_info> space_voxels_;
  device_buffer<std::uint32_t> exits_, target_begin_, targets_;
  device_buffer<unsigned long long> taken_;
  std::uint32_t visit_entries_, cell_entries_;
  device_buffer<visit_entry> visits_;
  device_buffer<cell_entry> cells_;
  device_buffer<crossing> crossings_;
  pair_reducer reducer_;
  count_buffer<std::uint32_t> density_, accepted_, hits_, row_cells_, accepted_bits_;
  count_buffer<std::uint64_t> length_, hit_length_, walked_, directions_, row_length_;
};

}  // namespace

std::unique_ptr<tracker> make_tracker_cuda(const track_input& input) { return std::make_unique<cuda_tracker>(input); }

}  // namespace voxherd::track
