#include "kernels/perfusion/host_curves.hpp"

#include <algorithm>

#include "kernels/perfusion/converter.hpp"
#include "kernels/perfusion/lane_fit.hpp"

namespace voxherd::perfusion {

std::vector<float> convert_row(const conversion& convert, const time_course& frames, const float* row) {
  std::vector<float> concentration(frames.frames());
  const voxel_converter converter(convert, static_cast<int>(frames.frames()), frames.counts.data());
  if (converter({row, 1}, concentration.data(), 1).status != voxel_status::fitted) return {};
  return concentration;
}

std::vector<double> model_curve(const time_course& frames, const fit_settings& settings,
                                const std::vector<double>& parameters) {
  const curves_table<double> table(frames);
  std::vector<double> curve(frames.frames());
  with_tissue(*settings.model, [&]<class Tissue>() {
    double p[parameter_count<Tissue>];
    std::copy_n(parameters.begin(), parameter_count<Tissue>, p);
    with_model<Tissue, double>(settings, frames.spacing_s() > 0, [&]<class Model>() {
      const curves_view<double> view = table.view();
      const Model model(view);
      model.curve(p, [&](int i, double c) { curve[static_cast<std::size_t>(i)] = c; });
    });
  });
  return curve;
}

}  // namespace voxherd::perfusion
