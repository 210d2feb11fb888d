#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <stdexcept>

#include "core/command.hpp"
#include "core/device.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "mpi/result/output_place.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/analyses/perfusion/inputs.hpp"
#include "src/analyses/perfusion/summary.hpp"
#include "src/analyses/perfusion/text_values.hpp"
#include "src/analyses/perfusion/tissue_fit.hpp"

namespace voxherd {

/// The fit of every voxel as a run: one item per voxel of the mask.
class perfusion_analysis final : public voxelwise_base<perfusion_inputs> {
 public:
  /// All arguments must outlive this.
  perfusion_analysis(perfusion_inputs& inputs, const perfusion_settings& o, const tissue_fit& tissue, const device& d);

  std::vector<output_spec> outputs() const override;
  std::vector<constant> constants() const override;
  std::unique_ptr<item_counts> make_counts() const override;
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  /// A GPU runs about 50,000 threads at once.
  std::uint64_t max_items_per_batch() const override { return 131072; }
  std::uint64_t min_items_per_batch() const override { return 65536; }

 private:
  const perfusion_settings& options_;
  const tissue_fit& tissue_;
};

namespace {

using namespace perfusion;

std::string squared_unit(const conversion& c) {
  const std::string unit = concentration_unit(c);
  return unit == "input" ? "input^2" : unit + "^2";
}

class perfusion_runner final : public batch_runner {
 public:
  perfusion_runner(std::unique_ptr<fitter> fit, const map_set& written, double per_density)
      : fitter_(std::move(fit)), written_(written), per_density_(per_density) {}

  void run(const batch& items, std::span<const std::byte> input,
           std::span<const std::span<std::byte>> outputs) override {
    const perfusion::outputs out = arrays_in<fit_outputs>(outputs, written_);
    fitter_->fit(items.item_count, reinterpret_cast<const float*>(input.data()), out);
    if (per_density_ == 1) return;
    for (std::size_t m = 0; m < map_count; ++m) {
      if (!written_[m] || !is_flow(static_cast<map>(m))) continue;
      for (std::uint64_t i = 0; i < items.item_count; ++i)
        out.floats(m)[i] = static_cast<float>(static_cast<double>(out.floats(m)[i]) * per_density_);
    }
  }
  void release_memory() override { fitter_->release_memory(); }

 private:
  std::unique_ptr<fitter> fitter_;
  map_set written_;
  double per_density_;  ///< ml/g
};

}  // namespace

perfusion_analysis::perfusion_analysis(perfusion_inputs& inputs, const perfusion_settings& o, const tissue_fit& tissue,
                                       const device& d)
    : voxelwise_base("perfusion", inputs, d), options_(o), tissue_(tissue) {}

std::vector<output_spec> perfusion_analysis::outputs() const {
  const conversion& c = input_.findings().convert;
  std::vector<output_spec> list = output_specs<fit_outputs>(maps_written(options_.maps, c));
  for (output_spec& o : list)
    if (o.name == fit_outputs::table[sum_of_squares].name) o.unit = squared_unit(c);
  return list;
}

std::vector<constant> perfusion_analysis::constants() const {
  const perfusion_findings& found = input_.findings();
  const std::string unit = concentration_unit(found.convert);
  const std::uint64_t n = found.frames.frames();
  std::vector<constant> list;
  const auto add = [&](const char* name, const std::vector<double>& values, const std::string& u, const char* meaning) {
    list.push_back({name, {n}, values, u, meaning, "curves"});
  };
  add("time", found.frames.time_s, "s", "time of each frame");
  add("arterial", found.frames.arterial, unit, "arterial input at each frame");
  add("portal", found.frames.portal, unit, "portal input at each frame");
  add("counted", {found.frames.counts.begin(), found.frames.counts.end()}, "1", "1: the frame is fitted");
  add("tissue", found.tissue, unit, "mean curve of the mask, or of --delay-roi");
  if (tissue_.fitted) add("tissue_fit", tissue_.curve, unit, "the model fitted to it");
  if (const std::vector<double>& labels = input_.region_labels(); !labels.empty())
    list.push_back({"label", {labels.size()}, labels, "1", "label of each item, 0 for none", "regions"});
  return list;
}

std::size_t perfusion_analysis::device_bytes_per_item() const {
  const perfusion_findings& found = input_.findings();
  return device_bytes_per_voxel(found.frames.frames(), found.convert, options_.fit);
}

std::unique_ptr<item_counts> perfusion_analysis::make_counts() const {
  return std::make_unique<perfusion_counts>(outputs());
}

std::unique_ptr<batch_runner> perfusion_analysis::make_runner() const {
  const perfusion_findings& found = input_.findings();
  return std::make_unique<perfusion_runner>(make_fitter(device_, found.frames, found.convert, options_.fit),
                                            maps_written(options_.maps, found.convert), 1 / options_.density_g_per_ml);
}

namespace {

/// Checks the combination of options before anything is written.
void check_settings(const perfusion_settings& o, const perfusion_findings& found) {
  try {
    perfusion::check_fit(found.frames, o.fit);
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
  const device d = choose_device(s, request.run);  // CUDA has started meanwhile
  tissue_fit tissue;
  s.on_root([&] {
    check_settings(o, found);
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
  median_collector medians(perfusion::maps_written(o.maps, found.convert), voxels.item_voxels().size());
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
    [] { return output_specs<perfusion::fit_outputs>(); });

}  // namespace voxherd
