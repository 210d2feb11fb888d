#include "src/analyses/connect/inputs.hpp"

#include <spdlog/spdlog.h>

#include <cmath>

#include "src/analyses/connect/regions.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

/// What rank 0 has read, to all.
void share(const session& s, connect_inputs& in) {
  s.broadcast(in.inside);
  s.broadcast(in.voxels);
  s.broadcast(in.labels);
  s.broadcast(in.regions.offsets);
  s.broadcast(in.regions.voxels);
  nlohmann::json shared{{"provenance", in.provenance}, {"names", in.names}};
  s.broadcast(shared);
  in.provenance = shared.at("provenance");
  in.names = shared.at("names").get<std::vector<std::string>>();
}

}  // namespace

double connect_inputs::voxel_mm3() const { return std::abs(determinant(grid_space(grid).axes_mm)); }

void add_all_connect_options(po::options_description& options) {
  add_tensor_source_options(options);
  add_connect_options(options);
}

connect_inputs read_connect_inputs(const session& s, const arguments& args, const device& d) {
  (void)check_tensor_source_options(args);
  connect_inputs in;
  in.options = read_connect_options(args);
  tensor_source tensors = read_tensor_source(s, args, d, {false, in.options.bootstrap.replicates > 0});
  in.grid = tensors.grid;
  in.provenance = tensors.provenance;
  s.on_root([&] { read_connect_regions(tensors, in); });
  share(s, in);
  in.image = std::move(tensors.image);
  in.signals = std::move(tensors.signals);
  in.configuration = nlohmann::json::object();
  add_to_configuration(in.options, args, in.configuration);
  if (!in.names.empty()) in.configuration["region-names"] = in.names;
  if (args.has("tensor-from")) in.configuration["tensor-from"] = args.get<std::string>("tensor-from");
  spdlog::info("{} regions, {} voxels where fronts may pass", in.labels.size(), in.voxels.size());
  return in;
}

}  // namespace voxherd
