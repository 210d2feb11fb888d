#pragma once

#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/taps.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// Inflow of both inputs of a washout model into the tissue from frame to frame at given parameters, on even frames and
/// at any frame:
///   C_i = sum_{j <= i} E^(i-j) fed(j),  E = exp(-rate T)
template <class Number, discretisation_kind Kind>
class fed_inputs {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  static constexpr bool exact = Kind == discretisation_kind::exact;

  using tissue = washout<2>;

  VOXHERD_FUNCTION fed_inputs(const curves_view<scalar>& view, const Number (&p)[tissue::count])
      : arterial_(view, view.arterial, p[tissue::rate], p[tissue::flow(0)], p[tissue::delay(0)]),
        portal_(view, view.portal, p[tissue::rate], p[tissue::flow(1)], p[tissue::delay(1)]) {
    if constexpr (exact) first_ = first_frame_of({arterial_.place, portal_.place});
  }

  VOXHERD_FUNCTION Number operator()(int frame) const { return arterial_(frame) + portal_(frame); }

  /// Calls write(j, fed(j)) for j in [first, frames), in order; reads each sample once.
  template <class Write>
  VOXHERD_FUNCTION void each(int first, int frames, const Write& write) const {
    walker arterial(arterial_, first), portal(portal_, first);
    for (int j = first; j < frames; ++j) write(j, arterial.next(j) + portal.next(j));
  }

  /// The first frame with inflow.
  VOXHERD_FUNCTION int first() const { return first_; }

 private:
  struct input {
    delay_place<Number> place;
    cursor<Number> samples;
    taps<Number> weight;

    VOXHERD_FUNCTION input(const curves_view<scalar>& view, const scalar* curve, Number k, Number flow, Number tau)
        : place(place_of(tau, view.spacing_s, view.frames)), samples(curve, place.whole) {
      if constexpr (exact) {
        exact_taps<Number> t[1];
        exact_taps<Number>::template make<false>(k, {place.part}, view.spacing_s, t);
        weight = t[0].weight;
      } else {
        weight = paper_taps<Number>::make(place.part, view.spacing_s).weight;
      }
      weight.before *= flow;
      weight.at *= flow;
      weight.after *= flow;
    }

    VOXHERD_FUNCTION Number operator()(int frame) const {
      return sum(exact ? samples[frame - 1] : Number(scalar(0)), samples[frame], samples[frame + 1]);
    }

    VOXHERD_FUNCTION Number sum(const Number& before, const Number& at, const Number& after) const {
      const Number fed = weight.at * at + weight.after * after;
      if constexpr (exact) return fed + weight.before * before;
      return fed;
    }
  };

  /// An input from frame to frame.
  struct walker {
    const input& of;
    Number before, at, after;

    VOXHERD_FUNCTION walker(const input& i, int first)
        : of(i), before(scalar(0)), at(i.samples[first - 1]), after(i.samples[first]) {}

    VOXHERD_FUNCTION Number next(int frame) {
      before = at;
      at = after;
      after = of.samples[frame + 1];
      return of.sum(before, at, after);
    }
  };

  input arterial_, portal_;
  int first_ = 0;
};

}  // namespace voxherd::perfusion
