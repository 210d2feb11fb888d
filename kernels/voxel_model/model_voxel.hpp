#pragma once

#include "kernels/portable/gradient_table.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "kernels/voxel_model/model_fit.hpp"
#include "kernels/voxel_model/model_outputs.hpp"
#include "kernels/voxel_model/model_sampler.hpp"
#include "kernels/voxel_model/voxel_sizes.hpp"

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
  output_sizes<outputs> bytes;
  std::array<int, outputs::axis_count + 1> axis_number{};

  explicit model_run(const Model& m) : model(m) {
    if constexpr (directional<Model>)
      for (std::size_t i = 0; i < outputs::axis_count; ++i) axis_number[i] = Model::axes[i].number;
  }
  voxel_sizes sizes() const {
    return {.measurements = measurements,
            .padded = padded,
            .deviates = deviates,
            .noise = noise,
            .parameters = value_count<Model> + 1,
            .sample_floats = (value_count<Model> + 1) * samples};
  }
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

/// Parameters of a chain, with tau: of its starts and of its acceptance.
template <class Model>
inline constexpr int chain_parameters = value_count<Model> + 1;

namespace detail {

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
    float angles[3];
    find_angles(r.axes, angles);
    for (int i = 0; i < turn_count<Model>; ++i) start[n + 1 + i] = angles[i];
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
    for (int i = 0; i < 3; ++i) a.set(i, i < turn_count<Model> ? angles[i * run.samples + s] : 0.0f);
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

/// Writes means, standard deviations and samples of one voxel's chain.
template <class Model>
struct model_summary {
  model_run<Model> run;

  VOXHERD_FUNCTION void operator()(const float* samples, const float* acceptance, std::size_t item,
                                   const output_arrays<model_outputs<Model>>& out) const {
    using outputs [[maybe_unused]] = model_outputs<Model>;
    for (int p = 0; p < chain_parameters<Model>; ++p) detail::store_chain(run, p, samples, acceptance, item, out);
    if constexpr (directional<Model>) {
      for (std::size_t i = 0; i < outputs::axis_count; ++i) detail::store_axis(run, i, samples, item, out);
      for (std::size_t i = 0; i < outputs::derived_count; ++i) detail::store_derived(run, i, samples, item, out);
    }
  }
};

/// Samples one voxel. `states`: two.
template <class Team, class Model, class Scratch, class State>
VOXHERD_FUNCTION inline void sample_model(const Team& team, const model_run<Model>& run, const voxel_data<float>& data,
                                          std::uint64_t voxel, const float* start, float* samples, float* acceptance,
                                          Scratch& scratch, State* states) {
  const auto sample = [&](auto noise) {
    using steps = model_sampler<Team, Model, decltype(noise)>;
    steps one(team, data, run.model, run.numbers, run.samples_tau, run.samples, scratch, states, start);
    chain<Team, steps, Scratch>(team, run.lengths, scratch, one).run(voxel, samples, acceptance, true);
  };
  if (run.noise == noise_model::rician)
    sample(rician_noise(run.measurements, 1));
  else
    sample(gaussian_noise(run.measurements, 1));
}

}  // namespace voxherd::voxel_model
