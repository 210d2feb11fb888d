#include "bench/perfusion_fit.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace voxherd::bench {

using namespace perfusion;

perfusion_fits::perfusion_fits(std::size_t voxels)
    : iterations(voxels), exit_code(voxels), at_bound(voxels), status(voxels) {
  for (auto& map : maps) map.resize(voxels);
}

outputs perfusion_fits::view() {
  outputs out{{}, iterations.data(), exit_code.data(), at_bound.data(), status.data()};
  for (std::size_t i = 0; i < maps.size(); ++i) out.maps[i] = maps[i].data();
  return out;
}

perfusion_parameters perfusion_fits::parameters(std::size_t voxel) const {
  perfusion_parameters p{};
  for (std::size_t i = 0; i < parameter_count; ++i)
    p[i] = static_cast<double>(maps[i][voxel]) / (i <= kp ? per_second : 1);
  return p;
}

perfusion_fits fit_once(const device& d, const time_course& frames, const fit_settings& settings,
                        const std::vector<float>& rows) {
  use_device(d);
  perfusion_fits fits(rows.size() / frames.frames());
  make_fitter(d, frames, {}, settings)->fit(fits.voxels(), rows.data(), fits.view());
  for (std::size_t v = 0; v < fits.voxels(); ++v)
    if (fits.status[v] != 0)
      throw std::runtime_error(fmt::format("voxel {}: status {}, expected 0", v, fits.status[v]));
  return fits;
}

}  // namespace voxherd::bench
