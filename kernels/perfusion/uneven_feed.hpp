#pragma once

#include "kernels/perfusion/curves.hpp"
#include "kernels/perfusion/phi.hpp"
#include "kernels/perfusion/samples.hpp"

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
  Number value_, rise_;        ///< of the input at its beginning, a second
  Number convolved_, slope_;   ///< at its beginning
};

}  // namespace voxherd::perfusion
