#pragma once

#include <type_traits>

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/fit_limits.hpp"
#include "kernels/perfusion/levenberg.hpp"
#include "kernels/perfusion/paper/direct_model.hpp"
#include "kernels/perfusion/recursion_model.hpp"
#include "kernels/perfusion/samples.hpp"
#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/simplex.hpp"
#include "kernels/perfusion/uneven_model.hpp"
#include "kernels/perfusion/varpro.hpp"

namespace voxherd::perfusion {

/// Fits items, one per lane; a lane whose item has ended takes the next one. `Lanes` distributes the items and holds
/// their samples: a warp of a GPU or a thread of a CPU.
template <class Machine, class Model, class Lanes>
VOXHERD_FUNCTION inline void fit_on_lanes(Machine machine, const Model& model, Lanes& lanes) {
  using mask = typename Machine::mask;
  mask active(false), none_left(false);
  while (true) {
    const mask waiting = !active && !none_left;
    if (lanes.enough(waiting, active, Machine::begin_at_part)) {
      const mask fresh = lanes.take(waiting, none_left);
      machine.begin(fresh, lanes.start());
      active = active || fresh;
    }
    if (!lanes.any(active)) return;
    const mask ended = machine.advance(model, lanes.samples()) && active;
    if (lanes.any(ended)) lanes.keep(ended, machine);
    active = active && !ended;
  }
}

/// Settings that need double precision: variable projection, uneven frames, other convolutions than the recursion.
template <class Number>
inline constexpr bool is_double = std::is_same_v<typename lane::lane_traits<Number>::scalar, double>;

/// Calls use.template operator()<Model>() with the curve model of these settings.
template <class Tissue, class Number, class Use>
void with_model(const fit_settings& s, bool even_frames, Use&& use) {
  if constexpr (is_double<Number>)
    if (!even_frames) return use.template operator()<uneven_model<Tissue, Number>>();
  if constexpr (is_washout<Tissue>)
    if (s.discretisation == discretisation_kind::paper)
      return use.template operator()<recursion_model<Tissue, Number, discretisation_kind::paper>>();
  use.template operator()<recursion_model<Tissue, Number, discretisation_kind::exact>>();
}

/// The same for the simplex, which needs only costs: also with the direct sum.
template <class Tissue, class Number, class Use>
void with_cost_model(const fit_settings& s, bool even_frames, Use&& use) {
  if constexpr (is_double<Number> && has_papers_convolutions<Tissue>)
    if (s.convolution == convolution_kind::direct)
      return use.template operator()<direct_model<Number, discretisation_kind::paper>>();
  with_model<Tissue, Number>(s, even_frames, use);
}

/// Calls use.template operator()<Machine, Model>() with the types of these settings.
template <class Tissue, class Number, class Use>
void with_machine_and_model(const fit_settings& s, bool even_frames, Use&& use) {
  constexpr int count = parameter_count<Tissue>;
  if (s.solver == solver_kind::simplex)
    return with_cost_model<Tissue, Number>(
        s, even_frames, [&]<class Model>() { use.template operator()<simplex<Number, count>, Model>(); });
  with_model<Tissue, Number>(s, even_frames, [&]<class Model>() {
    if constexpr (is_double<Number> && is_washout<Tissue>)
      if (s.solver == solver_kind::varpro) return use.template operator()<varpro<Tissue, Number>, Model>();
    use.template operator()<levenberg<Tissue, Number>, Model>();
  });
}

/// Stores the result of an item's fit, of lane l.
template <int Count, class Machine>
VOXHERD_FUNCTION inline void keep_item(const Machine& machine, int l, const fit_arrays& a, int start,
                                       std::size_t voxel) {
  VOXHERD_UNROLL
  for (int i = 0; i < Count; ++i)
    a.p[static_cast<std::size_t>(start * Count + i) * a.count + voxel] = lane::get(machine.best()[i], l);
  const std::size_t item = static_cast<std::size_t>(start) * a.count + voxel;
  a.cost[item] = lane::get(machine.best_cost(), l);
  a.iterations[item] = static_cast<std::uint32_t>(lane::get(machine.iterations(), l));
  a.exit_code[item] =
      static_cast<std::uint8_t>(lane::get(machine.converged(), l) ? fit_exit::converged : fit_exit::max_iterations);
}

}  // namespace voxherd::perfusion
