#pragma once

#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/uneven_feed.hpp"

namespace voxherd::perfusion {

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
