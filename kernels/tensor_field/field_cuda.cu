#include "kernels/device/launch.cuh"
#include "kernels/tensor_field/field.hpp"
#include "kernels/tensor_field/prepare_pipeline.hpp"
#include "kernels/tensor_field/prepare_quartic.hpp"

namespace voxherd::tensor_field {

namespace {

__global__ void __launch_bounds__(each_block)
    count_kernel(const prepare::tensor_state* state, std::uint32_t count, unsigned* repaired) {
  const std::uint32_t i = blockIdx.x * each_block + threadIdx.x;
  const int here = __syncthreads_count(i < count && prepare::was_repaired(state[i]));
  if (threadIdx.x == 0 && here > 0) atomicAdd(repaired, static_cast<unsigned>(here));
}

class cuda_machine {
 public:
  static constexpr int lines_at_a_time = 1;
  cuda_machine(cudaStream_t stream, unsigned* repaired) : stream_(stream), repaired_(repaired) {}

  template <class Callable>
  void each(std::uint32_t count, const Callable& callable) const {
    each_on_gpu(stream_, count, callable);
  }

  void count_repaired(const prepare::tensor_state* state, std::uint32_t count) const {
    launch_items(count_kernel, count, each_block, {each_block}, stream_, state, count, repaired_);
  }

 private:
  cudaStream_t stream_;
  unsigned* repaired_;
};

/// Loads the kernels of a preparation without running them: CUDA would otherwise load each at its first launch, within
/// the measured time.
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

/// Calls `run(machine, workspace)` with a kernel_loader, then with a cuda_machine; the workspace's blocks have
/// `first_floats` and `second_floats` per voxel.
template <class Run>
std::unique_ptr<field> make_field_on_gpu(const cuda_stream& stream, const tensor_image& image,
                                         std::span<const std::uint32_t> regions, const prepare::recipe& r,
                                         std::size_t first_floats, std::size_t second_floats, const Run& run) {
  const std::size_t n = r.size.voxels();
  auto made =
      std::make_unique<cuda_field>(n, static_cast<std::size_t>(field_floats(r.kind)), prepare::make_view(image));
  const auto measured = copied(image.tensor.data(), image.tensor.size(), stream);
  const auto inside = copied(image.inside.data(), image.inside.size(), stream);
  const auto words = copied(regions.data(), regions.size(), stream);
  const device_buffer<float> first(first_floats * n), second(second_floats * n);
  const device_buffer<prepare::tensor_state> before(n), after(n);
  const device_buffer<unsigned> repaired(1);
  VOXHERD_CUDA_CHECK(cudaMemsetAsync(repaired.data(), 0, sizeof(unsigned), stream));

  const prepare::workspace work{measured.data(), inside.data(), words.data(),
                                first.data(),    second.data(), {before.data(), after.data()},
                                made->values(),  made->facts()};
  kernel_loader loader;
  run(loader, work);
  cuda_machine machine(stream, repaired.data());
  cuda_event begin, end;
  begin.record(stream);
  run(machine, work);
  end.record(stream);
  unsigned counted = 0;
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&counted, repaired.data(), sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
  stream.wait();
  made->seconds = end.seconds_since(begin);
  made->repaired = counted;
  return made;
}

}  // namespace

std::unique_ptr<field> make_field_cuda(const tensor_image& image, std::span<const std::uint32_t> regions,
                                       const prepare::recipe& r) {
  const cuda_stream stream;
  return make_field_on_gpu(stream, image, regions, r, prepare::first_floats(r), prepare::second_floats(r),
                           [&](auto& machine, const prepare::workspace& w) { prepare::prepare_field(machine, r, w); });
}

std::unique_ptr<field> make_quartic_field_cuda(const tensor_image& image, std::span<const float> quartics,
                                               std::span<const std::uint32_t> regions, const prepare::recipe& r) {
  const cuda_stream stream;
  const auto norms = copied(quartics.data(), quartics.size(), stream);
  return make_field_on_gpu(
      stream, image, regions, r, prepare::quartic_planes, 0,
      [&](auto& machine, const prepare::workspace& w) { prepare::prepare_quartic_field(machine, r, w, norms.data()); });
}

void copy_from_gpu(void* to, const void* from, std::size_t bytes) {
  VOXHERD_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace voxherd::tensor_field
