#pragma once

#include <utility>

#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/taps.hpp"

namespace voxherd::perfusion {

/// A tissue model on even frames by recursion from frame to frame, in either discretisation (see taps.hpp, model.hpp).
template <class Tissue, class Number, discretisation_kind Kind>
class recursion_model {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  static constexpr bool exact = Kind == discretisation_kind::exact;
  static constexpr int count = parameter_count<Tissue>;
  static_assert(exact || is_washout<Tissue>);

  VOXHERD_FUNCTION explicit recursion_model(const curves_view<scalar>& view) : view_(view) {}

  VOXHERD_FUNCTION Number cost(const Number (&p)[count], voxel_samples y) const {
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
  VOXHERD_FUNCTION void curve(const Number (&p)[count], Write&& write) const {
    walk(p, [&](int i, Number c, bool) { write(i, c); });
  }

  VOXHERD_FUNCTION void equations(const Number (&p)[count], voxel_samples y,
                                  normal_equations<Tissue, Number>& out) const {
    const auto r = respond<Tissue>(p);
    if constexpr (is_washout<Tissue>) {
      sum_columns(r, y, out);
      turn_delays(p, out);
    } else {
      column_sums<Number, columns::count> raw;
      sum_columns(r, y, raw);
      make_equations<Tissue>(p, r, raw, out);
    }
  }

  VOXHERD_FUNCTION void separable(const Number (&p)[count], voxel_samples y,
                                  separable_equations<Tissue, Number>& out) const {
    using unit_columns = separable_columns<Tissue>;
    feeds<true> in(*this, respond<Tissue>(p));
    const Number zero(scalar(0));
    unit_state s[inputs];
    VOXHERD_UNROLL
    for (unit_state& one : s) one = {zero, zero, zero};
    clear(out);
    const auto move_on = [&](int i) VOXHERD_INLINED_LAMBDA {
      each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA { advance(s[n], i, in, in.input[n]); });
    };
    for (int i = in.first; i < 0; ++i) move_on(i);
    each_frame([&](int i, bool counts) VOXHERD_INLINED_LAMBDA {
      move_on(i);
      if (!counts) return;
      Number column[unit_columns::count];
      each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
        column[unit_columns::curve(n)] = s[n].curve;
        column[unit_columns::by_rate(n)] = s[n].slope;
        column[unit_columns::by_delay(n)] = s[n].delay;
      });
      const Number fitted =
          sum_over_inputs<inputs>([&](int n) VOXHERD_INLINED_LAMBDA { return p[Tissue::flow(n)] * s[n].curve; });
      add_frame(column, load(y.first + i * y.stride, zero) - fitted, out);
    });
    // GCC 12 drops the function's end (AVX-512) with a factor of zero for the paper, or with a named constant of -1.
    if constexpr (exact) {
      combine_columns<unit_columns::by_delay(0), unit_columns::curve(0)>(Number(scalar(-1)), p[Tissue::rate], out);
      if constexpr (inputs == 2)
        combine_columns<unit_columns::by_delay(1), unit_columns::curve(1)>(Number(scalar(-1)), p[Tissue::rate], out);
    }
  }

 private:
  static constexpr int inputs = Tissue::inputs, exponentials = Tissue::exponentials;
  using columns = raw_columns<Tissue>;

  /// State of one input in the recursion.
  template <bool WithSlope>
  struct feed {
    VOXHERD_INLINED feed(const recursion_model& m, const scalar* curve, Number tau)
        : place(place_of(tau, m.view_.spacing_s, m.view_.frames)), samples(curve, place.whole) {}

    VOXHERD_INLINED void enter(int frame) {
      x1 = samples[frame - 1];
      x2 = samples[frame];
      x3 = samples[frame + 1];
    }

    /// Moves to a frame; the samples remain readable until the next one.
    VOXHERD_INLINED void move_to(int frame) {
      x0 = x1;
      x1 = x2;
      x2 = x3;
      x3 = samples[frame + 2];
    }

    /// Moves to a frame and returns its weighted sum.
    VOXHERD_INLINED Number next(int frame) {
      move_to(frame);
      return sum(weight[0]);
    }

    VOXHERD_INLINED Number sum(const taps<Number>& w) const {
      if constexpr (!exact) return w.at * x1 + w.after * x2;
      return w.before * x0 + w.at * x1 + w.after * x2;
    }

    /// The delayed input at the frame.
    VOXHERD_INLINED Number delayed() const { return x1 + place.part * (x2 - x1); }

    delay_place<Number> place;
    cursor<Number> samples;
    taps<Number> weight[exponentials], slope[exponentials];
    Number x0, x1, x2, x3;  ///< x3 is read a frame before its use
  };

  /// All inputs, at the first frame with inflow.
  template <bool WithSlope>
  struct feeds {
    VOXHERD_INLINED feeds(const recursion_model& m, const response_of<Tissue, Number>& r)
        : feeds(m, r, std::make_integer_sequence<int, inputs>()) {}

    template <int... I>
    VOXHERD_INLINED feeds(const recursion_model& m, const response_of<Tissue, Number>& r,
                          std::integer_sequence<int, I...>)
        : input{feed<WithSlope>(m, m.view_.input(I), r.delay[I])...} {
      const scalar spacing_s = m.view_.spacing_s;
      each_of<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA {
        if constexpr (exact) {
          exact_taps<Number> t[inputs];
          exact_taps<Number>::template make<WithSlope>(r.rate[j], {input[I].place.part...}, spacing_s, t);
          each_of<inputs>([&](int i) VOXHERD_INLINED_LAMBDA {
            input[i].weight[j] = t[i].weight;
            if constexpr (WithSlope) input[i].slope[j] = t[i].slope;
          });
          decayed[j] = t[inputs - 1].decayed;
        } else {
          each_of<inputs>([&](int i) VOXHERD_INLINED_LAMBDA {
            input[i].weight[j] = paper_taps<Number>::make(input[i].place.part, spacing_s).weight;
          });
          decayed[j] = decay(r.rate[j] * spacing_s);
        }
        spent[j] = spacing_s * decayed[j];
      });
      first = exact ? first_frame_of({input[I].place...}) : 0;
      // The two forms decide which product of a sum a GPU fuses with the addition, thus the last bits of results.
      if constexpr (exact) {
        each_of<inputs>([&](int i) VOXHERD_INLINED_LAMBDA { input[i].enter(first); });
      } else {
        VOXHERD_UNROLL
        for (int i = 0; i < inputs; ++i) input[i].enter(first);
      }
    }

    VOXHERD_INLINED void scale(const response_of<Tissue, Number>& r) {
      each_of<inputs>([&](int i) VOXHERD_INLINED_LAMBDA {
        each_of<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA {
          taps<Number>& w = input[i].weight[j];
          w.before *= r.amplitude[i][j];
          w.at *= r.amplitude[i][j];
          w.after *= r.amplitude[i][j];
        });
      });
    }

    VOXHERD_INLINED void move_to(int frame) {
      each_of<inputs>([&](int i) VOXHERD_INLINED_LAMBDA { input[i].move_to(frame); });
    }

    feed<WithSlope> input[inputs];
    Number decayed[exponentials];  ///< E
    Number spent[exponentials];    ///< T E: -dE/dk
    int first;
  };

  struct state {
    Number convolved[inputs][exponentials];  ///< H of unit amplitudes
    Number tissue[exponentials];             ///< part of C
    Number slope[exponentials];              ///< its derivative by the rate
    Number delayed[inputs];  ///< exact: the delayed input; paper: minus the derivative of H by the delay
  };

  /// The terms of one input of a washout model.
  struct unit_state {
    Number curve;  ///< H of a unit flow
    Number slope;  ///< dH/dk
    Number delay;  ///< exact: x(t - tau), see sum_columns(); paper: dH/dtau
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
  VOXHERD_INLINED void walk(const Number (&p)[count], const Use& use) const {
    const auto r = respond<Tissue>(p);
    feeds<false> in(*this, r);
    in.scale(r);
    Number part[exponentials];
    VOXHERD_UNROLL
    for (Number& one : part) one = Number(scalar(0));
    const auto move_on = [&](int i) VOXHERD_INLINED_LAMBDA {
      part[0] = in.decayed[0] * part[0] +
                sum_over_inputs<inputs>([&](int n) VOXHERD_INLINED_LAMBDA { return in.input[n].next(i); });
      each_after_first<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA {
        part[j] = in.decayed[j] * part[j] + sum_over_inputs<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
                    return in.input[n].sum(in.input[n].weight[j]);
                  });
      });
    };
    for (int i = in.first; i < 0; ++i) move_on(i);
    each_frame([&](int i, bool counts) VOXHERD_INLINED_LAMBDA {
      move_on(i);
      Number c = part[0];
      each_after_first<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA { c += part[j]; });
      if constexpr (Tissue::has_instant) {
        each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA { c += r.instant[n] * in.input[n].delayed(); });
      }
      use(i, c, counts);
    });
  }

  VOXHERD_INLINED void advance(state& s, const response_of<Tissue, Number>& r, int frame, feeds<true>& in) const {
    in.move_to(frame);
    each_of<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA {
      const Number decayed = in.decayed[j];
      s.slope[j] = decayed * s.slope[j] - in.spent[j] * s.tissue[j];
      if constexpr (exact)
        s.slope[j] += sum_over_inputs<inputs>(
            [&](int n) VOXHERD_INLINED_LAMBDA { return r.amplitude[n][j] * in.input[n].sum(in.input[n].slope[j]); });
      each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
        s.convolved[n][j] = decayed * s.convolved[n][j] + in.input[n].sum(in.input[n].weight[j]);
      });
      s.tissue[j] =
          sum_over_inputs<inputs>([&](int n) VOXHERD_INLINED_LAMBDA { return r.amplitude[n][j] * s.convolved[n][j]; });
    });
    each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
      const feed<true>& f = in.input[n];
      s.delayed[n] = exact ? f.delayed() : in.decayed[0] * s.delayed[n] + (f.x2 - f.x1);
    });
  }

  VOXHERD_INLINED void advance(unit_state& s, int frame, const feeds<true>& in, feed<true>& f) const {
    f.move_to(frame);
    const Number fed = f.sum(f.weight[0]);
    s.slope = in.decayed[0] * s.slope - in.spent[0] * s.curve;
    s.curve = in.decayed[0] * s.curve + fed;
    if constexpr (exact) {
      s.slope += f.sum(f.slope[0]);
      s.delay = f.delayed();
    } else {
      s.delay = in.decayed[0] * s.delay + (f.x1 - f.x2);
    }
  }

  /// The sums of raw columns. The derivative by a delay is a combination of them: dH/dtau = k H - x(t - tau).
  VOXHERD_INLINED void sum_columns(const response_of<Tissue, Number>& r, voxel_samples y,
                                   column_sums<Number, columns::count>& out) const {
    feeds<true> in(*this, r);
    const Number zero(scalar(0));
    state s;
    set_to(zero, s);
    clear(out);
    for (int i = in.first; i < 0; ++i) advance(s, r, i, in);
    each_frame([&](int i, bool counts) VOXHERD_INLINED_LAMBDA {
      advance(s, r, i, in);
      if (!counts) return;
      Number column[columns::count];
      Number c = s.tissue[0];
      each_after_first<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA { c += s.tissue[j]; });
      each_of<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA { column[columns::by_rate(j)] = s.slope[j]; });
      each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
        each_of<exponentials>([&](int j)
                                  VOXHERD_INLINED_LAMBDA { column[columns::convolved(n, j)] = s.convolved[n][j]; });
        column[columns::delayed(n)] = s.delayed[n];
        if constexpr (Tissue::has_instant) {
          column[columns::sloping(n)] = (in.input[n].x2 - in.input[n].x1) * (scalar(1) / view_.spacing_s);
          c += r.instant[n] * s.delayed[n];
        }
      });
      add_frame(column, load(y.first + i * y.stride, zero) - c, out);
    });
  }

  VOXHERD_INLINED static void set_to(Number value, state& s) {
    each_of<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA { s.tissue[j] = value, s.slope[j] = value; });
    each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
      s.delayed[n] = value;
      each_of<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA { s.convolved[n][j] = value; });
    });
  }

  /// Makes the delays' columns derivatives of C: a combination with the convolved input, of the sums only.
  VOXHERD_FUNCTION void turn_delays(const Number (&p)[count], normal_equations<Tissue, Number>& e) const {
    turn_delay<0>(p, e);
    if constexpr (inputs == 2) turn_delay<1>(p, e);
  }
  template <int Input>
  VOXHERD_FUNCTION void turn_delay(const Number (&p)[count], normal_equations<Tissue, Number>& e) const {
    const Number flow = p[Tissue::flow(Input)];
    combine_columns<Tissue::delay(Input), Tissue::flow(Input)>(-flow,
                                                               exact ? flow * p[Tissue::rate] : Number(scalar(0)), e);
  }

  curves_view<scalar> view_;
};

}  // namespace voxherd::perfusion
