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

/// Memory of a preparation on the GPU: blocks of `first_floats` and `second_floats` per voxel, states, the mask and the
/// regions.
class cuda_workshop {
 public:
  cuda_workshop(const cuda_stream& stream, std::span<const std::uint8_t> inside, std::span<const std::uint32_t> regions,
                std::size_t first_floats, std::size_t second_floats)
      : stream_(stream),
        inside_(copied(inside.data(), inside.size(), stream)),
        words_(copied(regions.data(), regions.size(), stream)),
        first_(first_floats * inside.size()),
        second_(second_floats * inside.size()),
        before_(inside.size()),
        after_(inside.size()),
        repaired_(1) {}

  /// Calls `run(machine, workspace)` with a kernel_loader, then with a cuda_machine. Waits for the stream. `measured`:
  /// on the device.
  template <class Run>
  void prepare(const float* measured, cuda_field& to, const Run& run) const {
    VOXHERD_CUDA_CHECK(cudaMemsetAsync(repaired_.data(), 0, sizeof(unsigned), stream_));
    const prepare::workspace work{measured,      inside_.data(), words_.data(),
                                  first_.data(), second_.data(), {before_.data(), after_.data()},
                                  to.values(),   to.facts()};
    kernel_loader loader;
    run(loader, work);
    cuda_machine machine(stream_, repaired_.data());
    begin_.record(stream_);
    run(machine, work);
    end_.record(stream_);
    unsigned counted = 0;
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(&counted, repaired_.data(), sizeof(unsigned), cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
    to.seconds = end_.seconds_since(begin_);
    to.repaired = counted;
  }

 private:
  const cuda_stream& stream_;
  device_buffer<std::uint8_t> inside_;
  device_buffer<std::uint32_t> words_;
  device_buffer<float> first_, second_;
  device_buffer<prepare::tensor_state> before_, after_;
  device_buffer<unsigned> repaired_;
  mutable cuda_event begin_, end_;
};

/// Prepares one field.
template <class Run>
std::unique_ptr<field> make_field_on_gpu(const cuda_stream& stream, const tensor_image& image,
                                         std::span<const std::uint32_t> regions, const prepare::recipe& r,
                                         std::size_t first_floats, std::size_t second_floats, const Run& run) {
  auto made = std::make_unique<cuda_field>(r.size.voxels(), static_cast<std::size_t>(field_floats(r.kind)),
                                           prepare::make_view(image));
  const auto measured = copied(image.tensor.data(), image.tensor.size(), stream);
  cuda_workshop(stream, image.inside, regions, first_floats, second_floats).prepare(measured.data(), *made, run);
  return made;
}

/// Copies the tensors of some voxels.
struct sample_taker {
  const float* tensors;
  const std::uint32_t* chosen;
  float* to;

  __device__ void operator()(std::uint32_t i) const {
    for (std::uint32_t e = 0; e < 6; ++e) to[std::size_t{6} * i + e] = tensors[std::size_t{6} * chosen[i] + e];
  }
};

class cuda_field_maker final : public field_maker {
 public:
  cuda_field_maker(const device& d, const tensor_image& grid, const preparation& settings)
      : grid_{grid.size, grid.axes_mm, grid.origin_mm, {}, grid.inside},
        settings_(settings),
        recipe_(prepare::make_recipe(grid_, {}, settings, field_kind::tensor, false)),
        tensors_(6 * grid.inside.size()),
        work_(stream_, grid_.inside, {}, prepare::first_floats(recipe_), prepare::second_floats(recipe_)),
        made_(grid.inside.size(), static_cast<std::size_t>(field_floats(field_kind::tensor)),
              prepare::make_view(grid)) {
    const std::vector<std::uint32_t> chosen = prepare::unit_voxels(grid.inside);
    chosen_ = copied(chosen.data(), chosen.size(), stream_);
    sample_ = device_buffer<float>(6 * chosen.size());
    host_sample_.resize(6 * chosen.size());
    made_.where = d;
    stream_.wait();
  }

  float* tensors() override { return tensors_.data(); }

  const field& make() override {
    each_on_gpu(stream_, static_cast<std::uint32_t>(chosen_.size()),
                sample_taker{tensors_.data(), chosen_.data(), sample_.data()});
    VOXHERD_CUDA_CHECK(cudaMemcpyAsync(host_sample_.data(), sample_.data(), host_sample_.size() * sizeof(float),
                                       cudaMemcpyDeviceToHost, stream_));
    stream_.wait();
    recipe_ = prepare::make_recipe(grid_, host_sample_, settings_, field_kind::tensor, false);
    work_.prepare(tensors_.data(), made_,
                  [&](auto& machine, const prepare::workspace& w) { prepare::prepare_field(machine, recipe_, w); });
    made_.scale = recipe_.scale;
    return made_;
  }

 private:
  tensor_image grid_;
  preparation settings_;
  prepare::recipe recipe_;
  cuda_stream stream_;
  device_buffer<float> tensors_, sample_;
  device_buffer<std::uint32_t> chosen_;
  std::vector<float> host_sample_;
  cuda_workshop work_;
  cuda_field made_;
};

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

std::unique_ptr<field_maker> make_field_maker_cuda(const device& d, const tensor_image& grid,
                                                   const preparation& settings) {
  return std::make_unique<cuda_field_maker>(d, grid, settings);
}

void copy_from_gpu(void* to, const void* from, std::size_t bytes) {
  VOXHERD_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace voxherd::tensor_field
