#pragma once

#include <utility>

#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/phi.hpp"
#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// One input on uneven frames: its delayed value and its convolution with e^{-k t} at increasing times. The input is
/// linear between frames, 0 at one first interval before frame 0, and constant after the last frame.
///
/// A sweep: the convolution is updated from frame to frame of the input (a "node"), then from the last node to the
/// delayed time in the segment after it. Lanes with different delays pass different nodes, by select.
template <class Number, bool WithSlope>
class uneven_feed {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;

  struct reading {
    Number input;        ///< at the delayed time
    Number input_slope;  ///< its change per second there
    Number convolved;    ///< G, s
    Number slope;        ///< dG / dk, s^2; not set without WithSlope
  };

  VOXHERD_FUNCTION uneven_feed(const curves_view<scalar>& view, const scalar* curve, Number k, Number tau)
      : times_(view.time_s),
        curve_(curve),
        last_(static_cast<scalar>(view.frames - 1)),
        k_(k),
        tau_(tau),
        node_(scalar(-1)),
        begin_(-view.time_s[1]),
        end_(view.time_s[0]),
        value_(scalar(0)),
        rise_(curve[0] / view.time_s[1]),
        convolved_(scalar(0)),
        slope_(scalar(0)) {}

  using mask = typename lane::lane_traits<Number>::mask;

  /// Lanes whose delayed time is after the segment: call pass_node() until there are none.
  VOXHERD_FUNCTION mask beyond(scalar time_s) const { return time_s - tau_ >= end_; }

  /// Begins the next segment in these lanes. Times must not fall from frame to frame.
  VOXHERD_FUNCTION void pass_node(const mask& past) {
    const reading r = inside(end_ - begin_);
    convolved_ = lane::select(past, r.convolved, convolved_);
    if constexpr (WithSlope) slope_ = lane::select(past, r.slope, slope_);
    begin_ = lane::select(past, end_, begin_);
    node_ = lane::select(past, node_ + scalar(1), node_);
    const Number next = node_ + scalar(1);
    end_ = lane::select(next > last_, Number(never), read(times_, lane::min(next, last_)));
    value_ = read(curve_, node_);
    rise_ = (read(curve_, next) - value_) / (end_ - begin_);
  }

  /// Call it when no lane's time is after the segment. Before the first segment all values are 0.
  VOXHERD_FUNCTION reading at(scalar time_s) const {
    return inside(lane::max(time_s - tau_ - begin_, Number(scalar(0))));
  }

 private:
  static constexpr scalar never = scalar(1e30);

  /// s after the last node.
  VOXHERD_FUNCTION reading inside(Number s) const {
    const phi_functions<Number> f = phi(k_ * s);
    reading r;
    r.input = value_ + rise_ * s;
    r.input_slope = rise_;
    r.convolved = f.decayed * convolved_ + s * (value_ * f.one + rise_ * s * f.two);
    if constexpr (WithSlope) {
      const Number one = f.two - f.one, two = scalar(2) * f.three - f.two;
      r.slope = f.decayed * (slope_ - s * convolved_) + s * s * (value_ * one + rise_ * s * two);
    }
    return r;
  }

  const scalar* times_;
  const scalar* curve_;
  Number last_;  ///< frame
  Number k_, tau_;
  Number node_, begin_, end_;  ///< the segment: its first node, from when until when
  Number value_, rise_;        ///< value of the input at its start, and its slope per second
  Number convolved_, slope_;   ///< at its beginning
};

/// A tissue model, exact, on uneven frames (see model.hpp), from the integrals of each input times each exponential,
/// G(t - delay): two exponential functions per frame and integral, where even frames need none. The view must have
/// times, and at least two frames.
template <class Tissue, class Number>
class uneven_model {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  static constexpr int count = parameter_count<Tissue>;

  VOXHERD_FUNCTION explicit uneven_model(const curves_view<scalar>& view) : view_(view) {}

  VOXHERD_FUNCTION Number cost(const Number (&p)[count], voxel_samples y) const {
    const auto r = respond<Tissue>(p);
    feeds<false> in(view_, r);
    Number sum(scalar(0));
    for (int i = 0; i < view_.frames; ++i) {
      if (view_.counts[i] == 0) continue;
      const Number rest = load(y.first + i * y.stride, Number(scalar(0))) - tissue(r, i, in);
      sum += rest * rest;
    }
    return sum;
  }

  /// Calls write(i, C_i) for all frames.
  template <class Write>
  VOXHERD_FUNCTION void curve(const Number (&p)[count], Write&& write) const {
    const auto r = respond<Tissue>(p);
    feeds<false> in(view_, r);
    for (int i = 0; i < view_.frames; ++i) write(i, tissue(r, i, in));
  }

  VOXHERD_FUNCTION void equations(const Number (&p)[count], voxel_samples y,
                                  normal_equations<Tissue, Number>& out) const {
    const auto r = respond<Tissue>(p);
    feeds<true> in(view_, r);
    if constexpr (is_washout<Tissue>) {
      each_fitted(
          in,
          [&](int i, const readings<true>& at) {
            Number column[count];
            column[Tissue::rate] =
                sum_over_inputs<inputs>([&](int n) { return p[Tissue::flow(n)] * at.of[n][0].slope; });
            each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
              column[Tissue::flow(n)] = at.of[n][0].convolved;
              // G follows dG/dt = input - rate G
              column[Tissue::delay(n)] =
                  p[Tissue::flow(n)] * (p[Tissue::rate] * at.of[n][0].convolved - at.of[n][0].input);
            });
            add_frame(column, load(y.first + i * y.stride, Number(scalar(0))) - fitted(r, at), out);
          },
          out);
    } else {
      column_sums<Number, columns::count> raw;
      each_fitted(
          in,
          [&](int i, const readings<true>& at) {
            Number column[columns::count];
            fill(r, at, column);
            add_frame(column, load(y.first + i * y.stride, Number(scalar(0))) - fitted(r, at), raw);
          },
          raw);
      make_equations<Tissue>(p, r, raw, out);
    }
  }

  VOXHERD_FUNCTION void separable(const Number (&p)[count], voxel_samples y,
                                  separable_equations<Tissue, Number>& out) const {
    using unit_columns = separable_columns<Tissue>;
    const auto r = respond<Tissue>(p);
    feeds<true> in(view_, r);
    each_fitted(
        in,
        [&](int i, const readings<true>& at) {
          Number column[unit_columns::count];
          each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
            const auto& one = at.of[n][0];
            column[unit_columns::curve(n)] = one.convolved;
            column[unit_columns::by_rate(n)] = one.slope;
            column[unit_columns::by_delay(n)] = p[Tissue::rate] * one.convolved - one.input;
          });
          add_frame(column, load(y.first + i * y.stride, Number(scalar(0))) - fitted(r, at), out);
        },
        out);
  }

 private:
  static constexpr int inputs = Tissue::inputs, exponentials = Tissue::exponentials;
  using columns = raw_columns<Tissue>;

  template <bool WithSlope>
  struct readings {
    typename uneven_feed<Number, WithSlope>::reading of[inputs][exponentials];
  };

  /// Every input with every exponential.
  template <bool WithSlope>
  struct feeds {
    using feed = uneven_feed<Number, WithSlope>;
    static constexpr int all = inputs * exponentials;
    feed of[all];  ///< [input][exponential]

    VOXHERD_FUNCTION feeds(const curves_view<scalar>& view, const response_of<Tissue, Number>& r)
        : feeds(view, r, std::make_integer_sequence<int, all>()) {}
    template <int... I>
    VOXHERD_FUNCTION feeds(const curves_view<scalar>& view, const response_of<Tissue, Number>& r,
                           std::integer_sequence<int, I...>)
        : of{feed(view, view.input(I / exponentials), r.rate[I % exponentials], r.delay[I / exponentials])...} {}

    /// All at once, usually one node each: independent chains of arithmetic.
    VOXHERD_FUNCTION void advance_to(scalar time_s) {
      for (;;) {
        typename feed::mask past[all], any(false);
        each_of<all>([&](int n) VOXHERD_INLINED_LAMBDA {
          past[n] = of[n].beyond(time_s);
          any = n == 0 ? past[n] : any || past[n];
        });
        if (!lane::any(any)) return;
        each_of<all>([&](int n) VOXHERD_INLINED_LAMBDA { of[n].pass_node(past[n]); });
      }
    }

    VOXHERD_FUNCTION readings<WithSlope> at(scalar time_s) const {
      readings<WithSlope> r;
      each_of<all>([&](int n) VOXHERD_INLINED_LAMBDA { r.of[n / exponentials][n % exponentials] = of[n].at(time_s); });
      return r;
    }
  };

  /// Calls add(i, the readings) for the fitted frames, after clearing the sums.
  template <class Add, class Sums>
  VOXHERD_FUNCTION void each_fitted(feeds<true>& in, const Add& add, Sums& sums) const {
    clear(sums);
    for (int i = 0; i < view_.frames; ++i) {
      if (view_.counts[i] == 0) continue;
      in.advance_to(view_.time_s[i]);
      add(i, in.at(view_.time_s[i]));
    }
  }

  template <bool WithSlope>
  VOXHERD_FUNCTION static Number fitted(const response_of<Tissue, Number>& r, const readings<WithSlope>& at) {
    Number c = sum_over_inputs<inputs>([&](int n) { return r.amplitude[n][0] * at.of[n][0].convolved; });
    each_after_first<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA {
      c += sum_over_inputs<inputs>([&](int n) { return r.amplitude[n][j] * at.of[n][j].convolved; });
    });
    if constexpr (Tissue::has_instant)
      c += sum_over_inputs<inputs>([&](int n) { return r.instant[n] * at.of[n][0].input; });
    return c;
  }

  VOXHERD_FUNCTION static void fill(const response_of<Tissue, Number>& r, const readings<true>& at,
                                    Number (&column)[columns::count]) {
    each_of<exponentials>([&](int j) VOXHERD_INLINED_LAMBDA {
      column[columns::by_rate(j)] =
          sum_over_inputs<inputs>([&](int n) { return r.amplitude[n][j] * at.of[n][j].slope; });
    });
    each_of<inputs>([&](int n) VOXHERD_INLINED_LAMBDA {
      each_of<exponentials>([&](int j)
                                VOXHERD_INLINED_LAMBDA { column[columns::convolved(n, j)] = at.of[n][j].convolved; });
      column[columns::delayed(n)] = at.of[n][0].input;
      if constexpr (Tissue::has_instant) column[columns::sloping(n)] = at.of[n][0].input_slope;
    });
  }

  VOXHERD_FUNCTION Number tissue(const response_of<Tissue, Number>& r, int frame, feeds<false>& in) const {
    in.advance_to(view_.time_s[frame]);
    return fitted(r, in.at(view_.time_s[frame]));
  }

  curves_view<scalar> view_;
};

}  // namespace voxherd::perfusion
