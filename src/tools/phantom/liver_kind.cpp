#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "src/tools/phantom/liver_phantom.hpp"
#include "src/tools/phantom/phantom_kind.hpp"
#include "src/tools/phantom/phantom_options.hpp"

namespace voxherd {

namespace {

using perfusion::signal_kind;

void read_signal(const phantom_request& request, liver_phantom_settings& p) {
  p.signal = request.signal;
  if (request.repetition_ms) p.repetition_s = *request.repetition_ms / 1e3;
  if (request.flip_degrees) p.flip_deg = *request.flip_degrees;
  p.relaxivity_per_mM_s = request.relaxivity;
  p.vfa_flip_deg = request.vfa_flip_degrees;
}

void read_frames(const phantom_request& request, liver_phantom_settings& p) {
  if (request.frames) p.frames = *request.frames;
  if (request.spacing_s) p.spacing_s = *request.spacing_s;
  constexpr double min_s = agent_arrival_s + 20;  // earlier the portal vein's curve has not risen
  const double last_s = p.spacing_s * static_cast<double>(p.frames - 1);
  if (last_s < min_s)
    option::refuse(fmt::format("--frames {} with --spacing {}: the series is {:g} s long, expected at least {:g} s",
                               p.frames, p.spacing_s, last_s, min_s));
}

/// Only magnitudes have Rician noise; concentrations and HU do not.
void read_noise(const phantom_request& request, liver_phantom_settings& p) {
  p.noise.kind = request.noise.value_or(noise_kind::rician);
  p.noise.seed = request.seed;
  if (p.noise.kind == noise_kind::rician && (p.signal == signal_kind::ct || p.signal == signal_kind::concentration)) {
    if (request.noise)
      phantom_option::refuse(
          "noise", "rician",
          fmt::format("gaussian or none with --signal {}", p.signal == signal_kind::ct ? "ct" : "concentration"));
    p.noise.kind = noise_kind::gaussian;
  }
  p.cnr = request.cnr;
}

/// For another image size, scales the numbers of voxels of liver and VOIs in proportion.
void read_size(const phantom_request& request, liver_phantom_settings& p) {
  const auto voxels = [&] { return static_cast<double>(p.size[0] * p.size[1] * p.size[2]); };
  const double before = voxels();
  if (request.size) p.size = *request.size;
  for (auto* count : {&p.liver_voxels, &p.aorta_voxels, &p.portal_voxels})
    *count = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(static_cast<double>(*count) * voxels() / before)));
  if (request.voxel_size_mm) p.voxel_size_mm.fill(*request.voxel_size_mm);
}

exit_status run(session& s, const phantom_request& request) {
  if (request.out.empty()) option::refuse("--out is missing, expected a folder to write");
  liver_phantom_settings p = phantom_option::find_preset(request.preset, liver_phantom_presets());
  read_size(request, p);
  read_frames(request, p);
  read_signal(request, p);
  read_noise(request, p);
  p.inputs = request.inputs;
  p.type = request.type;
  p.compressed = request.gz;
  p.threads = phantom_option::threads(s, request);

  const std::string& folder = request.out;
  s.on_root([&] {
    phantom_option::clear_folder(
        request, {"dce", "vfa"},
        {"times.txt", "curves.csv", "liver.nii.gz", "aorta.nii.gz", "portal.nii.gz", "phantom.json", "truth"});
    spdlog::info("phantom liver {}: {} x {} x {} voxels, {} of them liver, {} frames", p.name, p.size[0], p.size[1],
                 p.size[2], p.liver_voxels, p.frames);
  });
  write_liver_phantom(s, p, folder);
  if (s.is_root()) spdlog::info("{}: written", folder);
  return exit_status::complete;
}

}  // namespace

const phantom_kind liver_phantom_kind{
    "liver",
    {"frames", "spacing", "signal", "tr", "flip-angle", "vfa-flip-angles", "relaxivity", "inputs", "cnr", "type"},
    run};

}  // namespace voxherd
