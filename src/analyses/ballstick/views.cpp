#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "src/analyses/ballstick/views.hpp"
#include "src/export/fsl_folder.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

bool is_number_of_fibres_chosen(const result_reader& r) {
  const nlohmann::json& c = r.configuration();
  return c.contains("fibre-odds") && c.at("fibre-odds").is_number();
}

namespace {

const bids_json scalar_encoding{{"Type", "scalar"}};

bids_json describe_ballstick_model(const result_reader& r) {
  const nlohmann::json& c = r.configuration();
  static const char* const models[] = {"one diffusivity", "Gamma-distributed diffusivity",
                                       "Gamma-distributed diffusivity of the ball, zeppelins for sticks"};
  const auto model = c.value("model", 1);
  bids_json m;
  m["Description"] = fmt::format("ball & stick, model {}: {}; Metropolis sampling after a least-squares start", model,
                                 models[static_cast<std::size_t>(std::clamp(model, 1, 3) - 1)]);
  m["URL"] = "https://doi.org/10.1016/j.neuroimage.2006.09.018";  // Behrens 2007
  const bool by_gain = is_number_of_fibres_chosen(r);
  const double weight = by_gain || c.value("no-ard", false) ? 0 : c.value("ard-weight", 1.0);
  m["Parameters"] = {{"ARDFudgeFactor", weight}, {"Fibers", c.value("fibres", 0)}};
  if (by_gain) m["Parameters"]["LogLikelihoodGainPerFiber"] = c.at("fibre-odds");
  m["BootstrapParameters"] = {
      {"Burnin", c.value("burn-in", 0)}, {"Jumps", c.value("jumps", 0)}, {"SampleEvery", c.value("sample-every", 0)}};
  return m;
}

/// Uses the names of BEP016, whose label for this model is "bs".
class ballstick_plan {
 public:
  ballstick_plan(const result_volumes& result, const bids_place& place)
      : result_(result),
        fibres_(result.count("mean_f")),
        plan_(place, "bs", describe_ballstick_model(result.result())) {}

  export_plan make() {
    plan_.add_map(result_, "s0", "mean", "mean_S0", {});
    add_means();
    plan_.add_map(result_, "vfsum", "mean", "mean_fsum", {});
    plan_.add_map(result_, "diffusivity", "mean", "mean_d", {{"Units", "mm^2/s"}});
    if (result_.has("mean_d_std")) plan_.add_map(result_, "dstd", "mean", "mean_d_std", {{"Units", "mm^2/s"}});
    add_merged();
    return plan_.take();
  }

 private:
  std::vector<std::string> names(const std::string& name) const {
    std::vector<std::string> list;
    for (int k = 1; k <= fibres_; ++k) list.push_back(name + std::to_string(k));
    return list;
  }

  /// Makes the components of several maps, one map after another.
  static export_image join_maps(nifti_image form, const std::vector<std::string>& maps, std::uint64_t components) {
    std::vector<needed_output> needs;
    for (const std::string& map : maps) needs.push_back({map, components});
    return {"", std::move(form), std::move(needs), [maps](const image_source& r, const volume_sink& sink) {
              for (const std::string& map : maps) {
                const auto values = r.map(map);
                const std::size_t voxels = r.grid().voxel_count();
                for (std::size_t at = 0; at < values.size(); at += voxels) sink(std::span(values).subspan(at, voxels));
              }
            }};
  }

  void add_means() {
    const auto fibres = static_cast<std::uint64_t>(fibres_);
    export_image polar = join_maps(
        describe_image(result_, 2 * fibres, "[rad] polar angle and azimuth of each fibre's mean"), names("dyads"), 3);
    polar.make = [dyads = names("dyads")](const image_source& r, const volume_sink& sink) {
      for (const std::string& map : dyads) {
        const direction_angles angles = find_angles(r.map(map));
        sink(angles.polar);
        sink(angles.azimuth);
      }
    };
    plan_.add("polar", "mean", std::move(polar),
              {{"Units", "rad"}, {"OrientationEncoding", direction_encoding("unitspherical")}});
    plan_.add(
        "vector", "mean",
        join_maps(describe_image(result_, 3 * fibres, "[1] mean direction of each fibre", -1, 1), names("dyads"), 3),
        {{"Units", "1"}, {"OrientationEncoding", direction_encoding("unit3vector")}});
    plan_.add(
        "vf", "mean",
        join_maps(describe_image(result_, fibres, "[1] mean volume fraction of each fibre", 0, 1), names("mean_f"), 1),
        {{"Units", "1"}, {"OrientationEncoding", scalar_encoding}});
  }

  void add_merged() {
    const auto join_samples = [](nifti_image form, const std::vector<std::string>& outputs) -> export_image {
      return {"", std::move(form), needed_samples(outputs),
              [outputs](const image_source& r, const volume_sink& sink) { r.samples(outputs, sink); }};
    };
    std::vector<std::string> angles;
    for (int k = 1; k <= fibres_; ++k)
      for (const char* name : {"th", "ph"}) angles.push_back(name + std::to_string(k));
    nifti_image polar = describe_image(result_, angles.size(), "[rad] samples of each fibre's polar angle and azimuth");
    nifti_image fraction = describe_image(result_, static_cast<std::uint64_t>(fibres_),
                                          "[1] samples of each fibre's volume fraction", 0, 1);
    polar.series = fraction.series = result_.components("f1");
    plan_.add("polar", "merged", join_samples(std::move(polar), angles),
              {{"Units", "rad"}, {"OrientationEncoding", direction_encoding("unitspherical")}, {"BootstrapAxis", 4}});
    plan_.add("vf", "merged", join_samples(std::move(fraction), names("f")),
              {{"Units", "1"}, {"OrientationEncoding", scalar_encoding}, {"BootstrapAxis", 4}});
  }

  const result_volumes& result_;
  int fibres_;
  model_plan plan_;
};

export_plan plan_bids_ballstick(const result_volumes& result, const bids_place& place) {
  require_ballstick(result, "bids");
  for (const char* map : {"mean_R", "mean_f0", "mean_tau"})
    if (result.has(map)) spdlog::info("BEP016 has no name for {}: left out; use --to nifti to write it", map);
  return ballstick_plan(result, place).make();
}

}  // namespace

extern const analysis_views ballstick_views{
    .analysis = "ballstick",
    .chapter = {report::write_ballstick_chapter, report::write_ballstick_methods},
    .bids = {.plan = plan_bids_ballstick, .run = {.input = bids_input::diffusion}},
    .viewer = {.voxel_kind = "orientations", .make_voxel_panel = make_ballstick_panel},
    .exports = {&fsl_export}};

}  // namespace voxherd
