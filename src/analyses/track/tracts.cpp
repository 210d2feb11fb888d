#include "src/analyses/track/tracts.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "kernels/track/settings.hpp"
#include "src/analyses/track/places.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// "" if there is no such image.
std::string find_tract_image(const fs::path& folder, const std::string& name) {
  for (const char* ending : {".nii.gz", ".nii"}) {
    const std::string path = (folder / (name + ending)).string();
    if (fs::exists(path)) return path;
  }
  return "";
}

/// The number in a name such as target2.nii.gz; 0 without one; -1 for other names.
int target_number(const std::string& name) {
  constexpr std::string_view word = "target";
  const std::string stem = name.substr(0, name.find('.'));
  const std::string ending = name.substr(stem.size());
  if (!stem.starts_with(word) || (ending != ".nii" && ending != ".nii.gz")) return -1;
  if (stem == word) return 0;
  int number = 0;
  const auto [end, error] = std::from_chars(stem.data() + word.size(), stem.data() + stem.size(), number);
  return error == std::errc() && end == stem.data() + stem.size() ? number : -1;
}

std::vector<std::string> find_targets(const fs::path& folder) {
  std::vector<std::pair<int, std::string>> numbered;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const int number = target_number(entry.path().filename().string());
    if (number >= 0) numbered.emplace_back(number, entry.path().string());
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<std::string> paths;
  for (auto& [number, path] : numbered) paths.push_back(path);
  return paths;
}

/// Names become parts of the result's names.
void check_name(const std::string& name, const std::string& where) {
  const auto usual = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  if (!name.empty() && std::all_of(name.begin(), name.end(), usual)) return;
  refuse_data(
      fmt::format("{}: the tract's name \"{}\" is not made of letters, digits, _ and -", where, printable(name)));
}

tract_protocol read_tract(const fs::path& root, const std::string& name, double factor) {
  const fs::path folder = root / name;
  check_name(name, printable(root.string()));
  if (!fs::is_directory(folder))
    throw failure(exit_status::missing_input,
                  fmt::format("{}: no such folder; expected the masks of a tract", printable(folder.string())));
  tract_protocol t{name,
                   find_tract_image(folder, "seed"),
                   find_tract_image(folder, "stop"),
                   find_tract_image(folder, "exclude"),
                   {}};
  if (t.seed.empty())
    throw failure(exit_status::missing_input, fmt::format("{}: has no seed.nii.gz", printable(folder.string())));
  t.targets = find_targets(folder);
  t.ordered = fs::exists(folder / "wayorder") && t.targets.size() > 1;
  t.inverted = fs::exists(folder / "invert");
  t.factor = factor;
  if (t.inverted && t.targets.empty())
    refuse_data(fmt::format("{}: has a file invert, but no target.nii.gz to start from", printable(folder.string())));
  if (t.targets.size() > static_cast<std::size_t>(track::max_includes))
    refuse_data(fmt::format("{}: has {} targets, expected at most {}", printable(folder.string()), t.targets.size(),
                            track::max_includes));
  return t;
}

std::vector<tract_protocol> read_listed(const std::string& folder, const std::string& list) {
  (void)input_file(list);  // exists and can be read
  std::ifstream file(list);
  std::vector<tract_protocol> tracts;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, factor_text = "1", more;
    if (!(words >> name)) continue;
    words >> factor_text;
    char* end = nullptr;
    const double factor = std::strtod(factor_text.c_str(), &end);
    if (*end != '\0' || !(factor > 0 && factor <= 1e6) || words >> more)
      refuse_data(
          fmt::format("{} line {}: found \"{}\", expected the name of a tract and a factor of the number of "
                      "streamlines",
                      printable(list), number, printable(line)));
    for (const tract_protocol& t : tracts)
      if (t.name == name) refuse_data(fmt::format("{} line {}: {} is listed twice", printable(list), number, name));
    tracts.push_back(read_tract(folder, name, factor));
  }
  if (tracts.empty()) refuse_data(fmt::format("{}: lists no tract", printable(list)));
  return tracts;
}

}  // namespace

std::vector<std::string> tract_protocol::files() const {
  std::vector<std::string> all = {seed};
  for (const std::string& path : {stop, exclude})
    if (!path.empty()) all.push_back(path);
  all.insert(all.end(), targets.begin(), targets.end());
  return all;
}

std::vector<tract_protocol> read_tract_protocols(const std::string& folder, const std::string& list) {
  if (!fs::is_directory(folder))
    throw failure(exit_status::missing_input,
                  fmt::format("{}: no such folder; expected one folder per tract in it", printable(folder)));
  const std::string own_list = (fs::path(folder) / "structureList").string();
  if (!list.empty()) return read_listed(folder, list);
  if (fs::exists(own_list)) return read_listed(folder, own_list);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && !find_tract_image(entry.path(), "seed").empty())
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::vector<tract_protocol> tracts;
  for (const std::string& name : names) tracts.push_back(read_tract(folder, name, 1));
  if (tracts.empty())
    throw failure(
        exit_status::missing_input,
        fmt::format("{}: no folder in it has a seed.nii.gz; expected one folder per tract", printable(folder)));
  return tracts;
}

namespace {

nlohmann::json to_json(const tract_protocol& t) {
  return {{"name", t.name},       {"seed", t.seed},       {"stop", t.stop},         {"exclude", t.exclude},
          {"targets", t.targets}, {"ordered", t.ordered}, {"inverted", t.inverted}, {"factor", t.factor}};
}

tract_protocol from_json(const nlohmann::json& j) {
  return {j.at("name"),    j.at("seed"),    j.at("stop"),     j.at("exclude"),
          j.at("targets"), j.at("ordered"), j.at("inverted"), j.at("factor")};
}

/// The options of a tract: those of the command with the tract's masks. `back`: from the last target to the seed.
track_request make_run_request(const track_request& request, const tract_protocol& t, bool back) {
  track_request r = request;
  r.tracts.clear();
  r.tract_list.clear();
  std::vector<std::string> way = {t.seed};
  way.insert(way.end(), t.targets.begin(), t.targets.end());
  if (back) std::reverse(way.begin(), way.end());
  r.seed_image = {way.front()};
  r.includes.assign(way.begin() + 1, way.end());
  r.ordered = t.ordered;
  if (!t.stop.empty()) r.stop.push_back(t.stop);
  if (!t.exclude.empty()) r.excludes.push_back(t.exclude);
  r.per_seed = static_cast<std::uint32_t>(std::clamp(std::round(t.factor * request.tract_samples), 1.0, 1e9));
  return r;
}

/// Moves what belongs to one run out of the inputs, which then have no masks.
tract_run take_run(track_inputs& in) {
  tract_run run;
  for (std::size_t v = 0; v < in.voxels.size(); ++v) {
    std::uint32_t& marks = in.voxels[v].marks;
    const std::uint32_t own = marks & ~track::mark::inside;
    marks &= track::mark::inside;
    if (own == 0) continue;
    run.marked.push_back(static_cast<std::uint32_t>(v));
    run.marks.push_back(own);
  }
  run.seeds = std::move(in.seeds);
  run.include_names = std::move(in.include_names);
  in.seeds.clear();
  run.how = in.how;
  return run;
}

/// The run of a request. Collective. Throws failure.
tract_run read_run(const session& s, std::size_t tract, const track_request& request, track_inputs& in) {
  tract_run run;
  s.on_root([&] {
    read_streamline_masks(with_mask_files(request), in);
    run = take_run(in);
  });
  s.broadcast(run.marked);
  s.broadcast(run.marks);
  s.broadcast(run.seeds);
  s.broadcast(run.how);
  run.tract = tract;
  run.plan = {run.seeds.size(), request.per_seed, 1};
  return run;
}

/// What all runs share. Collective. Throws failure.
track_inputs read_common(const session& s, const track_request& given, const tract_protocol& first) {
  track_request request = make_run_request(given, first, false);
  s.on_root([&] { request = with_mask_files(request); });
  posterior_samples samples = read_posterior_samples(s, request.samples, request.mask, request.run.threads);
  s.note_stage("samples read");
  track_inputs in = read_track_field(s, request, std::move(samples));
  s.on_root([&] { read_exit_masks(request.walk_through_stop, in.space.grid, in); });
  s.broadcast(in.exits);
  return in;
}

/// Groups of all runs have the same size, for about as many rows as one run may have.
void plan_groups(tract_inputs& in) {
  std::uint64_t all = 0;
  for (const tract_run& run : in.runs) all += run.plan.streamlines();
  const std::uint64_t row_bytes = in.field.place_voxels.size() * (in.field.lengths ? 12 : 4);
  const std::uint64_t per_group = make_group_plan(all, 1, row_bytes).per_group;
  std::uint64_t next = 0;
  for (tract_run& run : in.runs) {
    run.plan.per_group = std::min(per_group, std::max<std::uint64_t>(1, run.plan.streamlines()));
    run.first_group = next;
    next += run.plan.groups();
  }
}

std::vector<tract_protocol> read_protocols(const session& s, const track_request& request) {
  nlohmann::json all;
  s.on_root([&] {
    all = nlohmann::json::array();
    for (const tract_protocol& t : read_tract_protocols(request.tracts, request.tract_list)) all.push_back(to_json(t));
  });
  s.broadcast(all);
  std::vector<tract_protocol> tracts;
  for (const nlohmann::json& j : all) tracts.push_back(from_json(j));
  return tracts;
}

}  // namespace

const tract_run& tract_inputs::run_with(std::uint64_t group) const {
  const auto after = std::upper_bound(runs.begin(), runs.end(), group,
                                      [](std::uint64_t g, const tract_run& run) { return g < run.first_group; });
  return *(after - 1);
}

track::track_input tract_inputs::view(const tract_run& run, std::span<const track::voxel_info> voxels) const {
  track::track_input view = field.view();
  field.set_masks(voxels, view);
  view.seeds = run.seeds;
  view.how = run.how;
  view.plan = run.plan;
  return view;
}

tract_inputs read_tract_inputs(const session& s, const track_request& given) {
  const std::vector<tract_protocol> tracts = read_protocols(s, given);
  track_request request = given;
  if (!request.transform.empty() && request.reference.empty()) request.reference = tracts.front().seed;
  track_inputs field = read_common(s, request, tracts.front());
  nlohmann::json common = field.samples.provenance;
  for (const char* name : {"image", "seedref", "xfm"})
    if (field.provenance.contains(name)) common[name] = field.provenance.at(name);
  std::vector<tract_run> runs;
  std::vector<std::string> names;
  nlohmann::json inputs, streamlines;
  for (const tract_protocol& t : tracts) {
    names.push_back(t.name);
    for (const bool back : {false, true}) {
      if (back && !t.inverted) continue;
      const track_request own = make_run_request(request, t, back);
      runs.push_back(read_run(s, names.size() - 1, own, field));
      streamlines[t.name] = own.per_seed;
      if (!back)
        spdlog::info("{}: {} with {} each, {}{}{}", t.name, counted(runs.back().seeds.size(), "seed voxel"),
                     counted(own.per_seed, "streamline"), counted(t.targets.size(), "target"),
                     t.ordered ? " in order" : "", t.inverted ? ", and back from the last target" : "");
    }
    s.on_root([&] { inputs[t.name] = fingerprint(t.files()); });
  }
  s.broadcast(inputs);
  s.broadcast(field.voxels);
  field.provenance = std::move(common);
  field.provenance["tracts"] = inputs;
  field.configuration = nlohmann::json::object();
  add_stored(track_options(), request, field.configuration);
  field.configuration["tracts"] = streamlines;
  tract_inputs in{std::move(field), std::move(names), std::move(runs)};
  plan_groups(in);
  return in;
}

}  // namespace voxherd
