#include "src/analyses/perfusion/run_perfusion.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <stdexcept>

#include "mpi/result/output_place.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/perfusion/analysis.hpp"
#include "src/analyses/perfusion/curve_files.hpp"
#include "src/analyses/perfusion/summary.hpp"

namespace voxherd {

namespace {

/// Checks the combination of options with the fitter, before anything is written.
void check_settings(const perfusion_settings& o, const perfusion_findings& found, const device& d) {
  try {
    use_device(d);
    (void)perfusion::make_fitter(d, found.frames, found.convert, o.fit);
  } catch (const std::invalid_argument& e) {
    throw failure(exit_status::usage, fmt::format("{}; see --solver, --convolution, --discretisation, --precision or "
                                                  "--starts",
                                                  e.what()));
  }
}

void warn_about_start(const perfusion::fit_settings& fit) {
  if (fit.solver == perfusion::solver_kind::simplex && fit.bounded && fit.starts == 0)
    spdlog::warn(
        "--solver simplex --bounded yes: from a single start the simplex stops at a bound in many voxels, with "
        "costs far above the least; add --starts 3");
}

void share(const session& s, tissue_fit& fit) {
  s.broadcast(fit.fitted);
  s.broadcast(fit.values);
  s.broadcast(fit.curve);
}

void share(const session& s, perfusion::fit_settings& fit) { s.broadcast(fit.rules); }

void add_tissue(const tissue_fit& fit, nlohmann::json& provenance) {
  if (!fit.fitted) return;
  for (int i = 0; i < perfusion::parameter_count; ++i)
    provenance[perfusion::parameter_name(static_cast<perfusion::parameter>(i))] =
        fit.values[static_cast<std::size_t>(i)];
}

/// A run that was refused leaves no files.
void remove_unless_started(const std::string& out, const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::exists(unfinished_path(out), ignored) || std::filesystem::exists(out, ignored)) return;
  if (!file.empty()) std::filesystem::remove(file, ignored);
}

}  // namespace

exit_status run_perfusion(session& s, const perfusion_request& request) {
  run_settings how = make_run_settings(s, request.run);
  s.on_root([&] { check_curve_file(how); });
  perfusion_settings o = make_perfusion_settings(request);
  perfusion_inputs inputs(s, o);
  const perfusion_findings& found = inputs.findings();
  const chosen_device d = choose_device(s, request.run);  // CUDA has started meanwhile
  tissue_fit tissue;
  s.on_root([&] {
    check_settings(o, found, d);
    warn_about_start(o.fit);
    tissue = fit_tissue(o, found);
    if (o.delays == delay_choice::two_stage) take_delays(tissue, o);
  });
  share(s, tissue);
  share(s, o.fit);

  how.configuration.update(found.configuration);
  add_configuration(request, o, how.configuration);
  how.provenance["inputs"] = inputs.provenance();
  add_tissue(tissue, how.provenance["mean_curve"]);

  perfusion_analysis voxels(inputs, o, tissue, d);
  if (is_already_complete(s, voxels.name(), how, hooks_for(d))) {
    log_nothing_to_do(how);
    if (!how.dry_run) s.on_root([&] { remove_leftovers(how.out); });
    return exit_status::complete;
  }
  std::string made;  // on rank 0
  if (!how.dry_run) s.on_root([&] { made = write_curve_file(how, found, tissue); });
  how.report_result = [&] { log_medians(s, how.out); };
  try {
    return run(s, voxels, how, hooks_for(d));
  } catch (const failure&) {
    remove_unless_started(how.out, made);
    throw;
  }
}

}  // namespace voxherd
