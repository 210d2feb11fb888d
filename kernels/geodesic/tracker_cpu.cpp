#include <omp.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>

#include "kernels/geodesic/forms.hpp"
#include "kernels/geodesic/ray_tracer.hpp"
#include "kernels/geodesic/scalar_reader.hpp"
#include "kernels/geodesic/trace_job.hpp"

namespace voxherd::geodesic {

// The readers of scalar_reader.hpp for the lanes of a CPU thread, each at its own position. A lane's samples are
// blocks of eight adjacent floats, so that one lane's interpolation is SIMD; the results are then transposed to lanes.

namespace detail {

using block = lane::stdx::simd<float, lane::stdx::simd_abi::deduce_t<float, 8>>;

inline block load_block(const float* from) {
  block b;
  b.copy_from(from, lane::stdx::element_aligned);
  return b;
}

/// The cell of one lane; `first` is its lowest corner.
struct lane_cell {
  const float* values;
  std::ptrdiff_t stride[3];  ///< in floats
  int start[3], size[3];
  float within[3];
};

/// Eight channels and their derivatives with respect to the index x, y, z.
struct block_sample {
  block value, gradient[3];
};

inline block_sample trilinear_block(const lane_cell& c, int channel) {
  const std::ptrdiff_t x = c.size[0] > 1 ? c.stride[0] : 0, y = c.size[1] > 1 ? c.stride[1] : 0,
                       z = c.size[2] > 1 ? c.stride[2] : 0;
  const float* first =
      c.values + channel + c.start[0] * c.stride[0] + c.start[1] * c.stride[1] + c.start[2] * c.stride[2];
  block value[2], by_x[2], by_y[2];
  for (int k = 0; k < 2; ++k) {
    const float* at = first + k * z;
    const block a = load_block(at), c0 = load_block(at + x) - a, b = load_block(at + y),
                c1 = load_block(at + y + x) - b;
    const block low = a + c.within[0] * c0;
    by_x[k] = c0 + c.within[1] * (c1 - c0);
    by_y[k] = b + c.within[0] * c1 - low;
    value[k] = low + c.within[1] * by_y[k];
  }
  block_sample s;
  s.gradient[0] = by_x[0] + c.within[2] * (by_x[1] - by_x[0]);
  s.gradient[1] = by_y[0] + c.within[2] * (by_y[1] - by_y[0]);
  s.gradient[2] = value[1] - value[0];
  s.value = value[0] + c.within[2] * s.gradient[2];
  return s;
}

inline block_sample spline_block(const lane_cell& c, int channel) {
  float weight[3][4], slope[3][4];
  std::ptrdiff_t step[3][4];
  for (int axis = 0; axis < 3; ++axis) {
    spline_weights(c.within[axis], weight[axis], slope[axis]);
    for (int i = 0; i < 4; ++i) step[axis][i] = c.stride[axis] * mirrored(c.start[axis] + i - 1, c.size[axis]);
  }
  block_sample s{};
  for (int k = 0; k < 4; ++k) {
    block value = 0.0f, by_x = 0.0f, by_y = 0.0f;
    for (int j = 0; j < 4; ++j) {
      const float* row = c.values + channel + step[1][j] + step[2][k];
      block row_value = 0.0f, row_slope = 0.0f;
      for (int i = 0; i < 4; ++i) {
        const block b = load_block(row + step[0][i]);
        row_value += weight[0][i] * b;
        row_slope += slope[0][i] * b;
      }
      value += weight[1][j] * row_value;
      by_x += weight[1][j] * row_slope;
      by_y += slope[1][j] * row_value;
    }
    s.value += weight[2][k] * value;
    s.gradient[0] += weight[2][k] * by_x;
    s.gradient[1] += weight[2][k] * by_y;
    s.gradient[2] += slope[2][k] * value;
  }
  return s;
}

}  // namespace detail

template <int Floats, bool Spline>
class lanes_reader {
 public:
  using number = lane::float_lanes;

  explicit lanes_reader(const field_view& f) : field_(f) {}
  const field_view& field() const { return field_; }

  template <int Channels>
  void values(const place<number>& p, number (&out)[Channels]) const {
    alignas(64) float samples[lanes][padded(Channels)];
    for_lanes(p, [&](int lane, const detail::lane_cell& c) {
      for (int first = 0; first < Channels; first += 8)
        sample(c, first).value.copy_to(samples[lane] + first, lane::stdx::element_aligned);
    });
    for (int n = 0; n < Channels; ++n) out[n] = across(samples, n);
  }

  template <int Channels>
  void values_and_gradients(const place<number>& p, number (&out)[Channels], number (&gradient)[3][Channels]) const {
    constexpr int width = padded(Channels);
    alignas(64) float samples[lanes][4 * width];
    for_lanes(p, [&](int lane, const detail::lane_cell& c) {
      for (int first = 0; first < Channels; first += 8) {
        const detail::block_sample s = sample(c, first);
        float* to = samples[lane] + first;
        s.value.copy_to(to, lane::stdx::element_aligned);
        for (int axis = 0; axis < 3; ++axis)
          s.gradient[axis].copy_to(to + (axis + 1) * width, lane::stdx::element_aligned);
      }
    });
    for (int n = 0; n < Channels; ++n) {
      out[n] = across(samples, n);
      for (int axis = 0; axis < 3; ++axis) gradient[axis][n] = across(samples, (axis + 1) * width + n);
    }
  }

  /// The counterpart of trilinear_reader::flow.
  void flow(const place<number>& at, const number (&p)[3], number (&applied)[3], number (&gradient)[3]) const {
    number t[6], derivative[3][6];
    values_and_gradients(at, t, derivative);
    apply(t, p, applied);
    for (int axis = 0; axis < 3; ++axis) gradient[axis] = quadratic(derivative[axis], p);
  }

 private:
  static constexpr int lanes = static_cast<int>(number::size());
  static constexpr int padded(int channels) { return (channels + 7) / 8 * 8; }

  static detail::block_sample sample(const detail::lane_cell& c, int channel) {
    if constexpr (Spline) return detail::spline_block(c, channel);
    return detail::trilinear_block(c, channel);
  }

  template <class Visit>
  void for_lanes(const place<number>& p, Visit visit) const {
    number first[3], within[3];
    for (int axis = 0; axis < 3; ++axis) cell_at(p, axis, field_.size[axis], first[axis], within[axis]);
    const std::ptrdiff_t row = std::ptrdiff_t{Floats} * field_.size[0];
    for (int i = 0; i < lanes; ++i) {
      const detail::lane_cell c{
          field_.values,
          {Floats, row, row * field_.size[1]},
          {static_cast<int>(get(first[0], i)), static_cast<int>(get(first[1], i)), static_cast<int>(get(first[2], i))},
          {field_.size[0], field_.size[1], field_.size[2]},
          {get(within[0], i), get(within[1], i), get(within[2], i)}};
      for (int axis = 0; axis < 3; ++axis) assert(c.start[axis] >= 0 && c.start[axis] < c.size[axis]);
      visit(i, c);
    }
  }

  /// Channel n of all lanes.
  template <int Width>
  static number across(const float (&samples)[lanes][Width], int n) {
    return number([&](auto i) { return samples[i][n]; });
  }

  field_view field_;
};

namespace {

/// The lanes of one thread, which takes several fibres at a time: neighbours in the batch start at the same seed and
/// read the same voxels.
struct ray_thread {
  static constexpr std::uint64_t portion = 64;
  std::atomic<std::uint64_t>& next_fibre;
  std::uint64_t at = 0, end = 0;

  template <class Mask>
  bool any(const Mask& m) const {
    return geodesic::any(m);
  }
  template <class Mask>
  bool enough(const Mask& waiting, const Mask&) const {
    return geodesic::any(waiting);
  }
  std::uint64_t next() {
    if (at == end) {
      at = next_fibre.fetch_add(portion, std::memory_order_relaxed);
      end = at + portion;
    }
    return at++;
  }
};

template <class Form>
void run_form(const trace_job& job, const Form& form, int threads) {
  std::atomic<std::uint64_t> next_fibre{0};
#pragma omp parallel num_threads(threads)
  {
    ray_thread lanes{next_fibre};
    ray_tracer<Form>(job, form).run(lanes);
  }
}

template <bool Spline>
void run_reading(const trace_job& job, int threads) {
  using tensor_reader = lanes_reader<8, Spline>;
  switch (job.rays.form) {
    case ray_form::christoffel:
      return run_form(job, christoffel_form<lanes_reader<24, Spline>>{lanes_reader<24, Spline>(job.field)}, threads);
    case ray_form::hamiltonian:
      return run_form(job, hamiltonian_form<tensor_reader>{tensor_reader(job.field)}, threads);
    case ray_form::streamline:
      return run_form(job, streamline_form<tensor_reader>{tensor_reader(job.field)}, threads);
    case ray_form::finsler4:
      return run_form(job, finsler4_form<lanes_reader<16, Spline>>{lanes_reader<16, Spline>(job.field)}, threads);
  }
}

class cpu_tracker final : public tracker {
 public:
  cpu_tracker(const field& f, std::span<const seed> seeds, const ray_settings& settings)
      : job_(begin_job(f, settings)), seeds_(seeds.begin(), seeds.end()), threads_(f.where.threads) {
    job_.seeds = seeds_.data();
  }

  void score(std::uint64_t first, std::size_t count, const score_arrays& out) override {
    trace_job job = job_;
    job.first = first;
    job.count = count;
    job.scores = out;
    run(job);
  }

  void trace(std::span<const std::uint64_t> fibres, const std::uint32_t* steps, std::span<const std::uint64_t> offsets,
             const point_view& out) override {
    trace_job job = job_;
    job.count = fibres.size();
    job.chosen = fibres.data();
    job.steps = steps;
    job.offsets = offsets.data();
    job.points = out;
    if (!fibres.empty()) run(job);
  }

 private:
  void run(const trace_job& job) const {
    if (job.rays.reading == interpolation::bspline) return run_reading<true>(job, threads_);
    run_reading<false>(job, threads_);
  }

  trace_job job_;
  std::vector<seed> seeds_;
  int threads_;
};

}  // namespace

std::unique_ptr<tracker> make_tracker_cpu(const field& f, std::span<const seed> seeds, const ray_settings& settings) {
  if (settings.reading == interpolation::texture)
    throw std::invalid_argument("geodesic: texture interpolation needs a GPU");
  return std::make_unique<cpu_tracker>(f, seeds, settings);
}

}  // namespace voxherd::geodesic
