#pragma once

#include "kernels/noddi/settings.hpp"
#include "kernels/noddi/stick.hpp"
#include "kernels/noddi/watson.hpp"
#include "kernels/portable/double_math.hpp"
#include "kernels/portable/exponential.hpp"
#include "kernels/voxel_model/with_dot.hpp"

namespace voxherd {

/// NODDI with a Watson distribution. With the nominal gradients the estimators have fits and sampler's steps of their
/// own, which are 3 to 4 times as fast (watson_cpu.cpp, watson_cuda.cu): few b-values share tables of the signal.
struct watson_model {
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
      {.name = "ODI",
       .unit = "1",
       .meaning = "orientation dispersion index, 0 for parallel neurites, 1 for all directions alike",
       .low = noddi::min_odi,
       .high = noddi::max_odi,
       .starts = {0.05, 0.65, 4},
       .first_step = 0.05},
  };
  enum : int { fwf, ndi, odi };
  static constexpr int turns = 2;
  static constexpr int first_prepared = odi;
  static constexpr int terms = noddi::many_terms;
  static constexpr voxel_model::axis axes[] = {
      {"direction", "mean direction of neurites along the axes of the bvecs, sign arbitrary", 2}};
  static constexpr voxel_model::derived_value derived[] = {
      {"tf", "1", "tissue fraction, 1 - FWF", false},
      {"kappa", "1", "concentration of the Watson distribution of directions"},
  };

  double d_par_mm2_per_s, d_iso_mm2_per_s;
  bool uniform_kappa;

  explicit watson_model(const noddi::settings& s)
      : d_par_mm2_per_s(s.d_par_mm2_per_s),
        d_iso_mm2_per_s(s.d_iso_mm2_per_s),
        uniform_kappa(s.prior == noddi::dispersion_prior::kappa) {}

  /// Settings with its diffusivities, for a protocol.
  noddi::settings diffusivities() const {
    noddi::settings s;
    s.d_par_mm2_per_s = d_par_mm2_per_s;
    s.d_iso_mm2_per_s = d_iso_mm2_per_s;
    return s;
  }

  /// Moments of the distribution and their derivatives by kappa.
  template <class Number, bool Slopes>
  struct state {
    Number moment[terms], slope[Slopes ? terms : 1], mean_square, mean_square_slope;
    double exact[terms + 1];
  };

  template <class Team, bool Slopes>
  VOXHERD_FUNCTION void prepare(const Team& team, const typename Team::number (&p)[3],
                                state<typename Team::number, Slopes>& s) const {
    using number = typename Team::number;
    team.sync();
    team.once([&] { noddi::legendre_moments<terms + 1>(-noddi::kappa_of(static_cast<double>(p[odi])), s.exact); });
    team.sync();
    team.share(terms, [&](int i) {
      s.moment[i] = static_cast<number>(s.exact[i]);
      if constexpr (Slopes) s.slope[i] = static_cast<number>(noddi::moment_slope(s.exact, i));
    });
    team.once([&] {
      s.mean_square = static_cast<number>((1 + 2 * s.exact[1]) / 3);
      s.mean_square_slope = static_cast<number>(2 * noddi::moment_slope(s.exact, 1) / 3);
    });
    team.sync();
  }

  /// The stick's moments, then the signal of free water.
  static constexpr int table_numbers = terms + 1;
  template <class Real>
  VOXHERD_FUNCTION void tabulate(Real b_s_per_mm2, Real (&table)[table_numbers]) const {
    Real moment[terms];
    noddi::stick_moments(b_s_per_mm2 * noddi::constant<Real>(d_par_mm2_per_s), moment);
    for (int i = 0; i < terms; ++i) table[i] = moment[i];
    table[terms] = lane::exp(b_s_per_mm2 * noddi::constant<Real>(-d_iso_mm2_per_s));
  }

  template <class Real, class Number, bool Slopes>
  VOXHERD_FUNCTION Real attenuation(const voxel_model::gradient<Real>& g, const Real (&table)[table_numbers],
                                    const Number (&p)[3], const state<Number, Slopes>& s, Real (&by)[3],
                                    Real (&by_component)[3]) const {
    using namespace noddi;
    const Real bd = g.b_s_per_mm2 * Real(Number(d_par_mm2_per_s));
    const Real u = g.z * g.z;
    Real intra(0), by_u(0), by_kappa(0);
    Real value(1), before(0);
    [[maybe_unused]] Real slope(0), slope_before(0);
    unrolled<terms>([&](auto order) {
      constexpr int i = decltype(order)::value;
      const Real term = table[i] * value;
      intra += term * Real(s.moment[i]);
      if constexpr (Slopes) {
        by_kappa += term * Real(s.slope[i]);
        by_u += table[i] * Real(s.moment[i]) * slope;
      }
      constexpr jacobi_step c = make_jacobi_step(i + 1, 0);
      const Real factor = constant<Real>(2 * c.a) * u + constant<Real>(c.b - c.a);
      const Real next = factor * value - constant<Real>(c.c) * before;
      if constexpr (Slopes) {
        const Real next_slope = factor * slope + constant<Real>(2 * c.a) * value - constant<Real>(c.c) * slope_before;
        slope_before = slope;
        slope = next_slope;
      }
      before = value;
      value = next;
    });
    const Number tau = s.mean_square;
    const Real across = Real(1) - Real((1 - tau) / 2) - u * Real((3 * tau - 1) / 2);
    const Real extra = lane::exp(bd * (Real(p[ndi]) * across - Real(1)));
    const Real isotropic = table[terms];
    const Real intra_part(p[ndi]), extra_part(1 - p[ndi]), tissue_part(1 - p[fwf]);
    const Real tissue = intra_part * intra + extra_part * extra;
    by_component[0] = by_component[1] = by_component[2] = Real(0);
    if constexpr (Slopes) {
      const Number kappa = kappa_of(p[odi]);
      const Real by_along = extra_part * intra_part * bd * extra * Real(-1);
      const Real along_by_kappa = (Real(1.5) * u - Real(0.5)) * Real(s.mean_square_slope);
      by[fwf] = isotropic - tissue;
      by[ndi] = tissue_part * (intra - extra + extra_part * bd * across * extra);
      by[odi] = tissue_part * Real(Number(kappa_slope(kappa))) * (intra_part * by_kappa + by_along * along_by_kappa);
      by_component[2] = Real(2) * g.z * tissue_part * (intra_part * by_u + by_along * Real((3 * tau - 1) / 2));
    } else {
      for (Real& none : by) none = Real(0);
    }
    return tissue_part * tissue + Real(p[fwf]) * isotropic;
  }

  template <class Number>
  VOXHERD_FUNCTION void derive(const Number (&p)[3], Number (&value)[2]) const {
    value[0] = 1 - p[fwf];
    value[1] = static_cast<Number>(noddi::kappa_of(static_cast<double>(p[odi])));
  }

  /// With uniform kappa the density of ODI is proportional to 1 + kappa^2.
  VOXHERD_FUNCTION float prior_energy(const float (&p)[3]) const {
    if (!uniform_kappa) return 0;
    float sine, cosine;
    lane::sincos(1.5707963268f * p[odi], sine, cosine);
    return 2 * lane::log2(sine);
  }
};

/// The same with a part of the signal that diffusion does not attenuate.
struct watson_dot_model : voxel_model::with_dot<watson_model> {
  using with_dot::with_dot;
};

namespace noddi {
template <class Model>
inline constexpr bool has_dot = requires {
  Model::dot;
};
}  // namespace noddi

}  // namespace voxherd
