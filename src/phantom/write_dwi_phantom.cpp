#include "src/phantom/dwi_phantom.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/json_text.hpp"
#include "src/io/number_table.hpp"
#include "src/io/output_file.hpp"
#include "src/phantom/geometry_phantom.hpp"
#include "src/phantom/phantom_files.hpp"
#include "src/phantom/phantom_options.hpp"
#include "src/scan/gradients.hpp"

namespace voxherd {

namespace {

/// The truth of each voxel: a brain, or blocks of crossing fibres.
struct dwi_content {
  std::function<tissue(std::uint64_t voxel)> at;
  std::function<int(std::uint64_t voxel)> end_at;
};

dwi_content make_content(const dwi_phantom_settings& p) {
  if (!p.crossing_degrees.empty())
    return {[all = crossings(p.size, p.crossing_degrees, p.fibres)](std::uint64_t voxel) { return all.at(voxel); },
            [](std::uint64_t) { return 0; }};
  const anatomy brain(p.size, p.brain_size, p.fibres);
  return {[brain](std::uint64_t voxel) { return brain.at(voxel); },
          [brain](std::uint64_t voxel) { return brain.end_at(voxel); }};
}

image_grid make_grid(const dwi_phantom_settings& p) {
  return phantom_grid(p.size, {p.voxel_size_mm, p.voxel_size_mm, p.voxel_size_mm});
}

void write_data(const session& s, const dwi_phantom_settings& p, const dwi_content& brain, const gradient_table& g,
                const std::string& folder) {
  noise_settings noise = p.noise;
  noise.deviation = white_matter_S0 / p.snr;
  const nifti_image form{make_grid(p), g.size(), nullptr, 0, 0, "voxherd phantom dwi " + p.name};
  write_series(s, form, folder + "/data", p.compressed, p.threads,
               [&](std::uint64_t y, std::uint64_t z, float* samples, std::uint64_t stride) {
                 const std::uint64_t nx = p.size[0], first = (z * p.size[1] + y) * nx;
                 std::vector<tissue> line(nx);
                 for (std::uint64_t x = 0; x < nx; ++x) line[x] = brain.at(first + x);
                 for (std::uint64_t k = 0; k < g.size(); ++k)
                   make_dwi_samples(line, first, g, k, noise, samples + k * stride);
               });
}

struct dwi_truth_map {
  std::string name;
  std::uint64_t volumes;
  float display_max;
  std::function<double(const dwi_content&, std::uint64_t voxel, std::uint64_t volume)> value;
};

template <class Value>
auto from_tissue(Value value) {
  return [value](const dwi_content& brain, std::uint64_t voxel, std::uint64_t volume) -> double {
    return value(brain.at(voxel), volume);
  };
}

std::vector<dwi_truth_map> dwi_truth_maps(std::size_t fibres) {
  std::vector<dwi_truth_map> maps{
      {"nodif_brain_mask", 1, 1, from_tissue([](const tissue& t, std::uint64_t) { return t.inside ? 1. : 0.; })},
      {"truth/fibres", 1, 3, from_tissue([](const tissue& t, std::uint64_t) { return static_cast<double>(t.fibres); })},
      {"truth/d", 1, 3e-3f, from_tissue([](const tissue& t, std::uint64_t) { return t.d_mm2_per_s; })},
      {"truth/S0", 1, 2000, from_tissue([](const tissue& t, std::uint64_t) { return t.S0; })},
      {"truth/ends", 1, 14,
       [](const dwi_content& brain, std::uint64_t voxel, std::uint64_t) -> double { return brain.end_at(voxel); }},
  };
  for (std::size_t j = 0; j < fibres; ++j) {
    maps.push_back({fmt::format("truth/f{}", j + 1), 1, 1,
                    from_tissue([j](const tissue& t, std::uint64_t) { return t.fraction[j]; })});
    maps.push_back({fmt::format("truth/dyads{}", j + 1), 3, 1,
                    from_tissue([j](const tissue& t, std::uint64_t volume) { return t.direction[j][volume]; })});
  }
  return maps;
}

std::string format_line(const std::vector<double>& values, const char* format) {
  std::string line;
  for (const double v : values) line += fmt::format(fmt::runtime(format), v) + " ";
  line.back() = '\n';
  return line;
}

void write_texts(const dwi_phantom_settings& p, const gradient_table& g, const std::string& folder) {
  write_gradients(g, folder);
  nlohmann::ordered_json j;
  j["preset"] = p.name;
  j["size"] = p.size;
  j["voxel_size_mm"] = p.voxel_size_mm;
  j["volumes"] = g.size();
  j["b0_volumes"] = p.b0_volumes;
  for (const gradient_shell& shell : p.shells)
    j["shells"].push_back({{"b_s_per_mm2", shell.b_s_per_mm2}, {"directions", shell.directions}});
  j["most_fibres"] = p.fibres;
  if (!p.crossing_degrees.empty()) j["crossing_degrees"] = p.crossing_degrees;
  j["noise"] = p.noise.kind == noise_kind::none ? "none" : p.noise.kind == noise_kind::gaussian ? "gaussian" : "rician";
  if (p.noise.kind != noise_kind::none) j["snr"] = p.snr;
  j["seed"] = p.noise.seed;
  write_file(folder + "/phantom.json", dump_json(j, 2) + "\n");
}

}  // namespace

void write_gradients(const gradient_table& g, const std::string& folder) {
  write_file(folder + "/bvals", format_line(g.b_s_per_mm2, "{:g}"));
  write_file(folder + "/bvecs", format_line(g.x, "{:.9f}") + format_line(g.y, "{:.9f}") + format_line(g.z, "{:.9f}"));
}

std::uint64_t dwi_phantom_settings::volumes() const {
  std::uint64_t count = b0_volumes;
  for (const gradient_shell& shell : shells) count += shell.directions;
  return count;
}

const std::vector<dwi_phantom_settings>& dwi_phantom_presets() {
  static const std::vector<dwi_phantom_settings> presets = [] {
    dwi_phantom_settings toy, clinical, paper_hires, hcp;
    toy.name = "toy", toy.size = {20, 20, 12}, toy.voxel_size_mm = 2.5;
    toy.b0_volumes = 6, toy.shells = {{1000, 30}, {2000, 30}};
    clinical.name = "clinical", clinical.size = {96, 96, 30}, clinical.voxel_size_mm = 2;
    clinical.b0_volumes = 4, clinical.shells = {{2500, 64}};
    paper_hires.name = "paper-hires", paper_hires.size = {140, 168, 102}, paper_hires.voxel_size_mm = 1.25;
    paper_hires.b0_volumes = 16, paper_hires.shells = {{1500, 256}};
    hcp.name = "hcp", hcp.size = {145, 174, 145}, hcp.voxel_size_mm = 1.25;
    hcp.b0_volumes = 18, hcp.shells = {{1000, 90}, {2000, 90}, {3000, 90}};
    hcp.brain_size = 0.7775;  // 900,000 voxels in the mask, as in a subject of the Human Connectome Project
    return std::vector{toy, clinical, paper_hires, hcp};
  }();
  return presets;
}

void write_dwi_phantom(const session& s, const dwi_phantom_settings& p, const std::string& folder) {
  const phantom_folder place(s, folder);
  const gradient_table g = p.gradients.size() > 0 ? p.gradients : make_gradients(p.b0_volumes, p.shells);
  const dwi_content brain = make_content(p);
  write_data(s, p, brain, g, folder);
  s.agree([&] {
    const auto maps = dwi_truth_maps(p.fibres);
    const auto ranks = static_cast<std::uint64_t>(s.size()), rank = static_cast<std::uint64_t>(s.rank());
    in_parallel(p.threads, maps.size(), [&](std::uint64_t i) {
      if (i % ranks != rank) return;
      const dwi_truth_map& map = maps[i];
      write_map(folder + "/" + map.name + ".nii.gz",
                {make_grid(p), map.volumes, nullptr, 0, map.display_max, "voxherd phantom dwi " + p.name},
                [&](std::uint64_t voxel, std::uint64_t volume) { return map.value(brain, voxel, volume); });
    });
    if (s.is_root()) write_texts(p, g, folder);
  });
}

namespace {

void read_shells(const phantom_request& request, dwi_phantom_settings& p) {
  if (!request.b_values.empty()) {
    const std::size_t directions = p.shells.back().directions;
    p.shells.clear();
    for (const double b : request.b_values) p.shells.push_back({b, directions});
  }
  const auto& n = request.directions;
  if (!n.empty() && n.size() != 1 && n.size() != p.shells.size())
    refuse_usage("--directions {}: expected one number from 1 to 4096, or one for each of {} shells",
                 option::as_text(option::as_value(n)), p.shells.size());
  for (std::size_t i = 0; i < p.shells.size() && !n.empty(); ++i) p.shells[i].directions = n.size() == 1 ? n[0] : n[i];
  if (request.b0_volumes) p.b0_volumes = *request.b0_volumes;
}

/// Of --bvals and --bvecs, or the shells.
gradient_table requested_gradients(const phantom_request& request, const dwi_phantom_settings& p) {
  if (request.bvals.empty()) return make_gradients(p.b0_volumes, p.shells);
  if (!request.b_values.empty() || !request.directions.empty() || request.b0_volumes)
    refuse_usage("--bvals: gives all volumes; omit --bvalues, --directions and --b0");
  const number_table b = read_number_table(request.bvals);
  return read_gradients(request.bvals, request.bvecs, b.rows * b.columns, {max_b0_s_per_mm2, false});
}

bundle_diffusion requested_tissue(const phantom_request& request) {
  bundle_diffusion white;
  if (request.tissue == tissue_kind::restricted) white.stick_share = 0.6, white.radial_mm2_per_s = 0.7e-3;
  white.axial_mm2_per_s = request.axial_mm2_per_s.value_or(white.axial_mm2_per_s);
  white.radial_mm2_per_s = request.radial_mm2_per_s.value_or(white.radial_mm2_per_s);
  white.concentration = request.concentration.value_or(white.concentration);
  return white;
}

void clear_dwi_folder(const session& s, const phantom_request& request) {
  s.on_root([&] {
    phantom_option::clear_folder(request, {"data"},
                                 {"bvals", "bvecs", "nodif_brain_mask.nii.gz", "phantom.json", "truth"});
  });
}

void make_geometry_phantom(session& s, const phantom_request& request, const dwi_phantom_settings& preset) {
  geometry_phantom_settings p;
  p.geometry = request.geometry;
  p.size = request.size.value_or(phantom_size{});
  p.voxel_size_mm = request.voxel_size_mm.value_or(2);
  p.white = requested_tissue(request);
  p.grey_mm2_per_s = request.grey_mm2_per_s.value_or(request.tissue == tissue_kind::restricted ? 0.8e-3 : 0.2e-3);
  p.gradients = preset.gradients;
  p.noise = preset.noise, p.snr = request.snr;
  p.compressed = request.gz;
  p.threads = phantom_option::threads(s, request);
  clear_dwi_folder(s, request);
  write_geometry_phantom(s, p, request.out);
}

exit_status run_dwi(session& s, const phantom_request& request) {
  if (request.out.empty()) refuse_usage("--out is missing, expected a folder to write");
  dwi_phantom_settings p = phantom_option::find_preset(request.preset, dwi_phantom_presets());
  if (request.size) p.size = *request.size;
  if (request.voxel_size_mm) p.voxel_size_mm = *request.voxel_size_mm;
  read_shells(request, p);
  p.noise.kind = *request.noise;
  p.noise.seed = request.seed;
  p.snr = request.snr;
  if (request.fibres) p.fibres = *request.fibres;
  p.crossing_degrees = request.crossing_degrees;
  if (p.crossing_degrees.size() > p.size[2])
    refuse_usage("--crossings: {} angles, expected at most one for each of {} slices; give a larger --size",
                 p.crossing_degrees.size(), p.size[2]);
  p.compressed = request.gz;
  p.threads = phantom_option::threads(s, request);
  p.gradients = requested_gradients(request, p);

  const std::string& folder = request.out;
  if (!request.geometry.empty()) {
    if (request.fibres || !p.crossing_degrees.empty())
      refuse_usage("--geometry: the file gives the bundles; omit --fibres and --crossings");
    make_geometry_phantom(s, request, p);
  } else {
    clear_dwi_folder(s, request);
    if (s.is_root())
      spdlog::info("phantom dwi {}: {} x {} x {} voxels, {} volumes", p.name, p.size[0], p.size[1], p.size[2],
                   p.gradients.size());
    write_dwi_phantom(s, p, folder);
  }
  if (s.is_root()) spdlog::info("{}: written", folder);
  return exit_status::complete;
}

}  // namespace

const phantom_kind dwi_phantom_kind{"dwi",
                                    {"bvalues", "directions", "b0", "fibres", "crossings", "snr", "bvals", "bvecs",
                                     "geometry", "tissue", "axial-d", "radial-d", "grey-d", "concentration"},
                                    run_dwi};

}  // namespace voxherd
