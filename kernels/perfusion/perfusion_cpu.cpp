#include "kernels/perfusion/cpu_fitter.hpp"

namespace voxherd::perfusion {

std::unique_ptr<fitter> make_fitter_cpu(const device& d, const time_course& frames, const conversion& convert,
                                        const fit_settings& settings) {
  std::unique_ptr<fitter> made;
  with_tissue(*settings.model, [&]<class Tissue>() {
    if (settings.precision == precision_kind::float32)
      made = std::make_unique<cpu_fitter<Tissue, lane::float_lanes>>(d, frames, convert, settings);
    else
      made = std::make_unique<cpu_fitter<Tissue, lane::double_lanes>>(d, frames, convert, settings);
  });
  return made;
}

}  // namespace voxherd::perfusion
