#include "src/analyses/track/tracts.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "src/analyses/track/places.hpp"
#include "src/analyses/track/read_inputs.hpp"
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
track_request make_draw_request(const track_request& request, const tract_protocol& t, bool back) {
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

/// Moves the masks of a draw out of the inputs, which then have none.
void take_marks(track_inputs& in, track_draw& draw) {
  for (std::size_t v = 0; v < in.voxels.size(); ++v) {
    std::uint32_t& marks = in.voxels[v].marks;
    const std::uint32_t own = marks & ~track::mark::inside;
    marks &= track::mark::inside;
    if (own == 0) continue;
    draw.marked.push_back(static_cast<std::uint32_t>(v));
    draw.marks.push_back(own);
  }
}

/// After the last draw: the surfaces of --exclude, --stop and --walk-through-stop, which are the same in all of them.
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

/// The draw of a request. Collective. Throws failure.
track_draw read_tract_draw(const session& s, std::size_t tract, const track_request& request, track_inputs& in) {
  track_draw draw;
  s.on_root([&] {
    in.provenance = nlohmann::json::object();  // of this draw's masks
    draw = read_draw(with_mask_files(request), {}, in);
    take_marks(in, draw);
  });
  s.broadcast(draw.marked);
  s.broadcast(draw.marks);
  s.broadcast(draw.seeds);
  s.broadcast(draw.how);
  s.broadcast(draw.plan);
  draw.tract = tract;
  return draw;
}

/// What all draws share. Collective. Throws failure.
track_inputs read_common(const session& s, const track_request& given, const tract_protocol& first) {
  track_request request = make_draw_request(given, first, false);
  s.on_root([&] { request = with_mask_files(request); });
  posterior_samples samples =
      read_posterior_samples(s, request.samples, request.mask, request.masks, request.run.threads);
  s.note_stage("samples read");
  track_inputs in = read_track_field(s, request, std::move(samples));
  s.on_root([&] { read_counted_masks(request, in); });
  share_counted_masks(s, in);
  return in;
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

track_inputs read_tract_inputs(const session& s, const track_request& given) {
  const std::vector<tract_protocol> protocols = read_protocols(s, given);
  track_request request = given;
  if (!request.transform.empty() && request.reference.empty()) request.reference = protocols.front().seed;
  track_inputs field = read_common(s, request, protocols.front());
  nlohmann::json common = field.samples.provenance;
  for (const char* name : {"image", "seedref", "transform", "inverse-transform"})
    if (field.provenance.contains(name)) common[name] = field.provenance.at(name);
  for (const auto& [name, input] : field.provenance.items())
    if (name.starts_with("targets ")) common[name] = input;
  nlohmann::json inputs, streamlines, voxels;
  for (const tract_protocol& t : protocols) {
    field.tracts.push_back({t.name});
    for (const bool back : {false, true}) {
      if (back && !t.inverted) continue;
      const track_request own = make_draw_request(request, t, back);
      field.draws.push_back(read_tract_draw(s, field.tracts.size() - 1, own, field));
      streamlines[t.name] = own.per_seed;
      s.on_root([&] {
        for (const auto& [mask, input] : field.provenance.items())
          if (!back && input.contains("voxels")) voxels[t.name][mask] = input.at("voxels");
      });
      if (!back)
        spdlog::info("{}: {} with {} each, {}{}{}", t.name, counted(field.draws.back().seeds.size(), "seed voxel"),
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
  set_closest_vertex(request, field);
  return field;
}

}  // namespace voxherd
