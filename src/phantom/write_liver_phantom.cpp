#include "src/phantom/liver_phantom.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/json_text.hpp"
#include "src/io/output_file.hpp"
#include "src/phantom/phantom_files.hpp"
#include "src/phantom/phantom_options.hpp"

namespace voxherd {

namespace {

nifti_image describe_image(const liver_phantom_settings& p, std::uint64_t volumes, float display_max) {
  return {phantom_grid(p.size, p.voxel_size_mm), volumes, nullptr, 0, display_max, "voxherd phantom liver " + p.name};
}

void write_images(const session& s, const liver_phantom_settings& p, const liver_anatomy& body,
                  const liver_signal& signal, const std::string& folder) {
  const auto voxel_line = [&](std::uint64_t y, std::uint64_t z) {
    std::vector<abdomen_voxel> line(p.size[0]);
    for (std::uint64_t x = 0; x < line.size(); ++x) line[x] = body.at((z * p.size[1] + y) * p.size[0] + x);
    return line;
  };
  const auto largest = static_cast<float>(signal.largest_signal());
  nifti_image form = describe_image(p, p.frames, largest / 2);
  constexpr float max_int16 = 32767;
  if (p.type == stored_type::int16) form.int16_step = largest / max_int16;
  write_series(s, form, folder + "/dce", p.compressed, p.threads,
               [&](std::uint64_t y, std::uint64_t z, float* samples, std::uint64_t stride) {
                 signal.make_frames(voxel_line(y, z), (z * p.size[1] + y) * p.size[0], samples, stride);
               });
  if (p.signal != perfusion::signal_kind::spoiled_echo) return;
  form.volumes = p.vfa_flip_deg.size();
  write_series(s, form, folder + "/vfa", p.compressed, p.threads,
               [&](std::uint64_t y, std::uint64_t z, float* samples, std::uint64_t stride) {
                 signal.make_vfa(voxel_line(y, z), (z * p.size[1] + y) * p.size[0], samples, stride);
               });
}

struct liver_truth_map {
  std::string name;
  float display_max;
  std::function<double(const liver_anatomy&, std::uint64_t voxel)> value;
};

/// The largest value that a display should distinguish.
float max_shown(const perfusion::parameter& p) {
  if (p.what == perfusion::quantity::exchange_rate) return 800;
  return p.what == perfusion::quantity::flow ? 150 : 5;
}

/// A parameter of the model in the unit of its table; zero outside the liver.
liver_truth_map make_parameter_map(std::size_t i) {
  const perfusion::parameter& p = liver_model::parameters[i];
  return {std::string("truth/") + p.name, max_shown(p),
          [i, unit = p.unit().factor](const liver_anatomy& body, std::uint64_t voxel) {
            return body.tissue_at(voxel) == abdomen_tissue::liver ? unit * body.at(voxel).parameters[i] : 0;
          }};
}

std::vector<liver_truth_map> liver_truth_maps() {
  std::vector<liver_truth_map> maps{
      {"liver", 1, [](const liver_anatomy& b, std::uint64_t v) { return b.tissue_at(v) == abdomen_tissue::liver; }},
      {"aorta", 1, [](const liver_anatomy& b, std::uint64_t v) { return b.in_aorta_voi(v); }},
      {"portal", 1, [](const liver_anatomy& b, std::uint64_t v) { return b.in_portal_voi(v); }},
      {"truth/T1", 2, [](const liver_anatomy& b, std::uint64_t v) { return b.at(v).t1_s; }},
      {"truth/regions", liver_region_count - 1,
       [](const liver_anatomy& b, std::uint64_t v) {
         return b.tissue_at(v) == abdomen_tissue::liver ? static_cast<double>(b.at(v).region) : 0;
       }},
  };
  for (std::size_t i = 0; i < std::size(liver_model::parameters); ++i) maps.push_back(make_parameter_map(i));
  return maps;
}

const char* signal_name(perfusion::signal_kind kind) {
  switch (kind) {
    case perfusion::signal_kind::concentration:
      return "concentration";
    case perfusion::signal_kind::linear:
      return "linear";
    case perfusion::signal_kind::spoiled_echo:
      return "spgr";
    case perfusion::signal_kind::ct:
      break;
  }
  return "ct";
}

std::string curve_table(const input_curves& curves, const char* unit) {
  std::string text = fmt::format("time_s,arterial_{0},portal_{0}\n", unit);
  for (std::size_t i = 0; i < curves.arterial.size(); ++i)
    text += fmt::format("{:.10g},{:.10g},{:.10g}\n", static_cast<double>(i) * curves.step_s, curves.arterial[i],
                        curves.portal[i]);
  return text;
}

nlohmann::ordered_json settings_as_json(const liver_phantom_settings& p, const liver_anatomy& body,
                                        const liver_signal& signal) {
  nlohmann::ordered_json j;
  j["preset"] = p.name;
  j["size"] = p.size;
  j["voxel_size_mm"] = p.voxel_size_mm;
  j["frames"] = p.frames;
  j["spacing_s"] = p.spacing_s;
  j["arrival_s"] = agent_arrival_s;
  j["baseline_frames"] = {0, static_cast<int>(std::ceil(agent_arrival_s / p.spacing_s)) - 1};
  j["voxels"] = {{"liver", p.liver_voxels}, {"aorta", body.aorta_voi_count()}, {"portal", body.portal_voi_count()}};
  j["inputs"] = p.inputs == inputs_between_frames::sampled ? "sampled" : "continuous";
  j["signal"] = signal_name(p.signal);
  const bool echo = p.signal == perfusion::signal_kind::spoiled_echo;
  if (echo || p.signal == perfusion::signal_kind::linear) j["relaxivity_per_mM_s"] = p.relaxivity_per_mM_s;
  if (echo) {
    j["tr_ms"] = p.repetition_s * 1e3;
    j["flip_angle_deg"] = p.flip_deg;
    j["vfa_flip_angles_deg"] = p.vfa_flip_deg;
  }
  const noise_kind noise = p.noise.kind;
  j["noise"] = noise == noise_kind::none ? "none" : noise == noise_kind::gaussian ? "gaussian" : "rician";
  if (noise != noise_kind::none) j["cnr"] = p.cnr, j["noise_deviation"] = signal.noise().deviation;
  j["seed"] = p.noise.seed;
  return j;
}

void write_texts(const liver_phantom_settings& p, const liver_anatomy& body, const liver_signal& signal,
                 const std::string& folder) {
  const char* unit = p.signal == perfusion::signal_kind::ct ? "HU" : "mM";
  std::string times, angles, regions = "label\tname\n";
  for (const double s : signal.frame_s()) times += fmt::format("{:.10g}\n", s);
  write_file(folder + "/times.txt", times);
  write_file(folder + "/curves.csv", curve_table(signal.inputs_at_frames(), unit));
  write_file(folder + "/truth/inputs.csv", curve_table(signal.inputs(), unit));
  for (int i = 1; i < liver_region_count; ++i)
    regions += fmt::format("{}\t{}\n", i, region_name(static_cast<liver_region>(i)));
  write_file(folder + "/truth/regions.tsv", regions);
  write_file(folder + "/phantom.json", dump_json(settings_as_json(p, body, signal), 2) + "\n");
}

}  // namespace

const std::vector<liver_phantom_settings>& liver_phantom_presets() {
  static const std::vector<liver_phantom_settings> presets = [] {
    liver_phantom_settings toy, clinical, paper;
    toy.name = "toy", toy.size = {32, 32, 8}, toy.voxel_size_mm = {11, 11, 24};
    toy.liver_voxels = 800, toy.aorta_voxels = 16, toy.portal_voxels = 10;
    clinical.name = "clinical", clinical.size = {160, 160, 40}, clinical.voxel_size_mm = {2.375, 2.375, 5};
    clinical.frames = 60, clinical.spacing_s = 2;
    clinical.liver_voxels = 97000, clinical.aorta_voxels = 200, clinical.portal_voxels = 100;
    // Wang & Cao 2012: the protocol, with a field of view of 33 cm, and patient 3 of Table 5.
    constexpr double in_plane_mm = 330.0 / 320;
    paper.name = "paper", paper.size = {320, 320, 66}, paper.voxel_size_mm = {in_plane_mm, in_plane_mm, 3};
    paper.repetition_s = 4.48e-3, paper.flip_deg = 20;
    paper.liver_voxels = 638728, paper.aorta_voxels = 800, paper.portal_voxels = 400;
    return std::vector{toy, clinical, paper};
  }();
  return presets;
}

void write_liver_phantom(const session& s, const liver_phantom_settings& p, const std::string& folder) {
  std::optional<liver_anatomy> body;
  s.agree([&] { body.emplace(p.anatomy(), p.threads); });
  const liver_signal signal(p);
  const phantom_folder place(s, folder);
  write_images(s, p, *body, signal, folder);
  s.agree([&] {
    const auto maps = liver_truth_maps();
    const auto ranks = static_cast<std::uint64_t>(s.size()), rank = static_cast<std::uint64_t>(s.rank());
    in_parallel(p.threads, maps.size(), [&](std::uint64_t i) {
      if (i % ranks != rank) return;
      const liver_truth_map& map = maps[i];
      write_map(folder + "/" + map.name + ".nii.gz", describe_image(p, 1, map.display_max),
                [&](std::uint64_t voxel, std::uint64_t) { return map.value(*body, voxel); });
    });
    if (s.is_root()) write_texts(p, *body, signal, folder);
  });
}

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
    refuse_usage("--frames {} with --spacing {}: the series is {:g} s long, expected at least {:g} s", p.frames,
                 p.spacing_s, last_s, min_s);
}

/// Only magnitudes have Rician noise; concentrations and HU do not.
void read_noise(const phantom_request& request, liver_phantom_settings& p) {
  p.noise.kind = *request.noise;
  p.noise.seed = request.seed;
  if (p.noise.kind == noise_kind::rician && (p.signal == signal_kind::ct || p.signal == signal_kind::concentration))
    refuse_usage("--noise rician: expected gaussian or none with --signal {}",
                 p.signal == signal_kind::ct ? "ct" : "concentration");
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

exit_status run_liver(session& s, const phantom_request& request) {
  if (request.out.empty()) refuse_usage("--out is missing, expected a folder to write");
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
    run_liver};

}  // namespace voxherd
