#include "kernels/ballstick/ballstick.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/command.hpp"
#include "src/analyses/ballstick/options.hpp"
#include "src/analyses/common/model_analysis.hpp"

namespace voxherd {

namespace {

/// Throws failure (bad_data) if the series cannot determine the model.
void check_measurements(const ballstick::settings& settings, const gradient_table& gradients, const std::string& dwi) {
  std::size_t weighted = 0;
  for (const double b : gradients.b_s_per_mm2) weighted += b > 50;
  const auto needed = static_cast<std::size_t>(ballstick::make_parameter_layout(settings).count);
  if (gradients.size() <= needed || weighted < 6)
    refuse_data(
        "{}: {} volumes, {} of them weighted, cannot determine {} parameters; expected more than {} volumes and at "
        "least 6 weighted; use fewer --fibres or another series",
        dwi, gradients.size(), weighted, needed, needed);
}

/// Number of shells: groups of b-values above 50 s/mm2 that are less than 200 s/mm2 apart.
std::size_t count_shells(const gradient_table& gradients) {
  std::vector<double> b = gradients.b_s_per_mm2;
  std::sort(b.begin(), b.end());
  std::size_t shells = 0;
  double previous = 0;
  for (const double value : b) {
    if (value <= 50) continue;
    shells += shells == 0 || value - previous >= 200 ? 1 : 0;
    previous = value;
  }
  return shells;
}

/// What phantoms of mixed tissues showed (docs/truth.md): with one diffusivity for all, slow tissue beside a bundle is
/// fitted by false fibres.
void advise_model(const ballstick::settings& settings, const gradient_table& gradients) {
  using ballstick::diffusion_model;
  if (settings.model == diffusion_model::mono_exponential && settings.fibres > 2 && !settings.gain_per_fibre)
    spdlog::info(
        "--model 1 with {} fibres finds false fibres where slow tissue shares a voxel; for fibres use --model 2, for "
        "maps of d --fibres 2",
        settings.fibres);
  if (settings.fibres > 1 && !settings.gain_per_fibre)
    spdlog::info(
        "for maps and numbers of fibres consider --fibre-odds 5, which found the right number more often in phantoms, "
        "in about twice the time");
  if (settings.model != diffusion_model::gamma) return;
  if (count_shells(gradients) > 1)
    spdlog::info(
        "the prior of model 2 pulls d_std to 0, also with several shells: do not interpret maps of d_std, and those of "
        "d "
        "with care (docs/commands/ballstick.md)");
  else
    spdlog::warn(
        "the series has one shell, which does not determine both d and d_std of model 2: their maps will be noisy, "
        "for maps of d use --model 1 --fibres 2 (bedpostx: -model 1 -n 2)");
}

}  // namespace

nlohmann::json ballstick_inputs(const session& s, const ballstick_request& request) {
  dwi_request files = request.series;
  files.needs_b0 = false;  // S0 is a parameter of the model
  return dwi_series(s, files, request.run.host_memory_bytes()).provenance();
}

exit_status run_ballstick(session& s, const ballstick_request& request) {
  const ballstick::output_settings settings{request.model.settings(), request.model.all_samples};
  return run_model(s, "ballstick", ballstick_options(), request, settings, "fsl DIR", [&](const gradient_table& g) {
    check_measurements(settings.chain, g, request.series.dwi);
    advise_model(settings.chain, g);
    return ballstick_model{};
  });
}

extern const command ballstick_command = make_command<ballstick_options, run_ballstick>(
    {"ballstick", "fibre orientations of the ball & stick model, by sampling",
     "voxherd ballstick --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
     "  --mask mask.nii.gz --fibres 2 --out fibres.h5\n"
     "voxherd export fibres.h5 --to fsl subject.bedpostX"},
    [] { return ballstick::list_outputs({}); });

}  // namespace voxherd
