#include "tests/ballstick/reference/ballstick_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/ballstick/ballstick_cpu.hpp"
#include "kernels/portable/draws.hpp"
#include "tests/ballstick/reference/ballstick_case.hpp"

namespace voxherd::reference {
namespace {

ballstick::relevance_prior relevance(ard_fibres a) {
  switch (a) {
    case ard_fibres::none:
      return ballstick::relevance_prior::none;
    case ard_fibres::all:
      return ballstick::relevance_prior::all;
    case ard_fibres::all_but_first:
      break;
  }
  return ballstick::relevance_prior::all_but_first;
}

double at(const std::vector<float>& values, std::size_t i) { return static_cast<double>(values.at(i)); }

/// Position of the reference's update in the program's layout, which determines the random numbers.
int parameter_index(const ballstick::parameter_layout& l, const update& u) {
  switch (u.what) {
    case scalar::f0:
      return l.f0;
    case scalar::tau:
      return l.tau;
    case scalar::d:
      return l.d;
    case scalar::d_std:
      return l.d_std;
    case scalar::ratio:
      return l.ratio;
    case scalar::s0:
      return l.s0;
    case scalar::th:
      return l.th(u.fibre);
    case scalar::ph:
      return l.ph(u.fibre);
    case scalar::f:
      break;
  }
  return l.f(u.fibre);
}

ballstick_settings reference_settings(const ballstick::settings& s) {
  ballstick_settings r;
  r.model = static_cast<int>(s.model);
  r.fibres = s.fibres;
  r.unattenuated = s.unattenuated;
  r.rician = s.noise == ballstick::noise_model::rician;
  return r;
}

std::vector<float> as_floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

}  // namespace

ballstick::settings program_settings(const ballstick_settings& s, std::uint64_t seed) {
  ballstick::settings p;
  p.model = static_cast<ballstick::diffusion_model>(s.model);
  p.noise = s.rician ? ballstick::noise_model::rician : ballstick::noise_model::gaussian;
  p.fibres = s.fibres;
  p.relevance = relevance(s.ard);
  p.relevance_weight = static_cast<float>(s.ard_weight);
  p.unattenuated = s.unattenuated;
  p.unattenuated_relevance = s.ard_unattenuated;
  p.burn_in_jumps = s.burn_in;
  p.sampled_jumps = s.jumps;
  p.sample_every = s.sample_every;
  p.adapt_every = s.adapt_every;
  p.ratio_mean = static_cast<float>(s.ratio_mean);
  p.ratio_std = static_cast<float>(s.ratio_std);
  p.seed = seed;
  return p;
}

ballstick_run::ballstick_run(const device& d, const gradient_table& gradients, const ballstick::settings& s,
                             const std::vector<float>& rows, const std::vector<std::uint64_t>& voxels)
    : settings_(s), outputs_(ballstick::list_outputs({s, true})) {
  use_device(d);
  std::vector<std::uint8_t> status(voxels.size());
  std::vector<std::span<std::byte>> places;
  outputs_.pop_back();  // the status, whose values are not floats
  for (const output_spec& o : outputs_) values_.emplace_back(o.bytes_per_item() / sizeof(float) * voxels.size());
  for (std::vector<float>& values : values_) places.push_back(std::as_writable_bytes(std::span(values)));
  places.push_back(std::as_writable_bytes(std::span(status)));
  const auto view =
      arrays_in<ballstick::posterior_outputs>(places, chosen_outputs<ballstick::posterior_outputs>({s, true}));
  const bool deviates = rows.size() == voxels.size() * (gradients.size() + 9);
  ballstick::make_estimator(d, gradients, s, deviates)->run(voxels.size(), voxels.data(), rows.data(), view);
  for (const std::uint8_t code : status) EXPECT_EQ(code, 0);
}

const std::vector<float>& ballstick_run::values(const std::string& name) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i].name == name) return values_[i];
  throw std::out_of_range("no output " + name);
}

std::array<double, 3> ballstick_run::direction(int fibre, std::size_t item) const {
  const auto& dyads = values("dyads" + std::to_string(fibre + 1));
  return {at(dyads, 3 * item), at(dyads, 3 * item + 1), at(dyads, 3 * item + 2)};
}

ballstick_parameters ballstick_run::sample(std::size_t item, std::size_t index) const {
  const auto get = [&](const std::string& name) {
    return at(values(name), item * static_cast<std::size_t>(settings_.samples()) + index);
  };
  const auto l = ballstick::make_parameter_layout(settings_);
  ballstick_parameters p;
  p.s0 = get("S0");
  p.d = get("d");
  if (l.d_std >= 0) p.d_std = get("d_std");
  if (l.ratio >= 0) p.ratio = get("R");
  if (l.f0 >= 0) p.f0 = get("f0");
  if (l.tau >= 0) p.tau = get("tau");
  for (std::size_t k = 0; k < static_cast<std::size_t>(settings_.fibres); ++k) {
    const std::string n = std::to_string(k + 1);
    p.th[k] = get("th" + n);
    p.ph[k] = get("ph" + n);
    p.f[k] = get("f" + n);
  }
  return p;
}

ballstick_parameters program_start(const ballstick::settings& s, const gradient_table& gradients,
                                   const std::vector<float>& signals) {
  const auto l = ballstick::make_parameter_layout(s);
  std::vector<float> start(static_cast<std::size_t>(l.count));
  ballstick::make_cpu_start_fitter(s, gradients)->fit(signals.data(), nullptr, start.data());
  ballstick_parameters p;
  for (const update& u : jump_updates(reference_settings(s)))
    parameter_value(p, u) = at(start, static_cast<std::size_t>(parameter_index(l, u)));
  return p;
}

draw_source program_draws(const ballstick::settings& s, std::uint64_t voxel) {
  const auto updates = jump_updates(reference_settings(s));
  const auto l = ballstick::make_parameter_layout(s);
  return [=](int jump, int index) {
    const auto place = parameter_index(l, updates.at(static_cast<std::size_t>(index)));
    const auto n = static_cast<std::uint64_t>(jump * l.count + place);
    const draw_pair pair = draw(s.seed, voxel, n / 2);
    return proposal_draw{static_cast<double>(pair.normal[n % 2]),
                         std::exp2(-static_cast<double>(pair.neg_log2_uniform[n % 2]))};
  };
}

void expect_same_first_jumps(const device& d, const ballstick_settings& wanted, int directions) {
  ballstick_settings s = wanted;
  s.burn_in = 0;
  s.jumps = 60;  // after the first adaptation
  s.sample_every = 1;
  const auto gradients = spiral_shells(6, directions, {700, 1500, 3000});
  const auto program = program_settings(s, 99);
  std::mt19937_64 random(7);
  std::vector<float> rows;
  std::vector<std::uint64_t> voxels{3, 1000000007, 0};
  for (std::size_t v = 0; v < voxels.size(); ++v) {
    const auto signals = as_floats(positive_signals(noisy_signals(s, known_voxel(s), gradients, 40, random)));
    rows.insert(rows.end(), signals.begin(), signals.end());
  }
  const ballstick_run run(d, gradients, program, rows, voxels);
  for (std::size_t v = 0; v < voxels.size(); ++v) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(v * gradients.size());
    const std::vector<float> signals(first, first + static_cast<std::ptrdiff_t>(gradients.size()));
    const auto posterior =
        sample_ballstick(s, gradients, {signals.begin(), signals.end()}, program_start(program, gradients, signals),
                         program_draws(program, voxels[v]));
    int same = 0;
    for (; same < s.jumps; ++same) {
      const auto& expected = posterior.samples[static_cast<std::size_t>(same)];
      const auto found = run.sample(v, static_cast<std::size_t>(same));
      bool equal =
          std::abs(found.s0 - expected.s0) < 1e-4 * expected.s0 && std::abs(found.d - expected.d) < 1e-4 * expected.d;
      equal = equal && std::abs(found.d_std - expected.d_std) <= 1e-3 * expected.d_std;
      equal = equal && std::abs(found.ratio - expected.ratio) <= 1e-4 * expected.ratio;
      equal =
          equal && std::abs(found.tau - expected.tau) <= 1e-3 * expected.tau && std::abs(found.f0 - expected.f0) < 1e-4;
      for (int k = 0; k < s.fibres; ++k) {
        const auto slot = static_cast<std::size_t>(k);
        equal = equal && std::abs(found.f[slot] - expected.f[slot]) < 1e-4;
        equal = equal && axis_angle(fibre_direction(found, k), fibre_direction(expected, k)) < 1e-3;
      }
      if (!equal) break;
    }
    // About one in ten thousand decisions is within rounding of its threshold and may differ.
    EXPECT_GE(same, 50) << "model " << s.model << " fibres " << s.fibres << " rician " << s.rician << " f0 "
                        << s.unattenuated << " voxel " << v;
  }
}

void expect_deviation_is_another_table(const device& d, int directions) {
  ballstick_settings s;
  s.model = 1;
  s.fibres = 2;
  s.burn_in = 0;
  s.jumps = 40;
  s.sample_every = 1;
  const auto nominal = spiral_shells(6, directions, {700, 1500, 3000});
  // FSL's order, column by column: element (row, column) of L at 3 column + row
  const std::array<float, 9> deviation{0.05f, 0.02f, -0.01f, -0.03f, -0.04f, 0.015f, 0.01f, 0.025f, 0.03f};
  gradient_table actual = nominal;
  for (std::size_t i = 0; i < nominal.size(); ++i) {
    const double g[3] = {nominal.x[i], nominal.y[i], nominal.z[i]};
    double v[3];
    for (std::size_t row = 0; row < 3; ++row) {
      v[row] = g[row];
      for (std::size_t column = 0; column < 3; ++column)
        v[row] += at({deviation.begin(), deviation.end()}, 3 * column + row) * g[column];
    }
    const double length = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (nominal.b_s_per_mm2[i] == 0 || length == 0) continue;
    actual.x[i] = v[0] / length, actual.y[i] = v[1] / length, actual.z[i] = v[2] / length;
    actual.b_s_per_mm2[i] *= length * length;
  }
  std::mt19937_64 random(8);
  const auto plain = as_floats(positive_signals(noisy_signals(s, known_voxel(s), actual, 20, random)));
  auto deviating = plain;
  deviating.insert(deviating.end(), deviation.begin(), deviation.end());
  const auto program = program_settings(s, 5);
  const ballstick_run one(d, nominal, program, deviating, {11}), other(d, actual, program, plain, {11});
  for (const char* name : {"S0", "d", "f1", "f2", "th1", "th2"}) {
    for (std::size_t i = 0; i < one.values(name).size(); ++i)
      EXPECT_NEAR(one.values(name)[i], other.values(name)[i], 1e-3 * std::abs(other.values(name)[i]))
          << name << " " << i;
  }
}

void expect_fibres_by_odds(const device& d, bool rician) {
  const gradient_table gradients = spiral_shells(4, 30, {1000, 2500});
  ballstick_settings s;
  s.model = 2;
  s.rician = rician;
  s.ard = ard_fibres::none;
  s.unattenuated = true;  // f0's acceptance comes after the last fibre's
  std::vector<std::vector<double>> measured;
  std::vector<float> rows;
  for (s.fibres = 1; s.fibres <= 3; ++s.fibres) {
    std::mt19937_64 random(static_cast<std::uint64_t>(s.fibres));
    measured.push_back(noisy_signals(s, known_voxel(s), gradients, 10, random));
    for (const double y : measured.back()) rows.push_back(static_cast<float>(y));
  }
  const std::vector<std::uint64_t> voxels{7, 8, 9};
  s.fibres = 3;
  ballstick::settings chosen = program_settings(s, 5);
  chosen.gain_per_fibre = 5.0f;
  const ballstick_run by_odds(d, gradients, chosen, rows, voxels);
  std::vector<ballstick_run> fixed;
  std::vector<std::array<double, 3>> likelihood(3);  // by number of fibres and voxel
  for (s.fibres = 1; s.fibres <= 3; ++s.fibres) {
    const ballstick::settings own = program_settings(s, 5);
    fixed.emplace_back(d, gradients, own, rows, voxels);
    for (std::size_t item = 0; item < 3; ++item)
      for (std::size_t i = 0; i < static_cast<std::size_t>(own.samples()); ++i) {
        const ballstick_parameters p = fixed.back().sample(item, i);
        const std::vector<double> predicted = ballstick_signals(s, p, gradients);
        likelihood[item][static_cast<std::size_t>(s.fibres - 1)] -=
            (rician ? rician_energy(measured[item], predicted, p.tau) : gaussian_energy(measured[item], predicted)) /
            own.samples();
      }
  }
  for (std::size_t item = 0; item < 3; ++item) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < 3; ++k) {
      const double gain = likelihood[item][k] - likelihood[item][k - 1];
      EXPECT_NEAR(at(by_odds.values("log_likelihood_gain"), 2 * item + k - 1), gain, 0.02)
          << item << ", " << k + 1 << " fibres";
      if (likelihood[item][k] - 5 * static_cast<double>(k) >= likelihood[item][best] - 5 * static_cast<double>(best))
        best = k;
    }
    EXPECT_EQ(best, item) << "fibres chosen";
    for (const std::string name : {"mean_f1", "mean_f2", "mean_f3", "mean_d", "mean_f0"}) {
      const bool exists =
          name.starts_with("mean_f") && name != "mean_f0" ? name.back() - '1' <= static_cast<int>(best) : true;
      EXPECT_EQ(at(by_odds.values(name), item), exists ? at(fixed[best].values(name), item) : 0) << name;
    }
    const std::size_t last = by_odds.values("acceptance").size() / 3 - 1, own_last = last - 3 * (2 - best);
    EXPECT_EQ(at(by_odds.values("acceptance"), (last + 1) * item + last),
              at(fixed[best].values("acceptance"), (own_last + 1) * item + own_last));
    EXPECT_EQ(by_odds.sample(item, 3).th[best], fixed[best].sample(item, 3).th[best]);
  }
}

repeat_protocol three_voxels(int repeats) {
  repeat_protocol p;
  p.settings.fibres = 2;
  p.settings.burn_in = 200;
  p.settings.jumps = 400;
  p.settings.sample_every = 10;
  p.repeats = repeats;
  p.gradients = spiral_shells(4, 44, {1500});
  std::mt19937_64 random(23);
  const std::array<std::array<double, 2>, 3> fractions{{{0.5, 0.3}, {0.35, 0.3}, {0.6, 0.2}}};
  for (const auto& f : fractions) {
    ballstick_parameters truth = known_voxel(p.settings);
    truth.f = {f[0], f[1]};
    const auto signals = noisy_signals(p.settings, truth, p.gradients, 30, random);
    p.voxels.push_back(as_floats(signals));
    p.truths.push_back(truth);
  }
  return p;
}

namespace {

repeated_means empty_means() {
  const std::vector<std::string> names{"S0", "d", "f1", "f2", "angle1", "angle2"};
  return {names, std::vector<std::vector<double>>(names.size())};
}

void add(repeated_means& m, const std::array<double, 6>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) m.columns[i].push_back(row[i]);
}

}  // namespace

repeated_means repeats_of_program(const device& d, const repeat_protocol& p, std::size_t voxel, std::uint64_t seed) {
  std::vector<float> rows;
  std::vector<std::uint64_t> keys;
  for (int r = 0; r < p.repeats; ++r) {
    rows.insert(rows.end(), p.voxels[voxel].begin(), p.voxels[voxel].end());
    keys.push_back(static_cast<std::uint64_t>(r));
  }
  const ballstick_run run(d, p.gradients, program_settings(p.settings, seed), rows, keys);
  repeated_means means = empty_means();
  for (std::size_t r = 0; r < keys.size(); ++r)
    add(means, {at(run.values("mean_S0"), r), at(run.values("mean_d"), r), at(run.values("mean_f1"), r),
                at(run.values("mean_f2"), r), axis_angle(run.direction(0, r), fibre_direction(p.truths[voxel], 0)),
                axis_angle(run.direction(1, r), fibre_direction(p.truths[voxel], 1))});
  return means;
}

repeated_means repeats_of_reference(const repeat_protocol& p, std::size_t voxel, std::uint64_t seed) {
  const auto start = program_start(program_settings(p.settings, 0), p.gradients, p.voxels[voxel]);
  const std::vector<double> signals(p.voxels[voxel].begin(), p.voxels[voxel].end());
  std::mt19937_64 random(seed);
  repeated_means means = empty_means();
  for (int r = 0; r < p.repeats; ++r) {
    const auto posterior = sample_ballstick(p.settings, p.gradients, signals, start, ordinary_draws(random));
    add(means, {posterior.mean.s0, posterior.mean.d, posterior.mean.f[0], posterior.mean.f[1],
                axis_angle(posterior.dyads[0], fibre_direction(p.truths[voxel], 0)),
                axis_angle(posterior.dyads[1], fibre_direction(p.truths[voxel], 1))});
  }
  return means;
}

double kolmogorov_smirnov_probability(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  double distance = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    distance = std::max(distance, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  const double root = std::sqrt(n * m / (n + m)), z = (root + 0.12 + 0.11 / root) * distance;
  double probability = 0;
  for (int k = 1; k <= 100; ++k) probability += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * z * z);
  return z < 0.2 ? 1 : std::clamp(probability, 0.0, 1.0);
}

}  // namespace voxherd::reference
