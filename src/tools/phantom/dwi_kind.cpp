#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include "src/tools/phantom/dwi_phantom.hpp"
#include "src/tools/phantom/phantom_kind.hpp"
#include "src/tools/phantom/phantom_options.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  const auto text = [] { return po::value<std::string>(); };
  description.add_options()                                                                    //
      ("bvalues", text(), "dwi: shells in s/mm2, as 1000,2000")                                //
      ("directions", text(), "dwi: directions of each shell, as 30,60 or one number for all")  //
      ("b0", po::value<long long>(), "dwi: volumes without weighting")                         //
      ("fibres", po::value<long long>(), "dwi: most fibres in a voxel, 1 to 3")                //
      ("snr", po::value<double>()->default_value(30), "dwi: white matter at b=0 over the noise's deviation");
}

void read_shells(const arguments& args, dwi_phantom_settings& p) {
  if (args.has("bvalues")) {
    constexpr auto expected = "b values above 0 and up to 100000 s/mm2, as 1000,2000";
    const auto text = args.get<std::string>("bvalues");
    const std::size_t directions = p.shells.back().directions;
    p.shells.clear();
    for (const double b : phantom_option::numbers<double>("bvalues", text, ',', expected)) {
      if (!(b > 0 && b <= 100000)) phantom_option::refuse("bvalues", text, expected);
      p.shells.push_back({b, directions});
    }
  }
  if (args.has("directions")) {
    const auto expected = fmt::format("one number from 1 to 4096, or one for each of {} shells", p.shells.size());
    const auto text = args.get<std::string>("directions");
    const auto n = phantom_option::numbers<std::uint64_t>("directions", text, ',', expected);
    if (n.size() != 1 && n.size() != p.shells.size()) phantom_option::refuse("directions", text, expected);
    for (std::size_t i = 0; i < p.shells.size(); ++i) {
      p.shells[i].directions = n.size() == 1 ? n[0] : n[i];
      if (p.shells[i].directions < 1 || p.shells[i].directions > 4096)
        phantom_option::refuse("directions", text, expected);
    }
  }
  if (args.has("b0")) p.b0_volumes = static_cast<std::size_t>(option::integer(args, "b0", 1, 4096));
}

exit_status run(session& s, const arguments& args) {
  if (!args.has("out")) throw failure(exit_status::usage, "--out is missing, expected a folder to write");
  phantom_option::refuse_others(
      args,
      {"frames", "spacing", "signal", "tr", "flip-angle", "vfa-flip-angles", "relaxivity", "inputs", "cnr", "type"},
      "for phantom dwi");
  dwi_phantom_settings p = phantom_option::preset(args, dwi_phantom_presets());
  phantom_option::read_size(args, p.size);
  phantom_option::read_voxel_size(args, p.voxel_size_mm);
  read_shells(args, p);
  phantom_option::read_noise(args, p.noise);
  p.snr = args.get<double>("snr");
  if (!(p.snr > 0)) phantom_option::refuse("snr", fmt::format("{}", p.snr), "more than 0 (or --noise none)");
  if (args.has("fibres")) p.fibres = static_cast<std::size_t>(option::integer(args, "fibres", 1, max_phantom_fibres));
  p.compressed = args.get<bool>("gz");
  p.threads = phantom_option::threads(s, args);

  const auto folder = args.get<std::string>("out");
  s.on_root([&] {
    phantom_option::clear_folder(args, {"data"});
    spdlog::info("phantom dwi {}: {} x {} x {} voxels, {} volumes", p.name, p.size[0], p.size[1], p.size[2],
                 p.volumes());
  });
  write_dwi_phantom(s, p, folder);
  if (s.is_root()) spdlog::info("{}: written", folder);
  return exit_status::whole;
}

}  // namespace

const phantom_kind dwi_phantom_kind{"dwi", options, run};

}  // namespace voxherd
