#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/tensor_field/prepare_steps.hpp"

/// Smoothing of logarithms, and the prefilter for B-spline coefficients.
namespace voxherd::tensor_field::prepare {

inline constexpr int widest_radius = 31;

/// Half of a Gaussian, truncated at three standard deviations.
struct gaussian {
  int radius;
  float weight[widest_radius + 1];
};

/// Logarithms to the first six planes and the weight 1 to the seventh; 0 without a measurement.
struct logarithm_taker {
  planes tensors;
  const tensor_state* state;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const bool measured = is_measured(state[i]);
    tensors.store(i, measured ? logarithm(tensors.load(i)) : tensor6{});
    tensors.at(6, i) = measured ? 1.f : 0.f;
  }
};

/// Smooths seven planes along one axis. Values outside the image are 0.
struct smoother {
  grid size;
  planes from, to;
  gaussian kernel;
  int axis;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    int p[3];
    size.place(i, p[0], p[1], p[2]);
    const int place = axis == 0 ? p[0] : axis == 1 ? p[1] : p[2];
    const auto n = static_cast<int>(axis == 0 ? size.nx : axis == 1 ? size.ny : size.nz);
    const auto step = static_cast<std::ptrdiff_t>(axis == 0 ? 1 : axis == 1 ? size.nx : size.nx * size.ny);
    const int first = place < kernel.radius ? -place : -kernel.radius;
    const int last = n - 1 - place < kernel.radius ? n - 1 - place : kernel.radius;
    float sum[7] = {};
    for (int k = first; k <= last; ++k) {
      const float w = kernel.weight[k < 0 ? -k : k];
      const auto j = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + k * step);
      VOXHERD_UNROLL
      for (int e = 0; e < 7; ++e) sum[e] += w * from.at(e, j);
    }
    VOXHERD_UNROLL
    for (int e = 0; e < 7; ++e) to.at(e, i) = sum[e];
  }
};

/// Divides the sum of logarithms by the sum of weights (normalised convolution: voxels outside have no influence), and
/// converts back to tensors.
struct exponential_taker {
  planes sums, tensors;
  const tensor_state* state;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    if (is_measured(state[i])) tensors.store(i, exponential(scaled(sums.load(i), 1 / sums.at(6, i))));
  }
};

/// Replaces samples by the coefficients of the cubic B-spline through them, in place, along one axis (Unser, Aldroubi &
/// Eden, IEEE Trans Signal Process 41:821, 1993). The line continues beyond its ends as mirrored at the end samples:
/// c[-1] = c[1], c[n] = c[n - 2]. A line of one sample is constant and left unchanged. One call filters `Width`
/// adjacent lines: 1 for a GPU thread, a SIMD register on a CPU.
template <int Width>
struct spline_filter {
  float* values;
  std::size_t step;  ///< floats between consecutive samples of a line
  int n;

  static constexpr int batch = 8;                          ///< loads in flight at a time
  static constexpr float pole = -0.26794919243112270647f;  // sqrt(3) - 2
  static constexpr float gain = 6;

  VOXHERD_FUNCTION void operator()(std::uint32_t group) const {
    if (n < 2) return;
    const std::size_t t = std::size_t{group} * Width, block = static_cast<std::uint32_t>(t) / std::uint32_t(step);
    float* const line = values + block * step * std::size_t(n) + (t - block * step);
    float carried[Width];
    start(line, carried);
    forth(line, carried);
    const float* const last = line + step * std::size_t(n - 1);
    for (int w = 0; w < Width; ++w) carried[w] = pole / (pole * pole - 1) * (last[w] + pole * (last - step)[w]);
    back(line, carried);
  }

 private:
  /// gain times the sum of pole^k s[k] over the line and its mirror images, to the precision of float.
  VOXHERD_FUNCTION void start(const float* line, float (&sum)[Width]) const {
    constexpr int horizon = 16;  // pole^16 = 7e-10
    for (int w = 0; w < Width; ++w) sum[w] = 0;
    float power = gain;
    int place = 0, direction = 1;
    VOXHERD_UNROLL
    for (int k = 0; k < horizon; ++k) {
      const float* const s = line + step * std::size_t(place);
      for (int w = 0; w < Width; ++w) sum[w] += power * s[w];
      power *= pole;
      if (place == n - 1) direction = -1;
      if (place == 0) direction = 1;
      place += direction;
    }
  }

  /// c+[k] = gain s[k] + pole c+[k - 1]; c+[0] is passed in `carried`.
  VOXHERD_FUNCTION void forth(float* line, float (&carried)[Width]) const {
    for (int w = 0; w < Width; ++w) line[w] = carried[w];
    for (int k = 1; k < n; k += batch) {
      float s[batch][Width];
      VOXHERD_UNROLL
      for (int j = 0; j < batch; ++j)
        if (k + j < n)
          for (int w = 0; w < Width; ++w) s[j][w] = line[step * std::size_t(k + j) + std::size_t(w)];
      VOXHERD_UNROLL
      for (int j = 0; j < batch; ++j)
        if (k + j < n)
          for (int w = 0; w < Width; ++w)
            line[step * std::size_t(k + j) + std::size_t(w)] = carried[w] = gain * s[j][w] + pole * carried[w];
    }
  }

  /// c[k] = pole (c[k + 1] - c+[k]); c[n - 1] is passed in `carried`.
  VOXHERD_FUNCTION void back(float* line, float (&carried)[Width]) const {
    for (int w = 0; w < Width; ++w) line[step * std::size_t(n - 1) + std::size_t(w)] = carried[w];
    for (int k = n - 2; k >= 0; k -= batch) {
      float s[batch][Width];
      VOXHERD_UNROLL
      for (int j = 0; j < batch; ++j)
        if (k - j >= 0)
          for (int w = 0; w < Width; ++w) s[j][w] = line[step * std::size_t(k - j) + std::size_t(w)];
      VOXHERD_UNROLL
      for (int j = 0; j < batch; ++j)
        if (k - j >= 0)
          for (int w = 0; w < Width; ++w)
            line[step * std::size_t(k - j) + std::size_t(w)] = carried[w] = pole * (carried[w] - s[j][w]);
    }
  }
};

/// Device memory used by a preparation.
struct workspace {
  const float* measured;         ///< 6 per voxel
  const std::uint8_t* inside;    ///< 1 per voxel
  const std::uint32_t* regions;  ///< 1 per voxel, or null
  float* first;                  ///< first_floats() per voxel
  float* second;                 ///< second_floats() per voxel
  tensor_state* state[2];        ///< 1 per voxel each
  float* values;                 ///< the field
  voxel_facts* facts;
};

inline std::size_t first_floats(const recipe& r) { return r.smoothing_voxels > 0 ? 7 : 6; }
inline std::size_t second_floats(const recipe& r) {
  return r.kind == field_kind::christoffel ? 12 : r.smoothing_voxels > 0 ? 7 : 0;
}

inline gaussian make_gaussian(double deviation) {
  gaussian g{};
  g.radius = std::min(widest_radius, static_cast<int>(std::ceil(3 * deviation)));
  for (int k = 0; k <= g.radius; ++k)
    g.weight[k] = static_cast<float>(std::exp(-0.5 * k * k / (deviation * deviation)));
  return g;
}

/// Voxels up to this far outside get the tensors of their neighbours; those beyond are isotropic.
inline constexpr int fill_rounds = 3;

template <class Machine>
void smooth(Machine& machine, const recipe& r, const workspace& w) {
  const std::uint32_t n = r.size.voxels();
  const planes first{w.first, n}, second{w.second, n};
  const gaussian g = make_gaussian(r.smoothing_voxels);
  machine.each(n, logarithm_taker{first, w.state[0]});
  machine.each(n, smoother{r.size, first, second, g, 0});
  machine.each(n, smoother{r.size, second, first, g, 1});
  machine.each(n, smoother{r.size, first, second, g, 2});
  machine.each(n, exponential_taker{second, first, w.state[0]});
}

template <class Machine>
void to_coefficients(Machine& machine, const recipe& r, float* values) {
  const std::size_t width = static_cast<std::size_t>(field_floats(r.kind)), total = width * r.size.voxels();
  std::size_t step = width;
  for (const std::uint32_t n : {r.size.nx, r.size.ny, r.size.nz}) {
    constexpr int side_by_side = Machine::lines_at_a_time;
    if (n > 1)
      machine.each(static_cast<std::uint32_t>(total / n / side_by_side),
                   spline_filter<side_by_side>{values, step, static_cast<int>(n)});
    step *= n;
  }
}

/// All planes of w.first.
template <int Elements, class Machine>
void fill(Machine& machine, const recipe& r, const workspace& w, const std::array<float, Elements>& background) {
  const std::uint32_t n = r.size.voxels();
  for (int round = 0; round < fill_rounds; ++round) {
    filler<Elements> step{r.size, {w.first, n}, w.state[round % 2], w.state[1 - round % 2], round + 1 == fill_rounds,
                          {}};
    std::copy(background.begin(), background.end(), step.background);
    machine.each(n, step);
  }
}

/// The complete preparation on a machine that provides machine.each(n, callable), which calls the callable for each of
/// n indices, and machine.count_repaired(states, n), which counts the states `hole` and `repaired`.
template <class Machine>
void prepare_field(Machine& machine, const recipe& r, const workspace& w) {
  const std::uint32_t n = r.size.voxels();
  const planes tensors{w.first, n};
  planes fields{}, metrics{};
  if (r.kind == field_kind::christoffel) fields = {w.second, n}, metrics = {w.second + std::size_t{6} * n, n};
  machine.each(n, cleaner{w.measured, w.inside, tensors, w.state[0], r.input_unit, r.min_eigenvalue});
  machine.count_repaired(w.state[0], n);
  if (r.smoothing_voxels > 0) smooth(machine, r, w);
  const float b = r.background;
  fill<6>(machine, r, w, {b, 0, 0, b, 0, b});

  metric_applier apply{r.metric, {}, {}, tensors, w.inside, w.regions, w.facts, r.kind, w.values, fields, metrics};
  for (int k = 0; k < 9; ++k) apply.to_index[k] = r.to_index[k], apply.axes_transposed[k] = r.axes_transposed[k];
  machine.each(n, apply);
  if (r.kind == field_kind::christoffel) machine.each(n, differentiator{r.size, fields, metrics, w.values});
  if (r.spline) to_coefficients(machine, r, w.values);
}

}  // namespace voxherd::tensor_field::prepare
