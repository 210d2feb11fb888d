#include "kernels/noddi/noddi.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "core/command.hpp"
#include "kernels/noddi/bingham_model.hpp"
#include "kernels/noddi/protocol.hpp"
#include "mpi/run/estimate.hpp"
#include "src/analyses/common/model_analysis.hpp"
#include "src/analyses/common/model_runner.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/analyses/noddi/options.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/dwi.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/region_names.hpp"
#include "src/show/common_figures.hpp"

namespace voxherd {

namespace {

class noddi_analysis final : public voxelwise_base<dwi_series>, public divisible_items {
 public:
  noddi_analysis(dwi_series& dwi, const device& d, const noddi::settings& settings, std::vector<constant> more)
      : voxelwise_base("noddi", dwi, d), settings_(settings), more_(std::move(more)) {}

  std::vector<output_spec> outputs() const override { return noddi::list_outputs(settings_); }
  std::vector<constant> constants() const override {
    std::vector<constant> list = voxelwise_base::constants();
    list.insert(list.end(), more_.begin(), more_.end());
    return list;
  }
  std::size_t device_bytes_per_item() const override {
    return noddi::device_bytes_per_voxel(settings_, input_.measurements());
  }
  std::unique_ptr<batch_runner> make_runner() const override { return make_runner(settings_); }
  std::uint64_t parts_of_item(std::uint64_t) const override { return voxel_model::parts_of_chain(settings_.lengths()); }
  bool are_computed_side_by_side() const override { return true; }
  std::unique_ptr<batch_runner> make_probe(std::uint64_t parts) const override {
    return make_runner(voxel_model::with_parts_of_chain(settings_, parts));
  }

 private:
  std::unique_ptr<batch_runner> make_runner(const noddi::settings& settings) const {
    return std::make_unique<model_runner<noddi::noddi_outputs>>(
        noddi::make_estimator(device_, input_.gradients(), settings, input_.has_gradient_deviation()), settings_,
        outputs(), input_.item_voxels());
  }

  noddi::settings settings_;
  std::vector<constant> more_;
};

/// The label of each voxel of --regions. Their names become configuration, the files inputs. Collective.
std::vector<constant> read_regions(const session& s, const noddi_request& request, const dwi_series& dwi,
                                   run_settings& how) {
  if (request.regions.empty()) return {};
  std::vector<double> labels;
  nlohmann::json names, files;
  s.on_root([&] {
    const label_image image = read_labels(request.regions, dwi.grid(), label_kind::labels);
    std::set<std::int32_t> inside;
    for (const std::uint64_t voxel : dwi.item_voxels()) {
      labels.push_back(image.label[voxel]);
      if (image.label[voxel] > 0) inside.insert(image.label[voxel]);
    }
    if (inside.empty())
      throw failure(exit_status::bad_data,
                    fmt::format("{}: none of its regions has a voxel in the mask", printable(request.regions)));
    files["regions"] = fingerprint(request.regions);
    if (request.region_names.empty()) return;
    names = read_region_names(request.region_names, {inside.begin(), inside.end()});
    files["region_names"] = fingerprint(request.region_names);
  });
  s.broadcast(labels);
  s.broadcast(names);
  s.broadcast(files);
  if (!names.empty()) how.configuration["region-names"] = names;
  how.provenance["inputs"].update(files);
  return {{"label", {labels.size()}, labels, "1", "label of each item, 0 for none", "regions"}};
}

[[noreturn]] void refuse_series(const dwi_request& files, const std::string& why) {
  throw failure(exit_status::bad_data, fmt::format("{}: {}", files.bvals, why));
}

/// Throws failure (bad_data) if the series cannot determine the model.
void check_series(const noddi_model_request& model, const noddi::settings& settings, const gradient_table& gradients,
                  const dwi_request& files) {
  const bool is_bingham = model.distribution == noddi_distribution::bingham;
  constexpr double max_lowest_b = 200, min_highest_b = 1900;  // s/mm2
  const auto& b = gradients.b_s_per_mm2;
  std::vector<report::shell> shells = report::find_shells(gradients);
  std::erase_if(shells, [](const report::shell& s) { return !s.is_weighted(); });
  const double lowest = *std::min_element(b.begin(), b.end()), highest = *std::max_element(b.begin(), b.end());
  if (shells.size() < 2)
    refuse_series(files, fmt::format("{} shell{} with diffusion weighting, expected at least 2, because NODDI's "
                                     "fractions are not determined by one; voxherd tensor or ballstick need only one",
                                     shells.size(), shells.size() == 1 ? "" : "s"));
  if (lowest > max_lowest_b)
    refuse_series(files, fmt::format("the lowest b is {:g} s/mm2, expected a volume with at most {:g}, because NODDI "
                                     "needs the signal without diffusion weighting",
                                     lowest, max_lowest_b));
  const double max_b = (is_bingham ? noddi::bingham::max_b_times_d : noddi::max_b_times_d) / settings.d_par_mm2_per_s;
  if (highest > max_b)
    refuse_series(files, fmt::format("b is up to {:g} s/mm2, expected at most {:.0f} with --d-par {:g}: NODDI's series "
                                     "would not converge; leave these volumes out",
                                     highest, max_b, settings.d_par_mm2_per_s));
  const std::size_t parameters = is_bingham ? 8 : settings.dot ? 7 : 6;
  if (gradients.size() < parameters + 6)
    refuse_series(files, fmt::format("{} volumes cannot determine {} parameters, expected at least {}",
                                     gradients.size(), parameters, parameters + 6));
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
  const bool is_bingham = request.model.distribution == noddi_distribution::bingham;
  run_request on = request.run;
  if (!is_bingham && !request.series.gradient_deviation.empty()) {
    if (on.backend == backend_choice::cuda || on.backend == backend_choice::mixed)
      throw failure(exit_status::usage,
                    "--grad-dev: noddi corrects for the deviation of gradients only on CPUs; use "
                    "--backend cpu");
    on.backend = backend_choice::cpu;
    spdlog::info(
        "--grad-dev: computing on CPU cores, because noddi corrects for the deviation of gradients only there");
  }
  run_settings how = make_run_settings(s, on);
  how.export_words = "nifti DIR";
  dwi_request files = request.series;
  files.needs_b0 = false;  // S0 is a parameter of the model
  dwi_series dwi(s, files, request.run.host_memory_bytes());
  s.on_root([&] { check_series(request.model, settings, dwi.gradients(), request.series); });
  add_stored(noddi_options(), request, how.configuration);
  how.provenance["inputs"] = dwi.provenance();
  const std::vector<constant> regions = read_regions(s, request, dwi, how);

  const device d = choose_device(s, on);  // CUDA has started meanwhile
  if (is_bingham) {
    model_analysis<bingham_model> neurites("noddi", dwi, d, bingham_model(settings), settings, regions);
    return run(s, neurites, how, hooks_for(d));
  }
  noddi_analysis neurites(dwi, d, settings, regions);
  return run(s, neurites, how, hooks_for(d));
}

namespace {

/// Those of all options, for the manual.
std::vector<output_spec> list_all_outputs() {
  noddi::settings all;
  all.samples = 50;
  all.dot = true;
  all.noise = noddi::noise_model::rician;
  std::vector<output_spec> list = noddi::list_outputs(all);
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
