#include "src/export/bids.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "core/program_build.hpp"
#include "core/text.hpp"

namespace voxherd {

const char* const code_url = VOXHERD_CODE_URL;

std::string bids_label(const std::string& text) {
  std::string label;
  std::copy_if(text.begin(), text.end(), std::back_inserter(label), is_bids_letter);
  return label;
}

namespace {

namespace fs = std::filesystem;

constexpr auto description_name = "dataset_description.json";

/// BIDS validators do not know the names of proposals.
constexpr auto ignored_names =
    "*_dwimap.nii.gz\n*_dwimap.json\n*_perfmap.nii.gz\n*_perfmap.json\n*_relmat.tsv\n*_relmat.json\n*_tractogram.trx\n*"
    "_tractogram.json\n*_nodeindices."
    "tsv\n*_nodeindices.json\n"
    "group_*\nlogs/\nsub-*.html\n";

constexpr auto readme =
    "# Derivatives of voxherd\n\n"
    "Maps of diffusion models (`_dwimap`) have the names and sidecars of BEP016, connectomes (`_relmat`) those of\n"
    "BEP017. Both are proposals. Perfusion maps (`_perfmap`), for which BIDS has no proposal, have the names and "
    "units\n"
    "of OSIPI's lexicon (CAPLEX). Tracts are TRX files (`_tractogram`). `.bidsignore` lists these names. The page on "
    "`voxherd export` describes them. A browser shows the page of a subject (`sub-*.html`).\n";

std::string percent_encoded(const std::string& path) {
  std::string encoded;
  for (const char c : path) {
    const bool stays = is_bids_letter(c) || std::string_view("/.-_~").find(c) != std::string_view::npos;
    encoded += stays ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return encoded;
}

/// The nearest folder above the file that describes a data set.
std::optional<fs::path> find_root(const fs::path& file) {
  std::error_code ignored;
  for (fs::path folder = file.parent_path(); !folder.empty() && folder != folder.parent_path();
       folder = folder.parent_path())
    if (fs::exists(folder / description_name, ignored)) return folder;
  return std::nullopt;
}

/// Links are not followed: a data set of DataLad has links to files with other names.
fs::path normal_path(const std::string& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

/// Letters and digits of the folder's name.
std::string link_name(const fs::path& root) {
  const std::string name = bids_label(root.filename().string());
  return name.empty() ? "source" : name;
}

/// Relative for a data set that contains the derivatives, so that both can be moved together.
std::string link_target(const fs::path& root, const fs::path& out) {
  const fs::path relative = root.lexically_relative(out);
  const bool is_above = !relative.empty() && std::all_of(relative.begin(), relative.end(),
                                                         [](const fs::path& part) { return part == ".."; });
  return is_above ? relative.string() : "file://" + percent_encoded(root.string());
}

void collect_paths(const nlohmann::json& value, std::vector<std::string>& paths) {
  if (value.is_array())
    for (const auto& one : value) collect_paths(one, paths);
  if (!value.is_object()) return;
  for (const auto& [key, one] : value.items()) {
    if (key == "path" && one.is_string()) {
      paths.push_back(one.get<std::string>());
    } else {
      collect_paths(one, paths);
    }
  }
}

/// The image that the program runs in, by what its runtime and script/image set.
bids_json find_container() {
  for (const char* variable : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"})
    if (const char* image = std::getenv(variable); image != nullptr) return {{"Type", "apptainer"}, {"URI", image}};
  const char* image = std::getenv("VOXHERD_IMAGE");
  if (image == nullptr) return bids_json::object();
  std::error_code ignored;
  return {{"Type", fs::exists("/.dockerenv", ignored) ? "docker" : "oci"}, {"Tag", image}};
}

bids_json describe_program(const std::string& number, const std::string& build) {
  bids_json program{{"Name", "voxherd"}, {"Version", number}};
  if (!build.empty()) program["Description"] = build;
  return program;
}

bids_json generator() {
  bids_json own = describe_program(version, program_build());
  if (*code_url != 0) own["CodeURL"] = code_url;
  if (const bids_json container = find_container(); !container.empty()) own["Container"] = container;
  return own;
}

}  // namespace

bids_json generated_by() { return bids_json::array({generator()}); }

namespace {

bids_json new_description(const bids_sources& sources) {
  bids_json d{{"Name", "voxherd derivatives"},
              {"BIDSVersion", bids_version},
              {"DatasetType", "derivative"},
              {"GeneratedBy", generated_by()}};
  if (!sources.links.empty()) d["DatasetLinks"] = sources.links;
  return d;
}

/// The existing list of names, to which those that are missing are added.
std::string add_ignored_names(const std::string& existing) {
  std::string all = existing + (existing.empty() || existing.ends_with('\n') ? "" : "\n");
  std::istringstream names(ignored_names);
  for (std::string name; std::getline(names, name);)
    if (("\n" + all).find("\n" + name + "\n") == std::string::npos) all += name + "\n";
  return all;
}

/// The existing description with the links of `sources`.
std::string add_links(const bids_sources& sources, const std::string& existing) {
  bids_json d = parse_ordered_json(existing, fmt::format("{} of the output folder", description_name));
  if (!d.is_object())
    refuse_data("{} of the output folder is not a JSON object; repair it or choose another folder", description_name);
  bool changed = false;
  for (const auto& [name, target] : sources.links) {
    bids_json& links = d["DatasetLinks"];
    if (links.contains(name) && links.at(name) != target)
      refuse_usage(
          "{} of the output folder: its DatasetLinks name {} as {}, these inputs are from {}; choose another folder",
          description_name, dump_json(links.at(name)), name, target);
    changed = changed || !links.contains(name);
    links[name] = target;
  }
  return changed ? dump_json(d, 2) + "\n" : existing;
}

}  // namespace

bids_sources find_bids_sources(const std::vector<std::string>& paths, const std::string& out) {
  bids_sources found;
  const fs::path own = normal_path(out);
  for (const std::string& path : paths) {
    std::error_code code;
    const fs::path file = normal_path(path);
    const auto root = find_root(file);
    if (!root || file.extension() == ".h5" || !fs::exists(file, code)) continue;
    const std::string name = *root == own ? "" : link_name(*root);
    if (!name.empty()) found.links[name] = link_target(*root, own);
    found.uris.push_back(fmt::format("bids:{}:{}", name, file.lexically_relative(*root).string()));
  }
  std::sort(found.uris.begin(), found.uris.end());
  found.uris.erase(std::unique(found.uris.begin(), found.uris.end()), found.uris.end());
  return found;
}

std::vector<std::string> input_paths(const nlohmann::json& provenance) {
  std::vector<std::string> paths;
  if (provenance.is_object() && provenance.contains("inputs")) collect_paths(provenance.at("inputs"), paths);
  return paths;
}

std::vector<export_text> describe_bids_data_set(const bids_sources& sources) {
  return {{description_name, dump_json(new_description(sources), 2) + "\n", true,
           [sources](const std::string& existing) { return add_links(sources, existing); }},
          {".bidsignore", ignored_names, true, add_ignored_names},
          {"README.md", readme, true, {}}};
}

bids_json describe_program(const result_reader& result) {
  return describe_program(result.version(), result.provenance().value("build", ""));
}

void add_origin(bids_json& sidecar, const bids_place& place) {
  if (!place.sources.empty()) sidecar["Sources"] = place.sources;
  if (!place.program.empty()) sidecar["GeneratedBy"] = bids_json::array({place.program});
}

bids_json direction_encoding(const char* type) { return {{"EncodingAxis", 3}, {"Reference", "bvec"}, {"Type", type}}; }

model_plan::model_plan(const bids_place& place, const std::string& model, bids_json description,
                       const std::string& suffix)
    : place_(place),
      begin_(place.folder + "/" + place.name + "_model-" + model),
      suffix_("_" + suffix),
      model_(std::move(description)) {}

void model_plan::add(const std::string& parameter, const std::string& desc, export_image image, bids_json sidecar) {
  sidecar["Model"] = model_;
  add_origin(sidecar, place_);
  const std::string name = begin_ + "_param-" + parameter + (desc.empty() ? "" : "_desc-" + desc) + suffix_;
  image.name = name + ".nii.gz";
  plan_.images.push_back(std::move(image));
  plan_.texts.push_back({name + ".json", dump_json(sidecar, 2) + "\n"});
}

void model_plan::add_map(const result_volumes& result, const std::string& parameter, const std::string& desc,
                         const std::string& map, bids_json sidecar) {
  const std::string unit = result.result().output(map).unit;
  if (!sidecar.contains("Units")) sidecar["Units"] = unit == "input" || unit == "signal" ? "arbitrary" : unit;
  add(parameter, desc, map_image(result, map, ""), std::move(sidecar));
}

}  // namespace voxherd
