#pragma once

#include <cmath>

#include "kernels/ballstick/posterior_outputs.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "kernels/voxel_model/voxel_sizes.hpp"

namespace voxherd::ballstick {

/// The sizes of an estimator with `padded` signals per voxel.
inline voxel_model::voxel_sizes sizes_of(const settings& s, std::size_t measurements, int padded, bool deviates) {
  return {.measurements = static_cast<int>(measurements),
          .padded = padded,
          .deviates = deviates,
          .noise = s.noise,
          .parameters = max_parameters,
          .sample_floats = make_parameter_layout(s).rows() * s.samples()};
}

/// Computes one voxel's results from its chain: means, mean directions, dispersions; fibres are sorted by decreasing
/// mean fraction.
struct chain_summary {
  parameter_layout layout;
  int fibres;
  int sample_count;
  std::array<std::size_t, result_arrays::count> widths;  ///< bytes per voxel of each output

  float measurements;

  chain_summary(const settings& s, std::size_t K)
      : layout(make_parameter_layout(s)),
        fibres(s.fibres),
        sample_count(s.samples()),
        widths(output_widths<posterior_outputs>({s, true})),
        measurements(static_cast<float>(K)) {}

  /// `samples`: (row, sample); `accepted`: (parameter). Writes row `item` of every output.
  VOXHERD_FUNCTION void operator()(const float* samples, const float* accepted, std::size_t item,
                                   const result_arrays& out) const {
    int order[max_fibres];
    float fraction[max_fibres];
    sort_fibres(samples, order, fraction);
    put_scalar(out, place<"mean_S0">(), layout.s0, samples, item);
    put_scalar(out, place<"mean_d">(), layout.d, samples, item);
    put_scalar(out, place<"mean_d_std">(), layout.d_std, samples, item);
    put_scalar(out, place<"mean_R">(), layout.ratio, samples, item);
    put_scalar(out, place<"mean_f0">(), layout.f0, samples, item);
    put_scalar(out, place<"mean_tau">(), layout.tau, samples, item);
    float sum = 0;
    for (int k = 0; k < fibres; ++k) {
      const int source = order[k];
      sum += fraction[source];
      out.put_float(of_fibre(k, place<"mean_f1">()), item, fraction[source]);
      put_direction(samples, source, k, item, out);
      copy(out, of_fibre(k, place<"th1">()), item, samples + layout.th(source) * sample_count);
      copy(out, of_fibre(k, place<"ph1">()), item, samples + layout.ph(source) * sample_count);
      copy(out, of_fibre(k, place<"f1">()), item, samples + layout.f(source) * sample_count);
    }
    out.put<"mean_fsum">(item, sum);
    if (out.values<"log_likelihood">() != nullptr) out.put<"log_likelihood">(item, log_likelihood(samples));
    put_acceptance(accepted, order, item, out);
  }

 private:
  template <output_name Name>
  static constexpr std::size_t place() {
    return result_arrays::place<Name>();
  }

  VOXHERD_FUNCTION float mean(const float* row) const {
    double sum = 0;
    for (int s = 0; s < sample_count; ++s) sum += row[s];
    return static_cast<float>(sum / sample_count);
  }

  /// Without terms that are the same for all parameters; see noise.hpp.
  VOXHERD_FUNCTION float log_likelihood(const float* samples) const {
    const float* const sums = samples + layout.count * sample_count;
    double total = 0;
    for (int s = 0; s < sample_count; ++s)
      total += layout.tau < 0
                   ? -0.5 * measurements * std::log(static_cast<double>(sums[s]))
                   : measurements * std::log(static_cast<double>(samples[layout.tau * sample_count + s])) - sums[s];
    return static_cast<float>(total / sample_count);
  }

  VOXHERD_FUNCTION void sort_fibres(const float* samples, int* order, float* fraction) const {
    for (int k = 0; k < fibres; ++k) {
      fraction[k] = mean(samples + layout.f(k) * sample_count);
      int at = k;
      for (; at > 0 && fraction[order[at - 1]] < fraction[k]; --at) order[at] = order[at - 1];
      order[at] = k;
    }
  }

  VOXHERD_FUNCTION void copy(const result_arrays& out, std::size_t i, std::size_t item, const float* row) const {
    if (out.array[i] == nullptr) return;
    float* const to = out.floats(i) + item * static_cast<std::size_t>(sample_count);
    for (int s = 0; s < sample_count; ++s) to[s] = row[s];
  }

  /// The mean, and the samples, which are the next output.
  VOXHERD_FUNCTION void put_scalar(const result_arrays& out, std::size_t i, int p, const float* samples,
                                   std::size_t item) const {
    if (p < 0) return;
    out.put_float(i, item, mean(samples + p * sample_count));
    copy(out, i + 1, item, samples + p * sample_count);
  }

  /// The principal eigenvector of the mean of x x^T, and 1 minus its eigenvalue.
  VOXHERD_FUNCTION void put_direction(const float* samples, int source, int k, std::size_t item,
                                      const result_arrays& out) const {
    double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
    for (int s = 0; s < sample_count; ++s) {
      float sin_th, cos_th, sin_ph, cos_ph;
      lane::sincos(samples[layout.th(source) * sample_count + s], sin_th, cos_th);
      lane::sincos(samples[layout.ph(source) * sample_count + s], sin_ph, cos_ph);
      const double x = sin_th * cos_ph, y = sin_th * sin_ph, z = cos_th;
      xx += x * x, xy += x * y, xz += x * z, yy += y * y, yz += y * z, zz += z * z;
    }
    const double n = sample_count;
    const auto e = symmetric_eigen3(xx / n, xy / n, xz / n, yy / n, yz / n, zz / n);
    float* const direction = out.floats(of_fibre(k, place<"dyads1">()));
    if (direction != nullptr) {
      for (int i = 0; i < 3; ++i) direction[3 * item + i] = static_cast<float>(e.vector[0][i]);
    }
    out.put_float(of_fibre(k, place<"dyads1_dispersion">()), item, static_cast<float>(1.0 - e.value[0]));
  }

  VOXHERD_FUNCTION void put_acceptance(const float* accepted, const int* order, std::size_t item,
                                       const result_arrays& out) const {
    float* const row = out.values<"acceptance">();
    if (row == nullptr) return;
    float* const to = row + item * static_cast<std::size_t>(layout.count);
    for (int p = 0; p < layout.count; ++p) {
      const int own = p - layout.first_fibre;
      const bool of_fibre = own >= 0 && own < 3 * fibres;
      to[p] = accepted[of_fibre ? layout.first_fibre + 3 * order[own / 3] + own % 3 : p];
    }
  }
};

}  // namespace voxherd::ballstick
