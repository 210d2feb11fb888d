#pragma once

#include <array>

#include "kernels/voxel_model/model.hpp"

namespace voxherd::voxel_model {

/// A directional model and a part of the signal that diffusion does not attenuate, as in fixed tissue.
template <directional Base>
struct with_dot : Base {
  static constexpr int dot = parameter_count<Base>;
  static constexpr std::array<parameter, dot + 1> parameters = [] {
    std::array<parameter, dot + 1> all{};
    for (std::size_t i = 0; i < dot; ++i) all[i] = Base::parameters[i];
    all[dot] = {.name = "dot",
                .unit = "1",
                .meaning = "part of the signal that diffusion does not attenuate (--dot)",
                .low = 1e-6,
                .high = 1 - 1e-6,
                .starts = {0.05, 0.05, 1},
                .first_step = 0.05};
    return all;
  }();
  static constexpr int prepared_end = dot;

  using Base::Base;

  template <class Team, class State>
  VOXHERD_FUNCTION void prepare(const Team& team, const typename Team::number (&p)[dot + 1], State& s) const {
    Base::prepare(team, base_parameters(p).value, s);
  }

  template <class Real, class Number, class State>
  VOXHERD_FUNCTION Real attenuation(const gradient<Real>& g, const Number (&p)[dot + 1], const State& s,
                                    Real (&by)[dot + 1], Real (&by_component)[3]) const {
    Real by_base[dot];
    const Real moving = Base::attenuation(g, base_parameters(p).value, s, by_base, by_component);
    return add_dot(moving, p[dot], by_base, by, by_component);
  }
  template <class Real, class Table, class Number, class State>
  VOXHERD_FUNCTION Real attenuation(const gradient<Real>& g, const Table& table, const Number (&p)[dot + 1],
                                    const State& s, Real (&by)[dot + 1], Real (&by_component)[3]) const {
    Real by_base[dot];
    const Real moving = Base::attenuation(g, table, base_parameters(p).value, s, by_base, by_component);
    return add_dot(moving, p[dot], by_base, by, by_component);
  }

  template <class Number, class Values>
  VOXHERD_FUNCTION void derive(const Number (&p)[dot + 1], Values& value) const {
    Base::derive(base_parameters(p).value, value);
  }
  template <class Frame>
  VOXHERD_FUNCTION static void relabel(double (&p)[dot + 1], Frame& f) requires requires {
    Base::relabelled;
  }
  {
    auto own = base_parameters(p);
    Base::relabel(own.value, f);
    for (int i = 0; i < dot; ++i) p[i] = own.value[i];
  }
  VOXHERD_FUNCTION float prior_energy(const float (&p)[dot + 1]) const {
    return Base::prior_energy(base_parameters(p).value);
  }

 private:
  template <class Number>
  struct numbers {
    Number value[dot];
  };
  template <class Number>
  VOXHERD_FUNCTION static numbers<Number> base_parameters(const Number (&p)[dot + 1]) {
    numbers<Number> own;
    VOXHERD_UNROLL
    for (int i = 0; i < dot; ++i) own.value[i] = p[i];
    return own;
  }

  template <class Real, class Number>
  VOXHERD_FUNCTION static Real add_dot(Real moving, Number still, const Real (&by_base)[dot], Real (&by)[dot + 1],
                                       Real (&by_component)[3]) {
    const Real part(1 - still);
    VOXHERD_UNROLL
    for (int i = 0; i < dot; ++i) by[i] = part * by_base[i];
    by[dot] = Real(1) - moving;
    VOXHERD_UNROLL
    for (Real& component : by_component) component *= part;
    return part * moving + Real(still);
  }
};

}  // namespace voxherd::voxel_model
