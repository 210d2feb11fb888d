#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>

#include "core/failure.hpp"
#include "core/version.hpp"
#include "src/export/export_plan.hpp"
#include "src/export/fsl_folder.hpp"

namespace voxherd {

namespace {

using json = nlohmann::ordered_json;

const json scalar_encoding{{"Type", "scalar"}};

/// Directions are along FSL's bvec axes, as computed: the voxel axes, with x negated if the determinant of the affine
/// is positive.
json direction_encoding(const char* type) { return {{"EncodingAxis", 3}, {"Reference", "bvec"}, {"Type", type}}; }

json describe_model(const result_reader& r) {
  const nlohmann::json& c = r.configuration();
  static const char* const models[] = {"one diffusivity", "Gamma-distributed diffusivity",
                                       "Gamma-distributed diffusivity of the ball, zeppelins for sticks"};
  const auto model = c.value("model", 1);
  json m;
  m["Description"] = fmt::format("ball & stick, model {}: {}; Metropolis sampling after a least-squares start", model,
                                 models[static_cast<std::size_t>(std::clamp(model, 1, 3) - 1)]);
  m["URL"] = "https://doi.org/10.1016/j.neuroimage.2006.09.018";  // Behrens 2007
  const double weight = c.value("no-ard", false) ? 0 : c.value("ard-weight", 1.0);
  m["Parameters"] = {{"ARDFudgeFactor", weight}, {"Fibers", c.value("fibres", 0)}};
  m["BootstrapParameters"] = {
      {"Burnin", c.value("burn-in", 0)}, {"Jumps", c.value("jumps", 0)}, {"SampleEvery", c.value("sample-every", 0)}};
  return m;
}

/// Uses the names of BEP016, whose label for this model is "bs".
class bids_folder {
 public:
  bids_folder(const result_volumes& result, const std::string& subject, const std::string& session)
      : result_(result), model_(describe_model(result.result())), fibres_(result.count("mean_f")) {
    prefix_ = "sub-" + subject + (session.empty() ? "" : "/ses-" + session) + "/dwi/sub-" + subject +
              (session.empty() ? "" : "_ses-" + session) + "_model-bs";
  }

  export_plan plan() {
    add_scalar("s0", "mean_S0", {});
    add_means();
    add_scalar("vfsum", "mean_fsum", {});
    add_scalar("diffusivity", "mean_d", {{"Units", "mm^2/s"}});
    if (result_.has("mean_d_std")) add_scalar("dstd", "mean_d_std", {{"Units", "mm^2/s"}});
    add_merged();
    const json description{{"Name", "voxherd ball & stick"},
                           {"BIDSVersion", "1.9.0"},
                           {"DatasetType", "derivative"},
                           {"GeneratedBy", {{{"Name", "voxherd"}, {"Version", version}}}}};
    plan_.texts.push_back({"dataset_description.json", description.dump(2) + "\n", true});
    return plan_;
  }

 private:
  void add(const std::string& middle, nifti_image form,
           std::function<void(const result_volumes&, const volume_sink&)> make, json sidecar) {
    sidecar["Model"] = model_;
    const std::string name = prefix_ + "_" + middle + "_dwimap";
    plan_.images.push_back({name + ".nii.gz", std::move(form), std::move(make)});
    plan_.texts.push_back({name + ".json", sidecar.dump(2) + "\n"});
  }

  void add_scalar(const std::string& parameter, const std::string& map, const json& sidecar) {
    export_image image = map_image(result_, map, "");
    add("desc-mean_param-" + parameter, image.form, image.make, sidecar);
  }

  std::vector<std::string> names(const std::string& name) const {
    std::vector<std::string> list;
    for (int k = 1; k <= fibres_; ++k) list.push_back(name + std::to_string(k));
    return list;
  }

  /// Makes the components of several maps, one map after another.
  static auto make_maps(const std::vector<std::string>& maps) {
    return [maps](const result_volumes& r, const volume_sink& sink) {
      for (const std::string& map : maps) {
        const auto values = r.map(map);
        const std::size_t voxels = r.grid().voxel_count();
        for (std::size_t at = 0; at < values.size(); at += voxels) sink(std::span(values).subspan(at, voxels));
      }
    };
  }

  void add_means() {
    const auto fibres = static_cast<std::uint64_t>(fibres_);
    const auto polar = [dyads = names("dyads")](const result_volumes& r, const volume_sink& sink) {
      for (const std::string& map : dyads) {
        const direction_angles angles = find_angles(r.map(map));
        sink(angles.polar);
        sink(angles.azimuth);
      }
    };
    add("desc-mean_param-polar",
        describe_image(result_, 2 * fibres, "[rad] polar angle and azimuth of each fibre's mean"), polar,
        {{"OrientationEncoding", direction_encoding("unitspherical")}});
    add("desc-mean_param-vector", describe_image(result_, 3 * fibres, "[1] mean direction of each fibre", -1, 1),
        make_maps(names("dyads")), {{"OrientationEncoding", direction_encoding("unit3vector")}});
    add("desc-mean_param-vf", describe_image(result_, fibres, "[1] mean volume fraction of each fibre", 0, 1),
        make_maps(names("mean_f")), {{"OrientationEncoding", scalar_encoding}});
  }

  void add_merged() {
    const auto make_samples = [](const std::vector<std::string>& outputs) {
      return [outputs](const result_volumes& r, const volume_sink& sink) { r.samples(outputs, sink); };
    };
    std::vector<std::string> angles;
    for (int k = 1; k <= fibres_; ++k)
      for (const char* name : {"th", "ph"}) angles.push_back(name + std::to_string(k));
    nifti_image polar = describe_image(result_, angles.size(), "[rad] samples of each fibre's polar angle and azimuth");
    nifti_image fraction = describe_image(result_, static_cast<std::uint64_t>(fibres_),
                                          "[1] samples of each fibre's volume fraction", 0, 1);
    polar.series = fraction.series = result_.components("f1");
    add("desc-merged_param-polar", polar, make_samples(angles),
        {{"OrientationEncoding", direction_encoding("unitspherical")}, {"BootstrapAxis", 4}});
    add("desc-merged_param-vf", fraction, make_samples(names("f")),
        {{"OrientationEncoding", scalar_encoding}, {"BootstrapAxis", 4}});
  }

  const result_volumes& result_;
  json model_;
  int fibres_;
  std::string prefix_;
  export_plan plan_;
};

void check_label(const char* option, const std::string& label) {
  const bool good = !label.empty() && std::all_of(label.begin(), label.end(),
                                                  [](unsigned char c) { return c < 128 && std::isalnum(c) != 0; });
  if (!good)
    throw failure(exit_status::usage,
                  fmt::format("--{} {}: expected letters and digits as required by BIDS, such as 01", option, label));
}

/// BIDS derivatives with the names and sidecars of BEP016. Labels: letters and digits; `session` may be "".
export_plan plan_bids_folder(const result_volumes& result, const std::string& subject, const std::string& session) {
  require_ballstick(result, "bids");
  check_label("subject", subject);
  for (const char* map : {"mean_R", "mean_f0", "mean_tau"})
    if (result.has(map)) spdlog::info("BEP016 has no name for {}: left out; use --to nifti to write it", map);
  if (!session.empty()) check_label("session", session);
  return bids_folder(result, subject, session).plan();
}

void run(session& s, const export_settings& settings) {
  if (settings.subject.empty())
    throw failure(exit_status::usage, "--subject is missing: BIDS names begin with it, e.g. --subject 01");
  export_folder(s, settings, [&](const result_volumes& result) {
    return plan_bids_folder(result, settings.subject, settings.session);
  });
}

}  // namespace

extern const export_kind bids_export{"bids", "DIR", "BIDS derivatives (BEP016)", true, run};

}  // namespace voxherd
