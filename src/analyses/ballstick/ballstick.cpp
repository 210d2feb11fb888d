#include "kernels/ballstick/ballstick.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/command.hpp"
#include "kernels/voxel_model/settings.hpp"
#include "mpi/run/estimate.hpp"
#include "src/analyses/ballstick/options.hpp"
#include "src/analyses/common/model_runner.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

namespace {

class ballstick_analysis final : public voxelwise_base<dwi_series>, public divisible_items {
 public:
  ballstick_analysis(dwi_series& dwi, const device& d, const ballstick::output_settings& settings)
      : voxelwise_base("ballstick", dwi, d), settings_(settings) {}

  std::vector<output_spec> outputs() const override { return ballstick::list_outputs(settings_); }

  std::size_t device_bytes_per_item() const override {
    return ballstick::device_bytes_per_voxel(settings_.chain, input_.measurements(), input_.has_gradient_deviation());
  }
  std::unique_ptr<batch_runner> make_runner() const override { return make_runner(settings_.chain); }
  std::uint64_t parts_of_item(std::uint64_t) const override {
    return voxel_model::parts_of_chain(settings_.chain.lengths());
  }
  bool are_computed_side_by_side() const override { return true; }
  std::unique_ptr<batch_runner> make_probe(std::uint64_t parts) const override {
    return make_runner(voxel_model::with_parts_of_chain(settings_.chain, parts));
  }
  // A voxel with more than 144 measurements uses a complete warp, so that half as many voxels fill a GPU.
  std::uint64_t last_items_per_batch() const override { return input_.measurements() > 144 ? 2048 : 4096; }

 private:
  std::unique_ptr<batch_runner> make_runner(const ballstick::settings& chain) const {
    return std::make_unique<model_runner<ballstick::posterior_outputs>>(
        ballstick::make_estimator(device_, input_.gradients(), chain, input_.has_gradient_deviation()), settings_,
        outputs(), input_.item_voxels());
  }

  ballstick::output_settings settings_;
};

/// Throws failure (bad_data) if the series cannot determine the model.
void check_measurements(const ballstick::settings& settings, const gradient_table& gradients, const std::string& dwi) {
  std::size_t weighted = 0;
  for (const double b : gradients.b_s_per_mm2) weighted += b > 50;
  const auto needed = static_cast<std::size_t>(ballstick::make_parameter_layout(settings).count);
  if (gradients.size() <= needed || weighted < 6)
    throw failure(
        exit_status::bad_data,
        fmt::format(
            "{}: {} volumes, {} of them weighted, cannot determine {} parameters; expected more than {} volumes "
            "and at least 6 weighted; use fewer --fibres or another series",
            dwi, gradients.size(), weighted, needed, needed));
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
  if (settings.model == diffusion_model::mono_exponential && settings.fibres > 2 && !settings.log_odds_per_fibre)
    spdlog::info(
        "--model 1 with {} fibres finds false fibres where slow tissue shares a voxel; for fibres use --model 2, for "
        "maps of d --fibres 2",
        settings.fibres);
  if (settings.fibres > 1 && !settings.log_odds_per_fibre)
    spdlog::info(
        "for maps and numbers of fibres consider --fibre-odds 5, which found the right number more often in phantoms, "
        "in about twice the time");
  if (settings.model == diffusion_model::gamma && count_shells(gradients) <= 1)
    spdlog::warn(
        "the series has one shell, which does not determine both d and d_std of model 2: their maps will be noisy, "
        "for maps of d use --model 1 --fibres 2 (bedpostx: -model 1 -n 2)");
}

dwi_series open_series(const session& s, const ballstick_request& request) {
  dwi_request files = request.series;
  files.needs_b0 = false;  // S0 is a parameter of the model
  return dwi_series(s, files, request.run.host_memory_bytes());
}

}  // namespace

nlohmann::json ballstick_inputs(const session& s, const ballstick_request& request) {
  return open_series(s, request).provenance();
}

exit_status run_ballstick(session& s, const ballstick_request& request) {
  const ballstick::settings settings = request.model.settings();
  run_settings how = make_run_settings(s, request.run);
  how.export_words = "fsl DIR";
  dwi_series dwi = open_series(s, request);
  check_measurements(settings, dwi.gradients(), request.series.dwi);
  advise_model(settings, dwi.gradients());
  add_stored(ballstick_options(), request, how.configuration);
  how.provenance["inputs"] = dwi.provenance();

  const device d = choose_device(s, request.run);  // CUDA has started meanwhile
  ballstick_analysis fibres(dwi, d, {settings, request.model.all_samples});
  return run(s, fibres, how, hooks_for(d));
}

extern const command ballstick_command = make_command<ballstick_options, run_ballstick>(
    {"ballstick", "fibre orientations of the ball & stick model, by sampling",
     "voxherd ballstick --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
     "  --mask mask.nii.gz --fibres 2 --out fibres.h5\n"
     "voxherd export fibres.h5 --to fsl subject.bedpostX"},
    [] { return ballstick::list_outputs({}); });

}  // namespace voxherd
