#include "bench/ballstick_problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "bench/gradient_scheme.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd::bench {

namespace {

constexpr double mean_s0 = 1000, signal_to_noise = 30, degree = std::numbers::pi / 180;

direction3 cross(const direction3& a, const direction3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double length(const direction3& a) { return std::hypot(a[0], a[1], a[2]); }

direction3 unit(const direction3& a) { return {a[0] / length(a), a[1] / length(a), a[2] / length(a)}; }

template <class Random>
direction3 any_direction(Random& random) {
  std::normal_distribution<double> normal;
  const double x = normal(random), y = normal(random), z = normal(random);
  return unit({x, y, z});
}

template <class Random>
tissue any_tissue(std::size_t kind, Random& random) {
  constexpr std::array<std::size_t, 4> fibres{1, 2, 2, 3};
  constexpr std::array<std::array<double, 3>, 4> fractions{{{0.6}, {0.45, 0.25}, {0.45, 0.25}, {0.4, 0.24, 0.14}}};
  tissue t;
  t.inside = true;
  t.fibres = fibres[kind];
  t.fraction = fractions[kind];
  t.d_mm2_per_s = std::uniform_real_distribution<double>(0.8e-3, 1.2e-3)(random);
  t.S0 = std::uniform_real_distribution<double>(0.9 * mean_s0, 1.1 * mean_s0)(random);
  const double angle = (kind == 2 ? 60 : 90) * degree;
  const direction3 first = any_direction(random), across = unit(cross(first, any_direction(random)));
  for (std::size_t i = 0; i < 3; ++i) t.direction[1][i] = std::cos(angle) * first[i] + std::sin(angle) * across[i];
  t.direction[0] = first;
  t.direction[2] = cross(first, across);
  return t;
}

std::vector<tissue> mixed_tissue(std::size_t count) {
  std::mt19937_64 random(20130429);
  std::vector<tissue> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = any_tissue(i % 4, random);
  return list;
}

/// Row after row: K samples of each voxel.
void write_signals(const std::vector<tissue>& voxels, const gradient_table& gradients, float* rows) {
  const noise_settings noise{noise_kind::gaussian, mean_s0 / signal_to_noise, 5};
  const std::size_t measurements = gradients.size();
#pragma omp parallel for
  for (std::size_t k = 0; k < measurements; ++k) {
    std::vector<float> volume(voxels.size());
    make_dwi_samples(voxels, 0, gradients, k, noise, volume.data());
    for (std::size_t i = 0; i < voxels.size(); ++i) rows[i * measurements + k] = volume[i];
  }
}

double degrees_between(const direction3& a, const float* b) {
  const direction3 found{static_cast<double>(b[0]), static_cast<double>(b[1]), static_cast<double>(b[2])};
  const double along = a[0] * found[0] + a[1] * found[1] + a[2] * found[2];
  return std::atan2(length(cross(a, found)), std::abs(along)) / degree;
}

/// Infinite for an empty list, and where a value is not a number.
double median(std::vector<double> values) {
  for (double& v : values)
    if (std::isnan(v)) v = INFINITY;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  if (middle == values.end()) return INFINITY;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool is_only_fit(const ballstick_case& c) { return c.settings.burn_in_jumps + c.settings.sampled_jumps == 1; }

}  // namespace

ballstick_case fit_only_case(ballstick_case c) {
  c.settings.burn_in_jumps = 0;
  c.settings.sampled_jumps = 1;
  c.settings.sample_every = 1;
  return c;
}

ballstick_problem::ballstick_problem(const device& d, const ballstick_case& c)
    : device_(d), case_(c), truth_(mixed_tissue(c.voxels)), voxel_numbers_(c.voxels) {
  use_device(d);
  const gradient_table gradients = make_gradient_table(c.measurements);
  std::iota(voxel_numbers_.begin(), voxel_numbers_.end(), std::uint64_t{0});
  rows_ = host_buffer(d, c.voxels * c.measurements * sizeof(float));
  write_signals(truth_, gradients, reinterpret_cast<float*>(rows_.data()));
  allocate_results();
  estimator_ = ballstick::make_estimator(d, gradients, c.settings, false);
}

void ballstick_problem::allocate_results() {
  const ballstick::output_settings s{case_.settings};
  const auto chosen = chosen_outputs<ballstick::posterior_outputs>(s);
  const auto widths = output_widths<ballstick::posterior_outputs>(s);
  for (std::size_t i = 0; i < results_.count; ++i) {
    if (!chosen[i]) continue;
    memory_.emplace_back(device_, case_.voxels * widths[i]);
    results_.array[i] = memory_.back().data();
  }
}

void ballstick_problem::run() {
  use_device(device_);
  estimator_->run(case_.voxels, voxel_numbers_.data(), reinterpret_cast<const float*>(rows_.data()), results_);
}

bool ballstick_problem::is_checked(const tissue& t) const {
  const auto fitted = static_cast<std::size_t>(case_.settings.fibres);
  return is_only_fit(case_) ? t.fibres == fitted : t.fibres <= fitted;
}

std::string ballstick_problem::find_error() const {
  const float* const f1 = results_.values<"mean_f1">();
  const float* const direction = results_.values<"dyads1">();
  std::vector<double> degrees, fraction_errors, s0_errors;
  for (std::size_t i = 0; i < case_.voxels; ++i) {
    if (results_.values<"status">()[i] != 0)
      return fmt::format("voxel {}: {}; expected fitted", i,
                         voxel_status_texts.at(results_.values<"status">()[i]).meaning);
    // One stick in voxels with several fibres lowers S0 by 2.6 % at K = 128, whatever the program does.
    if (case_.settings.fibres > 1 || truth_[i].fibres == 1)
      s0_errors.push_back(std::abs(static_cast<double>(results_.values<"mean_S0">()[i]) / truth_[i].S0 - 1));
    if (!is_checked(truth_[i])) continue;
    degrees.push_back(degrees_between(truth_[i].direction[0], direction + 3 * i));
    fraction_errors.push_back(std::abs(static_cast<double>(f1[i]) - truth_[i].fraction[0]));
  }
  const double s0 = median(s0_errors);
  const bool no_such_voxel = is_only_fit(case_) && case_.settings.fibres > static_cast<int>(max_phantom_fibres);
  const double angle = no_such_voxel ? 0 : median(degrees), fraction = no_such_voxel ? 0 : median(fraction_errors);
  if (angle < 4 && fraction < 0.03 && s0 < 0.02) return {};
  return fmt::format(
      "median errors: direction {:.2f} degrees (expected below 4), fraction {:.4f} (below 0.03), S0 {:.2f} % (below 2)",
      angle, fraction, 100 * s0);
}

}  // namespace voxherd::bench
