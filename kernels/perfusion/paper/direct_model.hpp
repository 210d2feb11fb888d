#pragma once

#include "kernels/perfusion/fed_inputs.hpp"
#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/paper/direct_sum.hpp"

namespace voxherd::perfusion {

/// The model on even frames by the sum over all earlier frames, in either discretisation (see taps.hpp, model.hpp):
/// the reference for the recursion.
template <class Number, discretisation_kind Kind>
class direct_model {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;

  VOXHERD_FUNCTION explicit direct_model(const curves_view<scalar>& view) : view_(view) {}

  VOXHERD_FUNCTION Number cost(const Number (&p)[parameter_count], voxel_samples y) const {
    Number sum(scalar(0));
    curve(p, [&](int i, Number c) {
      if (view_.counted != view_.frames && view_.counts[i] == 0) return;
      const Number rest = load(y.first + i * y.stride, Number(scalar(0))) - c;
      sum += rest * rest;
    });
    return sum;
  }

  /// Calls write(i, C_i) for all frames.
  template <class Write>
  VOXHERD_FUNCTION void curve(const Number (&p)[parameter_count], Write&& write) const {
    const kept_inputs fed(view_, p);
    direct_sum<Number>(p[kl] * view_.spacing_s)(fed.fed.first(), view_.frames, fed, write);
  }

 private:
  /// Lanes read samples one by one, so the samples read are kept unless the series is too long.
  struct kept_inputs {
    static constexpr bool many = lane::lane_traits<Number>::count > 1;
    static constexpr int most = many ? 512 : 1;

    VOXHERD_FUNCTION kept_inputs(const curves_view<scalar>& view, const Number (&p)[parameter_count])
        : fed(view, p), keeps(many && view.frames - fed.first() <= most) {
      if (keeps) fed.each(fed.first(), view.frames, [&](int j, const Number& x) { kept[j - fed.first()] = x; });
    }
    VOXHERD_FUNCTION Number operator()(int j) const {
      if constexpr (many)
        if (keeps) return kept[j - fed.first()];
      return fed(j);
    }

    fed_inputs<Number, Kind> fed;
    bool keeps;
    Number kept[most];
  };

  curves_view<scalar> view_;
};

}  // namespace voxherd::perfusion
