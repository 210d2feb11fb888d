#include <fmt/core.h>
#include <omp.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "src/option_values.hpp"
#include "src/phantom/dwi_phantom.hpp"
#include "src/phantom/phantom_kind.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  const auto text = [] { return po::value<std::string>(); };
  description.add_options()                                                                              //
      ("preset", text(), "toy | clinical | paper-hires | hcp; toy where none is given")                  //
      ("out", text(), "folder to write: an FSL subject folder, with truth/ in it")                       //
      ("size", text(), "voxels, as 96x96x30")                                                            //
      ("voxel-size", po::value<double>(), "mm")                                                          //
      ("bvalues", text(), "shells in s/mm2, as 1000,2000")                                               //
      ("directions", text(), "directions of each shell, as 30,60 or one number for all")                 //
      ("b0", po::value<long long>(), "volumes without weighting")                                        //
      ("fibres", po::value<long long>(), "most fibres in a voxel, 1 to 3")                               //
      ("snr", po::value<double>()->default_value(30), "white matter at b=0 over the noise's deviation")  //
      ("noise", text()->default_value("rician"), "rician | gaussian | none")                             //
      ("seed", po::value<long long>()->default_value(1), "of the noise")                                 //
      ("gz", po::bool_switch(), "write data.nii.gz instead of data.nii")                                 //
      ("overwrite", po::bool_switch(), "replace a phantom that is there")                                //
      ("threads", po::value<long long>()->default_value(0), "CPU threads a rank; 0: this rank's share of the cores");
}

[[noreturn]] void refuse(const char* option, const std::string& found, const char* expected) {
  throw failure(exit_status::usage, fmt::format("--{} {}: expected {}", option, found, expected));
}

/// Numbers parted by `separator`.
template <class T>
std::vector<T> numbers(const char* option, const std::string& text, char separator, const char* expected) {
  std::vector<T> values;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    T value{};
    const auto [next, code] = std::from_chars(at, end, value);
    if (code != std::errc()) refuse(option, text, expected);
    values.push_back(value);
    if (next == end) return values;
    if (*next != separator) refuse(option, text, expected);
    at = next + 1;
  }
}

dwi_phantom_settings preset_named(const std::string& name) {
  std::string names;
  for (const auto& preset : dwi_phantom_presets()) {
    if (preset.name == name) return preset;
    names += (names.empty() ? "" : ", ") + preset.name;
  }
  throw failure(exit_status::usage, fmt::format("--preset {}: expected one of {}", name, names));
}

void read_size(const arguments& args, dwi_phantom_settings& p) {
  if (args.has("size")) {
    constexpr auto expected = "three numbers of voxels from 1 to 4096, as 96x96x30";
    const auto text = args.get<std::string>("size");
    const auto n = numbers<std::uint64_t>("size", text, 'x', expected);
    if (n.size() != 3 || *std::min_element(n.begin(), n.end()) < 1 || *std::max_element(n.begin(), n.end()) > 4096)
      refuse("size", text, expected);
    std::copy(n.begin(), n.end(), p.size.begin());
  }
  if (args.has("voxel-size")) p.voxel_size_mm = args.get<double>("voxel-size");
  if (!(p.voxel_size_mm > 0 && p.voxel_size_mm < 1000))
    refuse("voxel-size", fmt::format("{}", p.voxel_size_mm), "more than 0 mm");
}

void read_shells(const arguments& args, dwi_phantom_settings& p) {
  if (args.has("bvalues")) {
    constexpr auto expected = "b values above 0 and up to 100000 s/mm2, as 1000,2000";
    const auto text = args.get<std::string>("bvalues");
    const std::size_t directions = p.shells.back().directions;
    p.shells.clear();
    for (const double b : numbers<double>("bvalues", text, ',', expected)) {
      if (!(b > 0 && b <= 100000)) refuse("bvalues", text, expected);
      p.shells.push_back({b, directions});
    }
  }
  if (args.has("directions")) {
    const auto expected = fmt::format("one number from 1 to 4096, or one for each of {} shells", p.shells.size());
    const auto text = args.get<std::string>("directions");
    const auto n = numbers<std::uint64_t>("directions", text, ',', expected.c_str());
    if (n.size() != 1 && n.size() != p.shells.size()) refuse("directions", text, expected.c_str());
    for (std::size_t i = 0; i < p.shells.size(); ++i) {
      p.shells[i].directions = n.size() == 1 ? n[0] : n[i];
      if (p.shells[i].directions < 1 || p.shells[i].directions > 4096) refuse("directions", text, expected.c_str());
    }
  }
  if (args.has("b0")) p.b0_volumes = static_cast<std::size_t>(option::integer(args, "b0", 1, 4096));
}

void read_noise(const arguments& args, dwi_phantom_settings& p) {
  const auto noise = args.get<std::string>("noise");
  if (noise == "none") {
    p.noise.kind = noise_kind::none;
  } else if (noise == "gaussian") {
    p.noise.kind = noise_kind::gaussian;
  } else if (noise == "rician") {
    p.noise.kind = noise_kind::rician;
  } else {
    refuse("noise", noise, "rician, gaussian or none");
  }
  p.snr = args.get<double>("snr");
  if (!(p.snr > 0)) refuse("snr", fmt::format("{}", p.snr), "more than 0 (or --noise none)");
  p.noise.seed = static_cast<std::uint64_t>(option::integer(args, "seed", 0, INT64_MAX));
}

/// Cores are shared by the ranks of a node.
int threads_of(const session& s, const arguments& args) {
  const long long asked = option::integer(args, "threads", 0, 4096);
  return asked > 0 ? static_cast<int>(asked) : std::max(1, omp_get_num_procs() / s.node_size());
}

exit_status run(session& s, const arguments& args) {
  if (!args.has("out")) throw failure(exit_status::usage, "--out: expected the folder to write");
  dwi_phantom_settings p = preset_named(args.has("preset") ? args.get<std::string>("preset") : "toy");
  read_size(args, p);
  read_shells(args, p);
  read_noise(args, p);
  if (args.has("fibres")) p.fibres = static_cast<std::size_t>(option::integer(args, "fibres", 1, most_phantom_fibres));
  p.compressed = args.get<bool>("gz");
  p.threads = threads_of(s, args);

  const auto folder = args.get<std::string>("out");
  s.on_root([&] {
    for (const char* name : {"/data.nii", "/data.nii.gz"}) {
      if (!std::filesystem::exists(folder + name)) continue;
      if (!args.get<bool>("overwrite"))
        throw failure(
            exit_status::usage,
            fmt::format("--out {}: found a {} there; name another folder, or add --overwrite", folder, name + 1));
      std::filesystem::remove(folder + name);
    }
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
