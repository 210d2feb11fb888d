#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/tensor_field/prepare_filter.hpp"

namespace voxherd::tensor_field::prepare {

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
