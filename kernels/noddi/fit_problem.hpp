#pragma once

#include <cmath>

#include "kernels/noddi/settings.hpp"
#include "kernels/noddi/watson.hpp"
#include "kernels/portable/double_math.hpp"
#include "kernels/voxel_model/minimiser.hpp"
#include "kernels/voxel_model/orientation.hpp"
#include "kernels/voxel_model/rician_fit.hpp"

namespace voxherd::noddi {

using voxel_model::orientation;

/// Tables of a protocol, in the memory of the device.
struct fit_tables {
  int shells, terms;
  double d_par;                    ///< um2/ms
  const double* stick;             ///< protocol::stick
  const double* grid_coefficient;  ///< protocol::grid_coefficient
  const double* grid_mean_square;
};

/// Memory of a team for the coefficients of the current point, (shell, power).
struct fit_coefficients {
  double* value;
  double* slope;    ///< by kappa
  double* moments;  ///< many_terms + 1, then slopes
  static constexpr int moment_numbers = 2 * many_terms + 1;
};

/// One measurement per lane. Directions are unit vectors, b in ms/um2.
template <class Real>
struct measurement {
  Real x, y, z, b, isotropic, signal;
  Real weight;  ///< 0: padding
  Real low_b;   ///< 1: used by the start's tensor
};

/// The free numbers of a fit and their order: S0, fractions, ODI, dot fraction, two rotations of the axis.
template <bool Dot>
struct fit_shape {
  static constexpr int s0 = 0, fwf = 1, ndi = 2, odi = 3, dot = 4;
  static constexpr int bounded = Dot ? 5 : 4;
  static constexpr int free = bounded + 2;
};

template <bool Dot>
struct fit_point {
  double linear[fit_shape<Dot>::bounded];
  orientation axis;
};

/// NODDI's signal and its derivatives, for the minimiser; signals in units of `signal_scale`.
/// `Measurements`: load(slot), coefficient(slot), slots(), count().
template <class Team, class Measurements, int Terms, bool Dot>
class fit_problem {
  using real = typename Team::real;
  using shape = fit_shape<Dot>;

 public:
  using point = fit_point<Dot>;
  static constexpr int free = shape::free;
  static constexpr int bounded = shape::bounded;
  static constexpr double settled_decrease = 1e-8;
  static constexpr int max_iterations = 100;

  VOXHERD_FUNCTION fit_problem(const Team& team, const Measurements& m, const fit_tables& tables,
                               const fit_coefficients& own, double signal_scale)
      : team_(team), m_(m), tables_(tables), own_(own), signal_scale_(signal_scale) {}

  /// Gaussian noise for 0.
  VOXHERD_FUNCTION void set_variance(double variance) { variance_ = variance; }
  VOXHERD_FUNCTION double variance() const { return variance_; }

  VOXHERD_FUNCTION void begin(const point& p) const {
    kappa_ = kappa_of(p.linear[shape::odi]);
    double* const w = own_.moments;
    double* const dw = w + many_terms + 1;
    team_.sync();
    team_.once([&] { legendre_moments<Terms + 1>(-kappa_, w); });
    team_.sync();
    team_.share(Terms, [&](int i) { dw[i] = moment_slope(w, i); });
    team_.sync();
    team_.share(tables_.shells * Terms, [&](int e) {
      const double* const t = tables_.stick + e * Terms;
      double value = 0, slope = 0;
      for (int i = e % Terms; i < Terms; ++i) {  // powers above an order are absent from it
        value += t[i] * w[i];
        slope += t[i] * dw[i];
      }
      own_.value[e] = value;
      own_.slope[e] = slope;
    });
    team_.sync();
    mean_square_ = (1 + 2 * w[1]) / 3;
    mean_square_slope_ = 2 * dw[1] / 3;
    lane_cost_ = real(0.0);
    lane_spread_ = real(0.0);
  }

  VOXHERD_FUNCTION int slots() const { return m_.slots(); }

  VOXHERD_INLINED void fill_row(const point& p, int slot, real (&row)[free + 1]) const {
    const measurement<real> m = m_.load(slot);
    const double s0 = p.linear[shape::s0], fwf = p.linear[shape::fwf], ndi = p.linear[shape::ndi];
    double still = 0;
    if constexpr (Dot) still = p.linear[shape::dot];
    const auto product = [&](const double(&n)[3]) { return m.x * real(n[0]) + m.y * real(n[1]) + m.z * real(n[2]); };
    const real cosine = product(p.axis.along);
    const real u = cosine * cosine, y = real(2.0) * u - real(1.0);
    const auto at = m_.coefficient(slot);
    real intra = at(own_.value, Terms - 1), by_y(0.0), by_kappa = at(own_.slope, Terms - 1);
    VOXHERD_UNROLL
    for (int j = Terms - 2; j >= 0; --j) {
      by_y = by_y * y + intra;
      intra = intra * y + at(own_.value, j);
      by_kappa = by_kappa * y + at(own_.slope, j);
    }
    const double tau = mean_square_;
    const real bd = m.b * real(tables_.d_par);
    const real along = real((1 - tau) / 2) + u * real((3 * tau - 1) / 2);
    const real across = real(1.0) - along;
    const real extra = lane::exp(-bd * (real(1.0) - real(ndi) * across));
    const real tissue = real(ndi) * intra + real(1 - ndi) * extra;
    const real signal = real(1 - fwf) * tissue + real(fwf) * m.isotropic;
    const double moving = s0 * (1 - still), in_tissue = moving * (1 - fwf);
    const real relative = real(1 - still) * signal + real(still);
    const real by_along = real(-(1 - ndi) * ndi) * bd * extra;
    row[shape::s0] = relative * m.weight;
    row[shape::fwf] = real(moving) * (m.isotropic - tissue) * m.weight;
    row[shape::ndi] = real(in_tissue) * (intra - extra + real(1 - ndi) * bd * across * extra) * m.weight;
    const real along_by_kappa = (real(1.5) * u - real(0.5)) * real(mean_square_slope_);
    row[shape::odi] =
        real(in_tissue * kappa_slope(kappa_)) * (real(ndi) * by_kappa + by_along * along_by_kappa) * m.weight;
    if constexpr (Dot) row[shape::dot] = real(s0) * (real(1.0) - signal) * m.weight;
    const real by_u = real(2 * ndi) * by_y + by_along * real((3 * tau - 1) / 2);
    const real turn = real(2 * in_tissue) * by_u * cosine * m.weight;
    row[free - 2] = turn * product(p.axis.u);
    row[free - 1] = turn * product(p.axis.v);
    finish_row(m, real(s0) * relative, row);
  }

  VOXHERD_FUNCTION double cost(double sum) const { return variance_ > 0 ? team_.sum(lane_cost_) : sum; }
  VOXHERD_FUNCTION double negligible_sum() const { return 1e-20 * m_.count(); }

  /// One step of expectation maximisation of the Rician noise's variance, from the rows since begin().
  VOXHERD_FUNCTION double expected_variance() const { return team_.sum(lane_spread_) / (2 * m_.count()); }

  VOXHERD_FUNCTION double lower_bound(int i) const {
    return i == shape::s0 ? 1e-3 : i == shape::odi ? min_odi : min_fraction;
  }
  VOXHERD_FUNCTION double upper_bound(int i) const {
    return i == shape::s0 ? 1e6 : i == shape::odi ? max_odi : max_fraction;
  }

  VOXHERD_FUNCTION point moved(const point& from, double* step) const {
    point to;
    VOXHERD_UNROLL
    for (int i = 0; i < bounded; ++i) {
      const double wanted = from.linear[i] + step[i], low = lower_bound(i), high = upper_bound(i);
      to.linear[i] = wanted < low ? low : wanted > high ? high : wanted;
      step[i] = to.linear[i] - from.linear[i];
    }
    to.axis = voxel_model::turned(from.axis, step[bounded], step[bounded + 1]);
    return to;
  }

 private:
  VOXHERD_INLINED void finish_row(const measurement<real>& m, real predicted, real (&row)[free + 1]) const {
    const real measured = m.signal * real(1 / signal_scale_);
    if (variance_ > 0) {
      const auto term = voxel_model::rician_term_of(measured, predicted, variance_);
      lane_cost_ += term.cost * m.weight;
      lane_spread_ += term.spread * m.weight;
      const real root = lane::sqrt(term.curvature);
      VOXHERD_UNROLL
      for (int i = 0; i < free; ++i) row[i] *= root;
      row[free] = term.residual / root * m.weight;
    } else {
      row[free] = (measured - predicted) * m.weight;
    }
  }

  const Team& team_;
  const Measurements& m_;
  const fit_tables& tables_;
  const fit_coefficients& own_;
  double signal_scale_;
  double variance_ = 0;
  mutable double kappa_ = 0, mean_square_ = 0, mean_square_slope_ = 0;
  mutable real lane_cost_, lane_spread_;
};

}  // namespace voxherd::noddi
