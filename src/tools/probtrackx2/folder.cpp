#include "src/tools/probtrackx2/folder.hpp"

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

/// As FSL writes it: two spaces after each number.
std::string matrix_text(const constant& c) {
  const std::size_t columns = c.shape.size() < 2 ? 1 : c.shape.back();
  std::string text;
  for (std::size_t i = 0; i < c.values.size(); ++i)
    text += fmt::format("{}  {}", c.values[i], (i + 1) % columns == 0 ? "\n" : "");
  return text;
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
  if (wanted.lengths) plan.images.push_back(map_image(result, "mean_length", wanted.name + "_lengths.nii.gz"));
  if (const constant* counts = find_constant(constants, "connectome", "count"))
    plan.texts.push_back({"fdt_network_matrix", matrix_text(*counts)});
  const constant* lengths = find_constant(constants, "connectome", "mean_length_mm");
  if (lengths != nullptr && wanted.lengths) plan.texts.push_back({"fdt_network_matrix_lengths", matrix_text(*lengths)});
  return plan;
}

}  // namespace voxherd
