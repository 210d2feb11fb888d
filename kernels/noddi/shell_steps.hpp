#pragma once

#include <cstdint>

#include "kernels/noddi/protocol.hpp"
#include "kernels/noddi/settings.hpp"
#include "kernels/noddi/watson_model.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/voxel_model/chain.hpp"
#include "kernels/voxel_model/model_voxel.hpp"
#include "kernels/voxel_model/noise.hpp"

namespace voxherd::noddi {

using voxel_model::polar_direction;
using voxel_model::prepared_draw;

constexpr int max_parameters = 8;

/// The places of a voxel's parameters in starts, samples and acceptance counts, the engine's order: those of
/// watson_model or watson_dot_model, S0, angles, and tau, where it is sampled.
struct parameter_layout {
  int dot;  ///< -1: absent
  int s0, th, ph;
  int tau;    ///< also where it is not sampled: the last number of a start
  int count;  ///< of sampled parameters
};

VOXHERD_FUNCTION constexpr parameter_layout make_parameter_layout(bool has_dot, bool samples_tau) {
  const int s0 = has_dot ? 4 : 3;
  return {has_dot ? 3 : -1, s0, s0 + 1, s0 + 2, s0 + 3, samples_tau ? s0 + 4 : s0 + 3};
}

/// Data that all voxels of a run share. Coefficients of the signal are interpolated from `table` of
/// protocol::chain_table().
struct chain_settings {
  voxel_model::chain_lengths lengths;
  int measurements;  ///< K
  int row_numbers;   ///< of the table
  const float* table;
  bool dot, samples_tau, uniform_kappa;
};

/// `table`: its address.
template <class Model>
chain_settings make_chain_settings(const protocol& p, const voxel_model::model_run<Model>& run, const float* table) {
  return {.lengths = run.lengths,
          .measurements = run.measurements,
          .row_numbers = p.row_numbers(),
          .table = table,
          .dot = has_dot<Model>,
          .samples_tau = run.samples_tau,
          .uniform_kappa = run.model.uniform_kappa};
}

/// Number `i` of the table at an ODI: cubic Hermite interpolation.
struct table_place {
  const float* node;
  float value_0, slope_0, value_1, slope_1;

  VOXHERD_FUNCTION table_place(const float* table, int row_numbers, float odi) {
    constexpr float scale = static_cast<float>(table_intervals / (1 - min_odi));
    const float at = (odi - static_cast<float>(min_odi)) * scale;
    int interval = static_cast<int>(at);
    interval = interval < 0 ? 0 : interval > table_intervals - 1 ? table_intervals - 1 : interval;
    const float t = at - static_cast<float>(interval);
    node = table + static_cast<std::size_t>(interval) * 2 * static_cast<std::size_t>(row_numbers);
    const float rest = 1.0f - t;
    value_0 = rest * rest * (1.0f + 2.0f * t);
    slope_0 = rest * rest * t;
    value_1 = t * t * (3.0f - 2.0f * t);
    slope_1 = -rest * t * t;
  }

  VOXHERD_FUNCTION float operator()(int row_numbers, int i) const {
    const float* const first = node + i;
    return lane::fma(value_0, first[0],
                     lane::fma(slope_0, first[row_numbers],
                               lane::fma(value_1, first[2 * row_numbers], slope_1 * first[3 * row_numbers])));
  }
};

/// One measurement per lane. Padding has the shell without signal, `isotropic` 0 and a large weighting.
template <class Real>
struct chain_measurement {
  Real x, y, z;
  Real weighting;  ///< b d_par log2(e)
  Real isotropic;  ///< exp(-b d_iso)
};
constexpr float padding_weighting = 1e30f;

/// S0 times the fractions of the compartments.
struct compartment_weights {
  float intra, extra, isotropic, dot;
};

/// Parameters of a voxel.
struct chain_point {
  float s0, fwf, ndi, odi, dot;
  polar_direction direction;

  VOXHERD_FUNCTION compartment_weights weights() const {
    const float moving = s0 * (1.0f - dot), tissue = moving * (1.0f - fwf);
    return {tissue * ndi, tissue * (1.0f - ndi), moving * fwf, s0 * dot};
  }
};

/// Slots of the signals of the current state and of a trial.
template <class Array>
struct signal_arrays {
  Array intra, extra, trial_intra, trial_extra;
};

/// Metropolis sampling of one voxel's parameters, for voxel_model::chain. `Measurements`: slots(), signal(slot),
/// load(slot), coefficient(slot). `Coefficients`: pointer to a table row's numbers, in memory shared by the lanes.
///
/// Only ODI and the angles need a polynomial per measurement; NDI needs an exponential, and the rest neither.
template <class Team, class Measurements, class Array, class Noise, int Terms>
class sampler {
  using real = typename Team::real;

 public:
  /// `start`: in the order of `parameter`, inside the supports. `rows`: two rows of the table's numbers.
  template <class Scratch>
  VOXHERD_FUNCTION sampler(const Team& team, const Measurements& m, const chain_settings& settings,
                           const signal_arrays<Array>& a, float* rows, Scratch& scratch, const float* start)
      : team_(team),
        m_(m),
        settings_(settings),
        layout_(make_parameter_layout(settings.dot, settings.samples_tau)),
        a_(a),
        current_row_(rows),
        trial_row_(rows + settings.row_numbers),
        noise_(settings.measurements, start[layout_.tau]) {
    now_.s0 = start[layout_.s0];
    now_.fwf = start[watson_model::fwf];
    now_.ndi = start[watson_model::ndi];
    now_.odi = start[watson_model::odi];
    now_.dot = layout_.dot < 0 ? 0.0f : start[layout_.dot];
    now_.direction.set_th(start[layout_.th]);
    now_.direction.set_ph(start[layout_.ph]);
    team_.share(layout_.count, [&](int p) {
      scratch.step_sd[p] = initial_step_sd(p, start);
      scratch.accepted[p] = 0;
      scratch.accepted_total[p] = 0;
    });
    fill_trial_row(now_.odi);
    noise_.start(team_, signal_pass<true>(now_, trial_row_));
    keep_signal<true>();
    swap_rows();
    team_.sync();
  }

  VOXHERD_FUNCTION int count() const { return layout_.count; }
  VOXHERD_FUNCTION bool is_angle(int p) const { return p == layout_.th || p == layout_.ph; }

  VOXHERD_FUNCTION unsigned one_jump(const prepared_draw* draws) {
    unsigned accepted = 0;
    if constexpr (Noise::model == noise_model::rician)
      if (settings_.samples_tau) accepted |= update_tau(draws[layout_.tau]) << layout_.tau;
    accepted |= update_weights(layout_.s0, draws[layout_.s0]) << layout_.s0;
    accepted |= update_weights(watson_model::fwf, draws[watson_model::fwf]) << watson_model::fwf;
    if (layout_.dot >= 0) accepted |= update_weights(layout_.dot, draws[layout_.dot]) << layout_.dot;
    accepted |= update_ndi(draws[watson_model::ndi]) << watson_model::ndi;
    VOXHERD_UNROLL_BY(1)
    for (int i = 0; i < 3; ++i) {
      const int p = i == 0 ? watson_model::odi : layout_.s0 + i;  // then th and ph
      accepted |= update_shape(p, draws[p]) << p;
    }
    return accepted;
  }

  /// Column of (parameter, sample).
  VOXHERD_FUNCTION void store_sample(float* column) const {
    const int stride = settings_.lengths.sampled_jumps / settings_.lengths.sample_every;
    column[layout_.s0 * stride] = now_.s0;
    column[watson_model::fwf * stride] = now_.fwf;
    column[watson_model::ndi * stride] = now_.ndi;
    column[watson_model::odi * stride] = now_.odi;
    column[layout_.th * stride] = now_.direction.th;
    column[layout_.ph * stride] = now_.direction.ph;
    if (layout_.dot >= 0) column[layout_.dot * stride] = now_.dot;
    if constexpr (Noise::model == noise_model::rician)
      if (settings_.samples_tau) column[layout_.tau * stride] = noise_.tau;
  }

 private:
  VOXHERD_FUNCTION float initial_step_sd(int p, const float* start) const {
    if (p == layout_.s0) return 0.1f * start[p];
    if (p == layout_.tau) return 0.5f * start[p];
    return is_angle(p) ? 0.2f : 0.05f;
  }

  VOXHERD_FUNCTION static bool is_fraction(float f) { return f > 0.0f && f < 1.0f; }

  VOXHERD_FUNCTION bool accept(bool supported, real lane_sum, float prior, const prepared_draw& draw) {
    return voxel_model::accepts(team_, noise_, supported, lane_sum, prior, draw);
  }

  VOXHERD_FUNCTION unsigned update_tau(const prepared_draw& draw) {
    const float tau = noise_.tau;
    const float trial = tau + draw.step;
    const float prior = -static_cast<float>(settings_.measurements) * lane::log2(trial * lane::reciprocal(tau));
    noise_.tau = trial;
    if (accept(trial > 0.0f, weights_pass(now_.weights()), prior, draw)) return 1;
    noise_.tau = tau;
    return 0;
  }

  /// S0, FWF and the dot, which the compartments' signals do not depend on.
  VOXHERD_FUNCTION unsigned update_weights(int p, const prepared_draw& draw) {
    chain_point trial = now_;
    bool supported;
    if (p == layout_.s0) {
      trial.s0 += draw.step;
      supported = trial.s0 > 0.0f;
    } else if (p == watson_model::fwf) {
      trial.fwf += draw.step;
      supported = is_fraction(trial.fwf);
    } else {
      trial.dot += draw.step;
      supported = is_fraction(trial.dot);
    }
    if (!accept(supported, weights_pass(trial.weights()), 0.0f, draw)) return 0;
    now_ = trial;
    return 1;
  }

  VOXHERD_FUNCTION unsigned update_ndi(const prepared_draw& draw) {
    chain_point trial = now_;
    trial.ndi += draw.step;
    const bool supported = is_fraction(trial.ndi);
    if (!supported) trial.ndi = now_.ndi;  // the signal would grow without limit
    if (!accept(supported, signal_pass<false>(trial, current_row_), 0.0f, draw)) return 0;
    now_ = trial;
    keep_signal<false>();
    return 1;
  }

  /// ODI and the angles, on which both compartments of tissue depend. Uniform on the sphere: p(th) ~ |sin th|.
  VOXHERD_FUNCTION unsigned update_shape(int p, const prepared_draw& draw) {
    chain_point trial = now_;
    bool supported = true;
    float prior = 0;
    const bool new_row = p == watson_model::odi;
    if (new_row) {
      trial.odi += draw.step;
      supported = trial.odi > static_cast<float>(min_odi) && trial.odi < static_cast<float>(max_odi);
      if (!supported) trial.odi = now_.odi;  // outside the table
      if (settings_.uniform_kappa) prior = kappa_energy(trial.odi) - kappa_energy(now_.odi);
      fill_trial_row(trial.odi);
    } else if (p == layout_.th) {
      trial.direction.set_th(trial.direction.th + draw.step);
      prior = lane::log2(fabsf(now_.direction.sin_th) * lane::reciprocal(fabsf(trial.direction.sin_th)));
    } else {
      trial.direction.set_ph(trial.direction.ph + draw.step);
    }
    const real sum = signal_pass<true>(trial, new_row ? trial_row_ : current_row_);
    if (!accept(supported, sum, prior, draw)) return 0;
    now_ = trial;
    keep_signal<true>();
    if (new_row) swap_rows();
    return 1;
  }

  /// Energy of a uniform prior of kappa as a density of ODI, which is proportional to 1 + kappa^2.
  VOXHERD_FUNCTION static float kappa_energy(float odi) {
    float sine, cosine;
    lane::sincos(1.5707963268f * odi, sine, cosine);
    return 2.0f * lane::log2(sine);
  }

  VOXHERD_FUNCTION void fill_trial_row(float odi) {
    const table_place place(settings_.table, settings_.row_numbers, odi);
    team_.sync();
    team_.share(settings_.row_numbers, [&](int i) { trial_row_[i] = place(settings_.row_numbers, i); });
    team_.sync();
  }

  VOXHERD_FUNCTION void swap_rows() {
    float* const row = current_row_;
    current_row_ = trial_row_;
    trial_row_ = row;
  }

  using partial_sums = voxel_model::partial_sums<Team>;

  VOXHERD_FUNCTION real residual(int s, const chain_measurement<real>& g, real intra, real extra,
                                 const compartment_weights& w, real measured) const {
    real r = lane::fma(real(-w.intra), intra, measured);
    r = lane::fma(real(-w.extra), extra, r);
    r = lane::fma(real(-w.isotropic), g.isotropic, r);
    if (w.dot != 0.0f) r = lane::fma(real(-w.dot), m_.is_measured(s), r);
    return r;
  }

  /// A trial's sum of the noise model with new signals: of both compartments of tissue, or outside neurites only.
  template <bool Both>
  VOXHERD_FUNCTION real signal_pass(const chain_point& p, const float* row) {
    const polar_direction& d = p.direction;
    const float mx = d.sin_th * d.cos_ph, my = d.sin_th * d.sin_ph, mz = d.cos_th;
    const float mean_square = row[settings_.row_numbers - 1];
    // 1 - NDI (1 - along), along = (1 - mean_square)/2 + u (3 mean_square - 1)/2
    const float constant = 1.0f - 0.5f * p.ndi * (1.0f + mean_square),
                slope = 0.5f * p.ndi * (3.0f * mean_square - 1.0f);
    const compartment_weights w = p.weights();
    partial_sums total;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const chain_measurement<real> g = m_.load(s);
      const real cosine = lane::fma(g.x, real(mx), lane::fma(g.y, real(my), g.z * real(mz)));
      const real u = cosine * cosine;
      real intra;
      if constexpr (Both) {
        const real y = lane::fma(real(2.0f), u, real(-1.0f));
        const auto at = m_.coefficient(s);
        intra = at(row, Terms - 1);
        VOXHERD_UNROLL
        for (int j = Terms - 2; j >= 0; --j) intra = lane::fma(intra, y, at(row, j));
        a_.trial_intra[s] = intra;
      } else {
        intra = a_.intra[s];
      }
      const real extra = lane::exp2(-g.weighting * lane::fma(real(slope), u, real(constant)));
      a_.trial_extra[s] = extra;
      const real measured = m_.signal(s);
      total[s] = noise_.add(total[s], residual(s, g, intra, extra, w, measured), measured);
    }
    return total.value();
  }

  template <bool Both>
  VOXHERD_FUNCTION void keep_signal() {
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      if constexpr (Both) a_.intra[s] = a_.trial_intra[s];
      a_.extra[s] = a_.trial_extra[s];
    }
  }

  VOXHERD_FUNCTION real weights_pass(const compartment_weights& w) const {
    partial_sums total;
    VOXHERD_UNROLL
    for (int s = 0; s < m_.slots(); ++s) {
      const real measured = m_.signal(s);
      total[s] = noise_.add(total[s], residual(s, m_.load(s), a_.intra[s], a_.extra[s], w, measured), measured);
    }
    return total.value();
  }

  const Team& team_;
  const Measurements& m_;
  const chain_settings& settings_;
  const parameter_layout layout_;
  signal_arrays<Array> a_;
  float *current_row_, *trial_row_;
  Noise noise_;
  chain_point now_;
};

}  // namespace voxherd::noddi
