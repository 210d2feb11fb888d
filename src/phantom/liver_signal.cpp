#include "src/phantom/liver_phantom.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace voxherd {

namespace {

constexpr double radians_per_degree = std::numbers::pi / 180;
constexpr double hu_per_mM = 50;        // gives an aorta of 300 HU at its peak
constexpr double proton_signal = 1000;  // at a flip angle of 90 degrees, fully relaxed

std::vector<double> even_times(const liver_phantom_settings& p) {
  std::vector<double> time_s(p.frames);
  for (std::size_t i = 0; i < time_s.size(); ++i) time_s[i] = static_cast<double>(i) * p.spacing_s;
  return time_s;
}

input_curves scaled_curves(const liver_phantom_settings& p, double step_s, std::size_t count) {
  input_curves curves = make_input_curves(agent_arrival_s, step_s, count);
  if (p.signal == perfusion::signal_kind::ct)
    for (auto* curve : {&curves.arterial, &curves.portal})
      for (double& c : *curve) c *= hu_per_mM;
  return curves;
}

input_curves curves_between_frames(const liver_phantom_settings& p) {
  if (p.inputs == inputs_between_frames::sampled) return scaled_curves(p, p.spacing_s, p.frames);
  constexpr double step_s = 0.1;
  const double last_s = p.spacing_s * static_cast<double>(p.frames - 1);
  return scaled_curves(p, step_s, static_cast<std::size_t>(std::ceil(last_s / step_s)) + 2);
}

perfusion::conversion make_conversion(const liver_phantom_settings& p) {
  perfusion::conversion c;
  c.signal = p.signal;
  c.relaxivity_per_mM_s = p.relaxivity_per_mM_s;
  c.repetition_s = p.repetition_s;
  c.flip_rad = p.flip_deg * radians_per_degree;
  return c;
}

liver_parameters one_input(double flow, double volume) { return make_parameters({flow, 2}, {}, volume); }

/// The parameters of the paper's simulations, which define the contrast-to-noise ratio.
liver_parameters healthy() { return make_parameters({20, 1}, {100, 2}, 0.3); }

}  // namespace

liver_signal::liver_signal(const liver_phantom_settings& p)
    : settings_(p),
      conversion_(make_conversion(p)),
      frame_s_(even_times(p)),
      inputs_(curves_between_frames(p)),
      at_frames_(scaled_curves(p, p.spacing_s, p.frames)),
      curves_(inputs_, frame_s_),
      noise_(p.noise) {
  const liver_parameters tissues[] = {one_input(3, 0.05), one_input(12, 0.15), one_input(150, 0.25), healthy()};
  std::vector<double> curve(std::size(tissues) * p.frames);
  curves_.make(tissues, curve.data());
  add_shared_curve(abdomen_tissue::fat, tissue_t1_s(abdomen_tissue::fat), curve.data());
  add_shared_curve(abdomen_tissue::muscle, tissue_t1_s(abdomen_tissue::muscle), curve.data() + p.frames);
  add_shared_curve(abdomen_tissue::spleen, tissue_t1_s(abdomen_tissue::spleen), curve.data() + 2 * p.frames);
  add_shared_curve(abdomen_tissue::aorta, tissue_t1_s(abdomen_tissue::aorta), at_frames_.arterial.data());
  add_shared_curve(abdomen_tissue::portal_vein, tissue_t1_s(abdomen_tissue::portal_vein), at_frames_.portal.data());

  abdomen_voxel typical;
  typical.tissue = abdomen_tissue::liver;
  typical.t1_s = 0.8, typical.density = 0.85, typical.hu = 60;
  const double S0 = signal_before(typical);
  const auto of_typical = model(S0, typical.t1_s);
  double rise = 0;
  for (std::size_t i = 0; i < p.frames; ++i) rise = std::max(rise, of_typical.signal(curve[3 * p.frames + i]) - S0);
  noise_.deviation = rise / p.cnr;
}

perfusion::voxel_signal_model liver_signal::model(double S0, double t1_s) const {
  return perfusion::signal_model(conversion_, {S0, t1_s});
}

double liver_signal::signal_before(const abdomen_voxel& v) const {
  switch (settings_.signal) {
    case perfusion::signal_kind::concentration:
      return 0;
    case perfusion::signal_kind::ct:
      return v.hu;
    case perfusion::signal_kind::linear:
      return proton_signal / 4 * v.density;
    case perfusion::signal_kind::spoiled_echo:
      break;
  }
  const perfusion::spoiled_echo echo(conversion_.repetition_s, conversion_.flip_rad);
  return proton_signal * v.density * std::sin(conversion_.flip_rad) * echo.part_of_saturation(1 / v.t1_s);
}

void liver_signal::add_shared_curve(abdomen_tissue tissue, double t1_s, const double* curve) {
  const auto zero = model(0, t1_s), one = model(1, t1_s);
  auto& shared = shared_[static_cast<std::size_t>(tissue)];
  for (std::size_t i = 0; i < frame_s_.size(); ++i) {
    const double offset = zero.signal(curve[i]);
    shared.push_back({offset, one.signal(curve[i]) - offset});
  }
}

void liver_signal::make_frames(std::span<const abdomen_voxel> voxels, std::uint64_t first_voxel, float* line,
                               std::uint64_t stride) const {
  const std::size_t frames = frame_s_.size();
  std::vector<liver_parameters> parameters;
  for (const abdomen_voxel& v : voxels)
    if (v.tissue == abdomen_tissue::liver) parameters.push_back(v.parameters);
  std::vector<double> curves(parameters.size() * frames);
  curves_.make(parameters, curves.data());
  const double* curve = curves.data();
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    const abdomen_voxel& v = voxels[i];
    const auto store = [&](std::size_t k, double signal) {
      line[k * stride + i] = with_noise(signal, noise_, first_voxel + i, k);
    };
    if (v.tissue == abdomen_tissue::air) {
      for (std::size_t k = 0; k < frames; ++k) line[k * stride + i] = 0;
    } else if (v.tissue == abdomen_tissue::liver) {
      const auto signal_of = model(signal_before(v), v.t1_s);
      for (std::size_t k = 0; k < frames; ++k) store(k, signal_of.signal(*curve++));
    } else {
      const auto& shared = shared_[static_cast<std::size_t>(v.tissue)];
      const double S0 = signal_before(v);
      for (std::size_t k = 0; k < frames; ++k) store(k, shared[k].offset + shared[k].scale * S0);
    }
  }
}

void liver_signal::make_vfa(std::span<const abdomen_voxel> voxels, std::uint64_t first_voxel, float* line,
                            std::uint64_t stride) const {
  constexpr std::uint64_t vfa_first_draw = std::uint64_t{1} << 32;  // after those of any number of frames
  for (std::size_t k = 0; k < settings_.vfa_flip_deg.size(); ++k) {
    const double flip_rad = settings_.vfa_flip_deg[k] * radians_per_degree;
    const perfusion::spoiled_echo echo(settings_.repetition_s, flip_rad);
    for (std::size_t i = 0; i < voxels.size(); ++i) {
      const abdomen_voxel& v = voxels[i];
      float& sample = line[k * stride + i];
      sample = 0;
      if (v.tissue == abdomen_tissue::air) continue;
      const double signal = proton_signal * v.density * std::sin(flip_rad) * echo.part_of_saturation(1 / v.t1_s);
      sample = with_noise(signal, noise_, first_voxel + i, vfa_first_draw + k);
    }
  }
}

double liver_signal::largest_signal() const {
  const double peak = *std::max_element(at_frames_.arterial.begin(), at_frames_.arterial.end());
  double largest = 0;
  for (const double t1_s : {0.3, 2.0}) {
    abdomen_voxel v;
    v.t1_s = t1_s, v.density = 1.25, v.hu = 100;
    largest = std::max(largest, model(signal_before(v), t1_s).signal(peak));
  }
  if (settings_.signal == perfusion::signal_kind::spoiled_echo)  // for any flip angle of the series for T1
    largest = std::max(largest, 1.25 * proton_signal);
  return largest + 8 * (settings_.noise.kind == noise_kind::none ? 0 : noise_.deviation);
}

}  // namespace voxherd
