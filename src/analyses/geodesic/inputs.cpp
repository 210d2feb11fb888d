#include "src/analyses/geodesic/inputs.hpp"

#include <spdlog/spdlog.h>

#include "core/readable.hpp"
#include "src/analyses/geodesic/regions.hpp"
#include "src/analyses/geodesic/seeding.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/region_names.hpp"

namespace voxherd {

namespace {

/// Settings that change the result, with the values in effect, under the options' names.
nlohmann::json make_configuration(geodesic_request request, const ray_request& complete_rays) {
  request.rays = complete_rays;
  nlohmann::json c = nlohmann::json::object();
  add_stored(geodesic_options(), request, c);
  c["connectome"] = request.is_connectome();
  return c;
}

seeding_settings make_seeding(const geodesic_request& request) {
  return {request.seeding.kind, request.seeding.per_voxel, request.rays.random_seed, request.seeding.labels};
}

/// Names of the matrices' rows: of the targets, after that of the seeds if they are a row.
std::vector<std::string> name_rows(const std::string& path, const std::vector<std::int64_t>& labels, bool has_seeds,
                                   nlohmann::json& provenance) {
  std::vector<std::string> names = read_region_names(path, {labels.begin(), labels.end()});
  if (has_seeds) names.insert(names.begin(), "seeds");
  provenance["region-names"] = fingerprint(path);
  return names;
}

void share(const session& s, geodesic_inputs& in) {
  s.broadcast(in.regions);
  s.broadcast(in.target_labels);
  s.broadcast(in.seeds);
  s.broadcast(in.provenance);
}

}  // namespace

geodesic_inputs read_geodesic_inputs(const session& s, const geodesic_request& request, const device_chooser& choose) {
  ray_request rays = with_defaults(request);
  const auto choose_suitable = [&] {
    const device d = choose();
    check_device(rays, d.kind);
    return d;
  };
  tensor_source tensors = read_tensor_source(s, request.tensors, request.run.host_memory_bytes(), choose_suitable,
                                             {rays.form == geodesic::ray_form::finsler4, false});
  s.note_stage("tensors read");
  geodesic_inputs in;
  nlohmann::json names;
  in.provenance = tensors.provenance;
  s.on_root([&] {
    const region_words regions = read_regions(request.regions, tensors, in.provenance);
    in.regions = regions.words();
    in.target_labels = regions.target_labels();
    if (!request.regions.region_names.empty())
      names = name_rows(request.regions.region_names, in.target_labels, !*rays.two_way, in.provenance);
    in.seeds = read_seeds(request.seeding.points, request.seeding.image, make_seeding(request), tensors, in.provenance);
  });
  share(s, in);
  s.broadcast(names);
  fill_in_lengths(tensors.grid, rays);
  const ray_choice choice = make_ray_choice(rays);
  in.grid = tensors.grid;
  in.image = std::move(tensors.image);
  in.quartics = std::move(tensors.quartics);
  in.rays = choice.rays;
  in.rays.includes = static_cast<std::uint32_t>(request.regions.includes.size());
  in.rays.ordered = request.regions.ordered;
  in.rays.targets = !in.target_labels.empty();
  in.how = choice.how;
  in.selection = choice.selection;
  in.connectome = request.is_connectome();
  in.configuration = make_configuration(request, rays);
  if (!names.is_null()) in.configuration["region-names"] = names;
  spdlog::info("{} with {} each: {}", counted(in.seeds.size(), "seed"),
               counted(in.rays.directions_per_seed, "direction"),
               counted(in.seeds.size() * in.rays.directions_per_seed, "fibre"));
  return in;
}

}  // namespace voxherd
