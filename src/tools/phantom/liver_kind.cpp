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

// Options that `voxherd perfusion` also has have the same names.
void options(po::options_description& description) {
  const auto number = [] { return po::value<double>(); };
  // clang-format off
  description.add_options()
      ("frames", po::value<long long>(), "liver: of the series, 8 to 4096")
      ("spacing", number(), "liver: seconds from frame to frame, 0.1 to 10")
      ("signal", option::text("spgr"), "liver: spgr (spoiled gradient echo) | linear (MR, R1 ~ signal) | ct (HU) | concentration")
      ("tr", option::real(3.5, "3.5"), "liver: repetition time, 0.1 to 100 ms; for spgr")
      ("flip-angle", option::real(15, "15"), "liver: 0.1 to 90 degrees; for spgr")
      ("vfa-flip-angles", option::text("2,5,10,15"), "liver: of the series for T1, 2 to 16 from 0.1 to 90 degrees; for spgr")
      ("relaxivity", option::real(4.5, "4.5"), "liver: r1 of the agent, 0.1 to 100 /s/mM; for spgr and linear")
      ("inputs", option::text("continuous"), "liver: continuous | sampled: what the input curves do between frames; sampled: lines")
      ("cnr", option::real(50, "50"), "liver: largest rise of healthy liver over the noise's deviation")
      ("type", option::text("float32"), "liver: float32 | int16: numbers in the series");
  // clang-format on
}

void read_signal(const arguments& args, liver_phantom_settings& p) {
  p.signal = option::word<signal_kind>(args, "signal",
                                       {{"spgr", signal_kind::spoiled_echo},
                                        {"linear", signal_kind::linear},
                                        {"ct", signal_kind::ct},
                                        {"concentration", signal_kind::concentration}});
  const bool echo = p.signal == signal_kind::spoiled_echo;
  if (!echo) phantom_option::refuse_others(args, {"tr", "flip-angle", "vfa-flip-angles"}, "without --signal spgr");
  if (!echo && p.signal != signal_kind::linear)
    option::refuse_given(args, "relaxivity", "without --signal spgr or linear");
  p.repetition_s = option::number(args, "tr", 0.1, 100) / 1e3;
  p.flip_deg = option::number(args, "flip-angle", 0.1, 90);
  p.relaxivity_per_mM_s = option::number(args, "relaxivity", 0.1, 100);
  constexpr auto expected = "2 to 16 angles from 0.1 to 90 degrees, as 2,5,10,15";
  const auto text = args.get<std::string>("vfa-flip-angles");
  p.vfa_flip_deg = phantom_option::numbers<double>("vfa-flip-angles", text, ',', expected);
  const auto wrong = [](double a) { return !(a >= 0.1 && a <= 90); };
  if (p.vfa_flip_deg.size() < 2 || p.vfa_flip_deg.size() > perfusion::max_flip_angles ||
      std::any_of(p.vfa_flip_deg.begin(), p.vfa_flip_deg.end(), wrong))
    phantom_option::refuse("vfa-flip-angles", text, expected);
}

void read_frames(const arguments& args, liver_phantom_settings& p) {
  if (args.has("frames")) p.frames = static_cast<std::uint64_t>(option::integer(args, "frames", 8, 4096));
  if (args.has("spacing")) p.spacing_s = option::number(args, "spacing", 0.1, 10);
  constexpr double min_s = agent_arrival_s + 20;  // earlier the portal vein's curve has not risen
  const double last_s = p.spacing_s * static_cast<double>(p.frames - 1);
  if (last_s < min_s)
    option::refuse(fmt::format("--frames {} with --spacing {}: the series is {:g} s long, expected at least {:g} s",
                               p.frames, p.spacing_s, last_s, min_s));
}

/// Only magnitudes have Rician noise; concentrations and HU do not.
void read_noise(const arguments& args, liver_phantom_settings& p) {
  phantom_option::read_noise(args, p.noise);
  if (p.noise.kind == noise_kind::rician && (p.signal == signal_kind::ct || p.signal == signal_kind::concentration)) {
    if (args.has("noise"))
      phantom_option::refuse("noise", "rician", "gaussian or none with --signal " + args.get<std::string>("signal"));
    p.noise.kind = noise_kind::gaussian;
  }
  p.cnr = args.get<double>("cnr");
  if (!(p.cnr > 0)) phantom_option::refuse("cnr", fmt::format("{}", p.cnr), "more than 0 (or --noise none)");
}

/// For another image size, scales the numbers of voxels of liver and VOIs in proportion.
void read_size(const arguments& args, liver_phantom_settings& p) {
  const auto voxels = [&] { return static_cast<double>(p.size[0] * p.size[1] * p.size[2]); };
  const double before = voxels();
  phantom_option::read_size(args, p.size);
  for (auto* count : {&p.liver_voxels, &p.aorta_voxels, &p.portal_voxels})
    *count = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(static_cast<double>(*count) * voxels() / before)));
  if (!args.has("voxel-size")) return;
  double edge_mm = 0;
  phantom_option::read_voxel_size(args, edge_mm);
  p.voxel_size_mm.fill(edge_mm);
}

exit_status run(session& s, const arguments& args) {
  if (!args.has("out")) throw failure(exit_status::usage, "--out is missing, expected a folder to write");
  phantom_option::refuse_others(args, {"bvalues", "directions", "b0", "fibres", "snr"}, "for phantom liver");
  liver_phantom_settings p = phantom_option::preset(args, liver_phantom_presets());
  read_size(args, p);
  read_frames(args, p);
  read_signal(args, p);
  read_noise(args, p);
  p.inputs = option::word<inputs_between_frames>(
      args, "inputs", {{"continuous", inputs_between_frames::continuous}, {"sampled", inputs_between_frames::sampled}});
  p.type = option::word<stored_type>(args, "type", {{"float32", stored_type::float32}, {"int16", stored_type::int16}});
  p.compressed = args.get<bool>("gz");
  p.threads = phantom_option::threads(s, args);

  const auto folder = args.get<std::string>("out");
  s.on_root([&] {
    phantom_option::clear_folder(args, {"dce", "vfa"});
    spdlog::info("phantom liver {}: {} x {} x {} voxels, {} of them liver, {} frames", p.name, p.size[0], p.size[1],
                 p.size[2], p.liver_voxels, p.frames);
  });
  write_liver_phantom(s, p, folder);
  if (s.is_root()) spdlog::info("{}: written", folder);
  return exit_status::whole;
}

}  // namespace

const phantom_kind liver_phantom_kind{"liver", options, run};

}  // namespace voxherd
