#include "src/analyses/connect/inputs.hpp"

#include <spdlog/spdlog.h>

#include <cmath>

#include "core/readable.hpp"
#include "kernels/tensor_field/prepare_voxel.hpp"
#include "src/analyses/connect/regions.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

/// Broadcasts what rank 0 has read.
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

std::vector<float> measured_FA(const connect_inputs& in) {
  std::vector<float> FA(in.voxels.size());
  for (std::size_t n = 0; n < FA.size(); ++n) {
    const float* d = in.image.tensor.data() + 6 * in.voxels[n];
    FA[n] = tensor_field::prepare::fractional_anisotropy({d[0], d[1], d[2], d[3], d[4], d[5]});
  }
  return FA;
}

connect_inputs read_connect_inputs(const session& s, const connect_request& request, const device_chooser& choose) {
  connect_inputs in;
  in.options = make_connect_settings(request);
  tensor_source tensors = read_tensor_source(s, request.tensors, request.run.host_memory_bytes(), choose,
                                             {false, in.options.bootstrap.replicates > 0});
  s.note_stage("tensors read");
  in.grid = tensors.grid;
  in.provenance = tensors.provenance;
  s.on_root([&] { read_connect_regions(tensors, in); });
  share(s, in);
  s.note_stage("regions read");
  in.image = std::move(tensors.image);
  in.signals = std::move(tensors.signals);
  in.configuration = nlohmann::json::object();
  add_stored(connect_options(), with_defaults(request), in.configuration);
  in.configuration["paths"] = !request.paths.empty();
  if (!in.names.empty()) in.configuration["region-names"] = in.names;
  spdlog::info("{}, {} where fronts may pass", counted(in.labels.size(), "region"), counted(in.voxels.size(), "voxel"));
  return in;
}

}  // namespace voxherd
