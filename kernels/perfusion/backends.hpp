#pragma once

#include <type_traits>

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/levenberg.hpp"
#include "kernels/perfusion/paper/direct_model.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "kernels/perfusion/recursion_model.hpp"
#include "kernels/perfusion/simplex.hpp"
#include "kernels/perfusion/uneven_model.hpp"
#include "kernels/perfusion/varpro.hpp"

namespace voxherd::perfusion {

/// Arguments have been checked.
std::unique_ptr<fitter> make_fitter_cpu(const device& d, const time_course& frames, const conversion& convert,
                                        const fit_settings& settings);
std::unique_ptr<fitter> make_fitter_cuda(const device& d, const time_course& frames, const conversion& convert,
                                         const fit_settings& settings);

/// Settings that need double precision: variable projection, uneven frames, other convolutions than the recursion.
template <class Number>
inline constexpr bool is_double = std::is_same_v<typename lane::lane_traits<Number>::scalar, double>;

/// Calls use.template operator()<Model>() with the model of these settings.
template <class Number, class Use>
void with_model(const fit_settings& s, bool even_frames, Use&& use) {
  if constexpr (is_double<Number>)
    if (!even_frames) return use.template operator()<uneven_model<Number>>();
  if (s.discretisation == discretisation_kind::paper)
    return use.template operator()<recursion_model<Number, discretisation_kind::paper>>();
  use.template operator()<recursion_model<Number, discretisation_kind::exact>>();
}

/// The same for the simplex, which needs only costs: also with the direct sum.
template <class Number, class Use>
void with_cost_model(const fit_settings& s, bool even_frames, Use&& use) {
  if constexpr (is_double<Number>)
    if (s.convolution == convolution_kind::direct)
      return use.template operator()<direct_model<Number, discretisation_kind::paper>>();
  with_model<Number>(s, even_frames, use);
}

/// Calls use.template operator()<Machine, Model>() with the types of these settings.
template <class Number, class Use>
void with_machine_and_model(const fit_settings& s, bool even_frames, Use&& use) {
  if (s.solver == solver_kind::simplex)
    return with_cost_model<Number>(s, even_frames,
                                   [&]<class Model>() { use.template operator()<simplex<Number>, Model>(); });
  with_model<Number>(s, even_frames, [&]<class Model>() {
    if constexpr (is_double<Number>)
      if (s.solver == solver_kind::varpro) return use.template operator()<varpro<Number>, Model>();
    use.template operator()<levenberg<Number>, Model>();
  });
}

/// Stores the result of an item's fit, of lane l.
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
      static_cast<std::uint8_t>(lane::get(machine.converged(), l) ? fit_exit::converged : fit_exit::max_iterations);
}

}  // namespace voxherd::perfusion
