#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/command.hpp"
#include "kernels/noddi/models.hpp"
#include "kernels/noddi/protocol.hpp"
#include "src/analyses/common/model_analysis.hpp"
#include "src/analyses/noddi/options.hpp"
#include "src/show/common_figures.hpp"

namespace voxherd {

namespace {

/// Throws failure (bad_data) if the series cannot determine the model.
void check_series(const noddi::settings& settings, const gradient_table& gradients, const dwi_request& files) {
  const bool is_bingham = settings.distribution == noddi::distribution::bingham;
  constexpr double max_lowest_b = 200, min_highest_b = 1900;  // s/mm2
  const auto& b = gradients.b_s_per_mm2;
  std::vector<report::shell> shells = report::find_shells(gradients);
  std::erase_if(shells, [](const report::shell& s) { return !s.is_weighted(); });
  const double lowest = *std::min_element(b.begin(), b.end()), highest = *std::max_element(b.begin(), b.end());
  if (shells.size() < 2)
    refuse_data(
        "{}: {} shell{} with diffusion weighting, expected at least 2, because NODDI's fractions are not determined by "
        "one; voxherd tensor or ballstick need only one",
        files.bvals, shells.size(), shells.size() == 1 ? "" : "s");
  if (lowest > max_lowest_b)
    refuse_data(
        "{}: the lowest b is {:g} s/mm2, expected a volume with at most {:g}, because NODDI needs the signal without "
        "diffusion weighting",
        files.bvals, lowest, max_lowest_b);
  const double max_b = (is_bingham ? noddi::bingham::max_b_times_d : noddi::max_b_times_d) / settings.d_par_mm2_per_s;
  if (highest > max_b)
    refuse_data(
        "{}: b is up to {:g} s/mm2, expected at most {:.0f} with --d-par {:g}: NODDI's series would not converge; "
        "leave these volumes out",
        files.bvals, highest, max_b, settings.d_par_mm2_per_s);
  const std::size_t parameters = (is_bingham ? 8u : 6u) + (settings.dot ? 1u : 0u);
  if (gradients.size() < parameters + 6)
    refuse_data("{}: {} volumes cannot determine {} parameters, expected at least {}", files.bvals, gradients.size(),
                parameters, parameters + 6);
  if (highest < min_highest_b)
    spdlog::warn("the highest b is {:g} s/mm2; NDI and FWF are hardly distinguished below 2000", highest);
  if (is_bingham) return;  // each b-value is exact
  const double difference = noddi::largest_b_difference(noddi::protocol(gradients, settings), gradients);
  constexpr double printed_s_per_mm2 = 0.05;  // a mean of equal b-values differs from them by rounding
  if (difference >= printed_s_per_mm2 && files.gradient_deviation.empty())
    spdlog::warn("the series has more than {} b-values; they are rounded by up to {:.1f} s/mm2", noddi::max_shells,
                 difference);
}

}  // namespace

exit_status run_noddi(session& s, const noddi_request& request) {
  const noddi::settings settings = request.settings();
  return noddi::with_model(settings, [&](const auto& model) {
    return run_model(s, "noddi", noddi_options(), request, settings, "nifti DIR", [&](const gradient_table& gradients) {
      s.on_root([&] { check_series(settings, gradients, request.series); });
      return model;
    });
  });
}

namespace {

/// Those of all options, for the manual.
std::vector<output_spec> list_all_outputs() {
  noddi::settings all;
  all.samples = 50;
  all.noise = noddi::noise_model::rician;
  std::vector<output_spec> list = voxel_model::list_outputs<watson_dot_model>(all);
  for (output_spec& of_bingham : voxel_model::list_outputs<bingham_model>(all))
    if (std::none_of(list.begin(), list.end(), [&](const output_spec& o) { return o.name == of_bingham.name; }))
      list.push_back(std::move(of_bingham));
  return list;
}

}  // namespace

extern const command noddi_command =
    make_command<noddi_options, run_noddi>({"noddi", "neurite density and orientation dispersion (NODDI)",
                                            "voxherd noddi --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
                                            "  --mask mask.nii.gz --noise rician --out noddi.h5\n"
                                            "voxherd export noddi.h5 --to nifti maps"},
                                           list_all_outputs);

}  // namespace voxherd
