#pragma once

#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/taps.hpp"

namespace voxherd::perfusion {

/// The model on even frames by recursion from frame to frame, in either discretisation (see taps.hpp, model.hpp).
template <class Number, discretisation_kind Kind>
class recursion_model {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  static constexpr bool exact = Kind == discretisation_kind::exact;

  VOXHERD_FUNCTION explicit recursion_model(const curves_view<scalar>& view) : view_(view) {}

  VOXHERD_FUNCTION Number cost(const Number (&p)[parameter_count], voxel_samples y) const {
    Number sum(scalar(0));
    walk(p, [&](int i, Number c, bool counts) VOXHERD_INLINED_LAMBDA {
      if (!counts) return;
      const Number rest = load(y.first + i * y.stride, Number(scalar(0))) - c;
      sum += rest * rest;
    });
    return sum;
  }

  /// Calls write(i, C_i) for all frames.
  template <class Write>
  VOXHERD_FUNCTION void curve(const Number (&p)[parameter_count], Write&& write) const {
    walk(p, [&](int i, Number c, bool) { write(i, c); });
  }

  /// Columns of the derivative: kl; ka, kp (the convolved inputs); and for the delays, until the end, the delayed
  /// inputs themselves where the model is exact: dH/dtau = k H - x(t - tau).
  VOXHERD_FUNCTION void equations(const Number (&p)[parameter_count], voxel_samples y,
                                  normal_equations<Number>& out) const {
    feeds<true> in(*this, p);
    const Number zero(scalar(0));
    state s{zero, zero, zero, zero, zero, zero};
    clear(out);
    for (int i = in.first; i < 0; ++i) advance(s, p, i, in);
    each_frame([&](int i, bool counts) VOXHERD_INLINED_LAMBDA {
      advance(s, p, i, in);
      if (!counts) return;
      const Number column[parameter_count] = {s.slope, s.arterial, s.portal, s.arterial_delay, s.portal_delay};
      add_frame(column, load(y.first + i * y.stride, zero) - s.tissue, out);
    });
    turn_delays(p, out);
  }

  VOXHERD_FUNCTION void separable(const Number (&p)[parameter_count], voxel_samples y,
                                  separable_equations<Number>& out) const {
    feeds<true> in(*this, p);
    const Number zero(scalar(0));
    unit_state a{zero, zero, zero}, b{zero, zero, zero};
    clear(out);
    const auto move_on = [&](int i) {
      advance(a, i, in, in.arterial);
      advance(b, i, in, in.portal);
    };
    for (int i = in.first; i < 0; ++i) move_on(i);
    each_frame([&](int i, bool counts) VOXHERD_INLINED_LAMBDA {
      move_on(i);
      if (!counts) return;
      const Number column[separable_columns] = {a.curve, b.curve, a.slope, b.slope, a.delay, b.delay};
      add_frame(column, load(y.first + i * y.stride, zero) - (p[ka] * a.curve + p[kp] * b.curve), out);
    });
    // Not with a factor of zero for the paper: GCC 12 then drops the loop's end (an endless loop in AVX-512).
    if constexpr (exact) {
      combine_columns<arterial_by_delay, unit_arterial>(Number(scalar(-1)), p[kl], out);
      combine_columns<portal_by_delay, unit_portal>(Number(scalar(-1)), p[kl], out);
    }
  }

 private:
  /// State of one input in the recursion.
  template <bool WithSlope>
  struct feed {
    VOXHERD_INLINED feed(const recursion_model& m, const scalar* curve, Number tau)
        : place(place_of(tau, m.view_.spacing_s, m.view_.frames)), samples(curve, place.whole) {}

    VOXHERD_INLINED void scale(Number flow) {
      weight.before *= flow;
      weight.at *= flow;
      weight.after *= flow;
    }

    VOXHERD_INLINED void enter(int frame) {
      x1 = samples[frame - 1];
      x2 = samples[frame];
      x3 = samples[frame + 1];
    }

    /// Moves to a frame and returns its weighted sum; the samples remain readable until the next one.
    VOXHERD_INLINED Number next(int frame) {
      x0 = x1;
      x1 = x2;
      x2 = x3;
      x3 = samples[frame + 2];
      return sum(weight);
    }

    VOXHERD_INLINED Number sum(const taps<Number>& w) const {
      if constexpr (!exact) return w.at * x1 + w.after * x2;
      return w.before * x0 + w.at * x1 + w.after * x2;
    }

    delay_place<Number> place;
    cursor<Number> samples;
    taps<Number> weight, slope;
    Number x0, x1, x2, x3;  ///< x3 is read a frame before its use
  };

  /// Both inputs, at the first frame with inflow.
  template <bool WithSlope>
  struct feeds {
    VOXHERD_INLINED feeds(const recursion_model& m, const Number (&p)[parameter_count])
        : arterial(m, m.view_.arterial, p[tau_a]), portal(m, m.view_.portal, p[tau_p]) {
      const scalar spacing_s = m.view_.spacing_s;
      if constexpr (exact) {
        exact_taps<Number> t[2];
        exact_taps<Number>::template make<WithSlope>(p[kl], {arterial.place.part, portal.place.part}, spacing_s, t);
        arterial.weight = t[0].weight, portal.weight = t[1].weight;
        if constexpr (WithSlope) arterial.slope = t[0].slope, portal.slope = t[1].slope;
        decayed = t[1].decayed;
      } else {
        arterial.weight = paper_taps<Number>::make(arterial.place.part, spacing_s).weight;
        portal.weight = paper_taps<Number>::make(portal.place.part, spacing_s).weight;
        decayed = decay(p[kl] * spacing_s);
      }
      first = exact ? first_frame_of(arterial.place, portal.place) : 0;
      arterial.enter(first);
      portal.enter(first);
      spent = spacing_s * decayed;
    }

    Number decayed;  ///< E
    Number spent;    ///< T E: -dE/dk
    feed<WithSlope> arterial, portal;
    int first;
  };

  struct state {
    Number arterial, portal;              ///< H of unit flows
    Number slope;                         ///< dC/dk
    Number tissue;                        ///< C
    Number arterial_delay, portal_delay;  ///< columns of the delays, see equations()
  };

  /// The terms of one input.
  struct unit_state {
    Number curve;  ///< H of a unit flow
    Number slope;  ///< dH/dk
    Number delay;  ///< exact: x(t - tau), see equations(); paper: dH/dtau
  };

  /// Calls use(i, whether frame i is fitted). If all are, the loop has no test.
  template <class Use>
  VOXHERD_INLINED void each_frame(const Use& use) const {
    if (view_.counted == view_.frames) {
      VOXHERD_UNROLL_BY(4)
      for (int i = 0; i < view_.frames; ++i) use(i, true);
    } else {
      for (int i = 0; i < view_.frames; ++i) use(i, view_.counts[i] != 0);
    }
  }

  /// Calls use(i, C_i, whether frame i is fitted) for all frames.
  template <class Use>
  VOXHERD_INLINED void walk(const Number (&p)[parameter_count], const Use& use) const {
    feeds<false> in(*this, p);
    in.arterial.scale(p[ka]);
    in.portal.scale(p[kp]);
    Number c(scalar(0));
    for (int i = in.first; i < 0; ++i) c = in.decayed * c + (in.arterial.next(i) + in.portal.next(i));
    each_frame([&](int i, bool counts) VOXHERD_INLINED_LAMBDA {
      c = in.decayed * c + (in.arterial.next(i) + in.portal.next(i));
      use(i, c, counts);
    });
  }

  VOXHERD_INLINED void advance(state& s, const Number (&p)[parameter_count], int frame, feeds<true>& in) const {
    auto &a = in.arterial, &b = in.portal;
    const Number decayed = in.decayed, fed_a = a.next(frame), fed_b = b.next(frame);
    s.slope = decayed * s.slope - in.spent * s.tissue;
    if constexpr (exact) s.slope += p[ka] * a.sum(a.slope) + p[kp] * b.sum(b.slope);
    s.arterial = decayed * s.arterial + fed_a;
    s.portal = decayed * s.portal + fed_b;
    s.tissue = p[ka] * s.arterial + p[kp] * s.portal;
    if constexpr (exact) {
      s.arterial_delay = a.x1 + a.place.part * (a.x2 - a.x1);
      s.portal_delay = b.x1 + b.place.part * (b.x2 - b.x1);
    } else {
      s.arterial_delay = decayed * s.arterial_delay + (a.x2 - a.x1);
      s.portal_delay = decayed * s.portal_delay + (b.x2 - b.x1);
    }
  }

  VOXHERD_INLINED void advance(unit_state& s, int frame, const feeds<true>& in, feed<true>& f) const {
    const Number fed = f.next(frame);
    s.slope = in.decayed * s.slope - in.spent * s.curve;
    s.curve = in.decayed * s.curve + fed;
    if constexpr (exact) {
      s.slope += f.sum(f.slope);
      s.delay = f.x1 + f.place.part * (f.x2 - f.x1);
    } else {
      s.delay = in.decayed * s.delay + (f.x1 - f.x2);
    }
  }

  /// Makes the delays' columns derivatives of C: a combination with the convolved input, of the sums only.
  VOXHERD_FUNCTION void turn_delays(const Number (&p)[parameter_count], normal_equations<Number>& e) const {
    const Number zero(scalar(0));
    combine_columns<tau_a, ka>(-p[ka], exact ? p[ka] * p[kl] : zero, e);
    combine_columns<tau_p, kp>(-p[kp], exact ? p[kp] * p[kl] : zero, e);
  }

  curves_view<scalar> view_;
};

}  // namespace voxherd::perfusion
