#include "src/analyses/track/tracts.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "src/analyses/track/places.hpp"
#include "src/io/fingerprint.hpp"

namespace voxherd {

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

/// After the last run: the surfaces of --exclude, --stop and --walk-through-stop, which are the same in all of them.
/// Collective.
void share_surfaces(const session& s, const track_request& request, track_inputs& in) {
  s.on_root([&] { in.surfaces.finish(in.space.grid); });
  in.surfaces.broadcast(s);
  if (in.surfaces.empty()) return;
  in.configuration["mesh-space"] = mesh_space_name(request.meshes);
  s.on_root([&] {
    std::vector<std::string> files;
    for (const surface_masks::file& f : in.surfaces.files()) files.push_back(f.path);
    files.insert(files.end(), request.surface_values.begin(), request.surface_values.end());
    in.provenance["surfaces"] = fingerprint(files);
  });
  s.broadcast(in.provenance);
}

/// The run of a request. Collective. Throws failure.
tract_run read_run(const session& s, std::size_t tract, const track_request& request, track_inputs& in) {
  tract_run run;
  s.on_root([&] {
    in.provenance = nlohmann::json::object();  // of this run's masks
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
  posterior_samples samples =
      read_posterior_samples(s, request.samples, request.mask, request.masks, request.run.threads);
  s.note_stage("samples read");
  track_inputs in = read_track_field(s, request, std::move(samples));
  s.on_root([&] { read_exit_masks(request, in); });
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
  for (const char* name : {"image", "seedref", "transform", "inverse-transform"})
    if (field.provenance.contains(name)) common[name] = field.provenance.at(name);
  std::vector<tract_run> runs;
  std::vector<std::string> names;
  nlohmann::json inputs, streamlines, voxels;
  for (const tract_protocol& t : tracts) {
    names.push_back(t.name);
    for (const bool back : {false, true}) {
      if (back && !t.inverted) continue;
      const track_request own = make_run_request(request, t, back);
      runs.push_back(read_run(s, names.size() - 1, own, field));
      streamlines[t.name] = own.per_seed;
      s.on_root([&] {
        for (const auto& [mask, input] : field.provenance.items())
          if (!back && input.contains("voxels")) voxels[t.name][mask] = input.at("voxels");
      });
      if (!back)
        spdlog::info("{}: {} with {} each, {}{}{}", t.name, counted(runs.back().seeds.size(), "seed voxel"),
                     counted(own.per_seed, "streamline"), counted(t.targets.size(), "target"),
                     t.ordered ? " in order" : "", t.inverted ? ", and back from the last target" : "");
    }
    s.on_root([&] {
      inputs[t.name] = fingerprint(t.files());
      inputs[t.name]["voxels"] = voxels.at(t.name);
    });
  }
  s.broadcast(inputs);
  s.broadcast(field.voxels);
  field.provenance = std::move(common);
  field.provenance["tracts"] = inputs;
  field.configuration = nlohmann::json::object();
  add_stored(track_options(), request, field.configuration);
  add_warp_error(field.space, field.configuration);
  field.configuration["tracts"] = streamlines;
  share_surfaces(s, request, field);
  tract_inputs in{std::move(field), std::move(names), std::move(runs)};
  plan_groups(in);
  return in;
}

}  // namespace voxherd
