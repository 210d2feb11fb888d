#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/option_values.hpp"
#include "kernels/phantom/noise.hpp"

/// Options that every kind of phantom has. All throw failure (usage).
namespace voxherd::phantom_option {

/// --preset, --out, --size, --voxel-size, --noise, --seed, --gz, --overwrite, --threads.
void add(po::options_description& description);

[[noreturn]] void refuse(const char* option, const std::string& found, const std::string& expected);

/// Numbers parted by `separator`.
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

/// The one of --preset, "toy" where none is given.
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

/// --size, where given.
void read_size(const arguments& args, std::array<std::uint64_t, 3>& size);
/// --voxel-size, where given.
void read_voxel_size(const arguments& args, double& edge_mm);
/// --noise and --seed; the deviation follows from a ratio that each kind defines.
void read_noise(const arguments& args, noise_settings& noise);
/// --threads. Cores are shared by the ranks of a node.
int threads(const session& s, const arguments& args);
/// --out, without NAME.nii and .nii.gz of each series: what is there is refused, or removed where --overwrite says so.
/// To be called on one rank.
void clear_folder(const arguments& args, std::initializer_list<const char*> series);

/// Refuses options that belong to another kind.
void refuse_others(const arguments& args, std::initializer_list<const char*> names, const char* kind);

}  // namespace voxherd::phantom_option
