#pragma once

#include <cmath>

#include "kernels/noddi/chain_model.hpp"
#include "kernels/noddi/fitter.hpp"
#include "kernels/noddi/outputs.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd::noddi {

/// Writes row `item` of the outputs of a best fit.
VOXHERD_FUNCTION inline void store(const fit_result& r, std::size_t item, const result_arrays& out) {
  out.put<"NDI">(item, r.ndi);
  out.put<"ODI">(item, r.odi);
  out.put<"FWF">(item, r.fwf);
  out.put<"tf">(item, 1 - r.fwf);
  out.put<"kappa">(item, kappa_of(r.odi));
  out.put<"direction">(item, r.axis);
  out.put<"S0">(item, r.s0);
  out.put<"dot">(item, r.dot);
  out.put<"sigma">(item, r.sigma);
  out.put<"residual">(item, r.residual);
}

/// Values per voxel of each output.
using output_sizes = std::array<std::size_t, result_arrays::count>;

/// Zeros for a voxel that could not be fitted. `bytes`: per voxel of each output.
VOXHERD_FUNCTION inline void clear(const output_sizes& bytes, std::size_t item, const result_arrays& out) {
  for (std::size_t i = 0; i < result_arrays::place<"status">(); ++i) {
    if (out.array[i] == nullptr) continue;
    const std::size_t width = bytes[i] / sizeof(float);
    for (std::size_t n = 0; n < width; ++n) out.floats(i)[item * width + n] = 0.0f;
  }
}

/// The start of a chain from a best fit, moved inside the supports.
VOXHERD_FUNCTION inline void store_start(const fit_result& r, const parameter_layout& l, float* start) {
  const auto inside = [](double value, double low, double high) {
    return static_cast<float>(value < low ? low : value > high ? high : value);
  };
  constexpr double margin = 1e-4;
  start[parameter::s0] = static_cast<float>(r.s0);
  start[parameter::fwf] = inside(r.fwf, margin, 1 - margin);
  start[parameter::ndi] = inside(r.ndi, margin, 1 - margin);
  start[parameter::odi] = inside(r.odi, min_odi + margin, max_odi - margin);
  const double z = r.axis[2];
  start[parameter::th] = static_cast<float>(std::acos(z > 1 ? 1 : z < -1 ? -1 : z));
  start[parameter::ph] = static_cast<float>(std::atan2(r.axis[1], r.axis[0]));
  if (l.dot >= 0) start[l.dot] = inside(r.dot, margin, 1 - margin);
  // Also where it is not sampled: the chain's last number.
  start[l.tau < 0 ? l.count : l.tau] = static_cast<float>(r.sigma > 0 ? 1 / (r.sigma * r.sigma) : 1);
}

/// Means, standard deviations and samples of one voxel's chain.
struct chain_summary {
  parameter_layout layout;
  int sample_count;

  /// `samples`: (parameter, sample). Writes row `item`, all but `residual` and `status`.
  VOXHERD_FUNCTION void operator()(const float* samples, const float* acceptance, std::size_t item,
                                   const result_arrays& out) const {
    const auto row = [&](int p) { return samples + p * sample_count; };
    const auto same = [](float x) { return x; };
    put<"NDI", "NDI_SD">(row(parameter::ndi), same, item, out);
    put<"ODI", "ODI_SD">(row(parameter::odi), same, item, out);
    put<"S0", "S0_SD">(row(parameter::s0), same, item, out);
    put<"FWF", "FWF_SD">(row(parameter::fwf), same, item, out);
    put<"kappa", "kappa_SD">(row(parameter::odi), as_kappa, item, out);
    if (out.values<"FWF">() != nullptr) out.put<"tf">(item, 1 - out.values<"FWF">()[item]);
    if (layout.dot >= 0) put<"dot", "dot_SD">(row(layout.dot), same, item, out);
    if (layout.tau >= 0)
      put<"sigma", "sigma_SD">(
          row(layout.tau), [](float tau) { return 1 / std::sqrt(tau); }, item, out);
    put_direction(row(parameter::th), row(parameter::ph), item, out);
    copy(out.values<"NDI_samples">(), row(parameter::ndi), same, item);
    copy(out.values<"ODI_samples">(), row(parameter::odi), same, item);
    copy(out.values<"FWF_samples">(), row(parameter::fwf), same, item);
    copy(out.values<"kappa_samples">(), row(parameter::odi), as_kappa, item);
    copy(out.values<"th_samples">(), row(parameter::th), same, item);
    copy(out.values<"ph_samples">(), row(parameter::ph), same, item);
    float* const accepted = out.values<"acceptance">();
    if (accepted == nullptr) return;
    for (int p = 0; p < layout.count; ++p)
      accepted[item * static_cast<std::size_t>(layout.count) + static_cast<std::size_t>(p)] = acceptance[p];
  }

 private:
  VOXHERD_FUNCTION static float as_kappa(float odi) { return static_cast<float>(kappa_of(odi)); }

  template <output_name Mean, output_name Deviation, class Change>
  VOXHERD_FUNCTION void put(const float* row, Change change, std::size_t item, const result_arrays& out) const {
    double sum = 0, squares = 0;
    for (int s = 0; s < sample_count; ++s) sum += change(row[s]);
    const double mean = sum / sample_count;
    for (int s = 0; s < sample_count; ++s) squares += (change(row[s]) - mean) * (change(row[s]) - mean);
    out.put<Mean>(item, mean);
    out.put<Deviation>(item, sample_count > 1 ? std::sqrt(squares / (sample_count - 1)) : 0);
  }

  template <class Change>
  VOXHERD_FUNCTION void copy(float* to, const float* row, Change change, std::size_t item) const {
    if (to == nullptr) return;
    for (int s = 0; s < sample_count; ++s)
      to[item * static_cast<std::size_t>(sample_count) + static_cast<std::size_t>(s)] = change(row[s]);
  }

  /// The principal eigenvector of the mean of x x^T, and 1 minus its eigenvalue.
  VOXHERD_FUNCTION void put_direction(const float* th, const float* ph, std::size_t item,
                                      const result_arrays& out) const {
    double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
    for (int s = 0; s < sample_count; ++s) {
      float sin_th, cos_th, sin_ph, cos_ph;
      lane::sincos(th[s], sin_th, cos_th);
      lane::sincos(ph[s], sin_ph, cos_ph);
      const double x = sin_th * cos_ph, y = sin_th * sin_ph, z = cos_th;
      xx += x * x, xy += x * y, xz += x * z, yy += y * y, yz += y * z, zz += z * z;
    }
    const double n = sample_count;
    const auto e = symmetric_eigen3(xx / n, xy / n, xz / n, yy / n, yz / n, zz / n);
    out.put<"direction">(item, e.vector[0]);
    out.put<"direction_dispersion">(item, 1 - e.value[0]);
  }
};

}  // namespace voxherd::noddi
