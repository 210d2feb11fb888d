#pragma once

#include "kernels/portable/double_math.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/voxel_model/model.hpp"

namespace voxherd::voxel_model {

/// All voxels' gradients, padded with zeros to complete slots of any team.
template <class Number>
struct gradient_columns {
  const Number *x, *y, *z, *b;
  const Number* is_measured;  ///< 1; 0 in the padding
};

/// One voxel's measurements for a team whose numbers have this type.
template <class Number>
struct voxel_data {
  gradient_columns<Number> columns;
  const Number* signals;   ///< padded
  const float* deviation;  ///< nine numbers (FSL's grad_dev order, column-wise), or null
  int count, padded;
  const Number* table = nullptr;  ///< (number, padded) of a tabulated model; null: computed when used

  template <class Team>
  VOXHERD_FUNCTION int slots(const Team& team) const {
    return padded / team.width();
  }
  template <class Team>
  VOXHERD_FUNCTION typename Team::real signal(const Team& team, int slot) const {
    return team.load(signals, slot);
  }
  template <class Team>
  VOXHERD_FUNCTION typename Team::real is_measured(const Team& team, int slot) const {
    return team.load(columns.is_measured, slot);
  }

  template <class Model, class Team>
  VOXHERD_FUNCTION measurement_table<Model, typename Team::real> table_at(const Team& team, const Model& model,
                                                                          typename Team::real b_s_per_mm2,
                                                                          int slot) const {
    measurement_table<Model, typename Team::real> own;
    if constexpr (tabulated<Model>) {
      if (table == nullptr)
        model.tabulate(b_s_per_mm2, own.number);
      else
        for (int i = 0; i < Model::table_numbers; ++i) own.number[i] = team.load(table + i * padded, slot);
    }
    return own;
  }

  /// With a deviation L, the direction of (I + L) g, and b times its squared length.
  template <class Team>
  VOXHERD_FUNCTION gradient<typename Team::real> gradient_at(const Team& team, int slot) const {
    using real = typename Team::real;
    const gradient<real> g{team.load(columns.x, slot), team.load(columns.y, slot), team.load(columns.z, slot),
                           team.load(columns.b, slot)};
    if (deviation == nullptr) return g;
    const auto bent = [&](int line, real own) {
      return own + real(Number(deviation[line])) * g.x + real(Number(deviation[3 + line])) * g.y +
             real(Number(deviation[6 + line])) * g.z;
    };
    const real x = bent(0, g.x), y = bent(1, g.y), z = bent(2, g.z);
    const real square = x * x + y * y + z * z;
    const real inverse = real(Number(1)) / lane::sqrt(lane::max(square, real(Number(1e-30))));
    return {x * inverse, y * inverse, z * inverse, g.b_s_per_mm2 * square};
  }
};

/// Tabulates a model at all measurements. `table`: of `data`'s size.
template <class Model, class Team>
VOXHERD_FUNCTION inline void fill_table(const Team& team, const voxel_data<typename Team::number>& data,
                                        const Model& model, typename Team::number* table) {
  for (int slot = 0; slot < data.slots(team); ++slot) {
    typename Team::real number[Model::table_numbers];
    model.tabulate(data.gradient_at(team, slot).b_s_per_mm2, number);
    for (int i = 0; i < Model::table_numbers; ++i) team.store(table + i * data.padded, slot, number[i]);
  }
}

}  // namespace voxherd::voxel_model
