#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "kernels/noddi/bingham.hpp"
#include "kernels/noddi/settings.hpp"
#include "kernels/noddi/watson.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/voxel_model/with_dot.hpp"

namespace voxherd {

/// A voxel of a Bingham fit: direction and fan need not be exactly perpendicular.
struct bingham_values {
  double s0, fwf, ndi, odis, beta_fraction;
  std::array<double, 3> direction, fan;
  double dot = 0;
};

/// Signals of a protocol.
std::vector<double> predict_signals(const gradient_table& gradients, const noddi::settings& s, const bingham_values& v);

/// NODDI with a Bingham distribution.
struct bingham_model {
  static constexpr voxel_model::parameter parameters[] = {
      {.name = "FWF",
       .unit = "1",
       .meaning = "free water fraction: part of the signal at b=0",
       .low = noddi::min_fraction,
       .high = noddi::max_fraction,
       .starts = {0.05, 0.8, 4},
       .first_step = 0.05},
      {.name = "NDI",
       .unit = "1",
       .meaning = "neurite density index: part of the tissue's signal from inside neurites",
       .low = noddi::min_fraction,
       .high = noddi::max_fraction,
       .starts = {0.2, 0.8, 4},
       .first_step = 0.05},
      {.name = "ODIs",
       .unit = "1",
       .meaning = "dispersion index across the fan, (2/pi) atan(1 / kappa) (--model bingham)",
       .low = noddi::min_odi,
       .high = noddi::max_odi,
       .starts = {0.05, 0.65, 4},
       .first_step = 0.05},
      {.name = "beta_fraction",
       .unit = "1",
       .meaning = "beta divided by kappa: 0 without a fan (--model bingham)",
       .low = 0,
       .high = 1,
       .starts = {0.1, 0.9, 3},
       .first_step = 0.1},
  };
  enum : int { fwf, ndi, odis, beta_fraction };
  static constexpr int turns = 3;
  static constexpr int first_prepared = odis;
  static constexpr voxel_model::axis axes[] = {
      {"direction", "mean direction of neurites along the axes of the bvecs, sign arbitrary", 2},
      {"fanning_direction", "direction in which they fan out, across the mean; sign arbitrary (--model bingham)", 0},
  };
  static constexpr voxel_model::derived_value derived[] = {
      {"tf", "1", "tissue fraction, 1 - FWF", false},
      {"kappa", "1", "concentration of the distribution of directions"},
      {"beta", "1", "concentration along fanning_direction, 0 to kappa (--model bingham)"},
      {"ODI", "1", "orientation dispersion index, 0 for parallel neurites, 1 for all directions alike"},
      {"ODIp", "1", "dispersion index along the fan, (2/pi) atan(1 / (kappa - beta)) (--model bingham)"},
      {"DA", "1", "dispersion anisotropy index, (2/pi) atan(beta / (kappa - beta)) (--model bingham)"},
  };

  double d_par_mm2_per_s, d_iso_mm2_per_s;
  bool uniform_kappa;  ///< prior: kappa and beta, else ODIs and beta_fraction, are uniform
  noddi::bingham::node_table<double> precise_nodes;
  noddi::bingham::node_table<float> rounded_nodes;

  explicit bingham_model(const noddi::settings& s);

  template <class Number, bool Slopes>
  struct state {
    noddi::bingham::moments<Number, Slopes> moments;
    Number square[3], square_by_kappa[3], square_by_beta[3];  ///< mean squares of the directions' components
  };

  VOXHERD_FUNCTION static double concentration(double odis) { return noddi::kappa_of(odis); }
  VOXHERD_FUNCTION static float concentration(float odis) {
    float sine, cosine;
    lane::sincos(1.5707963268f * odis, sine, cosine);
    return cosine / sine;
  }

  template <class Team, bool Slopes>
  VOXHERD_FUNCTION void prepare(const Team& team, const typename Team::number (&p)[4],
                                state<typename Team::number, Slopes>& s) const {
    using number = typename Team::number;
    const number kappa = concentration(p[odis]);
    if constexpr (std::is_same_v<number, double>)
      noddi::bingham::find_moments(team, precise_nodes, kappa, p[beta_fraction] * kappa, s.moments);
    else
      noddi::bingham::find_moments(team, rounded_nodes, kappa, p[beta_fraction] * kappa, s.moments);
    team.once([&] {
      noddi::bingham::mean_squares(s.moments.mean, number(1), s.square);
      if constexpr (Slopes) {
        noddi::bingham::mean_squares(s.moments.by_kappa, number(0), s.square_by_kappa);
        noddi::bingham::mean_squares(s.moments.by_beta, number(0), s.square_by_beta);
      }
    });
    team.sync();
  }

  template <class Real, class Number, bool Slopes>
  [[gnu::noinline]] VOXHERD_FUNCTION Real attenuation(const voxel_model::gradient<Real>& g, const Number (&p)[4],
                                                      const state<Number, Slopes>& s, Real (&by)[4],
                                                      Real (&by_component)[3]) const {
    const Real bd = g.b_s_per_mm2 * Real(Number(d_par_mm2_per_s));
    Real stick[noddi::bingham::terms];
    noddi::bingham::stick_moments(bd, stick);
    const auto intra = noddi::bingham::sum_series(stick, s.moments, g.x, g.y, g.z);
    // The tensor outside neurites: d_par (1 - NDI (1 - along)) along the gradient.
    const auto along = [&](const Number(&square)[3]) {
      return g.x * g.x * Real(square[0]) + g.y * g.y * Real(square[1]) + g.z * g.z * Real(square[2]);
    };
    const Real across = Real(1) - along(s.square);
    const Real extra = lane::exp(bd * (Real(p[ndi]) * across - Real(1)));
    const Real isotropic = lane::exp(g.b_s_per_mm2 * Real(Number(-d_iso_mm2_per_s)));
    const Real intra_part(p[ndi]), extra_part(1 - p[ndi]), tissue_part(1 - p[fwf]);
    const Real tissue = intra_part * intra.value + extra_part * extra;
    if constexpr (Slopes) {
      const Number kappa = concentration(p[odis]);
      const Real kappa_slope(Number(noddi::kappa_slope(kappa)));
      const Real by_along = extra_part * intra_part * bd * extra * Real(-1);
      const Real by_kappa = intra_part * intra.by_kappa + by_along * along(s.square_by_kappa);
      const Real by_beta = intra_part * intra.by_beta + by_along * along(s.square_by_beta);
      by[fwf] = isotropic - tissue;
      by[ndi] = tissue_part * (intra.value - extra + extra_part * bd * across * extra);
      by[odis] = tissue_part * kappa_slope * (by_kappa + Real(p[beta_fraction]) * by_beta);
      by[beta_fraction] = tissue_part * Real(kappa) * by_beta;
      by_component[0] = tissue_part * (intra_part * intra.by_x + Real(2) * by_along * g.x * Real(s.square[0]));
      by_component[1] = tissue_part * (intra_part * intra.by_y + Real(2) * by_along * g.y * Real(s.square[1]));
      by_component[2] = tissue_part * (intra_part * intra.by_z + Real(2) * by_along * g.z * Real(s.square[2]));
    } else {
      for (Real& none : by) none = Real(0);
      for (Real& none : by_component) none = Real(0);
    }
    return tissue_part * tissue + Real(p[fwf]) * isotropic;
  }

  template <class Number>
  VOXHERD_FUNCTION void derive(const Number (&p)[4], Number (&value)[6]) const {
    const Number kappa = concentration(p[odis]), beta = p[beta_fraction] * kappa, rest = kappa - beta;
    const auto index = [](Number numerator, Number denominator) {
      return static_cast<Number>(0.6366197723675814 * std::atan2(numerator, denominator));
    };
    value[0] = 1 - p[fwf];
    value[1] = kappa;
    value[2] = beta;
    value[3] = index(1, std::sqrt(kappa * rest));
    value[4] = index(1, rest);
    value[5] = index(beta, rest);
  }

  /// Below 0 the fan is along the second axis, because the squares of a direction's components sum to 1; above 1 it is
  /// larger than the concentration that was the mean's.
  static constexpr int relabelled = beta_fraction;
  template <class Frame>
  VOXHERD_FUNCTION static void relabel(double (&p)[4], Frame& f) {
    const double r = p[beta_fraction];
    if (r >= 0 && r <= 1) return;
    const int other = r < 0 ? 1 : 2;
    p[odis] = noddi::odi_of(concentration(p[odis]) * (r < 0 ? 1 - r : r));
    p[beta_fraction] = r < 0 ? -r / (1 - r) : 1 / r;
    for (int i = 0; i < 3; ++i) {
      const double first = f.axis[0][i];
      f.axis[0][i] = f.axis[other][i];
      f.axis[other][i] = first;
      f.axis[1][i] = -f.axis[1][i];  // right-handed
    }
  }

  /// With uniform kappa and beta the density of ODIs and beta_fraction is proportional to kappa (1 + kappa^2).
  VOXHERD_FUNCTION float prior_energy(const float (&p)[4]) const {
    if (!uniform_kappa) return 0;
    float sine, cosine;
    lane::sincos(1.5707963268f * p[odis], sine, cosine);
    return 3 * lane::log2(sine) - lane::log2(cosine);
  }
};

/// The same with a part of the signal that diffusion does not attenuate.
struct bingham_dot_model : voxel_model::with_dot<bingham_model> {
  using with_dot::with_dot;
};

}  // namespace voxherd
