#pragma once

#include "kernels/perfusion/phi.hpp"
#include "kernels/perfusion/samples.hpp"

/// On even frames a delay tau = (q - sigma) T is the same for every frame, and the delayed input's convolution H_i
/// obeys a recursion of one step with three weights of the input's samples x:
///   H_i = E H_{i-1} + before x_{i-q-1} + at x_{i-q} + after x_{i-q+1},  E = e^{-k T}
namespace voxherd::perfusion {

/// Position of the delayed frame i among an input's samples: (i - whole) + part of a frame.
template <class Number>
struct delay_place {
  Number whole;
  Number part;  ///< in [0, 1)
};

/// Delays longer than the series are limited to its length: they would give zero, or only the last value.
template <class Number, class Scalar>
VOXHERD_FUNCTION inline delay_place<Number> place_of(Number tau, Scalar spacing_s, int frames) {
  const auto most = static_cast<Scalar>(frames);
  Number u = tau * (Scalar(1) / spacing_s);
  u = lane::min(lane::max(u, Number(-most)), Number(most));
  const Number whole = -lane::floor(-u);
  return {whole, whole - u};
}

/// The first frame with inflow: at negative delays the exact model has inflow before frame 0, starting a part of a
/// frame before a sample; the paper's model starts at frame 0.
template <class Number, int Inputs>
VOXHERD_FUNCTION inline int first_frame_of(const delay_place<Number> (&places)[Inputs]) {
  auto least = smallest(places[0].whole);
  VOXHERD_UNROLL
  for (int i = 1; i < Inputs; ++i) least = lane::min(least, smallest(places[i].whole));
  return least < 1 ? static_cast<int>(least) - 1 : 0;
}

template <class Number>
struct taps {
  Number before, at, after;
};

/// The integral for inputs linear between samples. With s = part T and s' = T - s: the rest of segment i-q-1 from s on,
/// which has decayed by e^{-k s} since, and the beginning of segment i-q up to s.
template <class Number>
struct exact_taps {
  taps<Number> weight;
  taps<Number> slope;  ///< derivatives with respect to k; not set for the cost only
  Number decayed;      ///< E

  /// Of inputs with these parts.
  template <bool WithSlope, int Inputs, class Scalar>
  VOXHERD_FUNCTION static void make(Number k, const Number (&part)[Inputs], Scalar spacing_s,
                                    exact_taps (&to)[Inputs]) {
    Number x[2 * Inputs];
    VOXHERD_UNROLL
    for (int i = 0; i < Inputs; ++i) {
      x[2 * i] = k * (spacing_s * part[i]);
      x[2 * i + 1] = k * (spacing_s * (Scalar(1) - part[i]));
    }
    phi_functions<Number> f[2 * Inputs];
    find_phi(x, f);
    VOXHERD_UNROLL
    for (int i = 0; i < Inputs; ++i) to[i] = of<WithSlope>(part[i], spacing_s, f[2 * i], f[2 * i + 1]);
  }

 private:
  /// `f`, `g`: the phi functions of k s and k s'.
  template <bool WithSlope, class Scalar>
  VOXHERD_FUNCTION static exact_taps of(Number part, Scalar spacing_s, const phi_functions<Number>& f,
                                        const phi_functions<Number>& g) {
    const Number rest = Scalar(1) - part;
    const Number s = spacing_s * part, s_rest = spacing_s * rest;
    exact_taps t;
    t.decayed = f.decayed * g.decayed;
    const Number e = f.decayed * s_rest;
    t.weight.after = s * part * f.two;
    t.weight.before = e * rest * (g.one - g.two);
    const Number at_rest = e * (part * g.one + rest * g.two);
    t.weight.at = at_rest + s * (f.one - part * f.two);
    if constexpr (WithSlope) {
      const Number f1 = f.two - f.one, f2 = Scalar(2) * f.three - f.two;
      const Number g1 = g.two - g.one, g2 = Scalar(2) * g.three - g.two;
      t.slope.after = s * s * part * f2;
      t.slope.before = e * s_rest * rest * (g1 - g2) - s * t.weight.before;
      t.slope.at = e * s_rest * (part * g1 + rest * g2) - s * at_rest + s * s * (f1 - part * f2);
    }
    return t;
  }
};

/// Wang & Cao's: the delayed input read at the frame, times T.
template <class Number>
struct paper_taps {
  taps<Number> weight;

  template <class Scalar>
  VOXHERD_FUNCTION static paper_taps make(Number part, Scalar spacing_s) {
    return {{Number(Scalar(0)), spacing_s * (Scalar(1) - part), spacing_s * part}};
  }
};

}  // namespace voxherd::perfusion
