#include <type_traits>

#include "kernels/device/cuda_check.cuh"
#include "kernels/geodesic/field_backends.hpp"
#include "kernels/geodesic/prepare_pipeline.hpp"

namespace voxherd::geodesic {

namespace {

constexpr unsigned block = 128;

template <class Callable>
__global__ void __launch_bounds__(block) each_kernel(Callable callable, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * block + threadIdx.x;
  if (i < count) callable(i);
}

__global__ void __launch_bounds__(block)
    count_kernel(const prepare::tensor_state* state, std::uint32_t count, unsigned* repaired) {
  const std::uint32_t i = blockIdx.x * block + threadIdx.x;
  const int here = __syncthreads_count(i < count && prepare::was_repaired(state[i]));
  if (threadIdx.x == 0 && here > 0) atomicAdd(repaired, static_cast<unsigned>(here));
}

class cuda_machine {
 public:
  static constexpr int lines_at_a_time = 1;
  cuda_machine(cudaStream_t stream, unsigned* repaired) : stream_(stream), repaired_(repaired) {}

  template <class Callable>
  void each(std::uint32_t count, const Callable& callable) const {
    static_assert(std::is_trivially_copyable_v<Callable>);
    each_kernel<<<(count + block - 1) / block, block, 0, stream_>>>(callable, count);
    VOXHERD_CUDA_CHECK(cudaGetLastError());
  }

  void count_repaired(const prepare::tensor_state* state, std::uint32_t count) const {
    count_kernel<<<(count + block - 1) / block, block, 0, stream_>>>(state, count, repaired_);
    VOXHERD_CUDA_CHECK(cudaGetLastError());
  }

 private:
  cudaStream_t stream_;
  unsigned* repaired_;
};

/// Loads the kernels of a preparation and runs none: CUDA would load each at its first launch, in the time measured.
struct kernel_loader {
  static constexpr int lines_at_a_time = cuda_machine::lines_at_a_time;

  template <class Callable>
  void each(std::uint32_t, const Callable&) const {
    cudaFuncAttributes ignored{};
    VOXHERD_CUDA_CHECK(cudaFuncGetAttributes(&ignored, each_kernel<Callable>));
  }

  void count_repaired(const prepare::tensor_state*, std::uint32_t) const {
    cudaFuncAttributes ignored{};
    VOXHERD_CUDA_CHECK(cudaFuncGetAttributes(&ignored, count_kernel));
  }
};

class cuda_field final : public field {
 public:
  cuda_field(std::size_t voxels, std::size_t floats, const field_view& view)
      : values_(voxels * floats), facts_(voxels), view_(view) {
    view_.values = values_.data();
    view_.facts = facts_.data();
  }

  field_view view() const override { return view_; }
  float* values() { return values_.data(); }
  voxel_facts* facts() { return facts_.data(); }

 private:
  device_buffer<float> values_;
  device_buffer<voxel_facts> facts_;
  field_view view_;
};

class cuda_event {
 public:
  cuda_event() { VOXHERD_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~cuda_event() { cudaEventDestroy(event_); }
  cuda_event(const cuda_event&) = delete;
  cuda_event& operator=(const cuda_event&) = delete;
  void record(cudaStream_t stream) { VOXHERD_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  double seconds_since(const cuda_event& before) const {
    float milliseconds = 0;
    VOXHERD_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, before.event_, event_));
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

template <class T>
device_buffer<T> copied(const T* from, std::size_t count, cudaStream_t stream) {
  device_buffer<T> to(count);
  if (count > 0)
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream));
  return to;
}

}  // namespace

std::unique_ptr<field> make_field_cuda(const device&, const tensor_image& image, std::span<const std::uint32_t> regions,
                                       const prepare::recipe& r) {
  const std::size_t n = r.size.voxels();
  const cuda_stream stream;
  auto made = std::make_unique<cuda_field>(n, static_cast<std::size_t>(floats_of(r.kind)), prepare::make_view(image));
  const auto measured = copied(image.tensor.data(), image.tensor.size(), stream);
  const auto inside = copied(image.inside.data(), image.inside.size(), stream);
  const auto words = copied(regions.data(), regions.size(), stream);
  const device_buffer<float> first(prepare::first_floats(r) * n), second(prepare::second_floats(r) * n);
  const device_buffer<prepare::tensor_state> before(n), after(n);
  const device_buffer<unsigned> repaired(1);
  VOXHERD_CUDA_CHECK(cudaMemsetAsync(repaired.data(), 0, sizeof(unsigned), stream));

  const prepare::workspace work{measured.data(), inside.data(), words.data(),
                                first.data(),    second.data(), {before.data(), after.data()},
                                made->values(),  made->facts()};
  kernel_loader loader;
  prepare::prepare_field(loader, r, work);
  cuda_machine machine(stream, repaired.data());
  cuda_event begin, end;
  begin.record(stream);
  prepare::prepare_field(machine, r, work);
  end.record(stream);
  unsigned counted = 0;
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&counted, repaired.data(), sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
  stream.wait();
  made->seconds = end.seconds_since(begin);
  made->repaired = counted;
  return made;
}

void copy_from_gpu(void* to, const void* from, std::size_t bytes) {
  VOXHERD_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace voxherd::geodesic
