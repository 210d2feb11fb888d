#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/export/export_plan.hpp"
#include "src/export/exported_samples.hpp"
#include "src/export/fsl_folder.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

constexpr float min_fraction = 0.05f;  // the threshold of FSL's dyads_thr0.05

export_image samples_image(const result_volumes& r, const std::string& output, const std::string& name) {
  const output_spec& o = r.result().output(output);
  const float most = output.front() == 'f' ? 1.0f : 0.0f;
  return {name, describe_image(r, r.components(output), fmt::format("[{}] {}", o.unit, o.meaning), 0, most),
          needed_samples({output}),
          [output](const image_source& result, const volume_sink& sink) { result.samples({output}, sink); }};
}

export_image fraction_image(const result_volumes& r, const std::string& map, const std::string& name) {
  export_image image = map_image(r, map, name);
  image.form.display_max = 1;
  return image;
}

export_image direction_image(const result_volumes& r, const std::string& map, const std::string& name) {
  export_image image = map_image(r, map, name);
  image.form.display_min = -1;
  image.form.display_max = 1;
  return image;
}

export_image angle_image(const result_volumes& r, int k, bool polar) {
  const std::string dyads = fmt::format("dyads{}", k);
  const std::string meaning = fmt::format("[rad] {} of {}", polar ? "polar angle from z" : "azimuth from x", dyads);
  return {fmt::format("mean_{}{}samples.nii.gz", polar ? "th" : "ph", k),
          describe_image(r, 1, meaning),
          {{dyads, 3}},
          [dyads, polar](const image_source& result, const volume_sink& sink) {
            const direction_angles angles = find_angles(result.map(dyads));
            sink(polar ? angles.polar : angles.azimuth);
          }};
}

/// dyadsK where the fraction is at least 0.05; if `modulated`, times mean_fK / mean_f1.
export_image thresholded_image(const result_volumes& r, int k, bool modulated) {
  const std::string name = fmt::format("dyads{}_thr0.05{}", k, modulated ? fmt::format("_modf{}", k) : "");
  const std::string meaning = fmt::format("[1] dyads{} where mean_f{} is at least 0.05{}", k, k,
                                          modulated ? fmt::format(", times mean_f{}/mean_f1", k) : "");
  const std::string dyads = fmt::format("dyads{}", k), fraction = fmt::format("mean_f{}", k);
  std::vector<needed_output> needs{{dyads, 3}, {fraction, 1}};
  if (modulated) needs.push_back({"mean_f1", 1});
  return {name + ".nii.gz", describe_image(r, 3, meaning, -1, 1), std::move(needs),
          [dyads, fraction, modulated](const image_source& result, const volume_sink& sink) {
            auto directions = result.map(dyads);
            auto factor = result.map(fraction);
            const auto first = modulated ? result.map("mean_f1") : std::vector<float>();
            const std::size_t voxels = factor.size();
            for (std::size_t v = 0; v < voxels; ++v) {
              const bool supported = factor[v] >= min_fraction;
              factor[v] = !supported ? 0 : !modulated ? 1 : first[v] > 0 ? factor[v] / first[v] : 0;
            }
            for (std::size_t c = 0; c < 3; ++c) {
              const auto plane = std::span(directions).subspan(c * voxels, voxels);
              for (std::size_t v = 0; v < voxels; ++v) plane[v] *= factor[v];
              sink(plane);
            }
          }};
}

export_image mask_image(const result_volumes& r) {
  return {"nodif_brain_mask.nii.gz",
          describe_image(r, 1, "voxels that were analysed", 0, 1),
          {},
          [](const image_source& result, const volume_sink& sink) { sink(result.mask()); }};
}

export_image nodif_brain_image(const result_volumes& r, const std::string& nodif) {
  nifti_header header = read_nifti_header(nodif);
  const nlohmann::json inputs = r.result().provenance().value("inputs", nlohmann::json::object());
  if (!bring_unchecked(header, r.grid(), inputs.value("image", nlohmann::json())))
    refuse_data("{}: has {} x {} x {} voxels, expected {} x {} x {} as in the series", nodif, header.grid.size[0],
                header.grid.size[1], header.grid.size[2], r.grid().size[0], r.grid().size[1], r.grid().size[2]);
  return {"nodif_brain.nii.gz",
          describe_image(r, 1, "nodif inside the mask"),
          {},
          [header](const image_source& result, const volume_sink& sink) {
            auto brain = result.mask();
            const auto all = read_volume(header);
            for (std::size_t v = 0; v < brain.size(); ++v) brain[v] = brain[v] > 0 ? all[v] : 0;
            sink(brain);
          }};
}

void add_fibre(export_plan& plan, const result_volumes& r, int k) {
  const std::string n = std::to_string(k);
  for (const char* name : {"th", "ph", "f"})
    plan.images.push_back(samples_image(r, name + n, fmt::format("merged_{}{}samples.nii.gz", name, n)));
  plan.images.push_back(angle_image(r, k, true));
  plan.images.push_back(angle_image(r, k, false));
  plan.images.push_back(fraction_image(r, "mean_f" + n, "mean_f" + n + "samples.nii.gz"));
  plan.images.push_back(direction_image(r, "dyads" + n, "dyads" + n + ".nii.gz"));
  plan.images.push_back(fraction_image(r, "dyads" + n + "_dispersion", "dyads" + n + "_dispersion.nii.gz"));
  if (k < 2) return;
  plan.images.push_back(thresholded_image(r, k, false));
  plan.images.push_back(thresholded_image(r, k, true));
}

/// Rows of a constant as text: 1xN or 3xN.
std::string constant_text(const result_volumes& r, const std::string& name) {
  for (const constant& c : r.result().constants()) {
    if (c.group != "inputs" || c.name != name || c.shape.empty()) continue;
    const std::size_t columns = c.shape.back();
    std::string text;
    for (std::size_t i = 0; i < c.values.size(); ++i)
      text += fmt::format("{}{}", c.values[i], (i + 1) % columns == 0 ? "\n" : " ");
    return text;
  }
  refuse_data("{}: /inputs/{} is missing, expected in a result of ballstick", r.result().path(), name);
}

std::string analysis_log(const result_volumes& r) {
  const nlohmann::ordered_json log{{"result", r.result().path()},
                                   {"version", r.result().version()},
                                   {"configuration", r.result().configuration()},
                                   {"provenance", r.result().provenance()},
                                   {"summary", r.result().summary()}};
  return dump_json(log, 2) + "\n";
}

}  // namespace

void require_ballstick(const result_volumes& result, const char* kind) {
  if (result.count("mean_f") > 0) return;
  refuse_data("{}: --to {}: is a result of {}, expected one of ballstick; use --to nifti for the maps of any result",
              result.result().path(), kind, result.result().analysis_name());
}

direction_angles find_angles(std::span<const float> directions) {
  const std::size_t voxels = directions.size() / 3;
  direction_angles angles{std::vector<float>(voxels), std::vector<float>(voxels)};
  for (std::size_t v = 0; v < voxels; ++v) {
    const float x = directions[v], y = directions[voxels + v], z = directions[2 * voxels + v];
    // Not the arc cosine of z, which is inaccurate for small angles. atan2(0, 0) is 0, as wanted for a zero direction.
    angles.polar[v] = std::atan2(std::hypot(x, y), z);
    angles.azimuth[v] = std::atan2(y, x);
  }
  return angles;
}

export_plan plan_fsl_folder(const result_volumes& result, const std::string& nodif) {
  require_ballstick(result, "fsl");
  export_plan plan;
  for (int k = 1; k <= result.count("mean_f"); ++k) add_fibre(plan, result, k);
  std::vector<std::string> stems;  // of the samples' files, whose ending is chosen later
  for (const export_image& image : plan.images)
    if (image.name.starts_with("merged_")) stems.push_back(image.name.substr(0, image.name.find('.')));
  plan.images.push_back(fraction_image(result, "mean_fsum", "mean_fsumsamples.nii.gz"));
  for (const char* name : {"mean_d", "mean_d_std", "mean_R", "mean_S0", "mean_tau"})
    if (result.has(name)) plan.images.push_back(map_image(result, name, fmt::format("{}samples.nii.gz", name)));
  if (result.has("mean_f0")) plan.images.push_back(fraction_image(result, "mean_f0", "mean_f0samples.nii.gz"));
  plan.images.push_back(mask_image(result));
  if (!nodif.empty()) plan.images.push_back(nodif_brain_image(result, nodif));
  plan.files.push_back({exported_samples_name, [from = result.result().path(), stems](const std::string& path) {
                          const fs::path folder = fs::path(path).parent_path().parent_path();
                          std::vector<std::string> names;
                          for (const std::string& stem : stems)
                            names.push_back(fs::path(find_image((folder / stem).string())).filename().string());
                          write_exported_samples(path, from, folder.string(), names);
                        }});
  plan.texts.push_back({"bvals", constant_text(result, "bvals")});
  plan.texts.push_back({"bvecs", constant_text(result, "bvecs")});
  plan.texts.push_back({"commands.txt", result.result().provenance().value("command_line", "") + "\n"});
  plan.texts.push_back({"logs/voxherd.json", analysis_log(result)});
  plan.folders = {"logs", "xfms"};
  plan.marks.push_back({"xfms/eye.mat", "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"});
  return plan;
}

namespace {

void export_fsl(session& s, const export_settings& settings) {
  export_folder(s, settings, [](const result_volumes& result) { return plan_fsl_folder(result, ""); });
}

}  // namespace

const export_kind fsl_export{"fsl", "DIR", "the folder of bedpostX, for probtrackx2", false, export_fsl};

}  // namespace voxherd
