#include <algorithm>
#include <stdexcept>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/output_buffers.cuh"
#include "kernels/geodesic/cuda_forms.cuh"
#include "kernels/geodesic/paper/texture_field.cuh"
#include "kernels/geodesic/trace_job.hpp"

namespace voxherd::geodesic {

namespace {

template <class T>
void fetch(T* to, const T* from, std::size_t count, cudaStream_t stream) {
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
}

template <class T>
void send(device_buffer<T>& to, const T* from, std::size_t count, cudaStream_t stream) {
  to.reserve(count);
  VOXHERD_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream));
}

class cuda_tracker final : public tracker {
 public:
  cuda_tracker(const field& f, std::span<const seed> seeds, const ray_settings& settings)
      : job_(begin_job(f, settings)), next_fibre_(1) {
    send(seeds_, seeds.data(), seeds.size(), stream_);
    stream_.wait();
    job_.seeds = seeds_.data();
    if (settings.reading != interpolation::texture) return;
    if (settings.form != ray_form::christoffel)
      throw std::invalid_argument("geodesic: texture interpolation needs the christoffel form");
    textures_ = std::make_unique<texture_field>(job_.field, stream_);
    std::copy(textures_->objects().begin(), textures_->objects().end(), job_.textures);
  }

  void score(std::uint64_t first, std::size_t count, const score_arrays& out) override {
    trace_job job = job_;
    job.first = first;
    job.count = count;
    scores_.reserve(count, out.array, job.scores.array);
    launch(job);
    scores_.fetch(count, job.scores.array, out.array, stream_);
    stream_.wait();
  }

  void trace(std::span<const std::uint64_t> fibres, const std::uint32_t* steps, std::span<const std::uint64_t> offsets,
             const point_view& out) override {
    constexpr std::uint64_t max_points = 1 << 24;
    for (std::size_t begin = 0; begin < fibres.size();) {
      std::size_t end = begin + 1;
      while (end < fibres.size() && offsets[end + 1] - offsets[begin] <= max_points) ++end;
      const std::uint64_t before = offsets[begin] - offsets[0];
      const point_view here{out.position + 3 * before, out.FA == nullptr ? nullptr : out.FA + before,
                            out.relative == nullptr ? nullptr : out.relative + before};
      trace_piece(fibres.subspan(begin, end - begin), steps + 2 * begin, offsets.subspan(begin, end - begin + 1), here);
      begin = end;
    }
  }

  void release_memory() override {
    scores_.release();
    chosen_ = {}, offsets_ = {};
    steps_ = {};
    points_ = {};
  }

 private:
  void trace_piece(std::span<const std::uint64_t> fibres, const std::uint32_t* steps,
                   std::span<const std::uint64_t> offsets, const point_view& out) {
    const std::size_t points = offsets.back() - offsets.front();
    send(chosen_, fibres.data(), fibres.size(), stream_);
    send(steps_, steps, 2 * fibres.size(), stream_);
    send(offsets_, offsets.data(), offsets.size(), stream_);
    points_.reserve(5 * points);
    trace_job job = job_;
    job.count = fibres.size();
    job.chosen = chosen_.data();
    job.steps = steps_.data();
    job.offsets = offsets_.data();
    job.points = {points_.data(), points_.data() + 3 * points, points_.data() + 4 * points};
    launch(job);
    fetch(out.position, job.points.position, 3 * points, stream_);
    if (out.FA != nullptr) fetch(out.FA, job.points.FA, points, stream_);
    if (out.relative != nullptr) fetch(out.relative, job.points.relative, points, stream_);
    stream_.wait();
  }

  void launch(const trace_job& job) {
    if (job.count == 0) return;
    switch (job.rays.form) {
      case ray_form::christoffel:
        return launch_form<ray_form::christoffel>(job, next_fibre_.data(), stream_);
      case ray_form::hamiltonian:
        return launch_form<ray_form::hamiltonian>(job, next_fibre_.data(), stream_);
      case ray_form::streamline:
        return launch_form<ray_form::streamline>(job, next_fibre_.data(), stream_);
      case ray_form::finsler4:
        return launch_form<ray_form::finsler4>(job, next_fibre_.data(), stream_);
    }
  }

  trace_job job_;
  cuda_stream stream_;
  std::unique_ptr<texture_field> textures_;
  device_buffer<seed> seeds_;
  device_buffer<unsigned long long> next_fibre_;
  output_buffers<score_arrays::count> scores_{output_widths<fibre_scores>()};
  device_buffer<std::uint64_t> chosen_, offsets_;
  device_buffer<std::uint32_t> steps_;
  device_buffer<float> points_;
};

}  // namespace

std::unique_ptr<tracker> make_tracker_cuda(const field& f, std::span<const seed> seeds, const ray_settings& settings) {
  return std::make_unique<cuda_tracker>(f, seeds, settings);
}

}  // namespace voxherd::geodesic
