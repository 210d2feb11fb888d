#include <algorithm>

#include "bench/geodesic_bytes.hpp"
#include "bench/geodesic_bytes_reader.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/output_buffers.cuh"
#include "kernels/geodesic/cuda_launch.cuh"
#include "kernels/geodesic/paper/texture_field.cuh"

namespace voxherd::bench {

namespace {

using namespace geodesic;

/// geodesic::texture_reader that reads `Quads` of the six textures.
template <int Quads>
class partial_texture_reader {
 public:
  using number = float;

  VOXHERD_FUNCTION explicit partial_texture_reader(const trace_job& job) : textures_(job) {}
  VOXHERD_FUNCTION const field_view& field() const { return textures_.field(); }

  template <int Channels>
  VOXHERD_FUNCTION void values(const place<float>& p, float (&out)[Channels]) const {
    constexpr int read = Channels < 4 * Quads ? Channels : 4 * Quads;
    float some[read];
    textures_.values(p, some);
    VOXHERD_UNROLL for (int n = 0; n < read; ++n) out[n] = some[n];
    VOXHERD_UNROLL for (int n = read; n < Channels; ++n) out[n] = value_left_out(n);
  }

 private:
  texture_reader textures_;
};

template <int Quads>
void launch(const trace_job& job, unsigned long long* next_fibre, cudaStream_t stream) {
  using texture = partial_texture_reader<Quads>;
  using linear = partial_reader<Quads>;
  if (job.rays.reading == interpolation::texture)
    return launch_reader<christoffel_form<texture>, texture>(job, next_fibre, stream);
  launch_reader<christoffel_form<linear>, linear>(job, next_fibre, stream);
}

class cuda_tracer final : public partial_tracer {
 public:
  cuda_tracer(const field& f, std::span<const seed> seeds, const ray_settings& settings, int quads)
      : job_(begin_job(f, settings)), quads_(quads), seeds_(seeds.size()), next_fibre_(1) {
    VOXHERD_CUDA_CHECK(
        cudaMemcpyAsync(seeds_.data(), seeds.data(), seeds.size_bytes(), cudaMemcpyHostToDevice, stream_));
    stream_.wait();
    job_.seeds = seeds_.data();
    if (settings.reading != interpolation::texture) return;
    textures_ = std::make_unique<texture_field>(job_.field, stream_);
    std::copy(textures_->objects().begin(), textures_->objects().end(), job_.textures);
  }

  void score(std::size_t count, const score_arrays& out) override {
    job_.count = count;
    scores_.reserve(count, out.array, job_.scores.array);
    constexpr void (*of_quads[])(const trace_job&, unsigned long long*, cudaStream_t) = {launch<3>, launch<4>,
                                                                                         launch<5>, launch<6>};
    of_quads[quads_ - 3](job_, next_fibre_.data(), stream_);
    scores_.fetch(count, job_.scores.array, out.array, stream_);
    stream_.wait();
  }

 private:
  trace_job job_;
  int quads_;
  cuda_stream stream_;
  std::unique_ptr<texture_field> textures_;
  device_buffer<seed> seeds_;
  device_buffer<unsigned long long> next_fibre_;
  output_buffers<score_arrays::count> scores_{output_widths<fibre_scores>()};
};

}  // namespace

std::unique_ptr<partial_tracer> make_partial_tracer_cuda(const field& f, std::span<const seed> seeds,
                                                         const ray_settings& settings, int quads) {
  return std::make_unique<cuda_tracer>(f, seeds, settings, quads);
}

}  // namespace voxherd::bench
