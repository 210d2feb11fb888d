#include "bench/noddi_problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "kernels/phantom/phantom_signals.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "kernels/voxel_model/deviated_gradients.hpp"

namespace voxherd::bench {

namespace {

constexpr double mean_s0 = 1000, signal_to_noise = 30;
/// The same in all voxels, up to 5 % of a gradient's length.
constexpr float deviation[9] = {0.05f, 0.02f, -0.01f, 0.03f, -0.04f, 0.02f, 0.01f, -0.03f, 0.04f};

/// Six volumes without weighting, then the same directions on a half sphere, turned from shell to shell.
gradient_table make_noddi_gradients(int directions) {
  gradient_table table;
  const auto add = [&](double x, double y, double z, double b) {
    table.x.push_back(x), table.y.push_back(y), table.z.push_back(z), table.b_s_per_mm2.push_back(b);
  };
  for (int i = 0; i < 6; ++i) add(0, 0, 0, 0);
  for (const int shell : {1, 2, 3})
    for (int i = 0; i < directions; ++i) {
      const double z = (i + 0.5) / directions, across = std::sqrt(1 - z * z);
      const double turn = 2 * std::numbers::pi * std::numbers::phi * i + shell;
      add(across * std::cos(turn), across * std::sin(turn), z, 1000.0 * shell);
    }
  return table;
}

std::vector<noddi::signal_parameters> mixed_tissue(std::size_t count, bool has_dot) {
  std::mt19937_64 random(20120301);
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  std::vector<noddi::signal_parameters> list;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_white = i % 2 == 0;
    const double z = uniform(-1, 1), turn = uniform(0, 2 * std::numbers::pi), across = std::sqrt(1 - z * z);
    list.push_back({.s0 = uniform(0.9, 1.1) * mean_s0,
                    .fwf = uniform(0.02, 0.3),
                    .ndi = is_white ? uniform(0.5, 0.75) : uniform(0.3, 0.5),
                    .odi = is_white ? uniform(0.05, 0.25) : uniform(0.3, 0.6),
                    .dot = has_dot ? 0.1 : 0,
                    .axis = {across * std::cos(turn), across * std::sin(turn), z}});
  }
  return list;
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

}  // namespace

template <class Model>
noddi_problem<Model>::noddi_problem(const device& d, const noddi_case& c)
    : device_(d), case_(c), truth_(mixed_tissue(c.voxels, c.settings.dot)), voxel_numbers_(c.voxels) {
  use_device(d);
  const gradient_table gradients = make_noddi_gradients(c.directions);
  std::iota(voxel_numbers_.begin(), voxel_numbers_.end(), std::uint64_t{0});
  write_signals(gradients);
  allocate_results();
  estimator_ = voxel_model::make_estimator(d, Model(c.settings), gradients, c.gradient_deviation, c.settings);
}

template <class Model>
void noddi_problem<Model>::write_signals(const gradient_table& gradients) {
  const std::size_t k = gradients.size(), row_floats = k + (case_.gradient_deviation ? 9 : 0);
  rows_ = host_buffer(device_, case_.voxels * row_floats * sizeof(float));
  auto* const rows = reinterpret_cast<float*>(rows_.data());
  const noise_settings noise{noise_kind::rician, mean_s0 / signal_to_noise, 5};
  const gradient_table measured = case_.gradient_deviation ? voxel_model::deviated(gradients, deviation) : gradients;
  const noddi::protocol protocol(measured, case_.settings, static_cast<int>(k));
#pragma omp parallel for
  for (std::size_t i = 0; i < case_.voxels; ++i) {
    const std::vector<double> signals = predict_signals(protocol, truth_[i]);
    for (std::size_t j = 0; j < k; ++j) rows[i * row_floats + j] = with_noise(signals[j], noise, i, j);
    if (case_.gradient_deviation) std::copy_n(deviation, 9, rows + i * row_floats + k);
  }
}

template <class Model>
void noddi_problem<Model>::allocate_results() {
  const auto chosen = chosen_outputs<outputs>(case_.settings);
  const auto widths = output_widths<outputs>(case_.settings);
  for (std::size_t i = 0; i < results_.count; ++i) {
    if (!chosen[i]) continue;
    memory_.emplace_back(device_, case_.voxels * widths[i]);
    results_.array[i] = memory_.back().data();
  }
}

template <class Model>
void noddi_problem<Model>::run() {
  use_device(device_);
  estimator_->run(case_.voxels, voxel_numbers_.data(), reinterpret_cast<const float*>(rows_.data()), results_);
}

template <class Model>
std::string noddi_problem<Model>::find_error() const {
  std::vector<double> ndi, odi, fwf;
  for (std::size_t i = 0; i < case_.voxels; ++i) {
    const std::uint8_t status = results_.template values<"status">()[i];
    if (status != 0) return fmt::format("voxel {}: {}; expected fitted", i, voxel_status_texts.at(status).meaning);
    const auto error = [i](const float* found, double truth) {
      return std::abs(static_cast<double>(found[i]) - truth);
    };
    ndi.push_back(error(results_.template values<"NDI">(), truth_[i].ndi));
    odi.push_back(error(results_.template values<"ODI">(), truth_[i].odi));
    fwf.push_back(error(results_.template values<"FWF">(), truth_[i].fwf));
  }
  const double of_ndi = median(ndi), of_odi = median(odi), of_fwf = median(fwf);
  if (of_ndi < 0.05 && of_odi < 0.05 && of_fwf < 0.05) return {};
  return fmt::format("median errors: NDI {:.3f}, ODI {:.3f}, FWF {:.3f} (expected below 0.05)", of_ndi, of_odi, of_fwf);
}

std::unique_ptr<problem> make_noddi_problem(const device& d, const noddi_case& c) {
  return noddi::with_model(c.settings, [&](const auto& model) -> std::unique_ptr<problem> {
    return std::make_unique<noddi_problem<std::decay_t<decltype(model)>>>(d, c);
  });
}

}  // namespace voxherd::bench
