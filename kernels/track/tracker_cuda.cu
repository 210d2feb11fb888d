#include <algorithm>

#include "kernels/device/each_cuda.cuh"
#include "kernels/track/backends.hpp"
#include "kernels/track/lane.hpp"

namespace voxherd::track {

namespace {

constexpr unsigned block_threads = 128;

struct shared_queue {
  unsigned long long* taken;
  std::uint64_t first;
  __device__ std::uint64_t next() const { return first + atomicAdd(taken, 1ull); }
};

/// Each thread draws one streamline after another until none is left.
__global__ void __launch_bounds__(block_threads)
    walk_kernel(const __grid_constant__ track_job job, visit_entry* visits, std::uint32_t visit_entries,
                cell_entry* cells, std::uint32_t cell_entries, unsigned long long* taken) {
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
  lane_walker lane(job, {visits + thread * visit_entries, visit_entries - 1, 0},
                   {cells + thread * cell_entries, cell_entries - 1, 0});
  shared_queue queue{taken, job.first};
  while (lane.advance(queue)) {
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
        taken_(1),
        visit_entries_(table_entries(max_visits(in.how, in.columns))),
        cell_entries_(table_entries(max_cells(in.how))) {
    stream_.wait();
  }

  void track(std::uint64_t first, std::size_t count, const counters& out) override {
    const std::size_t rows = in_.plan.seed_rows(), places = count * in_.places, seeds = count * rows,
                      hits = seeds * in_.columns;
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
    launch(job);
    density_.fetch(out.density, places, stream_);
    length_.fetch(out.length, places, stream_);
    accepted_.fetch(out.accepted, seeds, stream_);
    hits_.fetch(out.hits, hits, stream_);
    hit_length_.fetch(out.hit_length, hits, stream_);
    walked_.fetch(out.walked, count, stream_);
    directions_.fetch(out.directions, places * direction_products, stream_);
    stream_.wait();
  }

  void release_memory() override {
    density_.release(), accepted_.release(), hits_.release();
    length_.release(), hit_length_.release(), walked_.release(), directions_.release();
    visits_ = {};
    cells_ = {};
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
    job.how = in_.how;
    job.plan = in_.plan;
    job.seeds = seeds_.data();
    job.columns = in_.columns;
    return job;
  }

  void launch(const track_job& job) {
    // Tables of all resident threads; no more than the streamlines need, and at most a gigabyte.
    constexpr std::size_t table_bytes = std::size_t{1} << 30;
    const std::size_t block_bytes =
        block_threads * (visit_entries_ * sizeof(visit_entry) + cell_entries_ * sizeof(cell_entry));
    const std::size_t wanted = (job.end - job.first + block_threads - 1) / block_threads;
    const std::size_t blocks = std::min(
        {resident_blocks(walk_kernel, {block_threads}), wanted, std::max<std::size_t>(1, table_bytes / block_bytes)});
    const std::size_t threads = blocks * block_threads;
    visits_.reserve(threads * visit_entries_);
    cells_.reserve(threads * cell_entries_);
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(visits_.data(), 0, threads * visit_entries_ * sizeof(visit_entry), stream_));
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(cells_.data(), 0, threads * cell_entries_ * sizeof(cell_entry), stream_));
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(taken_.data(), 0, sizeof(unsigned long long), stream_));
    launch_blocks(walk_kernel, blocks, {block_threads}, stream_, job, visits_.data(), visit_entries_, cells_.data(),
                  cell_entries_, taken_.data());
  }

  track_input in_;
  cuda_stream stream_;
  device_buffer<voxel_info> voxels_;
  device_buffer<packed_fibre> fibres_;
  device_buffer<seed> seeds_;
  device_buffer<std::uint32_t> exits_, target_begin_, targets_;
  device_buffer<unsigned long long> taken_;
  std::uint32_t visit_entries_, cell_entries_;
  device_buffer<visit_entry> visits_;
  device_buffer<cell_entry> cells_;
  count_buffer<std::uint32_t> density_, accepted_, hits_;
  count_buffer<std::uint64_t> length_, hit_length_, walked_, directions_;
};

}  // namespace

std::unique_ptr<tracker> make_tracker_cuda(const track_input& input) { return std::make_unique<cuda_tracker>(input); }

}  // namespace voxherd::track
