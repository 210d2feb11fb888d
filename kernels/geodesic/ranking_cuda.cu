#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/device/launch.cuh"
#include "kernels/geodesic/pair_work.hpp"

namespace voxherd::geodesic {

namespace {

constexpr unsigned block = 256;

template <class T>
device_buffer<T> uploaded(const T* from, std::size_t count, cudaStream_t stream) {
  device_buffer<T> on_device(count);
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(on_device.data(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream));
  return on_device;
}

/// For results that a kernel writes in part: padding, and lists shorter than their place.
template <class T>
device_buffer<T> zeroed(std::size_t count, cudaStream_t stream) {
  device_buffer<T> on_device(count);
  VOXHERD_CUDA_CHECK(cudaMemsetAsync(on_device.data(), 0, count * sizeof(T), stream));
  return on_device;
}

template <class T>
void fetch(T* to, const device_buffer<T>& from, std::size_t count, cudaStream_t stream) {
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, from.data(), count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  VOXHERD_CUDA_CHECK(cudaStreamSynchronize(stream));
}

__global__ void number_places(std::uint32_t* places, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) places[i] = static_cast<std::uint32_t>(i);
}

__global__ void make_keys(const std::uint32_t* places, const std::uint32_t* pair, const float* measure,
                          std::uint64_t* key, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) key[i] = rank_key(pair[places[i]], measure[places[i]]);
}

/// Keys and their indices, each with the second buffer that a radix sort needs.
class place_sorter {
 public:
  place_sorter(std::size_t count, cudaStream_t stream)
      : count_(count), stream_(stream), key_a_(count), key_b_(count), place_a_(count), place_b_(count) {
    launch_items(number_places, count, block, {block}, stream, places(), count);
  }

  std::uint64_t* keys() { return keys_.Current(); }
  std::uint32_t* places() { return places_.Current(); }

  /// Sorts by the low `bits` of the keys. Stable.
  void sort(int bits) {
    const auto run = [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys_, places_, static_cast<std::int64_t>(count_), 0, bits,
                                             stream_);
    };
    std::size_t bytes = 0;
    VOXHERD_CUDA_CHECK(run(nullptr, bytes));
    scratch_.reserve(std::max<std::size_t>(bytes, 1));
    VOXHERD_CUDA_CHECK(run(scratch_.data(), bytes));
  }

 private:
  std::size_t count_;
  cudaStream_t stream_;
  device_buffer<std::uint64_t> key_a_, key_b_;
  device_buffer<std::uint32_t> place_a_, place_b_;
  cub::DoubleBuffer<std::uint64_t> keys_{key_a_.data(), key_b_.data()};
  cub::DoubleBuffer<std::uint32_t> places_{place_a_.data(), place_b_.data()};
  device_buffer<unsigned char> scratch_;
};

__global__ void summarise_kernel(const pair_range* ranges, const std::uint32_t* order, const float* measure,
                                 const float* length_mm, pair_summary* out) {
  __shared__ share_sums sums[shares];
  const pair_range range = ranges[blockIdx.x];
  sums[threadIdx.x] = sum_share(range, threadIdx.x, order, measure, length_mm);
  __syncwarp();
  if (threadIdx.x == 0) out[blockIdx.x] = summarise_pair(range, sums, measure[order[range.first]]);
}

__global__ void centre_kernel(const float* sketches, float* means, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float mean[3];
  mean_point(sketches + i * sketch_floats, mean);
  for (std::size_t k = 0; k < 3; ++k) means[3 * i + k] = mean[k];
}

/// A block as a team, one candidate per thread.
struct block_team {
  std::uint32_t* least;  ///< shared by the block

  __device__ static std::uint32_t width() { return blockDim.x; }
  __device__ static std::uint32_t lane() { return threadIdx.x; }

  /// The first lane that is open, or width(). Also makes earlier writes of lanes visible to all.
  __device__ std::uint32_t first(bool open) const {
    if (threadIdx.x == 0) *least = blockDim.x;
    __syncthreads();
    const unsigned votes = __ballot_sync(0xffffffffu, open);
    if (votes != 0 && threadIdx.x % 32 == 0) atomicMin(least, threadIdx.x + static_cast<unsigned>(__ffs(votes)) - 1u);
    __syncthreads();
    const std::uint32_t found = *least;
    __syncthreads();
    return found;
  }
};

__global__ void __launch_bounds__(block)
    distinct_kernel(distinct_picker pick, const pair_range* ranges, std::uint32_t* kept, std::uint32_t* counts) {
  __shared__ std::uint32_t least;
  block_team team{&least};
  const pair_range range = ranges[blockIdx.x];
  const std::uint32_t count = pick(team, range, kept + range.first);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

}  // namespace

std::vector<std::uint32_t> ranked_cuda(const candidates& c) {
  const std::size_t n = c.size();
  cuda_stream stream;
  place_sorter sorter(n, stream);
  // The second sort is stable, so fibres with equal keys stay in the order of the first.
  if (!std::is_sorted(c.fibre.begin(), c.fibre.end())) {
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(sorter.keys(), c.fibre.data(), n * sizeof(std::uint64_t), cudaMemcpyHostToDevice, stream));
    sorter.sort(std::bit_width(*std::max_element(c.fibre.begin(), c.fibre.end())));
  }
  const auto pair = uploaded(c.pair.data(), n, stream);
  const auto measure = uploaded(c.measure.data(), n, stream);
  launch_items(make_keys, n, block, {block}, stream, sorter.places(), pair.data(), measure.data(), sorter.keys(), n);
  sorter.sort(32 + std::bit_width(*std::max_element(c.pair.begin(), c.pair.end())));

  std::vector<std::uint32_t> order(n);
  VOXHERD_CUDA_CHECK(
      cudaMemcpyAsync(order.data(), sorter.places(), n * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream));
  stream.wait();
  return order;
}

void summarise_cuda(const candidates& c, std::span<const std::uint32_t> order, std::span<const pair_range> ranges,
                    std::span<pair_summary> out) {
  cuda_stream stream;
  const auto places = uploaded(order.data(), order.size(), stream);
  const auto measure = uploaded(c.measure.data(), c.size(), stream);
  const auto length_mm = uploaded(c.length_mm.data(), c.size(), stream);
  const auto range = uploaded(ranges.data(), ranges.size(), stream);
  const auto on_device = zeroed<pair_summary>(ranges.size(), stream);
  launch_blocks(summarise_kernel, ranges.size(), {shares}, stream, range.data(), places.data(), measure.data(),
                length_mm.data(), on_device.data());
  std::vector<pair_summary> found(ranges.size());
  fetch(found.data(), on_device, found.size(), stream);
  for (std::size_t i = 0; i < ranges.size(); ++i) out[ranges[i].pair] = found[i];
}

picks distinct_cuda(std::span<const float> sketches, std::span<const pair_range> ranges, std::uint32_t top,
                    double distance_mm) {
  const std::size_t count = ranges.back().last;
  cuda_stream stream;
  const auto points = uploaded(sketches.data(), sketches.size(), stream);
  const auto range = uploaded(ranges.data(), ranges.size(), stream);
  const device_buffer<float> means(3 * count);
  const auto kept = zeroed<std::uint32_t>(count, stream);
  const device_buffer<std::uint32_t> counts(ranges.size());
  launch_items(centre_kernel, count, block, {block}, stream, points.data(), means.data(), count);
  const distinct_picker pick(fibre_nearness(distance_mm), points.data(), means.data(), top);
  launch_blocks(distinct_kernel, ranges.size(), {block}, stream, pick, range.data(), kept.data(), counts.data());
  picks p{std::vector<std::uint32_t>(count), std::vector<std::uint32_t>(ranges.size())};
  fetch(p.kept.data(), kept, count, stream);
  fetch(p.counts.data(), counts, ranges.size(), stream);
  return p;
}

}  // namespace voxherd::geodesic
