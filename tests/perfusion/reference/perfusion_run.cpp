#include "tests/perfusion/reference/perfusion_run.hpp"

namespace voxherd::reference {

using namespace perfusion;

perfusion_run::perfusion_run(const device& d, const time_course& frames, const std::vector<float>& rows,
                             const fit_settings& settings, const conversion& convert) {
  const std::size_t width = frames.frames() + static_cast<std::size_t>(convert.extras());
  const std::size_t count = rows.size() / width;
  // Values that no fit produces, to detect elements that are never written.
  maps.assign(map_count, std::vector<float>(count, -12345.f));
  iterations.assign(count, 12345);
  exit_code.assign(count, 255), at_bound.assign(count, 255), status.assign(count, 255);
  dual_outputs out;
  for (std::size_t m = 0; m < map_count; ++m) out.array[m] = maps[m].data();
  out.set<"iterations">(iterations.data());
  out.set<"exit_code">(exit_code.data());
  out.set<"at_bound">(at_bound.data());
  out.set<"status">(status.data());
  use_device(d);
  make_fitter(d, frames, convert, settings)->fit(count, rows.data(), out.array);
}

double perfusion_run::map(perfusion::dual_map which, std::size_t voxel) const {
  return static_cast<double>(maps[static_cast<std::size_t>(which)][voxel]);
}

perfusion_parameters perfusion_run::parameters(std::size_t v) const {
  return kernel_units({map(map_kl, v), map(map_ka, v), map(map_kp, v), map(map_tau_a, v), map(map_tau_p, v)});
}

perfusion_parameters perfusion_run::deviations(std::size_t v) const {
  return {map(sd_kl, v), map(sd_ka, v), map(sd_kp, v), map(sd_tau_a, v), map(sd_tau_p, v)};
}

std::vector<float> rows_of(const std::vector<std::vector<double>>& voxels) {
  std::vector<float> rows;
  for (const auto& samples : voxels)
    for (const double y : samples) rows.push_back(static_cast<float>(y));
  return rows;
}

fit_settings starting_at(fit_settings s, const perfusion_parameters& start) {
  for (std::size_t i = 0; i < start.size(); ++i) s.rules[i].start = start[i];
  return s;
}

}  // namespace voxherd::reference
