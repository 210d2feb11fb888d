#pragma once

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
    Number input;      ///< at the delayed time
    Number convolved;  ///< G, s
    Number slope;      ///< dG / dk, s^2; not set without WithSlope
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

/// The exact model on uneven frames (see model.hpp): C(t) = ka G(t - tau_a; Ca) + kp G(t - tau_p; Cp), G the integral
/// of input times e^{-kl (t - s)}. Two exponentials per frame and input, where even frames need none. The view must
/// have times, and at least two frames.
template <class Number>
class uneven_model {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;

  VOXHERD_FUNCTION explicit uneven_model(const curves_view<scalar>& view) : view_(view) {}

  VOXHERD_FUNCTION Number cost(const Number (&p)[parameter_count], voxel_samples y) const {
    feed<false> arterial(view_, view_.arterial, p[kl], p[tau_a]), portal(view_, view_.portal, p[kl], p[tau_p]);
    Number sum(scalar(0));
    for (int i = 0; i < view_.frames; ++i) {
      if (view_.counts[i] == 0) continue;
      const Number rest = load(y.first + i * y.stride, Number(scalar(0))) - tissue(p, i, arterial, portal);
      sum += rest * rest;
    }
    return sum;
  }

  /// Calls write(i, C_i) for all frames.
  template <class Write>
  VOXHERD_FUNCTION void curve(const Number (&p)[parameter_count], Write&& write) const {
    feed<false> arterial(view_, view_.arterial, p[kl], p[tau_a]), portal(view_, view_.portal, p[kl], p[tau_p]);
    for (int i = 0; i < view_.frames; ++i) write(i, tissue(p, i, arterial, portal));
  }

  VOXHERD_FUNCTION void equations(const Number (&p)[parameter_count], voxel_samples y,
                                  normal_equations<Number>& out) const {
    feed<true> arterial(view_, view_.arterial, p[kl], p[tau_a]), portal(view_, view_.portal, p[kl], p[tau_p]);
    clear(out);
    for (int i = 0; i < view_.frames; ++i) {
      if (view_.counts[i] == 0) continue;
      advance(i, arterial, portal);
      const auto a = arterial.at(view_.time_s[i]), b = portal.at(view_.time_s[i]);
      const Number column[parameter_count] = {p[ka] * a.slope + p[kp] * b.slope, a.convolved, b.convolved,
                                              // G follows dG/dt = input - kl G
                                              p[ka] * (p[kl] * a.convolved - a.input),
                                              p[kp] * (p[kl] * b.convolved - b.input)};
      const Number fitted = p[ka] * a.convolved + p[kp] * b.convolved;
      add_frame(column, load(y.first + i * y.stride, Number(scalar(0))) - fitted, out);
    }
  }

  VOXHERD_FUNCTION void separable(const Number (&p)[parameter_count], voxel_samples y,
                                  separable_equations<Number>& out) const {
    feed<true> arterial(view_, view_.arterial, p[kl], p[tau_a]), portal(view_, view_.portal, p[kl], p[tau_p]);
    clear(out);
    for (int i = 0; i < view_.frames; ++i) {
      if (view_.counts[i] == 0) continue;
      advance(i, arterial, portal);
      const auto a = arterial.at(view_.time_s[i]), b = portal.at(view_.time_s[i]);
      const Number column[separable_columns] = {
          a.convolved, b.convolved, a.slope, b.slope, p[kl] * a.convolved - a.input, p[kl] * b.convolved - b.input};
      const Number fitted = p[ka] * a.convolved + p[kp] * b.convolved;
      add_frame(column, load(y.first + i * y.stride, Number(scalar(0))) - fitted, out);
    }
  }

 private:
  template <bool WithSlope>
  using feed = uneven_feed<Number, WithSlope>;

  /// Both inputs at once, usually one node each: two independent chains of arithmetic.
  template <class Feed>
  VOXHERD_FUNCTION void advance(int frame, Feed& a, Feed& b) const {
    const scalar t = view_.time_s[frame];
    for (;;) {
      const auto past_a = a.beyond(t), past_b = b.beyond(t);
      if (!lane::any(past_a || past_b)) return;
      a.pass_node(past_a);
      b.pass_node(past_b);
    }
  }

  VOXHERD_FUNCTION Number tissue(const Number (&p)[parameter_count], int frame, feed<false>& a, feed<false>& b) const {
    const scalar t = view_.time_s[frame];
    advance(frame, a, b);
    return p[ka] * a.at(t).convolved + p[kp] * b.at(t).convolved;
  }

  curves_view<scalar> view_;
};

}  // namespace voxherd::perfusion
