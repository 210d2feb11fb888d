#include "src/show/methods.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "core/command.hpp"
#include "core/json_text.hpp"
#include "core/program_build.hpp"
#include "core/text.hpp"
#include "src/export/bids.hpp"
#include "src/io/fingerprint.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/draft.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd::report {

namespace {

using nlohmann::json;

std::string value_text(const json& value);

bool is_followed(const json& number, const json& next) {
  return number.is_number_integer() && next.is_number_integer() && next.get<long long>() == number.get<long long>() + 1;
}

/// "0, 1000"; whole numbers in sequence as "7-90".
std::string list_text(const json& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < list.size() && is_followed(list[last], list[last + 1])) ++last;
    text += (text.empty() ? "" : ", ") + value_text(list[i]);
    if (last < i + 2) continue;
    text += "-" + value_text(list[last]);
    i = last;
  }
  return text;
}

/// "2", "yes", "0, 1000" or, of named values, "left 10, right 80".
std::string value_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_array()) return list_text(value);
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_object()) return dump_json(value);
  std::string text;
  for (const auto& [name, one] : value.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value_text(one));
  return text;
}

const option_list* find_options(const std::string& analysis) {
  for (const command* c : all_commands())
    if (c->name == analysis) return &c->table();
  return nullptr;
}

/// " Other options of voxherd track: max-steps 2000; seed-radius 0 mm.": all that is stored and that no sentence has
/// stated. Flags that were not given and empty texts and lists are left out.
std::string list_other_settings(const methods_text& m) {
  const std::string analysis = find_views(m.result).analysis;
  const option_list* options = find_options(analysis);
  std::string text;
  for (const auto& [name, value] : m.result.configuration().items()) {
    const option_spec* spec = options == nullptr ? nullptr : options->find(name);
    const bool is_flag = spec != nullptr && !spec->takes_value();
    const std::string shown = value_text(value);
    if (m.stated.contains(name) || shown.empty() || (is_flag && shown == "no")) continue;
    text += (text.empty() ? "" : "; ") + name;
    if (!is_flag) text += " " + shown;
    if (spec != nullptr && !spec->unit.empty()) text += " " + spec->unit;
  }
  return text.empty() ? "" : fmt::format(" Other options of voxherd {}: {}.", analysis, text);
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// "dwi data.nii.gz; mask brain.nii.gz (1 voxel); bvecs a.bvec (directions along the image axes); dynamic a.nii and 74
/// more files".
std::string list_inputs(const json& inputs) {
  std::string text;
  for (const auto& [name, input] : inputs.items()) {
    if (!input.is_object()) continue;
    const std::vector<std::string> files = list_input_files(input);
    std::string shown = files.empty() ? input.value("rule", "") : file_name(files.front());
    if (files.size() > 1) shown += fmt::format(" and {}", counted(files.size() - 1, "more file"));
    std::string size;
    if (input.contains("voxels")) size = counted(input.at("voxels").get<std::uint64_t>(), "voxel");
    if (input.contains("vertices"))
      size = fmt::format("surface, {} vertices{}{}", input.at("vertices").get<std::uint64_t>(),
                         size.empty() ? "" : ", in ", size);
    if (size.empty()) size = input.value("form", "");
    if (!shown.empty() && !size.empty()) shown += fmt::format(" ({})", size);
    if (!shown.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, shown);
  }
  return text;
}

std::string describe_data(const result_reader& r) {
  const image_grid& grid = r.grid();
  std::string text = fmt::format("The image had {} voxels of {:.4g} mm", fmt::join(grid.size, " × "),
                                 fmt::join(grid.voxel_size_mm, " × "));
  if (has_status_map(r)) text += fmt::format(", of which {} were analysed", r.item_voxels().size());
  const json inputs = r.provenance().value("inputs", json::object());
  if (const std::string files = list_inputs(inputs); !files.empty()) text += fmt::format(". Inputs: {}", files);
  return text + ".";
}

}  // namespace

std::string methods_text::state(const std::string& option, const std::string& standard) {
  stated.insert(option);
  const json& all = result.configuration();
  return all.contains(option) ? value_text(all.at(option)) : standard;
}

methods_text write_methods(const result_reader& r) {
  methods_text m(r);
  m.data = describe_data(r);
  const analysis_views& views = find_views(r);
  if (views.chapter.write_methods != nullptr) {
    views.chapter.write_methods(m);
  } else {
    m.text = fmt::format("The maps of {} were computed with {}.", r.analysis_name(), writing_program(r));
  }
  m.text += list_other_settings(m);
  m.references.push_back(cite_program(writing_program(r)));
  return m;
}

std::string writing_program(const result_reader& r) {
  return program_name(r.version(), r.provenance().value("build", ""));
}

reference cite_program(const std::string& name) {
  const std::string url = code_url;
  return {fmt::format("{}: analyses of brain and liver scans on many GPUs and CPU cores{}.", name,
                      url.empty() ? "" : ", " + url),
          ""};
}

void cite_ball_and_stick(methods_text& m) {
  m.cite(
      "Behrens TEJ et al. Characterization and propagation of uncertainty in diffusion-weighted MR imaging. Magn Reson "
      "Med 50:1077-1088, 2003.",
      "10.1002/mrm.10609");
  m.cite(
      "Behrens TEJ et al. Probabilistic diffusion tractography with multiple fibre orientations: what can we gain? "
      "NeuroImage 34:144-155, 2007.",
      "10.1016/j.neuroimage.2006.09.018");
}

}  // namespace voxherd::report
