#pragma once

#include "kernels/perfusion/tissue_model.hpp"

/// Models that are not in the program: one as small as it can be, and one with everything that a model may have.
namespace voxherd::perfusion {

/// Tofts & Kermode 1991: C' = Ktrans Ca(t - delay) - Ktrans / ve C.
struct tofts_model {
  static constexpr int inputs = 1, exponentials = 1;
  static constexpr bool has_instant = false;
  static constexpr model_texts texts{"tofts", "Tofts", "Tofts model", "Tofts", "1991", "Tofts PS, Kermode AG. 1991."};

  static constexpr parameter parameters[] = {
      {"Ktrans", quantity::flow, "transfer constant", 0, 1000, 40},
      {"ve", quantity::volume_fraction, "volume fraction of the extravascular space", 0.01, 1, 0.2},
      {"delay", quantity::delay, "delay of the input", 0, 15, 1, parameter_role::delay, 0},
  };
  static constexpr double starts[][3] = {{60, 0.2, 1}, {5, 0.1, 6}};

  static constexpr derived_value derived[] = {{"kep", quantity::exchange_rate, "Ktrans / ve"}};
  VOXHERD_FUNCTION static void derive(const double (&p)[3], double (&value)[1]) {
    value[0] = p[1] != 0 ? p[0] / p[1] : 0;
  }

  template <class Number>
  VOXHERD_FUNCTION static void respond(const Number (&p)[3], response<Number, 1, 1>& r) {
    r.amplitude[0][0] = p[0];
    r.rate[0] = p[0] / p[1];
    r.delay[0] = p[2];
  }
  template <class Number>
  VOXHERD_FUNCTION static void differentiate(const Number (&p)[3], const response<Number, 1, 1>& r,
                                             response<Number, 1, 1> (&by)[3]) {
    const Number one(typename lane::lane_traits<Number>::scalar(1));
    by[0].amplitude[0][0] = one;
    by[0].rate[0] = one / p[1];
    by[1].rate[0] = -(r.rate[0] / p[1]);
    by[2].delay[0] = one;
  }
};

/// Two inputs, two exponentials and a part that follows the inputs at once; each number of the response but the delays
/// depends on several parameters: flow_i (1 - share) e^{-fast t} + flow_i share e^{-slow t} + flow_i blood_s.
struct general_model {
  static constexpr int inputs = 2, exponentials = 2;
  static constexpr bool has_instant = true;
  static constexpr model_texts texts{"general", "two pools", "two-pool model", "Nobody", "2000", ""};

  static constexpr parameter parameters[] = {
      {"flow_a", quantity::flow, "arterial flow", 0, 1000, 20},
      {"flow_p", quantity::flow, "portal flow", 0, 1000, 60},
      {"share", quantity::volume_fraction, "of the slow pool", 0, 1, 0.3},
      {"fast", quantity::exchange_rate, "rate of the fast pool", 1, 4000, 400},
      {"slow", quantity::exchange_rate, "rate of the slow pool", 1, 4000, 40},
      {"blood_s", quantity::transit_time, "time in the vessels", 0, 10, 1},
      {"tau_a", quantity::delay, "arterial delay", 0, 15, 1, parameter_role::delay, 0},
      {"tau_p", quantity::delay, "portal delay", 0, 15, 1, parameter_role::delay, 1},
  };
  static constexpr derived_value derived[] = {{"total", quantity::flow, "flow_a + flow_p"}};
  VOXHERD_FUNCTION static void derive(const double (&p)[8], double (&value)[1]) { value[0] = p[0] + p[1]; }

  template <class Number>
  VOXHERD_FUNCTION static void respond(const Number (&p)[8], response<Number, 2, 2>& r) {
    for (int i = 0; i < 2; ++i) {
      r.amplitude[i][1] = p[i] * p[2];
      r.amplitude[i][0] = p[i] - r.amplitude[i][1];
      r.instant[i] = p[i] * p[5];
      r.delay[i] = p[6 + i];
    }
    r.rate[0] = p[3], r.rate[1] = p[4];
  }
  template <class Number>
  VOXHERD_FUNCTION static void differentiate(const Number (&p)[8], const response<Number, 2, 2>&,
                                             response<Number, 2, 2> (&by)[8]) {
    const Number one(typename lane::lane_traits<Number>::scalar(1));
    for (int i = 0; i < 2; ++i) {
      by[i].amplitude[i][0] = one - p[2];
      by[i].amplitude[i][1] = p[2];
      by[i].instant[i] = p[5];
      by[2].amplitude[i][0] = -p[i];
      by[2].amplitude[i][1] = p[i];
      by[5].instant[i] = p[i];
      by[6 + i].delay[i] = one;
    }
    by[3].rate[0] = one, by[4].rate[1] = one;
  }
};

}  // namespace voxherd::perfusion
