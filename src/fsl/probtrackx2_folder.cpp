#include "src/fsl/probtrackx2.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/failure.hpp"

namespace voxherd {

namespace {

/// Null if the result has no such constant.
const constant* find_constant(const std::vector<constant>& all, const char* group, const char* name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const constant& c) { return c.group == group && c.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Writes the matrix in FSL's form: two spaces after each number.
std::string matrix_text(const constant& c) {
  const std::size_t columns = c.shape.size() < 2 ? 1 : c.shape.back();
  std::string text;
  for (std::size_t i = 0; i < c.values.size(); ++i)
    text += fmt::format("{}  {}", c.values[i], (i + 1) % columns == 0 ? "\n" : "");
  return text;
}

/// seeds_to_NAME, with distance correction times the mean length.
void add_target_images(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  const std::string end = "_lengths";
  for (const output_spec& o : result.result().outputs()) {
    const std::string& name = o.name;
    if (!name.starts_with("seeds_to_") || (name.ends_with(end) && !wanted.lengths)) continue;
    plan.images.push_back(map_image(result, name, name + ".nii.gz"));
    if (name.ends_with(end) || !wanted.distance_corrected) continue;
    plan.images.back().make = [name, end](const result_volumes& r, const volume_sink& sink) {
      std::vector<float> sum = r.map(name);
      const std::vector<float> length = r.map(name + end);
      for (std::size_t v = 0; v < sum.size(); ++v) sum[v] *= length[v];
      sink(sum);
    };
  }
}

}  // namespace

export_plan plan_probtrackx2_folder(const result_volumes& result, const probtrackx2_outputs& wanted) {
  export_plan plan;
  const std::vector<constant> constants = result.result().constants();
  const constant* by_region = find_constant(constants, "connectome", "waytotal");
  const constant* total = find_constant(constants, "streamlines", "waytotal");
  if (total == nullptr)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has no waytotal, expected a result of track", result.result().path()));
  plan.texts.push_back({"waytotal", matrix_text(by_region == nullptr ? *total : *by_region)});
  plan.texts.push_back({"probtrackx.log", result.result().provenance().value("command_line", "") + "\n"});
  if (wanted.density)
    plan.images.push_back(
        map_image(result, wanted.distance_corrected ? "length_sum" : "density", wanted.name + ".nii.gz"));
  if (wanted.directions) plan.images.push_back(map_image(result, "local_direction", wanted.name + "_localdir.nii.gz"));
  add_target_images(result, wanted, plan);
  if (wanted.lengths) plan.images.push_back(map_image(result, "mean_length", wanted.name + "_lengths.nii.gz"));
  if (const constant* counts = find_constant(constants, "connectome", "count"))
    plan.texts.push_back({"fdt_network_matrix", matrix_text(*counts)});
  const constant* lengths = find_constant(constants, "connectome", "mean_length_mm");
  if (lengths != nullptr && wanted.lengths) plan.texts.push_back({"fdt_network_matrix_lengths", matrix_text(*lengths)});
  return plan;
}

}  // namespace voxherd
