#include "src/analyses/geodesic/inputs.hpp"

#include <spdlog/spdlog.h>

#include "core/option_values.hpp"
#include "src/analyses/geodesic/regions.hpp"
#include "src/analyses/geodesic/seeding.hpp"

namespace voxherd {

namespace {

struct checked_options {
  tensor_input tensors;
  region_settings regions;
  ray_choice rays;
  seeding_settings seeding;
};

checked_options check(const arguments& args, backend where) {
  checked_options o;
  o.tensors = check_tensor_source_options(args);
  o.regions = read_region_options(args);
  o.rays = read_ray_options(args, where, o.regions.connectome);
  o.seeding = read_seeding_options(args);
  if (o.rays.rays.form == geodesic::ray_form::finsler4 && o.tensors == tensor_input::file)
    option::refuse("--form finsler4 is fitted to the diffusion-weighted series; give --dwi instead of --tensor");
  if (o.regions.ordered && o.rays.rays.two_way)
    option::refuse("--ordered has no meaning with two-way fibres, which have no beginning; give --rays one-way");
  return o;
}

nlohmann::json configuration_of(const checked_options& o, const arguments& args) {
  nlohmann::json c = nlohmann::json::object();
  add_to_configuration(o.rays, args, c);
  add_to_configuration(o.seeding, args, c);
  add_to_configuration(o.regions, c);
  if (args.has("tensor-from")) c["tensor-from"] = args.get<std::string>("tensor-from");
  return c;
}

void share(const session& s, geodesic_inputs& in) {
  s.broadcast(in.regions);
  s.broadcast(in.target_labels);
  s.broadcast(in.seeds);
  s.broadcast(in.provenance);
}

}  // namespace

void add_geodesic_options(po::options_description& options) {
  add_tensor_source_options(options);
  add_seeding_options(options);
  add_region_options(options);
  add_ray_options(options);
}

geodesic_inputs read_geodesic_inputs(const session& s, const arguments& args, const device& d) {
  checked_options o = check(args, d.kind);
  tensor_source tensors = read_tensor_source(s, args, d, {o.rays.rays.form == geodesic::ray_form::finsler4, false});
  s.note_stage("tensors there");
  geodesic_inputs in;
  in.provenance = tensors.provenance;
  s.on_root([&] {
    const region_words regions = read_regions(o.regions, tensors, in.provenance);
    in.regions = regions.words();
    in.target_labels = regions.target_labels();
    in.seeds = read_seeds(args, o.seeding, tensors, in.provenance);
  });
  share(s, in);
  fill_in_lengths(args, tensors.grid, o.rays);
  in.grid = tensors.grid;
  in.image = std::move(tensors.image);
  in.quartics = std::move(tensors.quartics);
  in.rays = o.rays.rays;
  in.rays.includes = static_cast<std::uint32_t>(o.regions.includes.size());
  in.rays.ordered = o.regions.ordered;
  in.rays.targets = !in.target_labels.empty();
  in.how = o.rays.how;
  in.selection = o.rays.selection;
  in.connectome = o.regions.connectome;
  in.configuration = configuration_of(o, args);
  spdlog::info("{} seeds with {} directions each: {} fibres", in.seeds.size(), in.rays.directions_per_seed,
               in.seeds.size() * in.rays.directions_per_seed);
  return in;
}

}  // namespace voxherd
