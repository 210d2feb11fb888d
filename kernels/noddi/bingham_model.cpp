#include "kernels/noddi/bingham_model.hpp"

#include <algorithm>

#include "kernels/portable/cpu_team.hpp"
#include "kernels/voxel_model/frame.hpp"

namespace voxherd {

bingham_model::bingham_model(const noddi::settings& s)
    : d_par_mm2_per_s(s.d_par_mm2_per_s),
      d_iso_mm2_per_s(s.d_iso_mm2_per_s),
      uniform_kappa(s.prior == noddi::dispersion_prior::kappa),
      precise_nodes(noddi::bingham::make_node_table()) {
  std::copy_n(precise_nodes.square, noddi::bingham::nodes, rounded_nodes.square);
  std::copy_n(precise_nodes.weight, noddi::bingham::nodes, rounded_nodes.weight);
}

std::vector<double> predict_signals(const gradient_table& gradients, const noddi::settings& s,
                                    const bingham_values& v) {
  using team = cpu_team<double>;
  using real = team::real;
  const bingham_model model(s);
  const double p[4] = {v.fwf, v.ndi, v.odis, v.beta_fraction};
  const double x[3] = {v.fan[0], v.fan[1], v.fan[2]}, z[3] = {v.direction[0], v.direction[1], v.direction[2]};
  const voxel_model::frame<double> axes = voxel_model::make_frame(x, z);
  bingham_model::state<double, false> state;
  model.prepare(team{}, p, state);
  std::vector<double> signals;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const double length = std::hypot(gradients.x[i], gradients.y[i], gradients.z[i]);
    const double scale = length > 0 ? 1 / length : 0;
    const voxel_model::gradient<real> g{real(gradients.x[i] * scale), real(gradients.y[i] * scale),
                                        real(gradients.z[i] * scale), real(gradients.b_s_per_mm2[i])};
    real by[4], by_component[3];
    const real relative = model.attenuation(axes.components(g), p, state, by, by_component);
    signals.push_back(v.s0 * ((1 - v.dot) * relative[0] + v.dot));
  }
  return signals;
}

}  // namespace voxherd
