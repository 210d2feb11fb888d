#include "src/phantom/phantom_options.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>

#include "core/control_groups.hpp"
#include "core/threads.hpp"
#include "src/phantom/dwi_phantom.hpp"
#include "src/phantom/liver_phantom.hpp"

namespace voxherd {

namespace {

using perfusion::signal_kind;

const phantom_kind* const kinds[] = {&dwi_phantom_kind, &liver_phantom_kind, &score_phantom_kind};

phantom_size parse_size(const std::string& text, const char* option) {
  constexpr auto expected = "three numbers of voxels from 1 to 4096, e.g. 96x96x30";
  const auto n = phantom_option::numbers<std::uint64_t>(option, text, 'x', expected);
  if (n.size() != 3 || *std::min_element(n.begin(), n.end()) < 1 || *std::max_element(n.begin(), n.end()) > 4096)
    refuse_usage("--{} {}: expected {}", option, text, expected);
  return {n[0], n[1], n[2]};
}

std::string print_size(const phantom_size& size) { return fmt::format("{}", fmt::join(size, "x")); }

std::vector<double> parse_b_values(const std::string& text, const char* option) {
  constexpr auto expected = "b-values above 0 and up to 100000 s/mm2, e.g. 1000,2000";
  const auto values = phantom_option::numbers<double>(option, text, ',', expected);
  for (const double b : values)
    if (!(b > 0 && b <= 100000)) refuse_usage("--{} {}: expected {}", option, text, expected);
  return values;
}

std::vector<std::uint64_t> parse_directions(const std::string& text, const char* option) {
  constexpr auto expected = "numbers from 1 to 4096: one, or one per shell";
  const auto values = phantom_option::numbers<std::uint64_t>(option, text, ',', expected);
  for (const std::uint64_t n : values)
    if (n < 1 || n > 4096) refuse_usage("--{} {}: expected {}", option, text, expected);
  return values;
}

std::vector<double> parse_crossings(const std::string& text, const char* option) {
  constexpr auto expected = "angles above 0 and up to 90 degrees, e.g. 30,60,90";
  const auto angles = phantom_option::numbers<double>(option, text, ',', expected);
  for (const double a : angles)
    if (!(a > 0 && a <= 90)) refuse_usage("--{} {}: expected {}", option, text, expected);
  return angles;
}

std::vector<double> parse_flip_angles(const std::string& text, const char* option) {
  constexpr auto expected = "2 to 16 angles from 0.1 to 90 degrees, e.g. 2,5,10,15";
  const auto angles = phantom_option::numbers<double>(option, text, ',', expected);
  const auto wrong = [](double a) { return !(a >= 0.1 && a <= 90); };
  if (angles.size() < 2 || angles.size() > perfusion::max_flip_angles ||
      std::any_of(angles.begin(), angles.end(), wrong))
    refuse_usage("--{} {}: expected {}", option, text, expected);
  return angles;
}

/// "3.5; paper: 4.48"
std::string preset_values(double liver_phantom_settings::*value, double factor) {
  const double usual = liver_phantom_presets().front().*value;
  std::string text = fmt::format("{:g}", usual * factor);
  for (const liver_phantom_settings& preset : liver_phantom_presets())
    if (preset.*value != usual) text += fmt::format("; {}: {:g}", preset.name, preset.*value * factor);
  return text;
}

void check_request(const phantom_request& request, const given_options& given) {
  for (const phantom_kind* kind : kinds)
    for (const char* name : kind->options)
      if (kind->name != request.kind) option::refuse_given(given, name, fmt::format("for phantom {}", request.kind));
}

}  // namespace

const option_table<phantom_request>& phantom_options() {
  using T = phantom_request;
  const std::string repetition_text = preset_values(&liver_phantom_settings::repetition_s, 1000),
                    flip_text = preset_values(&liver_phantom_settings::flip_deg, 1),
                    result_text = fmt::format(
                        "a result file, a folder of maps (dyads1, f1, ...; {}, {}, ...), or a text file of a matrix",
                        liver_model::parameters[0].name, liver_model::parameters[1].name);
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Phantom", {
      {"kind", &T::kind, text_kind::any,
       {.text = "dwi, liver: make a phantom; score: compare a result with its truth", .value = "KIND", .required = true,
        .place = 1}},
      {"preset", &T::preset, text_kind::any,
       {.text = "dwi: toy, clinical, paper-hires or hcp; liver: toy, clinical or paper", .value = "NAME"}},
      {"size", &T::size, {parse_size, print_size},
       {.text = "size of the image in voxels, e.g. 96x96x30", .value = "SIZE", .standard = "from the preset"}},
      {"voxel-size", &T::voxel_size_mm, range{0.000001, 1000},
       {.text = "length of a voxel's side", .unit = "mm", .standard = "from the preset"}},
      {"noise", &T::noise, {{"rician", noise_kind::rician}, {"gaussian", noise_kind::gaussian},
                            {"none", noise_kind::none}}, 
       {.text = "noise of the series", .defaults = {{"signal=ct|concentration", "gaussian"}, {"", "rician"}}}},
      {"random-seed", &T::seed, at_least(0), {"start of the noise's random numbers; the same one gives the same phantom"}}})
    .group("Diffusion phantom (dwi)", {
      {"bvalues", &T::b_values, parse_b_values,
       {.text = "b-values of the shells in s/mm2, e.g. 1000,2000", .value = "LIST", .standard = "from the preset"}},
      {"directions", &T::directions, parse_directions,
       {.text = "number of gradient directions of each shell, e.g. 30,60, or one for all", .value = "LIST",
        .standard = "from the preset"}},
      {"b0", &T::b0_volumes, range{1, 4096},
       {.text = "number of volumes without diffusion weighting", .standard = "from the preset"}},
      {"fibres", &T::fibres, range{1, max_phantom_fibres},
       {.text = "largest number of fibres in a voxel", .standard = "from the preset"}},
      {"crossings", &T::crossing_degrees, parse_crossings,
       {.text = "instead of a brain: one block of slices per angle; all fibres of a voxel cross at it",
        .value = "LIST", .unit = "degrees"}},
      {"snr", &T::snr, range{0.000001, 1e9},
       {"signal of white matter at b=0 over the standard deviation of the noise"}},
      {"bvals", &T::bvals, text_kind::file,
       {.text = "b-values of all volumes (FSL), instead of --bvalues, --directions and --b0", .value = "FILE",
        .needs = "bvecs"}},
      {"bvecs", &T::bvecs, text_kind::file,
       {.text = "gradient directions of all volumes (FSL)", .value = "FILE", .needs = "bvals"}}})
    .group("Diffusion phantom of bundles (dwi --geometry)", {
      {"geometry", &T::geometry, text_kind::file,
       {.text = "instead of a brain: bundles from a geometry file of phantomas", .value = "FILE"}},
      {"tissue", &T::tissue, {{"challenge", tissue_kind::challenge}, {"restricted", tissue_kind::restricted}},
       {.text = "white matter; challenge: tensors as in the ISBI 2013 challenge; restricted: 60 % in sticks",
        .needs = "geometry"}},
      {"axial-d", &T::axial_mm2_per_s, range{1e-5, 5e-3},
       {.text = "diffusivity along a fibre", .unit = "mm2/s", .standard = "0.0017", .needs = "geometry"}},
      {"radial-d", &T::radial_mm2_per_s, range{0, 5e-3},
       {.text = "diffusivity across a fibre, outside of sticks", .unit = "mm2/s",
        .standard = "0.0002; restricted: 0.0007", .needs = "geometry"}},
      {"grey-d", &T::grey_mm2_per_s, range{0, 5e-3},
       {.text = "diffusivity of grey matter", .unit = "mm2/s", .standard = "0.0002; restricted: 0.0008",
        .needs = "geometry"}},
      {"concentration", &T::concentration, range{1, 10000},
       {.text = "kappa of the von Mises-Fisher distribution of a bundle's directions; 50: about 8 degrees",
        .standard = "50", .needs = "geometry"}}})
    .group("Perfusion phantom (liver)", {
      {"frames", &T::frames, range{8, 4096}, {.text = "number of frames of the series", .standard = "from the preset"}},
      {"spacing", &T::spacing_s, range{0.1, 10},
       {.text = "time between frames", .unit = "s", .standard = "from the preset"}},
      {"signal", &T::signal, {{"spgr", signal_kind::spoiled_echo}, {"linear", signal_kind::linear},
                              {"ct", signal_kind::ct}, {"concentration", signal_kind::concentration}},
       {"what the series contains; spgr: spoiled gradient echo; linear: MR, R1 proportional to signal; ct: HU"}},
      {"tr", &T::repetition_ms, range{0.1, 100}, 
       {.text = "repetition time", .unit = "ms", .standard = repetition_text.c_str(), .needs = "signal=spgr"}},
      {"flip-angle", &T::flip_degrees, range{0.1, 90}, 
       {.text = "flip angle", .unit = "degrees", .standard = flip_text.c_str(), .needs = "signal=spgr"}},
      {"vfa-flip-angles", &T::vfa_flip_degrees, parse_flip_angles,
       {.text = "flip angles of the series for T1, 2 to 16 from 0.1 to 90 degrees", .value = "LIST",
        .needs = "signal=spgr"}},
      {"relaxivity", &T::relaxivity, range{0.1, 100},
       {.text = "longitudinal relaxivity r1 of the contrast agent", .unit = "/s/mM", .needs = "signal=spgr|linear"}},
      {"inputs", &T::inputs, {{"continuous", inputs_between_frames::continuous},
                              {"sampled", inputs_between_frames::sampled}},
       {"input curves between frames; sampled: linear"}},
      {"cnr", &T::cnr, range{0.000001, 1e9},
       {"largest enhancement of healthy liver over the standard deviation of the noise"}},
      {"type", &T::type, {{"float32", stored_type::float32}, {"int16", stored_type::int16}},
       {"number type of the series"}}})
    .group("Score", {
      {"result", &T::result, text_kind::file,
       {.text = result_text.c_str(), .value = "RESULT", .place = 2}},
      {"truth", &T::truth, text_kind::file, {.text = "folder that voxherd phantom wrote", .value = "FOLDER"}},
      {"max-angle", &T::max_angle_degrees, range{0.1, 90},
       {.text = "a fibre farther from the true one is not found", .unit = "degrees"}},
      {"min-fraction", &T::min_fraction, range{0, 1}, {"smallest fraction of an estimated fibre that counts"}},
      {"matrix", &T::matrix, text_kind::any,
       {.text = "matrix of a connectome to score", .value = "NAME", .standard = "count, or cost"}},
      {"best", &T::best, {{"largest", best_value::largest}, {"smallest", best_value::smallest}},
       {.text = "which values of a matrix mean strong connections",
        .standard = "smallest for costs, lengths and excess, otherwise largest"}},
      {"json", &T::json, text_kind::file, {"also write the numbers to FILE"}}})
    .group("Output", {
      {"out", &T::out, text_kind::file, {.text = "folder to write, with truth/ in it", .value = "FOLDER"}},
      {"gz", &T::gz, {"write series as .nii.gz instead of .nii"}},
      {"overwrite", &T::overwrite, {"replace an existing phantom, or an existing file of --json"}}})
    .group("Running", {
      {"threads", &T::threads, range{0, 4096}, {"CPU threads per rank; 0: this rank's share of the cores"}}})
    .form("dwi|liver", "out")
    .form("score", "result truth")
    .check(check_request);
  // clang-format on
  return table;
}

namespace phantom_option {

int threads(const session& s, const phantom_request& request) {
  return std::min(request.threads > 0 ? request.threads : std::max(1, usable_cores() / s.node_size()),
                  max_team_threads());
}

void clear_folder(const phantom_request& request, std::initializer_list<const char*> series,
                  std::initializer_list<const char*> others) {
  const std::string& folder = request.out;
  std::vector<std::string> existing;
  for (const std::string name : series)
    for (const char* ending : {".nii", ".nii.gz"})
      if (std::filesystem::exists(folder + "/" + name + ending)) existing.push_back(name + ending);
  const auto refuse_existing = [&](const std::string& name) {
    refuse_usage("--out {}: already contains {}; choose another folder or add --overwrite", folder, name);
  };
  if (!request.overwrite) {
    for (const std::string& name : existing) refuse_existing(name);
    for (const char* name : others)
      if (std::filesystem::exists(folder + "/" + name)) refuse_existing(name);
  }
  for (const std::string& name : existing) std::filesystem::remove(folder + "/" + name);
}

}  // namespace phantom_option

}  // namespace voxherd
