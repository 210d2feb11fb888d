#include "kernels/perfusion/perfusion.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "core/command.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/study.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/perfusion/inputs.hpp"
#include "src/analyses/perfusion/medians.hpp"
#include "src/analyses/perfusion/tissue_fit.hpp"
#include "src/analyses/perfusion/voxel_fit.hpp"

namespace voxherd {

namespace {

/// Checks the combination of options before anything is written.
void check_settings(const perfusion_settings& o, const perfusion_findings& found) {
  try {
    perfusion::check_fit(found.frames, o.fit);
  } catch (const std::invalid_argument& e) {
    refuse_usage(
        "{}; see --solver, --convolution, --discretisation, --precision or "
        "--starts",
        e.what());
  }
}

void warn_about_start(const perfusion::fit_settings& fit) {
  if (fit.solver == perfusion::solver_kind::simplex && fit.bounded && fit.starts == 0)
    spdlog::warn(
        "--solver simplex --bounded yes: from a single start the simplex stops at a bound in many voxels, with "
        "costs far above the least; add --starts 3");
}

/// Rank 0: the fit of the mean curve, and the rules of the voxels' parameters, which may take delays from it.
std::pair<tissue_fit, std::vector<perfusion::parameter_rule>> fit_mean(perfusion_settings o,
                                                                       const perfusion_findings& found) {
  check_settings(o, found);
  warn_about_start(o.fit);
  tissue_fit tissue = fit_tissue(o, found);
  if (o.delays == delay_choice::two_stage) take_delays(tissue, o);
  return {std::move(tissue), std::move(o.fit.rules)};
}

void add_tissue(const tissue_fit& fit, const perfusion::model_info& model, nlohmann::json& provenance) {
  if (!fit.fitted) return;
  for (std::size_t i = 0; i < fit.values.size(); ++i) provenance[model.parameters[i].name] = fit.values[i];
}

/// A run that was refused leaves no files.
void remove_unless_started(const std::string& out, const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::exists(unfinished_path(out), ignored) || std::filesystem::exists(out, ignored)) return;
  if (!file.empty()) std::filesystem::remove(file, ignored);
}

/// The outputs of all models.
std::vector<output_spec> list_outputs() {
  std::vector<output_spec> all;
  for (const model_form& form : model_forms())
    for (const output& o : form.model->outputs)
      if (std::none_of(all.begin(), all.end(), [&](const output_spec& other) { return other.name == o.name; }))
        all.push_back(o.spec());
  return all;
}

}  // namespace

exit_status run_perfusion(session& s, const perfusion_request& request) {
  run_settings how = make_run_settings(s, request.run);
  s.on_root([&] { check_curve_file(how); });
  perfusion_settings o = make_perfusion_settings(request);
  perfusion_inputs inputs(s, o);
  const perfusion_findings& found = inputs.findings();
  const device d = choose_device(s, request.run);  // CUDA has started meanwhile
  tissue_fit tissue;
  std::tie(tissue, o.fit.rules) = s.from_root([&] { return fit_mean(o, found); });

  how.configuration.update(found.configuration);
  add_configuration(request, o, how.configuration);
  how.provenance["inputs"] = inputs.provenance();
  std::vector<constant> regions = add_item_regions(inputs.regions(), how);
  add_tissue(tissue, *o.fit.model, how.provenance["mean_curve"]);

  perfusion_analysis voxels(inputs, o, tissue, d, std::move(regions));
  if (is_already_complete(s, voxels.name(), how, hooks_for(d))) {
    log_nothing_to_do(how);
    if (!how.dry_run) s.on_root([&] { remove_leftovers(how.out); });
    return exit_status::complete;
  }
  std::string made;  // on rank 0
  if (!how.dry_run) s.on_root([&] { made = write_curve_file(how, found, tissue); });
  median_collector medians(*o.fit.model, perfusion::maps_written(o.maps, found.convert, *o.fit.model),
                           voxels.item_voxels().size());
  how.report_result = [&] { medians.log(s); };
  try {
    return run_step(s, voxels, how, hooks_for(d), step_context{},
                    [&](const batch& b, auto outputs) { medians.add(b, outputs); });
  } catch (const failure&) {
    remove_unless_started(how.out, made);
    throw;
  }
}

extern const command perfusion_command = make_command<perfusion_options, run_perfusion>(
    {"perfusion", "liver perfusion maps: flows, transit times, delays",
     "voxherd perfusion --dynamic dynamic.nii.gz --times times.txt \\\n"
     "  --mask liver.nii.gz --arterial-voi aorta.nii.gz \\\n"
     "  --portal-voi portal_vein.nii.gz --signal spgr --tr 4 --flip-angle 20 \\\n"
     "  --relaxivity 3.4 --t1 0.6 --t1-blood 1.4 --arterial-baseline portal \\\n"
     "  --haematocrit 0.42 --delays two-stage --out liver.h5\n"
     "voxherd export liver.h5 --to nifti maps"},
    list_outputs);

}  // namespace voxherd
