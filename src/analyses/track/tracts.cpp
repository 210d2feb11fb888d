#include "src/analyses/track/tracts.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "src/analyses/track/counted_masks.hpp"
#include "src/analyses/track/read_inputs.hpp"
#include "src/io/fingerprint.hpp"

namespace voxherd {

namespace {

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

/// Adds the draw of a request. Returns what is noted of its masks.
nlohmann::json add_draw(const track_request& request, mask_reader& masks, track_draws& drawn) {
  const track_request own = with_mask_files(request);
  track_draw draw = make_draw(own, read_masked_seeds(own, {}, masks).seeds, masks);
  draw.tract = drawn.tracts.size() - 1;
  masks.move_marks(draw);
  drawn.draws.push_back(std::move(draw));
  return masks.take_notes();
}

/// Adds the draws of a tract. Returns what is noted of its masks.
nlohmann::json add_tract(const track_request& request, const tract_protocol& t, mask_reader& masks,
                         track_draws& drawn) {
  drawn.tracts.push_back({t.name});
  nlohmann::json voxels;
  const nlohmann::json inputs = add_draw(make_draw_request(request, t, false), masks, drawn);
  for (const auto& [mask, input] : inputs.items())
    if (input.contains("voxels")) voxels[mask] = input.at("voxels");
  const track_draw& draw = drawn.draws.back();
  spdlog::info("{}: {} with {} each, {}{}{}", t.name, counted(draw.seeds.size(), "seed voxel"),
               counted(draw.plan.per_seed, "streamline"), counted(t.targets.size(), "target"),
               t.ordered ? " in order" : "", t.inverted ? ", and back from the last target" : "");
  if (t.inverted) (void)add_draw(make_draw_request(request, t, true), masks, drawn);
  nlohmann::json files = fingerprint(t.files());
  files["voxels"] = voxels;
  return files;
}

/// The notes about targets.
nlohmann::json choose_targets(const nlohmann::json& notes) {
  nlohmann::json targets = nlohmann::json::object();
  for (const auto& [name, input] : notes.items())
    if (name.starts_with("targets ")) targets[name] = input;
  return targets;
}

/// The surfaces of --exclude, --stop and --walk-through-stop, which are the same in all draws.
nlohmann::json note_surfaces(const track_request& request, const surface_masks& surfaces) {
  std::vector<std::string> files;
  for (const surface_masks::file& f : surfaces.files()) files.push_back(f.path);
  files.insert(files.end(), request.surface_values.begin(), request.surface_values.end());
  return fingerprint(files);
}

}  // namespace

tract_plan plan_tracts(const track_request& request) {
  tract_plan plan{request, {}, read_tract_protocols(request.tracts, request.tract_list)};
  const tract_protocol& first = plan.tracts.front();
  if (!request.transform.empty() && request.reference.empty()) plan.request.reference = first.seed;
  plan.common = with_mask_files(make_draw_request(plan.request, first, false));
  return plan;
}

track_contents read_tract_contents(const tract_plan& plan, const sample_contents& samples, const track_space& space) {
  const track_request& request = plan.request;
  mask_reader masks(plan.common, samples, space);
  track_contents all;
  all.masks = read_counted_masks(plan.common, {}, masks);
  all.provenance = choose_targets(masks.take_notes());
  nlohmann::json streamlines;
  for (const tract_protocol& t : plan.tracts) {
    all.provenance["tracts"][t.name] = add_tract(request, t, masks, all.drawn);
    streamlines[t.name] = all.drawn.draws.back().plan.per_seed;
  }
  all.masks.surfaces = masks.surfaces().finish(request.closest_vertex);
  if (!all.masks.surfaces.empty()) all.provenance["surfaces"] = note_surfaces(request, all.masks.surfaces);
  all.configuration = make_track_configuration(request, all.masks.surfaces, masks);
  all.configuration["tracts"] = std::move(streamlines);
  all.places = masks.take_places();
  return all;
}

track_inputs read_tract_inputs(const session& s, const track_request& request) {
  tract_plan plan{request, request, {}};
  s.on_root([&] { plan = plan_tracts(request); });
  return read_inputs_with(s, plan.common, [&](const sample_contents& samples, const track_space& space) {
    return read_tract_contents(plan, samples, space);
  });
}

}  // namespace voxherd
