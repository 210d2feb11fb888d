#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "core/command.hpp"
#include "core/device.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "kernels/portable/output_rows.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/output_place.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/common/voxelwise.hpp"
#include "src/analyses/perfusion/inputs.hpp"
#include "src/analyses/perfusion/text_values.hpp"
#include "src/analyses/perfusion/tissue_fit.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd {

namespace {

/// Also counts how many fitted voxels ended at a bound, and how many did not converge.
class perfusion_counts final : public status_counts {
 public:
  explicit perfusion_counts(const std::vector<output_spec>& outputs);
  void add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) override;
  void report(std::uint64_t items) const override;

 private:
  std::size_t status_, exit_code_, at_bound_;  ///< indices of the outputs
};

/// Medians of maps over the fitted voxels of a study; of every second, third, ... item in a large one.
class median_collector {
 public:
  /// `written`: the outputs of the study's `items`.
  median_collector(const perfusion::map_set& written, std::uint64_t items);
  /// A batch that this rank receives.
  void add(const batch& voxels, std::span<const std::span<const std::byte>> outputs);
  /// Logs the medians over all ranks. Collective; once.
  void log(const session& s);

 private:
  perfusion::map_set written_;
  std::uint64_t every_;
  std::uint64_t fitted_ = 0;
  std::array<std::vector<float>, 7> values_;  ///< values of each map that is summed up
};

struct summed_map {
  std::size_t place;  ///< in the table of outputs
  const char* unit;

  const char* name() const { return perfusion::fit_outputs::table[place].name; }
};

template <output_name Name>
constexpr std::size_t place() {
  return perfusion::outputs::place<Name>();
}

constexpr summed_map summed_up[] = {{place<"ka">(), ""},
                                    {place<"kp">(), ""},
                                    {place<"kl">(), " ml/100g/min"},
                                    {place<"arterial_fraction">(), ""},
                                    {place<"distribution_volume">(), ""},
                                    {place<"mean_transit_time">(), " s"},
                                    {place<"r_squared">(), ""}};

/// Sufficient for three digits of a median.
constexpr std::uint64_t max_for_quartiles = 1 << 16;

/// Median and quartiles: each quartile is the middle of a half on one side of the median.
std::string spread(std::vector<float> values) {
  const auto place = [&](std::size_t quarter) {
    return values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * quarter / 4);
  };
  const auto first = place(1), middle = place(2), third = place(3);
  std::nth_element(values.begin(), middle, values.end());
  const float median = *middle;
  std::nth_element(values.begin(), first, middle);
  std::nth_element(middle, third, values.end());
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", median, *first, *third);
}

std::string percent(std::uint64_t part, std::uint64_t all) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

// After the 256 status codes: exit codes, voxels with any bit of `at_bound`, and with each.
constexpr std::size_t exits = status_counts::codes, exit_codes = 256, any_bound = exits + exit_codes,
                      each_bound = any_bound + 1;

perfusion_counts::perfusion_counts(const std::vector<output_spec>& outputs)
    : status_counts(outputs),
      status_(output_index(outputs, "status")),
      exit_code_(output_index(outputs, "exit_code")),
      at_bound_(output_index(outputs, "at_bound")) {
  counts.resize(each_bound + perfusion::parameter_count);
}

void perfusion_counts::add(std::uint64_t item_count, std::span<const std::span<const std::byte>> outputs) {
  status_counts::add(item_count, outputs);
  for (std::uint64_t i = 0; i < item_count; ++i) {
    if (outputs[status_][i] != std::byte{0}) continue;
    const auto bits = static_cast<unsigned>(outputs[at_bound_][i]);
    ++counts[exits + static_cast<std::size_t>(outputs[exit_code_][i])];
    counts[any_bound] += bits != 0 ? 1 : 0;
    for (unsigned p = 0; p < perfusion::parameter_count; ++p) counts[each_bound + p] += bits >> p & 1;
  }
}

void perfusion_counts::report(std::uint64_t items) const {
  status_counts::report(items);
  const std::uint64_t fitted = counts[0];
  if (counts[any_bound] > 0) {
    std::string each;
    for (int i = 0; i < perfusion::parameter_count; ++i) {
      const std::uint64_t count = counts[each_bound + static_cast<std::size_t>(i)];
      if (count > 0)
        each += fmt::format("; {} {}", perfusion::parameter_name(static_cast<perfusion::parameter>(i)),
                            percent(count, fitted));
    }
    const std::string text =
        fmt::format("at a bound: {} of the fitted voxels{}", percent(counts[any_bound], fitted), each);
    if (2 * counts[any_bound] > fitted) {
      spdlog::warn("{}; are times, signal and input curves right? --bounds changes bounds", text);
    } else {
      spdlog::info("{}", text);
    }
  }
  constexpr const char* meanings[] = {"converged", "reached the largest number of iterations",
                                      "found no further descent"};
  for (std::size_t code = 1; code < std::size(meanings); ++code) {
    if (counts[exits + code] > 0)
      spdlog::info("{} of the fitted voxels {}", percent(counts[exits + code], fitted), meanings[code]);
  }
}

median_collector::median_collector(const perfusion::map_set& written, std::uint64_t items)
    : written_(written), every_(std::max<std::uint64_t>(1, (items + max_for_quartiles - 1) / max_for_quartiles)) {}

void median_collector::add(const batch& voxels, std::span<const std::span<const std::byte>> outputs) {
  const output_rows<perfusion::fit_outputs> rows(outputs, written_);
  const std::span<const std::uint8_t> status = rows.values<"status">();
  for (std::uint64_t i = 0; i < voxels.item_count; ++i) {
    if (status[i] != 0) continue;
    ++fitted_;
    if ((voxels.first_item + i) % every_ != 0) continue;
    for (std::size_t m = 0; m < std::size(summed_up); ++m)
      if (const float* const map = rows.floats(summed_up[m].place)) values_[m].push_back(map[i]);
  }
}

void median_collector::log(const session& s) {
  const std::uint64_t fitted = s.all_reduce(reduction::sum, fitted_);
  std::size_t some = 0;
  std::string text;
  for (std::size_t m = 0; m < std::size(summed_up); ++m) {
    const std::vector<float> values = s.gather_to_root(values_[m]);
    if (values.empty()) continue;
    some = values.size();
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", summed_up[m].name(), spread(values), summed_up[m].unit);
  }
  if (!text.empty())
    spdlog::info("medians (quartiles) of {}{} voxels: {}", some < fitted ? fmt::format("{} of ", some) : "", fitted,
                 text);
}

}  // namespace

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
