#pragma once

#include "kernels/portable/gradient_table.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "kernels/voxel_model/model_fit.hpp"
#include "kernels/voxel_model/model_outputs.hpp"
#include "kernels/voxel_model/model_sampler.hpp"
#include "kernels/voxel_model/voxel_preparer.hpp"

namespace voxherd::voxel_model {

/// What all voxels of a run share; pointers are to the device's memory.
template <class Model>
struct model_run {
  static constexpr int n = parameter_count<Model>;
  using outputs = model_outputs<Model>;

  Model model;
  parameter_numbers<n> numbers{Model::parameters};
  int measurements;  ///< K
  int padded;        ///< to complete slots
  bool deviates;     ///< nine numbers of the gradient deviation follow a voxel's signals
  gradient_columns<double> precise;
  gradient_columns<float> rounded;
  noise_model noise;
  double sigma;
  bool samples_tau;
  int samples;
  chain_lengths lengths;
  std::array<std::size_t, output_count<outputs>> bytes;  ///< per voxel of each output
  std::array<int, outputs::axis_count + 1> axis_number{};

  explicit model_run(const Model& m) : model(m) {
    if constexpr (directional<Model>)
      for (std::size_t i = 0; i < outputs::axis_count; ++i) axis_number[i] = Model::axes[i].number;
  }
  VOXHERD_FUNCTION int row_floats() const { return measurements + (deviates ? 9 : 0); }
  VOXHERD_FUNCTION int sample_floats() const { return (value_count<Model> + 1) * samples; }
};

/// `send`: as of voxelwise_cpu.hpp. `lanes`: of the widest team.
template <class Model, class Send>
model_run<Model> make_model_run(const Model& model, const gradient_table& g, bool deviates, const settings& s,
                                int lanes, Send& send) {
  const int k = static_cast<int>(g.size());
  model_run<Model> run(model);
  run.measurements = k;
  run.padded = (k + lanes - 1) / lanes * lanes;
  run.deviates = deviates;
  std::vector<double> x, y, z, b;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double length = std::sqrt(g.x[i] * g.x[i] + g.y[i] * g.y[i] + g.z[i] * g.z[i]);
    const double scale = length > 0 ? 1 / length : 0;
    x.push_back(g.x[i] * scale), y.push_back(g.y[i] * scale), z.push_back(g.z[i] * scale);
    b.push_back(g.b_s_per_mm2[i]);
  }
  const auto column = [&]<class Number>(const std::vector<double>& from, Number) {
    std::vector<Number> to(from.begin(), from.end());
    to.resize(static_cast<std::size_t>(run.padded), Number(0));
    return send(to);
  };
  const auto columns = [&]<class Number>(Number zero) {
    return gradient_columns<Number>{column(x, zero), column(y, zero), column(z, zero), column(b, zero),
                                    column(std::vector<double>(g.size(), 1.0), zero)};
  };
  run.precise = columns(0.0);
  run.rounded = columns(0.0f);
  run.noise = s.noise;
  run.sigma = s.sigma;
  run.samples_tau = s.samples_tau();
  run.samples = s.samples;
  run.lengths = s.lengths();
  run.bytes = output_widths<model_outputs<Model>>(s);
  return run;
}

/// Memory for one voxel at a time that a team's lanes share.
template <class Teams, class Model>
struct voxel_scratch {
  static constexpr int values = value_count<Model>;
  fit_scratch<typename Teams::fit, values> fit;
  typename state_of<Model, double, true>::type fit_state;
  typename state_of<Model, double, false>::type start_state;
  chain_scratch<values + 1> chain;
  typename state_of<Model, float, false>::type chain_states[2];
  float start[values + 1], acceptance[values + 1];
  voxel_status status;
};

/// Arrays of numbers of the run's lengths.
struct voxel_memory {
  double* precise;  ///< padded
  float* rounded;   ///< padded
  float* samples;   ///< sample_floats()
};

namespace detail {

/// Zeros for a voxel that could not be fitted.
template <class Model>
VOXHERD_FUNCTION inline void clear(const model_run<Model>& run, std::size_t item,
                                   const output_arrays<model_outputs<Model>>& out) {
  for (std::size_t i = 0; i < model_outputs<Model>::status; ++i) {
    if (out.array[i] == nullptr) continue;
    const std::size_t width = run.bytes[i] / sizeof(float);
    for (std::size_t v = 0; v < width; ++v) out.floats(i)[item * width + v] = 0.0f;
  }
}

/// Writes a direction.
template <class Outputs>
VOXHERD_FUNCTION inline void put_axis(std::size_t place, std::size_t item, const double (&axis)[3],
                                      const output_arrays<Outputs>& out) {
  if (out.floats(place) == nullptr) return;
  for (std::size_t i = 0; i < 3; ++i) out.floats(place)[3 * item + i] = static_cast<float>(axis[i]);
}

/// Writes a best fit, and a chain's start inside the bounds.
template <class Model>
VOXHERD_FUNCTION inline void store(const model_run<Model>& run, const model_result<parameter_count<Model>>& r,
                                   float* start, std::size_t item, const output_arrays<model_outputs<Model>>& out) {
  constexpr int n = parameter_count<Model>;
  using outputs = model_outputs<Model>;
  for (int i = 0; i <= n; ++i) {
    out.put_float(static_cast<std::size_t>(i), item, static_cast<float>(r.value[i]));
    start[i] = static_cast<float>(r.value[i]);
    if (i == n) continue;
    const double margin = 1e-4 * (run.numbers.high[i] - run.numbers.low[i]);
    const double low = run.numbers.low[i] + margin, high = run.numbers.high[i] - margin;
    start[i] = static_cast<float>(r.value[i] < low ? low : r.value[i] > high ? high : r.value[i]);
  }
  if constexpr (directional<Model>) {
    find_angles(r.axes, start + n + 1);
    double own[n], derived[outputs::derived_count];
    for (int i = 0; i < n; ++i) own[i] = r.value[i];
    run.model.derive(own, derived);
    for (std::size_t i = 0; i < outputs::derived_count; ++i)
      out.put_float(outputs::first_derived + i, item, static_cast<float>(derived[i]));
    for (std::size_t i = 0; i < outputs::axis_count; ++i)
      put_axis(outputs::first_axis + i, item, r.axes.axis[run.axis_number[i]], out);
  }
  // Also where it is not sampled.
  start[value_count<Model>] = static_cast<float>(r.sigma > 0 ? 1 / (r.sigma * r.sigma) : 1);
  out.put_float(outputs::sigma, item, static_cast<float>(r.sigma));
  out.put_float(outputs::residual, item, static_cast<float>(r.residual));
}

/// Mean and standard deviation of value(0), ..., value(count - 1).
template <class Value>
VOXHERD_FUNCTION inline void summarise(int count, const Value& value, double& mean, double& sd) {
  double sum = 0, squares = 0;
  for (int s = 0; s < count; ++s) sum += value(s);
  mean = sum / count;
  for (int s = 0; s < count; ++s) squares += (value(s) - mean) * (value(s) - mean);
  sd = count > 1 ? sqrt(squares / (count - 1)) : 0;
}

/// The samples of the axis with this number: principal eigenvector of the mean of x x^T, 1 less its eigenvalue.
template <class Model>
VOXHERD_FUNCTION inline void store_axis(const model_run<Model>& run, std::size_t number, const float* samples,
                                        std::size_t item, const output_arrays<model_outputs<Model>>& out) {
  using outputs = model_outputs<Model>;
  const float* const angles = samples + outputs::values * static_cast<std::size_t>(run.samples);
  double sums[6] = {};
  for (int s = 0; s < run.samples; ++s) {
    frame_angles a;
    for (int i = 0; i < 3; ++i) a.set(i, angles[i * run.samples + s]);
    const frame<float> f = a.axes();
    const float(&x)[3] = f.axis[run.axis_number[number]];
    const double weight = 1.0 / run.samples;
    sums[0] += weight * x[0] * x[0], sums[1] += weight * x[0] * x[1], sums[2] += weight * x[0] * x[2];
    sums[3] += weight * x[1] * x[1], sums[4] += weight * x[1] * x[2], sums[5] += weight * x[2] * x[2];
  }
  const auto e = symmetric_eigen3(sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]);
  put_axis(outputs::first_axis + number, item, e.vector[0], out);
  out.put_float(outputs::first_dispersion + number, item, static_cast<float>(1 - e.value[0]));
}

/// Mean, standard deviation and samples of derived value `d`.
template <class Model>
VOXHERD_FUNCTION inline void store_derived(const model_run<Model>& run, std::size_t d, const float* samples,
                                           std::size_t item, const output_arrays<model_outputs<Model>>& out) {
  constexpr int n = parameter_count<Model>;
  using outputs = model_outputs<Model>;
  const auto value = [&](int s) {
    float own[n], derived[outputs::derived_count];
    for (int i = 0; i < n; ++i) own[i] = samples[i * run.samples + s];
    run.model.derive(own, derived);
    return derived[d];
  };
  double mean, sd;
  summarise(run.samples, value, mean, sd);
  out.put_float(outputs::first_derived + d, item, static_cast<float>(mean));
  out.put_float(outputs::first_derived_sd + d, item, static_cast<float>(sd));
  if (float* const to = out.floats(outputs::first_derived_samples + d))
    for (int s = 0; s < run.samples; ++s)
      to[item * static_cast<std::size_t>(run.samples) + static_cast<std::size_t>(s)] = value(s);
}

/// Mean, standard deviation, samples and acceptance of the chain's parameter `p`.
template <class Model>
VOXHERD_FUNCTION inline void store_chain(const model_run<Model>& run, int p, const float* samples,
                                         const float* acceptance, std::size_t item,
                                         const output_arrays<model_outputs<Model>>& out) {
  using outputs = model_outputs<Model>;
  const auto i = static_cast<std::size_t>(p), count = static_cast<std::size_t>(run.samples);
  const bool is_tau = p == value_count<Model>, is_present = !is_tau || run.samples_tau;
  if (float* const to = out.floats(outputs::acceptance))
    to[item * (value_count<Model> + 1) + i] = is_present ? acceptance[p] : 0.0f;
  if (!is_present) return;
  const float* const row = samples + i * count;
  if (i >= outputs::values && !is_tau) {
    if (float* const to = out.floats(outputs::first_angle_samples + i - outputs::values))
      for (std::size_t s = 0; s < count; ++s) to[item * count + s] = row[s];
    return;
  }
  double mean, sd;
  summarise(
      run.samples, [=](int s) { return is_tau ? 1 / sqrtf(row[s]) : row[s]; }, mean, sd);
  out.put_float(is_tau ? outputs::sigma : i, item, static_cast<float>(mean));
  out.put_float(is_tau ? outputs::sigma_sd : outputs::first_sd + i, item, static_cast<float>(sd));
  if (is_tau) return;
  if (float* const to = out.floats(outputs::first_samples + i))
    for (std::size_t s = 0; s < count; ++s) to[item * count + s] = row[s];
}

}  // namespace detail

/// Fits, and samples, one voxel. Teams::fit and Teams::chain: the same lanes, for double and float.
template <class Teams, class Model>
VOXHERD_FUNCTION inline void estimate_voxel(const model_run<Model>& run, std::uint64_t voxel, const float* row,
                                            const voxel_memory& memory, voxel_scratch<Teams, Model>& s,
                                            std::size_t item, const output_arrays<model_outputs<Model>>& out) {
  constexpr int n = parameter_count<Model>;
  const typename Teams::fit fit_team;
  fit_team.once([&] {
    s.status = voxel_preparer{run.measurements, run.padded, run.noise}(row, memory.rounded);
    if (auto* const codes = static_cast<std::uint8_t*>(out.array[model_outputs<Model>::status]))
      codes[item] = static_cast<std::uint8_t>(s.status);
    if (s.status != voxel_status::fitted) detail::clear(run, item, out);
  });
  fit_team.sync();
  if (s.status != voxel_status::fitted) return;
  fit_team.share(run.padded, [&](int i) { memory.precise[i] = memory.rounded[i]; });
  fit_team.sync();
  const float* const deviation = run.deviates ? row + run.measurements : nullptr;
  const voxel_data<double> precise{run.precise, memory.precise, deviation, run.measurements, run.padded};
  const model_result<n> best =
      fit_model(fit_team, precise, run.model, run.numbers, run.noise, run.sigma, s.fit, s.fit_state, s.start_state);
  fit_team.once([&] { detail::store(run, best, s.start, item, out); });
  if (run.samples == 0) return;
  fit_team.sync();

  using team = typename Teams::chain;
  const team chain_team;
  const voxel_data<float> rounded{run.rounded, memory.rounded, deviation, run.measurements, run.padded};
  const auto sample = [&](auto noise) {
    using steps = model_sampler<team, Model, decltype(noise)>;
    steps one(chain_team, rounded, run.model, run.numbers, run.samples_tau, run.samples, s.chain, s.chain_states,
              s.start);
    chain<team, steps, chain_scratch<value_count<Model> + 1>>(chain_team, run.lengths, s.chain, one)
        .run(voxel, memory.samples, s.acceptance, true);
  };
  if (run.noise == noise_model::rician)
    sample(rician_noise(run.measurements, 1));
  else
    sample(gaussian_noise(run.measurements, 1));
  chain_team.sync();
  constexpr int chained = value_count<Model> + 1;
  chain_team.share(chained, [&](int p) { detail::store_chain(run, p, memory.samples, s.acceptance, item, out); });
  if constexpr (directional<Model>) {
    using outputs = model_outputs<Model>;
    chain_team.share(static_cast<int>(outputs::axis_count),
                     [&](int i) { detail::store_axis(run, static_cast<std::size_t>(i), memory.samples, item, out); });
    chain_team.share(static_cast<int>(outputs::derived_count), [&](int i) {
      detail::store_derived(run, static_cast<std::size_t>(i), memory.samples, item, out);
    });
  }
}

}  // namespace voxherd::voxel_model
