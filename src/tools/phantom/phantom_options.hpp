#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/option_values.hpp"
#include "kernels/phantom/noise.hpp"

/// Options common to all kinds of phantoms. All functions throw failure (usage).
namespace voxherd::phantom_option {

/// --preset, --out, --size, --voxel-size, --noise, --seed, --gz, --overwrite, --threads.
void add(po::options_description& description);

[[noreturn]] void refuse(const char* option, const std::string& found, const std::string& expected);

/// Numbers separated by `separator`.
template <class T>
std::vector<T> numbers(const char* option, const std::string& text, char separator, const std::string& expected) {
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

/// Returns the preset named by --preset, "toy" by default.
template <class Settings>
const Settings& preset(const arguments& args, const std::vector<Settings>& presets) {
  const std::string name = args.has("preset") ? args.get<std::string>("preset") : "toy";
  std::string names;
  for (const Settings& p : presets) {
    if (p.name == name) return p;
    names += (names.empty() ? "" : ", ") + p.name;
  }
  refuse("preset", name, "one of " + names);
}

/// --size, if given.
void read_size(const arguments& args, std::array<std::uint64_t, 3>& size);
/// --voxel-size, if given.
void read_voxel_size(const arguments& args, double& edge_mm);
/// --noise and --seed; the deviation is derived from a ratio that each kind defines.
void read_noise(const arguments& args, noise_settings& noise);
/// --threads; the ranks of a node share its cores.
int threads(const session& s, const arguments& args);
/// --out. Requires that NAME.nii and NAME.nii.gz do not exist there, or removes them with --overwrite. Call on one rank
/// only.
void clear_folder(const arguments& args, std::initializer_list<const char*> series);

/// Throws if an option of another kind is given.
void refuse_others(const arguments& args, std::initializer_list<const char*> names, const char* kind);

}  // namespace voxherd::phantom_option
