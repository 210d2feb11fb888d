#include <cufft.h>

#include <numbers>
#include <stdexcept>
#include <string>

#include "bench/perfusion_convolution.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/perfusion/paper/block_fft_kernel.cuh"

namespace voxherd::bench {

namespace {

using namespace voxherd::perfusion;

void cufft_check(cufftResult code, const char* call) {
  if (code != CUFFT_SUCCESS) throw device_error(std::string("cuFFT: ") + call + ": error " + std::to_string(code));
}
#define VOXHERD_CUFFT_CHECK(call) cufft_check((call), #call)

/// [row][column] to [column][row].
template <class T>
std::vector<T> turned(const std::vector<T>& in, std::size_t rows) {
  const std::size_t columns = in.size() / rows;
  std::vector<T> out(in.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
  return out;
}

/// Kernels between two events of a stream.
class timed_work : public gpu_work {
 public:
  void run() final {
    before_.record(stream_);
    launch();
    VOXHERD_CUDA_CHECK(cudaGetLastError());
    after_.record(stream_);
    stream_.wait();
  }
  double device_seconds() const final { return after_.seconds_since(before_); }

 protected:
  virtual void launch() = 0;

  template <class T>
  device_buffer<T> on_gpu(const std::vector<T>& values) const {
    auto there = copied(values.data(), values.size(), stream_);
    stream_.wait();
    return there;
  }
  static std::vector<double> fetched(const device_buffer<double>& from) {
    std::vector<double> values(from.size());
    VOXHERD_CUDA_CHECK(cudaMemcpy(values.data(), from.data(), values.size() * sizeof(double), cudaMemcpyDeviceToHost));
    return values;
  }

  cuda_stream stream_;

 private:
  cuda_event before_, after_;
};

template <int Q, int P>
__global__ void __launch_bounds__(block_fft_team<Q, P>::block_threads, block_fft_resident<Q, P>)
    convolve_kernel(block_fft_tables tables, int frames, int count, const double* series, const double* kl_T,
                    double* out) {
  using fft = block_fft<double, Q, P>;
  using team_type = block_fft_team<Q, P>;
  __shared__ typename fft::memory all[team_type::teams];
  auto& memory = all[team_type::number()];
  const team_type team{nullptr};
  const int curve = static_cast<int>(blockIdx.x) * team_type::teams + team_type::number();
  const bool is = curve < count;
  const std::size_t row = static_cast<std::size_t>(is ? curve : 0) * static_cast<std::size_t>(frames);
  const double x = kl_T[is ? curve : 0];
  team.share(2, [&](int i) { memory.lost[i] = fft::lost_in(i == 0 ? x : fft::frames * x); });
  team.share(fft::frames, [&](int i) { memory.series[i] = i < frames ? series[row + i] : 0.0; });
  team.sync();
  fft(tables).convolve(team, memory, [&](int i, double c) {
    if (is && i < frames) out[row + i] = c;
  });
}

/// Calls launch.template operator()<Q, P>() for the shape.
template <class Launch>
void with_shape(block_fft_shape shape, const Launch& launch) {
#define VOXHERD_SHAPE(q, p) \
  if (shape == block_fft_shape{q, p}) launch.template operator()<q, p>();
  VOXHERD_BLOCK_FFT_SHAPES(VOXHERD_SHAPE)
#undef VOXHERD_SHAPE
}

template <class Team>
unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + Team::teams - 1) / Team::teams);
}

class block_fft_work final : public timed_work {
 public:
  explicit block_fft_work(const convolution_curves& c)
      : frames_(c.frames),
        plan_(block_fft_shape_of(c.frames)),
        tables_(on_gpu(plan_.numbers())),
        series_(on_gpu(c.series)),
        kl_T_(on_gpu(c.kl_T)),
        out_(c.series.size()) {}
  std::vector<double> results() const override { return fetched(out_); }

 private:
  void launch() override {
    with_shape(plan_.shape(), [&]<int Q, int P>() {
      using team = block_fft_team<Q, P>;
      convolve_kernel<Q, P><<<blocks_for<team>(kl_T_.size()), team::block_threads, 0, stream_>>>(
          plan_.view_of(tables_.data()), frames_, static_cast<int>(kl_T_.size()), series_.data(), kl_T_.data(),
          out_.data());
    });
  }

  int frames_;
  block_fft_plan plan_;
  device_buffer<complex_number<double>> tables_;
  device_buffer<double> series_, kl_T_, out_;
};

/// The spectrum times H of the curve's kl, over the transform's length; one block per curve. `poles`: 1 - cos, sin of 2
/// pi k / 2 frames.
__global__ void multiply_kernel(int frames, const double2* poles, const double* kl_T, cufftDoubleComplex* spectrum) {
  __shared__ double lost[2];
  const double x = kl_T[blockIdx.x];
  if (threadIdx.x < 2) lost[threadIdx.x] = -expm1(threadIdx.x == 0 ? -x : -frames * x);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k <= frames; k += static_cast<int>(blockDim.x)) {
    const double2 pole = poles[k];
    const double kept = 1 - lost[0], re = lost[0] + kept * pole.x, im = kept * pole.y;
    const double share = (k % 2 == 0 ? lost[1] : 2 - lost[1]) / (re * re + im * im) * (0.5 / frames);
    const double h_re = share * re, h_im = -share * im;
    cufftDoubleComplex& z = spectrum[std::size_t{blockIdx.x} * (frames + 1) + k];
    z = {z.x * h_re - z.y * h_im, z.x * h_im + z.y * h_re};
  }
}

class cufft_work final : public timed_work {
 public:
  explicit cufft_work(const convolution_curves& c)
      : frames_(c.frames),
        kl_T_(on_gpu(c.kl_T)),
        poles_(on_gpu(compute_poles(c.frames))),
        padded_(on_gpu(padded_rows(c))),
        spectrum_(c.count() * static_cast<std::size_t>(c.frames + 1)),
        out_(2 * c.series.size()) {
    int length = 2 * frames_;
    const int batch = static_cast<int>(c.count());
    VOXHERD_CUFFT_CHECK(
        cufftPlanMany(&forward_, 1, &length, nullptr, 1, length, nullptr, 1, frames_ + 1, CUFFT_D2Z, batch));
    VOXHERD_CUFFT_CHECK(
        cufftPlanMany(&back_, 1, &length, nullptr, 1, frames_ + 1, nullptr, 1, length, CUFFT_Z2D, batch));
    VOXHERD_CUFFT_CHECK(cufftSetStream(forward_, stream_));
    VOXHERD_CUFFT_CHECK(cufftSetStream(back_, stream_));
  }
  ~cufft_work() override {
    cufftDestroy(forward_);
    cufftDestroy(back_);
  }
  std::vector<double> results() const override {
    const auto padded = fetched(out_);
    std::vector<double> c;
    const auto n = static_cast<std::ptrdiff_t>(frames_);
    for (auto row = padded.begin(); row != padded.end(); row += 2 * n) c.insert(c.end(), row, row + n);
    return c;
  }

 private:
  static std::vector<double2> compute_poles(int frames) {
    std::vector<double2> poles;
    for (int k = 0; k <= frames; ++k) {
      const double x = std::numbers::pi * k / frames, half = std::sin(x / 2);
      poles.push_back({2 * half * half, std::sin(x)});
    }
    return poles;
  }
  static std::vector<double> padded_rows(const convolution_curves& c) {
    const auto n = static_cast<std::size_t>(c.frames);
    std::vector<double> rows(2 * c.series.size(), 0.0);
    for (std::size_t i = 0; i < c.series.size(); ++i) rows[i / n * 2 * n + i % n] = c.series[i];
    return rows;
  }

  void launch() override {
    VOXHERD_CUFFT_CHECK(cufftExecD2Z(forward_, padded_.data(), spectrum_.data()));
    multiply_kernel<<<static_cast<unsigned>(kl_T_.size()), 64, 0, stream_>>>(frames_, poles_.data(), kl_T_.data(),
                                                                             spectrum_.data());
    VOXHERD_CUFFT_CHECK(cufftExecZ2D(back_, spectrum_.data(), out_.data()));
  }

  int frames_;
  device_buffer<double> kl_T_;
  device_buffer<double2> poles_;
  device_buffer<double> padded_;
  device_buffer<cufftDoubleComplex> spectrum_;
  device_buffer<double> out_;
  cufftHandle forward_ = 0, back_ = 0;
};

/// One curve per thread; columns side by side.
struct curve_columns {
  int frames;
  std::uint32_t count;
  const double *series, *kl_T;
  double* out;
};

struct direct_convolver {
  curve_columns c;
  __device__ void operator()(std::uint32_t curve) const {
    const auto x = [&](int j) { return c.series[std::size_t(j) * c.count + curve]; };
    direct_sum<double>(c.kl_T[curve])(0, c.frames, x,
                                      [&](int i, double y) { c.out[std::size_t(i) * c.count + curve] = y; });
  }
};

struct recursive_convolver {
  curve_columns c;
  __device__ void operator()(std::uint32_t curve) const {
    const double e = decay(c.kl_T[curve]);
    double y = 0;
    for (int i = 0; i < c.frames; ++i) {
      const std::size_t at = std::size_t(i) * c.count + curve;
      y = e * y + c.series[at];
      c.out[at] = y;
    }
  }
};

template <class Convolver>
class column_work final : public timed_work {
 public:
  explicit column_work(const convolution_curves& c)
      : frames_(c.frames), series_(on_gpu(turned(c.series, c.count()))), kl_T_(on_gpu(c.kl_T)), out_(c.series.size()) {}
  std::vector<double> results() const override { return turned(fetched(out_), static_cast<std::size_t>(frames_)); }

 private:
  void launch() override {
    const auto count = static_cast<std::uint32_t>(kl_T_.size());
    each_on_gpu(stream_, count, Convolver{{frames_, count, series_.data(), kl_T_.data(), out_.data()}});
  }

  int frames_;
  device_buffer<double> series_, kl_T_, out_;
};

VOXHERD_FUNCTION void next_trial(double (&p)[dual_parameters]) { p[kl] *= 1.001; }

template <int Q, int P>
__global__ void __launch_bounds__(block_fft_team<Q, P>::block_threads, block_fft_resident<Q, P>)
    cost_kernel(curves_view<double> curves, block_fft_tables tables, const double* parameters, const float* samples,
                int count, int repeats, double* out) {
  using team_type = block_fft_team<Q, P>;
  __shared__ block_fft_voxel<Q, P> all[team_type::teams];
  auto& own = all[team_type::number()];
  const team_type team{own.partial};
  const int voxel = static_cast<int>(blockIdx.x) * team_type::teams + team_type::number();
  const std::size_t safe = voxel < count ? static_cast<std::size_t>(voxel) : 0;
  const float* row = samples + safe * static_cast<std::size_t>(curves.frames);
  team.share(curves.frames, [&](int i) { own.samples[i] = row[i]; });
  double p[dual_parameters], sum = 0;
#pragma unroll
  for (int i = 0; i < dual_parameters; ++i) p[i] = parameters[safe * dual_parameters + i];
  const block_fft_model<double, Q, P, discretisation_kind::paper> model(curves, tables);
  for (int r = 0; r < repeats; ++r, next_trial(p)) sum += model.cost(team, own.memory, p, {own.samples, 1});
  if (team_type::lane() == 0 && voxel < count) out[voxel] = sum;
}

/// One voxel per thread, with the curves in shared memory and samples in columns.
template <class Model>
__global__ void __launch_bounds__(128, 3)
    thread_cost_kernel(const __grid_constant__ cuda_fit_job<double, dual_parameters> job, const double* parameters,
                       const float* samples, int count, int repeats, double* out) {
  extern __shared__ __align__(16) std::byte shared[];
  const auto curves = shared_curves<double>::copy(job.curves, job.values, job.value_count, shared);
  const int voxel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (voxel >= count) return;
  double p[dual_parameters], sum = 0;
#pragma unroll
  for (int i = 0; i < dual_parameters; ++i) p[i] = parameters[voxel * dual_parameters + i];
  const Model model(curves);
  for (int r = 0; r < repeats; ++r, next_trial(p)) sum += model.cost(p, {samples + voxel, count});
  out[voxel] = sum;
}

class cost_work final : public timed_work {
 public:
  cost_work(convolution_method method, const cost_voxels& v)
      : method_(method),
        repeats_(v.repeats),
        table_(v.course),
        plan_(block_fft_shape_of(static_cast<int>(v.course.frames()))),
        tables_(on_gpu(plan_.numbers())),
        values_(on_gpu(table_.values())),
        counts_(on_gpu(table_.counts())),
        p_(on_gpu(v.p)),
        samples_(on_gpu(method == convolution_method::block_fft ? v.samples : turned(v.samples, v.count()))),
        out_(v.count()) {}
  std::vector<double> results() const override { return fetched(out_); }

 private:
  void launch() override {
    if (method_ == convolution_method::block_fft) return launch_blocks();
    if (method_ == convolution_method::direct)
      return launch_threads<direct_model<double, discretisation_kind::paper>>();
    launch_threads<recursion_model<dual_model, double, discretisation_kind::paper>>();
  }

  curves_view<double> curves() const { return table_.view_of(values_.data(), counts_.data()); }

  void launch_blocks() {
    with_shape(plan_.shape(), [&]<int Q, int P>() {
      using team = block_fft_team<Q, P>;
      cost_kernel<Q, P><<<blocks_for<team>(out_.size()), team::block_threads, 0, stream_>>>(
          curves(), plan_.view_of(tables_.data()), p_.data(), samples_.data(), static_cast<int>(out_.size()), repeats_,
          out_.data());
    });
  }

  template <class Model>
  void launch_threads() {
    const curves_view<double> view = curves();
    const int value_count = static_cast<int>(table_.values().size()), count = static_cast<int>(out_.size());
    const cuda_fit_job<double, dual_parameters> job{
        {}, view, values_.data(), value_count, fit_limits<double, dual_parameters>(fit_settings{}), {}, {}};
    const std::size_t bytes = shared_curves<double>::bytes(value_count, view.frames);
    VOXHERD_CUDA_CHECK(cudaFuncSetAttribute(thread_cost_kernel<Model>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(bytes)));
    thread_cost_kernel<Model><<<static_cast<unsigned>((count + 127) / 128), 128, bytes, stream_>>>(
        job, p_.data(), samples_.data(), count, repeats_, out_.data());
  }

  convolution_method method_;
  int repeats_;
  curves_table<double> table_;
  block_fft_plan plan_;
  device_buffer<complex_number<double>> tables_;
  device_buffer<double> values_;
  device_buffer<std::uint8_t> counts_;
  device_buffer<double> p_;
  device_buffer<float> samples_;
  device_buffer<double> out_;
};

}  // namespace

std::unique_ptr<gpu_work> make_gpu_convolutions(convolution_method method, const convolution_curves& curves) {
  switch (method) {
    case convolution_method::block_fft:
      return std::make_unique<block_fft_work>(curves);
    case convolution_method::cufft:
      return std::make_unique<cufft_work>(curves);
    case convolution_method::direct:
      return std::make_unique<column_work<direct_convolver>>(curves);
    case convolution_method::recursion:
      break;
  }
  return std::make_unique<column_work<recursive_convolver>>(curves);
}

std::unique_ptr<gpu_work> make_gpu_costs(convolution_method method, const cost_voxels& voxels) {
  if (method == convolution_method::cufft) throw std::invalid_argument("costs are not computed by cuFFT");
  return std::make_unique<cost_work>(method, voxels);
}

}  // namespace voxherd::bench
