#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include "src/tools/phantom/dwi_phantom.hpp"
#include "src/tools/phantom/phantom_kind.hpp"
#include "src/tools/phantom/phantom_options.hpp"

namespace voxherd {

namespace {

void read_shells(const phantom_request& request, dwi_phantom_settings& p) {
  if (!request.b_values.empty()) {
    const std::size_t directions = p.shells.back().directions;
    p.shells.clear();
    for (const double b : request.b_values) p.shells.push_back({b, directions});
  }
  const auto& n = request.directions;
  if (!n.empty() && n.size() != 1 && n.size() != p.shells.size())
    phantom_option::refuse("directions", option::as_text(option::as_value(n)),
                           fmt::format("one number from 1 to 4096, or one for each of {} shells", p.shells.size()));
  for (std::size_t i = 0; i < p.shells.size() && !n.empty(); ++i) p.shells[i].directions = n.size() == 1 ? n[0] : n[i];
  if (request.b0_volumes) p.b0_volumes = *request.b0_volumes;
}

exit_status run(session& s, const phantom_request& request) {
  if (request.out.empty()) option::refuse("--out is missing, expected a folder to write");
  dwi_phantom_settings p = phantom_option::find_preset(request.preset, dwi_phantom_presets());
  if (request.size) p.size = *request.size;
  if (request.voxel_size_mm) p.voxel_size_mm = *request.voxel_size_mm;
  read_shells(request, p);
  p.noise.kind = request.noise.value_or(noise_kind::rician);
  p.noise.seed = request.seed;
  p.snr = request.snr;
  if (request.fibres) p.fibres = *request.fibres;
  p.crossing_degrees = request.crossing_degrees;
  if (p.crossing_degrees.size() > p.size[2])
    option::refuse(
        fmt::format("--crossings: {} angles, expected at most one for each of {} slices; give a larger --size",
                    p.crossing_degrees.size(), p.size[2]));
  p.compressed = request.gz;
  p.threads = phantom_option::threads(s, request);

  const std::string& folder = request.out;
  s.on_root([&] {
    phantom_option::clear_folder(request, {"data"},
                                 {"bvals", "bvecs", "nodif_brain_mask.nii.gz", "phantom.json", "truth"});
    spdlog::info("phantom dwi {}: {} x {} x {} voxels, {} volumes", p.name, p.size[0], p.size[1], p.size[2],
                 p.volumes());
  });
  write_dwi_phantom(s, p, folder);
  if (s.is_root()) spdlog::info("{}: written", folder);
  return exit_status::complete;
}

}  // namespace

const phantom_kind dwi_phantom_kind{"dwi", {"bvalues", "directions", "b0", "fibres", "crossings", "snr"}, run};

}  // namespace voxherd
