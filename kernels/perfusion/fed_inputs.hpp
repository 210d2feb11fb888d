#pragma once

#include "kernels/perfusion/curves.hpp"
#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/taps.hpp"

namespace voxherd::perfusion {

/// What both inputs bring into the tissue from frame to frame at given parameters, on even frames and at any frame:
///   C_i = sum_{j <= i} E^(i-j) fed(j),  E = exp(-kl T)
template <class Number, discretisation_kind Kind>
class fed_inputs {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  static constexpr bool exact = Kind == discretisation_kind::exact;

  VOXHERD_FUNCTION fed_inputs(const curves_view<scalar>& view, const Number (&p)[parameter_count])
      : arterial_(view, view.arterial, p[kl], p[ka], p[tau_a]), portal_(view, view.portal, p[kl], p[kp], p[tau_p]) {
    if constexpr (exact) {
      const scalar least = lane::min(smallest(arterial_.place.whole), smallest(portal_.place.whole));
      first_ = least < 1 ? static_cast<int>(least) - 1 : 0;
    }
  }

  VOXHERD_FUNCTION Number operator()(int frame) const { return arterial_(frame) + portal_(frame); }

  /// The first frame that anything comes from: at negative delays the exact model has seen inputs before frame 0, the
  /// first of them part of a frame before a whole one; the paper's begins there.
  VOXHERD_FUNCTION int first() const { return first_; }

 private:
  struct input {
    delay_place<Number> place;
    cursor<Number> samples;
    taps<Number> weight;

    VOXHERD_FUNCTION input(const curves_view<scalar>& view, const scalar* curve, Number k, Number flow, Number tau)
        : place(place_of(tau, view.spacing_s, view.frames)), samples(curve, place.whole) {
      if constexpr (exact)
        weight = exact_taps<Number>::template make<false>(k, place.part, view.spacing_s).weight;
      else
        weight = paper_taps<Number>::make(place.part, view.spacing_s).weight;
      weight.before *= flow;
      weight.at *= flow;
      weight.after *= flow;
    }

    VOXHERD_FUNCTION Number operator()(int frame) const {
      const Number fed = weight.at * samples[frame] + weight.after * samples[frame + 1];
      if constexpr (exact) return fed + weight.before * samples[frame - 1];
      return fed;
    }
  };

  input arterial_, portal_;
  int first_ = 0;
};

}  // namespace voxherd::perfusion
