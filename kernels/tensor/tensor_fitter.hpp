#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/portable/cholesky.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/output_arrays.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "kernels/tensor/tensor.hpp"

namespace voxherd {

/// q = sqrt(b / largest b) g of every measurement, 3 numbers each: b g g^T is then q q^T times the largest b,
/// and the columns of the normal equations have the same magnitude.
struct tensor_design {
  const double* q;
  std::size_t measurements;
  double largest_b_s_per_mm2;
};

/// log S = log S0 - b g^T D g, in units where signals are 1 at the voxel's largest sample and b is 1 at the largest b.
/// Number: double, or double_lanes with one voxel per lane.
namespace tensor_model {

inline constexpr int unknowns = 7;  ///< D xx, xy, xz, yy, yz, zz, log S0

/// Samples below this fraction of the voxel's largest are raised to it, because their logarithm must exist. In weighted
/// fits their weight is negligible. The value is inferred from the results of MRtrix3's dwi2tensor.
inline constexpr double floor_of_largest = 1e-6;
/// Keeps exp() and its square finite for a hopeless fit.
inline constexpr double largest_exponent = 150;

/// Gradient non-linearity: the effective gradients are v = (I + L) g, so b g g^T becomes b v v^T. `matrix` is I + L.
template <class Number>
struct deviation {
  Number matrix[3][3];
};

/// Row of the least squares for an effective gradient.
template <class Number>
VOXHERD_FUNCTION inline void make_row(const Number (&q)[3], Number (&x)[unknowns]) {
  x[0] = -q[0] * q[0];
  x[1] = -2 * q[0] * q[1];
  x[2] = -2 * q[0] * q[2];
  x[3] = -q[1] * q[1];
  x[4] = -2 * q[1] * q[2];
  x[5] = -q[2] * q[2];
  x[6] = 1;
}

/// The same from a measurement's index in tensor_design::q.
template <class Number>
VOXHERD_FUNCTION inline void design_row(const double* g, const deviation<Number>& bend, Number (&x)[unknowns]) {
  Number q[3];
  for (int i = 0; i < 3; ++i) q[i] = bend.matrix[i][0] * g[0] + bend.matrix[i][1] * g[1] + bend.matrix[i][2] * g[2];
  make_row(q, x);
}

VOXHERD_FUNCTION inline void design_row(const double* g, double (&x)[unknowns]) {
  const double q[3] = {g[0], g[1], g[2]};
  make_row(q, x);
}

template <class Row, class Number>
VOXHERD_FUNCTION inline Number log_prediction(const Row (&x)[unknowns], const Number (&p)[unknowns]) {
  Number sum = p[6];
  for (int i = 0; i < 6; ++i) sum += x[i] * p[i];
  return sum;
}

}  // namespace tensor_model

struct tensor_fit {
  double tensor[6] = {};  ///< xx, xy, xz, yy, yz, zz, mm2/s
  double S0 = 0;
  double residual = 0;
  eigen_system3<double> eigen{};
  voxel_status status = voxel_status::singular;
};

/// Least squares for log S = log S0 - b g^T D g (Basser, Mattiello & LeBihan, J Magn Reson B 103:247, 1994), weighted
/// by the squared signal (Salvador et al., Hum Brain Mapp 24:144, 2005), the weights taken from the last fit where
/// iterated (Veraart et al., NeuroImage 81:335, 2013).
///
/// In double: the weights span the square of the signal's range (1e12 where a sample is at its floor), which the normal
/// equations square once more; float would leave no correct digit there.
class tensor_fitter {
 public:
  static constexpr int unknowns = tensor_model::unknowns;
  using deviation = tensor_model::deviation<double>;

  /// The least squares' solution, in the model's units.
  struct solution {
    voxel_status status = voxel_status::singular;
    double largest = 0;                             ///< sample
    double floor = tensor_model::floor_of_largest;  ///< smaller samples are raised to it; 1 is the largest sample
    double p[unknowns] = {};                        ///< parameters of the last pass
    double before[unknowns] = {};  ///< parameters of the pass before the last one, whose signals gave its weights
    double factor[packed_size(unknowns)] = {};  ///< Cholesky's of the last pass's normal matrix
  };

  VOXHERD_FUNCTION tensor_fitter(tensor_design design, tensor_settings settings)
      : design_(design), settings_(settings) {}

  VOXHERD_FUNCTION tensor_fit operator()(signal_row row) const { return finish(row, solve(row)); }

  VOXHERD_FUNCTION solution solve(signal_row row) const {
    solution found;
    found.status = examine(row, found.largest);
    if (found.status != voxel_status::fitted) return found;
    const deviation bend = read_deviation(row);
    if (settings_.low_samples == low_sample_rule::hundredth_of_S0 && !find_floor(row, bend, found)) {
      found.status = voxel_status::singular;
      return found;
    }
    for (int pass = 0; pass <= refits(); ++pass) {
      for (int i = 0; i < unknowns; ++i) found.before[i] = found.p[i];
      if (solve_pass(row, bend, pass, found)) continue;
      found.status = pass == 0 ? voxel_status::singular : voxel_status::diverged;
      return found;
    }
    return found;
  }

  VOXHERD_FUNCTION tensor_fit finish(signal_row row, const solution& found) const {
    if (found.status != voxel_status::fitted) return failed(found.status);
    tensor_fit result;
    result.status = found.status;
    // Signals were scaled to 1 at the largest sample and b to 1 at the largest b.
    result.S0 = found.largest * std::exp(found.p[6]);
    for (int i = 0; i < 6; ++i) result.tensor[i] = found.p[i] / design_.largest_b_s_per_mm2;
    result.residual = rms_residual(row, read_deviation(row), found.largest, found.p);
    if (!(result.S0 <= FLT_MAX) || !(result.residual <= found.largest)) return failed(voxel_status::diverged);
    const double(&d)[6] = result.tensor;
    result.eigen = symmetric_eigen3(d[0], d[1], d[2], d[3], d[4], d[5]);
    return result;
  }

  /// The residual for a wild bootstrap: measurement k's residual of the logarithm over sqrt(1 - leverage) (HC2). Times
  /// the root of its weight it would have the same variance for all k; it is used only for its own measurement, so the
  /// root cancels. 0 for a sample at its floor, which has no logarithm, and if the fit passes through the sample.
  VOXHERD_FUNCTION double free_residual(signal_row row, const deviation& bend, const solution& found,
                                        std::size_t k) const {
    constexpr double min_freedom = 1e-6;
    const double s = row[k] / found.largest;
    if (!(s > found.floor)) return 0;
    double x[unknowns];
    design_row(k, bend, x);
    const double freedom = 1 - weight(s, x, found.before, refits()) * leverage_of_unit_weight(found.factor, x);
    const double residual = std::log(s) - tensor_model::log_prediction(x, found.p);
    return freedom > min_freedom ? residual / std::sqrt(freedom) : 0;
  }

  VOXHERD_FUNCTION deviation read_deviation(signal_row row) const {
    deviation bend{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (!settings_.gradient_deviation) return bend;
    for (int column = 0; column < 3; ++column)
      for (int line = 0; line < 3; ++line)
        bend.matrix[line][column] += row[design_.measurements + static_cast<std::size_t>(3 * column + line)];
    return bend;
  }

 private:
  /// Fits after the first.
  VOXHERD_FUNCTION int refits() const {
    return settings_.weighting == tensor_weighting::iterated ? settings_.iterations : 0;
  }

  VOXHERD_FUNCTION static tensor_fit failed(voxel_status why) {
    tensor_fit nothing;
    nothing.status = why;
    return nothing;
  }

  VOXHERD_FUNCTION voxel_status examine(signal_row row, double& largest) const {
    double smallest = row[0];
    largest = row[0];
    std::size_t positive = 0;
    bool finite = true;
    for (std::size_t k = 0; k < design_.measurements; ++k) {
      const double y = row[k];
      finite = finite && std::fabs(y) <= FLT_MAX;
      smallest = y < smallest ? y : smallest;
      largest = y > largest ? y : largest;
      positive += y > 0 ? 1 : 0;
    }
    if (!finite) return voxel_status::not_finite;
    if (smallest == largest) return largest == 0 ? voxel_status::all_zero : voxel_status::constant;
    const std::size_t needed =
        settings_.low_samples == low_sample_rule::hundredth_of_S0 ? 1 : static_cast<std::size_t>(unknowns);
    if (positive < needed) return voxel_status::too_few_positive;
    return voxel_status::fitted;
  }

  VOXHERD_FUNCTION void design_row(std::size_t k, const deviation& bend, double (&x)[unknowns]) const {
    const double* g = design_.q + 3 * k;
    if (settings_.gradient_deviation)
      tensor_model::design_row(g, bend, x);
    else
      tensor_model::design_row(g, x);
  }

  VOXHERD_FUNCTION static double relative_signal(double y, const solution& found) {
    const double s = y / found.largest;
    return s > found.floor ? s : found.floor;
  }

  /// FSL's dtifit: in a first fit without weights, the logarithm of a sample that has none is 0, whatever the unit of
  /// the signal. Its S0 determines the floor.
  VOXHERD_FUNCTION bool find_floor(signal_row row, const deviation& bend, solution& found) const {
    constexpr double largest_log = 23, share = 0.01;
    const double log_largest = std::log(found.largest);
    const auto log_of = [&](double y) { return (y > 0 ? std::log(y) : 0.0) - log_largest; };
    const bool solved = solve_logs(
        row, bend,
        [&](double y, const double(&)[unknowns]) {
          return log_and_weight{log_of(y), 1};
        },
        found);
    double sum = 0, most = 0;
    for (std::size_t k = 0; k < design_.measurements; ++k) {
      const double y = row[k];
      sum += y;
      most = std::fabs(y) > most ? std::fabs(y) : most;
    }
    const double mean = sum / static_cast<double>(design_.measurements) / found.largest;
    double S0 = found.p[6] + log_largest < largest_log ? std::exp(found.p[6]) : most / found.largest;
    if (S0 < mean) S0 = most / found.largest;
    found.floor = share * S0;
    return solved;
  }

  /// x . N^-1 x, N the normal matrix: |y|^2, L y = x.
  VOXHERD_FUNCTION static double leverage_of_unit_weight(const double (&factor)[packed_size(unknowns)],
                                                         const double (&x)[unknowns]) {
    double y[unknowns], sum = 0;
    for (int i = 0; i < unknowns; ++i) {
      y[i] = x[i];
      for (int j = 0; j < i; ++j) y[i] -= factor[packed_index(i, j)] * y[j];
      y[i] *= factor[packed_index(i, i)];
      sum += y[i] * y[i];
    }
    return sum;
  }

  /// Weight of the least-squares row, the square of the signal taken as the measured or the predicted one.
  VOXHERD_FUNCTION double weight(double s, const double (&x)[unknowns], const double (&p)[unknowns], int pass) const {
    if (settings_.weighting == tensor_weighting::ordinary) return 1;
    if (pass == 0) return s * s;
    double e = tensor_model::log_prediction(x, p);
    constexpr double most = tensor_model::largest_exponent;
    e = e > most ? most : e < -most ? -most : e;
    return std::exp(2 * e);
  }

  VOXHERD_FUNCTION bool solve_pass(signal_row row, const deviation& bend, int pass, solution& found) const {
    return solve_logs(
        row, bend,
        [&](double y, const double(&x)[unknowns]) {
          const double s = relative_signal(y, found);
          return log_and_weight{std::log(s), weight(s, x, found.p, pass)};
        },
        found);
  }

  struct log_and_weight {
    double log, weight;
  };

  /// One linear fit. `describe`: of a sample, with its row of the design.
  template <class Describe>
  VOXHERD_FUNCTION bool solve_logs(signal_row row, const deviation& bend, const Describe& describe,
                                   solution& found) const {
    double right[unknowns] = {};
    for (double& element : found.factor) element = 0;
    for (std::size_t k = 0; k < design_.measurements; ++k) {
      double x[unknowns];
      design_row(k, bend, x);
      const log_and_weight sample = describe(row[k], x);
      const double w = sample.weight, weighted_log = w * sample.log;
      for (int i = 0; i < unknowns; ++i) {
        right[i] += weighted_log * x[i];
        for (int j = 0; j <= i; ++j) found.factor[packed_index(i, j)] += w * x[i] * x[j];
      }
    }
    if (!cholesky_factor<unknowns>(found.factor)) return false;
    cholesky_solve<unknowns>(found.factor, right);
    for (int i = 0; i < unknowns; ++i) found.p[i] = right[i];
    return true;
  }

  VOXHERD_FUNCTION double rms_residual(signal_row row, const deviation& bend, double largest,
                                       const double (&p)[unknowns]) const {
    double sum = 0;
    for (std::size_t k = 0; k < design_.measurements; ++k) {
      double x[unknowns];
      design_row(k, bend, x);
      const double difference = row[k] - largest * std::exp(tensor_model::log_prediction(x, p));
      sum += difference * difference;
    }
    return std::sqrt(sum / static_cast<double>(design_.measurements));
  }

  tensor_design design_;
  tensor_settings settings_;
};

/// Eigenvalue spread over eigenvalue size, 0 for a sphere (Basser & Pierpaoli, J Magn Reson B 111:209, 1996).
VOXHERD_FUNCTION inline double fractional_anisotropy(const double (&l)[3]) {
  const double mean = (l[0] + l[1] + l[2]) / 3;
  double spread = 0, size = 0;
  for (int i = 0; i < 3; ++i) {
    spread += (l[i] - mean) * (l[i] - mean);
    size += l[i] * l[i];
  }
  return size > 0 ? std::sqrt(1.5 * spread / size) : 0;
}

/// Stores item `i` of a batch's outputs.
VOXHERD_FUNCTION inline void store(const tensor_fit& fit, std::size_t i, const output_arrays<tensor_outputs>& out) {
  const double(&l)[3] = fit.eigen.value;
  const auto MD = static_cast<float>((l[0] + l[1] + l[2]) / 3);
  out.put<"tensor">(i, fit.tensor);
  out.put<"S0">(i, fit.S0);
  out.put<"FA">(i, fractional_anisotropy(l));
  out.put<"MD">(i, MD);
  out.put<"AD">(i, l[0]);
  out.put<"RD">(i, (l[1] + l[2]) / 2);
  out.put<"V1">(i, fit.eigen.vector[0]);
  out.put<"V2">(i, fit.eigen.vector[1]);
  out.put<"V3">(i, fit.eigen.vector[2]);
  out.put<"L1">(i, l[0]);
  out.put<"L2">(i, l[1]);
  out.put<"L3">(i, l[2]);
  out.put<"residual">(i, fit.residual);
  // Here, not in the fit: a bootstrap also draws replicates of these voxels.
  out.put<"status">(i, MD < 0 ? voxel_status::not_physical : fit.status);
}

/// The numbers of a tensor_design, in host memory.
struct tensor_design_table {
  explicit tensor_design_table(const gradient_table& gradients);
  tensor_design view() const { return {q.data(), q.size() / 3, largest_b_s_per_mm2}; }

  std::vector<double> q;
  double largest_b_s_per_mm2 = 1;
};

}  // namespace voxherd
