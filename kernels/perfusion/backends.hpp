#pragma once

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/levenberg.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "kernels/perfusion/recursion_model.hpp"
#include "kernels/perfusion/simplex.hpp"

namespace voxherd::perfusion {

/// Arguments are known to be right.
std::unique_ptr<fitter> make_fitter_cpu(const device& d, const time_course& frames, const conversion& convert,
                                        const fit_settings& settings);
std::unique_ptr<fitter> make_fitter_cuda(const device& d, const time_course& frames, const conversion& convert,
                                         const fit_settings& settings);

/// Calls use.template operator()<Model>() with the model of these settings.
template <class Number, class Use>
void with_model(const fit_settings& s, Use&& use) {
  if (s.discretisation == discretisation_kind::paper)
    return use.template operator()<recursion_model<Number, discretisation_kind::paper>>();
  use.template operator()<recursion_model<Number, discretisation_kind::exact>>();
}

/// Calls use.template operator()<Machine, Model>() with the types of these settings.
template <class Number, class Use>
void with_machine_and_model(const fit_settings& s, Use&& use) {
  with_model<Number>(s, [&]<class Model>() {
    if (s.solver == solver_kind::simplex) return use.template operator()<simplex<Number>, Model>();
    use.template operator()<levenberg<Number>, Model>();
  });
}

/// A fit's last word on an item, of lane l.
template <class Machine>
VOXHERD_FUNCTION inline void keep_item(const Machine& machine, int l, const fit_arrays& a, int start,
                                       std::size_t voxel) {
  VOXHERD_UNROLL
  for (int i = 0; i < parameter_count; ++i)
    a.p[static_cast<std::size_t>(start * parameter_count + i) * a.count + voxel] = lane::get(machine.best()[i], l);
  const std::size_t item = static_cast<std::size_t>(start) * a.count + voxel;
  a.cost[item] = lane::get(machine.best_cost(), l);
  a.iterations[item] = static_cast<std::uint32_t>(lane::get(machine.iterations(), l));
  a.exit_code[item] =
      static_cast<std::uint8_t>(lane::get(machine.converged(), l) ? fit_exit::converged : fit_exit::most_iterations);
}

}  // namespace voxherd::perfusion
